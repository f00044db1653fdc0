"""Moving: the rows of a whole PostgreSQL database, to be copied; and a database that takes such a copy.

Rows come in by COPY to a temporary table, because row-level security forbids COPY to the tables themselves.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from typing import Any

from pgvector.psycopg import register_vector
from psycopg import Connection

from lore.errors import Unavailable
from lore.store.columns import Row
from lore.store.moving import (
    INCOMPLETE,
    TABLES,
    CopyState,
    MovedTable,
    Numbers,
    Source,
    Tables,
    Target,
    state_of,
    state_text,
    texts_of,
)
from lore.store.postgres import opening, text_index
from lore.store.postgres.checks import VERBATIM_KINDS
from lore.store.postgres.connections import BEGIN, UNLIMITED, Connections, rows_of
from lore.store.postgres.halves import halved, joined
from lore.store.postgres.tables import EVERY_TENANT

OMITTED = {
    "migration": "the steps of this database",
    "epoch": "a copy has a history of its own",
    "tenant": "each row names its tenant",
    "tenant_state": "set from the last numbers",
    "words": "the text index",
    "subject": "names, from the texts",
    "vector_rest": "copied with `embedding`",
}
"""Tables that TABLES does not list, and why."""
OMITTED_COLUMNS = {"embedding": ("verbatim", "added_at", "claimed_until")}
"""Columns that follow from others, or hold for a moment only."""
SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
BATCH = 1_000
EMBEDDINGS = """
    SELECT x.tenant, x.memory, x.namespace, CASE WHEN x.vector IS NULL THEN '' ELSE x.model END, x.version,
        x.vector, r.rest FROM embedding x
    LEFT JOIN vector_rest r ON r.tenant = x.tenant AND r.memory = x.memory ORDER BY x.tenant, x.memory
"""
EMBEDDING_COLUMNS = ("tenant", "memory", "namespace", "model", "version", "vector")
STAGED_EMBEDDINGS = f"""
    CREATE TEMP TABLE staged ON COMMIT DROP AS
        SELECT {", ".join(f"x.{name}" for name in EMBEDDING_COLUMNS)}, r.rest
        FROM embedding x, vector_rest r LIMIT 0
"""
KEEP_EMBEDDINGS = f"""
    INSERT INTO embedding ({", ".join(EMBEDDING_COLUMNS)}, verbatim, added_at)
        SELECT {", ".join(f"s.{name}" for name in EMBEDDING_COLUMNS)},
            m.kind IN ({VERBATIM_KINDS}), m.created_at
        FROM staged s JOIN memory m ON m.tenant = s.tenant AND m.alias = s.memory
"""
KEEP_RESTS = """
    INSERT INTO vector_rest (tenant, memory, rest)
        SELECT tenant, memory, rest FROM staged WHERE rest IS NOT NULL
"""
TENANTS = "SELECT name, number FROM tenant"
NEW_TENANT = "INSERT INTO tenant (name) VALUES (%s) RETURNING number"
LAST_NUMBERS = """
    SELECT t.name, coalesce(s.memories, 0), coalesce(s.links, 0), coalesce(s.entries, 0)
        FROM tenant t LEFT JOIN tenant_state s ON s.tenant = t.number
"""
KEEP_NUMBERS = """
    INSERT INTO tenant_state (tenant, memories, links, entries) VALUES (%s, %s, %s, %s)
        ON CONFLICT (tenant) DO UPDATE
        SET memories = excluded.memories, links = excluded.links, entries = excluded.entries
"""
REPEATED = "SELECT 1 FROM {table} GROUP BY {number} HAVING count(*) > 1 LIMIT 1"
MARK = "CREATE TABLE IF NOT EXISTS incomplete_copy (state text NOT NULL)"
MARKED = "INSERT INTO migration VALUES (%s, %s) ON CONFLICT DO NOTHING"
RENEW_EPOCH = "UPDATE epoch SET id = gen_random_uuid()::text"
HAS_MARK = "SELECT to_regclass('incomplete_copy') IS NOT NULL"
COLLECT_WORDS = "ALTER INDEX words_words SET (fastupdate = on)"
"""New words are collected and indexed many at a time: memories arrive in about half the time."""
INDEX_WORDS = (
    "ALTER INDEX words_words SET (fastupdate = off)",
    "SELECT gin_clean_pending_list('words_words')",
)
KEEP_STATE = "UPDATE incomplete_copy SET state = %s WHERE state = %s"


class PostgresTables(Tables):
    """The tables as one connection sees them."""

    def __init__(self, location: str, connection: Connection[Row]) -> None:
        self.location = location
        self._connection = connection

    def count(self, table: MovedTable) -> int:
        return _number(self._connection, f"SELECT count(*) FROM {table.name}")

    def rows(self, table: MovedTable, skip: int = 0) -> Iterator[Row]:
        names = {int(number): str(name) for name, number in self._connection.execute(TENANTS)}
        with self._connection.cursor(name="moved", binary=True) as cursor:
            cursor.itersize = BATCH
            for tenant, *values in cursor.execute(f"{_select(table)} OFFSET {skip}"):
                yield names[tenant], *(_neutral(values) if table.name == "embedding" else values)


def _select(table: MovedTable) -> str:
    """The rows, by the primary key."""
    if table.name == "embedding":
        return EMBEDDINGS
    columns = ", ".join(f'"{name}"' for name in table.columns)
    order = ", ".join(f'"{name}"' for name in table.key)
    return f"SELECT tenant, {columns} FROM {table.name} ORDER BY tenant, {order}"


def _neutral(values: list[Any]) -> list[Any]:
    """A row of EMBEDDINGS with its vector in one part."""
    *values, vector, rest = values
    return [*values, None if vector is None else joined(vector, rest)]


# --- source
class PostgresSource(PostgresTables, Source):
    """A database, read in one transaction."""

    def last_numbers(self) -> dict[str, Numbers]:
        return {str(name): Numbers(*numbers) for name, *numbers in self._connection.execute(LAST_NUMBERS)}

    def repeats_numbers(self) -> bool:
        numbers = {"memory": "alias", "link": "alias", "journal": "seq"}
        return any(
            self._connection.execute(REPEATED.format(table=table, number=number)).fetchall()
            for table, number in numbers.items()
        )


@contextmanager
def source(url: str) -> Iterator[Source]:
    """The store in a database; Unavailable if there is none, or if an older Lore has written it."""
    connections = Connections(url)
    with connections.keeping(SNAPSHOT) as connection:
        if opening.missing_steps(connection, connections.location):
            raise Unavailable(
                f"{connections.location} holds no store of this Lore; if an older one has written it, upgrade"
                " it first: start lore-server with it once"
            )
        yield PostgresSource(connections.location, connection)


# --- target
class PostgresTarget(PostgresTables, Target):
    """A database that is being filled."""

    shares_numbers = False

    def state(self) -> CopyState | None:
        return _state(self._connection)

    def begin(self, state: CopyState) -> None:
        with self._transaction() as connection:
            for statement in (MARK, "DELETE FROM incomplete_copy", COLLECT_WORDS, RENEW_EPOCH):
                connection.execute(statement)
            for table in reversed(TABLES):
                connection.execute(f"DELETE FROM {table.name}")
            connection.execute("INSERT INTO incomplete_copy VALUES (%s)", (state_text(state),))
            connection.execute(MARKED, (INCOMPLETE, time.time()))

    @contextmanager
    def _transaction(self) -> Iterator[Connection[Row]]:
        """A transaction that sees every tenant and has no time limit."""
        with self._connection.transaction():
            _unlimited(self._connection)
            yield self._connection

    def count(self, table: MovedTable) -> int:
        with self._transaction():
            return super().count(table)

    def rows(self, table: MovedTable, skip: int = 0) -> Iterator[Row]:
        with self._transaction():
            yield from super().rows(table, skip)

    def put(self, table: MovedTable, rows: Sequence[Row], before: CopyState, after: CopyState) -> None:
        with self._transaction() as connection:
            if not connection.execute(KEEP_STATE, (state_text(after), state_text(before))).rowcount:
                raise Unavailable(f"another process copies into {self.location}; nothing was copied")
            tenants = {name: _tenant(str(name), connection) for name in {row[0] for row in rows}}
            if table.name == "embedding":
                _put_embeddings([(tenants[name], *values) for name, *values in rows], connection)
                return
            _put(table, [(tenants[name], *values) for name, *values in rows], connection)
            if table.name == "memory":
                for name, of_tenant in groupby(rows, key=lambda row: row[0]):
                    texts = texts_of(table, [row[1:] for row in of_tenant])
                    text_index.add(tenants[name], texts, rows_of(connection))

    def finish(self, numbers: Mapping[str, Numbers]) -> None:
        with self._transaction() as connection:
            for name, last in numbers.items():
                tenant = _tenant(name, connection)
                connection.execute(KEEP_NUMBERS, (tenant, last.memories, last.links, last.entries))
            for statement in (*INDEX_WORDS, "DROP TABLE incomplete_copy"):
                connection.execute(statement)
            connection.execute("DELETE FROM migration WHERE name = %s", (INCOMPLETE,))
        self._connection.execute("ANALYZE")


def _put(table: MovedTable, rows: Sequence[Row], connection: Connection[Row]) -> None:
    columns = ", ".join(f'"{name}"' for name in ("tenant", *table.columns))
    staged = f"CREATE TEMP TABLE staged ON COMMIT DROP AS SELECT {columns} FROM {table.name} LIMIT 0"
    _stage(staged, rows, connection)
    connection.execute(f"INSERT INTO {table.name} ({columns}) SELECT {columns} FROM staged")


def _put_embeddings(rows: Sequence[Row], connection: Connection[Row]) -> None:
    staged = [(*row, *((None, None) if vector is None else halved(vector))) for *row, vector in rows]
    _stage(STAGED_EMBEDDINGS, staged, connection)
    connection.execute(KEEP_EMBEDDINGS)
    connection.execute(KEEP_RESTS)


def _stage(made: str, rows: Sequence[Row], connection: Connection[Row]) -> None:
    """Copy rows to a temporary table, which this statement makes."""
    connection.execute(made)
    columns = connection.execute("SELECT * FROM staged").description or []
    with connection.cursor() as cursor, cursor.copy("COPY staged FROM STDIN (FORMAT binary)") as copy:
        copy.set_types([column.type_code for column in columns])
        for row in rows:
            copy.write_row(row)


def _tenant(name: str, connection: Connection[Row]) -> int:
    """The number of a tenant in this database; a new tenant gets one."""
    numbers = connection.execute("SELECT number FROM tenant WHERE name = %s", (name,)).fetchall()
    return int(numbers[0][0]) if numbers else _number(connection, NEW_TENANT, (name,))


@contextmanager
def target(url: str) -> Iterator[Target]:
    """The store in a database, which may be an incomplete copy; the tables are made if there are none."""
    connections = Connections(url)
    with connections.aside() as connection:
        if _state(connection) is None:
            opening.migrate(connections)
        register_vector(connection)
        yield PostgresTarget(connections.location, connection)


def _state(connection: Connection[Row]) -> CopyState | None:
    if connection.execute(HAS_MARK).fetchall() != [(True,)]:
        return None
    ((text,),) = connection.execute("SELECT state FROM incomplete_copy").fetchall()
    return state_of(str(text))


def _unlimited(connection: Connection[Row]) -> None:
    connection.execute(BEGIN, {"tenant": str(EVERY_TENANT)})
    connection.execute(UNLIMITED)


def _number(connection: Connection[Row], statement: str, parameters: Sequence[Any] = ()) -> int:
    ((number,),) = connection.execute(statement, parameters).fetchall()
    return int(number)
