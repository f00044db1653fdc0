"""sources: the supported clients, and where and how each of them keeps its transcripts."""

import sys
from functools import partial
from pathlib import Path

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
from lore.transcripts.turns import Source

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
