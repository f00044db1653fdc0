"""`lore ingest`: which transcripts it reads, for how long, and what it says about it."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from lore.doors.cli.ingest import MANY
from lore.transcripts.sources import SOURCES, VARIABLES, source_of
from tests.doors.command import Command
from tests.doors.resident import SECONDS
from tests.transcripts.writing import Client, writing

LONG_AGO = 1_700_000_000


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def run(home: Path) -> Command:
    return Command(home / ".lore")


@pytest.fixture
def opencode(home: Path) -> Iterator[Client]:
    with writing("opencode", SOURCES["opencode"].place(home, {})) as client:
        yield client


@pytest.fixture
def cursor(home: Path) -> Iterator[Client]:
    with writing("cursor-ide", SOURCES["cursor-ide"].place(home, {})) as client:
        client.say("one", "The ferry leaves at noon")
        yield client


def say(folder: Path, session: str, number: int = 1) -> Path:
    """In a transcript of Claude Code in this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    line = {
        "type": "user",
        "message": {"role": "user", "content": f"turn {number} of {session}"},
        "uuid": f"{session}-{number}",
        "timestamp": "2026-11-15T20:00:00.000Z",
        "sessionId": session,
        "cwd": "/gone/ferry",
    }
    with (path := folder / f"{session}.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")
    return path


def grow_old(*paths: Path) -> None:
    for path in paths:
        os.utime(path, (LONG_AGO, LONG_AGO))


@pytest.mark.usefixtures("opencode", "cursor")
def test_all_transcripts_of_all_clients_are_read_once(home: Path, run: Command) -> None:
    say(home / ".claude" / "projects" / "-ferry", "new")
    assert "Read 3 transcripts: 6 new turns, 3 new sessions." in run("ingest").stdout
    again = run.document("ingest", "--once")
    assert (again["files"], again["turns"], again["left_out"], again["failed"]) == (3, 0, 0, {})


def test_it_says_that_much_waits_to_be_embedded_and_who_does_that(home: Path, run: Command) -> None:
    folder = home / ".claude" / "projects" / "-ferry"
    for number in range(MANY):
        say(folder, "one", number)
    waiting = f"{MANY + 2} memories wait to be embedded: `lore start` has a daemon do that; until then they"
    assert waiting in run("ingest").stderr
    run("consolidate")
    assert "wait" not in run("ingest").stderr


@pytest.mark.usefixtures("opencode", "cursor")
def test_only_those_of_some_clients_are_read(run: Command) -> None:
    assert run.document("ingest", "--source", "opencode")["turns"] == 4
    assert run.document("ingest", "--source", "opencode", "--source", "cursor-ide")["turns"] == 1


def test_what_is_older_is_left_out_and_read_whole_another_time(home: Path, run: Command) -> None:
    folder = home / ".claude" / "projects" / "-ferry"
    grow_old(say(folder, "old"))
    say(folder, "new")
    result = run("ingest", "--since", "2w")
    assert "Read 1 transcript: 1 new turn" in result.stdout
    assert result.stderr == "left out: 1 transcript not written since 2w\n"
    assert run.document("ingest", "--since", "2w")["left_out"] == 1
    done = run.document("ingest")
    assert (done["files"], done["turns"], done["left_out"]) == (2, 1, 0)


def test_a_database_is_as_young_as_its_log(run: Command, opencode: Client) -> None:
    grow_old(opencode.path)
    assert run.document("ingest", "--since", "1d")["turns"] == 4
    opencode.say("one", "first")
    grow_old(opencode.path, opencode.path.with_name("opencode.db-wal"))
    assert run.document("ingest", "--since", "1d")["left_out"] == 1
    assert run.document("ingest")["turns"] == 1


def test_a_file_that_is_not_there_is_no_old_one(run: Command, home: Path) -> None:
    path = str(home / ".claude" / "gone.jsonl")
    done = run("ingest", path, "--since", "1d", "--json", code=1)
    assert list(json.loads(done.stdout)["failed"]) == [path]
    assert run("ingest", "gone.jsonl", code=1).stderr == "lore: there is no file or folder gone.jsonl\n"


def test_a_time_that_is_none_is_refused(run: Command) -> None:
    assert (
        "--since: cannot read 'yesterday' as a time" in run("ingest", "--since", "yesterday", code=1).stderr
    )


# --- paths
@pytest.mark.usefixtures("opencode", "cursor")
def test_a_folder_stands_for_lines_and_databases_in_it(home: Path, run: Command) -> None:
    say(home / ".claude" / "projects" / "-ferry", "new")
    assert run.document("ingest", str(home), "--source", "opencode")["turns"] == 4
    done = run.document("ingest", str(home))
    assert (done["files"], done["turns"], done["failed"]) == (3, 2, {})


def test_a_database_that_cannot_be_read_keeps_nothing_else_from_it(home: Path, run: Command) -> None:
    broken = home / "a" / "opencode.db"
    broken.parent.mkdir()
    broken.write_bytes(b"not a database at all " * 100)
    say(home / "b" / ".claude", "new")
    done = json.loads(run("ingest", str(home), "--json", code=1).stdout)
    assert (done["turns"], list(done["failed"])) == (1, [str(broken)])
    assert "no SQLite database" in done["failed"][str(broken)]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/home/ada/.claude/projects/-a/b.jsonl", "claude-code"),
        ("/home/ada/.local/share/opencode/opencode.db", "opencode"),
        ("/mnt/old/.claude/opencode.db", "opencode"),
        ("/home/ada/.config/Cursor/User/globalStorage/state.vscdb", "cursor-ide"),
        ("/home/ada/Library/Application Support/Cursor/User/globalStorage/state.vscdb", "cursor-ide"),
    ],
)
def test_a_path_tells_whose_it_is(path: str, name: str) -> None:
    assert source_of(Path(path)).name == name


def test_a_path_that_does_not_tell_whose_it_is_has_to_be_said(run: Command, home: Path) -> None:
    path = say(home / ".config" / "Cursor", "new")
    assert "name one with --source: claude-code, codex" in run("ingest", str(path), code=1).stderr


# --- on and on
def test_only_where_clients_write_can_be_followed(run: Command, home: Path) -> None:
    assert "leave out PATH" in run("ingest", "--follow", str(home), code=1).stderr


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_following_reads_on_until_it_is_ended(
    home: Path, run: Command, opencode: Client, signum: signal.Signals
) -> None:
    folder = home / ".claude" / "projects" / "-ferry"
    grow_old(say(folder, "old"))
    process = run.start(
        "ingest", "--follow", "--since", "1d", "--json", stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert process.stderr
        assert b"Ctrl-C ends it" in process.stderr.readline()
        assert b"4 new turns" in process.stderr.readline()
        opencode.say("one", "first")
        assert b"1 new turn" in process.stderr.readline()
        say(folder, "old", 2)
        assert b"2 new turns" in process.stderr.readline()
        process.send_signal(signum)
        out, err = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.communicate(timeout=SECONDS)
    assert (process.returncode, err) == (0, b"")
    done = json.loads(out)
    assert (done["files"], done["turns"], done["failed"]) == (2, 7, {})
    assert run.document("ingest")["turns"] == 0
