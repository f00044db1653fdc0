"""Turns and session headings: the form into which every transcript is read, and the client that writes it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias

from lore.bookmark import Bookmark
from lore.transcripts import fields
from lore.transcripts.untrusted_files import find_files

Role: TypeAlias = Literal["user", "assistant", "tool", "summary"]
State: TypeAlias = dict[str, Any]
"""JSON values that a reader needs to continue behind the last line it read."""

Signature: TypeAlias = tuple[tuple[int, int, int], ...]
"""Inode, size and time of each file of a transcript: it differs whenever the transcript has changed."""
LASTING = ("at", "tool", "agent", "folder", "branch", "remote", "model")
"""Fields that a turn keeps from its earlier version if the new version lacks them."""
MOST_EARLIER = 16
SAME_REASONING = 500
"""Two reasoning texts with this many equal characters at the beginning are versions of one text."""
WAITING_CHARACTERS = 500_000
"""Characters of full tool calls that a reader keeps until their results arrive."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message, or one tool call with its result.

    uuid: the client's id, the same in every file that repeats the turn; a later version replaces the earlier
    one. session: the conversation; a subagent's turns belong to the session that started it. role: `tool` is
    a call with its result, `summary` is the client's summary of earlier turns; what is said to a subagent is
    the assistant's, which wrote it from whatever it had read, and never the user's. text: the whole text, or
    an excerpt if `full` is not empty; then `full` is the whole text. at: seconds since 1970, None if unknown.
    line: line number in the file, from 1.
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

    def __post_init__(self) -> None:
        if self.agent and self.role == "user":
            object.__setattr__(self, "role", "assistant")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """Facts about a whole session. parent: the session that it was forked from or started by."""

    session: str
    title: str = ""
    folder: str = ""
    parent: str = ""
    at: float | None = None


TurnOrHeading: TypeAlias = Turn | Heading


class LineReader(Protocol):
    """Parses the lines of one growing file, starting with the state of the last reading."""

    state: State

    def __init__(self, path: str, state: Mapping[str, Any]) -> None: ...

    def read(self, number: int, line: bytes) -> Sequence[TurnOrHeading]:
        """The entries of one whole line; none if it is not conversation or cannot be parsed."""
        ...


class Transcript(Protocol):
    """An open transcript. Iteration yields the new entries in pieces; `bookmark` follows each piece."""

    @property
    def bookmark(self) -> Bookmark:
        """The current position; before the first piece, the position of the last reading."""
        ...

    @property
    def passed_over(self) -> int:
        """Lines that could not be read so far."""
        ...

    def __iter__(self) -> Iterator[Sequence[TurnOrHeading]]:
        """The entries since the last reading. An empty piece moves the bookmark as well."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A client. open: opens the transcript at a path, at the bookmark that belongs to it.

    folder: below the home directory, unless the environment variable `variable` names another. below: the
    part of the folder where it writes; archive: the part for old files; patterns: its files in both.
    file_names: patterns of its files in any folder. log_suffix: suffix of the file with the latest changes.
    """

    name: str
    open: Callable[[Path, Sequence[Bookmark]], AbstractContextManager[Transcript]]
    folder: str
    below: str
    patterns: tuple[str, ...]
    variable: str = ""
    archive: str = ""
    file_names: tuple[str, ...] = ("*.jsonl",)
    log_suffix: str = ""

    def place(self, home: Path, variables: Mapping[str, str]) -> Path:
        """The folder where it writes its transcripts."""
        return self._places(home, variables)[0]

    def files(
        self, home: Path, variables: Mapping[str, str], problems: dict[str, str] | None = None
    ) -> Iterator[Path]:
        """Its transcripts, oldest first. problems: receives the files that cannot be accessed, and why."""
        problems = {} if problems is None else problems
        found = [
            path
            for place in self._places(home, variables)
            for pattern in self.patterns
            for path in find_files(place, pattern, problems)
        ]
        yield from sorted(found, key=lambda path: (self.written_at(path), str(path)))

    def watched(self, home: Path, variables: Mapping[str, str]) -> list[Path]:
        """Paths that change when it writes: its folders; for a database only the files."""
        if not self.log_suffix:
            return [place for place in self._places(home, variables) if place.is_dir()]
        parts = [part for path in self.files(home, variables) for part in self._parts(path)]
        return [part for part in parts if part.is_file()]

    def signature(self, path: Path) -> Signature:
        """Differs when the transcript has changed. A missing file has the signature of an empty one."""
        return tuple(map(_signature, self._parts(path)))

    def written_at(self, path: Path) -> float:
        """When it was last written, in seconds since 1970; 0 for a missing file."""
        return max(nanoseconds for _, _, nanoseconds in self.signature(path)) / 1e9

    def owns(self, path: Path) -> bool:
        """Whether this seems to be a file of this client: a database by its name, others by their folder."""
        return path.name in self.file_names or (not self.log_suffix and self.folder in path.absolute().parts)

    def _places(self, home: Path, variables: Mapping[str, str]) -> list[Path]:
        folder = Path(variables.get(self.variable) or home / self.folder)
        return [folder / name for name in (self.below, self.archive) if name]

    def _parts(self, path: Path) -> list[Path]:
        return [path, path.with_name(path.name + self.log_suffix)] if self.log_suffix else [path]


def _signature(path: Path) -> tuple[int, int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0, 0
    return (status.st_ino, status.st_size, status.st_mtime_ns) if status.st_size else (0, 0, 0)


def with_earlier_fields(turn: Turn, earlier: dict[str, Any]) -> Turn:
    """The turn with the lasting fields and reasoning of its earlier version.

    earlier: those fields of the last turns, by a hash of their uuid; it is updated.
    """
    key = fields.digest(turn.uuid)
    before = earlier.pop(key, {})
    present = {field: value for field in LASTING if (value := getattr(turn, field)) not in (None, "")}
    merged = {**before, **present, "reasoning": _merge(before.get("reasoning", ""), turn.reasoning)}
    earlier[key] = {field: value for field, value in merged.items() if value != ""}
    keep_newest(earlier, MOST_EARLIER)
    return replace(turn, **merged)


def _merge(before: str, new: str) -> str:
    if new.startswith(before[:SAME_REASONING]):
        return max(before, new, key=len)
    return before if new in before else fields.reasoning([before, new])


def drop_long_calls(calls: dict[str, Any], key: int | str) -> None:
    """Drop the full text, stored under `key`, of the oldest calls if all together are too long."""
    total = 0
    for call in reversed(calls.values()):
        if total > WAITING_CHARACTERS:
            call[key] = ""
        total += len(call[key])


def keep_newest(entries: dict[str, Any], most: int) -> None:
    """Remove the oldest entries until at most `most` are left."""
    while len(entries) > most:
        del entries[next(iter(entries))]
