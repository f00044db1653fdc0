"""`lore backup`: a complete copy of a store in use, which opens as it is."""

import json
import shutil
from pathlib import Path

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


def test_the_commands_that_it_names_restore_the_copy(run: Command, tmp_path: Path) -> None:
    run("remember", "green tea")
    hint = run("backup", str(tmp_path / "copy.db")).stderr.splitlines()
    run("remember", "black tea")
    assert hint[1:] == [
        "  lore stop",
        f"  rm -f {run.database}-wal {run.database}-shm",
        f"  cp {tmp_path / 'copy.db'} {run.database}",
    ]
    shutil.copy(tmp_path / "copy.db", run.database)
    assert contents(run, str(run.database)) == ["green tea"]


def test_without_a_name_it_goes_to_the_folder_for_backups(run: Command) -> None:
    run("remember", "green tea")
    document = run.document("backup")
    copy = Path(document["file"])
    assert copy.parent == run.data_dir / "backups"
    assert document == {"file": str(copy), "size_bytes": copy.stat().st_size, "store": str(run.database)}


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
