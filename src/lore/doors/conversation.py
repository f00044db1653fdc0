"""conversation: what an agent has asked and not been told yet, so that it can go on with another daemon.

The protocol of the older era begins with a handshake, which a new daemon has to hear again; subscriptions
likewise. A request in flight is asked again if that is safe: the daemon had not begun it, or asking twice
does no harm. Any other is answered with an excuse.
"""

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from lore.doors import handshake
from lore.doors.early import Early
from lore.doors.endpoint import Connection
from lore.doors.envelope import Refused, read
from lore.doors.handshake import OPENING

MOST_TRIES = 2
"""A request that two daemons did not survive is not given to a third."""
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
    """One that has not been answered. line: as the agent sent it."""

    line: bytes
    message: dict[str, Any]
    begun: bool = False
    tries: int = 0

    @property
    def method(self) -> str:
        return str(self.message["method"])

    @property
    def what(self) -> str:
        """The tool, or the method where it is none."""
        return str(_parameters(self.message).get("name")) if self.method == CALL else self.method


class Conversation:
    """Follows the lines both ways; after an interruption it knows how to go on."""

    def __init__(self) -> None:
        self._open: dict[str, Request] = {}
        self._greeting: Request | None = None
        self._greeted = False
        self._initialized = b""
        self._watched: dict[str, Request] = {}
        self._refused: list[tuple[str, bytes]] = []  # keys and answers, until the daemon has answered
        self._news: list[bytes] = []

    @property
    def waiting(self) -> bool:
        """Whether the agent waits for an answer that only a daemon can give."""
        return any(request.method != LISTEN for request in self._open.values())

    @property
    def listening(self) -> bool:
        """Whether the agent wants to be told of changes."""
        return bool(self._watched) or any(request.method == LISTEN for request in self._open.values())

    def follow(self, from_agent: bool, lines: bytes) -> None:
        """Take note of whole lines."""
        for line in filter(bytes.strip, lines.split(b"\n")):
            if from_agent:
                self._heard(line)
            elif line.startswith(OPENING):
                self._begun(handshake.decode(line + b"\n")[1]["id"])
            else:
                self._told(line)

    def _heard(self, line: bytes) -> None:
        """A line of the agent."""
        try:
            message = read(line)
        except Refused as refused:
            self._refused.append((_key(refused.id), refused.answer))
            return
        method = message.get("method")
        if method is not None and "id" in message:
            self._asked(Request(line + b"\n", message))
        elif method == "notifications/initialized":
            self._initialized = line + b"\n"
        elif method == "notifications/cancelled":
            self._open.pop(_key(_parameters(message).get("requestId")), None)

    def _told(self, line: bytes) -> None:
        """A line of the daemon."""
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

    def _asked(self, request: Request) -> None:
        self._open[_key(request.message["id"])] = request
        if request.method == "initialize":
            self._greeting = request
        uri = str(_parameters(request.message).get("uri"))
        if request.method == "resources/subscribe":
            self._watched[uri] = request
        elif request.method == "resources/unsubscribe":
            self._watched.pop(uri, None)

    def _answered(self, key: str) -> None:
        request = self._open.pop(key, None)
        if request is not None and request.method == "initialize":
            self._greeted = True
        if request is None:
            answered = next((one for one in self._refused if one[0] == key), None)
            if answered is not None:
                self._refused.remove(answered)

    def refuse(self) -> None:
        """Answer the lines that are no messages and that no daemon has answered."""
        self._news += [answer for _, answer in self._refused]
        self._refused = []

    def answer_early(self, early: Early) -> None:
        """Answer the open requests that need no daemon."""
        for key, request in list(self._open.items()):
            answer = early.answer(request.message, self._greeted)
            if answer is not None:
                self._answered(key)
                self._news.append(answer)

    # --- going on
    def interrupted(self, repeatable: str) -> None:
        """The daemon has ended. repeatable: the names of the tools that may be called twice."""
        self.refuse()
        tools = set(repeatable.split(","))
        for key, request in list(self._open.items()):
            safe = request.method != CALL or request.what in tools
            if not request.begun or (safe and request.tries < MOST_TRIES) or request.method == LISTEN:
                self._open[key] = request._replace(begun=False)
            else:
                del self._open[key]
                self._news.append(_excuse(request, UNKNOWN.format(what=request.what)))

    def give_up(self, why: str, repeatable: str | None = None) -> None:
        """There is no daemon to be had: nobody is left waiting.

        repeatable: the tools that may be called twice, if a daemon has the requests and may do them later.
        """
        for key, request in list(self._open.items()):
            if request.method != LISTEN:
                del self._open[key]
                unsure = repeatable is not None and request.method == CALL
                unsure = unsure and request.what not in (repeatable or "").split(",")
                text = (LATER if unsure else GIVEN_UP).format(why=why.removesuffix("."), what=request.what)
                self._news.append(_excuse(request, text))

    def news(self) -> bytes:
        """What there is to tell the agent, once."""
        news, self._news = self._news, []
        return b"".join(news)

    def restored(self, line: Connection) -> bool:
        """Bring a new daemon to where the old one was, then ask again; False if it fails at that."""
        try:
            if self._greeting is not None and self._greeted:
                _repeat([self._greeting], line)
                line.sendall(self._initialized)
                _repeat(self._watched.values(), line)
                self._news += map(_changed, self._watched)
            line.sendall(b"".join(request.line for request in self._open.values()))
        except OSError:
            return False
        return True


def _repeat(requests: Iterable[Request], line: Connection) -> None:
    """Ask again what was answered long ago, and keep the answers from the agent."""
    ours = {f"{OURS}/{number}": request.message for number, request in enumerate(requests)}
    line.sendall(b"".join(json.dumps(message | {"id": id}).encode() + b"\n" for id, message in ours.items()))
    received = b""
    while ours:
        chunk = line.recv(CHUNK)
        if not chunk:
            raise ConnectionError("the daemon hung up")
        *lines, received = (received + chunk).split(b"\n")
        for answer in lines:
            if not answer.startswith(OPENING):
                ours.pop(json.loads(answer).get("id"), None)


def _changed(uri: str) -> bytes:
    """Nobody knows what happened while no daemon was there to tell."""
    notice = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": uri}}
    return json.dumps(notice).encode() + b"\n"


def _excuse(request: Request, text: str) -> bytes:
    """An answer that the agent's model reads, where it is the model who asked."""
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
