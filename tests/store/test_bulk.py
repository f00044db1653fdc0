"""Many at once: what is put in one call is kept as if it had been put one after the other."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lore.errors import Invalid, LoreError, NotFound
from lore.model import SHARED, Cause, Entry, Filter, Link, LinkKind, Memory
from lore.store import Reader, Store, Writer, open_store
from lore.store.sqlite.sql import MOST_ROWS
from lore.store.values import COUNT, EVERY, JournalFilter

NOW = 1_800_000_000.0
CAUSE = Cause(verb="test")
MANY = 2 * MOST_ROWS + 7
NAMES = "abcd"
KINDS: tuple[LinkKind, ...] = ("hierarchical", "temporal")
TREE: tuple[LinkKind, bool, bool] = ("hierarchical", True, True)


def memory(id: str, **fields: Any) -> Memory:
    given: dict[str, Any] = {"content": f"about {id}", "created_at": NOW, "updated_at": NOW}
    return Memory(id=id, **given | fields)


def below(parent: str, child: str) -> Link:
    return Link(
        id=f"{parent}-{child}",
        source=parent,
        target=child,
        kind="hierarchical",
        created_at=NOW,
        updated_at=NOW,
    )


def history(reader: Reader, id: str) -> list[Entry]:
    return reader.journal(JournalFilter(id=id), EVERY)


def put(store: Store, memories: list[Memory], namespace: str = SHARED) -> list[Memory]:
    with store.transaction(namespace, CAUSE, NOW) as writer:
        return writer.put(memories)


def test_many_new_memories_are_kept_in_their_order(store: Store) -> None:
    ids = [f"m{number}" for number in range(MANY)]
    kept = put(store, [memory(id) for id in ids])
    reader = store.reader(SHARED)
    assert [one.id for one in kept] == ids == [one.id for one in sorted(kept, key=lambda one: one.alias)]
    assert reader.get(ids) == {one.id: one for one in kept}
    assert set(reader.matching(["about"], 2 * MANY, Filter()).strengths) == set(ids)
    assert [len(history(reader, id)) for id in ids] == [1] * MANY
    assert reader.counts("any/model/4").pending == MANY
    assert all(finding.passed for finding in store.check())


def test_a_memory_is_returned_as_it_is_stored(store: Store) -> None:
    wanted = memory(
        "a",
        depth=3,
        importance=1,
        created_at=5,
        confidence=1,
        access_count=2,
        activation=1,
        flags=frozenset({"é", "b"}),
        metadata={"pair": (1, 2), "é": "ü"},
    )
    assert [repr(one) for one in put(store, [wanted])] == [repr(store.reader(SHARED).get(["a"])["a"])]


def test_new_and_known_memories_may_come_together(store: Store) -> None:
    put(store, [memory("b")])
    kept = put(store, [memory("a"), memory("b", content="changed"), memory("c")])
    assert [(one.id, one.content) for one in kept] == [("a", "about a"), ("b", "changed"), ("c", "about c")]
    assert [len(history(store.reader(SHARED), id)) for id in "abc"] == [1, 2, 1]


def test_one_id_of_another_namespace_refuses_all(store: Store) -> None:
    put(store, [memory("theirs", namespace="other")], "other")
    with pytest.raises(NotFound, match="theirs"):
        put(store, [*(memory(f"m{number}") for number in range(MANY)), memory("theirs")])
    assert store.reader(SHARED).traces(Filter(), COUNT).total == 0


@pytest.mark.parametrize("ids", [["a", "b", "a"], ["a", "ä"]])
def test_a_new_memory_needs_an_id_of_its_own_that_can_be_asked_for(ids: list[str], store: Store) -> None:
    with pytest.raises(Invalid, match="id of its own"):
        put(store, [memory(id) for id in ids])
    assert store.reader(SHARED).traces(Filter(), COUNT).total == 0


def test_many_children_hang_one_below_their_parent(store: Store) -> None:
    ids = [f"m{number}" for number in range(MANY)]
    put(store, [memory("top"), memory("root"), *map(memory, ids)])
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        writer.put_links([below("top", "root")])
        kept = writer.put_links([below("root", id) for id in ids])
    reader = store.reader(SHARED)
    assert {one.depth for one in reader.get(ids).values()} == {2}
    assert [link.target for link in sorted(kept, key=lambda link: link.alias)] == ids
    assert sorted(reader.links(ids=[link.id for link in kept]), key=lambda link: link.alias) == kept
    assert [len(history(reader, link.id)) for link in kept] == [1] * MANY
    assert all(finding.passed for finding in store.check())


def outcome(store: Store, write: Callable[[Writer], object]) -> list[object]:
    """What a transaction leaves behind: all of it, or why it was refused."""
    refused = ""
    try:
        with store.transaction(SHARED, CAUSE, NOW) as writer:
            write(writer)
    except LoreError as error:
        refused = f"{type(error).__name__}: {error}"
    reader = store.reader(SHARED)
    links = [link for name in NAMES for link in reader.links([name], ended=True)]
    return [refused, reader.get(NAMES), links, [len(history(reader, link.id)) for link in links]]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(NAMES),
            st.sampled_from(NAMES),
            st.sampled_from(KINDS),
            st.booleans(),
            st.booleans(),
        ),
        max_size=5,
    ),
    st.integers(0, 5),
)
@example([("a", "b", *TREE), ("b", "c", *TREE)], 0)
@example([("a", "b", *TREE), ("b", "a", *TREE)], 0)
@example([("a", "b", *TREE), ("c", "b", *TREE)], 0)
@example([("a", "b", *TREE), ("c", "b", *TREE)], 1)
@example([("a", "b", *TREE), ("c", "a", *TREE)], 1)
@example([("a", "b", *TREE[:2], False), ("c", "b", *TREE)], 0)
@example([("a", "b", *TREE[:2], False)], 0)
@example([("a", "b", *TREE), ("a", "b", *TREE)], 1)
@example([("a", "b", *TREE), ("a", "b", *TREE)], 0)
@settings(max_examples=30)
def test_links_that_come_together_end_as_if_each_had_come_alone(
    tmp_path_factory: pytest.TempPathFactory,
    wanted: list[tuple[str, str, LinkKind, bool, bool]],
    earlier: int,
) -> None:
    links = [
        Link(
            id=f"l{number}",
            source=source,
            target=target,
            kind=kind,
            type="" if plain else "other",
            active=active,
            created_at=NOW,
            updated_at=NOW + number,
        )
        for number, (source, target, kind, plain, active) in enumerate(wanted)
    ]
    ends = []
    for together in (True, False):
        store = open_store(tmp_path_factory.mktemp("links") / "memory.db")
        put(store, [memory(name) for name in NAMES])

        def write(writer: Writer, together: bool = together) -> None:
            for part in (links[:earlier], links[earlier:]):
                for group in [part] if together else [[link] for link in part]:
                    writer.put_links(group)

        ends.append(outcome(store, write))
        store.close()
    assert ends[0] == ends[1]
