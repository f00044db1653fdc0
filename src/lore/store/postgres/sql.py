"""SQL of PostgreSQL: fragments that statements share, filters as WHERE clauses, inserts of many rows.

Every statement binds %(tenant)s and %(seen)s, the namespaces in sight. Row-level security repeats the
condition on the tenant; the planner needs it spelled out to use an index.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from lore.model import DETAILS, ID_TAIL, LORE_CALL, SESSION, TURN, Filter, Order
from lore.ranking.decay import BY_KIND, IMPORTANCE, OTHERWISE
from lore.store.columns import KNOWLEDGE, LINK, USE, Parameters, Rows
from lore.store.values import Part

MEMORY_COLUMNS = ", ".join(
    ["m.alias", "m.id", "m.depth", *(f"m.{name}" for name in KNOWLEDGE), *(f"u.{name}" for name in USE)]
)
WITH_USAGE = """CROSS JOIN LATERAL (
    SELECT x.* FROM usage x WHERE x.tenant = %(tenant)s AND x.memory = m.alias OFFSET 0) u"""


def at(end: str, memory: str, table: str = "l") -> str:
    """Joins the memory at one end of a row of links or suggestions, by its key: one look for each row.

    OFFSET 0 keeps the planner from another order of the joins, which it takes where it knows too little of a
    tenant: then it would read all memories of the tenant for each row.
    """
    where = f"x.tenant = %(tenant)s AND x.alias = {table}.{end}"
    return f"CROSS JOIN LATERAL (SELECT x.* FROM memory x WHERE {where} OFFSET 0) {memory}"


def tree_links(end: str, node: str) -> str:
    """Joins the links of trees that have a node at one end, in the same way."""
    where = f"x.tenant = %(tenant)s AND x.{end} = {node} AND x.kind = 'hierarchical' AND x.active = 1"
    return f"CROSS JOIN LATERAL (SELECT x.* FROM link x WHERE {where} OFFSET 0) l"


LINK_ROWS = (
    f"SELECT l.alias, l.id, s.id AS source, e.id AS target, {', '.join(f'l.{name}' for name in LINK)}"
    f" FROM link l {at('source', 's')} {at('target', 'e')}"
)
IDS = "ANY(%(ids)s)"


def looked_up(columns: str, alias: str, condition: str = "", joined: str = "") -> str:
    """Joins the memory `m` of an alias that passes a condition, in the same way.

    The condition looks at the row that the key has found: the planner must not take an index that fits it.
    """
    row = f"SELECT m.* FROM memory m WHERE m.tenant = %(tenant)s AND m.alias = {alias} OFFSET 0"
    where = f"WHERE {condition}" if condition else ""
    return f"CROSS JOIN LATERAL (SELECT {columns} FROM ({row}) m {joined} {where} OFFSET 0) m"


CURRENT = "{m}.forgotten_at IS NULL AND {m}.superseded_by IS NULL"
TREE = "l.tenant = %(tenant)s AND l.kind = 'hierarchical' AND l.active = 1"


def sight(table: str) -> str:
    """The one condition that keeps tenants and namespaces apart, for a row of `memory` or another table."""
    return f"{table}.tenant = %(tenant)s AND {table}.namespace = ANY(%(seen)s)"


def named(name: str) -> str:
    """The memories `m` whose ids a parameter lists, each looked up by its key, in the same way."""
    row = "SELECT x.* FROM memory x WHERE x.tenant = %(tenant)s AND x.id = i.id OFFSET 0"
    return f"(SELECT DISTINCT unnest(%({name})s::text[]) AS id) i CROSS JOIN LATERAL ({row}) m"


def ends(name: str) -> str:
    """A sub-select of the aliases of memories whose ids a parameter lists."""
    return f"SELECT m.alias FROM {named(name)}"


BELOW = f"""
    m.alias IN (
        WITH RECURSIVE below (node) AS (
            SELECT c.alias FROM memory p {tree_links("source", "p.alias")} {at("target", "c")}
                WHERE p.id = ANY(%(under)s) AND {sight("p")} AND {sight("c")}
            UNION
            SELECT c.alias FROM below {tree_links("source", "below.node")} {at("target", "c")}
                WHERE {sight("c")}
        ) SELECT node FROM below
    )"""
LAST_CHILD_AT = f"""
    coalesce((SELECT max(c.created_at) FROM link l {at("target", "c")}
        WHERE l.source = m.alias AND {TREE} AND c.forgotten_at IS NULL AND {sight("c")}), m.created_at)"""
ORDERS: dict[Order, tuple[str, ...]] = {
    "newest": ("m.created_at", "m.alias"),
    "importance": ("m.importance", "m.created_at", "m.alias"),
    "use": ("u.access_count", "m.created_at", "m.alias"),
    "newest below": (LAST_CHILD_AT, "m.created_at", "m.alias"),
    "shuffled": (f"right(m.id, {ID_TAIL})", "m.alias"),
}
"""All descending."""
ROOT = f"""
    (m.depth = 0 OR NOT EXISTS (SELECT 1 FROM link l {at("source", "p")}
        WHERE l.target = m.alias AND {TREE} AND p.forgotten_at IS NULL AND {sight("p")}))"""
LEVEL = f"""
    (m.depth = %(level)s OR {DETAILS} <= %(level)s AND %(level)s < m.depth
    OR m.depth < %(level)s AND %(level)s <= {DETAILS} AND NOT EXISTS (
        SELECT 1 FROM link l {at("target", "c")} WHERE l.source = m.alias
            AND {TREE} AND {CURRENT.format(m="c")} AND {sight("c")}
    ))"""
WITH_TURNS_BESIDE = ends("ids") + "".join(
    f" UNION SELECT l.{other} FROM link l {at(other, 'b')} WHERE l.tenant = %(tenant)s"
    f" AND l.{end} = ANY(ARRAY({ends('beside')})) AND l.kind = 'temporal' AND l.active = 1"
    f" AND {CURRENT.format(m='b')}"
    for end, other in (("source", "target"), ("target", "source"))
)
"""Arrays are computed once; a join with them could be repeated for each memory of a tenant."""
OTHER_SESSIONS = f"NOT (m.kind IN ('{TURN}', '{SESSION}') AND m.session = ANY(%(other_sessions)s))"
CATEGORY = (
    "CASE"
    + "".join(f" WHEN m.type = '{name}' THEN '{name}'" for name in IMPORTANCE)
    + "".join(f" WHEN m.kind = '{kind}' THEN '{name}'" for kind, name in BY_KIND.items())
    + f" ELSE '{OTHERWISE}' END"
)
"""`category_of` in SQL."""
INDEXED_TITLE = 200
"""Characters of a title in its index, whose entries have a limit."""


def usable(ids: Iterable[str]) -> list[str]:
    """Ids that can exist: what cannot be stored cannot be an id."""
    return [id for id in ids if id.isascii() and "\0" not in id]


def id_like(part: str) -> str:
    """Ids that begin with %(part)s (and come before %(high)s) or, if it is long enough, end with it."""
    begins = "(m.tenant = %(tenant)s AND m.id >= %(part)s AND m.id < %(high)s)"
    if len(part) < ID_TAIL:
        return begins
    tail = f"right(m.id, {ID_TAIL}) = right(%(part)s, {ID_TAIL})"
    return f"{begins} OR (m.tenant = %(tenant)s AND {tail} AND right(m.id, length(%(part)s)) = %(part)s)"


def passing(where: Filter) -> tuple[str, Parameters]:
    """The clause (beginning with AND) and parameters that a row `m` of memory must pass."""
    parameters: Parameters = {}
    clauses = _visible(where)
    for column, values in _sets(where).items():
        if values:
            clauses.append(f"{CATEGORY if column == 'category' else f'm.{column}'} = ANY(%({column}s)s)")
            parameters[f"{column}s"] = sorted(values)
    if where.titles:
        clauses.append(f"m.title > '' AND left(m.title, {INDEXED_TITLE}) = ANY(%(beginnings)s)")
        parameters["beginnings"] = [title[:INDEXED_TITLE] for title in sorted(where.titles)]
    if where.other_kinds:
        clauses.append("m.kind <> ALL(%(other_kinds)s)")
        parameters["other_kinds"] = sorted(where.other_kinds)
    if where.other_sessions:
        clauses.append(OTHER_SESSIONS)
        parameters["other_sessions"] = sorted(where.other_sessions)
    for name, comparison in TIMES.items():
        if (moment := getattr(where, name)) is not None:
            clauses.append(f"m.{comparison} %({name})s")
            parameters[name] = float(moment)
    if where.ids is not None:
        clauses.append(f"m.alias = ANY(ARRAY({WITH_TURNS_BESIDE}))" if where.beside else f"m.id = {IDS}")
        parameters |= {"ids": usable(where.ids), "beside": usable(where.beside)}
    clauses += _places(where)
    parameters |= {"level": where.level, "under": usable([where.under or ""])}
    return "".join(f" AND {clause}" for clause in clauses), parameters


def selected(where: Filter) -> tuple[str, str, Parameters]:
    """The table `m` to read, the clause that its rows must pass, and parameters; ids are looked up first."""
    if where.ids is None:
        return "memory m", *passing(where)
    clause, parameters = passing(replace(where, ids=None, beside=()))
    parameters |= {"ids": usable(where.ids), "beside": usable(where.beside)}
    if not where.beside:
        return named("ids"), clause, parameters
    row = "SELECT x.* FROM memory x WHERE x.tenant = %(tenant)s AND x.alias = i.alias OFFSET 0"
    return f"({WITH_TURNS_BESIDE}) i CROSS JOIN LATERAL ({row}) m", clause, parameters


def in_part(columns: str, part: Part) -> str:
    """The statement that gives columns of the memories of a part."""
    clauses = "".join(
        f" AND m.{column} = ANY(%({column}s)s)"
        for column, values in (("kind", part.kinds), ("project", part.projects))
        if values
    )
    return (
        f"SELECT {columns} FROM memory m WHERE m.tenant = %(tenant)s AND m.namespace = %(namespace)s{clauses}"
    )


def of_part(part: Part, tenant: int) -> Parameters:
    """The parameters of `in_part`."""
    kinds, projects = sorted(part.kinds), sorted(part.projects)
    return {"tenant": tenant, "namespace": part.namespace, "kinds": kinds, "projects": projects}


TIMES = {
    "created_after": "created_at >=",
    "created_before": "created_at <",
    "updated_after": "updated_at >=",
}


def _visible(where: Filter) -> list[str]:
    """Without what a filter has to name: forgotten and superseded memories, calls to Lore."""
    hidden = {
        "m.forgotten_at IS NULL": not where.forgotten,
        "m.superseded_by IS NULL": not where.superseded,
        f"m.kind <> '{LORE_CALL}'": LORE_CALL not in where.kinds,
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


# --- many rows at once


@dataclass(frozen=True, slots=True)
class Table:
    """Where rows go: the columns that each row gives, with their types, besides the tenant."""

    name: str
    columns: tuple[tuple[str, str], ...]


def insert(table: Table, tenant: int, values: Sequence[Sequence[Any]], rows: Rows) -> None:
    """Insert all of `values` in one statement, whatever their number: a column is one array."""
    if values:
        arrays = [list(column) for column in zip(*values, strict=True)]
        rows(_statement(table), [tenant, *arrays])


@lru_cache
def _statement(table: Table) -> str:
    names = ", ".join(f'"{name}"' for name, _ in table.columns)
    arrays = ", ".join(f"%s::{type}[]" for _, type in table.columns)
    return f"INSERT INTO {table.name} (tenant, {names}) SELECT %s, v.* FROM unnest({arrays}) AS v"
