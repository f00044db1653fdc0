"""link, unlink: ties are kept once, a child has one parent, and no tree bites its tail."""

from dataclasses import replace
from itertools import pairwise

import pytest

from lore import Draft, Invalid, Lore, NotFound, Tie
from lore.clock import Clock
from lore.engine.read import last_change
from lore.model import Cause, LinkKind


def keep(lore: Lore, *contents: str) -> list[str]:
    return [one.memory.id for one in lore.remember_all([Draft(content=content) for content in contents])]


def parent_of(lore: Lore, id: str) -> str | None:
    return lore.read(id, use=False).parent


def test_a_tie_is_seen_from_both_ends(lore: Lore, clock: Clock) -> None:
    a, b = keep(lore, "a", "b")
    [link] = lore.link([Tie(source=a, target=b, type="knows", weight=0.5, reason="they met")])
    assert (link.source, link.target, link.kind, link.type) == (a, b, "associative", "knows")
    assert (link.weight, link.reason, link.active, link.created_at) == (0.5, "they met", True, clock())
    assert lore.read(a, use=False).links == lore.read(b, use=False).links == (link,)


def test_a_tie_that_exists_is_renewed(lore: Lore, clock: Clock) -> None:
    a, b = keep(lore, "a", "b")
    [first] = lore.link([Tie(source=a, target=b, weight=0.5)])
    lore.unlink([first.id])
    clock.sleep(days=1)
    [again] = lore.link([Tie(source=a, target=b, weight=0.7)])
    assert (again.id, again.weight, again.active, again.ended_at) == (first.id, 0.7, True, None)
    assert (again.created_at, again.updated_at) == (first.created_at, clock())
    assert lore.read(a, use=False).links == (again,)


def test_a_new_parent_replaces_the_old(lore: Lore) -> None:
    old, new, child, grandchild = keep(lore, "old", "new", "child", "grandchild")
    lore.link([Tie(source=old, target=child, kind="hierarchical")])
    lore.link([Tie(source=child, target=grandchild, kind="hierarchical")])
    top, *_ = keep(lore, "top")
    lore.link([Tie(source=top, target=new, kind="hierarchical")])
    lore.link([Tie(source=new, target=child, kind="hierarchical")])
    assert parent_of(lore, child) == new
    assert lore.read(old, use=False).children == ()
    assert lore.read(grandchild, use=False).memory.depth == 3


def test_a_new_parent_replaces_an_outdated_one(lore: Lore, clock: Clock) -> None:
    old, new, child = keep(lore, "old", "new", "child")
    lore.link([Tie(source=old, target=child, kind="hierarchical")])
    with lore.store.transaction("shared", Cause(verb="test"), clock()) as writer:
        writer.put([replace(writer.get([old])[old], superseded_by=new)])
    lore.link([Tie(source=new, target=child, kind="hierarchical")])
    assert parent_of(lore, child) == new


def test_the_tie_to_a_parent_may_change_its_type(lore: Lore) -> None:
    parent, child = keep(lore, "parent", "child")
    for type in ("", "part of", ""):
        [link] = lore.link([Tie(source=parent, target=child, kind="hierarchical", type=type)])
        assert lore.read(child, use=False).links == (link,)
        assert parent_of(lore, child) == parent


@pytest.mark.parametrize("length", [1, 2, 5])
def test_a_cycle_of_parents_is_refused(length: int, lore: Lore) -> None:
    chain = keep(lore, *(f"number {n}" for n in range(length + 1)))
    for parent, child in pairwise(chain):
        lore.link([Tie(source=parent, target=child, kind="hierarchical")])
    with pytest.raises(Invalid, match="above"):
        lore.link([Tie(source=chain[-1], target=chain[0], kind="hierarchical")])
    assert parent_of(lore, chain[0]) is None


def test_ties_are_kept_all_or_none(lore: Lore, clock: Clock) -> None:
    a, b, c = keep(lore, "a", "b", "c")
    before = last_change(lore.store.reader(lore.namespace))
    clock.sleep(days=1)
    with pytest.raises(NotFound):
        lore.link([Tie(source=a, target=b), Tie(source=b, target="nowhere")])
    with pytest.raises(Invalid):
        lore.link(
            [
                Tie(source=a, target=b, kind="hierarchical"),
                Tie(source=b, target=c, kind="hierarchical"),
                Tie(source=c, target=a, kind="hierarchical"),
            ]
        )
    assert lore.read(a, use=False).links == ()
    assert last_change(lore.store.reader(lore.namespace)) == before


@pytest.mark.parametrize("id", ["", "nowhere", "x" * 100_000, "a\0b", "ü", "\ud800"])
def test_an_unknown_end_is_refused(id: str, lore: Lore, clock: Clock) -> None:
    [a] = keep(lore, "a")
    before = last_change(lore.store.reader(lore.namespace))
    clock.sleep(days=1)
    for tie in (Tie(source=a, target=id), Tie(source=id, target=a)):
        with pytest.raises(NotFound, match="unknown memory"):
            lore.link([tie])
    assert last_change(lore.store.reader(lore.namespace)) == before


def test_neither_a_forgotten_memory_nor_anothers_can_be_tied(lore: Lore) -> None:
    a, gone = keep(lore, "a", "gone")
    lore.forget([gone])
    [theirs] = keep(lore.for_namespace("theirs"), "theirs")
    for id in (gone, theirs):
        with pytest.raises(NotFound):
            lore.for_namespace("mine").link([Tie(source=a, target=id)])


@pytest.mark.parametrize("weight", [-0.01, -1, 1.01, float("nan"), float("inf")])
def test_a_weight_outside_the_range_is_refused(weight: float, lore: Lore) -> None:
    a, b = keep(lore, "a", "b")
    with pytest.raises(Invalid, match="it must be between 0 and 1"):
        lore.link([Tie(source=a, target=b, weight=weight)])
    assert lore.read(a, use=False).links == ()


def test_an_unknown_kind_is_refused_with_the_known_ones(lore: Lore) -> None:
    a, b = keep(lore, "a", "b")
    kind: LinkKind = "romantic"  # type: ignore[assignment]
    with pytest.raises(Invalid, match="unknown kind of link 'romantic'; known: associative, hierarchical"):
        lore.link([Tie(source=a, target=b, kind=kind)])


def test_a_memory_cannot_be_tied_to_itself(lore: Lore) -> None:
    [a] = keep(lore, "a")
    with pytest.raises(Invalid, match="cannot be linked to itself"):
        lore.link([Tie(source=a, target=a)])


@pytest.mark.parametrize("bad", ["\0", "\ud800", "x" * 50_001])
def test_texts_that_cannot_be_stored_are_refused(bad: str, lore: Lore) -> None:
    a, b = keep(lore, "a", "b")
    with pytest.raises(Invalid):
        lore.link([Tie(source=a, target=b, type=bad)])
    with pytest.raises(Invalid):
        lore.link([Tie(source=a, target=b, reason=bad)])
    with pytest.raises(Invalid, match="reason"):
        lore.link([Tie(source=a, target=b)], reason=bad)
    assert lore.read(a, use=False).links == ()


def test_an_ended_tie_is_gone_but_remembered(lore: Lore, clock: Clock) -> None:
    a, b = keep(lore, "a", "b")
    [link] = lore.link([Tie(source=a, target=b)])
    clock.sleep(days=1)
    assert lore.unlink([link.id, "nowhere", link.id], reason="a mistake") == [link.id]
    assert lore.read(a, use=False).links == ()
    _, entry = lore.history(link.id)
    assert (entry.cause.verb, entry.cause.reason) == ("unlink", "a mistake")
    assert entry.after == {"active": 0, "ended_at": clock(), "updated_at": clock()}
    assert lore.unlink([link.id]) == []


def test_a_child_whose_tie_ends_becomes_a_root(lore: Lore) -> None:
    parent, child, grandchild = keep(lore, "parent", "child", "grandchild")
    [link] = lore.link([Tie(source=parent, target=child, kind="hierarchical")])
    lore.link([Tie(source=child, target=grandchild, kind="hierarchical")])
    lore.unlink([link.id])
    assert parent_of(lore, child) is None
    assert (lore.read(child, use=False).memory.depth, lore.read(grandchild, use=False).memory.depth) == (0, 1)


def test_anothers_ties_cannot_be_ended(lore: Lore) -> None:
    theirs = lore.for_namespace("theirs")
    a, b = keep(theirs, "a", "b")
    [link] = theirs.link([Tie(source=a, target=b)])
    assert lore.for_namespace("mine").unlink([link.id]) == []
    assert theirs.read(a, use=False).links == (link,)


@pytest.mark.parametrize("id", ["", "nowhere", "x" * 100_000, "a\0b", "ü", "\ud800"])
def test_an_unknown_tie_is_not_ended(id: str, lore: Lore) -> None:
    assert lore.unlink([id]) == []
    assert last_change(lore.store.reader(lore.namespace)) is None


def test_a_shared_memory_does_not_hang_below_a_private_one(lore: Lore) -> None:
    [shared] = keep(lore, "everybody's")
    [private] = keep(lore.for_namespace("ada"), "ada's own")
    with pytest.raises(Invalid, match="shared"):
        lore.for_namespace("ada").link([Tie(source=private, target=shared, kind="hierarchical")])
    lore.for_namespace("ada").link([Tie(source=shared, target=private, kind="hierarchical")])
    assert parent_of(lore.for_namespace("ada"), private) == shared


@pytest.mark.parametrize("namespace", ["", " ", "a\0b", "\ud800", "x" * 401])
def test_a_namespace_that_cannot_be_one_is_refused(namespace: str, lore: Lore) -> None:
    with pytest.raises(Invalid, match="namespace"):
        lore.for_namespace(namespace)
