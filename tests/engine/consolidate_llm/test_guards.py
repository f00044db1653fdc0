"""Guards of a language model that somebody pays for: how much it is asked, how soon, and when it is not."""

import shlex
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lore import Lore
from lore.clock import Clock
from lore.config import load
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.engine.consolidation_run import models_of_today
from tests.engine.consolidate.helpers import run_phases
from tests.engine.consolidate_llm.conftest import RecordSession, statements
from tests.llm.serving import HERE, Server

SAID = ("How many piers has the harbour?", "Four, and the ferry leaves at noon.")


@pytest.fixture
def opened(tmp_path: Path, clock: Clock) -> Iterator["Opened"]:
    opening = Opened(tmp_path, clock)
    yield opening
    for lore in opening.all:
        lore.close()


class Opened:
    """Opens a Lore with these settings; all are closed in the end."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.record = folder / "record.json"
        self.all: list[Lore] = []
        self._folder, self._clock = folder / "home", clock

    def __call__(self, **settings: str) -> Lore:
        variables = {f"LORE_LLM_{name.upper()}": value for name, value in settings.items()}
        config = load(env=variables, data_dir=self._folder)
        self.all.append(wire(config, embedder=HashEmbedder(), clock=self._clock))
        return self.all[-1]

    def command(self, behaviour: str) -> Lore:
        """With a program that behaves so."""
        program = shlex.join([sys.executable, str(HERE / "program.py"), behaviour, str(self.record)])
        return self(backend="command", command=f"{program} -p --output-format json")


def test_a_limit_stops_all_processes_for_the_day_and_is_never_knowledge(
    opened: Opened, record_session: RecordSession, clock: Clock
) -> None:
    """The command reports success and prints that the plan is spent."""
    one = opened.command("spent")
    record_session(*SAID, by=one)
    report = run_phases(one)
    assert "hit your limit" in report.remarks[0]
    assert (report.fallback, statements(one)) == ("", [])
    assert [(waits.attempts, waits.turns) for waits in one.staged()] == [(0, 2)]
    opened.record.unlink()
    other = opened.command("ok")
    assert "asked again at 2026-01-02 00:00 UTC" in run_phases(other, "digest").remarks[0]
    assert not opened.record.exists()
    models = models_of_today(other)
    assert models is not None
    assert models["limit"] == "sonnet reached a limit, and is asked again at 2026-01-02 00:00 UTC"
    clock.sleep(days=1)
    run_phases(other, "digest")
    assert opened.record.exists()
    assert "limit" not in (models_of_today(other) or {})


def test_an_unknown_model_uses_up_no_try_and_the_rules_go_on(
    opened: Opened, record_session: RecordSession
) -> None:
    lore = opened.command("model")
    record_session(*SAID, by=lore)
    report = run_phases(lore, "digest")
    assert "set extraction_model under [llm] in config.toml" in report.fallback
    assert lore.staged() == []


def test_a_conversation_must_be_quiet_for_long_and_a_day_takes_only_so_many(
    opened: Opened, record_session: RecordSession, server: Server, clock: Clock
) -> None:
    url = f"{server('useful').url}/v1"
    lore = opened(backend="openai", base_url=url, daily_conversations="2", idle_secs="21600")
    for number in range(3):
        at = datetime.fromtimestamp(clock(), UTC) - timedelta(hours=1)
        record_session(*SAID, session=f"s{number}", at=at, by=lore)
    run_phases(lore, "digest")
    assert len(lore.staged()) == 3
    clock.sleep(hours=6)
    for left in (1, 1):
        run_phases(lore, "digest")
        assert len(lore.staged()) == left
    clock.sleep(days=1)
    run_phases(lore, "digest")
    assert lore.staged() == []
