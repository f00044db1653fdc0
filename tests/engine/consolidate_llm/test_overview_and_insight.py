"""Overviews and insights of a language model: each answer is stored at once and asked for once."""

from typing import Any

import pytest

from lore import Filter, Lore, Tie
from lore.clock import Clock
from lore.llm.base import NoAnswer, Prompt, Refused
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

RESUMMARIZE, REFLECT = "resummarize", "reflect"


def tree(lore: Lore, name: str, *, source_type: str = "distilled", branches: int = 3) -> Memory:
    """A root with branches, each later and more important than the one before."""
    root = store_statement(lore, f"About {name}.", title=name, source_type=source_type, days=-9)
    children = [
        store_statement(lore, f"{name} fact {number}.", days=-8 + number, importance=0.2 + 0.1 * number)
        for number in range(branches)
    ]
    lore.link([Tie(source=root.id, target=child.id, kind="hierarchical") for child in children])
    return root


def saying(text: str) -> dict[str, Any]:
    return {"title": "A title", "overview": text}


def test_the_model_writes_an_overview_and_is_asked_once(lore: Lore, clock: Clock) -> None:
    root = tree(lore, "Cranes")
    model = scripted(overview=saying("  Three facts about cranes. "))
    report = run_phases(with_model(lore, model), RESUMMARIZE)
    assert lore.read(root.id, use=False).memory.content == "Three facts about cranes."
    assert report.counts == {"roots_resummarized": 1}
    [prompt] = model.prompts
    assert (
        "[1] Cranes About Cranes.\n[2] Cranes fact 0.\n[3] Cranes fact 1.\n[4] Cranes fact 2." in prompt.text
    )
    assert prompt.role == "compression"
    clock.sleep(days=1)
    run_phases(with_model(lore, ScriptedModel([])), RESUMMARIZE)


def test_a_text_by_another_author_gets_a_summary_and_keeps_its_words(lore: Lore) -> None:
    root = tree(lore, "Cranes", source_type="agent")
    run_phases(with_model(lore, scripted(overview=saying("Three facts."))), RESUMMARIZE)
    record_session = lore.read(root.id, use=False).memory
    assert (record_session.content, record_session.summary) == ("About Cranes.", "Three facts.")


def test_the_prompt_for_a_large_tree_has_its_most_important_children(lore: Lore) -> None:
    root = store_statement(lore, "About ropes.", title="Ropes", source_type="distilled", days=-9)
    children = [
        store_statement(lore, f"rope{number} " + "is long and strong " * 70, importance=number / 100)
        for number in range(30)
    ]
    lore.link([Tie(source=root.id, target=child.id, kind="hierarchical") for child in children])
    model = scripted()
    run_phases(with_model(lore, model), RESUMMARIZE)
    [prompt] = model.prompts
    assert len(prompt.text) < 12_000
    assert "rope29" in prompt.text
    assert "rope1 " not in prompt.text


def test_a_failure_in_the_middle_loses_no_overview(lore: Lore, clock: Clock) -> None:
    names = ["Cranes", "Ropes", "Tides", "Winches"]
    roots = [tree(lore, name) for name in names]

    def two_only(prompt: Prompt) -> dict[str, Any] | NoAnswer:
        return saying("Short.") if len(failing.prompts) <= 2 else Refused("enough for today")

    failing = scripted(overview=two_only)
    report = run_phases(with_model(lore, failing), RESUMMARIZE)
    assert report.remarks == ("enough for today",)
    assert [lore.read(root.id, use=False).memory.content for root in roots].count("Short.") == 2
    clock.sleep(days=1)
    again = scripted(overview=saying("Short."))
    run_phases(with_model(lore, again), RESUMMARIZE)
    assert len(again.prompts) == 2
    assert [lore.read(root.id, use=False).memory.content for root in roots].count("Short.") == 4
    assert is_consistent(lore)


def test_each_overview_is_stored_before_the_next_one_is_asked_for(lore: Lore) -> None:
    """The script has one answer; to be asked for a second breaks the run, as a crash would."""
    roots = [tree(lore, name) for name in ("Cranes", "Ropes")]
    with pytest.raises(AssertionError, match="no answer number 2"):
        run_phases(with_model(lore, ScriptedModel([saying("Short.")])), RESUMMARIZE)
    assert [lore.read(root.id, use=False).memory.content for root in roots].count("Short.") == 1


@pytest.mark.parametrize("answer", ["Once upon a time", saying("  ")])
def test_an_unusable_answer_overwrites_no_overview(lore: Lore, answer: Any) -> None:
    root = tree(lore, "Cranes")
    report = run_phases(with_model(lore, scripted(overview=answer)), RESUMMARIZE)
    assert "answered twice what cannot be used" in report.remarks[0]
    assert lore.read(root.id, use=False).memory.content == "About Cranes."


def cluster(lore: Lore) -> list[Memory]:
    """Roots of which one is linked to all the others."""
    roots = [
        store_statement(lore, f"The {name} failed on Friday.", title=name)
        for name in ("crane", "winch", "pump", "lamp")
    ]
    lore.link([Tie(source=roots[0].id, target=root.id, kind="associative", weight=0.9) for root in roots[1:]])
    return roots


def reflections(lore: Lore) -> list[Memory]:
    found = lore.select(Filter(kinds=frozenset({"fragment"})), 100)
    return [memory for memory in found if memory.type == "reflection"]


def test_an_insight_rests_on_the_memories_that_the_model_names(lore: Lore, clock: Clock) -> None:
    cluster(lore)
    insight = {"insight": "Machines fail on Fridays.", "sources": [1, 3]}
    model = scripted(insight=insight)
    run_phases(with_model(lore, model), REFLECT)
    [reflection] = reflections(lore)
    assert reflection.content == "Machines fail on Fridays."
    [prompt] = prompts_of(model, "insight")
    named = [lore.read(link.target, use=False).memory.content for link in lore.links([reflection.id])]
    assert len(named) == 2
    assert f"[1] {named[0].split()[1]} {named[0]}" in prompt.text
    clock.sleep(days=1)
    run_phases(with_model(lore, ScriptedModel([])), REFLECT)
    assert len(reflections(lore)) == 1
    assert is_consistent(lore)


def test_a_cluster_without_insight_is_not_asked_about_again_until_it_changes(
    lore: Lore, clock: Clock
) -> None:
    roots = cluster(lore)
    run_phases(with_model(lore, scripted()), REFLECT)
    clock.sleep(days=1)
    run_phases(with_model(lore, ScriptedModel([])), REFLECT)
    assert reflections(lore) == []
    lore.link(
        [Tie(source=roots[0].id, target=store_statement(lore, "The fan failed.").id, kind="associative")]
    )
    again = scripted()
    run_phases(with_model(lore, again), REFLECT)
    assert len(prompts_of(again, "insight")) == 1


def test_an_insight_without_sources_is_not_stored(lore: Lore) -> None:
    cluster(lore)
    lonely = scripted(insight={"insight": "Machines fail.", "sources": [2]})
    report = run_phases(with_model(lore, lonely), REFLECT)
    assert "two memories at least" in report.remarks[0]
    assert reflections(lore) == []
