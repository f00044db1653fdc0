"""What is special to the file: its settings, its upgrades, its enemies, and many processes at once."""

import gc
import os
import stat
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import apsw
import numpy as np
import pytest

from lore.errors import Invalid, Unavailable
from lore.model import SHARED, Cause, Filter, Link, Memory
from lore.store.sqlite import opening
from lore.store.sqlite.connections import Connections, require_sqlite
from lore.store.sqlite.file_state import manifest_of
from lore.store.sqlite.opening import MIGRATIONS
from lore.store.sqlite.store import SqliteStore
from lore.store.sqlite.text_index import SCORED_AT_MOST
from lore.store.values import EVERY, JournalFilter, Use
from lore.vectors import Vector

NOW = 1_800_000_000.0
MODEL = "exact/test/4"
EAST: Vector = np.array([1, 0, 0, 0], np.float32)
WRITER = Path(__file__).with_name("writer.py")
STEPS = MIGRATIONS | {"0002 a table of stars": "CREATE TABLE star (name TEXT) STRICT"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(path)
    yield opened
    opened.close()


def keep(store: SqliteStore, *ids: str, content: str = "walrus") -> None:
    memories = [Memory(id=id, content=content, created_at=NOW, updated_at=NOW) for id in ids]
    with store.transaction(SHARED, Cause(verb="test"), NOW) as writer:
        writer.put(memories)


def ids_in(store: SqliteStore) -> set[str]:
    return {trace.id for trace in store.reader(SHARED).traces(Filter())}


def failed_checks(store: SqliteStore) -> set[str]:
    return {finding.check for finding in store.check() if not finding.passed}


def filled(path: Path) -> None:
    """A closed store with something in it."""
    store = SqliteStore(path)
    keep(store, "a", "b", content="word " * 2_000)
    store.close()


# --- settings


def test_a_store_named_by_a_relative_path_stays_the_same_when_the_process_changes_its_folder(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(path.parent.parent)
    store = SqliteStore(Path("data/memory.db"))
    keep(store, "before")
    (elsewhere := path.parent.parent / "elsewhere").mkdir()
    monkeypatch.chdir(elsewhere)
    store.release()
    keep(store, "after")
    with store.exclusive("embedding") as alone:
        assert alone
    assert ids_in(store) == {"before", "after"}
    store.close()
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize(("kind", "synchronous"), [("writing", 2), ("deriving", 1)])
def test_writes_are_logged_ahead_and_synced(kind: str, synchronous: int, path: Path) -> None:
    connections = Connections(path)
    opening.migrate(connections)
    with getattr(connections, kind)() as writer:
        assert pragma(writer, "journal_mode") == "wal"
        assert pragma(writer, "synchronous") == synchronous
        assert pragma(writer, "foreign_keys") == 1
        assert pragma(writer, "trusted_schema") == 0
        assert pragma(writer, "secure_delete") == 1
    connections.close()


def test_a_release_lets_go_of_the_index_and_of_idle_connections(store: SqliteStore) -> None:
    keep(store, "a")
    with store.transaction(SHARED, Cause(verb="test"), NOW) as writer:
        writer.put_vectors(MODEL, {"a": EAST})
    store.reader(SHARED).near(EAST, MODEL, 1, Filter())
    index = weakref.ref(store._nearest(1)._index)
    readers = [weakref.ref(each) for each in store._connections._readers.queue if each is not None]
    assert readers
    store.release()
    gc.collect()
    assert index() is None
    assert [reader() for reader in readers] == [None] * len(readers)


def test_a_reading_connection_cannot_write(store: SqliteStore, path: Path) -> None:
    connections = Connections(path)
    with pytest.raises(Unavailable), connections.reading() as reader:
        reader.execute("DELETE FROM memory")
    connections.close()


def pragma(connection: apsw.Connection, name: str) -> object:
    ((value,),) = connection.execute(f"PRAGMA {name}").fetchall()
    return value


@pytest.mark.parametrize("version", ["3.40.1", "3.51.2", "3.7.0", "2.99.99"])
def test_a_library_that_can_corrupt_a_shared_file_is_refused(version: str) -> None:
    with pytest.raises(Unavailable, match=rf"SQLite {version} is too old to be safe; Lore needs 3\.51\.3"):
        require_sqlite(version)


@pytest.mark.parametrize("version", ["3.51.3", "3.53.4", "4.0.0", None])
def test_a_library_that_is_new_enough_is_welcome(version: str | None) -> None:
    require_sqlite(version)


def test_only_the_owner_may_read_the_files(store: SqliteStore, path: Path, tmp_path: Path) -> None:
    keep(store, "a")
    store.backup(tmp_path / "copy.db")
    files = [*path.parent.iterdir(), tmp_path / "copy.db"]
    assert {file.name for file in files} >= {"memory.db", "memory.db-wal", "memory.db.meta.json", "copy.db"}
    assert {file.name: oct(stat.S_IMODE(file.stat().st_mode)) for file in files} == {
        file.name: "0o600" for file in files
    }
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_files_that_others_may_read_are_found_and_closed_to_them(store: SqliteStore, path: Path) -> None:
    path.chmod(0o644)
    assert failed_checks(store) == {"permissions"}
    store.check(repair=True)
    assert failed_checks(store) == set()


def test_a_folder_that_others_may_write_is_found_and_the_own_one_closed(
    store: SqliteStore, path: Path
) -> None:
    path.parent.chmod(0o777)
    assert failed_checks(store) == {"permissions"}
    store.check(repair=True)
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o755

    path.parent.parent.chmod(0o777)
    [finding] = [finding for finding in store.check(repair=True) if not finding.passed]
    assert f"others may write to {path.parent.parent.resolve()}," in finding.detail
    assert not finding.repairable
    path.parent.parent.chmod(0o1777)
    assert failed_checks(store) == set()


# --- upgrades


def test_an_upgrade_backs_up_first_and_then_takes_its_steps(path: Path) -> None:
    filled(path)
    connections = Connections(path)
    opening.migrate(connections, STEPS)
    assert tables(path) >= {"memory", "star"}
    connections.close()
    [backup] = (path.parent / "backups").iterdir()
    assert "before-0002" in backup.name
    assert "star" not in tables(backup)
    copy = SqliteStore(backup)
    assert ids_in(copy) == {"a", "b"}
    copy.close()


def test_an_upgrade_that_was_done_changes_nothing(path: Path) -> None:
    connections = Connections(path)
    opening.migrate(connections, STEPS)
    before = dump(path)
    opening.migrate(connections, STEPS)
    assert dump(path) == before
    assert not (path.parent / "backups").exists()
    connections.close()


def test_a_new_file_needs_no_backup(store: SqliteStore, path: Path) -> None:
    assert not (path.parent / "backups").exists()


def test_a_step_that_fails_leaves_the_file_as_it_was(path: Path) -> None:
    filled(path)
    before = dump(path)
    connections = Connections(path)
    broken = "CREATE TABLE star (name TEXT) STRICT; DELETE FROM memory; INSERT INTO nowhere VALUES (1)"
    with pytest.raises(Unavailable, match="nowhere"):
        opening.migrate(connections, MIGRATIONS | {"0002 broken": broken})
    connections.close()
    assert dump(path) == before
    store = SqliteStore(path)
    assert ids_in(store) == {"a", "b"}
    store.close()


def test_a_file_with_the_schema_of_an_unreleased_lore_is_refused_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    ask(path, "CREATE TABLE memory (id TEXT)")
    ask(path, "CREATE TABLE migration (name TEXT PRIMARY KEY, applied_at REAL NOT NULL)")
    ask(path, "INSERT INTO migration VALUES ('0001 a draft', 1.0)")
    before = path.read_bytes()
    with pytest.raises(Unavailable, match="the schema of an unreleased Lore"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_the_schema_has_no_triggers_and_needs_no_functions_of_ours(store: SqliteStore, path: Path) -> None:
    keep(store, "a", content="我们的数据库")
    assert ask(path, "SELECT name FROM sqlite_schema WHERE type = 'trigger'") == []
    assert ask(path, "PRAGMA quick_check") == [("ok",)]


def test_only_a_few_backups_are_kept(path: Path) -> None:
    filled(path)
    connections = Connections(path)
    steps = dict(MIGRATIONS)
    for number in range(2, 10):
        steps[f"{number:04} another"] = f"CREATE TABLE star{number} (name TEXT) STRICT"
        opening.migrate(connections, steps)
    connections.close()
    assert len(list((path.parent / "backups").iterdir())) == opening.KEPT_BACKUPS


def test_a_file_from_a_newer_lore_is_refused(path: Path) -> None:
    connections = Connections(path)
    opening.migrate(connections, STEPS)
    connections.close()
    before = dump(path)
    with pytest.raises(Unavailable, match=r"newer Lore \(unknown steps: 0002 a table of stars\)"):
        SqliteStore(path)
    assert dump(path) == before


def test_a_running_lore_stops_writing_when_a_newer_one_upgrades_the_file(
    store: SqliteStore, path: Path
) -> None:
    keep(store, "a")
    connections = Connections(path)
    opening.migrate(connections, STEPS)
    connections.close()
    with pytest.raises(Unavailable, match="a newer Lore has upgraded this store; restart"):
        keep(store, "b")
    assert ids_in(store) == {"a"}


def tables(path: Path) -> set[str]:
    return {str(name) for (name,) in ask(path, "SELECT name FROM sqlite_schema WHERE type = 'table'")}


def dump(path: Path) -> list[tuple[object, ...]]:
    """All of the shape and the rows that an upgrade could change."""
    return [
        *ask(path, "SELECT type, name, sql FROM sqlite_schema ORDER BY name"),
        *ask(path, "SELECT * FROM migration"),
        *ask(path, "SELECT * FROM memory"),
        *ask(path, "PRAGMA user_version"),
    ]


def ask(path: Path, statement: str) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(path))
    rows = connection.execute(statement).fetchall()
    connection.close()
    return rows


# --- copies


def everything(store: SqliteStore) -> list[object]:
    reader = store.reader(SHARED)
    return [
        list(reader.select(Filter(), EVERY)),
        reader.matching(["walrus"], 100, Filter()),
        list(reader.journal(JournalFilter(), EVERY)),
    ]


def test_a_backup_opens_with_equal_content(store: SqliteStore, tmp_path: Path) -> None:
    keep(store, "a", "b")
    store.backup(tmp_path / "copy.db")
    copy = SqliteStore(tmp_path / "copy.db")
    assert everything(copy) == everything(store)
    copy.close()
    manifest_of(tmp_path / "copy.db").unlink()  # it makes the file one that is only read
    copy = SqliteStore(tmp_path / "copy.db")
    assert failed_checks(copy) == set()
    copy.close()


def test_a_backup_is_consistent_while_another_writes(store: SqliteStore, tmp_path: Path) -> None:
    keep(store, "a")
    with store.transaction(SHARED, Cause(verb="test"), NOW) as writer:
        writer.put([Memory(id="b", content="b", created_at=NOW, updated_at=NOW)])
        with ThreadPoolExecutor(1) as pool:
            pool.submit(store.backup, tmp_path / "copy.db").result(timeout=60)
    copy = SqliteStore(tmp_path / "copy.db")
    assert ids_in(copy) == {"a"}
    copy.close()


def test_a_backup_never_replaces_the_store_itself(store: SqliteStore, path: Path) -> None:
    keep(store, "a")
    with pytest.raises(Invalid):
        store.backup(path)
    keep(store, "b")
    assert ids_in(store) == {"a", "b"}


def test_a_backup_to_a_missing_folder_is_refused_by_name(store: SqliteStore, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="nowhere"):
        store.backup(tmp_path / "nowhere" / "copy.db")


def test_a_closed_store_makes_no_backup(store: SqliteStore, tmp_path: Path) -> None:
    store.close()
    with pytest.raises(Unavailable, match="closed"):
        store.backup(tmp_path / "copy.db")


# --- files that are none of ours, or no longer whole

DAMAGES: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "a text file": (lambda _: b"Dear diary, today I learned about databases.\n" * 200, "not a Lore database"),
    "a short text": (lambda _: b"hello", "not a Lore database"),
    "a garbage header": (lambda data: os.urandom(100) + data[100:], "not a Lore database"),
    "cut in half": (lambda data: data[: len(data) // 2], "the database is damaged"),
    "cut off in the first page": (lambda data: data[:1_000], "damaged"),
    "emptied": (lambda _: b"", "is empty, but a Lore store was here"),
}


@pytest.mark.parametrize(("damage", "complaint"), DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_file_is_refused_and_left_alone(
    damage: Callable[[bytes], bytes], complaint: str, path: Path
) -> None:
    filled(path)
    path.write_bytes(damage(path.read_bytes()))
    before = path.read_bytes()
    with pytest.raises(Unavailable, match=complaint) as refused:
        SqliteStore(path)
    assert str(path) in str(refused.value)
    assert path.read_bytes() == before


def test_a_missing_file_is_not_replaced_by_an_empty_one(path: Path) -> None:
    filled(path)
    path.unlink()
    with pytest.raises(Unavailable, match=r"is missing, but a Lore store was here. Restore a copy from"):
        SqliteStore(path)
    assert not path.exists()
    opening.marker_of(path).unlink()
    SqliteStore(path).close()


def test_a_file_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    path.parent.mkdir()
    ask(path, "CREATE TABLE bookmark (url TEXT)")
    before = path.read_bytes()
    with pytest.raises(Unavailable, match=r"SQLite file of another program \(tables: bookmark\)"):
        SqliteStore(path)
    assert path.read_bytes() == before


def test_a_folder_in_place_of_the_file_is_refused(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(Unavailable, match="cannot be opened"):
        SqliteStore(path)


def test_a_place_below_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(Unavailable, match="cannot be used"):
        SqliteStore(tmp_path / "file" / "memory.db")


def test_writes_stop_when_the_file_is_deleted_or_replaced(store: SqliteStore, path: Path) -> None:
    keep(store, "a")
    path.rename(path.with_name("moved.db"))
    with pytest.raises(Unavailable, match="removed or replaced while Lore was running; restart"):
        keep(store, "b")
    path.write_bytes(b"")
    with pytest.raises(Unavailable, match="removed or replaced"):
        keep(store, "c")
    with pytest.raises(Unavailable, match="removed or replaced"):
        store.touch(Use(ids=("a",)), NOW)


DERIVED_DAMAGE = {
    "words": "INSERT INTO words (words, rowid, title, summary, content, context)"
    " SELECT 'delete', alias, title, summary, content, context FROM memory WHERE id = 'a'",
    "grams": "INSERT INTO grams (rowid, content) SELECT alias, '数据 据' FROM memory WHERE id = 'a'",
    "vectors": "UPDATE short_vector SET data = zeroblob(length(data))",
    "trees": "UPDATE memory SET depth = 9 WHERE id = 'b'",
    "use": "DELETE FROM usage",
}


@pytest.mark.parametrize(("check", "damage"), DERIVED_DAMAGE.items(), ids=DERIVED_DAMAGE)
def test_damage_to_what_is_derived_is_found_and_healed(
    check: str, damage: str, store: SqliteStore, path: Path
) -> None:
    keep(store, "a", "b")
    with store.transaction(SHARED, Cause(verb="test"), NOW) as writer:
        writer.put_links(
            [Link(id="l", source="a", target="b", kind="hierarchical", created_at=NOW, updated_at=NOW)]
        )
        writer.put_vectors(MODEL, {"a": EAST})
    assert failed_checks(store) == set()
    ask(path, damage)
    assert check in {finding.check for finding in store.check() if finding.repairable and not finding.passed}
    store.check(repair=True)
    assert failed_checks(store) == set()
    assert set(store.reader(SHARED).matching(["walrus"], 10, Filter()).strengths) == {"a", "b"}
    assert store.reader(SHARED).get(["b"])["b"].depth == 1


@pytest.mark.parametrize("damage", ["data = x'00'", "characters = 1", "data = zeroblob(length(data))"])
def test_a_damaged_whole_text_is_found_left_out_and_replaced(
    damage: str, store: SqliteStore, path: Path
) -> None:
    keep(store, "a")

    def keep_whole() -> None:
        with store.transaction(SHARED, Cause(verb="test"), NOW) as writer:
            writer.put([], {"a": "the whole walrus"})

    keep_whole()
    ask(path, f"UPDATE full_text SET {damage}")
    [finding] = [finding for finding in store.check() if not finding.passed]
    assert (finding.check, finding.repairable) == ("full texts", False)
    assert "1 are damaged" in finding.detail
    assert store.reader(SHARED).full_texts(["a"]) == {}
    keep_whole()
    assert failed_checks(store) == set()
    assert store.reader(SHARED).full_texts(["a"]) == {"a": "the whole walrus"}


DAMAGE_TO_NAMES = {
    "none left": "DELETE FROM subject",
    "one lost": "DELETE FROM subject WHERE name = 'tom'",
    "one too many": "INSERT INTO subject SELECT 1, 'nobody', alias FROM memory WHERE id = 'plain'",
    "a wrong one": "UPDATE subject SET name = 'nobody' WHERE name = 'tom'",
    "of another memory": "UPDATE subject SET memory = (SELECT alias FROM memory WHERE id = 'plain')",
}


@pytest.mark.parametrize("damage", DAMAGE_TO_NAMES.values(), ids=DAMAGE_TO_NAMES)
def test_memories_that_are_filed_under_wrong_names_are_found_and_healed(
    damage: str, store: SqliteStore, path: Path
) -> None:
    keep(store, "named", content="Anna and Tom are here")
    keep(store, "plain")
    assert failed_checks(store) == set()
    ask(path, damage)
    [finding] = [finding for finding in store.check() if not finding.passed]
    assert (finding.check, finding.repairable) == ("names", True)
    assert "filed under wrong names" in finding.detail
    store.check(repair=True)
    assert failed_checks(store) == set()
    known = store.reader(SHARED).about(["anna", "tom", "nobody"], Filter(), 10)
    assert known == {"anna": ["named"], "tom": ["named"]}


CANONICAL_DAMAGE = {
    "journal": "DELETE FROM journal",
    "references": "PRAGMA foreign_keys = OFF; DELETE FROM memory WHERE id = 'a'",
}


@pytest.mark.parametrize(("check", "damage"), CANONICAL_DAMAGE.items(), ids=CANONICAL_DAMAGE)
def test_damage_to_what_is_canonical_is_found(
    check: str, damage: str, store: SqliteStore, path: Path
) -> None:
    keep(store, "a", "b")
    ask(path, damage)
    assert check in failed_checks(store)


SCHEMA = "PRAGMA writable_schema = ON; UPDATE sqlite_master SET sql = replace(sql, '{}', '{}')"


def test_values_that_no_lore_has_written_are_findings(store: SqliteStore, path: Path) -> None:
    keep(store, "a")
    store.close()
    columns = ("content TEXT NOT NULL", "content TEXT")
    ask(path, SCHEMA.format(*columns))
    ask(path, "UPDATE memory SET content = NULL")
    ask(path, SCHEMA.format(*reversed(columns)))
    damaged = SqliteStore(path)
    assert {"integrity", "grams"} <= failed_checks(damaged)
    damaged.close()


# --- disks


@contextmanager
def mounted(folder: Path, options: str) -> Iterator[Path]:
    folder.mkdir(exist_ok=True)
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    if not sys.platform.startswith("linux") or subprocess.run(command, capture_output=True).returncode:
        pytest.skip("mounting a small disk needs Linux and the right to mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A real disk of three megabytes."""
    with mounted(tmp_path / "disk", "size=3m") as disk:
        yield disk


def write_until_it_fails(store: SqliteStore, acknowledged: list[str]) -> None:
    for number in range(1_000):
        keep(store, f"m{number:04}", content=f"walrus {number} " * 1_000)
        acknowledged.append(f"m{number:04}")


def test_a_full_disk_loses_nothing_and_writing_goes_on_when_there_is_space(small_disk: Path) -> None:
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"x" * 1_000_000)
    store = SqliteStore(small_disk / "memory.db")
    acknowledged: list[str] = []
    with pytest.raises(Unavailable, match=r"the disk is full; nothing was saved"):
        write_until_it_fails(store, acknowledged)
    assert acknowledged
    assert ids_in(store) == set(acknowledged)
    assert set(store.reader(SHARED).matching(["walrus"], 1_000, Filter()).strengths) == set(acknowledged)

    ballast.unlink()
    keep(store, "after")
    assert ids_in(store) == {*acknowledged, "after"}
    assert failed_checks(store) == set()
    store.close()


def test_a_store_on_a_read_only_disk_is_read_and_written_once_that_is_over(small_disk: Path) -> None:
    filled(small_disk / "memory.db")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    store = SqliteStore(small_disk / "memory.db")
    assert ids_in(store) == {"a", "b"}
    with pytest.raises(Unavailable, match="its file system is read-only; nothing was saved"):
        keep(store, "c")
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    keep(store, "d")
    assert ids_in(store) == {"a", "b", "d"}
    store.close()


# --- many processes
SECONDS = 300.0
"""For what takes a moment on a machine that has time; a busy one may need far more."""


def start(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITER), str(path), name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def acknowledged_by(process: subprocess.Popen[str]) -> list[str]:
    output, _ = process.communicate(timeout=SECONDS)
    ready, *ids = output.splitlines()
    assert ready == "ready"
    return ids


def test_a_commit_of_another_process_is_seen_at_once(store: SqliteStore, path: Path) -> None:
    keep(store, "mine")
    [theirs] = acknowledged_by(start(path, "somebody", 1))
    assert ids_in(store) == {"mine", theirs}
    assert set(store.reader(SHARED).matching(["somebody"], 10, Filter()).strengths) == {theirs}


def test_a_vector_from_another_process_is_found_by_meaning(store: SqliteStore, path: Path) -> None:
    keep(store, "mine")
    elsewhere = SqliteStore(path)
    for number, id in enumerate(("first", "second")):
        keep(elsewhere, id)
        elsewhere.embed(MODEL, {passage: EAST for passage in elsewhere.unembedded(MODEL, 1).passages})
        assert len(store.reader(SHARED).near(EAST, MODEL, 10, Filter())) == number + 1
    elsewhere.close()


def test_another_process_sees_our_commit_at_once(store: SqliteStore, path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from lore.store import open_store;"
        "store = open_store(Path(sys.argv[1])); print('ready', flush=True); sys.stdin.readline();"
        "print(*store.reader('shared').get(['mine']))"
    )
    command = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdout is not None
        assert reader.stdout.readline() == "ready\n"
        keep(store, "mine")
        output, _ = reader.communicate("look\n", timeout=SECONDS)
    assert output == "mine\n"


def test_four_processes_that_write_at_once_lose_nothing(store: SqliteStore, path: Path) -> None:
    writers = [start(path, f"writer{number}", 50) for number in range(4)]
    acknowledged = [id for writer in writers for id in acknowledged_by(writer)]
    assert [writer.returncode for writer in writers] == [0] * 4
    assert len(set(acknowledged)) == 200
    assert ids_in(store) == set(acknowledged)
    assert failed_checks(store) == set()


def test_processes_that_create_a_store_at_once_share_it(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from lore.store import open_store;"
        "print('ready', flush=True); sys.stdin.readline();"
        "[open_store(Path(sys.argv[1], f'{n}.db')).close() for n in range(20)]; print('done')"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    creators = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(4)
    ]
    for creator in creators:
        assert creator.stdout is not None
        assert creator.stdout.readline() == "ready\n"
    for creator in creators:
        assert creator.stdin is not None
        creator.stdin.write("go\n")
        creator.stdin.flush()
    assert [creator.communicate(timeout=SECONDS)[0] for creator in creators] == ["done\n"] * 4
    for number in range(20):
        store = SqliteStore(tmp_path / f"{number}.db")
        assert failed_checks(store) == set()
        store.close()


def test_nothing_acknowledged_is_lost_when_the_writer_is_killed(path: Path) -> None:
    acknowledged: set[str] = set()
    for life in range(4):
        process = start(path, f"life{life}", 0)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        acknowledged |= {process.stdout.readline().strip() for _ in range(1 + 7 * life)}
        process.kill()
        rest = process.stdout.read()
        process.stdout.close()
        process.wait(timeout=SECONDS)
        acknowledged |= {line for line in rest.splitlines(keepends=False) if len(line) == 36}
    store = SqliteStore(path)
    assert acknowledged <= ids_in(store)
    assert len(acknowledged) >= 46
    assert failed_checks(store) == set()
    store.close()


# --- large stores


def test_a_word_in_more_memories_than_are_scored_finds_the_newest_and_a_rare_word_any(
    store: SqliteStore,
) -> None:
    many = SCORED_AT_MOST + 100
    texts = ["walrus narwhal", *["walrus of many words"] * (many - 2), "walrus"]
    with store.transaction(SHARED, Cause(verb="test"), NOW) as writer:
        writer.put(
            Memory(id=f"m{at}", content=text, created_at=NOW, updated_at=NOW) for at, text in enumerate(texts)
        )
    reader = store.reader(SHARED)
    found = list(reader.matching(["walrus"], 10, Filter()).strengths)
    assert found[0] == f"m{many - 1}"
    assert len(found) == 10
    assert "m0" not in found
    assert next(iter(reader.matching(["walrus", "narwhal"], 10, Filter()).strengths)) == "m0"
    session = Filter(ids=("m0",))
    assert set(reader.matching(["walrus"], 10, session).strengths) == {"m0"}, "a filter loses no hits"
