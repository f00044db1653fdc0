"""File state: what the files of a database tell: can it be written, was it written, has it lost anything?

A database that cannot be written (a full disk, a read-only file system) is read as a `Snapshot`. A
write-ahead log needs a shared index file beside the database, which cannot be made there. So the index is
built in the memory of each connection, and no locks are taken. That is safe as long as nobody writes, which
`outdated` tells.

A `Mark` is the last acknowledged change, in a small file beside the database. The end of a write-ahead log
can be lost without a trace: SQLite takes a damaged or missing one for a shorter one. The mark is written
after a commit and before it is acknowledged, so a database whose journal ends before its mark has lost
changes. It is not synced with each commit: it survives the death of every process, and a power cut only as
far as the system has written it by then. It is never ahead of what the disk has promised.
"""

import errno
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

import apsw

from lore.durable import OWNER_FILE

NO_LOCKS = "win32-none" if os.name == "nt" else "unix-none"
"""SQLite's file layer without locks: where nothing can be written, an exclusive lock cannot be had."""
CANNOT_WRITE = (apsw.CantOpenError, apsw.ReadOnlyError, apsw.FullError, apsw.PermissionsError)
NO_INDEX = (apsw.SQLITE_IOERR_SHMOPEN, apsw.SQLITE_IOERR_SHMSIZE, apsw.SQLITE_IOERR_SHMMAP)
"""The index file cannot be made."""
NO_ROOM = (errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM)
"""How the operating system refuses to make a file."""
MANIFEST = ".manifest.json"
"""Suffix of the file beside a backup. A database that has one is only read."""
LEAST_FREE_BYTES = 1 << 16
"""Room that a store needs to be opened for writing, in its folder."""


def is_unwritable(path: Path, error: Exception) -> bool:
    """Whether an attempt to open the database failed only because nothing can be written there."""
    if not path.is_file() or not path.stat().st_size:
        return False
    if isinstance(error, apsw.IOError):
        return getattr(error, "extendedresult", 0) in NO_INDEX
    return isinstance(error, CANNOT_WRITE) or (isinstance(error, OSError) and error.errno in NO_ROOM)


def obstacle(path: Path, otherwise: str) -> str:
    """The reason why nothing can be written to the folder of the database; `otherwise` if none is seen."""
    folder = path.parent
    if manifest_of(path).exists():
        return f"{path} is a backup, which is only read (to restore it: lore restore-backup)"
    if hasattr(os, "statvfs"):
        system = os.statvfs(folder)
        if system.f_flag & os.ST_RDONLY:
            return f"{path}: its file system is read-only"
        if system.f_bavail * system.f_frsize < LEAST_FREE_BYTES:
            return f"{path}: the disk is full"
    if not os.access(folder, os.W_OK) or not os.access(path, os.W_OK):
        return f"{path}: no permission to write there"
    return otherwise


def manifest_of(backup: Path) -> Path:
    """The file beside a backup that tells what it holds."""
    return backup.with_name(backup.name + MANIFEST)


def refuse_backup(path: Path) -> None:
    """Raise the error of a read-only file for a backup: whoever looks into it leaves it as it was made."""
    if path.is_file() and manifest_of(path).exists():
        raise OSError(errno.EROFS, "a backup is only read", str(path))


class Snapshot:
    """The database and its log as they were at one moment."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._log = path.with_name(path.name + "-wal")
        self._state = self._look()

    @property
    def outdated(self) -> bool:
        """Whether somebody has written since, so that what is read may be wrong."""
        return self._look() != self._state

    def connection(self) -> apsw.Connection:
        """A connection to read with."""
        logged = self._state[1] is not None and self._state[1][1] > 0
        extra = "" if logged else "&immutable=1"  # an immutable file is read without its log
        connection = apsw.Connection(
            f"file:{quote(str(self._path))}?mode=ro{extra}",
            flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI,
            vfs=NO_LOCKS if logged else None,
            statementcachesize=200,
        )
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        if logged:
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")  # the index stays in memory
        return connection

    def _look(self) -> tuple[tuple[int, int, int] | None, ...]:
        return _look(self._path), _look(self._log)


def _look(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


# --- the mark

SUFFIX = ".mark"
VERSION = "lore-mark-1"
LONGEST_BYTES = 200


@dataclass(frozen=True, slots=True)
class Level:
    """birth: which store it belongs to. seq: its last acknowledged journal entry.

    lost_from, lost_to: acknowledged entries that were found missing; 0: none.
    """

    birth: str
    seq: int
    lost_from: int = 0
    lost_to: int = 0

    def line(self) -> bytes:
        numbers = f"{self.seq:020} {self.lost_from:020} {self.lost_to:020}"
        return f"{VERSION} {self.birth} {numbers}\n".encode()

    @classmethod
    def of(cls, line: bytes) -> "Level | None":
        """None: it is torn or not a mark."""
        parts = line.decode("ascii", "replace").split(" ")
        if len(parts) != 5 or parts[0] != VERSION or not line.endswith(b"\n"):
            return None
        try:
            seq, lost_from, lost_to = map(int, parts[2:])
        except ValueError:
            return None
        return cls(parts[1], seq, lost_from, lost_to)

    def compared(self, seq: int) -> "Level":
        """With the loss, if the journal ends at `seq` and this says more; a loss that was noted stays."""
        if seq >= self.seq:
            return self
        first = min(seq + 1, self.lost_from or seq + 1)
        return Level(self.birth, seq, first, max(self.seq, self.lost_to))


class Mark:
    """The file of one store. It only helps to find a loss, so trouble with it keeps nobody from writing."""

    def __init__(self, database: Path) -> None:
        self.path = database.with_name(database.name + SUFFIX)
        self._file: int | None = None

    def level(self, birth: str) -> Level | None:
        """What it says about the store of this birth; None: nothing, or it is another store's."""
        try:
            with open(self.path, "rb") as file:
                level = Level.of(file.read(LONGEST_BYTES))
        except OSError:
            return None
        return level if level is not None and level.birth == birth else None

    def advance(self, birth: str, seq: int) -> None:
        """After a commit: acknowledged up to `seq`. Another process may have got further."""
        with suppress(OSError):
            level = self._read(self._opened())
            if level is None or level.birth != birth:
                level = Level(birth, 0)
            if seq > level.seq:
                self._write(replace(level, seq=seq))

    def keep(self, level: Level) -> None:
        """Keep a level that has a loss in it, on disk."""
        with suppress(OSError):
            self._write(level)
            os.fsync(self._opened())

    def close(self) -> None:
        """Sync it, and let go of it."""
        if self._file is not None:
            with suppress(OSError):
                os.fsync(self._file)
            os.close(self._file)
            self._file = None

    def _opened(self) -> int:
        """The file, made again if somebody has removed it."""
        if self._file is not None and not os.fstat(self._file).st_nlink:
            os.close(self._file)
            self._file = None
        if self._file is None:
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT, OWNER_FILE)
        return self._file

    def _read(self, file: int) -> Level | None:
        os.lseek(file, 0, os.SEEK_SET)
        return Level.of(os.read(file, LONGEST_BYTES))

    def _write(self, level: Level) -> None:
        file = self._opened()
        line = level.line()
        os.lseek(file, 0, os.SEEK_SET)
        os.write(file, line)
        if os.fstat(file).st_size != len(line):
            os.ftruncate(file, len(line))
