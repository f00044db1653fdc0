"""conversation: the open requests of an agent, so that its conversation can go on with another daemon.

The protocol of the older era begins with `initialize`, which a new daemon has to get again, as well as
subscriptions. A request in flight is sent again if that is safe: the daemon had not begun it, or it may be
repeated. Any other is answered with an error.
"""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from lore.doors import protocol
from lore.doors.early import Early
from lore.doors.endpoint import Connection
from lore.doors.envelope import Refused, read
from lore.doors.protocol import OPENING

MOST_TRIES = 2
"""Number of daemons that may die of one request."""
CALL = "tools/call"
LISTEN = "subscriptions/listen"
MODERN = "io.modelcontextprotocol/protocolVersion"
INTERNAL_ERROR = -32603
OURS = "lore-mcp"
CHUNK = 1 << 16

UNKNOWN = (
    "Lore's daemon ended while it worked on {what}. It is not known whether this was done:"
    " look for the result before you try again."
)
LATER = (
    "{why}. It is not known whether {what} was done or will be: look for the result before you try again, and"
    " tell the user."
)
GIVEN_UP = "Lore cannot answer: {why}. Tell the user; the next call tries again."


class Request(NamedTuple):
    """A request without an answer. line: as the agent sent it."""

    line: bytes
    message: dict[str, Any]
    begun: bool = False
    tries: int = 0

    @property
    def method(self) -> str:
        return str(self.message["method"])

    @property
    def what(self) -> str:
        """The name of the tool, or the method of another request."""
        return str(_parameters(self.message).get("name")) if self.method == CALL else self.method


class Conversation:
    """Follows the lines both ways; restores the state of an interrupted conversation."""

    def __init__(self) -> None:
        self._open: dict[str, Request] = {}
        self._initialize: Request | None = None
        self._initialize_answered = False
        self._initialized = b""
        self._subscribed: dict[str, Request] = {}
        self._refused: list[tuple[str, bytes]] = []  # keys and answers, until the daemon has answered
        self._outgoing: list[bytes] = []

    @property
    def waiting(self) -> bool:
        """Whether the agent waits for an answer that only a daemon can give."""
        return any(request.method != LISTEN for request in self._open.values())

    @property
    def listening(self) -> bool:
        """Whether the agent listens for changes."""
        return bool(self._subscribed) or any(request.method == LISTEN for request in self._open.values())

    def follow(self, from_agent: bool, lines: bytes) -> None:
        """Parse whole lines of the agent or the daemon."""
        for line in filter(bytes.strip, lines.split(b"\n")):
            if from_agent:
                self._from_agent(line)
            elif line.startswith(OPENING):
                self._begun(protocol.decode(line + b"\n")[1]["id"])
            else:
                self._from_daemon(line)

    def _from_agent(self, line: bytes) -> None:
        try:
            message = read(line)
        except Refused as refused:
            self._refused.append((_key(refused.id), refused.answer))
            return
        method = message.get("method")
        if method is not None and "id" in message:
            self._opened(Request(line + b"\n", message))
        elif method == "notifications/initialized":
            self._initialized = line + b"\n"
        elif method == "notifications/cancelled":
            self._open.pop(_key(_parameters(message).get("requestId")), None)

    def _from_daemon(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):  # the agent judges it
            return
        if isinstance(message, dict) and "method" not in message:
            self._answered(_key(message.get("id")))

    def _begun(self, key: str) -> None:
        if key in self._open:
            request = self._open[key]
            self._open[key] = request._replace(begun=True, tries=request.tries + 1)

    def _opened(self, request: Request) -> None:
        self._open[_key(request.message["id"])] = request
        if request.method == "initialize":
            self._initialize = request
        uri = str(_parameters(request.message).get("uri"))
        if request.method == "resources/subscribe":
            self._subscribed[uri] = request
        elif request.method == "resources/unsubscribe":
            self._subscribed.pop(uri, None)

    def _answered(self, key: str) -> None:
        request = self._open.pop(key, None)
        if request is not None and request.method == "initialize":
            self._initialize_answered = True
        if request is None:
            refused = next((one for one in self._refused if one[0] == key), None)
            if refused is not None:
                self._refused.remove(refused)

    def refuse(self) -> None:
        """Answer lines that are no messages and that no daemon has answered."""
        self._outgoing += [answer for _, answer in self._refused]
        self._refused = []

    def answer_early(self, early: Early) -> None:
        """Answer the open requests that need no daemon."""
        for key, request in list(self._open.items()):
            answer = early.answer(request.message, self._initialize_answered)
            if answer is not None:
                self._answered(key)
                self._outgoing.append(answer)

    # --- after an interruption
    def interrupted(self, repeatable: str) -> None:
        """The daemon has ended. repeatable: names of the tools that may be called twice."""
        self.refuse()
        tools = set(repeatable.split(","))
        for key, request in list(self._open.items()):
            safe = request.method != CALL or request.what in tools
            if not request.begun or (safe and request.tries < MOST_TRIES) or request.method == LISTEN:
                self._open[key] = request._replace(begun=False)
            else:
                del self._open[key]
                self._outgoing.append(_excuse(request, UNKNOWN.format(what=request.what)))

    def give_up(self, why: str, repeatable: str | None = None) -> None:
        """No daemon can be reached: answer all open requests with the reason.

        repeatable: the tools that may be called twice, if a daemon has the requests and may do them later.
        """
        for key, request in list(self._open.items()):
            if request.method != LISTEN:
                del self._open[key]
                unsure = repeatable is not None and request.method == CALL
                unsure = unsure and request.what not in (repeatable or "").split(",")
                text = (LATER if unsure else GIVEN_UP).format(why=why.removesuffix("."), what=request.what)
                self._outgoing.append(_excuse(request, text))

    def outgoing(self) -> bytes:
        """Lines for the agent; each is returned once."""
        lines, self._outgoing = self._outgoing, []
        return b"".join(lines)

    def restore(self, daemon: Connection) -> bool:
        """Repeat the state of the conversation to a new daemon, then the open requests; False if that
        fails."""
        try:
            if self._initialize is not None and self._initialize_answered:
                _repeat([self._initialize], daemon)
                daemon.sendall(self._initialized)
                _repeat(self._subscribed.values(), daemon)
                self._outgoing += map(_changed, self._subscribed)
            daemon.sendall(b"".join(request.line for request in self._open.values()))
        except OSError:
            return False
        return True


def _repeat(requests: Iterable[Request], daemon: Connection) -> None:
    """Send requests again that were answered before; the agent does not see the second answers."""
    ours = {f"{OURS}/{number}": request.message for number, request in enumerate(requests)}
    daemon.sendall(
        b"".join(json.dumps(message | {"id": id}).encode() + b"\n" for id, message in ours.items())
    )
    received = b""
    while ours:
        chunk = daemon.recv(CHUNK)
        if not chunk:
            raise ConnectionError("the daemon hung up")
        *lines, received = (received + chunk).split(b"\n")
        for answer in lines:
            if not answer.startswith(OPENING):
                ours.pop(json.loads(answer).get("id"), None)


def _changed(uri: str) -> bytes:
    """The notification that a resource may have changed while no daemon was connected."""
    notice = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}
    return json.dumps(notice).encode() + b"\n"


def _excuse(request: Request, text: str) -> bytes:
    """An error that the agent's model reads, if the model made the request."""
    answer: dict[str, Any] = {"jsonrpc": "2.0", "id": request.message["id"]}
    if request.method == CALL:
        result: dict[str, Any] = {"content": [{"type": "text", "text": text}], "isError": True}
        meta = _parameters(request.message).get("_meta")
        if isinstance(meta, dict) and MODERN in meta:
            result["resultType"] = "complete"
        answer["result"] = result
    else:
        answer["error"] = {"code": INTERNAL_ERROR, "message": text}
    return json.dumps(answer).encode() + b"\n"


def _parameters(message: dict[str, Any]) -> dict[str, Any]:
    parameters = message.get("params")
    return parameters if isinstance(parameters, dict) else {}


def _key(id: object) -> str:
    return json.dumps(id)
