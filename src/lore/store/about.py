"""About: which memories are introduced by which names, kept in step with their texts."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import apsw

from lore.model import Memory
from lore.names import subjects
from lore.store import bulk, sql
from lore.store.bulk import Table

SUBJECT = Table("subject", ("name", "memory"))
DROP = "DELETE FROM subject WHERE memory = :memory"
FILL = """
    INSERT INTO subject SELECT s.value, m.alias
        FROM memory m CROSS JOIN json_each(subjects_of(m.title, m.content)) s
"""
WRONG = """
    SELECT count(*) FROM (SELECT alias, title, content FROM memory ORDER BY alias DESC LIMIT :sample) m
        WHERE (SELECT json_group_array(name ORDER BY name) FROM subject WHERE memory = m.alias)
            != (SELECT json_group_array(value ORDER BY value) FROM json_each(subjects_of(m.title, m.content)))
"""
"""Among the newest, those that are filed under other names than their texts give."""
ABOUT = """
    WITH few AS MATERIALIZED (
        SELECT j.value FROM json_each(:names) j WHERE (
            SELECT count(*) FROM (
                SELECT 1 FROM subject s CROSS JOIN memory m ON m.alias = s.memory
                WHERE s.name = j.value AND {passing} LIMIT :most + 1
            )
        ) BETWEEN 1 AND :most
    )
    SELECT s.name, m.id FROM few CROSS JOIN subject s ON s.name = few.value
        CROSS JOIN memory m ON m.alias = s.memory WHERE {passing} ORDER BY s.name, m.alias
"""
"""For names that something is about that passes, but not more than that."""


def teach(connection: apsw.Connection) -> None:
    """Give SQL the function that FILL and WRONG call."""
    connection.create_scalar_function("subjects_of", _subjects_of, 2, deterministic=True)


def _subjects_of(*texts: Any) -> str:
    title, content = texts
    return json.dumps(subjects(title, content), ensure_ascii=False)


def put(memories: Iterable[Memory], aliases: Mapping[str, int], rows: sql.Rows) -> None:
    """Of new memories."""
    told = [
        (name, aliases[memory.id]) for memory in memories for name in subjects(memory.title, memory.content)
    ]
    bulk.insert(SUBJECT, told, rows)


def change(memory: Memory, rows: sql.Rows) -> None:
    """Of a memory whose title or content is another one now."""
    rows(DROP, {"memory": memory.alias})
    put([memory], {memory.id: memory.alias}, rows)
