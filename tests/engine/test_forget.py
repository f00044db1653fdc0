"""forget, restore: hidden from every answer, children handed upward, and exactly that undone."""

from functools import partial

import pytest

from lore import Draft, Filter, Invalid, Lore, NotFound, Query, Tie
from lore.clock import Clock
from lore.engine.read import last_change

ANY = Filter()


def keep(lore: Lore, content: str, parent: str | None = None) -> str:
    return lore.remember(Draft(content=content, parent=parent)).id


def parent_of(lore: Lore, id: str) -> str | None:
    return lore.read(id, use=False).parent


def found(lore: Lore, text: str, where: Filter = ANY) -> list[str]:
    return [hit.memory.id for hit in lore.search(Query(text=text, where=where)).hits]


def test_a_forgotten_memory_is_hidden_from_every_answer(lore: Lore) -> None:
    root = keep(lore, "harbour")
    gone, friend = keep(lore, "walrus", root), keep(lore, "penguin", root)
    lore.link([Tie(source=friend, target=gone)])
    lore.embed_pending()
    assert lore.forget([gone], reason="outdated") == [gone]
    assert found(lore, "walrus") == []
    assert found(lore, "walrus", Filter(ids=(gone,))) == []
    assert found(lore, "", Filter(ids=(gone,))) == []
    assert [hit.memory.id for hit in lore.search(Query(text="penguin", deep=True)).hits] == [friend]
    assert lore.read(root, use=False).children == (friend,)
    assert [link.target for link in lore.read(friend, use=False).links] == [friend]
    assert [branch.memory.id for branch in lore.explore(root).children] == [friend]
    assert lore.status().counts.memories == 2
    for ask in (lore.read, partial(lore.read, use=False), lore.explore):
        with pytest.raises(NotFound):
            ask(gone)


def test_a_forgotten_root_is_no_root(lore: Lore) -> None:
    gone, kept = keep(lore, "gone"), keep(lore, "kept")
    lore.forget([gone])
    assert [branch.memory.id for branch in lore.roots()] == [kept]


def test_nothing_is_erased(lore: Lore, clock: Clock) -> None:
    gone = keep(lore, "walrus")
    clock.sleep(days=1)
    lore.forget([gone], reason="outdated")
    assert found(lore, "walrus", Filter(forgotten=True)) == [gone]
    memory = lore.store.reader("shared").get([gone], forgotten=True)[gone]
    assert (memory.forgotten_at, memory.forgotten_reason) == (clock(), "outdated")
    assert lore.ids_like(gone) == [gone]
    assert [entry.cause.verb for entry in lore.history(gone)] == ["remember", "forget"]
    assert lore.status().counts.forgotten == 1


def test_the_ids_that_were_known_are_told_in_the_order_given(lore: Lore) -> None:
    a, b = keep(lore, "a"), keep(lore, "b")
    assert lore.forget([b, "nowhere", a, b]) == [b, a]
    assert lore.forget([a, b]) == []
    assert lore.forget([]) == []


@pytest.mark.parametrize("id", ["", "nowhere", "x" * 100_000, "a\0b", "ü", "\ud800"])
def test_an_unknown_memory_is_neither_forgotten_nor_restored(id: str, lore: Lore) -> None:
    assert lore.forget([id]) == lore.restore([id]) == []
    assert last_change(lore.store.reader(lore.namespace)) is None


@pytest.mark.parametrize("reason", ["\0", "\ud800", "x" * 1_001])
def test_a_reason_that_cannot_be_stored_is_refused(reason: str, lore: Lore) -> None:
    id = keep(lore, "a")
    with pytest.raises(Invalid, match="reason"):
        lore.forget([id], reason=reason)
    assert lore.read(id, use=False).memory.forgotten_at is None
    lore.forget([id])
    with pytest.raises(Invalid, match="reason"):
        lore.restore([id], reason=reason)
    assert found(lore, "", Filter(ids=(id,))) == []


def test_anothers_memory_cannot_be_forgotten_or_restored(lore: Lore) -> None:
    mine, theirs = lore.for_namespace("mine"), lore.for_namespace("theirs")
    id = keep(theirs, "theirs")
    assert mine.forget([id]) == []
    theirs.forget([id])
    assert mine.restore([id]) == []
    assert theirs.restore([id]) == [id]


def test_the_children_of_a_forgotten_root_become_roots(lore: Lore) -> None:
    root = keep(lore, "root")
    child = keep(lore, "child", root)
    grandchild = keep(lore, "grandchild", child)
    lore.forget([root])
    assert (parent_of(lore, child), lore.read(child, use=False).memory.depth) == (None, 0)
    assert (parent_of(lore, grandchild), lore.read(grandchild, use=False).memory.depth) == (child, 1)


def test_the_children_of_a_forgotten_memory_go_to_their_grandparent(lore: Lore) -> None:
    root = keep(lore, "root")
    middle = keep(lore, "middle", root)
    children = tuple(keep(lore, f"child {n}", middle) for n in range(3))
    lore.forget([middle])
    assert lore.read(root, use=False).children == children
    assert lore.read(children[0], use=False).breadcrumb == ("root",)


def test_restoring_brings_a_memory_back_with_its_children(lore: Lore, clock: Clock) -> None:
    root = keep(lore, "root")
    middle = keep(lore, "middle", root)
    child = keep(lore, "child", middle)
    before = lore.read(middle, use=False).memory
    clock.sleep(days=1)
    lore.forget([middle])
    clock.sleep(days=1)
    assert lore.restore([middle, "nowhere"], reason="needed after all") == [middle]
    assert lore.read(child, use=False).breadcrumb == ("root", "middle")
    assert lore.read(child, use=False).memory.depth == 2
    assert lore.read(middle, use=False).children == (child,)
    restored = lore.read(middle, use=False).memory
    assert (restored.content, restored.forgotten_at, restored.forgotten_reason) == (before.content, None, "")
    assert lore.restore([middle]) == []


@pytest.mark.parametrize("order", [("root", "middle"), ("middle", "root")])
@pytest.mark.parametrize("back", [("root", "middle"), ("middle", "root")])
def test_a_tree_forgotten_in_any_order_is_restored_in_any_order(
    order: tuple[str, str], back: tuple[str, str], lore: Lore, clock: Clock
) -> None:
    ids = {"root": keep(lore, "root")}
    ids["middle"] = keep(lore, "middle", ids["root"])
    leaf = keep(lore, "leaf", ids["middle"])
    for name in order:
        clock.sleep(days=1)
        lore.forget([ids[name]])
    assert parent_of(lore, leaf) is None
    for name in back:
        clock.sleep(days=1)
        lore.restore([ids[name]])
    assert lore.read(leaf, use=False).breadcrumb == ("root", "middle")
    assert all(finding.passed for finding in lore.check())


def test_a_tree_forgotten_at_once_is_restored_at_once(lore: Lore) -> None:
    root = keep(lore, "root")
    middle = keep(lore, "middle", root)
    leaf = keep(lore, "leaf", middle)
    assert lore.forget([root, middle]) == [root, middle]
    assert set(lore.restore([root, middle])) == {root, middle}
    assert lore.read(leaf, use=False).breadcrumb == ("root", "middle")


def test_children_that_found_another_place_stay_there(lore: Lore, clock: Clock) -> None:
    old, new = keep(lore, "old"), keep(lore, "new")
    child = keep(lore, "child", old)
    lore.forget([old])
    clock.sleep(days=1)
    lore.link([Tie(source=new, target=child, kind="hierarchical")])
    lore.restore([old])
    assert parent_of(lore, child) == new


def test_a_child_that_now_stands_above_stays_above(lore: Lore, clock: Clock) -> None:
    top = keep(lore, "top")
    middle = keep(lore, "middle", top)
    child = keep(lore, "child", middle)
    clock.sleep(days=1)
    lore.forget([middle])
    clock.sleep(days=1)
    [adopted] = [link for link in lore.read(child, use=False).links if link.target == child]
    lore.unlink([adopted.id])
    lore.link([Tie(source=child, target=top, kind="hierarchical")])
    assert lore.restore([middle]) == [middle]
    assert lore.read(middle, use=False).breadcrumb == ("child", "top")
    assert all(finding.passed for finding in lore.check())


def test_ties_come_back_with_the_memory(lore: Lore) -> None:
    a, b = keep(lore, "a"), keep(lore, "b")
    [link] = lore.link([Tie(source=a, target=b)])
    lore.forget([b])
    assert lore.read(a, use=False).links == ()
    lore.restore([b])
    assert lore.read(a, use=False).links == (link,)
