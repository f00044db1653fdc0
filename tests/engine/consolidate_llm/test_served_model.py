"""A language model behind a real server, set up as a user would: in config.toml and in variables."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from lore import Lore, Query
from lore.clock import Clock
from lore.config import load
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.engine.spending import StoreLedger
from lore.llm import Calling
from lore.llm.base import UnusableModel
from tests.engine.consolidate.helpers import run_phases
from tests.engine.consolidate_llm.conftest import RecordSession, is_consistent, statements, waiting_by_clock
from tests.llm.serving import Server

SAID = ("How many piers has the harbour?", "Four, and the ferry leaves at noon.")
KEPT = ["The harbour has four piers.", "The ferry leaves the harbour at noon."]


class Opened:
    """Opens a Lore as its settings say; all are closed in the end."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.folder = folder
        self.clock = clock
        self.all: list[Lore] = []

    def __call__(self, toml: str = "", **variables: str) -> Lore:
        self.folder.mkdir(exist_ok=True)
        (self.folder / "config.toml").write_text(toml)
        config = load(env=variables, data_dir=self.folder)
        self.all.append(wire(config, embedder=HashEmbedder(), clock=self.clock))
        return self.all[-1]


@pytest.fixture
def opened(tmp_path: Path, clock: Clock) -> Iterator[Opened]:
    opening = Opened(tmp_path / "home", clock)
    yield opening
    for lore in opening.all:
        lore.close()


@pytest.mark.parametrize("backend", ["openai", "anthropic"])
def test_a_served_model_digests_a_conversation(
    opened: Opened,
    record_session: RecordSession,
    server: Server,
    backend: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    situation = server("useful")
    monkeypatch.setenv("MY_KEY", "secret-key")
    settings = f"""
        [llm]
        backend = "{backend}"
        base_url = "{situation.url}/v1"
        api_key_env = "MY_KEY"
        extraction_model = "careful"
        compression_model = "quick"
    """
    lore = opened(settings)
    record_session(*SAID, by=lore)
    report = run_phases(lore)
    assert report.remarks == ()
    assert statements(lore) == KEPT
    assert lore.staged() == []
    requests = situation.requests()
    assert [request["body"]["model"] for request in requests] == [
        "careful",
        *["quick"] * (len(requests) - 1),
    ]
    assert "secret-key" in str(requests[0]["headers"])
    assert is_consistent(lore)


def test_environment_variables_override_the_settings_file(
    opened: Opened, record_session: RecordSession, server: Server
) -> None:
    situation = server("useful")
    lore = opened(
        '[llm]\nbackend = "command"\ncommand = "no-such-command"\n',
        LORE_LLM_BACKEND="openai",
        LORE_LLM_BASE_URL=f"{situation.url}/v1",
        LORE_EXTRACTION_MODEL="m",
    )
    record_session(*SAID, by=lore)
    run_phases(lore, "digest")
    assert statements(lore) == KEPT


@pytest.mark.parametrize(
    ("situation", "words", "waiting"),
    [
        ("broken", "is busy or broken (500", [(2, 1)]),
        ("locked", "refused the key", []),
        ("unknown", "does not know the model 'm'", []),
        ("unpaid", "you have no credit left", []),
        ("long", "the text is too long", [(2, 1)]),
        ("prose", "did not answer with a JSON object", [(2, 1)]),
        ("wrong", "answered twice what cannot be used", [(2, 1)]),
        ("declined", "declined to answer", [(2, 1)]),
    ],
)
def test_the_report_quotes_a_failing_server_and_the_turns_wait_or_are_digested_by_rules(
    opened: Opened,
    record_session: RecordSession,
    server: Server,
    clock: Clock,
    situation: str,
    words: str,
    waiting: list[tuple[int, int]],
) -> None:
    url = f"{server(situation).url}/v1"
    lore = opened(LORE_LLM_BACKEND="openai", LORE_LLM_BASE_URL=url, LORE_EXTRACTION_MODEL="m")
    assert isinstance(lore.model, Calling)
    lore.model._waiting = waiting_by_clock(clock)
    record_session(*SAID, by=lore)
    report = run_phases(lore, "digest")
    assert words in report.remarks[0]
    assert [(one.turns, one.attempts) for one in lore.staged()] == waiting
    assert bool(report.fallback) is not bool(waiting)
    assert is_consistent(lore)


def test_processes_share_one_daily_budget(
    opened: Opened, record_session: RecordSession, server: Server, clock: Clock
) -> None:
    variables = {
        "LORE_LLM_BACKEND": "openai",
        "LORE_LLM_BASE_URL": f"{server('useful').url}/v1",
        "LORE_EXTRACTION_MODEL": "m",
        "LORE_LLM_DAILY_TOKENS": "8000",
    }
    one, other = opened(**variables), opened(**variables)
    record_session(*SAID, by=one)
    run_phases(one, "digest")
    [spent] = StoreLedger(other.store, clock).load("2026-01-01")
    assert (spent.model, spent.calls, spent.tokens) == ("m", 1, 20)
    StoreLedger(one.store, clock).add("2026-01-01", replace(spent, tokens_in=5_000))
    record_session("What is new?", "Nothing.", session="two", by=other)
    assert "(daily_tokens): 5,027 tokens are spent" in run_phases(other, "digest").remarks[0]
    clock.sleep(days=1)
    assert run_phases(other, "digest").remarks == ()
    assert other.staged() == []


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ('[llm]\nbackend = "gpt"\n', "unknown backend 'gpt'; known: anthropic, command, none, openai"),
        ('[llm]\nbackend = "openai"\nbase_url = "localhost:11434"\n', "base_url must be an address"),
        ('[llm]\nbase_url = "http://localhost:11434"\n', 'Set backend to "openai" or "anthropic"'),
        ('[llm]\nbackend = "command"\ncommand = "\'"\n', "command must be a command line"),
    ],
)
def test_a_wrong_language_model_setting_does_not_prevent_search(
    opened: Opened, record_session: RecordSession, toml: str, words: str
) -> None:
    lore = opened(toml)
    record_session(*SAID, by=lore)
    assert lore.search(Query(text="harbour")).hits
    assert isinstance(lore.model, UnusableModel)
    assert words in lore.model.trouble
    [remark] = run_phases(lore).remarks
    assert words in remark
    assert words in str(lore.status().last_run)
    assert lore.staged() == []


def test_a_key_alone_chooses_no_model_and_a_chosen_model_has_a_dollar_and_a_million_tokens_a_day(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    assert opened().model is None
    assert opened('[llm]\nextraction_model = "m"\n').model is None
    model = opened('[llm]\nbackend = "anthropic"\n').model
    assert isinstance(model, Calling)
    assert (model.budget.limits.dollars, model.budget.limits.tokens) == (1.0, 1_000_000)


def test_anthropic_base_url_is_used_unless_the_settings_name_a_server(
    opened: Opened, record_session: RecordSession, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    situation, other = server("useful"), server("useful")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", situation.url)
    lore = opened(LORE_LLM_BACKEND="anthropic")
    record_session(*SAID, by=lore)
    run_phases(lore, "digest")
    assert statements(lore) == KEPT
    assert situation.requests()
    model = opened(LORE_LLM_BACKEND="anthropic", LORE_LLM_BASE_URL=other.url).model
    assert model is not None
    assert model.address == f"{other.url}/v1/messages"
    model = opened(LORE_LLM_BACKEND="openai").model
    assert model is not None
    assert model.address == "https://api.openai.com/v1/chat/completions"


def test_the_anthropic_key_is_not_sent_to_another_server(
    opened: Opened, record_session: RecordSession, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    situation = server("useful")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "secret-key")
    lore = opened(LORE_LLM_BACKEND="openai", LORE_LLM_BASE_URL=f"{situation.url}/v1")
    record_session(*SAID, by=lore)
    run_phases(lore, "digest")
    assert statements(lore) == KEPT
    assert "secret-key" not in str(situation.requests())
