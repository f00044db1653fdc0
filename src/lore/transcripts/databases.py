"""SQLite databases of clients, read beside their writer: only rows that changed since the last reading.

A writer may commit later than the time that it records in a row. So each reading begins a little before the
end of the last one, and the hashes of recent rows show which of them are unchanged.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol, TypeAlias

import apsw

from lore.bookmark import Bookmark
from lore.errors import Unavailable
from lore.transcripts.turns import State, Transcript, TurnOrHeading, keep_newest
from lore.transcripts.untrusted_files import check_regular, printable

LOG_SUFFIX = "-wal"
"""Suffix of the file with changes that are not yet in the database file itself."""
SUFFIXES = (LOG_SUFFIX, "-shm", "-journal")
"""Suffixes of all other files that SQLite opens for a database."""
BUSY_MILLISECONDS = 5_000
SETTINGS = ("PRAGMA query_only = ON", "PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON")
LATE_MILLISECONDS = 300_000
"""How much later than its recorded time a change may be committed."""
MOST_HASHES = 2_000

Row: TypeAlias = Sequence[object]


class RowReader(Protocol):
    """Queries a client's database for changes, starting with the state of the last reading.

    written: when the file was last written, in milliseconds. Rows with a later time are read again.
    """

    def __init__(self, db: apsw.Connection, state: Mapping[str, Any], written: int) -> None: ...

    @property
    def state(self) -> State:
        """JSON that is needed to continue behind the last piece."""
        ...

    def continues(self) -> bool:
        """Whether the last row read is still there. If not, this is another or an older database."""
        ...

    def __iter__(self) -> Iterator[tuple[int, Sequence[TurnOrHeading]]]:
        """Changes in pieces: the number of bytes read, and the entries."""
        ...


class RecentHashes:
    """Hashes of the rows read last, by id, to recognise unchanged rows."""

    def __init__(self, state: Mapping[str, Any]) -> None:
        self._hashes: dict[str, str] = dict(state.get("hashes", []))

    def contains(self, id: str, hash: str) -> bool:
        return self._hashes.get(id) == hash

    def add(self, id: str, hash: str) -> None:
        self._hashes.pop(id, None)
        self._hashes[id] = hash
        keep_newest(self._hashes, MOST_HASHES)

    def listed(self) -> list[Sequence[str]]:
        return list(self._hashes.items())


def hash_and_size(rows: Iterable[Row]) -> tuple[str, int]:
    """A hash of the rows, and their size in bytes."""
    hash, size = blake2b(digest_size=8), 0
    for row in rows:
        for value in row:
            data = value if isinstance(value, bytes) else repr(value).encode("utf-8", "replace")
            hash.update(b"%d:" % len(data))
            hash.update(data)
            size += len(data)
    return hash.hexdigest(), size


def reaches(changed: object, at: float) -> bool:
    """Whether a row exists and is not older than it was when it was read."""
    return isinstance(changed, int | float) and changed >= at


@contextmanager
def open_transcript(
    reader: type[RowReader], path: Path, bookmarks: Sequence[Bookmark]
) -> Iterator[Transcript]:
    """A database, at the one of `bookmarks` that belongs to it, or at its beginning. Nothing is written."""
    _check_files(path)
    status = os.stat(path)  # opening and closing the file would cancel locks on it
    here = Bookmark(path=printable(path), device=status.st_dev, inode=status.st_ino)
    with closing(_connect(path)) as db:
        yield RowTranscript(reader, path, db, here, bookmarks)


@contextmanager
def open_database(path: Path) -> Iterator[apsw.Connection]:
    """A database of another program as it is now, for reading; no file beside it is created or changed."""
    _check_files(path)
    with _errors_explained(path):
        log = path.with_name(path.name + LOG_SUFFIX)
        logged = log.exists() and log.stat().st_size > 0
        with closing(_connect(path, immutable=not logged)) as db:
            db.execute("BEGIN")
            yield db


class RowTranscript:
    """The changed rows of a database as entries. The reader's state says where to continue."""

    passed_over = 0

    def __init__(
        self,
        reader: type[RowReader],
        path: Path,
        db: apsw.Connection,
        here: Bookmark,
        bookmarks: Sequence[Bookmark],
    ) -> None:
        self._path = path
        written = _written_milliseconds(path)
        self._reader, self._start = reader(db, {}, written), here
        likely = sorted(bookmarks, key=lambda one: (one.file != here.file, one.path != here.path))
        with _errors_explained(path):
            for bookmark in likely:  # the same file, then the same path, then any other: it may be a copy
                last = reader(db, bookmark.state.get("reader", {}), written)
                if last.continues():
                    self._reader, self._start = last, bookmark.moved(here)
                    break
        self._offset, self._pieces = self._start.offset, self._start.lines

    @property
    def bookmark(self) -> Bookmark:
        if self._pieces == self._start.lines:
            return self._start
        state = {"reader": self._reader.state}
        return replace(self._start, offset=self._offset, lines=self._pieces, state=state)

    def __iter__(self) -> Iterator[Sequence[TurnOrHeading]]:
        with _errors_explained(self._path):
            for size, entries in self._reader:
                self._offset += size
                self._pieces += 1
                yield entries


def _check_files(path: Path) -> None:
    """Refuse a database if SQLite would open anything but regular files for it."""
    for part in (path, *(path.with_name(path.name + suffix) for suffix in SUFFIXES)):
        try:
            check_regular(part)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise Unavailable(f"{part} is {error.strerror}, so the database is not read") from error


def _connect(path: Path, immutable: bool = False) -> apsw.Connection:
    """immutable: nobody writes, so that SQLite takes no locks and makes no files beside the database."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with _errors_explained(path):
        extra = "&immutable=1" if immutable else ""
        db = apsw.Connection(f"{path.absolute().as_uri()}?mode=ro{extra}", flags=flags)
        db.set_busy_timeout(BUSY_MILLISECONDS)
        for setting in SETTINGS:
            db.execute(setting).fetchall()
        return db


def _written_milliseconds(path: Path) -> int:
    """When the database or its log was last written."""
    latest = 0
    for part in (path, path.with_name(path.name + LOG_SUFFIX)):
        try:
            latest = max(latest, os.stat(part).st_mtime_ns // 1_000_000)
        except OSError:
            continue
    return latest


@contextmanager
def _errors_explained(path: Path) -> Iterator[None]:
    """SQLite's errors as Unavailable, in words for a person."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError) as error:
        raise Unavailable(f"{path} is locked by its program; try again when that has finished") from error
    except (apsw.NotADBError, apsw.CorruptError) as error:
        raise Unavailable(f"{path} is damaged, or no SQLite database: {error}") from error
    except apsw.SQLError as error:
        raise Unavailable(f"{path} is not as its program writes it today: {error}") from error
    except (apsw.Error, UnicodeDecodeError) as error:
        raise Unavailable(f"{path} cannot be read: {error}") from error
