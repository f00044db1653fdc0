"""Overviews and insights with a language model: its words are kept at once, and it is asked once."""

from typing import Any

import pytest

from lore import Filter, Lore, Tie
from lore.clock import Clock
from lore.engine.consolidation import sleep
from lore.llm.base import NoAnswer, Prompt, Refused
from lore.llm.scripted import ScriptedModel
from lore.model import Memory
from tests.engine.consolidate_llm.conftest import answering, asked, kept, sound, thinking

RESUMMARIZE, REFLECT = ("resummarize",), ("reflect",)


def tree(lore: Lore, name: str, *, source_type: str = "distilled", branches: int = 3) -> Memory:
    """A root with branches, each later and more important than the one before."""
    root = kept(lore, f"About {name}.", title=name, source_type=source_type, days=-9)
    children = [
        kept(lore, f"{name} fact {number}.", days=-8 + number, importance=0.2 + 0.1 * number)
        for number in range(branches)
    ]
    lore.link([Tie(source=root.id, target=child.id, kind="hierarchical") for child in children])
    return root


def saying(text: str) -> dict[str, Any]:
    return {"title": "A title", "overview": text}


def test_an_overview_is_the_models_and_asked_for_once(lore: Lore, clock: Clock) -> None:
    root = tree(lore, "Cranes")
    model = answering(overview=saying("  Three facts about cranes. "))
    report = sleep(thinking(lore, model), RESUMMARIZE)
    assert lore.look_at(root.id).memory.content == "Three facts about cranes."
    assert report.counts == {"roots_resummarized": 1}
    [prompt] = model.prompts
    assert (
        "[1] Cranes About Cranes.\n[2] Cranes fact 0.\n[3] Cranes fact 1.\n[4] Cranes fact 2." in prompt.text
    )
    assert prompt.role == "compression"
    clock.sleep(days=1)
    sleep(thinking(lore, ScriptedModel([])), RESUMMARIZE)


def test_what_somebody_else_has_written_gets_a_summary_and_keeps_its_words(lore: Lore) -> None:
    root = tree(lore, "Cranes", source_type="agent")
    sleep(thinking(lore, answering(overview=saying("Three facts."))), RESUMMARIZE)
    told = lore.look_at(root.id).memory
    assert (told.content, told.summary) == ("About Cranes.", "Three facts.")


def test_of_a_large_tree_the_most_important_is_told(lore: Lore) -> None:
    root = kept(lore, "About ropes.", title="Ropes", source_type="distilled", days=-9)
    children = [
        kept(lore, f"rope{number} " + "is long and strong " * 70, importance=number / 100)
        for number in range(30)
    ]
    lore.link([Tie(source=root.id, target=child.id, kind="hierarchical") for child in children])
    model = answering()
    sleep(thinking(lore, model), RESUMMARIZE)
    [prompt] = model.prompts
    assert len(prompt.text) < 12_000
    assert "rope29" in prompt.text
    assert "rope1 " not in prompt.text


def test_a_failure_on_the_way_loses_no_overview(lore: Lore, clock: Clock) -> None:
    names = ["Cranes", "Ropes", "Tides", "Winches"]
    roots = [tree(lore, name) for name in names]

    def two_only(prompt: Prompt) -> dict[str, Any] | NoAnswer:
        return saying("Short.") if len(failing.prompts) <= 2 else Refused("enough for today")

    failing = answering(overview=two_only)
    report = sleep(thinking(lore, failing), RESUMMARIZE)
    assert report.remarks == ("enough for today",)
    assert [lore.look_at(root.id).memory.content for root in roots].count("Short.") == 2
    clock.sleep(days=1)
    again = answering(overview=saying("Short."))
    sleep(thinking(lore, again), RESUMMARIZE)
    assert len(again.prompts) == 2
    assert [lore.look_at(root.id).memory.content for root in roots].count("Short.") == 4
    assert sound(lore)


def test_what_the_model_has_said_is_kept_at_once(lore: Lore) -> None:
    """The script has one answer; to be asked for a second breaks the run, as a crash would."""
    roots = [tree(lore, name) for name in ("Cranes", "Ropes")]
    with pytest.raises(AssertionError, match="no answer number 2"):
        sleep(thinking(lore, ScriptedModel([saying("Short.")])), RESUMMARIZE)
    assert [lore.look_at(root.id).memory.content for root in roots].count("Short.") == 1


@pytest.mark.parametrize("answer", ["Once upon a time", saying("  ")])
def test_nonsense_overwrites_nothing(lore: Lore, answer: Any) -> None:
    root = tree(lore, "Cranes")
    report = sleep(thinking(lore, answering(overview=answer)), RESUMMARIZE)
    assert "answered twice what cannot be used" in report.remarks[0]
    assert lore.look_at(root.id).memory.content == "About Cranes."


def cluster(lore: Lore) -> list[Memory]:
    """Roots of which one is linked to all the others."""
    roots = [
        kept(lore, f"The {name} failed on Friday.", title=name) for name in ("crane", "winch", "pump", "lamp")
    ]
    lore.link([Tie(source=roots[0].id, target=root.id, kind="associative", weight=0.9) for root in roots[1:]])
    return roots


def reflections(lore: Lore) -> list[Memory]:
    found = lore.select(Filter(kinds=frozenset({"fragment"})), 100)
    return [memory for memory in found if memory.type == "reflection"]


def test_an_insight_rests_on_the_memories_that_the_model_names(lore: Lore, clock: Clock) -> None:
    cluster(lore)
    insight = {"insight": "Machines fail on Fridays.", "sources": [1, 3]}
    model = answering(insight=insight)
    sleep(thinking(lore, model), REFLECT)
    [reflection] = reflections(lore)
    assert reflection.content == "Machines fail on Fridays."
    [prompt] = asked(model, "insight")
    named = [lore.look_at(link.target).memory.content for link in lore.links([reflection.id])]
    assert len(named) == 2
    assert f"[1] {named[0].split()[1]} {named[0]}" in prompt.text
    clock.sleep(days=1)
    sleep(thinking(lore, ScriptedModel([])), REFLECT)
    assert len(reflections(lore)) == 1
    assert sound(lore)


def test_where_nothing_follows_it_is_not_asked_again_until_something_changes(
    lore: Lore, clock: Clock
) -> None:
    roots = cluster(lore)
    sleep(thinking(lore, answering()), REFLECT)
    clock.sleep(days=1)
    sleep(thinking(lore, ScriptedModel([])), REFLECT)
    assert reflections(lore) == []
    lore.link([Tie(source=roots[0].id, target=kept(lore, "The fan failed.").id, kind="associative")])
    again = answering()
    sleep(thinking(lore, again), REFLECT)
    assert len(asked(again, "insight")) == 1


def test_an_insight_that_rests_on_nothing_is_none(lore: Lore) -> None:
    cluster(lore)
    lonely = answering(insight={"insight": "Machines fail.", "sources": [2]})
    report = sleep(thinking(lore, lonely), REFLECT)
    assert "two memories at least" in report.remarks[0]
    assert reflections(lore) == []
