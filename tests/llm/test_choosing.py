"""Which language model the settings mean; mostly none, and nothing heavy is loaded for that."""

import subprocess
import sys
from dataclasses import replace

import pytest

from lore.errors import Invalid
from lore.llm import LANGUAGE_MODELS, Waiting, language_model
from lore.llm.base import Prompt, Refused, Settings, UnusableModel
from lore.llm.budget import MemoryLedger
from tests.llm.serving import Server

QUESTION = Prompt(system="", text="?")


def test_a_key_alone_chooses_no_model() -> None:
    assert language_model(Settings(), "key") is None
    model = language_model(Settings(backend="anthropic"), "key")
    assert model is not None
    assert model.address == "https://api.anthropic.com/v1/messages"
    assert model.model("extraction") == "claude-sonnet-5-5"
    assert model.model("compression") == "claude-haiku-5-5"


def test_a_retired_model_is_replaced_and_every_other_name_stays() -> None:
    settings = Settings(extraction_model="claude-sonnet-4-20250514", compression_model="claude-haiku-4-5")
    for backend, name in (("anthropic", "claude-sonnet-5-5"), ("command", "sonnet")):
        model = language_model(replace(settings, backend=backend), "key")
        assert model is not None
        assert (model.model("extraction"), model.model("compression")) == (name, "claude-haiku-4-5")


def test_none_means_none_even_with_a_key() -> None:
    assert language_model(Settings(backend="none"), "key") is None


@pytest.mark.parametrize("backend", LANGUAGE_MODELS)
def test_every_backend_opens_by_its_name_without_being_contacted(backend: str) -> None:
    model = language_model(Settings(backend=backend, extraction_model="m1", command="no-such-command"))
    assert model is not None
    assert model.model("extraction") == "m1"


def test_a_backend_that_cannot_work_says_so_when_it_is_asked_and_not_before() -> None:
    model = language_model(Settings(backend="anthropic", api_key_env="MY_KEY"))
    assert model is not None
    with pytest.raises(Refused, match="MY_KEY") as caught:
        model.complete(QUESTION)
    assert caught.value.general


def test_settings_that_mean_no_model_are_told_to_whoever_asks() -> None:
    with pytest.raises(Refused, match="no language model can be asked: the moon is full") as caught:
        UnusableModel("the moon is full").complete(QUESTION)
    assert caught.value.general


def test_an_unknown_backend_is_named_with_the_known_ones() -> None:
    with pytest.raises(Invalid, match="unknown backend 'gpt'; known: anthropic, command, none, openai"):
        language_model(Settings(backend="gpt"))


def test_an_address_without_a_backend_is_not_silently_ignored() -> None:
    with pytest.raises(Invalid, match="Set backend"):
        language_model(Settings(base_url="http://localhost:11434/v1"))


def test_the_budget_of_the_settings_counts_in_the_ledger_that_was_given(
    server: Server, waiting: Waiting
) -> None:
    ledger = MemoryLedger()
    url = f"{server('ok').url}/v1"
    settings = Settings(backend="openai", base_url=url, extraction_model="m", daily_tokens=5000)
    model = language_model(settings, ledger=ledger, waiting=waiting)
    assert model is not None
    model.complete(QUESTION)
    assert model.budget.limits.tokens == 5000
    [spent] = ledger.load("2026-01-01")
    assert (spent.model, spent.tokens) == ("m", 20)


@pytest.mark.parametrize("module", ["httpx2", "jsonschema", "subprocess"])
def test_what_is_heavy_is_not_loaded_before_it_is_needed(module: str) -> None:
    script = f"import sys, lore.llm, lore.llm.prompts; sys.exit({module!r} in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.parametrize("wrong", [{"max_tokens": 0}, {"schema": {"type": "array"}}, {"schema": {}}])
def test_a_prompt_that_cannot_be_asked_is_not_made(wrong: dict[str, object]) -> None:
    with pytest.raises(Invalid):
        Prompt(system="", text="", **wrong)  # type: ignore[arg-type]
