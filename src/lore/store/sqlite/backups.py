"""Backups: a verified copy of a store with a manifest, and a backup put in the place of a store.

A restore ends with one rename, so a process that is killed leaves the old store or the new one, each whole.
The old store stays under another name.
"""

import json
import os
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

import apsw

from lore.durable import OWNER_FILE, make_folder, sync_file, sync_folder, write_durably
from lore.errors import Invalid, NotFound, Unavailable
from lore.health import BackupReport
from lore.model import new_id
from lore.store.sqlite import opening
from lore.store.sqlite.connections import Connections, plainly
from lore.store.sqlite.file_state import Mark
from lore.store.sqlite.index_files import folder_of
from lore.version import VERSION

FORMAT = "lore-backup"
SUFFIX = ".manifest.json"
TABLES = ("memory", "link", "journal", "full_text", "suggestion")
CHUNK_BYTES = 1 << 20
LARGEST_MANIFEST = 1 << 20
ENDING_SECONDS, POLL_SECONDS = 5.0, 0.05
"""How long to wait for a process that has given up its locks and is about to end."""
BESIDE = ("-wal", "-shm", "-journal")
"""Suffixes of files that SQLite applies to a database, and that must not be applied to another one."""


def manifest_of(backup: Path) -> Path:
    """The file beside a backup that tells what it holds."""
    return backup.with_name(backup.name + SUFFIX)


# --- backing up
def back_up(connections: Connections, target: Path) -> BackupReport:
    """Copy the store, verify the copy, give it its name, and write its manifest."""
    reports: list[BackupReport] = []
    opening.copy(connections, target, check=lambda partial: reports.append(inspect(partial, target.name)))
    _write_manifest(target, reports[0])
    return reports[0]


def _write_manifest(backup: Path, report: BackupReport) -> None:
    with plainly(backup):
        write_durably(manifest_of(backup), json.dumps({"format": FORMAT, **asdict(report)}, indent=2) + "\n")


def inspect(path: Path, name: str = "") -> BackupReport:
    """Read a copy from its first byte to its last; Unavailable says what is wrong with it."""
    checksum, size = _checksum(path)
    with plainly(path), _opened(path) as copy:
        opening.check_schema(copy, path)
        problems = [str(row[0]) for row in copy.execute("PRAGMA integrity_check(3)")]
        if problems != ["ok"]:
            raise Unavailable(f"{path} is damaged: {'; '.join(problems)}")
        steps = tuple(str(row[0]) for row in copy.execute("SELECT name FROM migration ORDER BY name"))
        counts = {name: _count(copy, name) for name in TABLES}
    return BackupReport(
        file=name or path.name,
        at=time.time(),
        lore=VERSION,
        size_bytes=size,
        sha256=checksum,
        schema=steps,
        counts=counts,
    )


def _count(copy: apsw.Connection, table: str) -> int:
    ((count,),) = copy.execute(f"SELECT count(*) FROM {table}").fetchall()
    return int(str(count))


def _checksum(path: Path) -> tuple[str, int]:
    """The SHA-256 of a file that nobody has open as a database, and its size in bytes."""
    checksum, size = sha256(), 0
    with plainly(path), open(path, "rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            checksum.update(chunk)
            size += len(chunk)
    return checksum.hexdigest(), size


@contextmanager
def _opened(path: Path) -> Iterator[apsw.Connection]:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    uri = f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1"
    with closing(apsw.Connection(uri, flags=flags)) as copy:
        copy.execute("PRAGMA trusted_schema = OFF").fetchall()
        copy.execute("PRAGMA cell_size_check = ON").fetchall()
        yield copy


# --- verifying
def verify(backup: Path) -> BackupReport:
    """The report of a backup that is whole: its bytes are those of its manifest, if it has one.

    Unavailable or Invalid says what is wrong.
    """
    if not backup.is_file():
        raise NotFound(f"there is no file {backup}")
    log = backup.with_name(f"{backup.name}-wal")
    if log.exists() and log.stat().st_size:
        raise Invalid(f"{backup} is in use as a store ({log.name} is beside it); give a backup of it")
    manifest = _read_manifest(backup)
    if manifest is not None and manifest.get("sha256") != _checksum(backup)[0]:
        raise Unavailable(
            f"{backup} was altered or is damaged: its checksum is not that of {manifest_of(backup)}"
        )
    return inspect(backup)


def _read_manifest(backup: Path) -> dict[str, Any] | None:
    path = manifest_of(backup)
    try:
        with open(path, "rb") as file:
            manifest = json.loads(file.read(LARGEST_MANIFEST))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise Unavailable(f"{path} cannot be read: {error}") from error
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise Unavailable(f"{path} is not the manifest of a backup; move it away to restore without it")
    return manifest


# --- restoring
def restore(backup: Path, store: Path) -> Path | None:
    """Put a backup in the place of a store, after `verify`; returns where the old store is now.

    Invalid if any process has the store open. The caller keeps others from opening it meanwhile.
    """
    store = store.resolve() if store.exists() else store
    if backup.resolve() == store:
        raise Invalid(f"{backup} is the store itself; give a backup of it")
    partial = store.with_name(f"{store.name}.{new_id(time.time())}.partial")
    with plainly(store):
        make_folder(store.parent)
        opening.clear_partial(store.parent)
        try:
            os.close(os.open(partial, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_FILE))
            shutil.copyfile(backup, partial)
            sync_file(partial)
            if _checksum(partial)[0] != _checksum(backup)[0]:
                raise Unavailable(
                    f"the copy of {backup} beside {store} is not equal to it; is the disk sound?"
                )
            aside = _set_aside(store) if store.exists() else None
            Mark(store).path.unlink(missing_ok=True)  # it tells of changes that the backup has not seen
            shutil.rmtree(folder_of(store), ignore_errors=True)
            partial.replace(store)
            sync_folder(store.parent)
        finally:
            partial.unlink(missing_ok=True)
    return aside


def _set_aside(store: Path) -> Path:
    """Give the old store a second name in the folder for backups; it keeps the first one until the rename."""
    folder = opening.backups_of(store)
    make_folder(folder)
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    aside = folder / f"{store.stem}-{stamp}-{new_id(time.time())[-8:]}-before-restore.db"
    beside = [aside.with_name(aside.name + suffix) for suffix in BESIDE]
    for suffix, name in zip(
        BESIDE, beside, strict=True
    ):  # SQLite removes the log of a file that is no database
        with suppress(FileNotFoundError):
            _second_name(store.with_name(store.name + suffix), name)
    try:
        whole = _fold(store)
    except Invalid:
        _remove(beside)
        raise
    if whole:
        _remove(beside)
    _second_name(store, aside)
    sync_folder(folder)
    if whole:
        _write_manifest(aside, inspect(aside))
    _remove([store.with_name(store.name + suffix) for suffix in BESIDE])
    return aside


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _fold(store: Path) -> bool:
    """Write the log into the store, so that it is one file; False if the store is too damaged for that.

    Invalid if another process has the store open; one that is ending gets some time.
    """
    until = time.monotonic() + ENDING_SECONDS
    try:
        while not _is_folded(store):
            if time.monotonic() > until:
                raise Invalid(
                    f"{store} is in use by another process; end your agents and servers, and try again"
                )
            time.sleep(POLL_SECONDS)
    except apsw.Error:
        return False
    return True


def _is_folded(store: Path) -> bool:
    """Whether the store could leave write-ahead logging: for that SQLite needs the file for itself."""
    with closing(apsw.Connection(str(store), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        try:
            connection.execute("PRAGMA synchronous = FULL").fetchall()
            ((mode,),) = connection.execute("PRAGMA journal_mode = DELETE").fetchall()
        except (apsw.BusyError, apsw.LockedError):
            return False
        return bool(mode == "delete")


def _second_name(path: Path, name: Path) -> None:
    try:
        os.link(path, name)
    except FileNotFoundError:
        raise
    except OSError:  # a file system without hard links
        shutil.copyfile(path, name)
        sync_file(name)
