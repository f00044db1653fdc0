"""`Store.snapshot`: a tenant at one moment."""

import pytest

from lore.model import SHARED, Cause, Filter, Memory
from lore.store import Store
from lore.store.values import EVERY, Part


def put(store: Store, *memories: Memory, namespace: str = "web", tenant: str = "") -> None:
    with store.transaction(namespace, Cause(verb="test"), 1.0, tenant) as writer:
        writer.put(memories)


def memory(id: str, namespace: str = SHARED, **more: str) -> Memory:
    return Memory(id=id, content=id, created_at=1, updated_at=1, namespace=namespace, **more)  # type: ignore[arg-type]


def test_what_is_written_meanwhile_is_not_seen(store: Store) -> None:
    put(store, memory("a"))
    with store.snapshot() as snapshot:
        put(store, memory("b"), memory("c", "late"), namespace="late")
        put(store, memory("a", title="changed"))
        assert list(snapshot.readers) == [SHARED]
        reader = snapshot.readers[SHARED]
        assert [one.id for one in reader.select(Filter(), EVERY)] == ["a"]
        assert reader.get(["a"])["a"].title == ""
        assert (list(snapshot.ids(Part(SHARED))), snapshot.count(Part(SHARED))) == (["a"], 1)
    with store.snapshot() as snapshot:
        assert list(snapshot.readers) == ["late", SHARED]


def test_ids_come_in_the_order_of_storing_and_of_a_part_only(store: Store) -> None:
    put(store, memory("z"), memory("y", kind="turn"), memory("x", project="p"), memory("w", "web"))
    with store.snapshot() as snapshot:
        assert list(snapshot.ids(Part(SHARED))) == ["z", "y", "x"]
        assert list(snapshot.ids(Part(SHARED, kinds=frozenset({"turn"})))) == ["y"]
        assert list(snapshot.ids(Part(SHARED, projects=frozenset({"p"})))) == ["x"]
        assert snapshot.count(Part("web")) == 1


def test_a_snapshot_is_of_one_tenant(store: Store) -> None:
    put(store, memory("a"), tenant="other")
    with store.snapshot() as snapshot:
        assert snapshot.readers == {}
        assert list(snapshot.ids(Part(SHARED))) == []
    with store.snapshot("other") as snapshot:
        assert list(snapshot.ids(Part(SHARED))) == ["a"]


def test_an_error_of_the_caller_s_own_file_is_not_blamed_on_the_store(store: Store) -> None:
    put(store, memory("a"))
    with pytest.raises(BrokenPipeError), store.snapshot():
        raise BrokenPipeError
    put(store, memory("b"))
