"""The store in PostgreSQL beyond the contract: opening it, tenants kept apart, and what servers share."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier
from typing import Any

import numpy as np
import psycopg
import pytest

from lore.errors import Invalid, NotFound, Unavailable
from lore.model import SHARED, Cause, Filter, Memory
from lore.store import SharedStore, Store, open_store
from lore.store.columns import RECORDS
from lore.store.postgres import opening
from lore.store.postgres.store import COUNT_USE
from lore.store.postgres.tables import every_table
from lore.store.records import UPKEEP_JOB, UPKEEP_SECONDS, Job
from lore.store.values import COUNT, EVERY, JournalFilter, Use
from lore.vectors import unit
from scripts.postgres_server import running
from tests.doors.resident import until
from tests.postgres import ROLE, new_database, postgres_of_run, require_postgres

NOW = 1_800_000_000.0
CAUSE = Cause(verb="test")
MODEL = "exact/test/4"
EAST = unit(np.array([1, 0, 0, 0], np.float32))


def memory(id: str, content: str = "about the harbour", namespace: str = SHARED) -> Memory:
    return Memory(id=id, content=content, created_at=NOW, updated_at=NOW, namespace=namespace)


def keep(store: Store, *memories: Memory, tenant: str = "") -> None:
    with store.transaction(SHARED, CAUSE, NOW, tenant) as writer:
        writer.put(memories)


def found(store: Store, tenant: str = "") -> set[str]:
    return set(store.reader(SHARED, tenant).matching(["harbour"], 100, Filter()).strengths)


@pytest.fixture
def store(postgres: str) -> Iterator[Store]:
    opened = open_store(postgres)
    yield opened
    opened.close()


@pytest.fixture
def admin(postgres: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    """A connection of the superuser to the same database."""
    with psycopg.connect(postgres, user="postgres", autocommit=True) as connection:
        yield connection


@pytest.fixture
def fresh(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of a database of this test alone, without a schema."""
    require_postgres()
    name = f"fresh_{os.getpid()}_{abs(hash(request.node.nodeid)) % 10**8}"
    with postgres_of_run() as server:
        yield new_database(server, name)
        with psycopg.connect(server.url(), autocommit=True) as admin:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


# --- opening


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("dbname=nowhere", 'database "nowhere" does not exist'),
        ("user=stranger", 'role "stranger" does not exist'),
        ("host=/nowhere", "No such file or directory"),
        ("host=127.0.0.1 port=1", "refused"),
    ],
)
def test_a_server_that_cannot_be_used_is_named_with_the_reason(
    change: str, message: str, postgres: str
) -> None:
    given = psycopg.conninfo.conninfo_to_dict(postgres) | psycopg.conninfo.conninfo_to_dict(change)
    place = f"?host={given['host']}" if str(given["host"]).startswith("/") else ""
    host = "" if place else f"{given['host']}:{given.get('port', 5432)}"
    with pytest.raises(Unavailable, match=message) as refused:
        open_store(f"postgresql://{given['user']}:s3cret@{host}/{given['dbname']}{place}")
    assert "s3cret" not in str(refused.value)
    assert str(refused.value).startswith("postgresql://")


def test_an_address_that_cannot_be_read_is_refused_without_showing_it() -> None:
    with pytest.raises(Invalid, match="USER:PASSWORD") as refused:
        open_store("postgresql://me:s3cret@host:port:more/db?unknown=1")
    assert "s3cret" not in str(refused.value)


def test_a_password_stands_in_no_report(store: Store, postgres: str) -> None:
    with_password = postgres.replace(f"{ROLE}@", f"{ROLE}:s3cret@")
    opened = open_store(with_password)
    assert opened.report().location == postgres
    assert "s3cret" not in repr(opened.check())
    opened.close()


def test_a_database_of_another_program_is_left_alone(fresh: str) -> None:
    with psycopg.connect(fresh, autocommit=True) as other:
        other.execute("CREATE TABLE invoice (id integer)")
    with pytest.raises(Unavailable, match=r"another program \(invoice\)"):
        open_store(fresh)


def test_a_schema_of_a_newer_lore_is_refused(store: Store, postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as newer:
        newer.execute("INSERT INTO migration VALUES ('9999 later', 0)")
        try:
            with pytest.raises(Unavailable, match=r"newer Lore .*9999 later"):
                open_store(postgres)
        finally:
            newer.execute("DELETE FROM migration WHERE name = '9999 later'")


def test_a_role_that_may_not_create_pgvector_is_told_who_can(fresh: str) -> None:
    with psycopg.connect(fresh, user="postgres", autocommit=True) as admin:
        admin.execute("DROP EXTENSION vector")
    with pytest.raises(Unavailable, match="administrator run CREATE EXTENSION vector"):
        open_store(fresh)


def test_a_pgvector_that_is_too_old_is_refused(fresh: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "OLDEST_PGVECTOR", (99, 0, 0))
    with pytest.raises(Unavailable, match=r"pgvector .* too old .* 99\.0\.0"):
        open_store(fresh)


def test_those_who_open_a_new_database_at_once_share_it(fresh: str) -> None:
    together = Barrier(4)

    def open_and_keep(number: int) -> None:
        together.wait(60)
        store = open_store(fresh)
        keep(store, memory(f"m{number}"))
        store.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(open_and_keep, range(4)))
    store = open_store(fresh)
    assert store.reader(SHARED).traces(Filter(), COUNT).total == 4
    assert [finding for finding in store.check() if not finding.passed] == []
    store.close()


def test_a_new_field_of_a_record_becomes_a_column(store: Store, postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as older:
        older.execute("ALTER TABLE job DROP COLUMN claimed_until")
        older.execute("DROP TABLE spending")
    upgraded = open_store(postgres)
    with upgraded.transaction(SHARED, CAUSE, NOW) as writer:
        writer.put_records([Job(name="sweep", claimed_until=NOW)])
    assert upgraded.reader(SHARED).records(Job) == [Job(name="sweep", claimed_until=NOW)]
    assert all(upgraded.reader(SHARED).records(kind) is not None for kind in RECORDS)
    assert all(finding.passed for finding in upgraded.check())
    upgraded.close()


# --- row-level security


def test_a_transaction_sees_and_writes_the_rows_of_its_tenant_only(store: Store, postgres: str) -> None:
    keep(store, memory("a"), tenant="acme")
    keep(store, memory("b"), tenant="bolt")
    with psycopg.connect(postgres, autocommit=True) as connection:
        numbers: dict[str, int] = dict(connection.execute("SELECT name, number FROM tenant").fetchall())
        assert connection.execute("SELECT id FROM memory").fetchall() == []
        for name, ids in (("acme", ["a"]), ("bolt", ["b"])):
            with connection.transaction():
                connection.execute("SELECT set_config('lore.tenant', %s, true)", (str(numbers[name]),))
                assert [id for (id,) in connection.execute("SELECT id FROM memory").fetchall()] == ids
                assert connection.execute("UPDATE memory SET title = 'mine'").rowcount == 1
        assert connection.execute("SELECT id FROM memory").fetchall() == []
        connection.execute("SELECT set_config('lore.tenant', %s, false)", (str(numbers["acme"]),))
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connection.execute("UPDATE journal SET tenant = %s", (numbers["bolt"],))


def test_every_table_of_a_tenant_is_protected_also_from_its_owner(store: Store, postgres: str) -> None:
    with psycopg.connect(postgres) as connection:
        tables = connection.execute(
            "SELECT c.relname, c.relforcerowsecurity AND c.relrowsecurity FROM pg_class c"
            " JOIN pg_attribute a ON a.attrelid = c.oid WHERE c.relkind = 'r' AND a.attname = 'tenant'"
        ).fetchall()
    assert dict(tables) == dict.fromkeys(every_table(), True)


def test_a_role_that_bypasses_the_protection_is_a_finding(store: Store, postgres: str) -> None:
    opened = open_store(postgres.replace(f"{ROLE}@", "postgres@"))
    assert "bypasses row-level security" in str(opened.report().warnings)
    assert not all(finding.passed for finding in opened.check())
    opened.close()


def test_words_are_found_with_their_index_and_without_it(store: Store, postgres: str) -> None:
    """Row-level security keeps the index from roles that it applies to."""
    keep(store, memory("a"), memory("b", "the ferry"), tenant="acme")
    keep(store, memory("c"), tenant="bolt")
    admin = open_store(postgres.replace(f"{ROLE}@", "postgres@"))
    for one in (store, admin):
        assert (found(one, "acme"), found(one, "bolt")) == ({"a"}, {"c"})
    admin.close()


# --- several servers


def test_what_one_server_has_written_the_other_finds_at_once(store: Store, postgres: str) -> None:
    other = open_store(postgres)
    for number in range(5):
        one, reader = (store, other) if number % 2 else (other, store)
        keep(one, memory(f"m{number}"))
        with one.transaction(SHARED, CAUSE, NOW) as writer:
            writer.put_vectors(MODEL, {f"m{number}": EAST})
        assert f"m{number}" in found(reader)
        assert f"m{number}" in reader.reader(SHARED).near(EAST, MODEL, 10, Filter())
    other.close()


def test_a_store_goes_on_after_the_server_has_ended_its_connections(
    store: Store, admin: psycopg.Connection[tuple[object, ...]]
) -> None:
    keep(store, memory("a"))
    for use in (lambda: found(store), lambda: keep(store, memory("b")), lambda: found(store)):
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        use()
    assert found(store) == {"a", "b"}


def test_a_transaction_whose_connection_is_lost_is_not_kept(
    store: Store, admin: psycopg.Connection[tuple[object, ...]]
) -> None:
    keep(store, memory("a"))

    def lose() -> None:
        with store.transaction(SHARED, CAUSE, NOW) as writer:
            writer.put([memory("b")])
            admin.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    with pytest.raises(Unavailable):
        lose()
    assert found(store) == {"a"}
    keep(store, memory("c"))
    assert found(store) == {"a", "c"}


def test_servers_that_embed_together_get_different_memories(store: Store, postgres: str) -> None:
    keep(store, *(memory(f"m{number}") for number in range(6)))
    other = open_store(postgres)
    first = store.unembedded(MODEL, 4, claim_seconds=60)
    second = other.unembedded(MODEL, 4, claim_seconds=60)
    assert (len(first.passages), len(second.passages)) == (4, 2)
    assert {one.id for one in first.passages}.isdisjoint(one.id for one in second.passages)
    assert other.unembedded(MODEL, 4, claim_seconds=60).passages == []
    assert len(other.unembedded(MODEL, 10).passages) == first.total == 6
    assert store.embed(MODEL, dict.fromkeys(first.passages, EAST)) == 4
    keep(other, memory(second.passages[0].id, "changed"))
    assert [one.text for one in store.unembedded(MODEL, 4, claim_seconds=60).passages] == ["changed"]
    assert other.embed(MODEL, dict.fromkeys(second.passages, EAST)) == 1
    other.close()


def test_servers_that_claim_a_job_get_the_namespaces_that_changed_each_once(
    store: Store, postgres: str
) -> None:
    other = open_store(postgres)
    assert isinstance(store, SharedStore)
    assert isinstance(other, SharedStore)
    for number, tenant in enumerate(("acme", "bolt")):
        with store.transaction("ada", CAUSE, NOW + number, tenant) as writer:
            writer.put([memory("a", namespace="ada")])
    due = NOW + UPKEEP_SECONDS
    assert store.claim_due(UPKEEP_JOB, due - 1, due) is None, "a change is not looked at immediately"
    claimed = [one.claim_due(UPKEEP_JOB, due + 1, due + 60) for one in (store, other, store)]
    assert claimed == [("acme", "ada"), ("bolt", "ada"), None]
    assert other.claim_due(UPKEEP_JOB, due + 60, due + 90) == ("acme", "ada"), "whoever had it was killed"
    with store.transaction("ada", CAUSE, due, "acme") as writer:
        writer.put_records([Job(name=UPKEEP_JOB, due_at=due + 9_000)])
    keep(store, memory("b"), tenant="acme")
    assert other.claim_due(UPKEEP_JOB, due + 60, due + 99) == ("acme", SHARED)
    assert other.claim_due(UPKEEP_JOB, due + 60, due + 99) == ("bolt", "ada")
    assert other.claim_due(UPKEEP_JOB, due + 60, due + 99) is None, "a record says when the next one is due"
    with store.transaction("ada", CAUSE, due, "acme") as writer:
        writer.put([memory("a", "changed", "ada")])
    assert other.claim_due(UPKEEP_JOB, due + UPKEEP_SECONDS, due + 400) is not None
    other.close()


# --- processes: the script that they run keeps memories until it is killed, and prints the id of each

WRITER = Path(__file__).with_name("postgres_writer.py")


@contextmanager
def write(postgres: str, name: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, str(WRITER), postgres, name]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        try:
            yield writer
        finally:
            writer.kill()


def said(writer: subprocess.Popen[str], lines: int) -> list[str]:
    assert writer.stdout is not None
    return [writer.stdout.readline().strip() for _ in range(lines)]


def test_of_writers_that_are_killed_nothing_acknowledged_is_lost_and_nothing_kept_twice(
    store: Store, postgres: str
) -> None:
    acknowledged: list[str] = []
    with write(postgres, "east") as east, write(postgres, "west") as west:
        for writer in (east, west):
            acknowledged += said(writer, 20)
            writer.kill()
            assert writer.stdout is not None
            acknowledged += writer.stdout.read().split()
    ids = [trace.id for trace in store.reader(SHARED).traces(Filter())]
    assert len(ids) == len(set(ids))
    assert set(acknowledged) <= set(ids)
    assert len(ids) <= len(acknowledged) + 2  # at most one of each that was not acknowledged
    entries = store.reader(SHARED).journal(JournalFilter(newest_first=False), EVERY)
    assert sorted(entry.id for entry in entries) == sorted(ids)
    assert [entry.seq for entry in entries] == list(range(1, len(entries) + 1))
    assert [finding for finding in store.check() if not finding.passed] == []


def test_work_of_a_process_that_is_killed_is_free_at_once(store: Store, postgres: str) -> None:
    with write(postgres, "hold") as holder:
        assert said(holder, 1) == ["held"]
        with store.exclusive("sweep") as alone:
            assert not alone

    def free() -> bool:
        with store.exclusive("sweep") as alone:
            return alone

    until(free)


def test_a_memory_of_another_tenant_is_unknown_to_a_writer(store: Store) -> None:
    keep(store, memory("a"), tenant="acme")
    with pytest.raises(NotFound), store.transaction(SHARED, CAUSE, NOW, "bolt") as writer:
        writer.put([], {"a": "a whole text"})


def test_what_postgresql_cannot_store_is_refused_and_nothing_changes(store: Store) -> None:
    with pytest.raises(Invalid, match="cannot be stored"):
        keep(store, memory("a"), memory("b", "a NUL \0 inside"))
    assert found(store) == set()


# --- plans


def rows_read(table: str, plan: dict[str, Any]) -> float:
    """How many rows of a table a statement read."""
    here = "Scan" in plan["Node Type"] and plan.get("Relation Name") == table
    rows = (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"]
    return (rows if here else 0) + sum(rows_read(table, one) for one in plan.get("Plans", []))


def test_a_use_is_counted_without_reading_other_memories_of_a_tenant(store: Store, postgres: str) -> None:
    """The planner knows nothing of a new database: with a join it would read all uses of the tenant."""
    keep(store, *(memory(f"m{number:03}") for number in range(400)))
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("SELECT set_config('lore.tenant', '0', false)")
        [[tenant]] = connection.execute("SELECT number FROM tenant WHERE name = ''").fetchall()
        connection.execute("SELECT set_config('lore.tenant', %s, false)", [str(tenant)])
        shown = {"tenant": tenant, "ids": [f"m{number:03}" for number in range(0, 400, 40)], "now": NOW}
        statement = f"EXPLAIN (ANALYZE, FORMAT JSON) {COUNT_USE}"
        [[[explained]]] = connection.execute(statement, shown).fetchall()
    assert rows_read("usage", explained["Plan"]) == 2 * len(shown["ids"])  # locked, then changed
    store.touch(Use(ids=("m000",)), NOW)
    assert store.reader(SHARED).get(["m000"])["m000"].access_count == 2


def test_a_server_of_tests_starts_again_while_its_last_user_leaves() -> None:
    require_postgres()
    folder = Path(tempfile.gettempdir()) / f"lore-pg-again-{os.getpid()}"
    for _ in range(6):
        with running(folder) as server, psycopg.connect(server.url()) as connection:
            assert connection.execute("SELECT 1").fetchall() == [(1,)]
    until(lambda: not folder.exists())
