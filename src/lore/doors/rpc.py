"""rpc: call the verbs of a daemon's Lore over a socket, from both ends. One line is a call, one its
answer."""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any

from lore import errors
from lore.doors import codec, protocol
from lore.doors.codec import fits, hints_of
from lore.doors.endpoint import POLL_SECONDS, Connection
from lore.doors.protocol import LONGEST_LINE, LONGEST_MESSAGE, OPENING, Cut
from lore.errors import Duplicate, Invalid, LoreError, Unavailable
from lore.verbs import REMOTE

if TYPE_CHECKING:
    from lore.engine import Lore

BEGUN = protocol.encode("begun", {})
"""The message that the daemon sends before it works on a call."""
ERRORS: dict[str, type[LoreError]] = {
    name: error
    for name, error in vars(errors).items()
    if isinstance(error, type) and issubclass(error, LoreError)
}


# --- the daemon's end
def answer(lore: "Lore", line: bytes) -> bytes:
    """Do the call in a line; the line of its answer."""
    try:
        if isinstance(line, Cut):
            raise Invalid(f"a line has at most {LONGEST_LINE:,} bytes")
        return codec.encode({"value": _call(lore, codec.decode(line))})
    except LoreError as error:
        return _encode_error(error)
    except RecursionError:
        return _encode_error(Invalid("this is nested too deeply"))


def _call(lore: "Lore", call: Any) -> object:
    if not isinstance(call, dict) or not fits(call.get("verb"), str):
        raise Invalid('a call is a line like {"verb": "status", "arguments": [], "named": {}}')
    verb, arguments, named = call["verb"], call.get("arguments", []), call.get("named", {})
    if verb not in REMOTE:
        raise Invalid(f"unknown verb {verb[:40]!r}; known: {', '.join(sorted(REMOTE))}")
    method = getattr(lore, verb)
    try:
        bound = signature(method).bind(*arguments, **named).arguments
    except TypeError as error:
        raise Invalid(f"{verb} cannot be called like this: {error}") from error
    hints = hints_of(getattr(type(lore), verb))
    for name, value in bound.items():
        if not fits(value, hints[name]):
            raise Invalid(f"{verb}: {name} cannot be {repr(value)[:40]}")
    return method(*arguments, **named)


def _encode_error(error: LoreError) -> bytes:
    kind = next(one.__name__ for one in type(error).__mro__ if one in ERRORS.values())
    existing = {"existing": error.existing} if isinstance(error, Duplicate) else {}
    return codec.encode({"error": {"kind": kind, "message": str(error), **existing}})


# --- the client's end
class Remote:
    """Stands in for a Lore: the daemon at the other end of a connection does its verbs.

    Should the daemon end, `instead` opens the store itself, and the command goes on with that. hung: the
    reason why the daemon cannot answer any more, if there is one.
    """

    def __init__(
        self,
        daemon: Connection,
        instead: Callable[[], "AbstractContextManager[Lore]"],
        hung: Callable[[], str] = str,
    ) -> None:
        self._daemon = daemon
        self._hung = hung
        self._instead = instead
        self._direct: Lore | None = None
        self._rest = b""
        self._open = ExitStack()
        self._open.callback(daemon.close)

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        if verb not in REMOTE:
            raise AttributeError(f"the daemon has no verb {verb!r}")
        return partial(self._call, verb)

    def clock(self) -> float:
        """The time."""
        return time.time()

    def close(self) -> None:
        """Hang up."""
        self._open.close()

    def _call(self, verb: str, *arguments: object, **named: object) -> Any:
        if self._direct is None:
            begun, line = self._send({"verb": verb, "arguments": list(arguments), "named": named})
            if line:
                return _value(line)
            if begun and not REMOTE[verb].repeatable:
                raise Unavailable(
                    f"the daemon ended before it answered; {verb} may or may not have been done:"
                    " look before you do it again"
                )
            self._direct = self._open.enter_context(self._instead())
        return getattr(self._direct, verb)(*arguments, **named)

    def _send(self, call: Mapping[str, object]) -> tuple[bool, bytes]:
        """Whether the call was begun, and its answer; an empty one if the daemon ended before."""
        try:
            self._daemon.sendall(codec.encode(call))
        except OSError:
            return False, b""
        line = self._next()
        begun = line.startswith(OPENING)
        return begun, self._next() if begun else line

    def _next(self) -> bytes:
        """The next line; empty if there is none. Unavailable if the daemon hangs."""
        parts = [self._rest]
        self._daemon.settimeout(POLL_SECONDS)
        while b"\n" not in parts[-1]:
            try:
                parts.append(self._daemon.recv(LONGEST_MESSAGE))
            except TimeoutError:
                if why := self._hung():
                    raise Unavailable(why) from None
                continue
            except OSError:
                return b""
            if not parts[-1]:
                return b""
        self._daemon.settimeout(None)
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line


def _value(line: bytes) -> Any:
    document = codec.decode(line)
    if "value" in document:
        return document["value"]
    error = document["error"]
    kind, message = ERRORS.get(error["kind"], LoreError), error["message"]
    raise Duplicate(message, error["existing"]) if kind is Duplicate else kind(message)
