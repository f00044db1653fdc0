"""Connections to one SQLite file: a few readers, one durable writer, one for derived state."""

import os
import queue
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

from lore.durable import OWNER_FILE, make_folder, sync_folder
from lore.errors import LoreError, Unavailable
from lore.keys import store_key
from lore.store.sqlite.encryption import locked, unlock
from lore.store.sqlite.file_state import Mark, Snapshot, is_unwritable, obstacle, refuse_backup
from lore.store.sqlite.group_commit import GroupCommit
from lore.store.sqlite.patience import BUSY_SECONDS, Patience, switched_to_wal

OLDEST_SQLITE = (3, 51, 3)
READERS = 4
CACHE_KIB, LARGE_CACHE_KIB = 4_000, 16_000
"""Of one connection; the large one is for changes. The system keeps the rest of the file at hand, for all."""
LOG_BYTES = 16 << 20
"""To which the write-ahead log is cut back once all of it is in the database."""
LARGE_LOG_BYTES = 64 << 20
"""From which on it is worth a word: somebody reads without an end, so that it cannot be folded."""

SETTINGS = (
    "PRAGMA foreign_keys = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA temp_store = MEMORY",
    f"PRAGMA journal_size_limit = {LOG_BYTES}",
)
READING = ("PRAGMA query_only = ON", f"PRAGMA cache_size = -{CACHE_KIB}")
DURABLE = (
    "PRAGMA secure_delete = ON",
    "PRAGMA synchronous = FULL",
    f"PRAGMA cache_size = -{LARGE_CACHE_KIB}",
)
DERIVED = ("PRAGMA secure_delete = ON", "PRAGMA synchronous = NORMAL", f"PRAGMA cache_size = -{CACHE_KIB}")
BIRTH = "SELECT applied_at FROM migration ORDER BY name LIMIT 1"
LAST_CHANGE = "SELECT seq FROM sqlite_sequence WHERE name = 'journal'"


class Connections:
    """Opens the file once, hands connections out, and says in plain words what went wrong.

    A write that is acknowledged went through the durable connection: WAL with synchronous=FULL. Writers
    of one process take turns and share commits (see `group_commit`). Writers of several processes take turns
    by short random waits, which is fairer than SQLite's own growing ones.

    obstacle: the reason why nothing can be written; empty if it can. Reading goes on then, and each write
    tries again.
    """

    def __init__(self, path: Path) -> None:
        require_sqlite()
        self.path = path
        self._key = store_key()
        self.log = path.with_name(path.name + "-wal")
        self.mark = Mark(path)
        self.obstacle = ""
        self._group_commit = GroupCommit(committed=self._committed, failed=self._distrust_writers)
        self._readers: queue.LifoQueue[apsw.Connection | None] = queue.LifoQueue()
        self._writers: dict[tuple[str, ...], apsw.Connection] = {}
        self._distrusted: list[apsw.Connection] = []
        self._opening = threading.Lock()
        self._snapshot: Snapshot | None = None
        self._log_file: tuple[int, int] | None = None
        self._birth = ""
        self._closed = False
        with plainly(path):
            self._prepare()
        for _ in range(READERS):
            self._readers.put(None)

    def _prepare(self) -> None:
        """Open the file for writing; where that is impossible, for reading."""
        self._snapshot, self.obstacle = None, ""
        try:
            writer = self._attach()
        except (apsw.Error, OSError) as error:
            self._close_writers()
            if not is_unwritable(self.path, error):
                raise
            self._snapshot = Snapshot(self.path)
            self.obstacle = obstacle(self.path, f"{self.path}: {error}")
        else:
            if writer.readonly("main"):
                self.obstacle = obstacle(self.path, f"{self.path}: the file is read-only")
        self._file, self._log_file = _identity(self.path), None

    def _attach(self) -> apsw.Connection:
        """The durable connection. Opening it tells whether this is a database at all."""
        refuse_backup(self.path)
        make_folder(self.path.parent)
        with suppress(FileExistsError):
            os.close(os.open(self.path, os.O_CREAT | os.O_EXCL | os.O_RDWR, OWNER_FILE))
            sync_folder(self.path.parent)
        return self._writer(DURABLE)

    def _reopen(self) -> None:
        """Try again to open the file for writing, or see it as it is now; waits for those who read.

        All connections are closed before: one without locks would take those of the process with it.
        """
        with self._opening:
            if not self.obstacle or self._closed:
                return
            for _ in range(READERS):
                if (connection := self._readers.get()) is not None:
                    connection.close()
            try:
                self._close_writers()
                self._prepare()
            finally:
                for _ in range(READERS):
                    self._readers.put(None)

    def _close_writers(self) -> None:
        self._distrust_writers()
        self._close_distrusted()

    def _close_distrusted(self) -> None:
        while self._distrusted:
            with suppress(apsw.Error):
                self._distrusted.pop().close()

    def _distrust_writers(self) -> None:
        """Write with others from now on. These are closed later: the last one that closes removes the log."""
        self._distrusted += self._writers.values()
        self._writers.clear()

    def log_ahead(self) -> None:
        """Use a write-ahead log from now on; it changes the file, so only once that is known to be ours."""
        with self.alone() as writer:
            mode = switched_to_wal(writer)
        if mode != "wal":
            raise Unavailable(
                f"{self.path} cannot be used safely: SQLite offers journal mode {mode}, not WAL"
            )

    def _connect(self, settings: tuple[str, ...]) -> apsw.Connection:
        if self._snapshot is not None:
            connection = self._snapshot.connection()
        else:
            flags = apsw.SQLITE_OPEN_READWRITE
            connection = apsw.Connection(str(self.path), flags=flags, statementcachesize=200)
        connection.set_busy_handler(Patience())
        unlock(connection, self.path, self._key)
        for setting in (*SETTINGS, *settings, *_full_fsync()):
            connection.execute(setting)
        return connection

    def _writer(self, settings: tuple[str, ...]) -> apsw.Connection:
        if settings not in self._writers:
            self._writers[settings] = self._connect(settings)
            try:
                self._writers[settings].execute("PRAGMA schema_version").fetchall()  # now it holds the log
            except apsw.Error:
                self._distrust_writers()
                raise
            self._close_distrusted()
        return self._writers[settings]

    @contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """A connection to read with; others read and write meanwhile."""
        self._refuse_if_closed()
        if self._snapshot is not None and self._snapshot.outdated:
            with plainly(self.path):
                self._reopen()
        connection = self._readers.get()
        try:
            with plainly(self.path):
                if connection is None:
                    connection = self._connect(READING)
                yield connection
                if self._snapshot is not None and self._snapshot.outdated:
                    raise Unavailable(f"{self.path} was written while it was read; try again")
        finally:
            self._readers.put(connection)

    @contextmanager
    def writing(self) -> Iterator[apsw.Connection]:
        """One durable transaction: committed when this returns, taken back when the block raises."""
        with plainly(self.path), self._group_commit.shared(lambda: self._writable(DURABLE)) as connection:
            yield connection

    @contextmanager
    def deriving(self) -> Iterator[apsw.Connection]:
        """One transaction of derived state: a power cut may lose it."""
        with plainly(self.path), self._group_commit.alone():
            connection = self._writable(DERIVED)
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def alone(self) -> Iterator[apsw.Connection]:
        """The durable connection outside a transaction, for care-taking."""
        if self._snapshot is not None:
            with self.reading() as connection:
                yield connection
            return
        with plainly(self.path), self._group_commit.alone():
            self._refuse_if_closed()
            yield self._writer(DURABLE)

    @contextmanager
    def aside(self) -> Iterator[apsw.Connection]:
        """A connection of its own for a long read, such as a copy; nobody waits for it."""
        if self._snapshot is not None:
            with self.reading() as connection:
                connection.execute("PRAGMA query_only = OFF")  # a copy is a write, if only of another file
                yield connection
            return
        with plainly(self.path):
            self._refuse_if_closed()
            connection = self._connect(DURABLE)
            try:
                yield connection
            finally:
                connection.close()

    def _writable(self, settings: tuple[str, ...]) -> apsw.Connection:
        self._refuse_if_closed()
        if self.obstacle:
            self._reopen()
        if self.obstacle:
            raise Unavailable(f"{self.obstacle}; nothing was saved, but memories can be searched and read")
        self._refuse_if_replaced()
        return self._writer(settings)

    def _committed(self, connection: apsw.Connection) -> None:
        """A durable transaction is on disk: mark how far the journal is, before anybody is told."""
        if rows := connection.execute(LAST_CHANGE).fetchall():
            self.mark.advance(self.birth(connection), int(str(rows[0][0])))
        if self._log_file is None:
            with suppress(FileNotFoundError):
                self._log_file = _identity(self.log)

    def birth(self, connection: apsw.Connection) -> str:
        """What tells this store and its copies from all others: the moment when it was made."""
        if not self._birth:
            ((made_at,),) = connection.execute(BIRTH).fetchall()
            self._birth = repr(made_at)
        return self._birth

    @property
    def encrypted(self) -> bool:
        """Whether all that is written to disk has to be encrypted."""
        return bool(self._key)

    def allow_temporary_files(self, connection: apsw.Connection) -> None:
        """For a copy that may be larger than the memory; not if it is encrypted: such files are in clear."""
        if not self.encrypted:
            connection.execute("PRAGMA temp_store = FILE")

    def log_bytes(self) -> int:
        """The size of the write-ahead log."""
        try:
            return self.log.stat().st_size
        except OSError:
            return 0

    def fold_log(self) -> bool:
        """Write a log that has grown large into the database and cut it back, unless somebody needs it."""
        if self.log_bytes() < LARGE_LOG_BYTES or self.obstacle:
            return True
        with self.alone() as writer:
            writer.set_busy_handler(None)
            try:
                ((busy, _, _),) = writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            finally:
                writer.set_busy_handler(Patience())
        return not busy

    def _refuse_if_closed(self) -> None:
        if self._closed:
            raise Unavailable("this store is closed")

    def _refuse_if_replaced(self) -> None:
        """A file that was deleted or swapped under us would take writes and lose them."""
        files = {self.path: self._file, self.log: self._log_file}
        for path, identity in files.items():
            try:
                same = identity is None or _identity(path) == identity
            except FileNotFoundError:
                same = False
            if not same:
                raise Unavailable(f"{path} was removed or replaced while Lore was running; restart Lore")

    def release(self) -> None:
        """Close what is idle and can be opened again; the durable connection stays, without its cache."""
        with plainly(self.path), self._group_commit.alone():
            self._refuse_if_closed()
            self._close_idle_readers()
            if (derived := self._writers.pop(DERIVED, None)) is not None:
                derived.close()
            if self._snapshot is None:
                self._writer(DURABLE).execute("PRAGMA shrink_memory")

    def _close_idle_readers(self) -> None:
        idle = []
        with suppress(queue.Empty):
            while True:
                idle.append(self._readers.get_nowait())
        for connection in idle:
            if connection is not None:
                connection.close()
            self._readers.put(None)

    def close(self) -> None:
        """Close all; the write-ahead log is folded into the file by the last one out."""
        with self._group_commit.last():
            if self._closed:
                return
            self._closed = True
            readers = [self._readers.get() for _ in range(READERS)]  # waits for those who read
            for connection in readers:
                if connection is not None:
                    connection.close()
                self._readers.put(None)
            self._close_writers()
            self.mark.close()


def require_sqlite(version: str | None = None) -> None:
    """Refuse a SQLite library with the WAL-reset bug: it can corrupt a file that two processes share."""
    version = version or apsw.sqlite_lib_version()
    if tuple(map(int, version.split("."))) < OLDEST_SQLITE:
        wanted = ".".join(map(str, OLDEST_SQLITE))
        raise Unavailable(
            f"SQLite {version} is too old to be safe; Lore needs {wanted} (pip install -U apsw)"
        )


@contextmanager
def plainly(path: Path) -> Iterator[None]:
    """Turn what SQLite and the operating system say into an error that a person can act on."""
    try:
        yield
    except LoreError:
        raise
    except apsw.Error as error:
        raise Unavailable(_explained(error, path)) from error
    except PermissionError as error:
        raise Unavailable(f"no permission for {error.filename}") from error
    except OSError as error:
        raise Unavailable(f"{path} cannot be used: {error.strerror or error}") from error


_EXPLANATIONS: tuple[tuple[type[apsw.Error], str], ...] = (
    (apsw.FullError, "the disk is full; nothing was saved. Free some space and try again"),
    (apsw.ReadOnlyError, "the file or its folder is read-only; nothing was saved"),
    (apsw.NotADBError, "this is not a Lore database (or it is damaged); move it away or restore a backup"),
    (apsw.CorruptError, "the database is damaged; run `lore doctor`, or restore a backup"),
    (apsw.CantOpenError, "the file cannot be opened; does its folder exist, and may you write there?"),
    (apsw.BusyError, f"another process kept it locked for {BUSY_SECONDS:.0f} seconds; nothing was saved"),
    (apsw.IOError, "the disk reported an error; nothing was saved"),
)


def _explained(error: apsw.Error, path: Path) -> str:
    if isinstance(error, apsw.NotADBError) and (explanation := locked(path)):
        return explanation
    for kind, explanation in _EXPLANATIONS:
        if isinstance(error, kind):
            return f"{path}: {explanation}"
    return f"{path}: {error}"


def _full_fsync() -> tuple[str, ...]:
    synced = ("PRAGMA fullfsync = ON", "PRAGMA checkpoint_fullfsync = ON")
    return synced if sys.platform == "darwin" else ()


def _identity(path: Path) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_dev, status.st_ino
