"""verbs: Lore's menu over a line, from both ends. One line asks for a verb, one brings its answer."""

import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack
from functools import partial
from inspect import signature
from typing import TYPE_CHECKING, Any

from lore import errors
from lore.doors import codec, handshake
from lore.doors.codec import fits, hints_of
from lore.doors.endpoint import GLANCE_SECONDS, Connection
from lore.doors.framing import LONGEST_LINE, Cut
from lore.doors.handshake import LONGEST, OPENING
from lore.errors import Duplicate, Invalid, LoreError, Unavailable

if TYPE_CHECKING:
    from lore.engine import Lore

REPEATABLE = frozenset(
    "search similar links recall count count_below projects select read look_at full_texts roots explore"
    " ids_like history sessions staged status check rebuild embed_batch pending".split()
)
"""Verbs that may be asked for a second time when the first answer was lost."""
ONCE = frozenset("retry remember remember_all revise link unlink forget restore".split())
VERBS = REPEATABLE | ONCE
BEGUN = handshake.encode("begun", {})
"""What the daemon says before it touches a line."""
ERRORS: dict[str, type[LoreError]] = {
    name: error
    for name, error in vars(errors).items()
    if isinstance(error, type) and issubclass(error, LoreError)
}


# --- the daemon's end
def answered(lore: "Lore", line: bytes) -> bytes:
    """Do what a line asks for; the line to answer with."""
    if isinstance(line, Cut):
        return codec.encode({"error": _told(Invalid(f"a line has at most {LONGEST_LINE:,} bytes"))})
    try:
        value = _done(lore, codec.decode(line))
    except LoreError as error:
        return codec.encode({"error": _told(error)})
    except RecursionError:
        return codec.encode({"error": _told(Invalid("this is nested too deeply"))})
    try:
        return codec.encode({"value": value})
    except RecursionError:
        return codec.encode(
            {"error": _told(Unavailable("it was done, but the answer is nested too deeply to be told"))}
        )


def _done(lore: "Lore", asked: Any) -> object:
    if not isinstance(asked, dict) or not fits(asked.get("verb"), str):
        raise Invalid('a line asks like this: {"verb": "status", "arguments": [], "named": {}}')
    verb, arguments, named = asked["verb"], asked.get("arguments", []), asked.get("named", {})
    if verb not in VERBS:
        raise Invalid(f"unknown verb {verb[:40]!r}; known: {', '.join(sorted(VERBS))}")
    method = getattr(lore, verb)
    try:
        given = signature(method).bind(*arguments, **named).arguments
    except TypeError as error:
        raise Invalid(f"{verb} cannot be asked so: {error}") from error
    hints = hints_of(getattr(type(lore), verb))
    for name, value in given.items():
        if not fits(value, hints[name]):
            raise Invalid(f"{verb}: {name} cannot be {repr(value)[:40]}")
    return method(*arguments, **named)


def _told(error: LoreError) -> Mapping[str, str]:
    kind = next(one.__name__ for one in type(error).__mro__ if one in ERRORS.values())
    existing = {"existing": error.existing} if isinstance(error, Duplicate) else {}
    return {"kind": kind, "message": str(error), **existing}


# --- the client's end
class Remote:
    """Stands in for a Lore: its verbs are done by the daemon at the other end of a line.

    Should the daemon end, `instead` opens the store itself, and the command goes on with that. hung: the
    reason why the daemon cannot answer any more, if there is one.
    """

    def __init__(
        self,
        line: Connection,
        instead: Callable[[], "AbstractContextManager[Lore]"],
        hung: Callable[[], str] = str,
    ) -> None:
        self._line = line
        self._hung = hung
        self._instead = instead
        self._direct: Lore | None = None
        self._rest = b""
        self._open = ExitStack()
        self._open.callback(line.close)

    def __getattr__(self, verb: str) -> Callable[..., Any]:
        if verb not in VERBS:
            raise AttributeError(f"the daemon knows no verb {verb!r}")
        return partial(self._ask, verb)

    def clock(self) -> float:
        """The time."""
        return time.time()

    def close(self) -> None:
        """Hang up."""
        self._open.close()

    def _ask(self, verb: str, *arguments: object, **named: object) -> Any:
        if self._direct is None:
            begun, answer = self._said({"verb": verb, "arguments": list(arguments), "named": named})
            if answer:
                return _value(answer)
            if begun and verb not in REPEATABLE:
                raise Unavailable(
                    f"the daemon ended before it answered; {verb} may or may not have been done:"
                    " look before you do it again"
                )
            self._direct = self._open.enter_context(self._instead())
        return getattr(self._direct, verb)(*arguments, **named)

    def _said(self, asked: Mapping[str, object]) -> tuple[bool, bytes]:
        """Whether it was begun, and its answer; an empty one if the daemon ended before."""
        try:
            self._line.sendall(codec.encode(asked))
        except OSError:
            return False, b""
        answer = self._next()
        begun = answer.startswith(OPENING)
        return begun, self._next() if begun else answer

    def _next(self) -> bytes:
        """The next line; empty if there is none. Unavailable if the daemon hangs."""
        parts = [self._rest]
        self._line.settimeout(GLANCE_SECONDS)
        while b"\n" not in parts[-1]:
            try:
                parts.append(self._line.recv(LONGEST))
            except TimeoutError:
                if why := self._hung():
                    raise Unavailable(why) from None
                continue
            except OSError:
                return b""
            if not parts[-1]:
                return b""
        self._line.settimeout(None)
        line, _, self._rest = b"".join(parts).partition(b"\n")
        return line


def _value(answer: bytes) -> Any:
    document = codec.decode(answer)
    if "value" in document:
        return document["value"]
    told = document["error"]
    kind, message = ERRORS.get(told["kind"], LoreError), told["message"]
    raise Duplicate(message, told["existing"]) if kind is Duplicate else kind(message)
