"""A language model that fails: nothing is lost, nothing is kept twice, and what was paid for is kept."""

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from threading import Barrier
from typing import Any

import pytest

from lore import Lore
from lore.clock import Clock
from lore.engine.consolidate.digest import FAILURES_IN_A_ROW
from lore.engine.consolidation import sleep
from lore.engine.consolidation_backlog import ATTEMPTS, RETRY_SECONDS
from lore.engine.spending import StoreLedger
from lore.llm.base import NoAnswer, Prompt, Refused, Unreachable
from lore.llm.scripted import ScriptedModel
from lore.llm.unusable import UnusableModel
from tests.engine.consolidate_llm.conftest import (
    FIRST,
    Told,
    answering,
    asked,
    budgeted,
    fragments,
    item,
    sound,
    statements,
    thinking,
    topics,
)

DIGEST = ("digest",)
GOOD = topics(item("The pilot boards at ten."))
LONG = [f"Pier number {number} needs timber{number}. " + "We looked at it. " * 60 for number in range(40)]


def of_its_part(prompt: Prompt) -> dict[str, Any]:
    """One statement for each question, which names its first turn."""
    timber = re.findall(r"timber\d+", prompt.text.split("\n[1] ")[1])[0]
    return topics(item(f"The crew has {timber} in stock."), title=f"About {timber}")


def several(told: Told, count: int) -> list[str]:
    """Conversations, the oldest first."""
    return [
        told(f"Is timber{number} there?", "Yes.", session=f"s{number}", at=FIRST + timedelta(hours=number)).id
        for number in range(count)
    ]


def test_turns_wait_longer_after_each_failure_and_at_last_for_a_person(
    lore: Lore, told: Told, clock: Clock
) -> None:
    session = told("The pilot boards at ten.", "Noted.")
    model = answering(topics=Refused("too long for me"))
    asleep = thinking(lore, model)
    for attempt in range(1, ATTEMPTS + 1):
        report = sleep(asleep, DIGEST)
        assert len(model.prompts) == attempt
        assert f"({attempt} of {ATTEMPTS} tries): too long for me" in report.remarks[0]
        [waiting] = lore.staged()
        assert (waiting.turns, waiting.attempts, waiting.trouble) == (2, attempt, "too long for me")
        backoff = RETRY_SECONDS * 2 ** (attempt - 1)
        clock.sleep(seconds=backoff - 1)
        assert sleep(asleep, DIGEST).remarks == ()
        clock.sleep(seconds=1)
    clock.sleep(days=30)
    sleep(asleep, DIGEST)
    assert len(model.prompts) == ATTEMPTS
    assert fragments(lore) == []
    assert lore.retry([session.id]) == [session.id]
    sleep(thinking(lore, answering(topics=GOOD)), DIGEST)
    assert statements(lore) == ["The pilot boards at ten."]
    assert lore.staged() == []
    assert sound(lore)


@pytest.mark.parametrize(
    "failing",
    [
        ScriptedModel(lambda _: Refused("the key is wrong", general=True)),
        ScriptedModel(lambda _: Unreachable("nobody listens", general=True)),
        UnusableModel("unknown backend 'gpt'"),
    ],
)
def test_a_model_that_cannot_be_asked_gives_way_to_the_rules_and_the_report_says_so(
    lore: Lore, told: Told, failing: Any, clock: Clock
) -> None:
    rule = "We decided to use Postgres for the ferry service because it has row level security."
    told(rule, "Noted.")
    told("I prefer short names in the ferry service.", "Noted.", session="two")
    report = sleep(thinking(lore, failing))
    assert report.fallback
    assert report.remarks == (f"{report.fallback}; the rules do its work",)
    assert report.counts["sessions_digested"] == 2
    assert rule in statements(lore)
    assert lore.staged() == []
    last_run = lore.status().last_run
    assert last_run is not None
    assert last_run["fallback"] == report.fallback
    clock.sleep(days=1)
    assert sleep(thinking(lore, answering())).fallback == ""
    assert sound(lore)


def test_a_model_that_fails_again_and_again_is_left_alone(lore: Lore, told: Told) -> None:
    several(told, FAILURES_IN_A_ROW + 2)
    model = answering(topics=Refused("I do not feel well"))
    sleep(thinking(lore, model), DIGEST)
    assert len(model.prompts) == FAILURES_IN_A_ROW
    assert [one.attempts for one in lore.staged()] == [1] * FAILURES_IN_A_ROW + [0, 0]


def test_one_conversation_that_fails_does_not_keep_the_others(lore: Lore, told: Told) -> None:
    ids = several(told, 5)

    def answer(prompt: Prompt) -> dict[str, Any] | NoAnswer:
        return Refused("not this one") if "timber1" in prompt.text else of_its_part(prompt)

    sleep(thinking(lore, answering(topics=answer)), DIGEST)
    assert [one.session.id for one in lore.staged()] == [ids[1]]
    assert len(statements(lore)) == 4


def only(allowed: Callable[[int], bool]) -> ScriptedModel:
    """A model that answers only some of its questions, by their number."""
    numbers = iter(range(1_000))
    return answering(topics=lambda prompt: of_its_part(prompt) if allowed(next(numbers)) else Refused("no"))


def test_parts_that_were_answered_are_not_asked_about_again(lore: Lore, told: Told, clock: Clock) -> None:
    told(*LONG)
    model = only(lambda number: number != 2)
    sleep(thinking(lore, model), DIGEST)
    assert fragments(lore) == []
    clock.sleep(hours=1)
    again = answering(topics=of_its_part)
    sleep(thinking(lore, again), DIGEST)
    told_before = {prompt.text for prompt in model.prompts}
    assert len({prompt.text for prompt in again.prompts} & told_before) == 1
    assert len(statements(lore)) == len(told_before | {prompt.text for prompt in again.prompts})
    assert lore.store.reader(lore.namespace).noted("answers/") == {}
    assert sound(lore)


def test_after_a_failure_no_further_part_is_asked_about(lore: Lore, told: Told) -> None:
    told(*LONG)
    model = only(lambda number: number != 1)
    one_by_one = replace(lore.tuning, llm_max_concurrency=1)
    sleep(replace(lore, model=model, tuning=one_by_one), DIGEST)
    assert len(model.prompts) == 2
    assert len(lore.store.reader(lore.namespace).noted("answers/")) == 1


def test_of_two_failures_at_once_the_general_one_counts(lore: Lore, told: Told) -> None:
    told(*LONG)
    both = Barrier(2)

    def answer(prompt: Prompt) -> NoAnswer:
        both.wait(timeout=30)
        return Refused("too long") if "timber1." in prompt.text else Unreachable("nobody there", general=True)

    two_at_once = replace(lore.tuning, llm_max_concurrency=2)
    report = sleep(replace(lore, model=answering(topics=answer), tuning=two_at_once), DIGEST)
    assert report.remarks == ("nobody there; the rules do its work",)
    assert report.fallback == "nobody there"


def cost_of(model: ScriptedModel) -> int:
    """About what a question and its answer may take."""
    prompt = model.prompts[0]
    return len(prompt.system + prompt.text + str(prompt.schema)) // 4 + prompt.max_tokens


def test_when_the_budget_is_spent_it_goes_on_the_next_day(lore: Lore, told: Told, clock: Clock) -> None:
    several(told, 7)
    probe = answering(topics=of_its_part)
    sleep(thinking(lore, probe), DIGEST, dry=True)
    limit = cost_of(probe) + 4_000
    model = answering(topics=of_its_part)
    asleep = budgeted(lore, model, clock, tokens=limit)
    days = 0
    while lore.staged():
        before = len(model.prompts)
        report = sleep(asleep, DIGEST)
        if lore.staged():
            assert "the day's budget is" in report.remarks[0]
            assert "2026-01-0" in report.remarks[0]
            assert sleep(asleep, DIGEST).remarks == report.remarks
        assert len(model.prompts) > before
        clock.sleep(days=1)
        days += 1
    assert 2 <= days <= 7
    assert len(model.prompts) == 7
    assert sorted(statements(lore)) == [f"The crew has timber{number} in stock." for number in range(7)]
    assert sound(lore)


def test_a_conversation_that_costs_more_than_a_day_may_take_is_done_in_several(
    lore: Lore, told: Told, clock: Clock
) -> None:
    told(*LONG)
    probe = answering(topics=of_its_part)
    sleep(thinking(lore, probe), DIGEST, dry=True)
    model = answering(topics=of_its_part)
    asleep = budgeted(lore, model, clock, tokens=int(cost_of(probe) * 1.6))
    for _ in range(10):
        sleep(asleep, DIGEST)
        clock.sleep(days=1)
    assert lore.staged() == []
    assert len(model.prompts) == len(probe.prompts) == len(statements(lore))
    assert {prompt.text for prompt in model.prompts} == {prompt.text for prompt in probe.prompts}


def test_nonsense_is_written_down_as_spent(lore: Lore, told: Told, clock: Clock) -> None:
    told("The pilot boards at ten.", "Noted.")
    sleep(budgeted(lore, answering(topics="What?"), clock, tokens=100_000), DIGEST)
    [spent] = StoreLedger(lore.store, clock).load("2026-01-01")
    assert spent.calls == 2
    assert spent.tokens_in > 1_000
    assert fragments(lore) == []


def test_the_other_phases_go_on_without_a_model_that_is_away(lore: Lore, told: Told) -> None:
    told("The pilot boards at ten.", "Noted.")
    model = answering(topics=Unreachable("nobody listens", general=True))
    report = sleep(thinking(lore, model))
    assert len(report.phases) == 9
    assert asked(model, "topics") == model.prompts
