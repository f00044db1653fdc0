"""Formats of memories: which one a file or folder has, and its items."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from lore.errors import Invalid, NotFound, Unavailable
from lore.transcripts.databases import open_database
from lore.transfer import basic_memory, claude_mem, lore_export, lorekeeper, mem0, reference_lore
from lore.transfer.items import Item, MemoryFormat, Unreadable, checked
from lore.transfer.streams import beginning, reading
from lore.transfer.tables import count_of, tables_of

SQLITE = b"SQLite format 3\0"
DOCUMENT_BYTES = 512 << 20
"""Size of a JSON document that is read as a whole."""
GRAPH = re.compile(rb'\s*\{\s*"type"\s*:\s*"(entity|relation)"')
ENTITY = re.compile(rb'"entityType"\s*:|"relationType"\s*:')
LOREKEEPER = (re.compile(rb'"memories"\s*:\s*\['), re.compile(rb'"(exported_at|links)"\s*:'))
MEM0 = re.compile(rb'"memory"\s*:\s*"')


@dataclass(frozen=True, slots=True)
class Opened:
    """The items of a file, and about how many there are (0: unknown)."""

    items: Iterator[Item]
    total: int


@dataclass(frozen=True, slots=True)
class Database:
    """A format that is an SQLite database: the tables that identify it, those that are read, the reader."""

    identifying: frozenset[str]
    read: tuple[str, ...]
    items: Callable[[apsw.Connection], Iterator[Item]]


DATABASES: dict[MemoryFormat, Database] = {
    "lorekeeper": Database(
        frozenset({"memories", "memory_links"}), lorekeeper.TABLES, lorekeeper.of_database
    ),
    "reference-lore": Database(
        frozenset({"fragments", "edges"}), reference_lore.TABLES, reference_lore.of_database
    ),
    "claude-mem": Database(
        frozenset({"sdk_sessions", "observations"}), claude_mem.TABLES, claude_mem.of_database
    ),
}
OWN = frozenset({"memory", "link", "journal", "migration"})
"""Tables of a store of Lore."""


def format_of(path: Path) -> MemoryFormat | None:
    """The format of a file or folder; None if it holds no memories, but perhaps conversations."""
    if path.is_dir():
        if basic_memory.notes_in(path):
            return "basic-memory"
        raise Invalid(f"{path} is a folder without Markdown notes; {expected()}")
    if not path.exists():
        raise NotFound(f"there is no file or folder {path}")
    first = beginning(path)
    if first.startswith(SQLITE):
        return _format_of_database(path)
    if lore_export.is_export(first):
        return "lore"
    if GRAPH.match(first) or (first.lstrip().startswith(b"{") and ENTITY.search(first.partition(b"\n")[0])):
        return "graph"
    return _format_of_document(first)


def _format_of_document(first: bytes) -> MemoryFormat | None:
    if first.lstrip()[:1] not in (b"{", b"["):
        return None
    if first.lstrip().startswith(b"{") and all(part.search(first) for part in LOREKEEPER):
        return "lorekeeper"
    return "mem0" if MEM0.search(first) else None


def _format_of_database(path: Path) -> MemoryFormat:
    with open_database(path) as db:
        tables = tables_of(db)
    if tables >= OWN:
        raise Invalid(
            f"{path} is a store of Lore. `lore restore-backup {path}` puts it in the place of the present "
            "one; "
            f"`lore --db {path} export - | lore import -` adds its memories"
        )
    for name, database in DATABASES.items():
        if tables >= database.identifying:
            return name
    raise Invalid(f"{path} is a database without memories that Lore knows; {expected()}")


def expected() -> str:
    """The formats, for an error."""
    return (
        "known are exports of Lore (JSON lines, also .gz and .zst), the JSON lines of the official memory "
        "server, Lorekeeper (JSON or database), reference Lore (memory.db), basic-memory (a folder), mem0 "
        "(JSON), claude-mem (database), and conversations of Claude.ai and ChatGPT, JSON lines or text"
    )


@contextmanager
def opened(path: Path, format: MemoryFormat, damaged: bool = False) -> Iterator[Opened]:
    """The items of a file. damaged: also of an export that is cut or was altered."""
    if format == "basic-memory":
        paths = basic_memory.notes_in(path)
        yield Opened(basic_memory.of_folder(path, paths), len(paths))
    elif format == "lore":
        total = 0 if damaged else sum(lore_export.verify(path).counts.values())
        yield Opened(lore_export.items(path, damaged), total)
    elif beginning(path).startswith(SQLITE):
        database = DATABASES[format]
        with open_database(path) as db:
            if missing := database.identifying - tables_of(db):
                raise Invalid(f"{path} has no table {', '.join(sorted(missing))}, so it is not of {format}")
            yield Opened(database.items(db), count_of(db, *database.read))
    else:
        yield _of_document(path, format)


def check_all(path: Path, format: MemoryFormat) -> None:
    """Raise Invalid if anything in a file cannot be imported."""
    with opened(path, format) as source:
        bad = [item for item in checked(source.items) if isinstance(item, Unreadable)]
    if bad:
        first = f"{bad[0].place}: {bad[0].reason}"
        raise Invalid(
            f"{path} has {len(bad):,} unreadable parts, so nothing was imported; the first: {first}"
        )


def _of_document(path: Path, format: MemoryFormat) -> Opened:
    document = _document(path)
    if format == "lorekeeper" and isinstance(document, dict) and isinstance(document.get("memories"), list):
        return Opened(lorekeeper.of_document(document), len(document["memories"]))
    entries = mem0.entries_of(document) if format == "mem0" else None
    if entries is None:
        raise Invalid(f"{path} holds no memories of {format}; {expected()}")
    return Opened(mem0.of_document(document), len(entries))


def _document(path: Path) -> Any:
    with reading(path) as file:
        data = file.read(DOCUMENT_BYTES + 1)
    if len(data) > DOCUMENT_BYTES:
        raise Unavailable(f"{path} has more than {DOCUMENT_BYTES:,} bytes; export it in parts")
    try:
        return json.loads(data.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise Invalid(
            f"{path} is cut or damaged: line {error.lineno}: {error.msg}; export it again"
        ) from None
    except (ValueError, RecursionError) as error:
        raise Invalid(f"{path} is no JSON document: {error}; export it again") from None
