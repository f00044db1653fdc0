"""Contradictions with a language model: it has the last word, is asked once, and may fail on the way."""

from typing import Any

import pytest

from lore import Lore, Tie
from lore.clock import Clock
from lore.engine.consolidate.asking import PAIRS_AT_ONCE
from lore.engine.consolidation import sleep
from lore.llm.base import NoAnswer, Prompt, Refused, Unreachable
from lore.llm.scripted import ScriptedModel
from lore.model import Memory
from tests.engine.consolidate_llm.conftest import answering, asked, kept, sound, thinking

CONTRADICT = ("contradict",)
MORE_THAN_ONE = PAIRS_AT_ONCE + 3


def berth(lore: Lore, number: int) -> tuple[Memory, Memory]:
    """Two statements that rules take for a contradiction."""
    older = kept(lore, f"The port of service{number} is {8000 + number}.", days=-3)
    return older, kept(lore, f"The port of service{number} is {9000 + number}.", days=-2)


def by_whom(lore: Lore, memory: Memory) -> str | None:
    return lore.look_at(memory.id).memory.superseded_by


def confirming(prompt: Prompt) -> dict[str, Any]:
    """All pairs of a question contradict each other."""
    count = prompt.text.count("\n    B: ")
    return {"contradictions": [{"pair": pair, "reason": "one port only"} for pair in range(1, count + 1)]}


def test_what_rules_find_and_the_model_confirms_gives_way(lore: Lore) -> None:
    older, newer = berth(lore, 1)
    model = answering(contradictions=confirming)
    report = sleep(thinking(lore, model), CONTRADICT)
    assert by_whom(lore, older) == newer.id
    assert report.counts == {"contradictions_resolved": 1}
    [link] = lore.store.reader(lore.namespace).all_links(newer.id)
    assert (link.kind, link.target, link.reason) == ("supersedes", older.id, "one port only")
    [prompt] = model.prompts
    assert "[1] A: The port of service1 is 8001.\n    B: The port of service1 is 9001." in prompt.text


def test_what_rules_find_and_the_model_denies_stays_and_is_not_asked_again(lore: Lore, clock: Clock) -> None:
    older, _ = berth(lore, 1)
    first = answering()
    sleep(thinking(lore, first), CONTRADICT)
    assert len(asked(first, "contradictions")) == 1
    for number in (2, 3):
        clock.sleep(days=1)
        berth(lore, number)
        again = answering()
        sleep(thinking(lore, again), CONTRADICT)
        [prompt] = asked(again, "contradictions")
        assert f"service{number}" in prompt.text
        assert "service1" not in prompt.text
    assert by_whom(lore, older) is None
    clock.sleep(days=1)
    sleep(thinking(lore, ScriptedModel([])), CONTRADICT)


def test_a_pair_of_which_one_says_something_else_now_is_asked_about_again(lore: Lore, clock: Clock) -> None:
    berth(lore, 1)
    sleep(thinking(lore, answering()), CONTRADICT)
    clock.sleep(days=1)
    kept(lore, "The port of service1 is 7001.", days=-1)
    again = answering()
    sleep(thinking(lore, again), CONTRADICT)
    assert "7001" in asked(again, "contradictions")[0].text


def test_the_model_finds_among_siblings_what_rules_do_not(lore: Lore) -> None:
    parent = kept(lore, "Habits of the harbour master.", days=-5)
    older = kept(lore, "The harbour master drinks his morning coffee black.", days=-3)
    newer = kept(lore, "The harbour master drinks his morning coffee with milk.", days=-2)
    ties = [Tie(source=parent.id, target=child.id, kind="hierarchical") for child in (older, newer)]
    lore.link(ties)
    sleep(thinking(lore, answering(contradictions=confirming)), CONTRADICT)
    assert by_whom(lore, older) == newer.id


def test_what_is_trusted_more_stays_whatever_the_model_says(lore: Lore) -> None:
    older = kept(lore, "The port of service1 is 8001.", days=-3, trust=0.9)
    kept(lore, "The port of service1 is 9001.", days=-2)
    sleep(thinking(lore, answering(contradictions=confirming)), CONTRADICT)
    assert by_whom(lore, older) is None


def test_the_rules_do_not_overrule_what_a_model_has_judged(lore: Lore, clock: Clock) -> None:
    older = kept(lore, "The port of service1 is 8001.", days=-3)
    kept(lore, "The port of service1 is 9001.", days=-2)
    sleep(thinking(lore, answering()), CONTRADICT)
    clock.sleep(hours=1)
    kept(lore, "The port of service1 is 7001.")
    away = answering(contradictions=Unreachable("away", general=True))
    assert sleep(thinking(lore, away), CONTRADICT).fallback == "away"
    assert by_whom(lore, older) is None


@pytest.mark.parametrize("failure", [Unreachable("away", general=True), Refused("no")])
def test_what_was_judged_before_a_failure_is_kept_and_not_asked_again(
    lore: Lore, clock: Clock, failure: NoAnswer
) -> None:
    pairs = [berth(lore, number) for number in range(MORE_THAN_ONE)]

    def first_only(prompt: Prompt) -> dict[str, Any] | NoAnswer:
        """Of the first question, only the first pair contradicts itself."""
        if len(asked(failing, "contradictions")) > 1:
            return failure
        return {"contradictions": confirming(prompt)["contradictions"][:1]}

    failing = answering(contradictions=first_only)
    report = sleep(thinking(lore, failing), CONTRADICT)
    assert [remark.partition(";")[0] for remark in report.remarks] == [str(failure)]
    assert sum(by_whom(lore, older) is not None for older, _ in pairs) == 1

    clock.sleep(hours=2)
    again = answering(contradictions=confirming)
    report = sleep(thinking(lore, again), CONTRADICT)
    assert report.remarks == ()
    [prompt] = asked(again, "contradictions")
    assert prompt.text.count("\n    B: ") == MORE_THAN_ONE - PAIRS_AT_ONCE
    assert sum(by_whom(lore, older) is not None for older, _ in pairs) == 1 + MORE_THAN_ONE - PAIRS_AT_ONCE
    clock.sleep(hours=2)
    sleep(thinking(lore, ScriptedModel([])), CONTRADICT)
    assert sound(lore)


@pytest.mark.parametrize(
    "answer", ["Both are true.", {"contradictions": [{"pair": 5, "reason": "there is no such pair"}]}]
)
def test_nonsense_resolves_nothing(lore: Lore, answer: Any) -> None:
    older, _ = berth(lore, 1)
    report = sleep(thinking(lore, answering(contradictions=answer)), CONTRADICT)
    assert "answered twice what cannot be used" in report.remarks[0]
    assert by_whom(lore, older) is None
