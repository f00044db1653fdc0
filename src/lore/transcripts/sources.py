"""sources: the supported clients, and where and how each of them keeps its transcripts."""

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

from lore.bookmark import Bookmark
from lore.environment import application_folder
from lore.errors import Invalid
from lore.text import listed
from lore.transcripts import (
    claude_code,
    codex,
    cursor_cli,
    cursor_ide,
    databases,
    gemini,
    line_files,
    opencode,
)
from lore.transcripts.turns import Transcript
from lore.transcripts.untrusted_files import find_files

Signature: TypeAlias = tuple[tuple[int, int, int], ...]
"""Inode, size and time of each file of a transcript: it differs whenever the transcript has changed."""


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


_APP_VARIABLE, _APP_FOLDER = application_folder(sys.platform)
SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        Source(
            name=claude_code.NAME,
            open=partial(line_files.open_transcript, claude_code.Reader),
            folder=".claude",
            below="projects",
            patterns=("**/*.jsonl",),
            variable="CLAUDE_CONFIG_DIR",
        ),
        Source(
            name=codex.NAME,
            open=partial(line_files.open_transcript, codex.Reader),
            folder=".codex",
            below="sessions",
            archive="archived_sessions",
            patterns=("**/*.jsonl", f"**/*.jsonl{line_files.COMPRESSED}"),
            file_names=("*.jsonl", f"*.jsonl{line_files.COMPRESSED}"),
            variable="CODEX_HOME",
        ),
        Source(
            name=gemini.NAME,
            open=partial(line_files.open_transcript, gemini.Reader),
            folder=".gemini",
            below="tmp",
            patterns=("*/chats/session-*.jsonl", "*/chats/*/*.jsonl"),
        ),
        Source(
            name=cursor_cli.NAME,
            open=partial(line_files.open_transcript, cursor_cli.Reader),
            folder=".cursor",
            below="projects",
            patterns=("*/agent-transcripts/**/*.jsonl",),
        ),
        Source(
            name=cursor_ide.NAME,
            open=partial(databases.open_transcript, cursor_ide.Reader),
            folder=_APP_FOLDER,
            below="Cursor/User/globalStorage",
            patterns=("state.vscdb",),
            variable=_APP_VARIABLE,
            file_names=("state.vscdb",),
            log_suffix=databases.LOG_SUFFIX,
        ),
        Source(
            name=opencode.NAME,
            open=partial(databases.open_transcript, opencode.Reader),
            folder=".local/share",
            below="opencode",
            patterns=("opencode.db",),
            variable="XDG_DATA_HOME",
            file_names=("opencode.db",),
            log_suffix=databases.LOG_SUFFIX,
        ),
    )
}
ALL = "all"
VARIABLES = tuple(source.variable for source in SOURCES.values() if source.variable)


def _signature(path: Path) -> tuple[int, int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0, 0
    return (status.st_ino, status.st_size, status.st_mtime_ns) if status.st_size else (0, 0, 0)


def source_named(name: str) -> Source:
    """The source with this name."""
    if name not in SOURCES:
        raise Invalid(f"unknown source {name!r}; known: {listed(SOURCES)}")
    return SOURCES[name]


def selected(names: str) -> list[Source]:
    """The sources in a comma-separated list, or all of them."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    return list(SOURCES.values()) if wanted == [ALL] else [source_named(name) for name in wanted]


def source_of(path: Path) -> Source:
    """The client that owns a file, by its name or its folder."""
    for source in sorted(SOURCES.values(), key=lambda source: path.name not in source.file_names):
        if source.owns(path):
            return source
    raise Invalid(f"{path} is in no folder of a known client; name one with --source: {listed(SOURCES)}")
