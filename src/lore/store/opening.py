"""Opening: bring a file to the newest shape, or say exactly why it cannot be used."""

import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import apsw

from lore.errors import Invalid, Unavailable
from lore.model import new_id
from lore.store import about, grams
from lore.store.connections import Connections, plainly
from lore.store.migrations import MIGRATIONS
from lore.text import listed
from lore.version import VERSION

KNOWN_STEPS = "CREATE TABLE IF NOT EXISTS migration (name TEXT PRIMARY KEY, applied_at REAL NOT NULL) STRICT"
KEPT_BACKUPS = 5


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
    """Apply the steps that are missing, after a backup; refuse what this Lore does not know.

    Each step is one transaction; a new file gets all of them in one, so that nobody meets it half-made.
    """
    steps = MIGRATIONS if steps is None else steps
    with connections.reading() as reader:
        applied = _applied(reader, connections.path)
    _refuse_newer(applied, steps, connections.path)
    connections.log_ahead()
    missing = [name for name in steps if name not in applied]
    if missing and applied:
        _back_up(connections, missing[0])
    for together in [[name] for name in missing] if applied else [missing]:
        with connections.writing() as writer:
            for name in together:
                _apply(writer, name, steps, connections.path)
    _mark(connections.path)


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
    if newer := [name for name in applied if name not in steps]:
        raise Unavailable(
            f"{path} was written by a newer Lore (unknown steps: {listed(newer)}); "
            f"this is Lore {VERSION}: upgrade it (pip install -U agent-lore)"
        )


def _apply(writer: apsw.Connection, name: str, steps: dict[str, str], path: Path) -> None:
    """One step in one transaction; another process may have done it a moment ago."""
    writer.execute(KNOWN_STEPS)
    applied = _applied(writer, path)
    _refuse_newer(applied, steps, path)
    if name not in applied:
        about.teach(writer)
        grams.teach(writer)
        writer.execute(steps[name])
        writer.execute("INSERT INTO migration VALUES (?, ?)", (name, time.time()))
        writer.execute(f"PRAGMA user_version = {list(steps).index(name) + 1}")


def _back_up(connections: Connections, step: str) -> None:
    folder = backups_of(connections.path)
    folder.mkdir(exist_ok=True, mode=0o700)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    copy(connections, folder / f"{connections.path.stem}-{stamp}-before-{step.split()[0]}.db")
    copies = sorted(folder.glob(f"{connections.path.stem}-*-before-*.db"))
    for old in copies[:-KEPT_BACKUPS]:
        with suppress(OSError):
            old.unlink()


def copy(connections: Connections, target: Path) -> None:
    """A consistent copy, readable by its owner only, under its final name only when complete."""
    if target.resolve() == connections.path.resolve():
        raise Invalid(f"{target} is the store itself; a copy needs another name")
    partial = target.with_name(f"{target.name}.{new_id(time.time())}.partial")
    with plainly(target):
        partial.unlink(missing_ok=True)
        os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with connections.aside() as reader:
            reader.execute("VACUUM INTO ?", (str(partial),))
        partial.replace(target)


def _mark(path: Path) -> None:
    marker = marker_of(path)
    if not marker.exists():
        text = json.dumps({"store": new_id(time.time()), "file": path.name, "version": VERSION})
        with (
            suppress(FileExistsError),
            open(os.open(marker, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w") as f,
        ):
            f.write(text + "\n")
