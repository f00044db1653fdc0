"""Phases relevance, decay and prune: unused links and memories fade with time, some never do."""

from dataclasses import replace

import pytest

from lore import Draft, Filter, Lore, Query, Tie
from lore.clock import Clock
from lore.model import LINK_KINDS
from lore.ranking.decay import relevance
from lore.settings import ConsolidationSettings
from tests.engine.consolidate.helpers import (
    converse,
    counts_of,
    descriptions,
    fragment,
    fragments,
    memory,
    run_phases,
)

WORDS = ("walrus", "penguin", "harbour", "vault", "anchor")


def linked(lore: Lore, weight: float) -> tuple[str, str]:
    one, other = fragment(lore, "walrus on the ice"), fragment(lore, "keys of the vault")
    lore.link([Tie(source=one, target=other, weight=weight)])
    return one, other


def pruning(lore: Lore) -> Lore:
    return replace(lore, tuning=ConsolidationSettings(prune=True))


def test_a_link_fades_with_time_and_not_with_the_number_of_runs(lore: Lore, clock: Clock) -> None:
    one, _ = linked(lore, 0.2)
    for _ in range(40):
        run_phases(lore, "decay")
    assert len(lore.links([one])) == 1
    for _ in range(5):
        clock.sleep(days=7)
        run_phases(lore, "decay")
    assert len(lore.links([one])) == 1, ".2 is .155 after five weeks"
    clock.sleep(days=7)
    assert counts_of(run_phases(lore, "decay")) == {"edges_pruned": 1}
    assert lore.links([one]) == []


def test_one_run_after_a_long_time_ends_the_same_links_as_many_runs(lore: Lore, clock: Clock) -> None:
    one, _ = linked(lore, 1.0)
    clock.sleep(days=7 * 36)
    run_phases(lore, "decay")
    assert len(lore.links([one])) == 1, ".95^36 is .158"
    clock.sleep(days=7 * 2)
    run_phases(lore, "decay")
    assert lore.links([one]) == []


def test_a_link_survives_if_both_of_its_ends_are_used(lore: Lore, clock: Clock) -> None:
    used, idle = linked(lore, 0.3), linked(lore, 0.3)
    for _ in range(52):
        clock.sleep(days=7)
        lore.read(used[0])
        lore.read(used[1])
        lore.read(idle[0])
        run_phases(lore, "decay")
    assert len(lore.links([used[0]])) == 1
    assert lore.links([idle[0]]) == [], "of a link that is used, both ends are"


def test_a_faded_link_is_active_again_when_somebody_links_the_two(lore: Lore, clock: Clock) -> None:
    one, other = linked(lore, 0.2)
    clock.sleep(days=365)
    run_phases(lore, "decay")
    [ended] = lore.store.reader("shared").links([one], ended=True)
    assert (ended.active, ended.ended_at, ended.weight) == (False, clock(), 0.2)
    lore.link([Tie(source=one, target=other, weight=0.9)])
    assert [link.id for link in lore.links([one])] == [ended.id]


@pytest.mark.parametrize("kind", [kind for kind in LINK_KINDS if kind != "associative"])
def test_only_associative_links_fade(lore: Lore, clock: Clock, kind: str) -> None:
    one, other = fragment(lore, "walrus"), fragment(lore, "vault")
    lore.link([Tie(source=one, target=other, kind=kind, weight=0.1)])  # type: ignore[arg-type]
    clock.sleep(days=5_000)
    assert descriptions(run_phases(lore, "decay")) == []
    assert len(lore.links([one])) == 1


def test_no_link_fades_if_edge_decay_days_is_0(lore: Lore, clock: Clock) -> None:
    linked(lore, 0.2)
    clock.sleep(days=5_000)
    assert (
        descriptions(run_phases(replace(lore, tuning=ConsolidationSettings(edge_decay_days=0)), "decay"))
        == []
    )


def test_a_weak_link_does_not_end_right_after_its_creation(lore: Lore, clock: Clock) -> None:
    one, _ = linked(lore, 0.16)
    run_phases(lore, "decay")
    assert len(lore.links([one])) == 1


def test_pruning_is_off_by_default_and_the_report_counts_what_could_go(lore: Lore, clock: Clock) -> None:
    root = fragment(lore, "root")
    fragment(lore, "trifle", root, importance=0.1)
    clock.sleep(days=400)
    report = run_phases(lore, "prune")
    assert (descriptions(report), report.remarks) == (
        [],
        ("1 faded memories could go; `prune = true` lets them",),
    )
    assert len(fragments(lore)) == 2


def test_an_unimportant_unused_memory_is_forgotten_and_its_children_move_up(lore: Lore, clock: Clock) -> None:
    root = fragment(lore, "root")
    trifle = fragment(lore, "trifle", root, importance=0.1)
    child = fragment(lore, "child", trifle, importance=1.0)
    clock.sleep(days=61)
    assert counts_of(run_phases(pruning(lore), "prune")) == {"fragments_pruned": 1}
    assert memory(lore, trifle).forgotten_reason == "“trifle” has faded"
    assert lore.read(child, use=False).parent == root
    assert lore.restore([trifle]) == [trifle]
    assert lore.read(child, use=False).breadcrumb == ("root", "trifle")
    assert lore.read(trifle, use=False).parent == root


def test_a_used_memory_is_pruned_later_than_an_unused_one(lore: Lore, clock: Clock) -> None:
    root = fragment(lore, "root")
    used = fragment(lore, "used", root, importance=0.2)
    lore.read(used)
    clock.sleep(days=80)
    assert descriptions(run_phases(pruning(lore), "prune")) == []
    clock.sleep(days=20)
    assert descriptions(run_phases(pruning(lore), "prune")) == ["“used” has faded"]


@pytest.mark.parametrize(
    ("depth", "more", "days"),
    [
        (0, {"importance": 0.1}, 5_000),
        (1, {"importance": 0.01, "type": "identity"}, 5_000),
        (1, {"importance": 0.1}, 59),
        (1, {"importance": 0.5}, 5_000),
    ],
    ids=["root", "identity", "young", "important"],
)
def test_roots_lasting_young_and_important_memories_are_never_pruned(
    lore: Lore, clock: Clock, depth: int, more: dict[str, object], days: float
) -> None:
    parent = fragment(lore, "root") if depth else None
    kept = fragment(lore, "kept", parent, **more)
    clock.sleep(days=days)
    run_phases(pruning(lore))
    assert memory(lore, kept).forgotten_at is None


def test_superseded_memories_are_not_pruned(lore: Lore, clock: Clock) -> None:
    root = fragment(lore, "root")
    old = fragment(lore, "The capital of Atlantis is Poseidonis.", root, importance=0.1)
    clock.sleep(days=1)
    fragment(lore, "The capital of Atlantis is Basileia.", importance=1.0)
    run_phases(lore, "contradict")
    clock.sleep(days=400)
    assert descriptions(run_phases(pruning(lore), "prune")) == []
    assert memory(lore, old).forgotten_at is None


def test_notes_and_turns_are_not_pruned(lore: Lore, clock: Clock) -> None:
    converse(lore, "seals", "Where do seals sleep?", "Seals sleep on ice.")
    lore.remember(Draft(content="trifle", parent=fragment(lore, "root"), importance=0.1))
    count = lore.count(Filter())
    clock.sleep(days=5_000)
    assert descriptions(run_phases(pruning(lore), "prune")) == []
    assert lore.count(Filter()) == count == 6  # with the account of the conversation


def test_an_overview_no_longer_mentions_a_pruned_memory(lore: Lore, clock: Clock) -> None:
    root = fragment(lore, "Harbour", source_type="distilled")
    fragment(lore, "The gate is green.", root, importance=0.1)
    fragment(lore, "The lamp is red.", root, importance=1.0)
    run_phases(lore)
    assert "green" in memory(lore, root).content
    clock.sleep(days=100)
    run_phases(pruning(lore))
    assert memory(lore, root).content == "The lamp is red."


def test_memories_are_counted_and_a_faded_one_is_found_again_by_its_words(lore: Lore, clock: Clock) -> None:
    ids = [fragment(lore, word, importance=0.1) for word in WORDS]
    clock.sleep(days=30)
    assert run_phases(lore, "relevance").counts == {"relevance_updated": 5}
    assert [hit.memory.id for hit in lore.search(Query(text="vault")).hits] == [ids[3]]


def test_turns_of_conversations_are_not_counted_as_memories(lore: Lore) -> None:
    converse(lore, "seals", "Where do seals sleep?", "Seals sleep on ice.")
    assert run_phases(lore, "relevance").counts == {}


def test_knowledge_from_an_old_conversation_is_fresh_when_it_is_distilled(lore: Lore, clock: Clock) -> None:
    converse(lore, "old", "We decided to keep the keys of the vault with the harbour master.", "Noted.")
    clock.sleep(days=400)
    assert counts_of(run_phases(lore, "digest"))["fragments_extracted"] > 0
    distilled = fragments(lore)
    assert all(relevance(one, clock()) >= 0.5 * one.importance for one in distilled)
    clock.sleep(days=400)
    assert all(relevance(one, clock()) < 0.5 * one.importance for one in distilled), "then it fades"
