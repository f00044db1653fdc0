"""history, search --as-of, and undo without an argument, as people use them."""

import os
import pty
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.doors.command import Command, read_to_the_end

DAY_SECONDS = 86_400.0


@pytest.fixture
def run(tmp_path: Path) -> Command:
    return Command(tmp_path / "data")


def answered(run: Command, answer: str, *args: str) -> tuple[int, str]:
    """What a command on a terminal shows to a person with this answer, and its exit code."""
    ours, theirs = pty.openpty()
    with run.start(*args, stdin=theirs, stdout=theirs, stderr=theirs) as process:
        os.close(theirs)
        os.write(ours, answer.encode())
        shown = read_to_the_end(ours)
        return process.wait(60), shown.decode()


def test_history_tells_each_change_from_its_earlier_to_its_later_value(run: Command) -> None:
    id = run.keep("the ferry leaves at seven")
    run("forget", id, "--reason", "it sank")
    shown = run("history", id[-8:]).stdout
    assert "stored: 'the ferry leaves at seven'" in shown
    assert re.search(r"forget through cli.*: it sank", shown)
    assert "forgotten_reason: '' → 'it sank'" in shown
    [stored, forgotten] = run.document("history", id)["changes"]
    assert (stored["change"], stored["verb"], stored["surface"]) == ("stored", "remember", "cli")
    assert forgotten["fields"]["forgotten_reason"] == {"from": "", "to": "it sank"}
    assert forgotten["batch"] != stored["batch"]
    assert forgotten["at"].startswith("20")
    assert "unknown memory" in run("history", "ffff", code=1).stderr


def test_a_search_as_of_a_day_leaves_out_what_came_later(run: Command) -> None:
    earlier = run.keep("the walrus sleeps on the pier")
    with closing(sqlite3.connect(run.database)) as database, database:
        for statement in (
            f"UPDATE memory SET created_at = created_at - {3 * DAY_SECONDS}",
            f"UPDATE journal SET at = at - {3 * DAY_SECONDS}",
        ):
            database.execute(statement)
    run("forget", earlier)
    run.keep("the walrus dances on the pier")
    found = run("search", "walrus", "pier", "--as-of", "1d", "--format", "full")
    assert "the walrus sleeps on the pier" in found.stdout
    assert "dances" not in found.stdout
    assert "as it was known on" in found.stderr
    document = run.document("search", "walrus", "pier", "--as-of", "1d")
    assert [hit["memory"]["id"] for hit in document["hits"]] == [earlier]
    assert document["as_of"].startswith("20")
    assert "--as-of" in run("search", "walrus", "--as-of", "someday", code=1).stderr
    assert "deep" in run("search", "walrus", "--as-of", "1d", "--deep", code=1).stderr


def test_undo_without_an_argument_shows_the_last_change_and_asks(run: Command) -> None:
    kept = run.keep("the lighthouse is green")
    run("forget", kept, "--reason", "by mistake")
    code, shown = answered(run, "n\n", "undo")
    assert (code, "Take it back?" in shown, "by mistake" in shown) == (130, True, True)
    assert run.document("status")["counts"]["forgotten"] == 1
    code, shown = answered(run, "y\n", "undo")
    assert (code, "Changed back" in shown) == (0, True)
    assert run.document("status")["counts"]["forgotten"] == 0


def test_undo_without_a_terminal_says_how_and_does_it_only_with_yes(run: Command) -> None:
    kept = run.keep("the lighthouse is green")
    run("forget", kept)
    told = run("undo")
    assert "The last change: forget through cli" in told.stdout
    assert kept[-8:] in told.stdout
    [batch] = re.findall(r"lore undo (\S+)", told.stderr)
    document = run.document("undo")
    assert (document["undone"], document["how"]) == (None, f"lore undo {batch}")
    assert [one["id"] for one in document["last_change"]["changed"]] == [kept]
    assert run.document("status")["counts"]["forgotten"] == 1
    assert run.document("undo", "--yes")["undone"] == batch
    assert run.document("status")["counts"]["forgotten"] == 0


def test_nothing_to_undo_is_said(run: Command) -> None:
    run("forget", run.keep("x"), code=0)
    with closing(sqlite3.connect(run.database)) as database, database:
        database.execute("DELETE FROM journal")
    assert "nothing to take back" in run("undo", code=1).stderr
