"""A daemon consolidates unasked: regularly, when enough was said, and before it dozes."""

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
from lore.config import Config, ConsolidationSettings, Tuning
from lore.connecting import wire
from lore.doors.consolidation_run import LEASE_SECONDS, ConsolidationRun, Ended, language_models
from lore.doors.consolidation_schedule import FIRST_SECONDS, RETRY_SECONDS, ConsolidationSchedule
from lore.doors.endpoint import Endpoint
from lore.doors.locking import held
from lore.doors.starting import RESIDENT, asked, start, stop
from lore.doors.state import State
from lore.embed.hashing import HashEmbedder
from lore.engine.consolidation_backlog import ATTEMPTS, DIGEST, runs
from lore.errors import Unavailable
from lore.llm.base import OverBudget, Prompt
from lore.llm.scripted import ScriptedModel
from lore.model import SESSION, Cause, Draft, Filter
from lore.transcripts.sources import SOURCES
from lore.vectors import Vectors
from tests.doors.resident import SECONDS, SETTINGS, Agent, an_endpoint, short_folder, until, writers_waiting
from tests.doors.test_daemon import dozes, status
from tests.llm.serving import misbehaving

INTERVAL = 7200.0
FRAGMENTS = Filter(kinds=frozenset({"fragment"}))


def written(folder: Path, session: str, turns: int = 3) -> Path:
    """A transcript of Claude Code in which something worth knowing was said long ago."""
    said = (
        f"We decided to use Postgres for the {session} service because it has row level security.",
        f"I prefer short names in the {session} service.",
        f"The {session} service listens on port 4000.",
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session}.jsonl"
    with path.open("w") as file:
        for number in range(turns):
            told: dict[str, Any] = {"type": "user", "uuid": f"{session}-{number}", "sessionId": session}
            told |= {"message": {"role": "user", "content": said[number % len(said)]}}
            told |= {"timestamp": f"2026-01-15T20:00:{number:02}.000Z", "cwd": "/gone/ferry"}
            file.write(json.dumps(told) + "\n")
    return path


def converse(lore: Lore, folder: Path, *sessions: str) -> None:
    for session in sessions:
        assert list(lore.ingest(written(folder, session), SOURCES["claude-code"]))


def noted(lore: Lore, **noted: Any) -> None:
    """As if this had become of the only conversation that there is."""
    [session] = lore.select(Filter(kinds=frozenset({SESSION})), 2)
    with lore.store.transaction(lore.namespace, Cause(verb="test"), lore.clock()) as writer:
        writer.note(DIGEST + session.id, noted)


@pytest.fixture
def clock() -> Clock:
    """Of a day after the conversations."""
    return Clock("2027-01-01T00:00:00")


@pytest.fixture
def lore(lore: Lore) -> Lore:
    return replace(lore, tuning=replace(lore.tuning, consolidation_interval=INTERVAL, idle_sessions=2))


# --- when
def test_a_minute_after_the_start_and_then_once_in_an_interval(lore: Lore, clock: Clock) -> None:
    lore.remember(Draft(content="The ferry leaves at noon"))
    nights = ConsolidationSchedule(lore)
    assert not nights.due()
    clock.sleep(seconds=FIRST_SECONDS)
    assert nights.due()
    nights.sleep()
    assert len(runs(lore.store.reader(lore.namespace))) == 1
    clock.sleep(seconds=INTERVAL - 1)
    assert not nights.due()
    clock.sleep(seconds=1)
    assert nights.due()


def test_only_when_asked(lore: Lore) -> None:
    never = ConsolidationSchedule(replace(lore, tuning=replace(lore.tuning, consolidation_interval=0.0)))
    assert not never.wanted
    assert not never.keeps_awake()
    assert ConsolidationSchedule(lore).wanted


def test_where_there_is_nothing_nothing_is_done(lore: Lore, clock: Clock) -> None:
    nights = ConsolidationSchedule(lore)
    clock.sleep(seconds=INTERVAL)
    assert not nights.due()


def test_among_several_processes_one_does_it(lore: Lore, clock: Clock) -> None:
    lore.remember(Draft(content="The ferry leaves at noon"))
    nights = [ConsolidationSchedule(lore), ConsolidationSchedule(lore)]
    clock.sleep(seconds=FIRST_SECONDS)
    assert [one.due() for one in nights] == [True, False]
    clock.sleep(seconds=RETRY_SECONDS)
    assert [one.due() for one in nights] == [True, False], "the first has not come back"


def test_a_run_with_the_clock_ahead_does_not_postpone_the_next(
    lore: Lore, clock: Clock, tmp_path: Path
) -> None:
    """By a year: when the clock is right again, all goes on as if that run had never been."""
    clock.sleep(days=365)
    converse(lore, tmp_path, "ferry")
    nights = ConsolidationSchedule(lore)
    clock.sleep(seconds=FIRST_SECONDS)
    assert nights.due()
    nights.sleep()
    lease = f"consolidating {lore.namespace}"
    assert lore.store.claim(lease, clock(), clock() + LEASE_SECONDS) is not None, "one that is killed"
    clock.sleep(days=-365)
    assert nights.due()
    nights.sleep()
    found = runs(lore.store.reader(lore.namespace))
    assert [run["began_at"] for run in found] == [clock()]
    assert not nights.due()
    clock.sleep(seconds=INTERVAL)
    assert nights.due()


def test_a_turn_of_the_future_does_not_keep_its_conversation_from_being_digested(
    lore: Lore, clock: Clock, tmp_path: Path
) -> None:
    clock.sleep(days=365)
    late = written(tmp_path, "ferry")
    late.write_text(late.read_text().replace("2026-01-15", "2027-12-01"))
    assert list(lore.ingest(late, SOURCES["claude-code"]))
    clock.sleep(days=-365)
    noted(lore, attempts=1, retry_at=clock() + 365 * 86_400, trouble="it was away")
    nights = ConsolidationSchedule(lore)
    clock.sleep(seconds=FIRST_SECONDS)
    assert nights.due()
    nights.sleep()
    assert lore.staged() == []


def test_enough_conversations_do_not_wait(lore: Lore, clock: Clock, tmp_path: Path) -> None:
    converse(lore, tmp_path, "ferry")
    nights = ConsolidationSchedule(lore)
    clock.sleep(seconds=FIRST_SECONDS)
    assert nights.due()
    nights.sleep()
    assert lore.count(FRAGMENTS)
    converse(lore, tmp_path, "tug")
    lore.embed_pending()
    assert not nights.due()
    converse(lore, tmp_path, "barge")
    assert nights.due()
    nights.sleep()
    assert lore.staged() == []
    assert not nights.due()


def test_what_is_still_being_said_waits_but_keeps_awake(lore: Lore, clock: Clock, tmp_path: Path) -> None:
    converse(lore, tmp_path, "ferry")
    [one] = lore.staged()
    clock.sleep(seconds=one.session.created_at + lore.tuning.idle_threshold - clock())
    nights = ConsolidationSchedule(lore)
    assert nights.keeps_awake()
    assert not nights.due()
    clock.sleep(seconds=60)
    assert nights.due(), "before dozing it does not take a second one, nor a minute after the start"
    nights.sleep()
    assert not nights.keeps_awake()


@pytest.mark.parametrize(
    "failed",
    [
        {"attempts": 1, "retry_at": Clock("2027-01-01T00:15:00")()},
        {"attempts": ATTEMPTS, "retry_at": 1.0},
    ],
)
def test_what_has_failed_keeps_nobody_awake(lore: Lore, tmp_path: Path, failed: dict[str, Any]) -> None:
    converse(lore, tmp_path, "ferry")
    nights = ConsolidationSchedule(lore)
    assert nights.keeps_awake()
    noted(lore, trouble="no answer", **failed)
    assert not nights.keeps_awake()
    assert not nights.due()


def test_a_language_model_that_is_away_keeps_nobody_awake(
    lore: Lore, clock: Clock, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The conversation is as it was; but it is not tried again and again before dozing."""
    converse(lore, tmp_path, "ferry")

    def away(prompt: Prompt) -> OverBudget:
        return OverBudget("no credit is left", resumes=None)

    nights = ConsolidationSchedule(replace(lore, model=ScriptedModel(away)))
    assert nights.keeps_awake()
    assert nights.due()
    nights.sleep()
    assert [one.attempts for one in lore.staged()] == [0]
    assert "no credit is left" in caplog.text
    assert not nights.keeps_awake()
    clock.sleep(seconds=FIRST_SECONDS)
    assert not nights.due()
    clock.sleep(seconds=INTERVAL)
    assert nights.due()


def test_what_waits_to_be_embedded_comes_first(
    lore: Lore, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lore.doors.consolidation_schedule.BACKLOG", 1)
    lore.remember_all([Draft(content="The ferry leaves at noon"), Draft(content="The tug is late")])
    nights = ConsolidationSchedule(lore)
    clock.sleep(seconds=FIRST_SECONDS)
    assert not nights.due()
    lore.embed_pending()
    assert nights.due()


class Broken(HashEmbedder):
    """Fails as nobody thought it could."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise RuntimeError("a mistake of ours")


def test_a_mistake_of_ours_does_not_end_the_daemon(
    config: Config, caplog: pytest.LogCaptureFixture, clock: Clock
) -> None:
    lore = wire(config, embedder=Broken(), clock=clock)
    lore.remember(Draft(content="The ferry leaves at noon"))
    nights = ConsolidationSchedule(lore)
    nights.sleep()
    assert "consolidation failed" in caplog.text
    assert "a mistake of ours" in caplog.text
    assert not nights.at_work
    lore.close()


# --- one at a time, and its end
def test_two_at_once_are_one_too_many(lore: Lore, clock: Clock, tmp_path: Path) -> None:
    """Until it has ended, or was silent for so long that it must have been killed."""
    converse(lore, tmp_path, "ferry")

    def meanwhile(phase: str, done: int, total: int) -> None:
        with pytest.raises(Unavailable, match="another process consolidates this store"):
            ConsolidationRun(lore).run()
        clock.sleep(seconds=LEASE_SECONDS / 2)

    ConsolidationRun(lore, meanwhile).run()
    ConsolidationRun(lore).run()
    lore.store.claim(f"consolidating {lore.namespace}", clock(), clock() + LEASE_SECONDS)
    with pytest.raises(Unavailable, match="within 10 minutes"):
        ConsolidationRun(lore).run()
    assert not ConsolidationRun(lore).run(dry=True).applied
    clock.sleep(seconds=LEASE_SECONDS)
    ConsolidationRun(lore).run()


def test_it_ends_between_two_conversations_and_keeps_what_it_has(lore: Lore, tmp_path: Path) -> None:
    converse(lore, tmp_path, "ferry", "tug", "barge")

    def told(phase: str, done: int, total: int) -> None:
        if (phase, done) == ("digest", 1):
            night.end()

    night = ConsolidationRun(lore, told)
    with pytest.raises(Ended, match="in digest, after 2 of 3"):
        night.run()
    assert len(lore.staged()) == 1
    assert lore.count(FRAGMENTS)
    ConsolidationRun(lore).run()
    assert lore.staged() == []


def test_no_answer_is_waited_for_in_the_end(lore: Lore, tmp_path: Path) -> None:
    """The question is asked again the next time; the conversation has not failed."""
    converse(lore, tmp_path, "ferry")
    asked, answered = Event(), Event()

    def slow(prompt: Prompt) -> str:
        asked.set()
        answered.wait(SECONDS)
        return "too late"

    night = ConsolidationRun(replace(lore, model=ScriptedModel(slow)))

    def leave() -> None:
        asked.wait(SECONDS)
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


def test_what_a_language_model_answers_arrives(lore: Lore, tmp_path: Path) -> None:
    converse(lore, tmp_path, "ferry")
    item = {"text": "The ferry leaves at noon.", "type": "fact", "importance": "high", "turns": [1]}
    topic = {
        "title": "Ferry",
        "overview": "About the ferry.",
        "items": [item | {"entities": [], "replaces": None}],
    }
    thinking = replace(lore, model=ScriptedModel([{"topics": [topic], "relations": []}]))
    ConsolidationRun(thinking).run(["digest"])
    assert {one.content for one in lore.select(FRAGMENTS, 9)} == {
        "About the ferry.",
        "The ferry leaves at noon.",
    }
    assert language_models(thinking) == {
        "extraction": "scripted-extraction",
        "compression": "scripted-compression",
        "address": "a script",
    }
    assert language_models(lore) is None


def test_what_goes_on_is_told_in_whatever_order_it_ends(tmp_path: Path) -> None:
    state = State(str(tmp_path / "status"))
    state.begin()
    with ExitStack() as night:
        with state.doing("ingesting"):
            night.enter_context(state.doing("consolidating"))
            assert state.now == "consolidating"
        assert state.now == "consolidating"
    assert json.loads((tmp_path / "status").read_text())["state"] == "idle"


# --- as processes
def test_the_settings_of_a_night_are_the_daemons_own() -> None:
    own = {field.name for field in fields(ConsolidationSettings)} - {field.name for field in fields(Tuning)}
    assert {f"LORE_{name.upper()}" for name in own - {"llm_prices"}} <= set(RESIDENT)


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


def test_what_was_said_becomes_a_tree_without_anybody_asking(home: Path, endpoint: Endpoint) -> None:
    transcripts(home).mkdir(parents=True)
    with Agent(endpoint, LORE_SURFACES="tree") as agent:
        agent.greet()
        assert agent.call("list_roots")["roots"] == []  # answered by the daemon: it runs
        assert status(endpoint)["last_consolidation_at"] is None
        written(transcripts(home), "ferry")
        until(lambda: agent.call("list_roots")["roots"])
    until(lambda: status(endpoint)["last_consolidation_at"])
    told = status(endpoint)
    assert (told["staged_turns"], told["language_model"]) == (0, None)
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
def drowsy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A daemon that is idle after a moment, although a night is long to come."""
    monkeypatch.setenv("LORE_CONSOLIDATION_INTERVAL", "7200")
    monkeypatch.setenv("LORE_IDLE_SESSIONS", "0")
    monkeypatch.setenv("LORE_IDLE_MINUTES", "0.001")


def test_it_digests_before_it_dozes(home: Path, drowsy: None, endpoint: Endpoint) -> None:
    written(transcripts(home), "ferry")
    start(endpoint)
    until(lambda: dozes(endpoint))
    assert status(endpoint)["staged_turns"] == 0
    log = Path(endpoint.log).read_text()
    assert log.index("sessions_digested 1") < log.index("dozing")


def test_it_does_not_doze_while_it_reads(home: Path, drowsy: None, endpoint: Endpoint) -> None:
    written(transcripts(home), "ferry")
    wire(Config(data_dir=Path(endpoint.home)), embedder=HashEmbedder()).close()
    with writers_waiting(endpoint):
        start(endpoint)
        until(lambda: status(endpoint)["uptime_seconds"] > 4)
        assert "dozing" not in Path(endpoint.log).read_text()
    until(lambda: status(endpoint)["memories"])


def test_a_stop_in_the_middle_is_clean(home: Path, endpoint: Endpoint) -> None:
    """What was done stays, what was not waits, and the store is whole."""
    sessions, turns = 60, 40
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
        assert asked(endpoint, "stop")
        until(lambda: "stopping" in Path(endpoint.log).read_text())
    until(lambda: not held(endpoint.lock))
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
def test_it_sees_the_key_that_its_starter_has(
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
        assert status(endpoint)["language_model"]["extraction"] == ConsolidationSettings().extraction_model
