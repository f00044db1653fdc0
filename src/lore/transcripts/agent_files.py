"""agent_files: the files in which agents keep notes for themselves: found, and read as entries.

They are only read, never written. `agent_entries` knows what is in them.
"""

import errno
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from lore.transcripts import agent_entries
from lore.transcripts.agent_entries import Entry
from lore.transcripts.turns import Source
from lore.transcripts.untrusted_files import LONGEST_PATH, find_files, open_regular, printable, read_text

CLAUDE_CODE, CODEX, GEMINI = "claude-code", "codex", "gemini"
"""Names of sources; their readers need not be imported to read notes."""
Signature = tuple[int, int, int]
"""Inode, size and time of the last change of a file, in nanoseconds."""
MOST_LOOKED_AT = 500
"""Folders that are looked into to find the one that a name of Claude Code stands for."""
CODED = 200
"""Characters of a folder's name of Claude Code that stand for a path; a hash follows in longer ones."""
HEAD_BYTES = 1 << 16
"""Bytes of a transcript in which its folder is looked for."""
TRANSCRIPTS_TRIED = 3


@dataclass(frozen=True, slots=True)
class Kind:
    """Files of one form. pattern: below the client's folder. place: the folder that a whole file is about."""

    client: str
    pattern: str
    entries: Callable[[str, str], list[Entry]]
    place: Callable[[Path], str] = lambda path: ""


@dataclass(frozen=True, slots=True)
class AgentFile:
    """A file of notes. base: the folder of the client whose agent writes it. signature: see `Signature`."""

    kind: Kind
    path: Path
    base: Path
    signature: Signature

    @property
    def client(self) -> str:
        """The client whose agent writes it."""
        return self.kind.client

    @property
    def name(self) -> str:
        """Its path below the client's folder."""
        return printable(self.path.relative_to(self.base).as_posix())

    @property
    def written_at(self) -> float:
        """When it was last changed, in seconds since 1970."""
        return self.signature[2] / 1e9


def find(
    sources: Iterable[Source], home: Path, variables: Mapping[str, str], problems: dict[str, str]
) -> list[AgentFile]:
    """The files of notes of these clients. problems: receives what cannot be accessed, and why."""
    found = []
    for source in sources:
        base = source.place(home, variables).parent
        for kind in KINDS:
            if kind.client == source.name:
                paths = sorted(find_files(base, kind.pattern, problems))
                signatures = ((path, _signature(path)) for path in paths)
                found += [AgentFile(kind, path, base, one) for path, one in signatures if one]
    return found


def entries_of(file: AgentFile) -> list[tuple[Entry, str]]:
    """The entries of a file, each with the folder that it is about; empty for everywhere.

    OSError if the file cannot be read, is too large, or is a link to somewhere outside the client's folder.
    """
    if not file.path.resolve().is_relative_to(file.base.resolve()):
        raise OSError(errno.EINVAL, "a link to a file outside the client's folder", str(file.path))
    entries = file.kind.entries(file.path.name, read_text(file.path).replace("\0", ""))
    place = file.kind.place(file.path) if entries else ""
    return [(entry, entry.folder if os.path.isabs(entry.folder) else place) for entry in entries]


def is_gone(path: str) -> bool:
    """Whether nothing is at this path any more; a folder that cannot be looked into may still hold it."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return True
    except (OSError, ValueError):
        return False
    return False


def _signature(path: Path) -> Signature | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


# --- Claude Code names the folder of a project after its path, with a dash for each character but letters
def _place_of_notes(path: Path) -> str:
    """The folder of the project that a file of Claude Code's memory belongs to."""
    return folder_of(path.parent.parent)


def folder_of(coded: Path) -> str:
    """The folder that one of Claude Code's `projects` stands for: by its transcripts, else by what exists.

    Where neither tells, each dash of the name stands for a separator.
    """
    for folder in _folders_in_transcripts(coded):
        if _is_code_of(coded.name, folder):
            return folder
    existing = _existing(coded.name)
    return existing or coded.name.replace("-", "/")


def _code(folder: str) -> str:
    return "".join(one if one.isascii() and one.isalnum() else "-" for one in folder)


def _is_code_of(name: str, folder: str) -> bool:
    code = _code(folder)
    return name == code or (len(code) > CODED and name.startswith(code[:CODED]))


def _folders_in_transcripts(coded: Path) -> Iterator[str]:
    for path in islice(find_files(coded, "*.jsonl", {}), TRANSCRIPTS_TRIED):
        try:
            with open_regular(path) as file:
                lines = (file.read(HEAD_BYTES) or b"").split(b"\n")[:-1]
        except OSError:
            continue
        yield from filter(None, map(_folder_in, lines))


def _folder_in(line: bytes) -> str:
    try:
        entry = json.loads(line) if b'"cwd"' in line else None
    except (ValueError, RecursionError):
        return ""
    folder = entry.get("cwd") if isinstance(entry, dict) else None
    return folder if isinstance(folder, str) else ""


def _existing(name: str) -> str:
    """An existing folder with this code; empty if there is none, or if it would take too long to find."""
    waiting, looked_at = ["/"], 0
    while waiting and looked_at < MOST_LOOKED_AT:
        folder = waiting.pop()
        looked_at += 1
        try:
            with os.scandir(folder) as entries:
                below = [entry.path for entry in entries if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
        for path in below:
            code = _code(path)
            if code == name:
                return printable(path)
            if name.startswith(f"{code}-") and len(path) < LONGEST_PATH:
                waiting.append(path)
    return ""


KINDS = (
    Kind(CLAUDE_CODE, "projects/*/memory/*.md", agent_entries.claude_code, _place_of_notes),
    Kind(CODEX, "memories/memory_summary.md", agent_entries.codex_summary),
    Kind(CODEX, "memories/MEMORY.md", agent_entries.codex_handbook),
    Kind(CODEX, "memories/rollout_summaries/*.md", agent_entries.codex_rollout),
    Kind(GEMINI, "GEMINI.md", agent_entries.gemini),
)
CLIENTS = tuple(dict.fromkeys(kind.client for kind in KINDS))
"""The clients whose files of notes are read."""
