"""`lore scrub`: says what it removes, removes it, and names the copies that keep it."""

import random
import string
from pathlib import Path

import apsw
import pytest

from tests.doors.command import Command

SECRET = "ghp_" + "".join(random.Random(4).choices(string.ascii_letters + string.digits, k=36))


@pytest.fixture
def run(tmp_path: Path) -> Command:
    return Command(tmp_path / "data")


def test_scrub_removes_what_an_older_lore_has_stored(run: Command, tmp_path: Path) -> None:
    run("remember", "the station logs in with stand_in_for_it")
    [database] = (tmp_path / "data").glob("*.db")
    connection = apsw.Connection(str(database))
    connection.execute("UPDATE memory SET content = replace(content, 'stand_in_for_it', ?)", (SECRET,))
    connection.close()
    run("backup")
    told = run("scrub", "--dry-run").stdout
    assert "Would clean 1 memory" in told
    assert "github token" in told
    document = run.document("scrub")
    assert (document["rows"], document["kinds"]) == ({"memory": 1}, {"github token": 1})
    assert len(document["backups"]) == 1
    done = run("scrub")
    assert "No secrets found." in done.stdout
    assert SECRET.encode() not in database.read_bytes()
    assert "logs in with [redacted: github token]" in run("search", "station").stdout


def test_scrub_of_no_store_says_so(run: Command) -> None:
    assert "there is nothing to scrub" in run("scrub", code=1).stderr
