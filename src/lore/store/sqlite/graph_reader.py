"""GraphReader: trees, links, cooccurrences and suggested links, in SQL; what all readers share."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from lore.model import SHARED, Link, Successor
from lore.store import Reader
from lore.store.columns import Row, Rows, link_of
from lore.store.rows import suggestion_of
from lore.store.sqlite import sql
from lore.store.sqlite.nearest import Nearest
from lore.store.values import EVERY, Cooccurrence, Place, Suggestion, SuggestionFilter
from lore.text import label_of

CHAIN_LIMIT = 1_000
"""A tree deeper than this is a cycle, which the writers prevent."""
UP = f"""
    WITH RECURSIVE up (start, node, step) AS (
        SELECT m.id, m.alias, 0 FROM memory m WHERE m.id IN ({sql.IDS}) AND {sql.sight_by_id("m")}
        UNION ALL
        SELECT up.start, l.source, up.step + 1 FROM up CROSS JOIN link l ON l.target = up.node
            CROSS JOIN memory p ON p.alias = l.source
            WHERE {sql.TREE} AND up.step < {CHAIN_LIMIT} AND p.forgotten_at IS NULL AND {{sight}}
    )"""
"""Each of :ids at step 0, and its ancestors (`p`, in sight) above it."""
UPDATES = ("updates", "supersedes")
"""Types of links whose source is newer than their target."""
PLACES = f"""
    SELECT up.start, up.step, m.id, m.title, iif(m.title = '', m.content, ''), 0.0 AS at, 0 AS link, 0
    FROM up CROSS JOIN memory m ON m.alias = up.node WHERE up.step > 0
    UNION ALL
    SELECT up.start, 0, p.id, p.title, iif(p.title = '', p.content, ''), l.created_at, l.alias, 0
    FROM up CROSS JOIN memory m ON m.alias = up.node CROSS JOIN link l ON l.target = m.alias
        CROSS JOIN memory p ON p.alias = l.source
    WHERE up.step = 0 AND l.active = 1 AND (l.kind = 'supersedes'
            OR l.kind IN ('associative', 'relation') AND l.type IN {UPDATES})
        AND {sql.CURRENT.format(m="m")} AND {sql.CURRENT.format(m="p")} AND {{sight}}
    UNION ALL
    SELECT up.start, 0, m.superseded_by, p.title, iif(p.title = '', p.content, ''),
        coalesce(m.superseded_at, m.updated_at), 0, 1
    FROM up CROSS JOIN memory m ON m.alias = up.node
        LEFT JOIN memory p ON p.id = m.superseded_by AND p.forgotten_at IS NULL AND {{sight}}
    WHERE up.step = 0 AND m.superseded_by IS NOT NULL
    ORDER BY step DESC, at, link"""
"""Ancestors from the root down, then successors, the latest at last."""
SUGGESTIONS = """
    SELECT g.id, s.id, e.id, g.score, g.signals, g.type, g.status, g.created_at, g.updated_at
    FROM suggestion g CROSS JOIN memory s ON s.alias = g.source CROSS JOIN memory e ON e.alias = g.target
"""
PENDING_SUGGESTION = f"""
    g.tenant = :tenant AND g.status = 'pending'
    AND {sql.CURRENT.format(m="s")} AND {sql.CURRENT.format(m="e")}
    AND NOT EXISTS (SELECT 1 FROM link l WHERE l.active = 1 AND (
        (l.source = g.source AND l.target = g.target) OR (l.source = g.target AND l.target = g.source)))
"""


class GraphReader(Reader):
    """Every statement goes through `_rows`, which binds tenant and namespace; `_sight` must stand in each."""

    def __init__(
        self, source: Rows, tenant: int, namespace: str, nearest: Nearest, teams: Sequence[str] = ()
    ) -> None:
        self.namespace = namespace
        self.teams = tuple(dict.fromkeys(team for team in teams if team not in (namespace, SHARED)))
        self._source = sql.seeing_teams(source, self.teams) if self.teams else source
        self._tenant = tenant
        self._nearest = nearest

    @property
    def _namespaces(self) -> tuple[str, ...]:
        """All in sight."""
        return tuple(dict.fromkeys((self.namespace, SHARED, *self.teams)))

    def _rows(self, statement: str, **parameters: Any) -> list[Row]:
        return self._source(statement, self._bound(parameters))

    def _bound(self, parameters: dict[str, Any]) -> dict[str, Any]:
        return {"tenant": self._tenant, "namespace": self.namespace, **parameters}

    def _sight(self, table: str = "m") -> str:
        return sql.sight(table, "" if self.teams else self.namespace)

    # --- trees and links
    def children(self, ids: Iterable[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {id: [] for id in ids}
        rows = self._rows(
            "SELECT p.id, m.id FROM memory p CROSS JOIN link l ON l.source = p.alias"
            f" CROSS JOIN memory m ON m.alias = l.target WHERE {sql.TREE}"
            f" AND p.id IN ({sql.IDS}) AND p.forgotten_at IS NULL AND {sql.sight_by_id('p')}"
            f" AND {self._sight()} AND {sql.CURRENT.format(m='m')} ORDER BY l.created_at, l.alias",
            ids=sql.listed_ids(found),
        )
        for parent, child in rows:
            found[parent].append(child)
        return found

    def ancestors(self, ids: Iterable[str]) -> dict[str, list[str]]:
        rows = self._rows(
            f"{UP.format(sight=self._sight('p'))} SELECT up.start, m.id, up.step"
            " FROM up CROSS JOIN memory m ON m.alias = up.node ORDER BY up.step DESC",
            ids=sql.listed_ids(ids),
        )
        found: dict[str, list[str]] = {start: [] for start, _, step in rows if step == 0}
        for start, id, step in rows:
            if step:
                found[start].append(id)
        return found

    def places(self, ids: Iterable[str]) -> dict[str, Place]:
        found = {id: Place() for id in ids}
        rows = self._rows((UP + PLACES).format(sight=self._sight("p")), ids=sql.listed_ids(found))
        for start, step, id, title, content, at, _, replaces in rows:
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
        parameters: dict[str, str] = {}
        conditions = ["1"]
        if kinds:
            conditions.append(f"l.kind IN ({sql.listed('kinds')})")
            parameters["kinds"] = json.dumps(list(kinds))
        if ids is not None:
            conditions.append(f"l.tenant = :tenant AND l.id IN ({sql.IDS})")
            parameters["ids"] = sql.listed_ids(ids)
        if between is not None:
            conditions.append(f"l.source IN ({sql.ends('between')}) AND +l.target IN ({sql.ends('between')})")
            parameters["between"] = sql.listed_ids(between)
        either = [""]
        if touching is not None:
            either = [f" AND l.{end} IN ({sql.ends('touching')})" for end in ("source", "target")]
            parameters["touching"] = sql.listed_ids(touching)
        parts = [self._link_rows(" AND ".join(conditions) + end, ended) for end in either]
        rows = self._rows(f"SELECT * FROM ({' UNION '.join(parts)}) ORDER BY created_at, alias", **parameters)
        return [link_of(row) for row in rows]

    def _link_rows(self, condition: str, ended: bool = False) -> str:
        """Links between two memories in sight; active ones between current memories, or all."""
        current = f" AND l.active = 1 AND {sql.CURRENT.format(m='s')} AND {sql.CURRENT.format(m='e')}"
        return (
            f"{sql.LINK_ROWS} WHERE {self._sight('s')} AND {self._sight('e')}{'' if ended else current}"
            f" AND {condition}"
        )

    def cooccurrences(self, ids: Iterable[str]) -> list[Cooccurrence]:
        rows = self._rows(
            "SELECT a.id, b.id, c.count, c.last_at FROM cooccurrence c JOIN memory a ON a.alias = c.one"
            f" JOIN memory b ON b.alias = c.other WHERE c.one IN ({sql.ENDS}) AND c.other IN ({sql.ENDS})"
            f" AND {self._sight('a')} AND {self._sight('b')}",
            ids=sql.listed_ids(ids),
        )
        return [Cooccurrence(*row) for row in rows]

    def suggestions(self, where: SuggestionFilter, limit: int = EVERY.limit) -> list[Suggestion]:
        conditions = ["g.score >= :min_score"]
        if where.ids is not None:
            conditions.append(f"g.tenant = :tenant AND g.id IN ({sql.IDS})")
        if where.touching is not None:
            ends = sql.ends("touching")
            conditions.append(f"(g.source IN ({ends}) OR g.target IN ({ends}))")
        if where.pending:
            conditions.append(PENDING_SUGGESTION)
        rows = self._rows(
            f"{self._suggestion_rows(' AND '.join(conditions))} ORDER BY g.score DESC, g.id LIMIT :limit",
            ids=sql.listed_ids(where.ids or ()),
            touching=sql.listed_ids(where.touching or ()),
            min_score=where.min_score,
            limit=limit,
        )
        return [suggestion_of(row) for row in rows]

    def _suggestion_rows(self, condition: str) -> str:
        return f"{SUGGESTIONS} WHERE {self._sight('s')} AND {self._sight('e')} AND {condition}"
