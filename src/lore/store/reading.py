"""Reading: the store as one namespace sees it, in SQL."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np

from lore.health import Counts
from lore.model import Cause, Entry, Filter, Link, Memory, Order, Trace
from lore.store import about, bookmarking, full_text, sql, suggesting, words
from lore.store.base import Bookmark, Meeting, Reader, Suggestion
from lore.store.meaning import Meaning, Scope
from lore.vectors import Vector, unpacked

FEW = 4_000
"""So many are better looked up before the best are sought than after."""

ANY: frozenset[str] = frozenset()
_ASCII_RUN = re.compile(r"[\x01-\x7f]+")
CHAIN_LIMIT = 1_000
"""A tree deeper than this is a cycle, which the writers prevent."""


class SqlReader(Reader):
    """Every statement goes through `_rows`, which binds the namespace; `sight` must stand in each."""

    def __init__(self, rows: sql.Rows, namespace: str, meaning: Meaning) -> None:
        self._source = rows
        self._namespace = namespace
        self._meaning = meaning

    def _rows(self, statement: str, **parameters: Any) -> list[sql.Row]:
        return self._source(statement, {"namespace": self._namespace, **parameters})

    def _sight(self, table: str = "m") -> str:
        return sql.sight(self._namespace, table)

    # --- memories
    def get(self, ids: Iterable[str], forgotten: bool = False) -> dict[str, Memory]:
        ids = list(ids)
        if not ids:
            return {}
        hidden = "" if forgotten else " AND m.forgotten_at IS NULL"
        rows = self._rows(
            f"{sql.MEMORY_ROWS} WHERE m.id IN ({sql.IDS}) AND {self._sight()}{hidden}",
            ids=sql.listed_ids(ids),
        )
        return {memory.id: memory for memory in map(sql.memory_of, rows)}

    def ids_like(self, part: str, limit: int) -> list[str]:
        if not part.isascii():
            return []
        rows = self._rows(
            f"SELECT m.id FROM memory m WHERE ({sql.id_like(part)}) AND {self._sight()}"
            " ORDER BY m.id LIMIT :limit",
            part=part,
            high=part + "\U0010ffff",
            limit=limit,
        )
        return [id for (id,) in rows]

    def ids_of(self, noun: Literal["memory", "link"], aliases: Iterable[int]) -> dict[int, str]:
        seen = {"memory": f"{self._sight('n')}", "link": f"{self._sight('s')} AND {self._sight('e')}"}
        ends = " JOIN memory s ON s.alias = n.source JOIN memory e ON e.alias = n.target"
        rows = self._rows(
            f"SELECT n.alias, n.id FROM {noun} n{ends if noun == 'link' else ''}"
            f" WHERE n.alias IN (SELECT value FROM json_each(:aliases)) AND {seen[noun]}",
            aliases=json.dumps(list(aliases)),
        )
        return dict(cast(list[tuple[int, str]], rows))

    def select(self, where: Filter, limit: int, order: Order = "newest") -> list[Memory]:
        clause, parameters = sql.passing(where)
        first = f"ORDER BY {sql.ORDERS[order]}"
        rows = self._rows(
            f"{sql.MEMORY_ROWS} WHERE m.alias IN ("  # sorts without the texts
            "SELECT m.alias FROM memory m CROSS JOIN trace t ON t.memory = m.alias"
            f" WHERE {self._sight()}{clause} {first} LIMIT :limit) {first}",
            limit=limit,
            **parameters,
        )
        return [sql.memory_of(row) for row in rows]

    def ids(self, where: Filter) -> list[str]:
        clause, parameters = sql.passing(where)
        newest = f"WHERE {self._sight()}{clause} ORDER BY m.created_at DESC, m.alias DESC"
        return [id for (id,) in self._rows(f"SELECT m.id FROM memory m {newest}", **parameters)]

    def count(self, where: Filter) -> int:
        clause, parameters = sql.passing(where)
        rows = self._rows(f"SELECT count(*) FROM memory m WHERE {self._sight()}{clause}", **parameters)
        return int(rows[0][0])

    def count_below(self, ids: Iterable[str], where: Filter) -> dict[str, int]:
        clause, parameters = sql.passing(where)
        tops = list(ids)
        rows = self._rows(
            f"""
            WITH RECURSIVE below (top, node) AS (
                SELECT p.id, p.alias FROM memory p WHERE p.id IN (SELECT value FROM json_each(:tops))
                    AND {self._sight("p")}
                UNION
                SELECT below.top, c.alias FROM below CROSS JOIN link l ON l.source = below.node
                    CROSS JOIN memory c ON c.alias = l.target
                    WHERE l.kind = 'hierarchical' AND l.active = 1 AND {self._sight("c")}
            ) SELECT below.top, count(*) FROM below CROSS JOIN memory m ON m.alias = below.node
                WHERE m.id != below.top AND {self._sight()}{clause} GROUP BY below.top""",
            tops=sql.listed_ids(tops),
            **parameters,
        )
        return dict.fromkeys(tops, 0) | dict(cast(list[tuple[str, int]], rows))

    def counts(self) -> Counts:
        current = sql.CURRENT.format(m="m")
        kinds = self._rows(
            f"SELECT m.kind, count(*) FROM memory m WHERE {self._sight()} AND {current} GROUP BY 1 ORDER BY 1"
        )
        rest = self._rows(
            f"SELECT total(m.forgotten_at IS NOT NULL),"
            " total(m.forgotten_at IS NULL AND m.superseded_by IS NOT NULL)"
            f" FROM memory m WHERE {self._sight()} AND NOT ({current})"
        )
        (links,) = self._rows(f"SELECT count(*) FROM ({self._link_rows('1')})")
        return Counts(
            memories=sum(count for _, count in kinds),
            roots=len(self.roots(Filter())),
            links=links[0],
            forgotten=int(rest[0][0]),
            superseded=int(rest[0][1]),
            kinds=dict(cast(list[tuple[str, int]], kinds)),
        )

    def projects(self) -> dict[str, int]:
        rows = self._rows(
            f"SELECT m.project, count(*) FROM memory m WHERE {self._sight()} AND {sql.CURRENT.format(m='m')}"
            " AND m.project > '' GROUP BY 1 ORDER BY 1"
        )
        return dict(cast(list[tuple[str, int]], rows))

    def full_texts(self, ids: Iterable[str]) -> dict[str, str]:
        rows = self._rows(full_text.ROWS.format(sight=self._sight()), ids=sql.listed_ids(ids))
        return {id: text for id, *row in rows if (text := full_text.unpacked(*row)) is not None}

    # --- finding
    def matching(self, terms: Sequence[str], limit: int, where: Filter) -> dict[str, float]:
        by_words, by_grams = (
            self._matching(index, words.asked(index, terms), limit, where)
            for index in (words.WORDS, words.GRAMS)
        )
        return words.summed(by_words, by_grams, limit)

    def information(self, terms: Sequence[str]) -> dict[str, float]:
        return words.information(terms, self._rows)

    def _matching(self, index: str, terms: Sequence[str], limit: int, where: Filter) -> dict[str, float]:
        """By one of the indexes. terms: as it reads them."""
        telling = words.telling(index, terms, self._rows) if terms else []
        if not telling:
            return {}
        clause, parameters = sql.passing(where)
        parameters |= {"words": " OR ".join(telling), "limit": limit}
        passing = f"{self._sight()}{clause}"
        best = words.MATCHING_BEST.format(index=index, passing=passing)
        rows = self._rows(best, **parameters) if self._wide(where) else []
        if where.projects:
            passing = words.OF_PROJECTS.format(index=index, passing=passing)
        if len(rows) < limit:
            rows = self._rows(words.MATCHING_ALL.format(index=index, passing=passing), **parameters)
        if not rows and len(telling) < len(terms):
            parameters["words"] = " OR ".join(terms)
            rows = self._rows(words.MATCHING_ALL.format(index=index, passing=passing), **parameters)
        return dict(cast(list[tuple[str, float]], rows))

    def _wide(self, where: Filter) -> bool:
        """Whether many of the best are likely to pass, so that it is not worth looking up first what does."""
        if not replace(where, kinds=ANY, other_kinds=ANY, other_sessions=ANY, projects=ANY, roots=False).open:
            return False
        clause, parameters = sql.passing(Filter(projects=where.projects))
        some = f"SELECT 1 FROM memory m WHERE {self._sight()}{clause} LIMIT {FEW + 1}"
        return not where.projects or self._rows(f"SELECT count(*) FROM ({some})", **parameters)[0][0] > FEW

    def containing(self, text: str, where: Filter) -> list[str]:
        """SQLite folds the case of ASCII only: it looks for the longest such part, the rest is done here."""
        wanted = text.lower()
        clause, parameters = sql.passing(where)
        rows = self._rows(
            f"SELECT m.id, m.title, m.type, m.content FROM memory m WHERE {self._sight()}{clause} AND"
            " (instr(lower(m.title), :part) OR instr(lower(m.type), :part) OR instr(lower(m.content), :part))"
            " ORDER BY m.alias",
            part=max(_ASCII_RUN.findall(wanted), key=len, default=""),
            **parameters,
        )
        return [id for id, *fields in rows if any(wanted in field.lower() for field in fields)]

    def about(self, names: Iterable[str], where: Filter, most: int) -> dict[str, list[str]]:
        clause, parameters = sql.passing(where)
        rows = self._rows(
            about.ABOUT.format(passing=f"{self._sight()}{clause}"),
            names=json.dumps(list(names)),
            most=most,
            **parameters,
        )
        found: dict[str, list[str]] = {}
        for name, id in rows:
            found.setdefault(name, []).append(id)
        return found

    def near(self, vector: Vector, model: str, limit: int, where: Filter) -> dict[str, float]:
        clause, parameters = sql.passing(where)
        scope = Scope(self._source, f"{self._sight()}{clause}", {"namespace": self._namespace, **parameters})
        return self._meaning.nearest(vector, model, limit, scope, narrow=not self._wide(where))

    def cosines(self, vector: Vector, model: str, ids: Iterable[str]) -> dict[str, float]:
        in_sight = f"SELECT m.alias FROM memory m WHERE m.id IN ({sql.IDS}) AND {self._sight()}"
        rows = self._rows(in_sight, ids=sql.listed_ids(ids))
        known = np.fromiter((alias for (alias,) in rows), np.int64, len(rows))
        return Scope(self._source, self._sight(), {"namespace": self._namespace}).cosines(
            vector, model, known
        )

    def vectors(self, model: str, ids: Iterable[str]) -> dict[str, Vector]:
        rows = self._rows(
            "SELECT m.id, v.data FROM memory m JOIN vector v ON v.memory = m.alias"
            f" WHERE v.model = :model AND m.id IN ({sql.IDS}) AND {self._sight()}",
            model=model,
            ids=sql.listed_ids(ids),
        )
        return {id: unpacked(data) for id, data in rows}

    def meetings(self, ids: Iterable[str]) -> list[Meeting]:
        rows = self._rows(
            "SELECT a.id, b.id, t.count, t.last_at FROM meeting t JOIN memory a ON a.alias = t.one"
            f" JOIN memory b ON b.alias = t.other WHERE t.one IN ({sql.ENDS}) AND t.other IN ({sql.ENDS})"
            f" AND {self._sight('a')} AND {self._sight('b')}",
            ids=sql.listed_ids(ids),
        )
        return [Meeting(*row) for row in rows]

    # --- trees and links
    def roots(self, where: Filter) -> list[Trace]:
        clause, parameters = sql.passing(where)
        rows = self._rows(
            "SELECT m.id, m.importance, m.created_at, t.access_count, t.last_reinforced_at, t.activation,"
            " t.activated_at, m.type FROM memory m JOIN trace t ON t.memory = m.alias"
            f" WHERE {self._sight()}{clause} AND NOT EXISTS ("
            "SELECT 1 FROM link l JOIN memory p ON p.alias = l.source WHERE l.target = m.alias"
            " AND l.kind = 'hierarchical' AND l.active = 1 AND p.forgotten_at IS NULL"
            f" AND {self._sight('p')})",
            **parameters,
        )
        fields = tuple(Trace.__dataclass_fields__)
        return [Trace(**dict(zip(fields, row, strict=True))) for row in rows]

    def parents(self, ids: Iterable[str]) -> dict[str, str]:
        return {id: way[-1] for id, way in self.ancestors(ids).items() if way}

    def children(self, ids: Iterable[str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {id: [] for id in ids}
        rows = self._rows(
            "SELECT p.id, m.id FROM memory p CROSS JOIN link l ON l.source = p.alias"
            " CROSS JOIN memory m ON m.alias = l.target WHERE l.kind = 'hierarchical' AND l.active = 1"
            f" AND p.id IN ({sql.IDS}) AND p.forgotten_at IS NULL AND {self._sight('p')} AND {self._sight()}"
            f" AND {sql.CURRENT.format(m='m')} ORDER BY l.created_at, l.alias",
            ids=sql.listed_ids(found),
        )
        for parent, child in rows:
            found[parent].append(child)
        return found

    def ancestors(self, ids: Iterable[str]) -> dict[str, list[str]]:
        rows = self._rows(
            f"""
            WITH RECURSIVE up (start, node, step) AS (
                SELECT m.id, m.alias, 0 FROM memory m WHERE m.id IN ({sql.IDS}) AND {self._sight()}
                UNION ALL
                SELECT up.start, l.source, up.step + 1 FROM up CROSS JOIN link l ON l.target = up.node
                    CROSS JOIN memory p ON p.alias = l.source
                    WHERE l.kind = 'hierarchical' AND l.active = 1 AND up.step < {CHAIN_LIMIT}
                    AND p.forgotten_at IS NULL AND {self._sight("p")}
            ) SELECT up.start, m.id, up.step FROM up CROSS JOIN memory m ON m.alias = up.node
                ORDER BY up.step DESC""",
            ids=sql.listed_ids(ids),
        )
        found: dict[str, list[str]] = {start: [] for start, _, step in rows if step == 0}
        for start, id, step in rows:
            if step:
                found[start].append(id)
        return found

    def links(self, ids: Iterable[str], kinds: Sequence[str] = ()) -> list[Link]:
        kind = "AND l.kind IN (SELECT value FROM json_each(:kinds))" if kinds else ""
        touching = " UNION ".join(
            self._link_rows(f"l.{end} IN ({sql.ENDS}) {kind}") for end in ("source", "target")
        )
        rows = self._rows(
            f"SELECT * FROM ({touching}) ORDER BY created_at, alias",
            ids=sql.listed_ids(ids),
            kinds=json.dumps(list(kinds)),
        )
        return [sql.link_of(row) for row in rows]

    def _link_rows(self, condition: str) -> str:
        """Active links between two memories that are in sight and current."""
        return (
            f"{sql.LINK_ROWS} WHERE l.active = 1 AND {self._sight('s')} AND {self._sight('e')}"
            f" AND {sql.CURRENT.format(m='s')} AND {sql.CURRENT.format(m='e')} AND {condition}"
        )

    def following(self, ids: Iterable[str]) -> list[tuple[str, str]]:
        rows = self._rows(
            "SELECT s.id, e.id FROM memory s CROSS JOIN link l ON l.source = s.alias"
            " CROSS JOIN memory e ON e.alias = l.target WHERE l.kind = 'temporal' AND l.active = 1"
            f" AND s.id IN ({sql.IDS}) AND e.id IN ({sql.IDS}) AND {self._sight('s')} AND {self._sight('e')}",
            ids=sql.listed_ids(ids),
        )
        return cast(list[tuple[str, str]], rows)

    def get_links(self, ids: Iterable[str]) -> dict[str, Link]:
        rows = self._rows(
            f"{sql.LINK_ROWS} WHERE l.id IN ({sql.IDS}) AND {self._sight('s')} AND {self._sight('e')}",
            ids=sql.listed_ids(ids),
        )
        return {link.id: link for link in map(sql.link_of, rows)}

    def all_links(self, id: str) -> list[Link]:
        rows = self._rows(
            f"{sql.LINK_ROWS} WHERE (l.source IN ({sql.ENDS}) OR l.target IN ({sql.ENDS}))"
            f" AND {self._sight('s')} AND {self._sight('e')} ORDER BY l.created_at, l.alias",
            ids=sql.listed_ids([id]),
        )
        return [sql.link_of(row) for row in rows]

    # --- suggested links
    def get_suggestions(self, ids: Iterable[str]) -> dict[str, Suggestion]:
        found = self._suggestions(f"g.id IN ({sql.IDS})", ids=sql.listed_ids(ids))
        return {suggestion.id: suggestion for suggestion in found}

    def suggestions_about(self, ids: Iterable[str]) -> list[Suggestion]:
        touching = f"(g.source IN ({sql.ENDS}) OR g.target IN ({sql.ENDS}))"
        return self._suggestions(touching, ids=sql.listed_ids(ids))

    def pending_suggestions(self, limit: int, min_score: float) -> list[Suggestion]:
        best = f"{suggesting.PENDING} AND g.score >= :min_score ORDER BY g.score DESC, g.id LIMIT :limit"
        return self._suggestions(best, min_score=min_score, limit=limit)

    def count_pending_suggestions(self) -> int:
        sight = f"{self._sight('s')} AND {self._sight('e')}"
        rows = suggesting.ROWS.format(sight=sight)
        return int(self._rows(f"SELECT count(*) FROM ({rows} AND {suggesting.PENDING})")[0][0])

    def _suggestions(self, condition: str, **parameters: Any) -> list[Suggestion]:
        rows = suggesting.ROWS.format(sight=f"{self._sight('s')} AND {self._sight('e')}")
        return [suggesting.suggestion_of(row) for row in self._rows(f"{rows} AND {condition}", **parameters)]

    # --- transcripts
    def bookmarks(self) -> list[Bookmark]:
        rows = self._rows(bookmarking.ROWS.format(sight=self._sight("b")))
        return [bookmarking.bookmark_of(row) for row in rows]

    # --- Lore's own work
    def noted(self, beginning: str) -> dict[str, Mapping[str, Any]]:
        rows = self._rows(
            "SELECT name, value FROM noted WHERE namespace = :namespace"
            " AND name >= :beginning AND name < :beginning || char(1114111) ORDER BY name",
            beginning=beginning,
        )
        return {name: json.loads(value) for name, value in rows}

    # --- the past
    def history(self, id: str) -> list[Entry]:
        if not self.get([id], forgotten=True) and not self.get_links([id]):
            return []
        rows = self._rows(
            "SELECT seq, at, batch, verb, surface, actor, reason, noun, id, before, after"
            " FROM journal WHERE id = :id ORDER BY seq",
            id=id,
        )
        return [_entry_of(row) for row in rows]


def _entry_of(row: sql.Row) -> Entry:
    seq, at, batch, verb, surface, actor, reason, noun, id, before, after = row
    return Entry(
        seq=seq,
        at=at,
        batch=batch,
        cause=Cause(verb=verb, surface=surface, actor=actor, reason=reason),
        noun=cast(Literal["memory", "link"], noun),
        id=id,
        before=None if before is None else json.loads(before),
        after=None if after is None else json.loads(after),
    )
