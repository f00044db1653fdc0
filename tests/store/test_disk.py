"""The disk under the file: no room, a log that was damaged or grows, copies that were never completed."""

import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw
import pytest

from lore.errors import Unavailable
from lore.store.sqlite import opening
from lore.store.sqlite.connections import LARGE_LOG_BYTES, LOG_BYTES
from lore.store.sqlite.store import SqliteStore
from lore.store.values import Use
from tests.store.test_sqlite import WRITER, failed_checks, ids_in, keep

LONG_AGO = 1_700_000_000
ROWS = 40


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "memory.db"


@contextmanager
def full_disk() -> Iterator[None]:
    """No file of this process can grow meanwhile."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


# --- no room


def abandoned(path: Path, state: str) -> Path:
    """A store with one memory, as somebody has left it."""
    with closing(SqliteStore(path)) as store:
        keep(store, "a")
        left = shutil.copytree(path.parent, path.parent.parent / "left") / path.name
    if state == "killed without its index":
        left.with_name(left.name + "-shm").unlink()
    return path if state == "closed" else left


@pytest.mark.parametrize("state", ["closed", "killed", "killed without its index"])
def test_a_store_that_could_only_be_read_is_written_as_soon_as_there_is_room(state: str, path: Path) -> None:
    path = abandoned(path, state)
    with full_disk():
        store = SqliteStore(path)
        assert ids_in(store) == {"a"}
        assert failed_checks(store) == {"writing", "words"}
        with pytest.raises(Unavailable, match="nothing was saved, but memories can be searched and read"):
            keep(store, "b")
    keep(store, "c")
    assert ids_in(store) == {"a", "c"}
    assert failed_checks(store) == set()
    store.close()


def test_what_others_write_is_seen_by_those_who_can_only_read(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        keep(store, "a")
    with full_disk():
        store = SqliteStore(path)
        assert ids_in(store) == {"a"}
    subprocess.run(
        [sys.executable, str(WRITER), str(path), "other", "3"], check=True, stdout=subprocess.DEVNULL
    )
    assert len(ids_in(store)) == 4
    store.close()


def test_a_new_store_needs_room(path: Path) -> None:
    with full_disk(), pytest.raises(Unavailable):
        SqliteStore(path)


# --- a lost end of the log


@pytest.fixture
def left(path: Path, tmp_path: Path) -> Path:
    """A store of ROWS memories in ROWS commits, most of them in the log, as a kill leaves it."""
    there = tmp_path / "left"
    with closing(SqliteStore(path)) as store:
        keep(store, "first")
        with store._connections.alone() as writer:
            writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for number in range(ROWS):
            keep(store, f"m{number}")
        shutil.copytree(path.parent, there)
    return there / path.name


def cut(data: bytes) -> bytes:
    return data[: len(data) // 2]


def flipped(data: bytes) -> bytes:
    at = len(data) // 3
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


LOG_DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "cut in half": cut,
    "a flipped bit": flipped,
    "emptied": lambda _: b"",
    "a garbage header": lambda data: os.urandom(32) + data[32:],
    "zeros at the end": lambda data: cut(data) + bytes(len(data) - len(cut(data))),
}


@pytest.mark.parametrize("damage", LOG_DAMAGES.values(), ids=LOG_DAMAGES)
def test_acknowledged_changes_that_a_damaged_log_has_lost_are_missed(
    damage: Callable[[bytes], bytes], left: Path
) -> None:
    log = left.with_name(left.name + "-wal")
    log.write_bytes(damage(log.read_bytes()))
    with closing(SqliteStore(left)) as store:
        missing = ROWS + 1 - len(ids_in(store))
        assert missing
        assert failed_checks(store) == {"changes"}
        for number in range(ROWS):
            keep(store, f"n{number}")
    with closing(SqliteStore(left)) as store:  # new changes do not hide it
        [warning] = store.report().warnings
        assert f"(journal {ROWS + 2 - missing} to {ROWS + 1}, {missing} in all)" in warning.detail
        Path(f"{left}.mark").unlink()
        assert failed_checks(store) == set()
        keep(store, "last")
        assert failed_checks(store) == set()


def test_a_whole_log_has_lost_nothing(left: Path) -> None:
    with closing(SqliteStore(left)) as store:
        assert len(ids_in(store)) == ROWS + 1
        assert failed_checks(store) == set()


def test_the_mark_of_another_store_says_nothing(left: Path, path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other" / "memory.db"
    with closing(SqliteStore(other)) as store:
        keep(store, "a")
    shutil.copy(f"{left}.mark", f"{other}.mark")
    with closing(SqliteStore(other)) as store:
        assert failed_checks(store) == set()


def test_writes_stop_when_the_log_is_removed(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        keep(store, "a")
        path.with_name(path.name + "-wal").unlink()
        with pytest.raises(
            Unavailable, match=r"memory\.db-wal was removed or replaced while Lore was running"
        ):
            keep(store, "b")


# --- a log that grows


def test_a_log_that_a_long_reader_keeps_is_reported_and_folded_when_it_has_ended(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        keep(store, "a")
        reader = apsw.Connection(str(path))
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM memory").fetchall()
        with store._connections.writing() as writer:
            writer.execute("CREATE TABLE large (data BLOB)")
            writer.execute("INSERT INTO large VALUES (zeroblob(?))", (LARGE_LOG_BYTES,))
        assert failed_checks(store) == {"log"}
        [warning] = store.report().warnings
        assert "kept by a program that reads the database without an end" in warning.detail
        reader.close()
        store.touch(Use(ids=("a",)), 1.0)
        assert store._connections.log_bytes() <= LOG_BYTES
        assert failed_checks(store) == set()


# --- copies and names


def test_copies_that_were_never_completed_are_cleared(path: Path) -> None:
    with closing(SqliteStore(path)) as store:
        keep(store, "a")
        store.backup(path.parent / "copy.db")
        folder = opening.backups_of(path)
        folder.mkdir()
        name = "memory.db.01a1e7b0-6282-7836-b1bf-b35f62b19376.partial"
        stale, young, other = folder / name, folder / f"a.{name}", folder / "mine.partial"
        for file in (stale, young, other):
            file.write_bytes(b"half")
        os.utime(stale, (LONG_AGO, LONG_AGO))
        os.utime(other, (LONG_AGO, LONG_AGO))
        store.backup(folder / "copy.db")
        left = sorted(file.name for file in folder.iterdir())
        assert left == ["a." + name, "copy.db", "copy.db.manifest.json", "mine.partial"]
        with full_disk(), pytest.raises(Unavailable):
            store.backup(path.parent / "another.db")
    assert not [file for file in path.parent.iterdir() if file.suffix == ".partial"]


def test_names_and_contents_are_on_disk_before_anybody_relies_on_them(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    sync = os.fsync

    def observed(file: int) -> None:
        synced.append(os.path.realpath(f"/proc/self/fd/{file}"))
        sync(file)

    monkeypatch.setattr(os, "fsync", observed)
    deep = path.parent / "deep" / "memory.db"
    with closing(SqliteStore(deep)) as store:
        made = [str(folder) for folder in (path.parent.parent, path.parent, deep.parent)]
        assert synced[:3] == made
        assert synced[3].startswith(str(opening.marker_of(deep)))
        assert synced[4] == str(deep.parent)
        synced.clear()
        store.backup(path.parent / "copy.db")
        assert synced[0].startswith(str(path.parent / "copy.db"))
        assert synced[1] == str(path.parent)
