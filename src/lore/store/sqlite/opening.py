"""Opening: give a file its schema or upgrade it, or say exactly why it cannot be used; copies of it."""

import json
import logging
import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import apsw

from lore.durable import OWNER_FILE, make_folder, sync_file, sync_folder, write_durably
from lore.errors import Invalid, Unavailable
from lore.model import new_id
from lore.store.moving import INCOMPLETE, incomplete
from lore.store.sqlite import first_release
from lore.store.sqlite.connections import LAST_CHANGE, Connections, plainly
from lore.store.sqlite.file_state import Level
from lore.text import listed
from lore.version import VERSION

FIRST_SCHEMA = "0001 first schema"
FILES = {
    FIRST_SCHEMA: "schema.sql",
    "0002 several users": "schema_server.sql",
    "0003 looking back": "schema_inspection.sql",
    "0004 compact vectors": "schema_compact.sql",
    "0005 sync epoch": "schema_sync.sql",
}
MIGRATIONS: dict[str, str] = {
    name: Path(__file__).with_name(file).read_text(encoding="utf-8") for name, file in FILES.items()
}
"""Named steps, each applied once, in order. A step that was released never changes; the next one stands
beside it. Expand first, contract in a later release: an older Lore may still have the file open."""
EPOCH = "SELECT id FROM epoch"
RENEW_EPOCH = "UPDATE epoch SET id = lower(hex(randomblob(16)))"
HAS_EPOCH = "SELECT 1 FROM sqlite_schema WHERE name = 'epoch'"
STEPS = "CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY, applied_at REAL NOT NULL) STRICT"
KEPT_BACKUPS = 5
PARTIAL = re.compile(r"\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.partial$")
"""The end of the name of a copy that is not complete."""
STALE_SECONDS = 3600.0
"""After which nobody writes a partial copy any more: whoever began it was killed."""

logger = logging.getLogger(__name__)


def marker_of(path: Path) -> Path:
    """The small file beside the database that remembers that there was one."""
    return path.with_name(path.name + ".meta.json")


def backups_of(path: Path) -> Path:
    """The folder for copies made before an upgrade."""
    return path.parent / "backups"


def refuse_lost_file(path: Path) -> None:
    """An empty file opens as an empty store; where there was one before, that would hide a loss."""
    marker = marker_of(path)
    if marker.exists() and (not path.exists() or path.stat().st_size == 0):
        state = "empty" if path.exists() else "missing"
        raise Unavailable(
            f"{path} is {state}, but a Lore store was here. Restore a copy from {backups_of(path)}, "
            f"or delete {marker} to begin with an empty store"
        )


def migrate(connections: Connections, steps: dict[str, str] | None = None) -> None:
    """Apply the missing steps, after a backup; refuse a file with unknown ones.

    Each step is one transaction; a new file gets all of them in one, so that nobody meets it half-made.
    """
    steps = MIGRATIONS if steps is None else steps
    with connections.reading() as reader:
        applied = _applied(reader, connections.path)
    _refuse_newer(applied, steps, connections.path)
    missing = [name for name in steps if name not in applied]
    if connections.obstacle:
        if missing:
            raise Unavailable(f"{connections.obstacle}, and Lore {VERSION} has to upgrade the file first")
        return
    connections.log_ahead()
    clear_partial(backups_of(connections.path))
    if missing and applied:
        _back_up(connections, missing[0])
    if first_release.is_first_release(applied):
        _take_over(connections, steps)
        missing.remove(FIRST_SCHEMA)
    for together in [[name] for name in missing] if applied else [missing]:
        with connections.writing() as writer:
            for name in together:
                _apply(writer, name, steps, connections.path)
    _mark(connections.path)


def _take_over(connections: Connections, steps: dict[str, str]) -> None:
    """Give a file of the first release the first schema; another process may have done it a moment ago."""
    logger.info("%s: a store of the first 0.1.0 takes today's form, once", connections.path)
    with connections.writing() as writer:
        if first_release.is_first_release(_applied(writer, connections.path)):
            first_release.take_over(writer, steps[FIRST_SCHEMA], FIRST_SCHEMA)


def check_schema(connection: apsw.Connection, path: Path) -> None:
    """Raise Unavailable unless the file has a schema that this Lore knows."""
    applied = _applied(connection, path)
    if not applied:
        raise Unavailable(f"{path} is an empty database, not a store of Lore")
    _refuse_newer(applied, MIGRATIONS, path)


def _applied(connection: apsw.Connection, path: Path) -> list[str]:
    tables = [
        str(name) for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    ]
    if "migration" in tables:
        return [
            str(name) for (name,) in connection.execute("SELECT name FROM migration ORDER BY name").fetchall()
        ]
    if tables:
        raise Unavailable(
            f"{path} is a SQLite file of another program (tables: {listed(tables)}); "
            "set LORE_DB_PATH to another file"
        )
    return []


def _refuse_newer(applied: Sequence[str], steps: dict[str, str], path: Path) -> None:
    if first_release.is_first_release(applied):
        return
    if applied and FIRST_SCHEMA not in applied:
        raise Unavailable(
            f"{path} has the schema of an unreleased Lore, which this Lore {VERSION} does not read; "
            "move it away to begin with an empty store, and import your transcripts again (lore ingest)"
        )
    if INCOMPLETE in applied:
        raise incomplete(path)
    if newer := [name for name in applied if name not in steps]:
        raise Unavailable(
            f"{path} was written by a newer Lore (unknown steps: {listed(newer)}); "
            f"this is Lore {VERSION}: upgrade it (pip install -U agent-lore)"
        )


def _apply(writer: apsw.Connection, name: str, steps: dict[str, str], path: Path) -> None:
    """One step in one transaction; another process may have done it a moment ago."""
    writer.execute(STEPS)
    applied = _applied(writer, path)
    _refuse_newer(applied, steps, path)
    if name not in applied:
        writer.execute(steps[name])
        writer.execute("INSERT INTO migration VALUES (?, ?)", (name, time.time()))
        writer.execute(f"PRAGMA user_version = {list(steps).index(name) + 1}")


def _back_up(connections: Connections, step: str) -> None:
    folder = backups_of(connections.path)
    make_folder(folder)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    copy(connections, folder / f"{connections.path.stem}-{stamp}-before-{step.split()[0]}.db")
    copies = sorted(folder.glob(f"{connections.path.stem}-*-before-*.db"))
    for old in copies[:-KEPT_BACKUPS]:
        with suppress(OSError):
            old.unlink()


def copy(
    connections: Connections, target: Path, check: Callable[[Path], object] = lambda partial: None
) -> None:
    """A consistent copy, readable by its owner only, under its final name only when complete and checked."""
    if target.resolve() == connections.path.resolve():
        raise Invalid(f"{target} is the store itself; a copy needs another name")
    partial = target.with_name(f"{target.name}.{new_id(time.time())}.partial")
    with plainly(target):
        clear_partial(target.parent)
        try:
            os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_FILE))
            with connections.aside() as reader:
                reader.execute("VACUUM INTO ?", (str(partial),))
            sync_file(partial)
            check(partial)
            partial.replace(target)
            sync_folder(target.parent)
        finally:
            partial.unlink(missing_ok=True)


def clear_partial(folder: Path) -> None:
    """Remove copies in a folder that were never completed: each may hold every memory."""
    with suppress(OSError):
        for file in folder.iterdir():
            if PARTIAL.search(file.name) and time.time() - file.stat().st_mtime > STALE_SECONDS:
                file.unlink()


def _mark(path: Path) -> None:
    marker = marker_of(path)
    if not marker.exists():
        text = json.dumps({"store": new_id(time.time()), "file": path.name, "version": VERSION})
        with plainly(marker):
            write_durably(marker, text + "\n")


def loss(connections: Connections) -> Level | None:
    """The mark of a store whose journal has lost acknowledged changes; None if all are there.

    The mark is read before the journal: another process may write both meanwhile.
    """
    with connections.reading() as reader:
        level = connections.mark.level(connections.birth(reader))
        rows = reader.execute(LAST_CHANGE).fetchall()
    level = level and level.compared(int(str(rows[0][0])) if rows else 0)
    return level if level is not None and level.lost_to else None


def notice_loss(connections: Connections) -> None:
    """Keep a loss on record before new changes hide it."""
    lost = loss(connections)
    if lost is None or connections.obstacle:
        return
    if connections.mark.level(lost.birth) != lost:
        logger.warning("%s", loss_text(lost, connections))
        with connections.writing() as writer:
            writer.execute(RENEW_EPOCH)
    connections.mark.keep(lost)


def loss_text(lost: Level, connections: Connections) -> str:
    """Which changes are missing and what to do, for people."""
    count, path = lost.lost_to - lost.lost_from + 1, connections.path
    return (
        f"acknowledged changes are missing from {path} (journal {lost.lost_from} to {lost.lost_to},"
        f" {count:,} in all): its write-ahead log was damaged or removed, or an older copy was put in its"
        f" place. Restore a newer copy if there is one; to accept the loss, delete {connections.mark.path}"
    )
