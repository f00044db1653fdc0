"""SQL: how nouns become rows and back, and how a Filter becomes a WHERE clause."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from lore.admit import admit
from lore.model import DETAILS, ID_TAIL, LORE_CALL, SESSION, SHARED, TURN, Filter, Link, Memory, Order
from lore.ranking.category import BY_KIND, IMPORTANCE, OTHERWISE

USE = (
    "access_count",
    "access_days",
    "last_accessed_at",
    "last_reinforced_at",
    "activation",
    "activated_at",
)
"""The fields of a Memory that reading changes; they live in `trace`."""

KNOWLEDGE = (
    "namespace", "kind", "type", "title", "summary", "content", "context", "status", "importance", "score",
    "confidence", "confidence_count", "source", "source_type", "session", "channel", "project", "trust",
    "created_at", "updated_at", "superseded_by", "superseded_at", "forgotten_at", "forgotten_reason", "flags",
    "metadata",
)  # fmt: skip
"""The fields of a Memory that a writer decides."""

TEXTS = (
    "type", "title", "summary", "content", "context", "status", "source", "session", "channel",
    "forgotten_reason", "flags", "metadata",
)  # fmt: skip
"""The fields of a Memory that may hold any text, and so a secret."""

LINK = (
    "kind", "type", "weight", "score", "confidence", "confidence_count", "reason", "active", "ended_at",
    "created_at", "updated_at", "created_by",
)  # fmt: skip
"""The fields of a Link besides its ids and ends."""

MEMORY_COLUMNS = ", ".join(
    ["m.alias", "m.id", "m.depth", *(f"m.{name}" for name in KNOWLEDGE), *(f"t.{name}" for name in USE)]
)
MEMORY_FIELDS = ("alias", "id", "depth", *KNOWLEDGE, *USE)
MEMORY_ROWS = f"SELECT {MEMORY_COLUMNS} FROM memory m JOIN trace t ON t.memory = m.alias"

LINK_FIELDS = ("alias", "id", "source", "target", *LINK)
LINK_ROWS = (
    f"SELECT l.alias, l.id, s.id, e.id, {', '.join(f'l.{name}' for name in LINK)} FROM link l"
    " CROSS JOIN memory s ON s.alias = l.source CROSS JOIN memory e ON e.alias = l.target"
)

IDS = "SELECT value FROM json_each(:ids)"
ENDS = f"SELECT alias FROM memory WHERE id IN ({IDS})"
CURRENT = "{m}.forgotten_at IS NULL AND {m}.superseded_by IS NULL"
BELOW = """
    m.alias IN (
        WITH RECURSIVE below (node) AS (
            SELECT c.alias FROM memory p CROSS JOIN link l ON l.source = p.alias
                CROSS JOIN memory c ON c.alias = l.target
                WHERE p.id IN (SELECT value FROM json_each(:under)) AND p.namespace IN {sight}
                AND c.namespace IN {sight} AND l.kind = 'hierarchical' AND l.active = 1
            UNION
            SELECT c.alias FROM below CROSS JOIN link l ON l.source = below.node
                CROSS JOIN memory c ON c.alias = l.target
                WHERE c.namespace IN {sight} AND l.kind = 'hierarchical' AND l.active = 1
        ) SELECT node FROM below
    )""".format(sight=f"(:namespace, '{SHARED}')")

LAST_CHILD_AT = f"""
    coalesce((SELECT max(c.created_at) FROM link l CROSS JOIN memory c ON c.alias = l.target
        WHERE l.source = m.alias AND l.kind = 'hierarchical' AND l.active = 1 AND c.forgotten_at IS NULL
        AND c.namespace IN (:namespace, '{SHARED}')), m.created_at)"""
ORDERS: dict[Order, str] = {
    "newest": "m.created_at DESC, m.alias DESC",
    "importance": "m.importance DESC, m.created_at DESC, m.alias DESC",
    "use": "t.access_count DESC, m.created_at DESC, m.alias DESC",
    "newest below": f"{LAST_CHILD_AT} DESC, m.created_at DESC, m.alias DESC",
}
LEVEL = f"""
    (m.depth = :level OR {DETAILS} <= :level AND :level < m.depth
    OR m.depth < :level AND :level <= {DETAILS} AND NOT EXISTS (
        SELECT 1 FROM link l CROSS JOIN memory c ON c.alias = l.target WHERE l.source = m.alias
            AND l.kind = 'hierarchical' AND l.active = 1 AND {CURRENT.format(m="c")}
            AND c.namespace IN (:namespace, '{SHARED}')
    ))"""
OTHER_SESSIONS = f"""
    NOT (m.kind IN ('{TURN}', '{SESSION}') AND m.session IN (SELECT value FROM json_each(:other_sessions)))"""
CATEGORY = (
    "CASE"
    + "".join(f" WHEN m.type = '{name}' THEN '{name}'" for name in IMPORTANCE)
    + "".join(f" WHEN m.kind = '{kind}' THEN '{name}'" for kind, name in BY_KIND.items())
    + f" ELSE '{OTHERWISE}' END"
)
"""`category_of` in SQL."""

Row = tuple[Any, ...]
Parameters = dict[str, Any]
Rows = Callable[[str, Parameters | Sequence[Any]], list[Row]]
"""Runs one statement to its end, with parameters by name or in their order."""

_values = attrgetter(*KNOWLEDGE, *USE)
_link_values = attrgetter(*LINK)
_json = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode
_FLAGS, _METADATA = KNOWLEDGE.index("flags"), KNOWLEDGE.index("metadata")
_ACTIVE = LINK.index("active")
_REAL = tuple(
    place
    for place, name in enumerate((*KNOWLEDGE, *USE))
    if Memory.__annotations__[name] in (float, float | None)
)


def memory_of(row: Row) -> Memory:
    """A row of MEMORY_ROWS as a Memory."""
    fields = dict(zip(MEMORY_FIELDS, row, strict=True))
    fields["flags"] = frozenset() if fields["flags"] == "[]" else frozenset(json.loads(fields["flags"]))
    fields["metadata"] = {} if fields["metadata"] == "{}" else json.loads(fields["metadata"])
    return Memory(**fields)


def link_of(row: Row) -> Link:
    """A row of LINK_ROWS as a Link."""
    fields = dict(zip(LINK_FIELDS, row, strict=True))
    fields["active"] = bool(fields["active"])
    return Link(**fields)


def values_of(memory: Memory) -> list[Any]:
    """KNOWLEDGE, then USE, as the columns hold them."""
    values = list(_values(memory))
    values[_FLAGS] = json.dumps(sorted(memory.flags)) if memory.flags else "[]"
    values[_METADATA] = _json(dict(memory.metadata)) if memory.metadata else "{}"
    for place in _REAL:
        if values[place] is not None:
            values[place] = float(values[place])
    return values


def columns_of(memory: Memory) -> Parameters:
    """What a writer decides about a memory, by column."""
    return dict(zip(KNOWLEDGE, values_of(memory), strict=False))


def admitted(columns: Parameters) -> Parameters:
    """Columns of a memory without secrets, as an older Lore may have stored them."""
    return {
        name: _json(admit(json.loads(value))) if name in ("flags", "metadata") else admit(value)
        for name, value in columns.items()
    }


def link_values_of(link: Link) -> list[Any]:
    """LINK as the columns hold it."""
    values = list(_link_values(link))
    values[_ACTIVE] = int(link.active)
    return values


def link_columns_of(link: Link) -> Parameters:
    """What a writer decides about a link, by column."""
    return dict(zip(LINK, link_values_of(link), strict=True))


def listed_ids(ids: Iterable[str]) -> str:
    """Ids as the JSON array that IDS reads; what cannot be stored cannot be an id, so it is left out."""
    return json.dumps([id for id in ids if id.isascii()])


def id_like(part: str) -> str:
    """Ids that begin with :part (and come before :high) or, if it is long enough, end with it."""
    begins = "m.id >= :part AND m.id < :high"
    tail = f"substr(m.id, -{ID_TAIL}) = substr(:part, -{ID_TAIL})"
    return f"{begins} OR {tail} AND substr(m.id, -length(:part)) = :part" if len(part) >= ID_TAIL else begins


def sight(namespace: str, table: str) -> str:
    """The one condition that keeps namespaces apart; :namespace is bound by every reader."""
    if namespace == SHARED:
        return f"{table}.namespace = :namespace"
    return f"{table}.namespace IN (:namespace, '{SHARED}')"


def passing(where: Filter) -> tuple[str, Parameters]:
    """The clause (beginning with AND) and parameters that a row `m` of memory must pass."""
    parameters: Parameters = {}
    named = where.ids is not None or where.under is not None
    known = "+m" if named else "m"  # +: do not scan all that is current, or of a project, for a few
    clauses = _in_sight(where, known)
    for column, values in _sets(where).items():
        if values:
            subject = {"category": CATEGORY, "project": f"{known}.project"}.get(column, f"m.{column}")
            clauses.append(f"{subject} IN (SELECT value FROM json_each(:{column}s))")
            parameters[f"{column}s"] = json.dumps(sorted(values))
    if where.other_kinds:
        clauses.append("m.kind NOT IN (SELECT value FROM json_each(:other_kinds))")
        parameters["other_kinds"] = json.dumps(sorted(where.other_kinds))
    if where.other_sessions:
        clauses.append(OTHER_SESSIONS)
        parameters["other_sessions"] = json.dumps(sorted(where.other_sessions))
    if where.created_after is not None:
        clauses.append("m.created_at >= :created_after")
        parameters["created_after"] = where.created_after
    if where.created_before is not None:
        clauses.append("m.created_at < :created_before")
        parameters["created_before"] = where.created_before
    if where.updated_after is not None:
        clauses.append("m.updated_at >= :updated_after")
        parameters["updated_after"] = where.updated_after
    if where.ids is not None:
        clauses.append(f"m.id IN ({IDS})")
        parameters["ids"] = listed_ids(where.ids)
    clauses += _places(where)
    parameters |= {"level": where.level, "under": listed_ids([where.under or ""])}
    return "".join(f" AND {clause}" for clause in clauses), parameters


def _in_sight(where: Filter, table: str) -> list[str]:
    """Without what a filter has to ask for: forgotten and superseded memories, calls to Lore."""
    hidden = {
        f"{table}.forgotten_at IS NULL": not where.forgotten,
        "m.superseded_by IS NULL": not where.superseded,
        f"m.kind != '{LORE_CALL}'": LORE_CALL not in where.kinds,
    }
    return [clause for clause, applies in hidden.items() if applies]


def _places(where: Filter) -> list[str]:
    """Where in the trees."""
    asked = {"m.depth = 0": where.roots, LEVEL: where.level is not None, BELOW: where.under is not None}
    return [clause for clause, wanted in asked.items() if wanted]


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
        "category": where.categories,
    }
