"""Contradictions with a language model: it decides, is asked once, and may fail in the middle."""

from typing import Any

import pytest

from lore import Lore, Tie
from lore.clock import Clock
from lore.engine.consolidate.model_questions import PAIRS_PER_PROMPT
from lore.llm.base import NoAnswer, Prompt, Refused, Unreachable
from lore.llm.scripted import ScriptedModel
from lore.model import Memory
from tests.engine.consolidate.helpers import run_phases
from tests.engine.consolidate_llm.conftest import (
    is_consistent,
    prompts_of,
    scripted,
    store_statement,
    with_model,
)

CONTRADICT = "contradict"
MORE_THAN_ONE = PAIRS_PER_PROMPT + 3


def berth(lore: Lore, number: int) -> tuple[Memory, Memory]:
    """Two statements that rules take for a contradiction."""
    older = store_statement(lore, f"The port of service{number} is {8000 + number}.", days=-3)
    return older, store_statement(lore, f"The port of service{number} is {9000 + number}.", days=-2)


def by_whom(lore: Lore, memory: Memory) -> str | None:
    return lore.read(memory.id, use=False).memory.superseded_by


def confirming(prompt: Prompt) -> dict[str, Any]:
    """All pairs of a question contradict each other."""
    count = prompt.text.count("\n    B: ")
    return {"contradictions": [{"pair": pair, "reason": "one port only"} for pair in range(1, count + 1)]}


def test_a_contradiction_that_the_model_confirms_is_resolved(lore: Lore) -> None:
    older, newer = berth(lore, 1)
    model = scripted(contradictions=confirming)
    report = run_phases(with_model(lore, model), CONTRADICT)
    assert by_whom(lore, older) == newer.id
    assert report.counts == {"contradictions_resolved": 1}
    [link] = lore.store.reader(lore.namespace).links([newer.id], ended=True)
    assert (link.kind, link.target, link.reason) == ("supersedes", older.id, "one port only")
    [prompt] = model.prompts
    assert "[1] A: The port of service1 is 8001.\n    B: The port of service1 is 9001." in prompt.text


def test_a_contradiction_that_the_model_denies_stays_and_is_not_asked_about_again(
    lore: Lore, clock: Clock
) -> None:
    older, _ = berth(lore, 1)
    first = scripted()
    run_phases(with_model(lore, first), CONTRADICT)
    assert len(prompts_of(first, "contradictions")) == 1
    for number in (2, 3):
        clock.sleep(days=1)
        berth(lore, number)
        again = scripted()
        run_phases(with_model(lore, again), CONTRADICT)
        [prompt] = prompts_of(again, "contradictions")
        assert f"service{number}" in prompt.text
        assert "service1" not in prompt.text
    assert by_whom(lore, older) is None
    clock.sleep(days=1)
    run_phases(with_model(lore, ScriptedModel([])), CONTRADICT)


def test_a_pair_with_a_changed_statement_is_asked_about_again(lore: Lore, clock: Clock) -> None:
    berth(lore, 1)
    run_phases(with_model(lore, scripted()), CONTRADICT)
    clock.sleep(days=1)
    store_statement(lore, "The port of service1 is 7001.", days=-1)
    again = scripted()
    run_phases(with_model(lore, again), CONTRADICT)
    assert "7001" in prompts_of(again, "contradictions")[0].text


def test_the_model_finds_contradictions_among_siblings_that_rules_miss(lore: Lore) -> None:
    parent = store_statement(lore, "Habits of the harbour master.", days=-5)
    older = store_statement(lore, "The harbour master drinks his morning coffee black.", days=-3)
    newer = store_statement(lore, "The harbour master drinks his morning coffee with milk.", days=-2)
    ties = [Tie(source=parent.id, target=child.id, kind="hierarchical") for child in (older, newer)]
    lore.link(ties)
    run_phases(with_model(lore, scripted(contradictions=confirming)), CONTRADICT)
    assert by_whom(lore, older) == newer.id


def test_a_more_trusted_statement_stays_whatever_the_model_says(lore: Lore) -> None:
    older = store_statement(lore, "The port of service1 is 8001.", days=-3, trust=0.9)
    store_statement(lore, "The port of service1 is 9001.", days=-2)
    run_phases(with_model(lore, scripted(contradictions=confirming)), CONTRADICT)
    assert by_whom(lore, older) is None


def test_rules_do_not_overrule_the_judgement_of_a_model(lore: Lore, clock: Clock) -> None:
    older = store_statement(lore, "The port of service1 is 8001.", days=-3)
    store_statement(lore, "The port of service1 is 9001.", days=-2)
    run_phases(with_model(lore, scripted()), CONTRADICT)
    clock.sleep(hours=1)
    store_statement(lore, "The port of service1 is 7001.")
    away = scripted(contradictions=Unreachable("away", general=True))
    assert run_phases(with_model(lore, away), CONTRADICT).fallback == "away"
    assert by_whom(lore, older) is None


@pytest.mark.parametrize("failure", [Unreachable("away", general=True), Refused("no")])
def test_judgements_before_a_failure_are_kept_and_not_asked_for_again(
    lore: Lore, clock: Clock, failure: NoAnswer
) -> None:
    pairs = [berth(lore, number) for number in range(MORE_THAN_ONE)]

    def first_only(prompt: Prompt) -> dict[str, Any] | NoAnswer:
        """Of the first question, only the first pair contradicts itself."""
        if len(prompts_of(failing, "contradictions")) > 1:
            return failure
        return {"contradictions": confirming(prompt)["contradictions"][:1]}

    failing = scripted(contradictions=first_only)
    report = run_phases(with_model(lore, failing), CONTRADICT)
    assert [remark.partition(";")[0] for remark in report.remarks] == [str(failure)]
    assert sum(by_whom(lore, older) is not None for older, _ in pairs) == 1

    clock.sleep(hours=2)
    again = scripted(contradictions=confirming)
    report = run_phases(with_model(lore, again), CONTRADICT)
    assert report.remarks == ()
    [prompt] = prompts_of(again, "contradictions")
    assert prompt.text.count("\n    B: ") == MORE_THAN_ONE - PAIRS_PER_PROMPT
    assert sum(by_whom(lore, older) is not None for older, _ in pairs) == 1 + MORE_THAN_ONE - PAIRS_PER_PROMPT
    clock.sleep(hours=2)
    run_phases(with_model(lore, ScriptedModel([])), CONTRADICT)
    assert is_consistent(lore)


@pytest.mark.parametrize(
    "answer", ["Both are true.", {"contradictions": [{"pair": 5, "reason": "there is no such pair"}]}]
)
def test_an_unusable_answer_resolves_no_contradiction(lore: Lore, answer: Any) -> None:
    older, _ = berth(lore, 1)
    report = run_phases(with_model(lore, scripted(contradictions=answer)), CONTRADICT)
    assert "answered twice what cannot be used" in report.remarks[0]
    assert by_whom(lore, older) is None
