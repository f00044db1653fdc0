"""sources: the clients whose transcripts grow by lines, and where each of them keeps its files."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lore.errors import Invalid
from lore.text import listed
from lore.transcripts import claude_code, codex, cursor_cli, gemini
from lore.transcripts.base import LineReader


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A client. variable: what its user may have set to say where its folder is.

    below: the part of the folder where it writes. pattern: its files there.
    """

    name: str
    reader: Callable[[str, Mapping[str, Any]], LineReader]
    folder: str
    below: str
    pattern: str
    variable: str = ""

    def place(self, home: Path, variables: Mapping[str, str]) -> Path:
        """The folder where it writes its transcripts."""
        return Path(variables.get(self.variable) or home / self.folder) / self.below

    def files(self, home: Path, variables: Mapping[str, str]) -> Iterator[Path]:
        """Its transcripts, the oldest first."""
        found = [path for path in self.place(home, variables).glob(self.pattern) if path.is_file()]
        yield from sorted(found, key=lambda path: (_written_at(path), str(path)))


SOURCES: dict[str, Source] = {
    source.name: source
    for source in (
        Source(
            name=claude_code.NAME,
            reader=claude_code.Reader,
            folder=".claude",
            below="projects",
            pattern="**/*.jsonl",
            variable="CLAUDE_CONFIG_DIR",
        ),
        Source(
            name=codex.NAME,
            reader=codex.Reader,
            folder=".codex",
            below="sessions",
            pattern="**/*.jsonl",
            variable="CODEX_HOME",
        ),
        Source(
            name=gemini.NAME,
            reader=gemini.Reader,
            folder=".gemini",
            below="tmp",
            pattern="*/chats/session-*.jsonl",
        ),
        Source(
            name=cursor_cli.NAME,
            reader=cursor_cli.Reader,
            folder=".cursor",
            below="projects",
            pattern="*/agent-transcripts/**/*.jsonl",
        ),
    )
}
ALL = "all"
VARIABLES = tuple(source.variable for source in SOURCES.values() if source.variable)


def _written_at(path: Path) -> float:
    """Of a file that is gone meanwhile: before all others."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


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
    """Whose file this is, by where it lies."""
    parts = set(path.absolute().parts)
    for source in SOURCES.values():
        if source.folder in parts:
            return source
    raise Invalid(f"{path} is in no folder of a known client; say whose it is: {listed(SOURCES)}")
