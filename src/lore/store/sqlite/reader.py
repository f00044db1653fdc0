"""Reader: the store as one namespace sees it, in SQL."""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

from lore.health import Counts
from lore.model import Entry, Filter, Memory, Trace
from lore.store.columns import RECORDS, Row, memory_of, record_of
from lore.store.records import AnyRecord, Bookmark
from lore.store.rows import TEXT_KEYS, decoded, encoded, entry_of, trace_of, unpacked_text
from lore.store.sqlite import sql, text_index
from lore.store.sqlite.graph_reader import PENDING_SUGGESTION, GraphReader
from lore.store.sqlite.nearest import Scope
from lore.store.sqlite.text_index import GRAMS, WORDS, Terms
from lore.store.values import (
    EVERY,
    DayCount,
    Item,
    JournalFilter,
    Listing,
    Neighbours,
    Page,
    TextMatches,
)
from lore.vectors import Vector, unpacked_rows

FEW = 4_000
"""Up to this number, the memories that pass are looked up before the best are sought."""
ANY: frozenset[str] = frozenset()
_ASCII_RUN = re.compile(r"[\x01-\x7f]+")

TRACE_COLUMNS = (
    "m.id, m.importance, m.created_at, u.access_count, u.last_reinforced_at, u.activation, u.activated_at,"
    " m.type"
)
JOURNAL_COLUMNS = "seq, at, batch, verb, surface, actor, reason, noun, id, before, after"
LINK_OUT_OF_SIGHT = """
    j.noun = 'link' AND EXISTS (
        SELECT 1 FROM link l
        CROSS JOIN memory s ON s.alias = l.source CROSS JOIN memory e ON e.alias = l.target
        WHERE l.tenant = :tenant AND l.id = j.id AND NOT ({source} AND {target})
    )"""
"""A link between two namespaces has its history in one of them; only who sees both ends may read it."""
EVENT = """
    CASE WHEN j.before IS NULL THEN 'learnt'
        WHEN j.after ->> 'forgotten_at' IS NOT NULL AND coalesce(m.superseded_at, j.at) >= j.at
            THEN 'forgotten'
        WHEN j.after ->> 'superseded_by' IS NOT NULL AND coalesce(m.forgotten_at, j.at) >= j.at
            THEN 'replaced'
        WHEN j.after -> 'forgotten_at' = 'null' OR j.after -> 'superseded_by' = 'null' THEN 'restored'
        ELSE 'changed' END"""
"""What a journal entry `j` of a memory `m` did. What is replaced and forgotten is gone once."""


class SqliteReader(GraphReader):
    """Memories, search, records and the journal; see `GraphReader` for trees and links."""

    # --- memories
    def get(self, ids: Iterable[str], forgotten: bool = False) -> dict[str, Memory]:
        ids = list(ids)
        if not ids:
            return {}
        hidden = "" if forgotten else " AND m.forgotten_at IS NULL"
        rows = self._rows(
            f"{sql.MEMORY_ROWS} WHERE m.id IN ({sql.IDS}) AND {sql.sight_by_id('m')}{hidden}",
            ids=sql.listed_ids(ids),
        )
        return {memory.id: memory for memory in map(memory_of, rows)}

    def resolve(
        self, references: Iterable[str | int], limit: int, noun: Literal["memory", "link"] = "memory"
    ) -> dict[str | int, list[str]]:
        found: dict[str | int, list[str]] = {reference: [] for reference in references}
        aliases = [reference for reference in found if isinstance(reference, int)]
        for alias, id in self._by_alias(noun, aliases) if aliases else ():
            found[alias].append(id)
        for part in found:
            if isinstance(part, str) and part.isascii() and noun == "memory":
                rows = self._rows(
                    f"SELECT m.id FROM memory m WHERE ({sql.id_like(part)}) AND {self._sight()}"
                    " ORDER BY m.id LIMIT :limit",
                    part=part,
                    high=part + "\U0010ffff",
                    limit=limit,
                )
                found[part] = [id for (id,) in rows]
        return found

    def _by_alias(self, noun: str, aliases: list[int]) -> list[Row]:
        sight = {"memory": self._sight("n"), "link": f"{self._sight('s')} AND {self._sight('e')}"}
        ends = " JOIN memory s ON s.alias = n.source JOIN memory e ON e.alias = n.target"
        return self._rows(
            f"SELECT n.alias, n.id FROM {noun} n{ends if noun == 'link' else ''}"
            f" WHERE n.alias IN ({sql.listed('aliases')}) AND {sight[noun]}",
            aliases=json.dumps(aliases),
        )

    def select(self, where: Filter, page: Page) -> Listing[Memory]:
        return self._listed(sql.MEMORY_COLUMNS, memory_of, where, page)

    def traces(self, where: Filter, page: Page = EVERY) -> Listing[Trace]:
        return self._listed(TRACE_COLUMNS, trace_of, where, page)

    def _listed(
        self, columns: str, item_of: Callable[[Row], Item], where: Filter, page: Page
    ) -> Listing[Item]:
        """Rows of these columns as items, in the order of the page, behind its cursor."""
        clause, parameters = sql.passing(where)
        clause = f"{self._sight() if where.ids is None else sql.sight_by_id('m')}{clause}"
        total = 0
        if page.total:
            ((total,),) = self._rows(f"SELECT count(*) FROM memory m WHERE {clause}", **parameters)
        if page.limit < 1:
            return Listing([], total=total, more=bool(total))
        keys = sql.ORDERS[page.order]
        order = ", ".join(f"{key} DESC" for key in keys)
        if page.cursor:
            position = decoded(page.cursor, len(keys), TEXT_KEYS.get(page.order, 0))
            parameters |= {f"key{at}": value for at, value in enumerate(position)}
            clause += f" AND ({', '.join(keys)}) < ({', '.join(f':key{at}' for at in range(len(keys)))})"
        used = "memory m CROSS JOIN usage u ON u.memory = m.alias"
        if where.ids is None or page.limit < EVERY.limit:
            best = f"SELECT m.alias FROM {used} WHERE {clause} ORDER BY {order} LIMIT :limit"
            clause = f"m.alias IN ({best})"  # sorts without the texts
        rows = self._rows(
            f"SELECT {', '.join(keys)}, {columns} FROM {used} WHERE {clause} ORDER BY {order}",
            limit=min(page.limit + 1, EVERY.limit),
            **parameters,
        )
        more, rows = len(rows) > page.limit, rows[: page.limit]
        cursor = encoded(rows[-1][: len(keys)]) if rows else page.cursor
        return Listing([item_of(row[len(keys) :]) for row in rows], cursor, more, total)

    def count_below(self, ids: Iterable[str], where: Filter) -> dict[str, int]:
        clause, parameters = sql.passing(where)
        tops = list(ids)
        rows = self._rows(
            f"""
            WITH RECURSIVE below (top, node) AS (
                SELECT p.id, p.alias FROM memory p WHERE p.id IN ({sql.listed("tops")})
                    AND {sql.sight_by_id("p")}
                UNION
                SELECT below.top, c.alias FROM below CROSS JOIN link l ON l.source = below.node
                    CROSS JOIN memory c ON c.alias = l.target WHERE {sql.TREE} AND {self._sight("c")}
            ) SELECT below.top, count(*) FROM below CROSS JOIN memory m ON m.alias = below.node
                WHERE m.id != below.top AND {self._sight()}{clause} GROUP BY below.top""",
            tops=sql.listed_ids(tops),
            **parameters,
        )
        return dict.fromkeys(tops, 0) | dict(cast(list[tuple[str, int]], rows))

    def counts(self, model: str = "") -> Counts:
        visible = f"FROM memory m WHERE {self._sight()} AND {sql.CURRENT.format(m='m')}"
        kinds: dict[str, int] = dict(self._rows(f"SELECT m.kind, count(*) {visible} GROUP BY 1 ORDER BY 1"))
        projects: dict[str, int] = dict(
            self._rows(f"SELECT m.project, count(*) {visible} AND m.project > '' GROUP BY 1 ORDER BY 1")
        )
        ((forgotten, superseded),) = self._rows(
            "SELECT count(m.forgotten_at), count(*) - count(m.forgotten_at)"
            f" FROM memory m WHERE {self._sight()} AND NOT ({sql.CURRENT.format(m='m')})"
        )
        ((roots,),) = self._rows(f"SELECT count(*) {visible} AND {sql.ROOT}")
        ((links,),) = self._rows(f"SELECT count(*) FROM ({self._link_rows('1')})")
        ((suggestions,),) = self._rows(f"SELECT count(*) FROM ({self._suggestion_rows(PENDING_SUGGESTION)})")
        ((embedded, pending),) = self._rows(
            "SELECT count(*) FILTER (WHERE e.model = :model), count(*) FILTER (WHERE e.model != :model)"
            f" FROM embedding e WHERE {self._sight('e')}",
            model=model,
        )
        return Counts(
            memories=sum(kinds.values()),
            roots=roots,
            links=links,
            forgotten=forgotten,
            superseded=superseded,
            kinds=kinds,
            projects=projects,
            suggestions=suggestions,
            embedded=embedded,
            pending=pending,
        )

    def full_texts(self, ids: Iterable[str]) -> dict[str, str]:
        rows = self._rows(text_index.FULL_TEXTS.format(sight=self._sight()), ids=sql.listed_ids(ids))
        return {id: text for id, *row in rows if (text := unpacked_text(*row)) is not None}

    # --- search
    def matching(self, terms: Sequence[str], limit: int, where: Filter) -> TextMatches:
        if not terms:
            return TextMatches()
        counted = Terms(terms, self._rows)
        if limit < 1:
            return TextMatches(information=counted.information())
        by_words, by_grams = (self._matching(index, counted, limit, where) for index in (WORDS, GRAMS))
        strengths = text_index.summed(by_words, by_grams, limit)
        return TextMatches(strengths=strengths, information=counted.information())

    def _matching(self, index: str, terms: Terms, limit: int, where: Filter) -> dict[str, float]:
        """By one of the indexes."""
        telling = terms.telling(index)
        if not telling:
            return {}
        clause, parameters = sql.passing(where)
        parameters |= {"words": " OR ".join(telling), "limit": limit}
        passing = f"{self._sight()}{clause}"
        best = text_index.MATCHING_BEST.format(index=index, passing=passing)
        wide = self._wide(where)
        rows = self._rows(best, **parameters, oldest=terms.oldest(telling, index)) if wide else []
        complete = wide and terms.occurrences(telling, index) <= text_index.BEST_FACTOR * limit
        if where.projects:
            passing = text_index.OF_PROJECTS.format(index=index, passing=passing)
        every = text_index.MATCHING_ALL.format(index=index, passing=passing)
        if len(rows) < limit and not complete:
            rows = self._rows(every, **parameters)
        if not rows and len(telling) < len(terms.all(index)):
            rows = self._rows(every, **parameters | {"words": " OR ".join(terms.all(index))})
        return dict(cast(list[tuple[str, float]], rows))

    def _wide(self, where: Filter) -> bool:
        """Whether many of the best are likely to pass, so that it is not worth looking up first what does."""
        bare = replace(where, kinds=ANY, other_kinds=ANY, other_sessions=ANY, projects=ANY)
        if replace(bare, roots=False, superseded=False, forgotten=False) != Filter():
            return False
        if not where.projects:
            return True
        clause, parameters = sql.passing(Filter(projects=where.projects))
        some = f"SELECT 1 FROM memory m WHERE {self._sight()}{clause} LIMIT {FEW + 1}"
        return int(self._rows(f"SELECT count(*) FROM ({some})", **parameters)[0][0]) > FEW

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
            text_index.ABOUT.format(passing=f"{self._sight()}{clause}"),
            names=json.dumps(list(names)),
            most=most,
            **parameters,
        )
        found: dict[str, list[str]] = {}
        for name, id in rows:
            found.setdefault(name, []).append(id)
        return found

    def near(self, vector: Vector, model: str, limit: int, where: Filter) -> Neighbours:
        clause, parameters = sql.passing(where)
        scope = Scope(self._source, self._sight("e"), f"{self._sight()}{clause}", self._bound(parameters))
        return self._nearest.nearest(vector, model, limit, scope, narrow=not self._wide(where))

    def vectors(self, model: str, ids: Iterable[str]) -> dict[str, Vector]:
        rows = self._rows(
            "SELECT m.id, v.data FROM memory m JOIN short_vector v ON v.memory = m.alias"
            f" WHERE v.model = :model AND m.id IN ({sql.IDS}) AND {self._sight()}",
            model=model,
            ids=sql.listed_ids(ids),
        )
        return dict(zip((id for id, _ in rows), unpacked_rows([data for _, data in rows]), strict=True))

    # --- records and the past
    def records(self, kind: type[AnyRecord], **fields: Any) -> list[AnyRecord]:
        table = RECORDS[kind]
        own = "r.tenant = :tenant AND r.namespace = :namespace"
        sight = self._sight("r") if kind is Bookmark else own
        equal = "".join(f" AND r.{name} = :{name}" for name in fields)
        rows = self._rows(
            f"SELECT {', '.join(table.columns)} FROM {table.name} r WHERE {sight}{equal}"
            f" ORDER BY {', '.join(table.keys)}",
            **fields,
        )
        return [record_of(kind, row) for row in rows]

    def journal(self, where: JournalFilter, page: Page) -> Listing[Entry]:
        if not all(map(str.isascii, filter(None, (where.id, where.batch)))):
            return Listing([], page.cursor)
        order, beyond = ("DESC", "<") if where.newest_first else ("ASC", ">")
        (position,) = decoded(page.cursor, 1) if page.cursor else (1 << 62 if where.newest_first else 0,)
        one = "" if where.id is None else " AND id = :id"
        one += "" if where.batch is None else " AND batch = :batch"
        hidden = LINK_OUT_OF_SIGHT.format(source=self._sight("s"), target=self._sight("e"))
        sources = {f"source{number}": name for number, name in enumerate(self._namespaces)}
        parts = [
            f"SELECT * FROM (SELECT {JOURNAL_COLUMNS} FROM journal j WHERE tenant = :tenant"
            f" AND namespace = :{source}{one} AND seq {beyond} :position AND NOT ({hidden})"
            f" ORDER BY seq {order} LIMIT :limit)"
            for source in sources
        ]
        rows = self._rows(
            f"{' UNION '.join(parts)} ORDER BY seq {order} LIMIT :limit",
            **sources,
            id=where.id,
            batch=where.batch,
            position=position,
            limit=min(page.limit + 1, EVERY.limit),
        )
        more, rows = len(rows) > page.limit, rows[: page.limit]
        cursor = encoded(rows[-1][:1]) if rows else page.cursor
        return Listing(map(entry_of, rows), cursor, more)

    def purged(self, ids: Iterable[str]) -> dict[str, float]:
        wanted = list(ids)
        if not wanted:
            return {}
        rows = self._rows(
            f"SELECT j.id, max(j.at) FROM journal j WHERE j.tenant = :tenant AND j.id IN ({sql.IDS})"
            " AND j.noun = 'memory' AND j.after IS NULL AND +j.namespace = :namespace GROUP BY j.id",
            ids=sql.listed_ids(wanted),
        )
        return dict(rows)

    def days(self, since: float, offset: float = 0.0) -> list[DayCount]:
        rows = self._rows(
            f"SELECT CAST(floor((j.at + :offset) / 86400.0) AS INTEGER), m.kind, {EVENT}, count(*)"
            " FROM journal j CROSS JOIN memory m ON m.tenant = j.tenant AND m.id = j.id"
            f" WHERE j.noun = 'memory' AND j.at >= :since AND {self._sight('j')} AND {sql.sight_by_id('m')}"
            " GROUP BY 1, 2, 3 ORDER BY 1, 2, 3",
            since=since,
            offset=offset,
        )
        return [DayCount(*row) for row in rows]
