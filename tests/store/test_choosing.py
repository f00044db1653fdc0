"""What every store promises about choosing: by category, by level of the tree, and in which order."""

from typing import Any

import pytest

from lore.model import SHARED, Cause, Filter, Link, Memory, Order
from lore.ranking.decay import IMPORTANCE, category_of
from lore.store import Page, Store
from lore.store.values import COUNT

NOW = 1_800_000_000.0
CAUSE = Cause(verb="test")


def keep(store: Store, id: str, below: str = "", namespace: str = SHARED, **fields: Any) -> None:
    given: dict[str, Any] = {"content": f"text of {id}", "created_at": NOW, "updated_at": NOW}
    with store.transaction(namespace, CAUSE, NOW) as writer:
        writer.put([Memory(id=id, namespace=namespace, **(given | fields))])
        if below:
            place = Link(
                id=f"{below}-{id}",
                source=below,
                target=id,
                kind="hierarchical",
                created_at=NOW,
                updated_at=NOW,
            )
            writer.put_links([place])


def chosen(store: Store, where: Filter, order: Order = "newest", limit: int = 50) -> list[str]:
    return [memory.id for memory in store.reader(SHARED).select(where, Page(limit=limit, order=order))]


def test_every_category_holds_exactly_the_memories_that_count_as_it(store: Store) -> None:
    kinds = ("note", "fragment", "entity", "observation", "reflection", "turn", "session", "unheard-of")
    types = ("", "Person", *IMPORTANCE)
    for kind in kinds:
        for type in types:
            keep(store, f"{kind}/{type}", kind=kind, type=type)
    for category in IMPORTANCE:
        where = Filter(categories=frozenset({category}))
        right = {f"{kind}/{type}" for kind in kinds for type in types if category_of(type, kind) == category}
        assert set(chosen(store, where, limit=200)) == right
        assert store.reader(SHARED).traces(where, COUNT).total == len(right) > 0


@pytest.fixture
def forest(store: Store) -> Store:
    """Two trees: one with a chain of five, one that is a root alone."""
    keep(store, "root")
    keep(store, "one", below="root")
    keep(store, "two", below="one")
    keep(store, "three", below="two")
    keep(store, "four", below="three")
    keep(store, "early leaf", below="root")
    keep(store, "alone")
    return store


@pytest.mark.parametrize(
    ("level", "seen"),
    [
        (0, {"root", "alone"}),
        (1, {"one", "early leaf", "alone"}),
        (2, {"two", "early leaf", "alone"}),
        (3, {"three", "four", "early leaf", "alone"}),
        (4, {"four"}),
        (9, set()),
    ],
)
def test_a_level_is_what_lies_so_deep_and_down_to_the_details_the_leaves_above(
    level: int, seen: set[str], forest: Store
) -> None:
    assert set(chosen(forest, Filter(level=level))) == seen


def test_what_is_forgotten_or_out_of_sight_makes_no_branch(store: Store) -> None:
    keep(store, "root")
    keep(store, "gone", below="root", forgotten_at=NOW)
    keep(store, "hers", below="root", namespace="ada")
    assert chosen(store, Filter(level=1)) == ["root"]


def test_the_order_is_newest_or_most_important_or_most_used_first(store: Store) -> None:
    keep(store, "old", created_at=NOW - 9, importance=0.9, access_count=1)
    keep(store, "used", created_at=NOW - 5, importance=0.1, access_count=7)
    keep(store, "new", created_at=NOW, importance=0.9, access_count=1)
    assert chosen(store, Filter()) == ["new", "used", "old"]
    assert chosen(store, Filter(), "importance") == ["new", "old", "used"]
    assert chosen(store, Filter(), "use") == ["used", "new", "old"]
    assert chosen(store, Filter(), "use", limit=1) == ["used"]
