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
from lore.keys import store_key
from lore.model import new_id
from lore.store.sqlite import opening
from lore.store.sqlite.connections import Connections, plainly
from lore.store.sqlite.encryption import unlock
from lore.store.sqlite.file_state import Mark
from lore.store.sqlite.file_state import manifest_of as manifest_of
from lore.store.sqlite.index_files import folder_of
from lore.version import VERSION

FORMAT = "lore-backup"
TABLES = ("memory", "link", "journal", "full_text", "suggestion")
CHUNK_BYTES = 1 << 20
LARGEST_MANIFEST = 1 << 20
ENDING_SECONDS, POLL_SECONDS = 5.0, 0.05
"""How long to wait for a process that has given up its locks and is about to end."""
BESIDE = ("-wal", "-shm", "-journal")
"""Suffixes of files that SQLite applies to a database, and that must not be applied to another one."""


# --- backing up
def back_up(connections: Connections, target: Path) -> BackupReport:
    """Copy the store, verify the copy, give it its name, and write its manifest."""
    reports: list[BackupReport] = []
    opening.copy(connections, target, check=lambda partial: reports.append(inspect(partial, target.name)))
    write_manifest(target, reports[0])
    return reports[0]


def write_manifest(backup: Path, report: BackupReport) -> None:
    """Put the manifest beside a backup."""
    with plainly(backup):
        write_durably(manifest_of(backup), json.dumps({"format": FORMAT, **asdict(report)}, indent=2) + "\n")


def inspect(path: Path, name: str = "") -> BackupReport:
    """Read a copy from its first byte to its last; Unavailable says what is wrong with it."""
    report, damages = _examine(path, name)
    if damages:
        raise Unavailable(damages)
    return report


def _examine(path: Path, name: str = "") -> tuple[BackupReport, str]:
    """What a copy holds, and what is wrong with its pages; Unavailable if it is no store of this Lore."""
    checksum, size = _checksum(path)
    with plainly(path), _opened(path) as copy:
        opening.check_schema(copy, path)
        problems = _problems(copy)
        steps = tuple(str(row[0]) for row in copy.execute("SELECT name FROM migration ORDER BY name"))
        counts = {name: _count(copy, name) for name in TABLES}
    report = BackupReport(
        file=name or path.name,
        at=time.time(),
        lore=VERSION,
        size_bytes=size,
        sha256=checksum,
        schema=steps,
        counts=counts,
    )
    return report, "" if problems == ["ok"] else f"{path} is damaged: {'; '.join(problems)}"


def _problems(copy: apsw.Connection) -> list[str]:
    try:
        return [str(row[0]) for row in copy.execute("PRAGMA integrity_check(3)")]
    except apsw.CorruptError as error:
        return [str(error)]


def _count(copy: apsw.Connection, table: str) -> int:
    """The number of rows; 0 where damage keeps them from being counted."""
    try:
        ((count,),) = copy.execute(f"SELECT count(*) FROM {table}").fetchall()
    except apsw.CorruptError:
        return 0
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
        unlock(copy, path, store_key())
        copy.execute("PRAGMA trusted_schema = OFF").fetchall()
        copy.execute("PRAGMA cell_size_check = ON").fetchall()
        yield copy


# --- verifying
def verify(backup: Path, force: bool = False) -> tuple[BackupReport, list[str]]:
    """What a backup holds, and warnings. Its pages must be sound, and its counts those of its manifest.

    Unavailable or Invalid says what is wrong. force: whatever can be read as a store will do; what is wrong
    is among the warnings then.
    """
    if not backup.is_file():
        raise NotFound(f"there is no file {backup}")
    log = backup.with_name(f"{backup.name}-wal")
    if log.exists() and log.stat().st_size:
        raise Invalid(f"{backup} is in use as a store ({log.name} is beside it); give a backup of it")
    report, damages = _examine(backup)
    manifest = _read_manifest(backup)
    wrong = [damages] if damages else []
    if manifest is not None and manifest.get("counts") != report.counts:
        promised = manifest.get("counts")
        wrong.append(
            f"{backup} was altered: it holds {_told(report.counts)}, but its manifest says {_told(promised)}"
        )
    if wrong and not force:
        raise Unavailable(f"{'; '.join(wrong)}. Restore an older backup, or this one as it is with --force")
    if not wrong and manifest is not None and manifest.get("sha256") != report.sha256:
        wrong.append(
            f"{backup} was opened or altered since it was made (its checksum is not that of its manifest);"
            " its pages are sound and it holds as much as before"
        )
    return report, wrong


def _told(counts: object) -> str:
    """Counts of rows by table, for people."""
    if not isinstance(counts, dict):
        return "nothing about its rows"
    return ", ".join(f"{count} × {name}" for name, count in counts.items())


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
def restore(backup: Path, store: Path, *, went_back: bool = True) -> Path | None:
    """Put a backup in the place of a store, after `verify`; returns where the old store is now.

    went_back: the backup may lack changes of the store, which those who exchange memories with it must learn.

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
            if went_back:
                _renew_epoch(partial)
            aside = _set_aside(store) if store.exists() else None
            Mark(store).path.unlink(missing_ok=True)  # it tells of changes that the backup has not seen
            shutil.rmtree(folder_of(store), ignore_errors=True)
            partial.replace(store)
            sync_folder(store.parent)
        finally:
            partial.unlink(missing_ok=True)
    return aside


def _renew_epoch(copy: Path) -> None:
    """Tell those who exchange memories with the store that it went back. An older file gets its first epoch
    when it is opened."""
    with closing(apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READWRITE)) as connection:
        unlock(connection, copy, store_key())
        if connection.execute(opening.HAS_EPOCH).fetchall():
            connection.execute("PRAGMA journal_mode = DELETE").fetchall()
            connection.execute("PRAGMA synchronous = FULL").fetchall()
            connection.execute(opening.RENEW_EPOCH)


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
        whole = fold(store)
    except Invalid:
        _remove(beside)
        raise
    if whole:
        _remove(beside)
    _second_name(store, aside)
    sync_folder(folder)
    if whole:
        write_manifest(aside, inspect(aside))
    _remove([store.with_name(store.name + suffix) for suffix in BESIDE])
    return aside


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def fold(store: Path) -> bool:
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
            unlock(connection, store, store_key())
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
