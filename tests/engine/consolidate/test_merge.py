"""merge: roots that say the same become one tree, and nothing that one of them said alone is lost."""

from dataclasses import replace

import pytest

from lore import Draft, Filter, Lore, Query, Tie
from lore.clock import Clock
from lore.config import ConsolidationSettings
from tests.engine.consolidate.sleeping import (
    Fitting,
    done,
    fragment,
    memory,
    night,
    planned,
    roots,
    say,
    sensing,
)

LONG = "The harbour office opens at eight and closes at six, and whoever comes later rings the bell"


def test_a_root_that_repeats_another_gives_way_with_all_that_it_has(lore: Lore) -> None:
    old, new = fragment(lore, LONG), fragment(lore, f"{LONG} twice")
    friend = fragment(lore, "penguin")
    child = fragment(lore, "walrus", old)
    tie = Tie(source=friend, target=old, weight=0.4, reason="seen together")
    [link] = lore.link([tie])
    lore.read(new)
    report = night(lore, "merge")
    assert done(report) == {"roots_merged": 1}
    assert memory(lore, old).superseded_by == new
    assert roots(lore) == {new, friend}
    assert lore.look_at(child).parent == new
    [moved] = [link for link in lore.links([friend]) if link.kind == "associative"]
    assert (moved.target, moved.weight, moved.reason) == (new, 0.4, "seen together")
    assert moved.updated_at == link.updated_at, "to be moved is not to be used"
    assert all(finding.passed for finding in lore.check())


def test_what_gave_way_stays_stored_linked_and_readable(lore: Lore) -> None:
    old, new = fragment(lore, f"{LONG} twice"), fragment(lore, LONG)
    night(lore, "merge")
    assert lore.read(new).memory.superseded_by == old
    found = [hit.memory.id for hit in lore.search(Query(text="harbour office")).hits]
    history = lore.search(Query(text="harbour office", where=Filter(superseded=True))).hits
    assert found == [old]
    assert {hit.memory.id for hit in history} == {old, new}
    [link] = lore.store.reader("shared").all_links(new)
    assert (link.source, link.target, link.kind) == (old, new, "supersedes")


@pytest.mark.parametrize(
    "more",
    [
        "ring the bell at gate 7",
        "but never on Sundays",
        "says Nemo",
        "bring passport, boat papers, cash, patience, rope, lamp, tide tables",
    ],
)
def test_what_says_more_becomes_a_branch(lore: Lore, more: str) -> None:
    old, new = fragment(lore, LONG, title="Harbour office"), fragment(lore, f"{LONG}, {more}")
    lore = replace(lore, tuning=ConsolidationSettings(merge_threshold=0.3))
    night(lore, "merge")
    assert lore.look_at(new).parent == old
    assert memory(lore, new).superseded_by is None


def test_the_end_of_a_long_text_counts_too(lore: Lore) -> None:
    words = " ".join(f"word{'abcdefghij'[n % 10]}{'klmnopqrst'[n // 10]}" for n in range(80))
    one, other = fragment(lore, words), fragment(lore, words + " and the vault lies below the old mill")
    lore.read(one)
    lore = replace(lore, tuning=ConsolidationSettings(merge_threshold=0.5))
    night(lore, "merge")
    assert lore.look_at(other).parent == one
    assert memory(lore, other).superseded_by is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The backup of the shop runs at 3 in the night", "The backup of the shop runs at 4 in the night"),
        ("We deploy the shop to Frankfurt every week", "We deploy the shop to Singapore every week"),
        ("The shop is deployed on Friday afternoons", "The shop is not deployed on Friday afternoons"),
    ],
)
def test_what_differs_in_what_matters_is_not_merged(lore: Lore, one: str, other: str) -> None:
    ids = {fragment(lore, one), fragment(lore, other)}
    lore = replace(lore, tuning=ConsolidationSettings(merge_threshold=0.5))
    night(lore, "merge")
    assert roots(lore) == ids


@pytest.mark.parametrize("more", [{"type": "decision"}, {"project": "elsewhere"}])
def test_other_sorts_and_other_projects_stay_apart(lore: Lore, more: dict[str, str]) -> None:
    event = {"type": "event"}
    ids = {fragment(lore, LONG, **event), fragment(lore, LONG, **event | more)}
    night(lore, "merge")
    assert roots(lore) == ids


def test_only_memories_of_the_own_namespace_are_merged(lore: Lore) -> None:
    shared = fragment(lore, LONG)
    mine = fragment(lore.for_namespace("mine"), LONG)
    assert planned(night(lore.for_namespace("mine"), "merge")) == []
    assert planned(night(lore, "merge")) == []
    assert not any(memory(lore.for_namespace("mine"), id).superseded_by for id in (shared, mine))


@pytest.mark.parametrize(("fit", "merged"), [(0.86, True), (0.84, False)])
def test_how_alike_roots_must_be_is_a_setting(lore: Lore, fit: float, merged: bool) -> None:
    lore = sensing(lore, Fitting())
    ids = [fragment(lore, f"fit {each}", title="harbour") for each in (1, fit)]
    night(lore, "merge")
    assert (roots(lore) == set(ids)) is not merged
    strict = replace(lore, tuning=ConsolidationSettings(merge_threshold=0.8))
    night(strict, "merge")
    assert len(roots(lore)) == 1, "with another setting all is looked at again"


def test_the_more_used_survives_and_then_the_more_present(lore: Lore, clock: Clock) -> None:
    old = fragment(lore, LONG)
    clock.sleep(days=1)
    new = fragment(lore, LONG)
    twin = lore.for_namespace("twin")
    used = [fragment(twin, LONG), fragment(twin, LONG)]
    twin.read(used[0])
    night(lore, "merge")
    night(twin, "merge")
    assert (memory(lore, new).superseded_by, memory(lore, old).superseded_by) == (None, new)
    assert memory(twin, used[1]).superseded_by == used[0]


def test_what_somebody_wrote_survives_what_lore_made(lore: Lore, clock: Clock) -> None:
    written = fragment(lore, LONG)
    clock.sleep(days=1)
    made = fragment(lore, LONG, source_type="distilled")
    night(lore, "merge")
    assert memory(lore, made).superseded_by == written


def test_many_that_say_the_same_become_one_and_no_child_is_left_behind(lore: Lore, clock: Clock) -> None:
    tops = []
    for number in range(6):
        tops.append(fragment(lore, LONG))
        clock.sleep(minutes=1)
        fragment(lore, f"walrus number {number}", tops[-1])
    lore.read(tops[3])
    night(lore, "merge")
    assert roots(lore) == {tops[3]}
    assert len(lore.look_at(tops[3]).children) == 6
    assert all(finding.passed for finding in lore.check())


def test_a_chain_of_likes_gives_way_only_to_what_it_is_like(lore: Lore) -> None:
    """The middle one is like both; the ends are not like each other."""
    lore = sensing(lore, Fitting())
    ends = [
        fragment(lore, f"the {at} harbour (fit {fit})", title="harbour")
        for at, fit in (("old", 1), ("big", 0.6))
    ]
    middle = fragment(lore, "the deep harbour (fit 0.9)", title="harbour")
    fragment(lore, "below an end", ends[0])
    fragment(lore, "below the other", ends[1])
    lore.read(ends[0])
    night(lore, "merge")
    assert roots(lore) == set(ends)
    assert lore.look_at(middle).parent == ends[0]


def test_what_was_compared_is_not_compared_again_until_something_changes(lore: Lore, clock: Clock) -> None:
    fragment(lore, LONG)
    night(lore, "merge")
    clock.sleep(days=1)
    fragment(lore, LONG)
    assert planned(night(lore, "merge", dry=True))
    assert len(planned(night(lore, "merge"))) == 1
    clock.sleep(days=1)
    assert planned(night(lore, "merge")) == []


def test_what_could_not_be_compared_is_once_there_is_an_embedder(
    blind: Lore, lore: Lore, clock: Clock
) -> None:
    for text in (LONG, f"{LONG} twice"):
        fragment(blind, text)
    assert planned(night(blind)) == []
    clock.sleep(days=1)
    assert len(planned(night(replace(blind, sense=lore.sense), "merge"))) == 1


def test_a_clock_that_went_wrong_hides_nothing_for_good(lore: Lore, clock: Clock) -> None:
    clock.sleep(days=9_000)
    night(lore)
    clock.sleep(days=-9_000)
    for _ in range(2):
        fragment(lore, LONG)
    assert len(planned(night(lore, "merge"))) == 1


def test_the_same_text_wherever_it_hangs_becomes_one_memory(lore: Lore) -> None:
    root = fragment(lore, "penguin")
    first, below = fragment(lore, LONG), fragment(lore, LONG, root)
    detail = fragment(lore, "the bell is brass", below)
    one, other = (lore.remember(Draft(content=LONG, title="Harbour")).id for _ in range(2))
    named = lore.remember(Draft(content=LONG, title="Another name")).id
    assert done(night(lore, "merge")) == {"twins_merged": 2}
    assert memory(lore, below).superseded_by == first
    assert lore.look_at(detail).parent == first
    assert memory(lore, other).superseded_by == one
    assert memory(lore, named).superseded_by is None
    assert all(finding.passed for finding in lore.check())
    assert done(night(lore, "merge")) == {}


def test_the_same_text_of_two_dialects_becomes_one_memory(lore: Lore) -> None:
    kept = lore.remember(Draft(content=LONG, type="preference")).id
    fragment(lore, LONG)
    fragment(lore, LONG, type="fact")
    assert done(night(lore, "merge")) == {"twins_merged": 2}
    assert [one.id for one in lore.select(Filter(), 5)] == [kept]


def test_a_correction_stays_a_root_beside_what_it_corrects(lore: Lore, clock: Clock) -> None:
    fragment(lore, "The retry limit of the mailer is three.")
    clock.sleep(days=1)
    newer = fragment(lore, "The retry limit of the mailer is five now.")
    assert done(night(lore, "merge")) == {}
    assert lore.look_at(newer).parent is None


def test_topics_with_the_same_title_become_one_tree(lore: Lore, clock: Clock) -> None:
    say(
        lore, "one", "start working on task 014", "Understood.", "never edit the main checkout", "Understood."
    )
    say(
        lore,
        "two",
        "continue working on task 014",
        "Understood.",
        "always sign the release tags",
        "Understood.",
    )
    clock.sleep(days=1)
    night(lore)
    [root] = [memory(lore, id) for id in roots(lore)]
    assert root.title == "Task 014"
    assert {child.memory.content for child in lore.explore(root.id).children} == {
        "Never edit the main checkout.",
        "Always sign the release tags.",
    }
