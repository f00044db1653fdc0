"""Opening: give a database its schema or upgrade it, or say exactly why it cannot be used."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import psycopg
from psycopg import Connection, errors

from lore.errors import Unavailable
from lore.store.columns import Row
from lore.store.moving import INCOMPLETE, incomplete
from lore.store.postgres.connections import Connections
from lore.store.postgres.tables import TENANT_TABLES, protection, record_statements, record_tables
from lore.text import listed
from lore.version import VERSION

OLDEST_SERVER = 160_000
OLDEST_PGVECTOR = (0, 8, 4)
"""Earlier versions could damage an HNSW index while it is vacuumed."""

FIRST_SCHEMA = "0001 first schema"
STEP_FILES = {
    FIRST_SCHEMA: ("schema.sql", TENANT_TABLES),
    "0002 exact vectors": ("schema_vectors.sql", ("vector_rest",)),
    "0003 sync epoch": ("schema_sync.sql", ()),
}
"""The file of each step, and its new tables whose rows belong to one tenant."""
MIGRATIONS: dict[str, str] = {
    name: Path(__file__).with_name(file).read_text(encoding="utf-8")
    + "".join(f"{statement};\n" for table in tables for statement in protection(table))
    for name, (file, tables) in STEP_FILES.items()
}
"""Named steps, each applied once, in order. A step that was released never changes; the next one stands
beside it. Expand first, contract in a later release: an older Lore may still be running."""
STEPS = "CREATE TABLE migration (name text PRIMARY KEY, applied_at double precision NOT NULL)"
LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('lore migration ' || current_schema(), 0))"
TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()"
COLUMNS = """
    SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name = ANY(%s)
"""
APPLIED = "SELECT name FROM migration ORDER BY name"
PGVECTOR = """
    SELECT (SELECT extversion FROM pg_extension WHERE extname = 'vector'),
        (SELECT default_version FROM pg_available_extensions WHERE name = 'vector')
"""


def migrate(connections: Connections, steps: Mapping[str, str] | None = None) -> None:
    """Apply the missing steps; refuse a database with unknown ones, or a server that is too old.

    All of it is one transaction, and one process at a time does it.
    """
    steps = MIGRATIONS if steps is None else steps
    with connections.aside() as connection:
        _check_server(connection)
        if not _missing(connection, steps, connections.location):
            return
        with connection.transaction():
            connection.execute(LOCK)
            _require_pgvector(connection)
            missing = _missing(connection, steps, connections.location)
            for name, statement in missing.items():
                connection.execute(statement)
                if name in steps:
                    connection.execute("INSERT INTO migration VALUES (%s, %s)", (name, time.time()))


def missing_steps(connection: Connection[Row], location: str) -> list[str]:
    """The steps that a database needs before this Lore can use it; refuses unknown ones."""
    _check_server(connection)
    return list(_missing(connection, MIGRATIONS, location))


def _check_server(connection: Connection[Row]) -> None:
    version = connection.info.server_version
    if version < OLDEST_SERVER:
        raise Unavailable(
            f"PostgreSQL {version // 10_000} is too old; Lore needs {OLDEST_SERVER // 10_000} or newer"
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise Unavailable(f"the database has the encoding {encoding}; create one with ENCODING 'UTF8'")


def _missing(connection: Connection[Row], steps: Mapping[str, str], location: str) -> dict[str, str]:
    """What has to be done: statements by the name of their step."""
    tables = [str(name) for (name,) in connection.execute(TABLES).fetchall()]
    if "migration" not in tables:
        if tables:
            raise Unavailable(
                f"{location} has tables of another program ({listed(tables)}); "
                "give Lore a database of its own"
            )
        return {"migration": STEPS, **steps, **_records(connection)}
    applied = [str(name) for (name,) in connection.execute(APPLIED).fetchall()]
    _refuse_newer(applied, steps, location)
    return {name: step for name, step in steps.items() if name not in applied} | _records(connection)


def _records(connection: Connection[Row]) -> dict[str, str]:
    """The missing tables and columns of records: a new kind of record needs no step of its own."""
    existing = connection.execute(COLUMNS, (list(record_tables()),)).fetchall()
    statements = record_statements((str(table), str(column)) for table, column in existing)
    return {f"records {number}": statement for number, statement in enumerate(statements)}


def _refuse_newer(applied: Sequence[str], steps: Mapping[str, str], location: str) -> None:
    if INCOMPLETE in applied:
        raise incomplete(location)
    if newer := [name for name in applied if name not in steps]:
        raise Unavailable(
            f"{location} was written by a newer Lore (unknown steps: {listed(newer)}); "
            f"this is Lore {VERSION}: upgrade it (pip install -U agent-lore)"
        )


def _require_pgvector(connection: Connection[Row]) -> None:
    ((installed, available),) = connection.execute(PGVECTOR).fetchall()
    wanted = ".".join(map(str, OLDEST_PGVECTOR))
    if installed is None and available is None:
        raise Unavailable(f"the server has no pgvector; install version {wanted} or newer of it")
    version = str(installed or available)
    if tuple(map(int, version.split("."))) < OLDEST_PGVECTOR:
        how = "ALTER EXTENSION vector UPDATE" if installed else "install a newer package"
        raise Unavailable(f"pgvector {version} is too old to be safe; Lore needs {wanted} or newer ({how})")
    if installed is None:
        try:
            connection.execute("CREATE EXTENSION vector")
        except (errors.InsufficientPrivilege, psycopg.errors.UndefinedFile) as error:
            raise Unavailable(
                "the database has no pgvector yet, and this role may not create it; "
                "have an administrator run CREATE EXTENSION vector in it"
            ) from error
