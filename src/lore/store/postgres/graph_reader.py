"""GraphReader: trees, links, cooccurrences and suggested links, in SQL; what all readers share."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lore.model import SHARED, Link, Successor
from lore.store import Reader
from lore.store.columns import Parameters, Row, Rows, link_of
from lore.store.postgres import sql
from lore.store.postgres.matching import Matching
from lore.store.postgres.nearest import Nearest
from lore.store.rows import suggestion_of
from lore.store.values import EVERY, Cooccurrence, Place, Suggestion, SuggestionFilter
from lore.text import label_of

CHAIN_LIMIT = 1_000
"""A tree deeper than this is a cycle, which the writers prevent."""
UP = f"""
    WITH RECURSIVE up (start, node, step) AS (
        SELECT m.id, m.alias, 0 FROM {sql.named("ids")} WHERE {sql.sight("m")}
        UNION ALL
        SELECT up.start, l.source, up.step + 1 FROM up {sql.tree_links("target", "up.node")}
            {sql.at("source", "p")}
            WHERE up.step < {CHAIN_LIMIT} AND p.forgotten_at IS NULL AND {sql.sight("p")}
    )"""
"""Each of the ids at step 0, and its ancestors (`p`, in sight) above it."""
AT_NODE = sql.looked_up("m.*", "up.node")
UPDATES = ("updates", "supersedes")
"""Types of links whose source is newer than their target."""
LABEL = "{m}.title, CASE WHEN {m}.title = '' THEN {m}.content ELSE '' END"
PLACES = f"""
    SELECT up.start, up.step AS step, m.id, {LABEL.format(m="m")}, 0.0::float8 AS at, 0 AS link, false
    FROM up {AT_NODE} WHERE up.step > 0
    UNION ALL
    SELECT up.start, 0, p.id, {LABEL.format(m="p")}, l.created_at, l.alias, false
    FROM up {AT_NODE} CROSS JOIN LATERAL (
        SELECT l.* FROM link l WHERE l.tenant = %(tenant)s AND l.target = m.alias OFFSET 0) l
        {sql.at("source", "p")}
    WHERE up.step = 0 AND l.active = 1 AND (l.kind = 'supersedes'
            OR l.kind IN ('associative', 'relation') AND l.type IN {UPDATES})
        AND {sql.CURRENT.format(m="m")} AND {sql.CURRENT.format(m="p")} AND {sql.sight("p")}
    UNION ALL
    SELECT up.start, 0, m.superseded_by, {LABEL.format(m="p")},
        coalesce(m.superseded_at, m.updated_at), 0, true
    FROM up {AT_NODE}
        LEFT JOIN LATERAL (SELECT p.* FROM memory p WHERE p.id = m.superseded_by AND p.forgotten_at IS NULL
            AND {sql.sight("p")} OFFSET 0) p ON true
    WHERE up.step = 0 AND m.superseded_by IS NOT NULL
    ORDER BY step DESC, at, link"""
"""Ancestors from the root down, then successors, the latest at last."""
SUGGESTIONS = f"""
    SELECT g.id, s.id, e.id, g.score, g.signals, g.type, g.status, g.created_at, g.updated_at
    FROM suggestion g {sql.at("source", "s", "g")} {sql.at("target", "e", "g")}
"""
PENDING_SUGGESTION = f"""
    g.status = 'pending' AND {sql.CURRENT.format(m="s")} AND {sql.CURRENT.format(m="e")}
    AND NOT EXISTS (SELECT 1 FROM link l WHERE l.tenant = g.tenant AND l.active = 1 AND (
        (l.source = g.source AND l.target = g.target) OR (l.source = g.target AND l.target = g.source)))
"""


@dataclass(frozen=True, slots=True)
class Source:
    """How a reader reaches its rows."""

    rows: Rows
    tenant: int
    nearest: Nearest
    matching: Matching


class GraphReader(Reader):
    """Every statement goes through `_rows`, which binds tenant and namespaces; `sight` must stand in each."""

    def __init__(self, source: Source, namespace: str, teams: Sequence[str] = ()) -> None:
        self.namespace = namespace
        self.teams = tuple(dict.fromkeys(team for team in teams if team not in (namespace, SHARED)))
        self._source = source.rows
        self._tenant = source.tenant
        self._nearest = source.nearest
        self._matching = source.matching
        self._namespaces = tuple(dict.fromkeys((namespace, SHARED, *self.teams)))

    def _rows(self, statement: str, **parameters: Any) -> list[Row]:
        return self._source(statement, self._bound(parameters))

    def _bound(self, parameters: Parameters) -> Parameters:
        return {"tenant": self._tenant, "seen": list(self._namespaces), **parameters}

    # --- trees and links
    def children(self, ids: Iterable[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {id: [] for id in ids}
        rows = self._rows(
            f"SELECT p.id, m.id FROM memory p {sql.tree_links('source', 'p.alias')}"
            f" {sql.at('target', 'm')} WHERE p.id = {sql.IDS} AND p.forgotten_at IS NULL AND {sql.sight('p')}"
            f" AND {sql.sight('m')} AND {sql.CURRENT.format(m='m')} ORDER BY l.created_at, l.alias",
            ids=sql.usable(found),
        )
        for parent, child in rows:
            found[parent].append(child)
        return found

    def ancestors(self, ids: Iterable[str]) -> dict[str, list[str]]:
        rows = self._rows(
            f"{UP} SELECT up.start, m.id, up.step FROM up {AT_NODE} ORDER BY up.step DESC",
            ids=sql.usable(ids),
        )
        found: dict[str, list[str]] = {start: [] for start, _, step in rows if step == 0}
        for start, id, step in rows:
            if step:
                found[start].append(id)
        return found

    def places(self, ids: Iterable[str]) -> dict[str, Place]:
        found = {id: Place() for id in ids}
        for start, step, id, title, content, at, _, replaces in self._rows(
            UP + PLACES, ids=sql.usable(found)
        ):
            place, label = found[start], label_of(title or "", content or "")
            if step:
                found[start] = replace(place, path=(*place.path, id), labels=(*place.labels, label))
            else:
                successor = Successor(id=id, label=label, at=at, replaces=bool(replaces))
                found[start] = replace(place, successor=successor)
        return found

    def links(
        self,
        touching: Iterable[str] | None = None,
        kinds: Sequence[str] = (),
        ended: bool = False,
        between: Iterable[str] | None = None,
        ids: Iterable[str] | None = None,
    ) -> list[Link]:
        parameters: Parameters = {}
        conditions = ["l.tenant = %(tenant)s"]
        if kinds:
            conditions.append("l.kind = ANY(%(kinds)s)")
            parameters["kinds"] = list(kinds)
        if ids is not None:
            conditions.append(f"l.id = {sql.IDS}")
            parameters["ids"] = sql.usable(ids)
        if between is not None:
            conditions.append(f"l.source IN ({sql.ends('between')}) AND l.target IN ({sql.ends('between')})")
            parameters["between"] = sql.usable(between)
        either = [""]
        if touching is not None:
            either = [f" AND l.{end} IN ({sql.ends('touching')})" for end in ("source", "target")]
            parameters["touching"] = sql.usable(touching)
        parts = [self._link_rows(" AND ".join(conditions) + end, ended) for end in either]
        rows = self._rows(
            f"SELECT * FROM ({' UNION '.join(parts)}) x ORDER BY created_at, alias", **parameters
        )
        return [link_of(row) for row in rows]

    def _link_rows(self, condition: str, ended: bool = False) -> str:
        """Links between two memories in sight; active ones between current memories, or all."""
        current = f" AND l.active = 1 AND {sql.CURRENT.format(m='s')} AND {sql.CURRENT.format(m='e')}"
        return (
            f"{sql.LINK_ROWS} WHERE {sql.sight('s')} AND {sql.sight('e')}{'' if ended else current}"
            f" AND {condition}"
        )

    def cooccurrences(self, ids: Iterable[str]) -> list[Cooccurrence]:
        ends = sql.ends("ids")
        rows = self._rows(
            f"SELECT a.id, b.id, l.count, l.last_at FROM cooccurrence l {sql.at('one', 'a')}"
            f" {sql.at('other', 'b')} WHERE l.tenant = %(tenant)s AND l.one IN ({ends})"
            f" AND l.other IN ({ends}) AND {sql.sight('a')} AND {sql.sight('b')}",
            ids=sql.usable(ids),
        )
        return [Cooccurrence(*row) for row in rows]

    def suggestions(self, where: SuggestionFilter, limit: int = EVERY.limit) -> list[Suggestion]:
        conditions = ["g.score >= %(min_score)s"]
        if where.ids is not None:
            conditions.append(f"g.id = {sql.IDS}")
        if where.touching is not None:
            ends = sql.ends("touching")
            conditions.append(f"(g.source IN ({ends}) OR g.target IN ({ends}))")
        if where.pending:
            conditions.append(PENDING_SUGGESTION)
        rows = self._rows(
            f"{self._suggestion_rows(' AND '.join(conditions))} ORDER BY g.score DESC, g.id LIMIT %(limit)s",
            ids=sql.usable(where.ids or ()),
            touching=sql.usable(where.touching or ()),
            min_score=float(where.min_score),
            limit=limit,
        )
        return [suggestion_of(row) for row in rows]

    def _suggestion_rows(self, condition: str) -> str:
        sight = f"g.tenant = %(tenant)s AND {sql.sight('s')} AND {sql.sight('e')}"
        return f"{SUGGESTIONS} WHERE {sight} AND {condition}"
