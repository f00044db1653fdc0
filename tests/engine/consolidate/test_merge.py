"""Phase merge: memories that say the same become one, and nothing that only one of them says is lost."""

from dataclasses import replace

import pytest

from lore import Draft, Filter, Lore, Query, Tie
from lore.clock import Clock
from lore.settings import ConsolidationSettings
from tests.engine.consolidate.helpers import (
    FitEmbedder,
    converse,
    counts_of,
    descriptions,
    fragment,
    memory,
    roots,
    run_phases,
    with_embedder,
)

LONG = "The harbour office opens at eight and closes at six, and whoever comes later rings the bell"


def test_a_root_that_repeats_another_is_superseded_and_its_children_and_links_move(lore: Lore) -> None:
    old, new = fragment(lore, LONG), fragment(lore, f"{LONG} twice")
    friend = fragment(lore, "penguin")
    child = fragment(lore, "walrus", old)
    tie = Tie(source=friend, target=old, weight=0.4, reason="seen together")
    [link] = lore.link([tie])
    lore.read(new)
    report = run_phases(lore, "merge")
    assert counts_of(report) == {"roots_merged": 1}
    assert memory(lore, old).superseded_by == new
    assert roots(lore) == {new, friend}
    assert lore.read(child, use=False).parent == new
    [moved] = [link for link in lore.links([friend]) if link.kind == "associative"]
    assert (moved.target, moved.weight, moved.reason) == (new, 0.4, "seen together")
    assert moved.updated_at == link.updated_at, "to be moved is not to be used"
    assert all(finding.passed for finding in lore.check())


def test_a_merged_memory_stays_stored_linked_and_readable(lore: Lore) -> None:
    old, new = fragment(lore, f"{LONG} twice"), fragment(lore, LONG)
    run_phases(lore, "merge")
    assert lore.read(new).memory.superseded_by == old
    found = [hit.memory.id for hit in lore.search(Query(text="harbour office")).hits]
    history = lore.search(Query(text="harbour office", where=Filter(superseded=True))).hits
    assert found == [old]
    assert {hit.memory.id for hit in history} == {old, new}
    [link] = lore.store.reader("shared").links([new], ended=True)
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
def test_a_similar_root_that_says_more_becomes_a_branch(lore: Lore, more: str) -> None:
    old, new = fragment(lore, LONG, title="Harbour office"), fragment(lore, f"{LONG}, {more}")
    lore = replace(lore, tuning=ConsolidationSettings(merge_threshold=0.3))
    run_phases(lore, "merge")
    assert lore.read(new, use=False).parent == old
    assert memory(lore, new).superseded_by is None


def test_a_root_that_says_more_at_the_end_of_a_long_text_becomes_a_branch(lore: Lore) -> None:
    words = " ".join(f"word{'abcdefghij'[n % 10]}{'klmnopqrst'[n // 10]}" for n in range(80))
    one, other = fragment(lore, words), fragment(lore, words + " and the vault lies below the old mill")
    lore.read(one)
    lore = replace(lore, tuning=ConsolidationSettings(merge_threshold=0.5))
    run_phases(lore, "merge")
    assert lore.read(other, use=False).parent == one
    assert memory(lore, other).superseded_by is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The backup of the shop runs at 3 in the night", "The backup of the shop runs at 4 in the night"),
        ("We deploy the shop to Frankfurt every week", "We deploy the shop to Singapore every week"),
        ("The shop is deployed on Friday afternoons", "The shop is not deployed on Friday afternoons"),
    ],
)
def test_roots_that_differ_in_a_number_name_or_negation_are_not_merged(
    lore: Lore, one: str, other: str
) -> None:
    ids = {fragment(lore, one), fragment(lore, other)}
    lore = replace(lore, tuning=ConsolidationSettings(merge_threshold=0.5))
    run_phases(lore, "merge")
    assert roots(lore) == ids


@pytest.mark.parametrize("more", [{"type": "decision"}, {"project": "elsewhere"}])
def test_roots_of_different_types_or_projects_are_not_merged(lore: Lore, more: dict[str, str]) -> None:
    event = {"type": "event"}
    ids = {fragment(lore, LONG, **event), fragment(lore, LONG, **event | more)}
    run_phases(lore, "merge")
    assert roots(lore) == ids


def test_only_memories_of_the_own_namespace_are_merged(lore: Lore) -> None:
    shared = fragment(lore, LONG)
    mine = fragment(lore.for_namespace("mine"), LONG)
    assert descriptions(run_phases(lore.for_namespace("mine"), "merge")) == []
    assert descriptions(run_phases(lore, "merge")) == []
    assert not any(memory(lore.for_namespace("mine"), id).superseded_by for id in (shared, mine))


@pytest.mark.parametrize(("fit", "merged"), [(0.86, True), (0.84, False)])
def test_merge_threshold_sets_how_similar_merged_roots_must_be(lore: Lore, fit: float, merged: bool) -> None:
    lore = with_embedder(lore, FitEmbedder())
    ids = [fragment(lore, f"fit {each}", title="harbour") for each in (1, fit)]
    run_phases(lore, "merge")
    assert (roots(lore) == set(ids)) is not merged
    strict = replace(lore, tuning=ConsolidationSettings(merge_threshold=0.8))
    run_phases(strict, "merge")
    assert len(roots(lore)) == 1, "with another setting all is looked at again"


def test_of_merged_roots_the_most_used_survives_then_the_most_relevant(lore: Lore, clock: Clock) -> None:
    old = fragment(lore, LONG)
    clock.sleep(days=1)
    new = fragment(lore, LONG)
    twin = lore.for_namespace("twin")
    used = [fragment(twin, LONG), fragment(twin, LONG)]
    twin.read(used[0])
    run_phases(lore, "merge")
    run_phases(twin, "merge")
    assert (memory(lore, new).superseded_by, memory(lore, old).superseded_by) == (None, new)
    assert memory(twin, used[1]).superseded_by == used[0]


def test_a_written_root_survives_a_distilled_one(lore: Lore, clock: Clock) -> None:
    written = fragment(lore, LONG)
    clock.sleep(days=1)
    distilled = fragment(lore, LONG, source_type="distilled")
    run_phases(lore, "merge")
    assert memory(lore, distilled).superseded_by == written


def test_many_equal_roots_become_one_with_all_their_children(lore: Lore, clock: Clock) -> None:
    tops = []
    for number in range(6):
        tops.append(fragment(lore, LONG))
        clock.sleep(minutes=1)
        fragment(lore, f"walrus number {number}", tops[-1])
    lore.read(tops[3])
    run_phases(lore, "merge")
    assert roots(lore) == {tops[3]}
    assert len(lore.read(tops[3], use=False).children) == 6
    assert all(finding.passed for finding in lore.check())


def test_a_root_is_merged_only_into_a_root_that_it_is_itself_similar_to(lore: Lore) -> None:
    """The middle one is like both; the ends are not like each other."""
    lore = with_embedder(lore, FitEmbedder())
    ends = [
        fragment(lore, f"the {at} harbour (fit {fit})", title="harbour")
        for at, fit in (("old", 1), ("big", 0.6))
    ]
    middle = fragment(lore, "the deep harbour (fit 0.9)", title="harbour")
    fragment(lore, "below an end", ends[0])
    fragment(lore, "below the other", ends[1])
    lore.read(ends[0])
    run_phases(lore, "merge")
    assert roots(lore) == set(ends)
    assert lore.read(middle, use=False).parent == ends[0]


def test_compared_roots_are_compared_again_only_after_a_change(lore: Lore, clock: Clock) -> None:
    fragment(lore, LONG)
    run_phases(lore, "merge")
    clock.sleep(days=1)
    fragment(lore, LONG)
    assert descriptions(run_phases(lore, "merge", dry=True))
    assert len(descriptions(run_phases(lore, "merge"))) == 1
    clock.sleep(days=1)
    assert descriptions(run_phases(lore, "merge")) == []


def test_roots_without_vectors_are_compared_once_there_is_an_embedder(
    without_embedder: Lore, lore: Lore, clock: Clock
) -> None:
    for text in (LONG, f"{LONG} twice"):
        fragment(without_embedder, text)
    assert descriptions(run_phases(without_embedder)) == []
    clock.sleep(days=1)
    assert len(descriptions(run_phases(replace(without_embedder, embeddings=lore.embeddings), "merge"))) == 1


def test_a_run_dated_in_the_future_does_not_stop_later_comparisons(lore: Lore, clock: Clock) -> None:
    clock.sleep(days=9_000)
    run_phases(lore)
    clock.sleep(days=-9_000)
    for _ in range(2):
        fragment(lore, LONG)
    assert len(descriptions(run_phases(lore, "merge"))) == 1


def test_equal_texts_anywhere_in_the_trees_become_one_memory(lore: Lore) -> None:
    root = fragment(lore, "penguin")
    first, below = fragment(lore, LONG), fragment(lore, LONG, root)
    detail = fragment(lore, "the bell is brass", below)
    one, other = (lore.remember(Draft(content=LONG, title="Harbour")).id for _ in range(2))
    named = lore.remember(Draft(content=LONG, title="Another name")).id
    assert counts_of(run_phases(lore, "merge")) == {"twins_merged": 2}
    assert memory(lore, below).superseded_by == first
    assert lore.read(detail, use=False).parent == first
    assert memory(lore, other).superseded_by == one
    assert memory(lore, named).superseded_by is None
    assert all(finding.passed for finding in lore.check())
    assert counts_of(run_phases(lore, "merge")) == {}


def test_equal_texts_of_two_dialects_become_one_memory(lore: Lore) -> None:
    kept = lore.remember(Draft(content=LONG, type="preference")).id
    fragment(lore, LONG)
    fragment(lore, LONG, type="fact")
    assert counts_of(run_phases(lore, "merge")) == {"twins_merged": 2}
    assert [one.id for one in lore.select(Filter(), 5)] == [kept]


def test_a_correction_is_not_merged_with_the_statement_that_it_corrects(lore: Lore, clock: Clock) -> None:
    fragment(lore, "The retry limit of the mailer is three.")
    clock.sleep(days=1)
    newer = fragment(lore, "The retry limit of the mailer is five now.")
    assert counts_of(run_phases(lore, "merge")) == {}
    assert lore.read(newer, use=False).parent is None


def test_topics_with_the_same_title_become_one_tree(lore: Lore, clock: Clock) -> None:
    converse(
        lore, "one", "start working on task 014", "Understood.", "never edit the main checkout", "Understood."
    )
    converse(
        lore,
        "two",
        "continue working on task 014",
        "Understood.",
        "always sign the release tags",
        "Understood.",
    )
    clock.sleep(days=1)
    run_phases(lore)
    [root] = [memory(lore, id) for id in roots(lore)]
    assert root.title == "Task 014"
    assert {child.memory.content for child in lore.explore(root.id).children} == {
        "Never edit the main checkout.",
        "Always sign the release tags.",
    }
