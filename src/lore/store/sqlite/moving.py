"""Moving: the rows of a whole SQLite file, to be copied; and a file that takes such a copy."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import groupby
from pathlib import Path
from typing import Any

import apsw

from lore.errors import NotFound, Unavailable
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
from lore.store.sqlite import opening, text_index
from lore.store.sqlite.checks import rows_of
from lore.store.sqlite.connections import Connections
from lore.store.sqlite.index_files import remove_files
from lore.store.sqlite.writer import NEXT_SEQS

OMITTED = {
    "migration": "the steps of this file",
    "epoch": "a copy has a history of its own",
    "tenant": "each row names its tenant",
    "words": "the text index",
    "grams": "the text index",
    "subject": "names, from the texts",
    "vector": "empty: vectors of an older Lore take a compact form when it is opened",
    "short_vector": "copied with `embedding`",
    "vector_feed": "numbers that the vector index follows",
}
"""Lore's tables that TABLES does not list, and why."""
OMITTED_COLUMNS = {"embedding": ("seq", "code")}
"""Columns that follow from others."""
OWNERS = {"usage": "memory", "full_text": "memory", "cooccurrence": "one"}
"""Tables without a tenant, and the column with the alias of its memory."""
EMBEDDINGS = """
    SELECT t.name, x.memory, x.namespace, iif(v.data IS NULL, '', x.model), x.version, v.data FROM embedding x
        CROSS JOIN tenant t ON t.number = x.tenant
        LEFT JOIN short_vector v ON v.memory = x.memory AND v.model = x.model ORDER BY x.memory
"""
SERIES = {"memory": "memories", "link": "links", "journal": "entries"}
"""Tables that give numbers, and the series of each."""
LAST_NUMBERS = "SELECT name, seq FROM sqlite_sequence"
TENANTS = "SELECT name, number FROM tenant"
NEW_TENANT = "INSERT INTO tenant (name) VALUES (?) RETURNING number"
PUT_EMBEDDING = """
    INSERT INTO embedding (memory, tenant, namespace, model, version, seq) VALUES (?, ?, ?, ?, ?, ?)
"""
PUT_VECTOR = "INSERT INTO short_vector (memory, model, data) VALUES (?, ?, ?)"
STATE = "SELECT state FROM incomplete_copy"
MARK = "CREATE TABLE IF NOT EXISTS incomplete_copy (state TEXT NOT NULL) STRICT"
HAS_MARK = "SELECT 1 FROM sqlite_schema WHERE name = 'incomplete_copy'"
EMPTY = (
    *(f"DELETE FROM {table.name}" for table in reversed(TABLES)),
    "INSERT INTO words (words) VALUES ('delete-all')",
    "DELETE FROM grams",
    "DELETE FROM vector_feed",
    opening.RENEW_EPOCH,
)


class SqliteTables(Tables):
    """The tables as one connection sees them."""

    def __init__(self, path: Path, connection: apsw.Connection) -> None:
        self.location = str(path)
        self._connection = connection

    def count(self, table: MovedTable) -> int:
        return _number(self._connection, f"SELECT count(*) FROM {table.name}")

    def rows(self, table: MovedTable, skip: int = 0) -> Iterator[Row]:
        rows: Iterator[Row] = self._connection.execute(f"{_select(table)} LIMIT -1 OFFSET ?", (skip,))
        return rows


def _select(table: MovedTable) -> str:
    """The rows in their neutral form, by the primary key."""
    if table.name == "embedding":
        return EMBEDDINGS
    columns = ", ".join(f'x."{name}"' for name in table.columns)
    of_file = table.key[0] in table.numbers  # a number of its own in the whole file
    order = ", ".join(f'x."{name}"' for name in (*(() if of_file else ("tenant",)), *table.key))
    if table.name in OWNERS:
        owner = f'CROSS JOIN memory m ON m.alias = x."{OWNERS[table.name]}"'
        tenant = f"{owner} CROSS JOIN tenant t ON t.number = m.tenant"
    else:
        tenant = "CROSS JOIN tenant t ON t.number = x.tenant"
    return f"SELECT t.name, {columns} FROM {table.name} x {tenant} ORDER BY {order}"


# --- source
class SqliteSource(SqliteTables, Source):
    """A file, read in one transaction."""

    def last_numbers(self) -> dict[str, Numbers]:
        """All tenants share the numbers of the file."""
        last = {SERIES[str(name)]: int(str(seq)) for name, seq in self._connection.execute(LAST_NUMBERS)}
        return {str(name): Numbers(**last) for name, _ in self._connection.execute(TENANTS)}

    def repeats_numbers(self) -> bool:
        return False


@contextmanager
def source(path: Path) -> Iterator[Source]:
    """The store in a file. NotFound if there is none, Unavailable if an older Lore has written it."""
    if not path.is_file():
        raise NotFound(f"there is no store to copy: {path} does not exist")
    connections = Connections(path)
    try:
        with connections.aside() as connection:
            connection.execute("BEGIN")
            try:
                _require_current(connection, path)
                yield SqliteSource(path, connection)
            finally:
                connection.execute("ROLLBACK")
    finally:
        connections.close()


def _require_current(connection: apsw.Connection, path: Path) -> None:
    opening.check_schema(connection, path)
    steps = _number(connection, "SELECT count(*) FROM migration")
    if steps < len(opening.MIGRATIONS) or connection.execute("SELECT 1 FROM vector LIMIT 1").fetchall():
        raise Unavailable(f"{path} was written by an older Lore; upgrade it first: lore --db {path} status")


# --- target
class SqliteTarget(SqliteTables, Target):
    """A file that is being filled. Whoever had it open before cannot write to it meanwhile."""

    shares_numbers = True

    def __init__(self, connections: Connections, connection: apsw.Connection) -> None:
        super().__init__(connections.path, connection)
        self._connections = connections
        self._tenants: dict[str, int] = {}

    def state(self) -> CopyState | None:
        return _state(self._connection)

    def begin(self, state: CopyState) -> None:
        with self._connections.writing() as connection:
            for statement in (MARK, "DELETE FROM incomplete_copy", *EMPTY, "PRAGMA user_version = 0"):
                connection.execute(statement)
            connection.execute("INSERT INTO incomplete_copy VALUES (?)", (state_text(state),))
            connection.execute("INSERT OR REPLACE INTO migration VALUES (?, ?)", (INCOMPLETE, time.time()))

    def put(self, table: MovedTable, rows: Sequence[Row], before: CopyState, after: CopyState) -> None:
        with self._connections.writing() as connection:
            connection.execute(
                "UPDATE incomplete_copy SET state = ? WHERE state = ?",
                (state_text(after), state_text(before)),
            )
            if not connection.changes():
                raise Unavailable(f"another process copies into {self.location}; nothing was copied")
            for name, of_tenant in groupby(rows, key=lambda row: row[0]):
                self._put(
                    table, self._tenant(str(name), connection), [row[1:] for row in of_tenant], connection
                )
        self._connections.fold_log()

    def _put(self, table: MovedTable, tenant: int, rows: list[Row], connection: apsw.Connection) -> None:
        if table.name == "embedding":
            _put_embeddings(tenant, rows, connection)
            return
        names: tuple[str, ...] = table.columns
        if table.name not in OWNERS:
            names, values = ("tenant", *names), [(tenant, *row) for row in rows]
        else:
            values = rows
        columns, marks = ", ".join(f'"{name}"' for name in names), ", ".join("?" * len(names))
        connection.executemany(f"INSERT INTO {table.name} ({columns}) VALUES ({marks})", values)
        if table.name == "memory":
            text_index.add(tenant, texts_of(table, rows), rows_of(connection))

    def _tenant(self, name: str, connection: apsw.Connection) -> int:
        """The number of a tenant in this file. A transaction that fails ends the copy."""
        if not self._tenants:
            self._tenants = {str(tenant): int(str(number)) for tenant, number in connection.execute(TENANTS)}
        if name not in self._tenants:
            self._tenants[name] = _number(connection, NEW_TENANT, (name,))
        return self._tenants[name]

    def finish(self, numbers: Mapping[str, Numbers]) -> None:
        with self._connections.writing() as connection:
            for name in numbers:
                self._tenant(name, connection)
            given = {str(table): int(str(seq)) for table, seq in connection.execute(LAST_NUMBERS)}
            connection.execute("DELETE FROM sqlite_sequence")
            for table, series in SERIES.items():
                last = max(given.get(table, 0), *(getattr(one, series) for one in numbers.values()))
                connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (table, last))
            connection.execute("DROP TABLE incomplete_copy")
            connection.execute("DELETE FROM migration WHERE name = ?", (INCOMPLETE,))
            connection.execute(f"PRAGMA user_version = {len(opening.MIGRATIONS)}")
        remove_files(self._connections.path)


def _put_embeddings(tenant: int, rows: list[Row], connection: apsw.Connection) -> None:
    """Vectors get the next numbers of the feed that vector indexes follow."""
    complete = sum(vector is not None for *_, vector in rows)
    seq = _number(connection, NEXT_SEQS, {"tenant": tenant, "count": complete})
    for memory, namespace, model, version, vector in rows:
        number = 0 if vector is None else seq
        connection.execute(PUT_EMBEDDING, (memory, tenant, namespace, model, version, number))
        if vector is not None:
            connection.execute(PUT_VECTOR, (memory, model, vector))
            seq += 1


@contextmanager
def target(path: Path) -> Iterator[Target]:
    """The store in a file, which may be an incomplete copy; a new one if there is none."""
    opening.refuse_lost_file(path)
    connections = Connections(path)
    try:
        with connections.reading() as reader:
            begun = _state(reader) is not None
        if not begun:
            opening.migrate(connections)
        with connections.aside() as connection:
            yield SqliteTarget(connections, connection)
    finally:
        connections.close()


def _state(connection: apsw.Connection) -> CopyState | None:
    if not connection.execute(HAS_MARK).fetchall():
        return None
    ((text,),) = connection.execute(STATE).fetchall()
    return state_of(str(text))


def _number(connection: apsw.Connection, statement: str, parameters: Any = ()) -> int:
    ((number,),) = connection.execute(statement, parameters).fetchall()
    return int(str(number))
