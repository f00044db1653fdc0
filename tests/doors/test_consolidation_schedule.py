"""A daemon consolidates without a request: at intervals, at a backlog of sessions, and before it exits."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import fields, replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from lore import Lore
from lore.clock import Clock
from lore.config import SETTINGS as ALL_SETTINGS
from lore.config import Config, of_daemon
from lore.connecting import wire
from lore.doors.daemon import TICK_SECONDS
from lore.doors.daemon_status import StatusFile
from lore.doors.endpoint import Endpoint
from lore.doors.starting import ping, start, stop
from lore.embed.hashing import HashEmbedder
from lore.engine.consolidate.backlog import ATTEMPTS, runs
from lore.engine.consolidation_run import LEASE_SECONDS, RUNNING_JOB, ConsolidationRun, Ended, language_models
from lore.engine.jobs import Jobs
from lore.engine.schedule import FIRST_SECONDS, RETRY_SECONDS, Schedule
from lore.errors import Unavailable
from lore.filelock import is_held
from lore.llm.base import OverBudget, Prompt
from lore.llm.scripted import ScriptedModel
from lore.model import SESSION, Cause, Draft, Filter
from lore.settings import ConsolidationSettings, Tuning
from lore.store.records import DigestProgress
from lore.transcripts.sources import SOURCES
from lore.vectors import Vectors
from tests.doors.resident import (
    SECONDS,
    SETTINGS,
    Agent,
    an_endpoint,
    short_folder,
    status,
    until,
    writers_waiting,
)
from tests.engine.consolidate.helpers import extraction, item
from tests.llm.serving import misbehaving

INTERVAL = 7200.0
FRAGMENTS = Filter(kinds=frozenset({"fragment"}))


def written(folder: Path, session: str, turns: int = 3) -> Path:
    """A transcript of Claude Code in which something worth knowing was said long ago."""
    sentences = (
        f"We decided to use Postgres for the {session} service because it has row level security.",
        f"I prefer short names in the {session} service.",
        f"The {session} service listens on port 4000.",
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session}.jsonl"
    with path.open("w") as file:
        for number in range(turns):
            line: dict[str, Any] = {"type": "user", "uuid": f"{session}-{number}", "sessionId": session}
            line |= {"message": {"role": "user", "content": sentences[number % len(sentences)]}}
            line |= {"timestamp": f"2026-01-15T20:00:{number:02}.000Z", "cwd": "/gone/ferry"}
            file.write(json.dumps(line) + "\n")
    return path


def converse(lore: Lore, folder: Path, *sessions: str) -> None:
    for session in sessions:
        assert list(lore.ingest(written(folder, session), SOURCES["claude-code"]))


def fail_digest(lore: Lore, **failure: Any) -> None:
    """As if this had become of the only conversation that there is."""
    [session] = lore.select(Filter(kinds=frozenset({SESSION})), 2)
    with lore.store.transaction(lore.namespace, Cause(verb="test"), lore.clock()) as writer:
        writer.put_records([DigestProgress(session=session.id, **failure)])


@pytest.fixture
def clock() -> Clock:
    """Of a day after the conversations."""
    return Clock("2027-01-01T00:00:00")


@pytest.fixture
def lore(lore: Lore) -> Lore:
    return replace(lore, tuning=replace(lore.tuning, consolidation_interval=INTERVAL, idle_sessions=2))


# --- when
def test_consolidation_is_due_a_minute_after_the_start_and_then_once_in_an_interval(
    lore: Lore, clock: Clock
) -> None:
    lore.remember(Draft(content="The ferry leaves at noon"))
    schedule = Schedule(lore)
    assert not schedule.due()
    clock.sleep(seconds=FIRST_SECONDS)
    assert schedule.due()
    schedule.run()
    assert len(runs(lore.store.reader(lore.namespace))) == 1
    clock.sleep(seconds=INTERVAL - 1)
    assert not schedule.due()
    clock.sleep(seconds=1)
    assert schedule.due()


def test_an_interval_of_zero_turns_scheduled_consolidation_off(lore: Lore) -> None:
    never = Schedule(replace(lore, tuning=replace(lore.tuning, consolidation_interval=0.0)))
    assert not never.enabled
    assert not never.needed_before_exit()
    assert Schedule(lore).enabled


def test_consolidation_of_an_empty_store_is_never_due(lore: Lore, clock: Clock) -> None:
    schedule = Schedule(lore)
    clock.sleep(seconds=INTERVAL)
    assert not schedule.due()


def test_of_several_processes_one_consolidates(lore: Lore, clock: Clock) -> None:
    lore.remember(Draft(content="The ferry leaves at noon"))
    schedule = [Schedule(lore), Schedule(lore)]
    clock.sleep(seconds=FIRST_SECONDS)
    assert [one.due() for one in schedule] == [True, False]
    clock.sleep(seconds=RETRY_SECONDS)
    assert [one.due() for one in schedule] == [True, False], "the first has not come back"


def test_a_run_with_the_clock_ahead_does_not_postpone_the_next(
    lore: Lore, clock: Clock, tmp_path: Path
) -> None:
    """By a year: when the clock is right again, all goes on as if that run had never been."""
    clock.sleep(days=365)
    converse(lore, tmp_path, "ferry")
    schedule = Schedule(lore)
    clock.sleep(seconds=FIRST_SECONDS)
    assert schedule.due()
    schedule.run()
    jobs = Jobs(lore.store, lore.namespace)
    assert jobs.claim(RUNNING_JOB, clock(), clock() + LEASE_SECONDS) is not None, "one that is killed"
    clock.sleep(days=-365)
    assert schedule.due()
    schedule.run()
    found = runs(lore.store.reader(lore.namespace))
    assert [run["began_at"] for run in found] == [clock()]
    assert not schedule.due()
    clock.sleep(seconds=INTERVAL)
    assert schedule.due()


def test_a_turn_of_the_future_does_not_keep_its_conversation_from_being_digested(
    lore: Lore, clock: Clock, tmp_path: Path
) -> None:
    clock.sleep(days=365)
    late = written(tmp_path, "ferry")
    late.write_text(late.read_text().replace("2026-01-15", "2027-12-01"))
    assert list(lore.ingest(late, SOURCES["claude-code"]))
    clock.sleep(days=-365)
    fail_digest(lore, attempts=1, retry_at=clock() + 365 * 86_400, error="it was away")
    schedule = Schedule(lore)
    clock.sleep(seconds=FIRST_SECONDS)
    assert schedule.due()
    schedule.run()
    assert lore.staged() == []


def test_enough_conversations_make_consolidation_due_before_the_interval_ends(
    lore: Lore, clock: Clock, tmp_path: Path
) -> None:
    converse(lore, tmp_path, "ferry")
    schedule = Schedule(lore)
    clock.sleep(seconds=FIRST_SECONDS)
    assert schedule.due()
    schedule.run()
    assert lore.count(FRAGMENTS)
    converse(lore, tmp_path, "tug")
    lore.embed_pending()
    assert not schedule.due()
    converse(lore, tmp_path, "barge")
    assert schedule.due()
    schedule.run()
    assert lore.staged() == []
    assert not schedule.due()


def test_what_is_still_being_said_waits_but_keeps_awake(lore: Lore, clock: Clock, tmp_path: Path) -> None:
    converse(lore, tmp_path, "ferry")
    [one] = lore.staged()
    clock.sleep(seconds=one.session.created_at + lore.tuning.idle_threshold - clock())
    schedule = Schedule(lore)
    assert schedule.needed_before_exit()
    assert not schedule.due()
    clock.sleep(seconds=60)
    assert schedule.due(), "before dozing it does not take a second one, nor a minute after the start"
    schedule.run()
    assert not schedule.needed_before_exit()


@pytest.mark.parametrize(
    "failed",
    [
        {"attempts": 1, "retry_at": Clock("2027-01-01T00:15:00")()},
        {"attempts": ATTEMPTS, "retry_at": 1.0},
    ],
)
def test_a_failed_conversation_does_not_keep_the_daemon_running(
    lore: Lore, tmp_path: Path, failed: dict[str, Any]
) -> None:
    converse(lore, tmp_path, "ferry")
    schedule = Schedule(lore)
    assert schedule.needed_before_exit()
    fail_digest(lore, error="no answer", **failed)
    assert not schedule.needed_before_exit()
    assert not schedule.due()


def test_an_unreachable_language_model_does_not_keep_the_daemon_running(
    lore: Lore, clock: Clock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The conversation is as it was; but it is not tried again and again before dozing."""
    converse(lore, tmp_path, "ferry")

    def away(prompt: Prompt) -> OverBudget:
        return OverBudget("no credit is left", resumes=None)

    schedule = Schedule(replace(lore, model=ScriptedModel(away)))
    assert schedule.needed_before_exit()
    assert schedule.due()
    schedule.run()
    assert [one.attempts for one in lore.staged()] == [0]
    assert "no credit is left" in caplog.text
    assert not schedule.needed_before_exit()
    clock.sleep(seconds=FIRST_SECONDS)
    assert not schedule.due()
    clock.sleep(seconds=INTERVAL)
    assert schedule.due()


def test_memories_are_embedded_before_consolidation_is_due(
    lore: Lore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lore.engine.schedule.BACKLOG", 1)
    lore.remember_all([Draft(content="The ferry leaves at noon"), Draft(content="The tug is late")])
    schedule = Schedule(lore)
    clock.sleep(seconds=FIRST_SECONDS)
    assert not schedule.due()
    lore.embed_pending()
    assert schedule.due()


class Broken(HashEmbedder):
    """Fails as nobody thought it could."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise RuntimeError("a mistake of ours")


def test_an_unexpected_error_in_consolidation_does_not_end_the_daemon(
    config: Config, caplog: pytest.LogCaptureFixture, clock: Clock
) -> None:
    lore = wire(config, embedder=Broken(), clock=clock)
    lore.remember(Draft(content="The ferry leaves at noon"))
    schedule = Schedule(lore)
    schedule.run()
    assert "consolidation failed" in caplog.text
    assert "a mistake of ours" in caplog.text
    assert not schedule.running
    lore.close()


# --- one at a time, and its end
def test_a_second_consolidation_at_the_same_time_is_refused(lore: Lore, clock: Clock, tmp_path: Path) -> None:
    """Until it has ended, or was silent for so long that it must have been killed."""
    converse(lore, tmp_path, "ferry")

    def meanwhile(phase: str, done: int, total: int) -> None:
        with pytest.raises(Unavailable, match="another process consolidates this store"):
            ConsolidationRun(lore).run()
        clock.sleep(seconds=LEASE_SECONDS / 2)

    ConsolidationRun(lore, meanwhile).run()
    ConsolidationRun(lore).run()
    Jobs(lore.store, lore.namespace).claim(RUNNING_JOB, clock(), clock() + LEASE_SECONDS)
    with pytest.raises(Unavailable, match="within 10 minutes"):
        ConsolidationRun(lore).run()
    assert not ConsolidationRun(lore).run(dry=True).applied
    clock.sleep(seconds=LEASE_SECONDS)
    ConsolidationRun(lore).run()


def test_consolidation_can_be_ended_between_two_conversations_and_keeps_its_results(
    lore: Lore, tmp_path: Path
) -> None:
    converse(lore, tmp_path, "ferry", "tug", "barge")

    def end_after_the_second(phase: str, done: int, total: int) -> None:
        if (phase, done) == ("digest", 1):
            night.end()

    night = ConsolidationRun(lore, end_after_the_second)
    with pytest.raises(Ended, match="in digest, after 2 of 3"):
        night.run()
    assert len(lore.staged()) == 1
    assert lore.count(FRAGMENTS)
    ConsolidationRun(lore).run()
    assert lore.staged() == []


def test_ending_consolidation_does_not_wait_for_a_language_model(lore: Lore, tmp_path: Path) -> None:
    """The question is asked again the next time; the conversation has not failed."""
    converse(lore, tmp_path, "ferry")
    question_sent, answered = Event(), Event()

    def slow(prompt: Prompt) -> str:
        question_sent.set()
        answered.wait(SECONDS)
        return "too late"

    night = ConsolidationRun(replace(lore, model=ScriptedModel(slow)))

    def leave() -> None:
        question_sent.wait(SECONDS)
        night.end()

    ending = Thread(target=leave)
    ending.start()
    report = night.run()
    assert not answered.is_set()
    assert [done.phase for done in report.phases] == ["digest"]
    assert "it is asked again" in report.remarks[0]
    assert [(one.attempts, one.trouble) for one in lore.staged()] == [(0, "")]
    answered.set()
    ending.join()


def test_answers_of_a_language_model_become_memories(lore: Lore, tmp_path: Path) -> None:
    converse(lore, tmp_path, "ferry")
    answer = extraction(item("The ferry leaves at noon.", "Ferry"))
    thinking = replace(lore, model=ScriptedModel([answer]))
    ConsolidationRun(thinking).run(["digest"])
    assert {one.content for one in lore.select(FRAGMENTS, 9)} == {
        "Ferry",
        "The ferry leaves at noon.",
    }
    assert language_models(thinking) == {
        "extraction": "scripted-extraction",
        "compression": "scripted-compression",
        "address": "a script",
    }
    assert language_models(lore) is None


def test_the_state_is_right_in_whatever_order_activities_end(tmp_path: Path) -> None:
    status = StatusFile(str(tmp_path / "status"))
    status.write()
    with ExitStack() as run:
        with status.doing("ingesting"):
            run.enter_context(status.doing("consolidating"))
            assert status.state == "consolidating"
        assert status.state == "consolidating"
    assert json.loads((tmp_path / "status").read_text())["state"] == "idle"


# --- as processes
def test_the_settings_of_consolidation_are_the_daemons_own() -> None:
    own = {field.name for field in fields(ConsolidationSettings)} - {field.name for field in fields(Tuning)}
    names = {name for name, setting in ALL_SETTINGS.items() if name in own or setting.llm}
    assert len(names) > len(own)
    variables = {f"LORE_{name.upper()}": "x" for name in names}
    assert of_daemon(variables | {"LORE_NAMESPACE": "x", "LORE_SEARCH_LIMIT": "x"}) == variables


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Of somebody whose daemon consolidates a conversation as soon as it has read it."""
    with short_folder() as folder:
        soon = {"LORE_CONSOLIDATION_INTERVAL": "1", "LORE_IDLE_SESSIONS": "1", "LORE_IDLE_THRESHOLD": "0"}
        for name, value in {**SETTINGS, **soon, "HOME": str(folder), "LORE_INGEST_PAUSED": "no"}.items():
            monkeypatch.setenv(name, value)
        yield folder


@pytest.fixture
def endpoint(home: Path) -> Iterator[Endpoint]:
    with an_endpoint(home / ".lore") as endpoint:
        yield endpoint


def transcripts(home: Path) -> Path:
    return home / ".claude" / "projects" / "-ferry"


def test_a_daemon_digests_conversations_into_trees_on_its_own(home: Path, endpoint: Endpoint) -> None:
    transcripts(home).mkdir(parents=True)
    with Agent(endpoint, LORE_SURFACES="tree") as agent:
        agent.greet()
        assert agent.call("list_roots")["roots"] == []  # answered by the daemon: it runs
        assert status(endpoint)["last_consolidation_at"] is None
        written(transcripts(home), "ferry")
        until(lambda: agent.call("list_roots")["roots"])
    until(lambda: status(endpoint)["last_consolidation_at"])
    document = status(endpoint)
    assert (document["staged_turns"], document["language_model"]) == (0, None)
    assert stop(endpoint)
    assert "sessions_digested 1" in Path(endpoint.log).read_text()


def test_a_daemon_whose_model_cannot_be_asked_digests_by_rules_and_logs_why(
    home: Path, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(transcripts(home), "ferry")
    monkeypatch.setenv("LORE_LLM_BACKEND", "anthropic")
    with Agent(endpoint, LORE_SURFACES="tree") as agent:
        agent.greet()
        until(lambda: agent.call("list_roots")["roots"])
    assert stop(endpoint)
    log = Path(endpoint.log).read_text()
    assert "there is no API key: set the variable ANTHROPIC_API_KEY" in log
    assert "; the rules do its work" in log


@pytest.fixture
def short_idle_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """A daemon that is unused after a moment, long before a regular run is due."""
    monkeypatch.setenv("LORE_CONSOLIDATION_INTERVAL", "7200")
    monkeypatch.setenv("LORE_IDLE_SESSIONS", "0")
    monkeypatch.setenv("LORE_IDLE_MINUTES", "0.001")


def test_a_daemon_digests_before_it_exits(home: Path, short_idle_time: None, endpoint: Endpoint) -> None:
    written(transcripts(home), "ferry")
    start(endpoint)
    until(lambda: not is_held(endpoint.lock))
    log = Path(endpoint.log).read_text()
    assert log.index("sessions_digested 1") < log.index("nobody has used the daemon")


def test_a_daemon_does_not_exit_while_it_reads(home: Path, short_idle_time: None, endpoint: Endpoint) -> None:
    written(transcripts(home), "ferry")
    wire(Config(data_dir=Path(endpoint.home)), embedder=HashEmbedder()).close()
    with writers_waiting(endpoint):
        start(endpoint)
        until(lambda: status(endpoint)["uptime_seconds"] > 2 * TICK_SECONDS)
        assert "nobody has used the daemon" not in Path(endpoint.log).read_text()
    until(lambda: not is_held(endpoint.lock))
    assert "read 3 new turns, 1 new sessions" in Path(endpoint.log).read_text()


def test_stopping_the_daemon_during_consolidation_loses_nothing(home: Path, endpoint: Endpoint) -> None:
    """What was done stays, what was not waits, and the store is whole."""
    sessions, turns = 30, 40
    lore = wire(Config(data_dir=Path(endpoint.home)), embedder=HashEmbedder())
    for number in range(sessions):
        path = written(home / "said", f"ferry{number:02}", turns)
        assert list(lore.ingest(path, SOURCES["claude-code"]))
    lore.embed_pending()
    lore.close()
    start(endpoint)
    until(lambda: status(endpoint)["staged_turns"] < sessions * turns)
    with writers_waiting(endpoint):
        assert status(endpoint)["staged_turns"]
        assert ping(endpoint, "stop")
        until(lambda: "stopping" in Path(endpoint.log).read_text())
    until(lambda: not is_held(endpoint.lock))
    log = Path(endpoint.log).read_text()
    assert "consolidation ended in digest, after" in log
    assert "Traceback" not in log
    assert log.endswith("INFO ended\n")
    lore = wire(Config(data_dir=Path(endpoint.home)), embedder=HashEmbedder())
    assert 0 < len(lore.staged()) < sessions
    assert {one.turns for one in lore.staged()} == {turns}
    assert [finding for finding in lore.check() if not finding.passed] == []
    lore.close()


@pytest.mark.parametrize("name", ["SOME_KEY", "LORE_SOME_KEY"])
def test_a_daemon_uses_the_api_key_of_the_process_that_started_it(
    home: Path, endpoint: Endpoint, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    written(transcripts(home), "ferry")
    with misbehaving() as server:
        situation = server("useful")
        monkeypatch.setenv("LORE_LLM_BACKEND", "anthropic")
        monkeypatch.setenv("LORE_LLM_BASE_URL", situation.url)
        monkeypatch.setenv("LORE_API_KEY_ENV", name)
        monkeypatch.setenv(name, "a secret")
        start(endpoint)
        [request, *_] = until(situation.requests)
        assert "a secret" in str(request["headers"])
        assert status(endpoint)["language_model"]["extraction"] == "claude-sonnet-5-5"
