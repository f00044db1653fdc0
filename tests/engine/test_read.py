"""read, look_at, roots, explore: a memory with its place and ties, and what a reading leaves behind."""

from dataclasses import replace
from functools import partial

import pytest

from lore import Draft, Filter, Invalid, Lore, NotFound, Tie
from lore.clock import Clock
from lore.model import Cause, Memory
from lore.ranking.decay import relevance

NO_IDS = ["", "nowhere", "x" * 100_000, "a\0b", "ü", "\ud800"]


def keep(lore: Lore, content: str, parent: str | None = None, importance: float = 0.5) -> str:
    return lore.remember(Draft(content=content, parent=parent, importance=importance)).id


def memory_of(lore: Lore, id: str) -> Memory:
    return lore.read(id, use=False).memory


def test_a_reading_shows_the_place_and_the_ties(lore: Lore, clock: Clock) -> None:
    root = lore.remember(Draft(content="the harbour", title="Harbour")).id
    parent = keep(lore, "ships", root)
    id = keep(lore, "walrus", parent)
    child = keep(lore, "tusk", id)
    friend = keep(lore, "penguin")
    [link] = lore.link([Tie(source=friend, target=id)])
    reading = lore.read(id)
    assert reading.memory.content == "walrus"
    assert (reading.parent, reading.breadcrumb) == (parent, ("Harbour", "ships"))
    assert reading.children == (child,)
    assert link in reading.links
    assert len(reading.links) == 3
    assert reading.relevance == pytest.approx(0.3)


def test_a_reading_is_counted_and_shows_the_memory_as_it_was_before(lore: Lore, clock: Clock) -> None:
    id = keep(lore, "walrus")
    before = memory_of(lore, id)
    clock.sleep(days=30)
    reading = lore.read(id)
    assert reading.memory == before
    assert reading.relevance == pytest.approx(0.1952, abs=5e-5)
    after = memory_of(lore, id)
    assert after == replace(
        before, access_count=1, access_days=1, last_accessed_at=clock(), last_reinforced_at=clock()
    )
    assert relevance(after, clock()) == pytest.approx(0.3520, abs=5e-5)
    assert len(lore.history(id)) == 1


def test_a_reading_wakes_the_neighbours_by_a_tenth_of_the_tie(lore: Lore, clock: Clock) -> None:
    id, friend, stranger = keep(lore, "walrus"), keep(lore, "penguin"), keep(lore, "tax")
    child = keep(lore, "tusk", id)
    lore.link([Tie(source=friend, target=id, weight=0.5)])
    lore.read(id)
    assert memory_of(lore, friend).activation == pytest.approx(0.05)
    assert memory_of(lore, child).activation == pytest.approx(0.1)
    assert memory_of(lore, stranger).activation == memory_of(lore, id).activation == 0
    assert memory_of(lore, friend).access_count == 0
    assert lore.read(friend, use=False).relevance == pytest.approx(0.35)
    clock.sleep(days=1)
    assert lore.read(friend, use=False).relevance == pytest.approx(
        0.3 * 0.5 * 0.9608 + 0.15 + 0.025, abs=1e-4
    )


def test_outdated_neighbours_are_not_woken(lore: Lore, clock: Clock) -> None:
    id, outdated = keep(lore, "walrus"), keep(lore, "penguin")
    lore.link([Tie(source=id, target=outdated)])
    with lore.store.transaction("shared", Cause(verb="test"), clock()) as writer:
        writer.put([replace(writer.get([outdated])[outdated], superseded_by=id)])
    lore.read(id)
    assert memory_of(lore, outdated).activation == 0


def test_looking_leaves_no_trace(lore: Lore) -> None:
    id, friend = keep(lore, "walrus"), keep(lore, "penguin")
    lore.link([Tie(source=id, target=friend)])
    before = (memory_of(lore, id), memory_of(lore, friend))
    lore.read(id, use=False)
    lore.explore(id)
    lore.roots()
    assert (memory_of(lore, id), memory_of(lore, friend)) == before


@pytest.mark.parametrize("id", NO_IDS)
def test_an_unknown_memory_cannot_be_read(id: str, lore: Lore) -> None:
    keep(lore, "walrus")
    for ask in (lore.read, partial(lore.read, use=False), lore.explore):
        with pytest.raises(NotFound, match="unknown memory"):
            ask(id)
    assert lore.history(id) == []


def test_anothers_memory_cannot_be_read(lore: Lore) -> None:
    id = keep(lore.for_namespace("theirs"), "secret")
    for ask in (lore.for_namespace("mine").read, lore.for_namespace("mine").explore, lore.read):
        with pytest.raises(NotFound):
            ask(id)
    assert lore.for_namespace("mine").ids_like(id[:8]) == []
    assert lore.for_namespace("theirs").ids_like(id[:8]) == [id]


def test_roots_come_the_most_relevant_first(lore: Lore) -> None:
    low, high = keep(lore, "low", importance=0.2), keep(lore, "high", importance=0.9)
    middle = keep(lore, "middle")
    keep(lore, "child", middle, importance=1.0)
    assert [branch.memory.id for branch in lore.roots()] == [high, middle, low]
    assert [branch.memory.id for branch in lore.roots(limit=1)] == [high]
    assert [branch.children_count for branch in lore.roots()] == [0, 1, 0]
    assert [branch.children for branch in lore.roots()] == [(), (), ()]


def test_roots_may_be_filtered(lore: Lore) -> None:
    keep(lore, "note")
    turn = lore.remember(Draft(content="turn", kind="turn")).id
    assert [branch.memory.id for branch in lore.roots(where=Filter(kinds=frozenset({"turn"})))] == [turn]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_that_makes_no_sense_is_refused(limit: int, lore: Lore) -> None:
    keep(lore, "a")
    with pytest.raises(Invalid, match="limit"):
        lore.roots(limit=limit)
    with pytest.raises(Invalid, match="limit"):
        lore.ids_like("", limit=limit)


def test_exploring_goes_as_deep_as_asked(lore: Lore) -> None:
    root = keep(lore, "root")
    first, second = keep(lore, "first", root), keep(lore, "second", root)
    leaf = keep(lore, "leaf", first)
    branch = lore.explore(root, depth=1)
    assert [child.memory.id for child in branch.children] == [first, second]
    assert [child.children_count for child in branch.children] == [1, 0]
    assert branch.children[0].children == ()
    assert [child.memory.id for child in lore.explore(root, depth=2).children[0].children] == [leaf]
    assert lore.explore(root, depth=0).children == ()
    assert lore.explore(root, depth=0).children_count == 2


@pytest.mark.parametrize("depth", [-1, -1_000])
def test_a_depth_that_makes_no_sense_is_refused(depth: int, lore: Lore) -> None:
    root = keep(lore, "root")
    with pytest.raises(Invalid, match="depth"):
        lore.explore(root, depth=depth)


def test_several_memories_are_read_at_once_and_unknown_ones_left_out(lore: Lore) -> None:
    root = keep(lore, "root")
    child, gone = keep(lore, "child", root), keep(lore, "gone", root)
    lore.forget([gone])
    alone, together = lore.read(child, use=False), lore.read_many([child, "nonsense", gone, root, child])
    assert [reading.memory.id for reading in together] == [child, root]
    assert together[0] == alone
    assert (
        lore.read(child, use=False).memory.access_count == lore.read(root, use=False).memory.access_count == 1
    )
    assert lore.read(child, use=False).relevance > alone.relevance


def test_a_topic_is_explored_from_the_root_of_the_best_matching_tree(lore: Lore) -> None:
    with pytest.raises(NotFound):
        lore.explore(topic="harbour")
    root = keep(lore, "harbour")
    keep(lore, "the walrus sleeps on the quay", keep(lore, "animals", root))
    keep(lore, "keys of the vault")
    branch = lore.explore(topic="where does the walrus sleep?", depth=1)
    assert (branch.memory.id, [child.memory.content for child in branch.children]) == (root, ["animals"])
