"""SQL of SQLite: the fragments that only SQLite understands, filters as WHERE clauses, inserts of many rows.

Planner hints, used throughout: `CROSS JOIN` fixes the order of a join, a unary `+` keeps an index out.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from lore.model import DETAILS, ID_TAIL, LORE_CALL, SESSION, SHARED, TURN, Filter, Order
from lore.ranking.decay import BY_KIND, IMPORTANCE, OTHERWISE
from lore.store.columns import KNOWLEDGE, LINK, USE, Parameters, Row, Rows
from lore.store.values import Part


def listed(name: str) -> str:
    """A sub-select of the values of a parameter that holds a JSON array."""
    return f"SELECT value FROM json_each(:{name})"


MEMORY_COLUMNS = ", ".join(
    ["m.alias", "m.id", "m.depth", *(f"m.{name}" for name in KNOWLEDGE), *(f"u.{name}" for name in USE)]
)
MEMORY_ROWS = f"SELECT {MEMORY_COLUMNS} FROM memory m JOIN usage u ON u.memory = m.alias"
LINK_ROWS = (
    f"SELECT l.alias, l.id, s.id, e.id, {', '.join(f'l.{name}' for name in LINK)} FROM link l"
    " CROSS JOIN memory s ON s.alias = l.source CROSS JOIN memory e ON e.alias = l.target"
)

IDS = listed("ids")


def ends(name: str) -> str:
    """A sub-select of the aliases of memories whose ids a parameter lists."""
    return f"SELECT alias FROM memory WHERE tenant = :tenant AND id IN ({listed(name)})"


ENDS = ends("ids")
CURRENT = "{m}.forgotten_at IS NULL AND {m}.superseded_by IS NULL"
TREE = "l.kind = 'hierarchical' AND l.active = 1"


IN_SIGHT = f"IN (:namespace, '{SHARED}')"
"""The namespaces of a reader without teams; `seeing_teams` adds those of the others."""


def sight(table: str, namespace: str = "") -> str:
    """The one condition that keeps tenants and namespaces apart, for a row of `memory` or another table.

    Every reader binds :tenant and :namespace. For the shared namespace alone an equation is enough, and then
    an index gives its rows in order.
    """
    if namespace == SHARED:
        return f"{table}.tenant = :tenant AND {table}.namespace = :namespace"
    return f"{table}.tenant = :tenant AND {table}.namespace {IN_SIGHT}"


def sight_by_id(table: str) -> str:
    """The same where rows are looked up by their ids: `+` keeps the planner from weighing other indexes."""
    return f"{table}.tenant = :tenant AND +{table}.namespace {IN_SIGHT}"


def seeing_teams(rows: Rows, teams: Sequence[str]) -> Rows:
    """Runs statements so that IN_SIGHT also holds for the namespaces of these teams."""
    names = {f"team{number}": team for number, team in enumerate(teams)}
    wider = f"{IN_SIGHT[:-1]}{''.join(f', :{name}' for name in names)})"

    def run(statement: str, parameters: Parameters | Sequence[Any]) -> list[Row]:
        if isinstance(parameters, dict):
            parameters = parameters | names
        return rows(statement.replace(IN_SIGHT, wider), parameters)

    return run


BELOW = f"""
    m.alias IN (
        WITH RECURSIVE below (node) AS (
            SELECT c.alias FROM memory p CROSS JOIN link l ON l.source = p.alias
                CROSS JOIN memory c ON c.alias = l.target
                WHERE p.id IN ({listed("under")}) AND {sight_by_id("p")} AND {sight("c")} AND {TREE}
            UNION
            SELECT c.alias FROM below CROSS JOIN link l ON l.source = below.node
                CROSS JOIN memory c ON c.alias = l.target WHERE {sight("c")} AND {TREE}
        ) SELECT node FROM below
    )"""
LAST_CHILD_AT = f"""
    coalesce((SELECT max(c.created_at) FROM link l CROSS JOIN memory c ON c.alias = l.target
        WHERE l.source = m.alias AND {TREE} AND c.forgotten_at IS NULL AND {sight("c")}), m.created_at)"""
ORDERS: dict[Order, tuple[str, ...]] = {
    "newest": ("m.created_at", "m.alias"),
    "importance": ("m.importance", "m.created_at", "m.alias"),
    "use": ("u.access_count", "m.created_at", "m.alias"),
    "newest below": (LAST_CHILD_AT, "m.created_at", "m.alias"),
    "shuffled": (f"substr(m.id, -{ID_TAIL})", "m.alias"),
}
"""All descending."""
ROOT = f"""
    (m.depth = 0 OR NOT EXISTS (SELECT 1 FROM link l CROSS JOIN memory p ON p.alias = l.source
        WHERE l.target = m.alias AND {TREE} AND p.forgotten_at IS NULL AND {sight("p")}))"""
LEVEL = f"""
    (m.depth = :level OR {DETAILS} <= :level AND :level < m.depth
    OR m.depth < :level AND :level <= {DETAILS} AND NOT EXISTS (
        SELECT 1 FROM link l CROSS JOIN memory c ON c.alias = l.target WHERE l.source = m.alias
            AND {TREE} AND {CURRENT.format(m="c")} AND {sight("c")}
    ))"""
WITH_TURNS_BESIDE = (
    "m.alias IN ("
    + ENDS
    + "".join(
        f" UNION ALL SELECT l.{other} FROM link l CROSS JOIN memory b ON b.alias = l.{other}"
        f" WHERE l.{end} IN ({ends('beside')}) AND l.kind = 'temporal' AND l.active = 1"
        f" AND {CURRENT.format(m='b')}"
        for end, other in (("source", "target"), ("target", "source"))
    )
    + ")"
)
OTHER_SESSIONS = f"NOT (m.kind IN ('{TURN}', '{SESSION}') AND m.session IN ({listed('other_sessions')}))"
CATEGORY = (
    "CASE"
    + "".join(f" WHEN m.type = '{name}' THEN '{name}'" for name in IMPORTANCE)
    + "".join(f" WHEN m.kind = '{kind}' THEN '{name}'" for kind, name in BY_KIND.items())
    + f" ELSE '{OTHERWISE}' END"
)
"""`category_of` in SQL."""


def listed_ids(ids: Iterable[str]) -> str:
    """Ids as a JSON array; texts that cannot be stored cannot be ids, so they are left out."""
    return json.dumps([id for id in ids if id.isascii()])


def id_like(part: str) -> str:
    """Ids that begin with :part (and come before :high) or, if it is long enough, end with it."""
    begins = "(m.tenant = :tenant AND m.id >= :part AND m.id < :high)"
    if len(part) < ID_TAIL:
        return begins
    tail = f"substr(m.id, -{ID_TAIL}) = substr(:part, -{ID_TAIL})"
    return f"{begins} OR (m.tenant = :tenant AND {tail} AND substr(m.id, -length(:part)) = :part)"


def passing(where: Filter) -> tuple[str, Parameters]:
    """The clause (beginning with AND) and parameters that a row `m` of memory must pass."""
    parameters: Parameters = {}
    few = where.ids is not None or where.under is not None
    table = "+m" if few else "m"  # +: do not scan all that is current, or of a project, for a few
    clauses = _visible(where, table)
    for column, values in _sets(where).items():
        if values:
            subject = {"category": CATEGORY, "project": f"{table}.project"}.get(column, f"m.{column}")
            clauses.append(f"{subject} IN ({listed(f'{column}s')})")
            parameters[f"{column}s"] = json.dumps(sorted(values))
    if where.other_kinds:
        clauses.append(f"m.kind NOT IN ({listed('other_kinds')})")
        parameters["other_kinds"] = json.dumps(sorted(where.other_kinds))
    if where.other_sessions:
        clauses.append(OTHER_SESSIONS)
        parameters["other_sessions"] = json.dumps(sorted(where.other_sessions))
    for name, comparison in TIMES.items():
        if (moment := getattr(where, name)) is not None:
            clauses.append(f"m.{comparison} :{name}")
            parameters[name] = moment
    if where.ids is not None:
        clauses.append(WITH_TURNS_BESIDE if where.beside else f"m.id IN ({IDS})")
        parameters |= {"ids": listed_ids(where.ids), "beside": listed_ids(where.beside)}
    clauses += _places(where)
    parameters |= {"level": where.level, "under": listed_ids([where.under or ""])}
    return "".join(f" AND {clause}" for clause in clauses), parameters


def in_part(columns: str, part: Part) -> str:
    """The statement that gives columns of the memories of a part, in the order in which they were stored."""
    clauses = "".join(
        f" AND m.{column} IN ({listed(f'{column}s')})"
        for column, values in (("kind", part.kinds), ("project", part.projects))
        if values
    )
    where = f"m.tenant = :tenant AND +m.namespace = :namespace{clauses}"
    return f"SELECT {columns} FROM memory m WHERE {where} ORDER BY m.alias"


def of_part(part: Part, tenant: int) -> Parameters:
    """The parameters of `in_part`."""
    kinds, projects = json.dumps(sorted(part.kinds)), json.dumps(sorted(part.projects))
    return {"tenant": tenant, "namespace": part.namespace, "kinds": kinds, "projects": projects}


TIMES = {
    "created_after": "created_at >=",
    "created_before": "created_at <",
    "updated_after": "updated_at >=",
}


def _visible(where: Filter, table: str) -> list[str]:
    """Without what a filter has to name: forgotten and superseded memories, calls to Lore."""
    hidden = {
        f"{table}.forgotten_at IS NULL": not where.forgotten,
        "m.superseded_by IS NULL": not where.superseded,
        f"m.kind != '{LORE_CALL}'": LORE_CALL not in where.kinds,
    }
    return [clause for clause, applies in hidden.items() if applies]


def _places(where: Filter) -> list[str]:
    """Where in the trees."""
    wanted = {ROOT: where.roots, LEVEL: where.level is not None, BELOW: where.under is not None}
    return [clause for clause, applies in wanted.items() if applies]


def _sets(where: Filter) -> Mapping[str, frozenset[str]]:
    return {
        "namespace": where.namespaces,
        "kind": where.kinds,
        "type": where.types,
        "source": where.sources,
        "source_type": where.source_types,
        "session": where.sessions,
        "project": where.projects and where.projects | {""},
        "title": where.titles,
        "author": where.authors,
        "category": where.categories,
    }


# --- many rows at once: to run a statement costs as much as many rows in it do

MOST_ROWS = 64
"""Rows in one statement."""


@dataclass(frozen=True, slots=True)
class Table:
    """Where rows go, the columns that each row gives, and the columns to return.

    replacing: a row takes the place of one with the same key.
    """

    name: str
    columns: tuple[str, ...]
    returning: tuple[str, ...] = ()
    replacing: bool = False


def insert(table: Table, values: Sequence[Sequence[Any]], rows: Rows) -> list[Row]:
    """Insert all of `values`, in their order; returns the `returning` columns in any order."""
    returned: list[Row] = []
    start = 0
    for size in _sizes(len(values)):
        part = values[start : start + size]
        returned += rows(_statement(table, size), [value for row in part for value in row])
        start += size
    return returned


def _sizes(count: int) -> Iterator[int]:
    """Powers of two that add up to `count`, so that few statements are ever prepared."""
    while count:
        size = min(MOST_ROWS, 1 << (count.bit_length() - 1))
        yield size
        count -= size


@lru_cache
def _statement(table: Table, size: int) -> str:
    row = f"({', '.join('?' * len(table.columns))})"
    returning = f" RETURNING {', '.join(table.returning)}" if table.returning else ""
    insert = "INSERT OR REPLACE" if table.replacing else "INSERT"
    return (
        f"{insert} INTO {table.name} ({', '.join(table.columns)}) VALUES {', '.join([row] * size)}{returning}"
    )
