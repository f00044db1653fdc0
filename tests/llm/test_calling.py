"""Patience: what is asked again, when, how often, and by how many at once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Lock

import pytest

from lore.clock import Clock
from lore.llm import RETRIES, Calling, Waiting, language_model
from lore.llm.base import (
    LanguageModel,
    Limited,
    NoAnswer,
    Nonsense,
    OverBudget,
    Prompt,
    Refused,
    Reply,
    Settings,
    Unreachable,
)
from lore.llm.budget import Budget, Limits, MemoryLedger
from lore.llm.scripted import ScriptedModel
from tests.llm.conftest import COLOUR
from tests.llm.serving import Server

QUESTION = Prompt(system="You are terse.", text="Which colour has grass?")
BUSY = Unreachable("busy")


def calling(
    model: LanguageModel, waiting: Waiting, *, timeout: float = 1000.0, concurrency: int = 4
) -> Calling:
    budget = Budget(limits=Limits(), ledger=MemoryLedger(), clock=waiting.clock)
    return Calling(model, budget, timeout=timeout, concurrency=concurrency, waiting=waiting)


def test_it_asks_again_after_twice_the_time(waiting: Waiting, waits: list[float]) -> None:
    model = ScriptedModel([BUSY, BUSY, BUSY, "green"])
    assert calling(model, waiting).complete(QUESTION).text == "green"
    assert waits == [0.25, 0.5, 1.0]


def test_chance_draws_waits_out(clock: Clock, waits: list[float]) -> None:
    late = Waiting(clock=clock, sleep=waits.append, chance=lambda: 1.0)
    asked = Unreachable("busy", after=8)
    model = ScriptedModel([BUSY, asked, BUSY, "green"])
    calling(model, late).complete(QUESTION)
    assert waits == [0.5, 10.0, 2.0]


def test_it_waits_as_long_as_the_server_asks(server: Server, waiting: Waiting, waits: list[float]) -> None:
    settings = Settings(backend="openai", base_url=f"{server('busy').url}/v1")
    model = language_model(settings, waiting=waiting)
    assert model is not None
    assert model.complete(QUESTION).text == "Hello."
    assert waits == [7.0]


def test_a_server_that_stays_broken_is_given_up(server: Server, waiting: Waiting, waits: list[float]) -> None:
    situation = server("broken")
    settings = Settings(backend="anthropic", base_url=situation.url, timeout_secs=1000)
    model = language_model(settings, "key", waiting=waiting)
    assert model is not None
    with pytest.raises(Unreachable, match="500"):
        model.complete(QUESTION)
    assert len(situation.requests()) == RETRIES + 1
    assert len(waits) == RETRIES


@pytest.mark.parametrize("failure", [Refused("no"), Nonsense("what?")])
def test_what_would_be_refused_again_is_not_asked_again(waiting: Waiting, failure: NoAnswer) -> None:
    model = ScriptedModel([failure])
    with pytest.raises(type(failure)):
        calling(model, waiting).complete(QUESTION)
    assert len(model.prompts) == 1


def test_a_limit_is_waited_for_as_long_as_asked_and_then_ends_the_day(
    waiting: Waiting, waits: list[float], clock: Clock
) -> None:
    model = ScriptedModel([Limited("too many", after=7), "green", Limited("too many", after=3600), "red"])
    asking = calling(model, waiting)
    assert asking.complete(QUESTION).text == "green"
    for words in ("too many; scripted-extraction is asked again", "reached before"):
        with pytest.raises(OverBudget, match=words):
            asking.complete(QUESTION)
    assert (len(model.prompts), waits) == (3, [7.0])
    clock.sleep(days=1)
    assert asking.complete(QUESTION).text == "red"


def test_no_wait_goes_beyond_the_timeout(waiting: Waiting, waits: list[float]) -> None:
    model = ScriptedModel([Unreachable("busy", after=6), Unreachable("busy", after=6)])
    with pytest.raises(Unreachable, match="busy"):
        calling(model, waiting, timeout=10).complete(QUESTION)
    assert waits == [6.0]


def test_each_attempt_gets_the_time_that_is_left(waiting: Waiting) -> None:
    model = ScriptedModel([Unreachable("busy", after=6), "green"])
    calling(model, waiting, timeout=10).complete(QUESTION)
    assert [prompt.timeout for prompt in model.prompts] == [10, pytest.approx(4)]


def test_a_prompt_may_bring_its_own_timeout(waiting: Waiting) -> None:
    model = ScriptedModel(["green"])
    calling(model, waiting).complete(Prompt(system="", text="?", timeout=3))
    assert model.prompts[0].timeout == 3


def test_only_so_many_are_asked_at_once(waiting: Waiting) -> None:
    together, lock, inside, most = Barrier(2), Lock(), [0], [0]

    def answer(_: Prompt) -> str:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        together.wait(timeout=30)  # two at a time come through here, so two do run at once
        with lock:
            inside[0] -= 1
        return "green"

    model = calling(ScriptedModel(answer), waiting, concurrency=2)
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(model.complete, [QUESTION] * 8))
    assert [reply.text for reply in replies] == ["green"] * 8
    assert most == [2]


def test_who_finds_no_free_place_in_time_is_told_so(waiting: Waiting) -> None:
    def answer(_: Prompt) -> str:
        with pytest.raises(Unreachable, match="max_concurrency"):
            model.complete(Prompt(system="", text="?", timeout=0.01))
        return "green"

    model = calling(ScriptedModel(answer), waiting, concurrency=1)
    assert model.complete(QUESTION).text == "green"


def test_a_failure_gives_its_place_back(waiting: Waiting) -> None:
    model = calling(ScriptedModel([Refused("no"), "green"]), waiting, concurrency=1)
    with pytest.raises(Refused):
        model.complete(QUESTION)
    assert model.complete(QUESTION).text == "green"


def test_data_passes_through(waiting: Waiting) -> None:
    reply = Reply(text="", model="m", data={"colour": "green"}, tokens_in=1, cut=True)
    told = calling(ScriptedModel([reply]), waiting).complete(Prompt(system="", text="?", schema=COLOUR))
    assert (told.data, told.cut) == ({"colour": "green"}, True)
