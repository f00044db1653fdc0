"""peek: ids, titles and projects for shell completion. Nothing is created, upgraded or waited for."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import apsw

from lore.keys import store_key
from lore.model import LORE_CALL, TURN, Filter
from lore.store.columns import Parameters, Row
from lore.store.sqlite import sql
from lore.store.sqlite.connections import plainly
from lore.store.sqlite.encryption import unlock

BUSY_MILLISECONDS = 200
TITLE_LENGTH = 80
"""Characters of a text that stand for it where a memory has no title."""
MEMORIES = f"""
    SELECT m.id, iif(m.title > '', m.title, substr(m.content, 1, {TITLE_LENGTH})) FROM memory m
    WHERE {{sight}} AND {{state}} AND {{kinds}} AND {{matches}}
    ORDER BY m.alias DESC LIMIT :limit
"""
IN_KINDS = f"m.kind IN ({sql.IDS})"
NO_TURNS = f"m.kind NOT IN ('{TURN}', '{LORE_CALL}')"
MATCHES = "(substr(m.id, -8) >= :part AND substr(m.id, -8) < :high OR m.id >= :part AND m.id < :high)"
PROJECTS = "SELECT DISTINCT m.project FROM memory m WHERE {sight} AND m.project > '' ORDER BY 1 LIMIT :limit"


def memories(
    path: Path, namespaces: Sequence[str], part: str, where: Filter, limit: int
) -> list[tuple[str, str]]:
    """(id, title) of the newest memories whose id, or its last eight characters, begin with `part`.

    namespaces: those that the caller sees, its own first. where: its kinds count, and `forgotten` means only
    forgotten memories. Without kinds and without `part`, turns of conversations are left out.
    """
    statement = MEMORIES.format(
        sight=_sight(namespaces),
        state="m.forgotten_at IS NOT NULL" if where.forgotten else sql.CURRENT.format(m="m"),
        kinds=IN_KINDS if where.kinds else "true" if part else NO_TURNS,
        matches=MATCHES if part else "true",
    )
    parameters = {
        "part": part,
        "high": part + "\U0010ffff",
        "ids": sql.listed_ids(where.kinds),
        "limit": limit,
    }
    return [(str(id), str(title)) for id, title in _rows(path, statement, parameters, namespaces)]


def projects(path: Path, namespaces: Sequence[str], limit: int) -> list[str]:
    """The keys of the projects that memories belong to."""
    statement = PROJECTS.format(sight=_sight(namespaces))
    return [str(key) for (key,) in _rows(path, statement, {"limit": limit}, namespaces)]


def _sight(namespaces: Sequence[str]) -> str:
    return sql.sight("m", namespaces[0] if len(namespaces) == 1 else "")


def _rows(path: Path, statement: str, parameters: Parameters, namespaces: Sequence[str]) -> list[Row]:
    namespace, *teams = namespaces
    with _connected(path) as connection:
        # the embedded default has one tenant, and its number is 1
        read = sql.seeing_teams(lambda *query: connection.execute(*query).fetchall(), teams)
        return read(statement, {"tenant": 1, "namespace": namespace, **parameters})


@contextmanager
def _connected(path: Path) -> Iterator[apsw.Connection]:
    """A connection that changes nothing; Unavailable if there is no such file."""
    with plainly(path):
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
        try:
            connection.set_busy_timeout(BUSY_MILLISECONDS)
            unlock(connection, path, store_key())
            connection.execute("PRAGMA query_only = ON")
            yield connection
        finally:
            connection.close()
