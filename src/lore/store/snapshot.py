"""Snapshot: read a database that cannot be written, on a full disk or a read-only file system.

A write-ahead log needs a shared index file beside the database, which cannot be made there. So the index is
built in the memory of each connection, and no locks are taken. That is safe as long as nobody writes, which
`outdated` tells.
"""

import errno
import os
from pathlib import Path
from urllib.parse import quote

import apsw

NO_LOCKS = "win32-none" if os.name == "nt" else "unix-none"
"""SQLite's file layer without locks: where nothing can be written, an exclusive lock cannot be had."""
CANNOT_WRITE = (apsw.CantOpenError, apsw.ReadOnlyError, apsw.FullError, apsw.PermissionsError)
NO_INDEX = (apsw.SQLITE_IOERR_SHMOPEN, apsw.SQLITE_IOERR_SHMSIZE, apsw.SQLITE_IOERR_SHMMAP)
"""The index file cannot be made."""
NO_ROOM = (errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM)
"""How the operating system refuses to make a file."""
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
    if hasattr(os, "statvfs"):
        system = os.statvfs(folder)
        if system.f_flag & os.ST_RDONLY:
            return f"{path}: its file system is read-only"
        if system.f_bavail * system.f_frsize < LEAST_FREE_BYTES:
            return f"{path}: the disk is full"
    if not os.access(folder, os.W_OK) or not os.access(path, os.W_OK):
        return f"{path}: no permission to write there"
    return otherwise


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
