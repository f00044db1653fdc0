"""A backup in the place of a store: verified before, one rename, nothing lost when the process is killed."""

import json
import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from lore.errors import Invalid, LoreError, Unavailable
from lore.model import SHARED, Cause, Filter, Memory
from lore.store.sqlite import backups
from lore.store.sqlite.store import SqliteStore
from lore.store.values import EVERY

KILLER = """
import json, os, signal, sys
from pathlib import Path
from lore.store.sqlite import backups
from tests.store.test_restore_backup import ids_in

source, store = map(Path, sys.argv[1:])
original = store.read_bytes()

def restore_and_die_before(step):
    def count(event, arguments):
        nonlocal step
        paths = " ".join(map(str, arguments))
        if event.startswith(("open", "os.", "shutil.")) and str(store.parent) in paths:
            step -= 1
            if step == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    backups.restore(source, store)
    os._exit(0)

outcomes, step, killed = [], 0, True
while killed:
    step += 1
    store.write_bytes(original)
    child = os.fork() or restore_and_die_before(step)
    killed = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    outcomes.append(sorted(ids_in(store)))
print(json.dumps(outcomes))
"""
"""Restores a backup again and again; each time it is killed before the next step: opening, linking, renaming
or removing a file. Prints what the store holds after each."""


def put(path: Path, *ids: str) -> None:
    store = SqliteStore(path)
    with store.transaction(SHARED, Cause(verb="test"), 1.0) as writer:
        writer.put([Memory(id=id, content=id, created_at=1, updated_at=1) for id in ids])
    store.close()


def ids_in(path: Path) -> set[str]:
    store = SqliteStore(path)
    try:
        kept_aside = backups.manifest_of(path).exists()  # it is only read, as `check` says
        assert kept_aside or [finding.detail for finding in store.check() if not finding.passed] == []
        return {memory.id for memory in store.reader(SHARED).select(Filter(), EVERY)}
    finally:
        store.close()


def python(script: str, *arguments: Path) -> str:
    """The output of a process of its own."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    root = Path(__file__).parent.parent.parent
    return subprocess.run(command, check=True, capture_output=True, text=True, cwd=root).stdout


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "home" / "memory.db"
    put(path, "old", "shared")
    return path


@pytest.fixture
def backup(tmp_path: Path, store: Path) -> Path:
    target = tmp_path / "backup.db"
    opened = SqliteStore(store)
    report = opened.backup(target)
    opened.close()
    assert report.counts["memory"] == 2
    put(store, "later")
    return target


def test_a_restored_backup_is_the_store_and_the_old_one_can_be_had_back(store: Path, backup: Path) -> None:
    backups.verify(backup)
    aside = backups.restore(backup, store)
    assert ids_in(store) == {"old", "shared"}
    assert aside is not None
    backups.verify(aside)
    backups.restore(aside, store)
    assert ids_in(store) == {"old", "shared", "later"}


def test_where_there_was_no_store_a_backup_makes_one(tmp_path: Path, backup: Path) -> None:
    new = tmp_path / "new" / "memory.db"
    assert backups.restore(backup, new) is None
    assert ids_in(new) == {"old", "shared"}


def test_changes_that_are_only_in_the_log_of_a_killed_process_stay_in_the_old_store(
    store: Path, backup: Path
) -> None:
    script = (
        "import os, sys; from tests.store.test_restore_backup import *\n"
        "store = SqliteStore(Path(sys.argv[1]))\n"
        "with store.transaction(SHARED, Cause(verb='test'), 1.0) as writer:\n"
        "    writer.put([Memory(id='logged', content='x', created_at=1, updated_at=1)])\n"
        "os._exit(0)"
    )
    python(script, store)
    assert store.with_name("memory.db-wal").stat().st_size > 0
    aside = backups.restore(backup, store)
    assert not store.with_name("memory.db-wal").exists()
    assert aside is not None
    assert ids_in(store) == {"old", "shared"}
    assert ids_in(aside) == {"old", "shared", "later", "logged"}


def test_a_damaged_store_is_set_aside_as_it_is(store: Path, backup: Path) -> None:
    store.write_bytes(b"no database at all" * 100)
    log = store.with_name("memory.db-wal")
    log.write_bytes(b"of the damaged store")
    aside = backups.restore(backup, store)
    assert aside is not None
    assert not log.exists()
    assert aside.with_name(f"{aside.name}-wal").read_bytes() == b"of the damaged store"
    assert aside.read_bytes().startswith(b"no database")
    assert ids_in(store) == {"old", "shared"}


def test_a_store_that_is_in_use_is_not_replaced(
    store: Path, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backups, "ENDING_SECONDS", 0.0)
    opened = SqliteStore(store)
    with pytest.raises(Invalid, match="in use by another process"):
        backups.restore(backup, store)
    opened.close()
    assert "later" in ids_in(store)


def flip(path: Path, place: int) -> None:
    with path.open("r+b") as file:
        file.seek(place)
        byte = file.read(1)
        file.seek(place)
        file.write(bytes([byte[0] ^ 0xFF]))


def test_a_backup_that_somebody_has_looked_into_is_as_it_was_and_can_be_restored(
    store: Path, backup: Path
) -> None:
    before = {path.name: path.read_bytes() for path in backup.parent.iterdir() if path.is_file()}
    assert ids_in(backup) == {"old", "shared"}
    with pytest.raises(Unavailable, match="is a backup, which is only read"):
        put(backup, "new")
    assert {path.name: path.read_bytes() for path in backup.parent.iterdir() if path.is_file()} == before
    assert backups.verify(backup)[1] == []
    backups.restore(backup, store)
    assert ids_in(store) == {"old", "shared"}


def test_a_backup_that_an_older_lore_has_opened_can_be_restored(store: Path, backup: Path) -> None:
    db = apsw.Connection(str(backup))
    db.execute("PRAGMA journal_mode = WAL").fetchall()
    db.execute("UPDATE usage SET access_count = access_count + 1")
    db.close()
    [warning] = backups.verify(backup)[1]
    assert "was opened or altered since it was made" in warning
    backups.restore(backup, store)
    assert ids_in(store) == {"old", "shared"}


def test_a_backup_that_lost_rows_is_refused_but_by_force(store: Path, backup: Path) -> None:
    db = apsw.Connection(str(backup))
    db.execute("DELETE FROM journal")
    db.close()
    with pytest.raises(Unavailable, match=r"0 × journal.*but its manifest says.*2 × journal.*--force"):
        backups.verify(backup)
    _, [wrong] = backups.verify(backup, force=True)
    assert "was altered" in wrong


def test_a_damaged_backup_is_refused_but_by_force(backup: Path) -> None:
    with apsw.Connection(str(backup)) as db:
        ((page,),) = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'link_target'").fetchall()
    db.close()
    flip(backup, (int(str(page)) - 1) * 4096 + 3)
    with pytest.raises(Unavailable, match=r"(?s)is damaged.*--force"):
        backups.verify(backup)
    assert "is damaged" in backups.verify(backup, force=True)[1][0]


def test_a_damaged_backup_without_its_manifest_is_refused(backup: Path) -> None:
    backups.manifest_of(backup).unlink()
    backups.verify(backup)
    flip(backup, 4096 + 3)
    with pytest.raises(LoreError, match="damaged"):
        backups.verify(backup)


def test_a_backup_of_a_newer_version_and_a_file_of_another_program_are_refused(
    tmp_path: Path, backup: Path
) -> None:
    backups.manifest_of(backup).unlink()
    db = apsw.Connection(str(backup))
    db.execute("INSERT INTO migration VALUES ('9999 later', 1.0)")
    db.close()
    with pytest.raises(Unavailable, match="was written by a newer Lore"):
        backups.verify(backup)
    other = tmp_path / "other.db"
    db = apsw.Connection(str(other))
    db.execute("CREATE TABLE x (y)")
    db.close()
    with pytest.raises(Unavailable, match="another program"):
        backups.verify(other)


def test_the_manifest_names_checksum_schema_and_counts(backup: Path) -> None:
    manifest = json.loads(backups.manifest_of(backup).read_text())
    assert (manifest["format"], manifest["file"]) == ("lore-backup", "backup.db")
    assert (manifest["counts"]["memory"], manifest["size_bytes"]) == (2, backup.stat().st_size)
    assert manifest["schema"][0] == "0001 first schema"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills processes by a signal")
def test_a_restore_that_is_killed_before_any_step_leaves_the_old_or_the_new_store(
    store: Path, backup: Path
) -> None:
    outcomes = json.loads(python(KILLER, backup, store))
    old, new = ["later", "old", "shared"], ["old", "shared"]
    assert outcomes[0] == old
    assert outcomes[-1] == new
    assert len(outcomes) > 10
    assert [one for one in outcomes if one not in (old, new)] == []
