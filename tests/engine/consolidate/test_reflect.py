"""Phase reflect: a language model may find an insight in a cluster of trees, once."""

from typing import Any

import pytest

from lore import Lore, Tie
from lore.clock import Clock
from lore.llm.base import Unreachable
from lore.model import Revision
from tests.engine.consolidate.helpers import (
    counts_of,
    descriptions,
    fragment,
    fragments,
    memory,
    run_phases,
    with_answers,
)

INSIGHT = "All outages began with a full disk."


def star(lore: Lore, rays: int, **more: str) -> list[str]:
    """A root in the middle, linked to others."""
    ids = [fragment(lore, f"Outage {'abcdefgh'[n]} of the harbour", **more) for n in range(rays + 1)]
    lore.link([Tie(source=ids[0], target=other, weight=0.5) for other in ids[1:]])
    return ids


def answer(*sources: int, insight: str | None = INSIGHT) -> dict[str, Any]:
    return {"insight": insight, "sources": list(sources)}


def test_a_dense_cluster_gets_one_reflection(lore: Lore, clock: Clock) -> None:
    ids = star(lore, 3)
    lore, model = with_answers(lore, answer(1, 2, 3, 4))
    assert counts_of(run_phases(lore, "reflect")) == {"reflections_generated": 1}
    [reflection] = [one for one in fragments(lore) if one.type == "reflection"]
    assert (reflection.content, reflection.importance, reflection.depth) == (INSIGHT, 0.9, 0)
    assert reflection.metadata == {"type": "reflection"}
    links = [link for link in lore.links([reflection.id]) if link.type == "derived_from"]
    assert {link.target: link.weight for link in links} == {ids[0]: 1.0} | dict.fromkeys(ids[1:], 0.8)
    clock.sleep(days=1)
    assert descriptions(run_phases(lore, "reflect")) == []
    assert len(model.prompts) == 1, "derived_from blocks a second reflection"


def test_typed_relations_make_a_cluster_too(lore: Lore) -> None:
    ids = [fragment(lore, f"Outage {'abcd'[n]} of the harbour") for n in range(4)]
    ties = [Tie(source=ids[0], target=other, kind="relation", type="related_to") for other in ids[1:]]
    lore.link(ties)
    lore, _ = with_answers(lore, answer(1, 2, 3, 4))
    assert counts_of(run_phases(lore, "reflect")) == {"reflections_generated": 1}


@pytest.mark.parametrize("rays", [0, 1, 2])
def test_fewer_than_four_linked_trees_are_no_cluster(lore: Lore, rays: int) -> None:
    star(lore, rays)
    lore, model = with_answers(lore)
    run_phases(lore, "reflect")
    assert model.prompts == []


def test_trees_of_different_projects_are_no_cluster(lore: Lore) -> None:
    ids = star(lore, 2)
    lore.link([Tie(source=ids[0], target=fragment(lore, "Outage z", project="elsewhere"))])
    lore, model = with_answers(lore)
    run_phases(lore, "reflect")
    assert model.prompts == []


def test_a_cluster_without_insight_is_not_asked_about_again_until_it_changes(
    lore: Lore, clock: Clock
) -> None:
    ids = star(lore, 3)
    lore, model = with_answers(lore, answer(insight=None), answer(1, 2))
    run_phases(lore, "reflect")
    clock.sleep(days=1)
    assert descriptions(run_phases(lore, "reflect")) == []
    assert len(model.prompts) == 1
    lore.revise(Revision(id=ids[0], content="Outage of the harbour, with a full disk"))
    assert descriptions(run_phases(lore, "reflect")) == [INSIGHT]


def test_without_an_answer_the_next_run_asks_about_the_cluster_again(lore: Lore, clock: Clock) -> None:
    star(lore, 3)
    lore, _ = with_answers(lore, *[Unreachable("no connection")] * 5, answer(1, 2))
    while "no connection" in run_phases(lore, "reflect").remarks:
        clock.sleep(days=1)
    assert [one.content for one in fragments(lore) if one.type == "reflection"] == [INSIGHT]


def test_a_root_takes_part_in_one_cluster(lore: Lore) -> None:
    ids = star(lore, 5)
    lore.link([Tie(source=ids[1], target=other) for other in ids[2:]])
    lore, model = with_answers(lore, answer(1, 2, 3, 4, 5, 6))
    run_phases(lore, "reflect")
    assert len(model.prompts) == 1


def test_a_root_with_a_reflection_is_not_the_centre_of_another_cluster(lore: Lore, clock: Clock) -> None:
    star(lore, 5)
    lore, model = with_answers(lore, answer(1, 2))
    run_phases(lore, "reflect")
    clock.sleep(days=1)
    run_phases(lore, "reflect")
    assert len(model.prompts) == 1


def test_without_a_language_model_there_are_no_reflections(lore: Lore) -> None:
    star(lore, 6)
    before = fragments(lore)
    assert descriptions(run_phases(lore, "reflect")) == []
    assert fragments(lore) == before


def test_a_reflection_is_trusted_no_more_than_its_sources(lore: Lore) -> None:
    ids = star(lore, 3)
    lore, _ = with_answers(lore, answer(1, 2))
    run_phases(lore, "reflect")
    [reflection] = [one for one in fragments(lore) if one.type == "reflection"]
    assert reflection.trust == min(memory(lore, id).trust for id in ids)
