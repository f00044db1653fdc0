"""`lore backup` and `lore restore-backup`: a complete copy of a store in use, and the way back."""

import json
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from lore.doors import starting
from tests.doors.command import Command
from tests.doors.resident import an_endpoint, pid_of, short_folder


@pytest.fixture
def run(tmp_path: Path) -> Command:
    return Command(tmp_path / "data")


def contents(run: Command, database: str) -> list[str]:
    """What a store holds, sorted."""
    listed = run.document("--db", database, "search", "--everywhere", "tea")["hits"]
    return sorted(hit["memory"]["content"] for hit in listed)


def test_the_copy_opens_and_has_the_same_contents(run: Command, tmp_path: Path) -> None:
    run("remember", "green tea")
    run("remember", "black tea")
    copy = tmp_path / "copy.db"
    done = run("backup", str(copy))
    assert done.stdout.startswith(f"Copied the store to {copy} (")
    assert contents(run, str(copy)) == ["black tea", "green tea"]
    assert copy.stat().st_mode & 0o777 == 0o600


def test_the_store_of_a_running_daemon_is_copied_as_it_is_at_that_moment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LORE_EMBEDDING_MODEL", "hash")
    with short_folder() as folder, an_endpoint(folder) as place:
        run = Command(folder)
        starting.start(place)
        run("remember", "green tea")
        assert run.database.with_name("memory.db-wal").stat().st_size > 0
        copy = folder / "copy.db"
        run("backup", str(copy))
        run("remember", "black tea")
        assert contents(run, str(copy)) == ["green tea"]
        assert pid_of(place) > 0


def test_the_command_that_it_names_restores_the_copy(run: Command, tmp_path: Path) -> None:
    run("remember", "green tea")
    hint = run("backup", str(tmp_path / "copy.db")).stderr.splitlines()
    run("remember", "black tea")
    assert hint[1:] == [f"  lore restore-backup {tmp_path / 'copy.db'}"]
    done = run(*hint[1].split()[1:], "--yes")
    assert done.stdout == f"Restored {tmp_path / 'copy.db'} (1 memory) as {run.database}.\n"
    assert contents(run, str(run.database)) == ["green tea"]
    run(*done.stderr.splitlines()[-1].split()[1:], "--yes")
    assert contents(run, str(run.database)) == ["black tea", "green tea"]


def test_a_restore_asks_before_it_replaces_the_store(run: Command, tmp_path: Path) -> None:
    run("remember", "green tea")
    run("backup", str(tmp_path / "copy.db"))
    run("remember", "black tea")
    error = run("restore-backup", str(tmp_path / "copy.db"), input="y\n", code=1).stderr
    assert error == "lore: this replaces the store; give --yes to confirm it\n"
    assert contents(run, str(run.database)) == ["black tea", "green tea"]


def test_a_backup_without_some_of_its_rows_is_refused_but_by_force(run: Command, tmp_path: Path) -> None:
    run("remember", "green tea")
    copy = tmp_path / "copy.db"
    run("backup", str(copy))
    with closing(apsw.Connection(str(copy))) as db:
        db.execute("DELETE FROM journal")
    error = json.loads(run("restore-backup", str(copy), "--yes", "--json", code=1).stderr)
    assert "was altered: it holds" in error["error"]
    assert "--force" in error["error"]
    assert contents(run, str(run.database)) == ["green tea"]
    done = run("restore-backup", str(copy), "--yes", "--force")
    assert "was altered: it holds" in done.stderr
    assert done.stdout.startswith(f"Restored {copy}")


def test_a_copy_can_be_looked_into_before_it_is_restored(run: Command, tmp_path: Path) -> None:
    run("remember", "green tea")
    copy = tmp_path / "copies" / "copy.db"
    copy.parent.mkdir()
    run("backup", str(copy))
    before = {path.name: path.read_bytes() for path in copy.parent.iterdir()}
    run("--db", str(copy), "status")
    assert contents(run, str(copy)) == ["green tea"]
    assert {path.name: path.read_bytes() for path in copy.parent.iterdir()} == before
    assert "is a backup, which is only read" in run("--db", str(copy), "remember", "x", code=1).stderr
    assert run("restore-backup", str(copy), "--yes").stdout.startswith(f"Restored {copy} (1 memory)")


def test_a_restore_is_refused_while_a_daemon_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LORE_EMBEDDING_MODEL", "hash")
    with short_folder() as folder, an_endpoint(folder) as place:
        run = Command(folder)
        run("remember", "green tea")
        run("backup", str(folder / "copy.db"))
        starting.start(place)
        run("remember", "black tea")
        error = run("restore-backup", str(folder / "copy.db"), "--yes", code=1).stderr
        assert "a daemon or server uses" in error
        assert "lore stop" in error
        assert contents(run, str(run.database)) == ["black tea", "green tea"]
        starting.stop(place)
        document = run.document("restore-backup", str(folder / "copy.db"), "--yes")
        assert document["counts"]["memories"] == 1
        assert contents(run, str(run.database)) == ["green tea"]


def test_older_copies_are_deleted_beyond_those_to_keep(run: Command, tmp_path: Path) -> None:
    run("remember", "green tea")
    folder = tmp_path / "copies"
    folder.mkdir()
    old = [folder / f"memory-2020010{day}-000000.db" for day in (1, 2, 3)]
    others = [folder / "memory-mine.db", folder / "memory-20200101-000000-before-0002.db"]
    for path in (*old, *others, folder / f"{old[0].name}.manifest.json"):
        path.touch()
    document = run.document("backup", str(folder), "--keep", "2")
    assert document["removed"] == [str(old[0]), str(old[1])]
    left = {path.name for path in folder.iterdir()}
    assert left == {old[2].name, *(path.name for path in others), *(
        Path(document[name]).name for name in ("file", "manifest")
    )}  # fmt: skip
    assert "give a folder" in run("backup", str(tmp_path / "one.db"), "--keep", "2", code=1).stderr


def test_without_a_name_it_goes_to_the_folder_for_backups(run: Command) -> None:
    run("remember", "green tea")
    document = run.document("backup")
    copy = Path(document["file"])
    assert copy.parent == run.data_dir / "backups"
    assert (document["store"], document["size_bytes"]) == (str(run.database), copy.stat().st_size)
    assert document["counts"]["memory"] == 1


def test_a_backup_into_a_folder_gets_a_file_name_of_its_own(run: Command, tmp_path: Path) -> None:
    run("remember", "green tea")
    assert Path(run.document("backup", str(tmp_path))["file"]).parent == tmp_path


def test_a_file_is_overwritten_only_by_force(run: Command, tmp_path: Path) -> None:
    run("remember", "green tea")
    mine = tmp_path / "mine.txt"
    mine.write_text("mine")
    assert run("backup", str(mine), code=1).stderr == f"lore: {mine} exists; --force overwrites it\n"
    assert mine.read_text() == "mine"
    run("backup", str(mine), "--force")
    assert contents(run, str(mine)) == ["green tea"]


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_a_backup_cannot_overwrite_the_store_itself(run: Command, force: tuple[str, ...]) -> None:
    run("remember", "green tea")
    run("backup", str(run.database), *force, code=1)
    assert contents(run, str(run.database)) == ["green tea"]


def test_a_missing_backup_folder_is_named(run: Command, tmp_path: Path) -> None:
    run("remember", "green tea")
    error = run("backup", str(tmp_path / "usb" / "copy.db"), code=1).stderr
    assert error == f"lore: there is no folder {tmp_path / 'usb'} for the copy\n"


def test_where_nothing_is_stored_there_is_nothing_to_copy(run: Command) -> None:
    result = run("backup", "--json", code=1)
    assert json.loads(result.stderr)["kind"] == "NotFound"
    assert "does not exist yet" in result.stderr
    assert not run.data_dir.exists()
