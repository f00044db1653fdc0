"""Vector indexes in PostgreSQL: tenants earn and lose them by size, and no answer depends on one."""

import threading
from collections.abc import Iterator, Sequence

import numpy as np
import psycopg
import pytest

from lore.embed.hashing import HashEmbedder
from lore.engine.background import Background
from lore.engine.embeddings import Embeddings
from lore.model import SHARED, Cause, Filter, Memory
from lore.store import Store, TendedStore, open_store
from lore.store.postgres import tenant_indexes, vector_indexes
from lore.vectors import Vector, Vectors
from tests.doors.resident import SECONDS, until
from tests.postgres import empty

NOW = 1_800_000_000.0
CAUSE = Cause(verb="test")
MODEL, OTHER = "test/16", "o'ther/16"
LARGE = 300
VECTORS: Vectors = np.random.default_rng(7).normal(size=(LARGE, 16)).astype(np.float16).astype(np.float32)
QUESTION: Vector = VECTORS[0] + VECTORS[1] / 2


@pytest.fixture
def store(postgres: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store whose tenants earn an index at LARGE vectors."""
    monkeypatch.setattr(vector_indexes, "EARNED_AT", LARGE)
    opened = open_store(postgres)
    yield opened
    empty(postgres)
    tend(opened)
    opened.close()


@pytest.fixture
def admin(postgres: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """A connection of the superuser to the same database."""
    with psycopg.connect(postgres, user="postgres", autocommit=True) as connection:
        yield connection


def tend(store: Store) -> str:
    """Tend the indexes once; what the store then says of them."""
    assert isinstance(store, TendedStore)
    store.tend()
    return store.report().index


def keep(
    store: Store,
    numbers: Sequence[int],
    tenant: str = "acme",
    namespace: str = SHARED,
    model: str = MODEL,
) -> None:
    memories = [
        Memory(
            id=f"m{at}",
            content=f"number {at}",
            session=str(at % 50),
            project=str(at % 50),
            created_at=NOW,
            updated_at=NOW,
            namespace=namespace,
        )
        for at in numbers
    ]
    with store.transaction(namespace, CAUSE, NOW, tenant) as writer:
        writer.put(memories)
        writer.put_vectors(model, {f"m{at}": VECTORS[at] for at in numbers})


def nearest(numbers: Sequence[int], limit: int) -> list[str]:
    """The ids of the best by comparing all."""
    among = VECTORS[list(numbers)]
    similar = among @ QUESTION / np.linalg.norm(among, axis=1)
    return [f"m{numbers[at]}" for at in np.argsort(-similar)[:limit]]


def found(store: Store, limit: int = 10, where: Filter | None = None, namespace: str = SHARED) -> list[str]:
    return list(store.reader(namespace, "acme").near(QUESTION, MODEL, limit, where or Filter()))


def test_a_large_tenant_earns_an_index_and_its_searches_use_it(
    store: Store, postgres: str, admin: psycopg.Connection[tuple[object, ...]]
) -> None:
    keep(store, range(LARGE))
    keep(store, range(20), tenant="small")
    assert "HNSW" not in store.report().index
    assert tend(store).endswith("HNSW for acme")
    assert "HNSW for acme" in str(store.check())
    other = open_store(postgres)  # as a server that leaves upkeep to others: its first search has it look
    for _ in range(2):
        assert found(other) == nearest(range(LARGE), 10)
        for thread in threading.enumerate():
            if thread.name == tenant_indexes.LOOKING:
                thread.join(SECONDS)
    other.close()
    scans = "SELECT sum(idx_scan) > 0 FROM pg_stat_user_indexes WHERE indexrelname LIKE 'embedding_near_%'"
    until(lambda: admin.execute(scans).fetchall() == [(True,)])  # a connection reports its scans when it ends


def test_a_filter_or_a_namespace_that_few_pass_loses_no_hit(store: Store) -> None:
    own = range(LARGE - 30, LARGE)
    keep(store, range(LARGE - 30))
    keep(store, own, namespace="own")
    tend(store)
    for few in (Filter(sessions=frozenset({"7"})), Filter(projects=frozenset({"7"}))):
        assert found(store, where=few) == nearest(range(7, LARGE - 30, 50), 10)
    assert found(store, namespace="own", where=Filter(namespaces=frozenset({"own"}))) == nearest(own, 10)
    assert set(found(store, limit=LARGE)) == {f"m{at}" for at in range(LARGE - 30)}


def test_an_index_that_was_not_completed_is_not_used_and_built_again(
    store: Store, postgres: str, admin: psycopg.Connection[tuple[object, ...]]
) -> None:
    keep(store, range(LARGE))
    tend(store)
    broken = "UPDATE pg_index SET indisvalid = false WHERE indexrelid IN (SELECT oid FROM pg_class WHERE {})"
    admin.execute(broken.format("relname LIKE 'embedding_near_%'"))
    assert "HNSW" not in store.report().index
    assert "not built yet: acme" in str(store.check())
    other = open_store(postgres)
    assert found(other) == found(store) == nearest(range(LARGE), 10)
    assert tend(other).endswith("HNSW for acme")
    other.close()


def test_an_index_stays_while_its_tenant_shrinks_a_little_and_goes_when_it_is_small(
    store: Store, admin: psycopg.Connection[tuple[object, ...]]
) -> None:
    keep(store, range(LARGE))
    tend(store)
    for left, described in ((LARGE * 2 // 3, True), (LARGE // 3, False)):
        admin.execute("DELETE FROM memory WHERE alias > %s", (left,))
        assert ("HNSW" in tend(store)) == described
        assert found(store) == nearest(range(left), 10)


def test_with_another_model_the_index_of_the_old_one_goes(
    store: Store, admin: psycopg.Connection[tuple[object, ...]]
) -> None:
    keep(store, range(LARGE))
    tend(store)
    with store.transaction(SHARED, CAUSE, NOW, "acme") as writer:
        writer.put_vectors(OTHER, {f"m{at}": VECTORS[at] for at in range(LARGE)})
    tend(store)
    definitions = "SELECT indexdef FROM pg_indexes WHERE indexname LIKE 'embedding_near_%'"
    assert ["o''ther" in str(one) for (one,) in admin.execute(definitions)] == [True]
    assert list(store.reader(SHARED, "acme").near(QUESTION, OTHER, 10, Filter())) == nearest(range(LARGE), 10)


def test_a_role_that_does_not_own_the_tables_leaves_the_indexes_alone(
    store: Store, postgres: str, admin: psycopg.Connection[tuple[object, ...]]
) -> None:
    keep(store, range(LARGE))
    admin.execute("DROP ROLE IF EXISTS guest_of_lore")
    admin.execute("CREATE ROLE guest_of_lore LOGIN")
    admin.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO guest_of_lore")
    guest = open_store(postgres.replace("lore@", "guest_of_lore@"))
    assert "HNSW" not in tend(guest)
    tend(store)
    assert "HNSW for acme" in tend(guest)
    assert found(guest) == nearest(range(LARGE), 10)
    guest.close()
    admin.execute("DROP OWNED BY guest_of_lore")
    admin.execute("DROP ROLE guest_of_lore")


def test_a_process_that_embeds_has_the_index_built_in_the_background(store: Store) -> None:
    embeddings = Embeddings(HashEmbedder())
    keep(store, range(LARGE), model=embeddings.model)
    background = Background(store, embeddings)
    background.start()
    until(lambda: store.report().index.endswith("HNSW for acme"))
    background.close()
