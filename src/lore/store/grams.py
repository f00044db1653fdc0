"""Grams: the rows of the second text index, kept in step with the texts of memories (see `lore.grams`)."""

from collections.abc import Iterable, Mapping
from typing import Any

import apsw

from lore.grams import indexed
from lore.model import Memory
from lore.store import bulk, sql
from lore.store.bulk import Table

FIELDS = ("title", "summary", "content", "context")
GRAMS = Table("grams", ("rowid", *FIELDS))
DROP = "DELETE FROM grams WHERE rowid = :memory"
_OF_MEMORIES = f"""
    SELECT alias, {", ".join(f"grams_of({name}) AS {name}" for name in FIELDS)} FROM memory
"""
FILL = f"""
    WITH made AS MATERIALIZED ({_OF_MEMORIES})
    INSERT INTO grams (rowid, {", ".join(FIELDS)}) SELECT * FROM made
        WHERE (title, summary, content, context) != ('', '', '', '')
"""
WRONG = f"""
    WITH made AS MATERIALIZED ({_OF_MEMORIES} ORDER BY alias DESC LIMIT :sample)
    SELECT count(*) FROM made m LEFT JOIN grams g ON g.rowid = m.alias
        WHERE (m.title, m.summary, m.content, m.context) !=
            (coalesce(g.title, ''), coalesce(g.summary, ''), coalesce(g.content, ''), coalesce(g.context, ''))
"""
"""Among the newest, those whose grams are not those of their texts."""


def teach(connection: apsw.Connection) -> None:
    """Give SQL the function that FILL and WRONG call."""
    connection.create_scalar_function("grams_of", _grams_of, 1, deterministic=True)


def _grams_of(*texts: Any) -> str:
    return indexed(texts[0])


def put(memories: Iterable[Memory], aliases: Mapping[str, int], rows: sql.Rows) -> None:
    """Of new memories; most have none."""
    made = [(aliases[memory.id], *(indexed(getattr(memory, name)) for name in FIELDS)) for memory in memories]
    bulk.insert(GRAMS, [row for row in made if any(row[1:])], rows)


def change(memory: Memory, rows: sql.Rows) -> None:
    """Of a memory whose text is another one now."""
    rows(DROP, {"memory": memory.alias})
    put([memory], {memory.id: memory.alias}, rows)
