"""`lore migrate`: what it prints, refuses and warns of."""

from pathlib import Path

import pytest

from lore.filelock import holding
from tests.doors.command import Command


@pytest.fixture
def run(tmp_path: Path) -> Command:
    command = Command(tmp_path / "data")
    command.keep("green tea")
    return command


def test_a_store_is_copied_and_can_be_used_as_it_says(run: Command, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    planned = run("migrate", str(run.database), str(copy), "--dry-run")
    assert planned.stdout.startswith("4 rows would be copied")
    assert not copy.exists()
    done = run("migrate", f"sqlite:{run.database}", f"sqlite://{copy}")
    words = " ".join(done.stdout.split())
    assert "1 memory, 0 links, 1 journal entry. Counts and checksums of all tables are equal." in words
    assert f"Use it: lore --db {copy} status" in done.stderr
    assert "daemon" not in done.stderr
    [hit] = run.document("--db", str(copy), "search", "tea")["hits"]
    assert hit["memory"]["content"] == "green tea"


def test_a_document_has_the_counts_and_checksums_of_all_tables(run: Command, tmp_path: Path) -> None:
    report = run.document("migrate", str(run.database), str(tmp_path / "copy.db"))
    assert (report["rows"]["memory"], report["verified"]) == (1, True)
    assert len(report["checksums"]["memory"]) == 32
    assert report["rows"].keys() == report["checksums"].keys()


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("{store}", "mysql://host/db", "unknown database 'mysql'; known: postgresql, sqlite"),
        ("{store}", "sqlite:{store}", "source and target are the same"),
        ("{folder}/none.db", "{folder}/copy.db", "there is no store to copy"),
        ("{store}", "postgresql://me:s3cret@localhost:1/lore", "postgresql://me@localhost:1/lore: "),
        ("sqlite:", "{folder}/copy.db", "sqlite: needs the path of a file"),
    ],
)
def test_a_wrong_place_is_an_error_that_names_it(
    source: str, target: str, message: str, run: Command, tmp_path: Path
) -> None:
    places = (text.format(store=run.database, folder=tmp_path) for text in (source, target))
    refused = run("migrate", *places, code=1)
    assert message in refused.stderr
    assert "s3cret" not in refused.output
    assert not (tmp_path / "copy.db").exists()


def test_a_daemon_at_the_source_is_named_and_one_at_the_target_is_refused(
    run: Command, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.db"
    with holding(f"{copy}.serving", 0.0):
        refused = run("migrate", str(run.database), str(copy), code=1)
    assert "a daemon or server uses" in refused.stderr
    with holding(f"{run.database}.serving", 0.0):
        done = run("migrate", str(run.database), str(copy))
    assert "Its later changes are not copied" in done.stderr
    assert "lore stop" in done.stderr
