"""sources: the clients whose transcripts are read, and where and how each of them keeps its files."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from lore.errors import Invalid
from lore.text import listed
from lore.transcripts import (
    claude_code,
    codex,
    compressed,
    cursor_cli,
    cursor_ide,
    databases,
    gemini,
    growing,
    opencode,
)
from lore.transcripts.changes import Cursor, OpenCode
from lore.transcripts.finding import matching
from lore.transcripts.growing import ReadPosition, Transcript

Look: TypeAlias = tuple[tuple[int, int, int], ...]
"""What tells, from outside, whether a transcript has changed."""
APPLICATIONS = {"darwin": ("", "Library/Application Support"), "win32": ("APPDATA", "AppData/Roaming")}
"""Where programs with windows keep what is theirs: a variable that says it, and where it is otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A client. open: its transcript at this path, at one of the places where it was left.

    variable: what its user may have set to say where its folder is. below: the part of the folder where it
    writes; kept: where it puts away what is old. patterns: its files in both. called: its files, wherever
    they lie. beside: what is added to the name of a file to name the one with its latest changes.
    """

    name: str
    open: Callable[[Path, Sequence[ReadPosition]], AbstractContextManager[Transcript]]
    folder: str
    below: str
    patterns: tuple[str, ...]
    variable: str = ""
    kept: str = ""
    called: tuple[str, ...] = ("*.jsonl",)
    beside: str = ""

    def place(self, home: Path, variables: Mapping[str, str]) -> Path:
        """The folder where it writes its transcripts."""
        return self._folder(home, variables) / self.below

    def files(
        self, home: Path, variables: Mapping[str, str], troubles: dict[str, str] | None = None
    ) -> Iterator[Path]:
        """Its transcripts, the oldest first. troubles: gets what cannot be looked at, and why."""
        seen = {} if troubles is None else troubles
        found = [
            path
            for place in self._places(home, variables)
            for pattern in self.patterns
            for path in matching(place, pattern, seen)
        ]
        yield from sorted(found, key=lambda path: (self.written_at(path), str(path)))

    def watched(self, home: Path, variables: Mapping[str, str]) -> list[Path]:
        """What changes when it writes: its folder, or, where much else is written, only the files."""
        if not self.beside:
            return [place for place in self._places(home, variables) if place.is_dir()]
        parts = [part for path in self.files(home, variables) for part in self._parts(path)]
        return [part for part in parts if part.is_file()]

    def look_at(self, path: Path) -> Look:
        """Another one when the transcript has changed. A file that is gone looks like an empty one."""
        return tuple(map(_look_at, self._parts(path)))

    def written_at(self, path: Path) -> float:
        """When it was written last; a file that is gone, before all others."""
        return max(nanoseconds for _, _, nanoseconds in self.look_at(path)) / 1e9

    def owns(self, path: Path) -> bool:
        """Whether this seems to be a file of this client: a database by its name, others by their folder."""
        return path.name in self.called or (not self.beside and self.folder in path.absolute().parts)

    def _places(self, home: Path, variables: Mapping[str, str]) -> list[Path]:
        names = (self.below, self.kept) if self.kept else (self.below,)
        return [self._folder(home, variables) / name for name in names]

    def _folder(self, home: Path, variables: Mapping[str, str]) -> Path:
        return Path(variables.get(self.variable) or home / self.folder)

    def _parts(self, path: Path) -> list[Path]:
        return [path, path.with_name(path.name + self.beside)] if self.beside else [path]


_APP_VARIABLE, _APP_FOLDER = APPLICATIONS.get(sys.platform, ("XDG_CONFIG_HOME", ".config"))
SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        Source(
            name=claude_code.NAME,
            open=partial(growing.opened, claude_code.Reader),
            folder=".claude",
            below="projects",
            patterns=("**/*.jsonl",),
            variable="CLAUDE_CONFIG_DIR",
        ),
        Source(
            name=codex.NAME,
            open=partial(growing.opened, codex.Reader),
            folder=".codex",
            below="sessions",
            kept="archived_sessions",
            patterns=("**/*.jsonl", f"**/*.jsonl{compressed.SUFFIX}"),
            called=("*.jsonl", f"*.jsonl{compressed.SUFFIX}"),
            variable="CODEX_HOME",
        ),
        Source(
            name=gemini.NAME,
            open=partial(growing.opened, gemini.Reader),
            folder=".gemini",
            below="tmp",
            patterns=("*/chats/session-*.jsonl", "*/chats/*/*.jsonl"),
        ),
        Source(
            name=cursor_cli.NAME,
            open=partial(growing.opened, cursor_cli.Reader),
            folder=".cursor",
            below="projects",
            patterns=("*/agent-transcripts/**/*.jsonl",),
        ),
        Source(
            name=cursor_ide.NAME,
            open=partial(databases.opened, Cursor),
            folder=_APP_FOLDER,
            below="Cursor/User/globalStorage",
            patterns=("state.vscdb",),
            variable=_APP_VARIABLE,
            called=("state.vscdb",),
            beside=databases.BESIDE,
        ),
        Source(
            name=opencode.NAME,
            open=partial(databases.opened, OpenCode),
            folder=".local/share",
            below="opencode",
            patterns=("opencode.db",),
            variable="XDG_DATA_HOME",
            called=("opencode.db",),
            beside=databases.BESIDE,
        ),
    )
}
ALL = "all"
VARIABLES = tuple(source.variable for source in SOURCES.values() if source.variable)


def _look_at(path: Path) -> tuple[int, int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0, 0
    return (status.st_ino, status.st_size, status.st_mtime_ns) if status.st_size else (0, 0, 0)


def named(name: str) -> Source:
    """The source of this name."""
    if name not in SOURCES:
        raise Invalid(f"unknown source {name!r}; known: {listed(SOURCES)}")
    return SOURCES[name]


def chosen(names: str) -> list[Source]:
    """Those of a comma-separated list, or all."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    return list(SOURCES.values()) if wanted == [ALL] else [named(name) for name in wanted]


def source_of(path: Path) -> Source:
    """Whose file this is, by its name or by where it lies."""
    for source in sorted(SOURCES.values(), key=lambda source: path.name not in source.called):
        if source.owns(path):
            return source
    raise Invalid(f"{path} is in no folder of a known client; name one with --source: {listed(SOURCES)}")
