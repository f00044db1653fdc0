"""introduce, observe, retract: all of a call or nothing of it; the entity's words follow."""

import pytest

from lore import Draft, Invalid, Lore, NotFound
from lore.clock import Clock
from lore.engine.entity_view import Subject
from lore.model import Filter, Query, Revision


def said(name: str, *texts: str, **fields: str) -> Subject:
    return Subject(name=name, observations=texts, **fields)  # type: ignore[arg-type]


def texts_of(lore: Lore, name: str) -> list[str]:
    [view] = lore.open_nodes([name]).views
    return [memory.content for memory in view.observations]


def entity_words(lore: Lore, question: str) -> set[str]:
    """The names of the entities that this question finds."""
    query = Query(text=question, where=Filter(kinds=frozenset({"entity"})), counted=False)
    return {hit.memory.title for hit in lore.search(query).hits}


def test_an_entity_is_a_memory_with_its_observations_below_it(lore: Lore) -> None:
    [view] = lore.introduce([said("Site", "built with Astro", "lives on Vercel", type="Project")])
    assert (view.entity.kind, view.entity.title, view.entity.type) == (
        "entity",
        "Site",
        "Project",
    )
    assert view.entity.content == "Site (Project)"
    assert view.entity.context == "built with Astro | lives on Vercel"
    branch = lore.explore(view.entity.id)
    assert [child.memory.content for child in branch.children] == ["built with Astro", "lives on Vercel"]
    assert {child.memory.kind for child in branch.children} == {"observation"}


def test_an_existing_entity_gains_what_is_new_and_keeps_type_and_status(lore: Lore) -> None:
    lore.introduce([said("Site", "one", type="Project", status="pausado")])
    [view] = lore.introduce([said("Site", "one", "two")])
    assert (view.created, view.entity.type, view.entity.status) == (
        False,
        "Project",
        "pausado",
    )
    assert texts_of(lore, "Site") == ["one", "two"]
    [view] = lore.introduce([said("Site", type="Archive")])
    assert (view.entity.type, view.entity.content) == ("Archive", "Site (Archive)")


def test_without_merging_an_existing_entity_is_left_alone(lore: Lore) -> None:
    lore.introduce([said("Site", "one")])
    views = lore.introduce([said("Site", "two"), said("New")], merge=False)
    assert [view.created for view in views] == [False, True]
    assert texts_of(lore, "Site") == ["one"]


@pytest.mark.parametrize("bad", [said(""), said("ok", "fine", ""), said("ok", "nul \0"), said("x" * 1_001)])
def test_one_bad_item_leaves_nothing_of_the_call(lore: Lore, bad: Subject) -> None:
    with pytest.raises(Invalid):
        lore.introduce([said("First", "one"), bad])
    assert lore.nodes().views == ()


def test_an_unknown_entity_leaves_nothing_of_the_call(lore: Lore) -> None:
    lore.introduce([said("Site")])
    with pytest.raises(NotFound, match="Nowhere"):
        lore.observe([said("Site", "one"), said("Nowhere", "two")])
    assert texts_of(lore, "Site") == []


def test_words_and_meaning_of_the_entity_follow_its_observations(lore: Lore) -> None:
    lore.introduce([said("Site", "painted teal")])
    assert entity_words(lore, "teal") == {"Site"}
    lore.retract([said("Site", "painted teal")])
    lore.observe([said("Site", "painted crimson")])
    assert entity_words(lore, "teal") == set()
    assert entity_words(lore, "crimson") == {"Site"}
    assert lore.status().pending == 0


def test_other_verbs_that_touch_an_observation_repaint_its_entity(lore: Lore) -> None:
    [view] = lore.introduce([said("Site", "painted teal", "on Vercel")])
    teal, vercel = view.observations
    lore.revise(Revision(id=teal.id, content="painted crimson"))
    assert entity_words(lore, "teal") == set()
    lore.forget([vercel.id])
    assert entity_words(lore, "vercel") == set()
    lore.restore([vercel.id])
    assert entity_words(lore, "vercel") == {"Site"}
    assert texts_of(lore, "Site") == ["painted crimson", "on Vercel"]


def test_forgetting_an_entity_takes_its_observations_along_and_restoring_brings_them_back(
    lore: Lore, clock: Clock
) -> None:
    [view] = lore.introduce([said("Site", "painted teal", "on Vercel")])
    lore.forget([view.observations[1].id])
    clock.sleep(minutes=1)
    assert lore.forget([view.entity.id]) == [view.entity.id]
    assert lore.search(Query(text="teal vercel site")).hits == ()
    lore.introduce([said("Site", "another one")])
    assert texts_of(lore, "Site") == ["another one"]
    lore.forget([lore.entities(["Site"])["Site"].id])
    assert lore.restore([view.entity.id]) == [view.entity.id]
    assert texts_of(lore, "Site") == ["painted teal"]


def test_a_repetition_is_kept_and_flagged(lore: Lore) -> None:
    lore.introduce([said("Site", "deployed on Vercel with a custom domain")])
    [view] = lore.observe(
        [said("Site", "deployed on Vercel with custom domain", "cats sleep", "custom domain")]
    )
    flags = {memory.content: "similar" in memory.flags for memory in view.added}
    assert flags == {
        "deployed on Vercel with custom domain": True,
        "cats sleep": False,
        "custom domain": True,
    }


def test_the_first_observations_of_an_entity_are_never_flagged(lore: Lore) -> None:
    [view] = lore.introduce([said("Site", "the same thing", "the same thing!")])
    assert [memory.flags for memory in view.observations] == [frozenset(), frozenset()]


def test_a_superseded_observation_is_hidden_and_can_be_said_again(lore: Lore) -> None:
    [view] = lore.introduce([said("Site", "on Netlify", "blue")])
    old = view.observations[0]
    lore.observe([Subject(name="Site", observations=("on Vercel",), supersedes=old.alias)])
    assert texts_of(lore, "Site") == ["blue", "on Vercel"]
    assert entity_words(lore, "netlify") == set()
    past = lore.observations(view.entity)
    assert [memory.content for memory in past] == ["on Netlify", "blue", "on Vercel"]
    assert past[0].superseded_by == past[2].id
    lore.observe([said("Site", "on Netlify")])
    assert texts_of(lore, "Site") == ["blue", "on Vercel", "on Netlify"]


def test_what_cannot_be_superseded_is_named_and_nothing_is_written(lore: Lore) -> None:
    [one, other] = lore.introduce([said("One", "a", "b"), said("Other", "c")])
    a, c = one.observations[0].alias, other.observations[0].alias
    lore.observe([Subject(name="One", observations=("a2",), supersedes=a)])
    for alias, why in ((a, "already"), (c, "not found"), (999, "not found")):
        with pytest.raises(Invalid, match=why):
            lore.observe([Subject(name="One", observations=("new",), supersedes=alias)])
    with pytest.raises(Invalid, match="another one"):
        lore.observe([Subject(name="One", observations=("b",), supersedes=one.observations[1].alias)])
    assert texts_of(lore, "One") == ["b", "a2"]


def test_an_entity_belongs_to_a_namespace_and_its_observations_with_it(lore: Lore) -> None:
    ada = lore.for_namespace("ada")
    lore.introduce([said("Site", "shared fact")])
    ada.introduce([said("Diary", "private fact")])
    ada.observe([said("Site", "ada adds")])
    assert texts_of(lore, "Site") == ["shared fact", "ada adds"]
    assert lore.entities(["Diary"]) == {}
    assert [p.name for p in lore.nodes("private").views] == []
    assert [p.name for p in ada.nodes("fact").views] == ["Site", "Diary"]


def test_memories_of_other_kinds_stand_in_for_entities(lore: Lore) -> None:
    note = lore.remember(Draft(content="The router is in the cellar."))
    twins = [lore.remember(Draft(content=f"text {n}", title="Twin")) for n in range(2)]
    assert [p.name for p in lore.nodes("router").views] == ["The router is in the cellar."]
    names = [f"Twin (#{twin.alias})" for twin in twins]
    assert sorted(p.name for p in lore.nodes("twin").views) == names
    assert [p.entity.id for p in lore.open_nodes([names[1]]).views] == [twins[1].id]
    assert {p.entity.id for p in lore.open_nodes(["Twin"]).views} == {twin.id for twin in twins}
    for name in (note.id, "The router is in the cellar."):
        assert [p.entity.id for p in lore.open_nodes([name]).views] == [note.id]
    assert {p.entity.id for p in lore.nodes().views} == {
        note.id,
        *(twin.id for twin in twins),
    }
