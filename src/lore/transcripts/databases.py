"""databases: a client's SQLite file, read beside its writer, and only what changed since the last time."""

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import apsw

from lore.errors import Unavailable
from lore.transcripts import foreign
from lore.transcripts.base import Said, State
from lore.transcripts.finding import printable
from lore.transcripts.growing import ReadPosition, Transcript, Watermark

BESIDE = "-wal"
"""What the name of a database and this call: the log of changes that are not in the file itself yet."""
PARTS = (BESIDE, "-shm", "-journal")
"""What is added to the name of a database to name the other files that SQLite opens for it."""
BUSY_MILLISECONDS = 5_000
SETTINGS = ("PRAGMA query_only = ON", "PRAGMA trusted_schema = OFF", "PRAGMA cell_size_check = ON")


class RowReader(Protocol):
    """Asks a client's database for what changed; made for one opening of it, with the state of the last time.

    written: when the file was written last, in milliseconds. What claims to be later is read again.
    """

    def __init__(self, db: apsw.Connection, state: Mapping[str, Any], written: int) -> None: ...

    @property
    def state(self) -> State:
        """What has to be remembered to read on behind the last piece; JSON knows all of it."""
        ...

    def goes_on(self) -> bool:
        """Whether what was read last is still there. If not, it is another database, or an older one."""
        ...

    def __iter__(self) -> Iterator[tuple[int, Sequence[Said]]]:
        """Pieces of what changed: how many bytes were read, and what they say."""
        ...


@contextmanager
def opened(reader: type[RowReader], path: Path, known: Sequence[ReadPosition]) -> Iterator[Transcript]:
    """A database, at the place of `known` that is in it, or at its beginning. Nothing is written to it."""
    _check_parts(path)
    status = os.stat(path)  # not by opening it: to close the file again would cancel locks on it
    with closing(_connected(path)) as db:
        yield Rows(reader, path, status, db, known)


class Rows:
    """The rows of a database that changed since it was left, as what they say.

    Its mark counts what was read so far; where to go on is the reader's state.
    """

    def __init__(
        self,
        reader: type[RowReader],
        path: Path,
        status: os.stat_result,
        db: apsw.Connection,
        known: Sequence[ReadPosition],
    ) -> None:
        self._path = path
        here = ReadPosition(path=printable(path), device=status.st_dev, inode=status.st_ino)
        written = _written(path)
        self._left, self._reader = here, reader(db, {}, written)
        with _plainly(path):
            for left in _likely(here, known):
                before = reader(db, left.state.get("reader", {}), written)
                if before.goes_on():
                    self._left, self._reader = left, before
                    break
        self._here = here
        self._mark = self._left.mark
        self.passed_over = 0

    @property
    def left(self) -> ReadPosition:
        if self._mark == self._left.mark:
            return self._left
        return replace(self._here, mark=self._mark, state={"reader": self._reader.state})

    def __iter__(self) -> Iterator[Sequence[Said]]:
        with _plainly(self._path):
            for size, said in self._reader:
                self._mark = Watermark(offset=self._mark.offset + size, lines=self._mark.lines + 1)
                yield said


def _check_parts(path: Path) -> None:
    """Refuse a database if SQLite would open anything but regular files for it."""
    for part in (path, *(path.with_name(path.name + suffix) for suffix in PARTS)):
        try:
            foreign.check_regular(part)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise Unavailable(f"{part} is {error.strerror}, so the database is not read") from error


def _likely(here: ReadPosition, known: Sequence[ReadPosition]) -> list[ReadPosition]:
    """The same file first, then what had this name, then any other: it may be a copy."""
    return sorted(
        known,
        key=lambda left: ((left.device, left.inode) != (here.device, here.inode), left.path != here.path),
    )


def _connected(path: Path) -> apsw.Connection:
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with _plainly(path):
        db = apsw.Connection(f"{path.absolute().as_uri()}?mode=ro", flags=flags)
        db.set_busy_timeout(BUSY_MILLISECONDS)
        for setting in SETTINGS:
            db.execute(setting).fetchall()
        return db


def _written(path: Path) -> int:
    """When the database or its log was written last, in milliseconds."""
    latest = 0
    for part in (path, path.with_name(path.name + BESIDE)):
        try:
            latest = max(latest, os.stat(part).st_mtime_ns // 1_000_000)
        except OSError:
            continue
    return latest


@contextmanager
def _plainly(path: Path) -> Iterator[None]:
    """What SQLite says, for a person."""
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
