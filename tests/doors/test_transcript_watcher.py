"""The daemon reads what agents write down, while they do."""

import json
import logging
import os
import resource
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import anyio
import apsw
import pytest

from lore import Lore
from lore.bookmark import Bookmark
from lore.clock import Clock
from lore.doors.endpoint import Endpoint
from lore.doors.starting import start, stop
from lore.doors.transcript_watcher import RETRY_SECONDS, Transcripts, TranscriptWatcher
from lore.engine.ingest import Ingested
from lore.transcripts.sources import SOURCES, VARIABLES
from lore.transcripts.turns import Transcript
from tests.doors.command import Command
from tests.doors.resident import SECONDS, SETTINGS, Agent, an_endpoint, short_folder, until
from tests.transcripts.writing import CLIENTS, Client, writing


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Of somebody who uses Claude Code."""
    with short_folder() as folder:
        for name, value in SETTINGS.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("HOME", str(folder))
        monkeypatch.setenv("LORE_INGEST_PAUSED", "no")
        for name in VARIABLES:
            monkeypatch.delenv(name, raising=False)
        (folder / ".claude" / "projects" / "-ferry").mkdir(parents=True)
        yield folder


@pytest.fixture
def endpoint(home: Path) -> Iterator[Endpoint]:
    with an_endpoint(home / ".lore") as endpoint:
        yield endpoint


def say(home: Path, number: int, text: str) -> None:
    line = {
        "type": "user",
        "message": {"role": "user", "content": text},
        "uuid": f"{number:08x}-0000-4000-8000-000000000000",
        "timestamp": "2026-11-15T20:00:00.000Z",
        "sessionId": "a-session",
        "cwd": "/gone/ferry",
    }
    with (home / ".claude" / "projects" / "-ferry" / "a-session.jsonl").open("a") as file:
        file.write(json.dumps(line) + "\n")


def heard(agent: Agent, text: str) -> bool:
    found = agent.call("memory_recall", query=text)["memories"]
    return any(memory["content"] == text for memory in found)


def test_new_lines_of_a_transcript_are_ingested(home: Path, endpoint: Endpoint) -> None:
    """What was there before, and what is added while it runs."""
    say(home, 1, "The ferry leaves at noon")
    with Agent(endpoint, LORE_SURFACES="typed") as agent:
        agent.greet()
        until(lambda: heard(agent, "The ferry leaves at noon"))
        say(home, 2, "The harbour closes at ten")
        until(lambda: heard(agent, "The harbour closes at ten"))
    assert "read 1 new turns" in Path(endpoint.log).read_text()


def test_nothing_is_ingested_while_ingestion_is_paused(
    home: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    say(home, 1, "The ferry leaves at noon")
    Path(endpoint.home).mkdir()
    Path(endpoint.home, "config.toml").write_text("[ingestion]\npaused = true\n")
    monkeypatch.delenv("LORE_INGEST_PAUSED")
    start(endpoint)
    with Agent(endpoint, LORE_SURFACES="typed") as agent:
        assert agent.greet().call("memory_recall", query="ferry")["memories"] == []
    assert stop(endpoint)
    assert "new turns" not in Path(endpoint.log).read_text()


def begin_a_new_log(client: Client) -> None:
    """As soon as nobody reads the old one: SQLite does not wait for that by itself."""

    def changed(mode: str) -> bool:
        try:
            client.db.execute(f"PRAGMA journal_mode = {mode}").fetchall()
        except apsw.BusyError:
            return False
        return True

    until(lambda: changed("DELETE"))
    until(lambda: changed("WAL"))


@pytest.mark.parametrize("name", CLIENTS)
def test_rows_in_the_write_ahead_log_of_a_database_are_found(
    home: Path, endpoint: Endpoint, name: str
) -> None:
    """Before the daemon began, after it began, and when the log is a new one."""
    with (
        writing(name, SOURCES[name].place(home, {})) as client,
        Agent(endpoint, LORE_SURFACES="typed") as agent,
    ):
        client.say("one", "The ferry leaves at noon")
        agent.greet()
        until(lambda: heard(agent, "The ferry leaves at noon"))
        size = client.path.stat().st_size
        client.now += 1
        client.say("two", "The harbour closes at ten")
        until(lambda: heard(agent, "The harbour closes at ten"))
        assert client.path.stat().st_size == size
        begin_a_new_log(client)
        client.now += 1
        client.say("three", "The bridge is open")
        until(lambda: heard(agent, "The bridge is open"))


# --- without a daemon
def gathering_of(lore: Lore, home: Path, *names: str, since: float = 0.0) -> TranscriptWatcher:
    wanted = [SOURCES[name] for name in names or SOURCES]
    return TranscriptWatcher(
        lore, Transcripts(sources=wanted, home=home, variables={}, ignore_list=home / "ignore", since=since)
    )


@contextmanager
def no_more_files() -> Iterator[None]:
    """The system opens no more of them for this process, watches included."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("name", CLIENTS)
def test_a_database_is_read_only_when_it_or_its_log_has_changed(
    lore: Lore, tmp_path: Path, name: str
) -> None:
    gathering = gathering_of(lore, tmp_path)
    with writing(name, SOURCES[name].place(tmp_path, {})) as client:
        client.say("one", "The ferry leaves at noon")
        assert [path for path, _ in gathering.changed()] == [client.path]
        assert gathering.read(gathering.changed()).turns
        assert gathering.changed() == []
        client.path.with_name("storage.json").write_text("{}")
        assert gathering.changed() == []
        client.say("two", "The harbour closes at ten")
        assert gathering.read(gathering.changed()).turns == 1
        assert gathering.changed() == []


@pytest.mark.parametrize("name", CLIENTS)
def test_to_read_a_closed_database_is_no_change_of_it(lore: Lore, tmp_path: Path, name: str) -> None:
    """SQLite makes an empty log to read it."""
    gathering = gathering_of(lore, tmp_path)
    with writing(name, SOURCES[name].place(tmp_path, {})) as client:
        client.say("one", "The ferry leaves at noon")
    assert gathering.read(gathering.changed()).turns
    assert gathering.changed() == []


def test_a_file_that_vanishes_before_it_is_read_does_not_keep_others_from_it(
    lore: Lore, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    say(home, 1, "The ferry leaves at noon")
    folder = home / ".claude" / "projects" / "-ferry"
    gone = folder / "gone.jsonl"
    gone.write_text("{}\n")
    gathering = gathering_of(lore, home)
    seen = gathering.changed()
    gone.unlink()
    assert gathering.read(sorted(seen, key=lambda one: one[0] != gone)).turns == 1
    assert "gone.jsonl cannot be read" in caplog.text
    assert list(gathering.failed) == [str(gone)]
    assert gathering.changed() == []
    gone.write_text("{}\n")
    gathering.read(gathering.changed())
    assert gathering.failed == {}


def test_an_unreadable_file_is_logged_once_and_tried_again(
    lore: Lore, clock: Clock, home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Although it is as it was."""
    monkeypatch.setattr("lore.transcripts.databases.BUSY_MILLISECONDS", 1)
    gathering = gathering_of(lore, home, "opencode")
    with writing("opencode", SOURCES["opencode"].place(home, {})) as client:
        client.say("one", "The ferry leaves at noon")
        client.db.execute("PRAGMA journal_mode = DELETE").fetchall()
        client.db.execute("BEGIN EXCLUSIVE")
        for pause in (RETRY_SECONDS, 2 * RETRY_SECONDS):
            assert gathering.read(gathering.changed()).turns == 0
            assert list(gathering.failed) == [str(client.path)]
            assert gathering.changed() == []
            clock.sleep(seconds=pause - 1)
            assert gathering.changed() == []
            clock.sleep(seconds=1)
        assert caplog.text.count("is locked by its program") == 1
        client.db.execute("ROLLBACK")
        assert gathering.read(gathering.changed()).turns
        assert gathering.failed == {}
        assert gathering.changed() == []


def test_what_was_not_written_lately_waits(lore: Lore, home: Path) -> None:
    say(home, 1, "The ferry leaves at noon")
    written = (home / ".claude" / "projects" / "-ferry" / "a-session.jsonl").stat().st_mtime
    assert gathering_of(lore, home, since=written + 1).changed() == []
    assert len(gathering_of(lore, home, since=written - 1).changed()) == 1


@pytest.mark.parametrize("others", [(), (".codex/sessions",)], ids=["the first client", "another client"])
def test_a_clients_folder_that_appears_later_is_watched(
    lore: Lore, tmp_path: Path, others: tuple[str, ...]
) -> None:
    """And what is in it is read: long before the next look that is taken in any case."""
    for folder in others:
        (tmp_path / folder).mkdir(parents=True)
    gathering = gathering_of(lore, tmp_path)
    found: list[int] = []
    first = anyio.Event()

    async def gather() -> None:
        async for _ in gathering.changes(every_seconds=3_600):
            found.extend(done.turns for done in [gathering.read(gathering.changed())] if done.turns)
            if found:
                first.set()
            if len(found) == 2:
                return

    async def write() -> None:
        with anyio.fail_after(SECONDS):
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(gather)
                await anyio.wait_all_tasks_blocked()
                (tmp_path / ".claude" / "projects" / "-ferry").mkdir(parents=True)
                say(tmp_path, 1, "The ferry leaves at noon")
                await first.wait()
                say(tmp_path, 2, "The harbour closes at ten")

    anyio.run(write)
    assert found == [1, 1]


def test_a_watch_that_is_refused_is_tried_again(
    lore: Lore, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """What is written is found without it, only later; and there is a watch as soon as there can be."""
    gathering = gathering_of(lore, home, "claude-code")

    async def looks() -> list[Ingested]:
        found = []
        changes = gathering.changes(every_seconds=0.01)
        await anext(changes)
        with anyio.fail_after(SECONDS):
            await anyio.to_thread.run_sync(lambda: None)  # a thread for the watch, while there can be one
            with no_more_files():
                await anext(changes)
            say(home, 1, "The ferry leaves at noon")
            found.append(gathering.read(gathering.changed()))
            while len(found) < 3:
                await anext(changes)
                found += [done for done in [gathering.read(gathering.changed())] if done.turns]
                say(home, len(found) + 1, "The harbour closes at ten")
        gathering.end()
        assert [None async for _ in changes] in ([], [None])
        return found

    with caplog.at_level(logging.WARNING):
        assert [done.turns for done in anyio.run(looks)] == [1, 1, 1]
    assert "transcripts are only looked at every 0.01 s" in caplog.text


# --- what is hostile or broken
class Misread(Exception):
    """What a mistake in a reader raises."""


def test_a_file_that_no_reader_withstands_is_set_aside_and_the_others_are_read(
    lore: Lore, clock: Clock, home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """For longer each time, however often it changes."""
    say(home, 1, "The ferry leaves at noon")
    poison = home / ".claude" / "projects" / "-ferry" / "poison.jsonl"
    poison.write_text("{}\n")
    os.utime(poison, (1, 1))
    tries: list[Path] = []

    @contextmanager
    def opened(path: Path, bookmarks: Sequence[Bookmark]) -> Iterator[Transcript]:
        if path == poison:
            tries.append(path)
            raise Misread("a mistake of ours")
        with SOURCES["claude-code"].open(path, bookmarks) as transcript:
            yield transcript

    fragile = replace(SOURCES["claude-code"], open=opened)
    gathering = TranscriptWatcher(
        lore, Transcripts(sources=[fragile], home=home, variables={}, ignore_list=home / "ignore")
    )
    assert gathering.read(gathering.changed()).turns == 1
    assert gathering.failed == {str(poison): "Misread: a mistake of ours"}
    for pause in (RETRY_SECONDS, 2 * RETRY_SECONDS):
        poison.write_text(poison.read_text() + "{}\n")
        clock.sleep(seconds=pause - 1)
        assert gathering.changed() == []
        clock.sleep(seconds=1)
        gathering.read(gathering.changed())
    assert len(tries) == 3
    assert caplog.text.count("poison.jsonl: Misread") == 1
    poison.unlink()
    assert gathering.changed() == []
    assert gathering.failed == {}


@pytest.mark.parametrize("name", ["claude-code", "codex", "gemini", "cursor-cli"])
def test_a_transcript_whose_name_is_no_text_is_read_once(lore: Lore, home: Path, name: str) -> None:
    source = SOURCES[name]
    folder = source.place(home, {}) / "p" / ("agent-transcripts" if name == "cursor-cli" else "chats")
    folder.mkdir(parents=True)
    path = os.path.join(os.fsencode(folder), b"session-\xff\xfe.jsonl")
    with open(path, "wb") as file:
        file.write(b'{"type": "user"}\n')
    gathering = gathering_of(lore, home, name)
    [(found, _)] = gathering.changed()
    assert os.fsencode(found) == path
    gathering.read([(found, source)])
    assert gathering.failed == {}
    assert gathering.changed() == []
    [mark] = lore.store.reader(lore.namespace).records(Bookmark)
    assert mark.path.endswith("session-\\xff\\xfe.jsonl")


def test_folders_that_cannot_be_looked_into_hide_only_themselves(lore: Lore, home: Path) -> None:
    """A loop of links, a pipe that has the name of a transcript, folders without end."""
    say(home, 1, "The ferry leaves at noon")
    projects = home / ".claude" / "projects"
    (projects / "round").symlink_to(projects)
    (projects / "-ferry" / "itself.jsonl").symlink_to(projects / "-ferry" / "itself.jsonl")
    os.mkfifo(projects / "-ferry" / "pipe.jsonl")
    deep = projects.joinpath(*["d"] * 60)
    deep.mkdir(parents=True)
    (deep / "a.jsonl").write_text("{}\n")
    gathering = gathering_of(lore, home, "claude-code")
    assert [path.name for path, _ in gathering.changed()] == ["a-session.jsonl"]
    reasons = {Path(name).name: why for name, why in gathering.unseen.items()}
    assert reasons == {
        "itself.jsonl": "cannot be looked at: Too many levels of symbolic links",
        "pipe.jsonl": "is not a regular file and is passed over",
        "d": "lies more than 40 folders deep and is passed over",
    }


def test_a_daemon_survives_a_hostile_home_and_says_what_it_passes_over(
    home: Path, endpoint: Endpoint
) -> None:
    """`lore daemon status`, `lore doctor`, the status file and the log name each, and the rest is read."""
    say(home, 1, "The ferry leaves at noon")
    projects = home / ".claude" / "projects"
    with open(os.path.join(os.fsencode(projects), b"-ferry", b"\xff\xfe.jsonl"), "wb") as file:
        file.write(b'\xff\xfe\n[]\nnull\n{"type": "user", "timestamp": 9e14, "message": "Hi", "uuid": 7}\n')
    (projects / "round").symlink_to(projects)
    os.mkfifo(projects / "pipe.jsonl")
    database = SOURCES["opencode"].place(home, {}) / "opencode.db"
    database.parent.mkdir(parents=True)
    database.write_bytes(b"SQLite format 3\0" + os.urandom(8192))
    with Agent(endpoint, LORE_SURFACES="typed") as agent:
        agent.greet()
        until(lambda: heard(agent, "The ferry leaves at noon"))
        say(home, 2, "The harbour closes at ten")
        until(lambda: heard(agent, "The harbour closes at ten"))
        run = Command(home / ".lore")
        until(lambda: "opencode.db" in Path(endpoint.status).read_text())
        told = [
            run("daemon", "status").stdout,
            run("doctor", code=1).stdout.replace("\n", ""),
            Path(endpoint.status).read_text(),
            Path(endpoint.log).read_text(),
        ]
    for text in told:
        assert "pipe.jsonl" in text
        assert "opencode.db" in text
    assert "reading transcripts" not in told[0]
