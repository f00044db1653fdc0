"""First release: bring a file of the first 0.1.0 into today's first schema, with all that it holds."""

import json
import time
from collections.abc import Iterator, Sequence

import apsw

from lore.store.sqlite import text_index

FIRST_STEP = "0001 memories, links, words, vectors, journal"
"""The first step of such a file. It has up to eleven more, all of them forgotten here."""
OLD = "first_release_"
"""The beginning of the names of its tables while they are read."""
TABLES = {
    "memory": "memory",
    "trace": "usage",
    "meeting": "cooccurrence",
    "link": "link",
    "suggestion": "suggestion",
    "full_text": "full_text",
    "journal": "journal",
    "embedding": "embedding",
    "vector": "vector",
}
"""Its table -> the table that takes the rows, owners first."""
OTHERS = ("subject", "noted", "bookmark", "errand")
"""Derived, or a record of Lore's own work that is made again; of `noted` the progress of digests is kept.

Transcripts are read from their beginning once more; ids follow from the client's ids, so nothing is doubled.
"""
BORN = "SELECT applied_at FROM migration WHERE name = ?"
NAMED = "SELECT type, name, sql FROM sqlite_schema WHERE type IN ('trigger', 'index') AND sql IS NOT NULL"
HAS = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
WITHOUT_PROJECTS = {  # before projects had a column, the channel of a conversation was its project
    "project": "iif(source_type = 'transcript', channel, '')",
    "channel": "iif(source_type = 'transcript', '', channel)",
}
NAMESPACE = f"""
    iif(noun = 'link',
        (SELECT iif(s.namespace != 'shared', s.namespace, t.namespace) FROM {OLD}link l
            JOIN {OLD}memory s ON s.alias = l.source JOIN {OLD}memory t ON t.alias = l.target
            WHERE l.id = {OLD}journal.id),
        (SELECT m.namespace FROM {OLD}memory m WHERE m.id = {OLD}journal.id))
"""
VALUES = {
    "journal": {"namespace": f"coalesce({NAMESPACE}, '')"},  # '': nobody sees the past of what is gone
    "embedding": {
        "namespace": f"(SELECT m.namespace FROM {OLD}memory m WHERE m.alias = {OLD}embedding.memory)",
        "code": "NULL",
    },
}
"""Columns of a new table whose value is no column of the old one."""
DIGESTS = f"SELECT namespace, substr(name, 8), value FROM {OLD}noted WHERE name GLOB 'digest/*'"
PUT_DIGEST = "INSERT INTO digest_progress VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)"


def is_first_release(applied: Sequence[str]) -> bool:
    """Whether a file with these steps has the schema of the first 0.1.0."""
    return FIRST_STEP in applied


def take_over(writer: apsw.Connection, first_schema: str, name: str) -> None:
    """Give the file the first schema and its own rows, inside the caller's transaction."""
    ((born,),) = writer.execute(BORN, (FIRST_STEP,)).fetchall()
    _set_aside(writer)
    writer.execute(first_schema)
    for old, new in TABLES.items():
        if _has(writer, OLD + old):
            _copy(writer, old, new)
    if _has(writer, OLD + "noted"):
        writer.executemany(PUT_DIGEST, list(_digests(writer)))
    for table in (*OTHERS, *reversed(TABLES)):  # those with references before their owners
        writer.execute(f"DROP TABLE IF EXISTS {OLD}{table}")
    writer.execute("INSERT OR IGNORE INTO usage SELECT alias, 0, 0, NULL, NULL, 0.0, NULL FROM memory")
    text_index.index_again(lambda statement, values: writer.execute(statement, values).fetchall())
    writer.execute("DELETE FROM migration")
    writer.execute("INSERT INTO migration VALUES (?, ?)", (name, born))  # `born` tells stores apart


def _set_aside(writer: apsw.Connection) -> None:
    """Rename its tables; drop what would collide with today's names or is computed again."""
    for kind, name, _ in writer.execute(NAMED).fetchall():
        writer.execute(f'DROP {kind} IF EXISTS "{name}"')
    for derived in ("words", "grams"):
        writer.execute(f"DROP TABLE IF EXISTS {derived}")
    for table in (*TABLES, *OTHERS):
        if _has(writer, table):
            writer.execute(f"ALTER TABLE {table} RENAME TO {OLD}{table}")
    writer.execute("DELETE FROM sqlite_stat1")


def _copy(writer: apsw.Connection, old: str, new: str) -> None:
    present = set(_columns(writer, OLD + old))
    values = {"tenant": "1", **VALUES.get(old, {})}
    if old == "memory" and "project" not in present:
        values |= WITHOUT_PROJECTS
    names = _columns(writer, new)
    chosen = ", ".join(values.get(name, name) for name in names)
    writer.execute(f"INSERT INTO {new} ({', '.join(names)}) SELECT {chosen} FROM {OLD}{old}")


def _columns(writer: apsw.Connection, table: str) -> list[str]:
    return [str(row[1]) for row in writer.execute(f"PRAGMA table_info({table})").fetchall()]


def _has(writer: apsw.Connection, table: str) -> bool:
    return bool(writer.execute(HAS, (table,)).fetchall())


def _digests(writer: apsw.Connection) -> Iterator[tuple[object, ...]]:
    """Without them every conversation would be digested again."""
    for namespace, session, text in writer.execute(DIGESTS).fetchall():
        value = json.loads(str(text))
        yield (
            namespace, session, value.get("turns", 0), value.get("until", 0),
            float(value.get("at", time.time())), value.get("attempts", 0),
            float(value.get("retry_at", 0.0)), value.get("trouble", ""),
        )  # fmt: skip
