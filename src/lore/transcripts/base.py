"""What every transcript becomes, whoever wrote it: turns, and the headings of their sessions."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeAlias

Role: TypeAlias = Literal["user", "assistant", "tool", "summary"]
State: TypeAlias = dict[str, Any]
"""What a reader has to remember to read on behind the last line it has seen; JSON knows all of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Something that was said or done in a conversation.

    uuid: the client's own name for it, the same in every file that repeats it; a turn that comes again takes
    the place of the one before. session: the conversation; a subagent's turns belong to the one that sent it.
    role: tool is a call with its result, summary what a client made of the turns before it. text: the whole
    text, or an excerpt of it where `full` is not empty: then `full` is the whole. at: seconds since
    1970, None where it is not told. reasoning: what the model thought. line: where in its file, from 1.
    """

    uuid: str
    session: str
    role: Role
    text: str
    full: str = ""
    at: float | None = None
    reasoning: str = ""
    tool: str = ""
    failed: bool = False
    agent: str = ""
    folder: str = ""
    branch: str = ""
    remote: str = ""
    model: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """What a client says of a whole session. parent: the one that it was forked from, or that sent it."""

    session: str
    title: str = ""
    folder: str = ""
    parent: str = ""
    at: float | None = None


Said: TypeAlias = Turn | Heading


class LineReader(Protocol):
    """Reads a file that grows by lines; made for one file, with the state of the last time."""

    state: State

    def __init__(self, path: str, state: Mapping[str, Any]) -> None: ...

    def read(self, number: int, line: bytes) -> Sequence[Said]:
        """What one whole line says; nothing if it is not conversation, or cannot be understood."""
        ...
