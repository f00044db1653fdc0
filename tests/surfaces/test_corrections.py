"""A correction is kept and linked, the same text is kept once, and likeness alone links nothing."""

from dataclasses import replace
from typing import Any

import pytest

from lore import Draft, Filter, Lore
from lore.clock import Clock
from lore.engine.consolidate.phases import Run, consolidate
from lore.surfaces import SURFACES
from tests.ranking.test_compare import UPDATES
from tests.surfaces.checked import checked_call

ALLERGIC, NOT_ALLERGIC = "Alice is allergic to peanuts.", "Alice is not allergic to peanuts."
SAVES = {
    "tree": ("store", "content", {}, "id"),
    "tree-first": ("store_memory", "content", {"summary": "an allergy"}, "id"),
    "typed": ("memory_save", "content", {}, "memory_id"),
    "scored": ("lore_remember", "thought", {}, "id"),
}
"""How each dialect saves one memory: the tool, the argument for the text, further ones, the key of the id."""


def call(lore: Lore, surface: str, tool: str, **arguments: Any) -> Any:
    return checked_call(SURFACES[surface].tools[tool], lore, arguments).data


def save(lore: Lore, surface: str, text: str) -> tuple[str, Any]:
    tool, name, more, key = SAVES[surface]
    answer = call(lore, surface, tool, **{name: text, **more})
    return answer[key], answer


@pytest.mark.parametrize("surface", SAVES)
def test_the_same_text_five_times_is_one_memory_that_was_used_four_times_more(
    lore: Lore, surface: str
) -> None:
    texts = [ALLERGIC, ALLERGIC, f"  {ALLERGIC}", ALLERGIC, ALLERGIC.replace(" ", "  ")]
    ids = {save(lore, surface, text)[0] for text in texts}
    [memory] = lore.select(Filter(), 10)
    assert ids == {memory.id}
    assert memory.access_count == 4
    answer = str(save(lore, surface, ALLERGIC)[1])
    assert any(word in answer for word in ("already stored", "saved before", "duplicate"))


@pytest.mark.parametrize("surface", SAVES)
@pytest.mark.parametrize(("older", "newer"), UPDATES)
def test_a_correction_is_never_refused(lore: Lore, surface: str, older: str, newer: str) -> None:
    before, _ = save(lore, surface, older)
    after, answer = save(lore, surface, newer)
    assert before != after
    assert answer.get("status") not in {"duplicate", "already stored"}
    assert {memory.id for memory in lore.select(Filter(), 10)} == {before, after}


@pytest.mark.parametrize(("surface", "relation"), [("typed", "updates"), ("scored", "supersedes")])
def test_a_correction_is_linked_to_what_it_corrects(lore: Lore, surface: str, relation: str) -> None:
    before, _ = save(lore, surface, ALLERGIC)
    after, _ = save(lore, surface, NOT_ALLERGIC)
    [link] = lore.links([after])
    assert (link.source, link.target, link.type) == (after, before, relation)


def test_a_note_of_the_same_title_that_changes_a_number_is_kept_under_a_title_of_its_own(lore: Lore) -> None:
    first, second = (
        call(lore, "scored", "lore_insert", memories=[{"title": "Rate limit", "content": content}])
        for content in ("100 requests per minute", "250 requests per minute")
    )
    assert second["duplicates"] == second["errors"] == []
    assert second["inserted_memories"][0]["title"] == "Rate limit (2)"
    [link] = second["inserted_links"]
    assert link["target_memory_id"] == first["inserted_memories"][0]["id"]


def test_lessons_that_differ_in_a_number_are_both_kept(lore: Lore) -> None:
    for session, text in (("one", "Builds need 4 GB of memory"), ("two", "Builds need 8 GB of memory")):
        answer = call(
            lore,
            "scored",
            "lore_reflect",
            session_id=session,
            topic="builds",
            summary=f"what session {session} was about",
            lessons_learnt=[text],
        )
        assert "duplicate" not in str(answer)
    assert {memory.content for memory in lore.select(Filter(kinds=frozenset({"note"})), 10)} == {
        "Builds need 4 GB of memory",
        "Builds need 8 GB of memory",
    }


def test_notes_that_differ_in_a_name_or_a_number_are_all_kept(lore: Lore) -> None:
    names = ("Alice", "Bob", "Carol", "Dan", "Erin")
    texts = [
        *(f"{name} sits in the office on the north side of the building" for name in names),
        *(f"The backup of host web-{n} takes {n + 3} minutes every night" for n in range(5)),
        *(f"Ticket {n} was about a login page that stayed blank" for n in range(5)),
    ]
    assert [save(lore, "scored", text)[1]["status"] for text in texts] == ["inserted"] * len(texts)


def test_incidents_that_are_alike_are_not_linked_as_updates(lore: Lore) -> None:
    causes = ("a full disk", "an expired certificate", "a slow query", "a bad deploy")
    for number in range(40):
        cause = causes[number % 4]
        save(
            lore,
            "typed",
            f"INC-{4700 + number}: checkout failed for {number + 5} minutes because of {cause}.",
        )
    assert lore.links([memory.id for memory in lore.select(Filter(), 100)]) == []


LIMIT, NEW_LIMIT = (
    "The API rate limit of Zephyr is 100 requests per minute.",
    "Correction: the API rate limit of Zephyr is now 250 requests per minute.",
)


def test_the_same_text_through_several_dialects_is_one_memory(lore: Lore) -> None:
    ids = {save(lore, surface, ALLERGIC)[0] for surface in ("typed", "tree", "tree-first", "scored", "typed")}
    ids.add(lore.remember(Draft(content=ALLERGIC, once=True)).id)
    assert len(ids) == 1


def test_a_text_saved_again_with_a_type_of_its_own_is_another_memory(lore: Lore) -> None:
    untyped, _ = save(lore, "tree", ALLERGIC)
    typed = call(lore, "typed", "memory_save", content=ALLERGIC, memory_type="identity")["memory_id"]
    assert untyped != typed


@pytest.mark.parametrize("surface", ["tree", "tree-first"])
def test_a_correction_is_no_part_of_what_it_corrects_and_replaces_it_after_a_night(
    lore: Lore, clock: Clock, surface: str
) -> None:
    before, _ = save(lore, surface, LIMIT)
    clock.sleep(days=1)
    after, answer = save(lore, surface, NEW_LIMIT)
    assert answer["parent_id"] is None
    consolidate(lore)
    [old] = lore.select(Filter(ids=(before,), superseded=True), 1)
    assert old.superseded_by == after


def test_the_link_to_what_a_memory_corrects_never_fades(lore: Lore, clock: Clock) -> None:
    before, _ = save(lore, "typed", ALLERGIC)
    after, _ = save(lore, "typed", NOT_ALLERGIC)
    clock.sleep(days=1_000)
    consolidate(lore, Run(phases=("decay",)))
    assert [(link.source, link.target) for link in lore.links([after])] == [(after, before)]


def test_a_correction_comes_before_a_used_memory_in_the_graph(lore: Lore, clock: Clock) -> None:
    save(lore, "typed", LIMIT)
    for _ in range(5):
        call(lore, "typed", "memory_recall", query="API rate limit of Zephyr")
    clock.sleep(days=1)
    save(lore, "typed", NEW_LIMIT)
    found = call(lore, "graph", "search_semantic", query="What is the API rate limit of Zephyr?")
    assert "250" in str(found["results"][0])


def test_an_observation_is_linked_to_the_one_that_it_corrects(lore: Lore) -> None:
    entity = {"name": "Zephyr", "entityType": "service", "observations": ["The rate limit is 100 requests."]}
    call(lore, "graph", "create_entities", entities=[entity])
    call(lore, "graph", "add_observations", name="Zephyr", observations=["The rate limit is 250 requests."])
    old, new = sorted(lore.select(Filter(kinds=frozenset({"observation"})), 5), key=lambda one: one.alias)
    assert ("updates", new.id, old.id) in [
        (link.type, link.source, link.target) for link in lore.links([new.id])
    ]


def test_a_fragment_finds_its_place_among_the_trees_of_its_own_project(lore: Lore) -> None:
    text = "The release branch of the parser is called main-line"
    lore.remember(Draft(content=text, kind="fragment", project="one"))
    answer = call(replace(lore, project="two"), "tree", "store", content=f"{text} and never deleted")
    assert answer["parent_id"] is None


def test_a_statement_of_another_project_is_not_corrected(lore: Lore) -> None:
    save(replace(lore, project="one"), "typed", LIMIT)
    after, _ = save(replace(lore, project="two"), "typed", NEW_LIMIT)
    assert lore.links([after]) == []
