"""Reader: the store as one namespace sees it, in SQL."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np

from lore.health import Counts
from lore.model import Entry, Filter, Memory, Trace
from lore.store.columns import RECORDS, Row, memory_of, record_of
from lore.store.postgres import sql, text_index
from lore.store.postgres.graph_reader import PENDING_SUGGESTION, GraphReader
from lore.store.postgres.matching import RAREST
from lore.store.postgres.nearest import Scope
from lore.store.postgres.tables import numbers_of
from lore.store.records import AnyRecord, Bookmark
from lore.store.rows import TEXT_KEYS, decoded, encoded, entry_of, trace_of, unpacked_text
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
from lore.vectors import Vector, unit

ANY: frozenset[str] = frozenset()
LARGEST_ALIAS = (1 << 31) - 1
_ASCII_RUN = re.compile(r"[\x01-\x7f]+")

TRACE_COLUMNS = (
    "m.id, m.importance, m.created_at, u.access_count, u.last_reinforced_at, u.activation, u.activated_at,"
    " m.type"
)
JOURNAL_COLUMNS = (
    "j.seq, j.at, j.batch, j.verb, j.surface, j.actor, j.reason, j.noun, j.id, j.before, j.after"
)
LINK_OUT_OF_SIGHT = f"""
    j.noun = 'link' AND coalesce((
        SELECT true FROM link l {sql.at("source", "s")} {sql.at("target", "e")}
        WHERE l.tenant = %(tenant)s AND l.id = j.id AND NOT ({sql.sight("s")} AND {sql.sight("e")})
    ), false)"""
"""A link between two namespaces has its history in one of them; only who sees both ends may read it."""
JOURNAL = f"""
    SELECT j.* FROM unnest(%(seen)s::text[]) AS n (namespace) CROSS JOIN LATERAL (
        SELECT {JOURNAL_COLUMNS} FROM journal j WHERE j.tenant = %(tenant)s AND j.namespace = n.namespace
            AND {{condition}} AND NOT ({LINK_OUT_OF_SIGHT}) ORDER BY j.seq {{order}} LIMIT %(limit)s
    ) j ORDER BY j.seq {{order}} LIMIT %(limit)s
"""
JOURNAL_OF_SOME = f"""
    WITH j AS MATERIALIZED (SELECT j.* FROM journal j WHERE j.tenant = %(tenant)s{{entries}})
    SELECT {JOURNAL_COLUMNS} FROM j WHERE j.namespace = ANY(%(seen)s) AND {{condition}}
        AND NOT ({LINK_OUT_OF_SIGHT}) ORDER BY j.seq {{order}} LIMIT %(limit)s
"""
"""Of one memory, link or transaction, which has few entries: they are found by an index and then sorted."""
PURGED = f"""
    SELECT j.id, max(j.at) FROM journal j WHERE j.tenant = %(tenant)s AND j.id = {sql.IDS}
        AND j.noun = 'memory' AND j.after IS NULL AND j.namespace = %(namespace)s GROUP BY j.id
"""
EVENT = """
    CASE WHEN j.before IS NULL THEN 'learnt'
        WHEN j.after::json ->> 'forgotten_at' IS NOT NULL AND coalesce(m.superseded_at, j.at) >= j.at
            THEN 'forgotten'
        WHEN j.after::json ->> 'superseded_by' IS NOT NULL AND coalesce(m.forgotten_at, j.at) >= j.at
            THEN 'replaced'
        WHEN json_typeof(j.after::json -> 'forgotten_at') = 'null'
            OR json_typeof(j.after::json -> 'superseded_by') = 'null' THEN 'restored'
        ELSE 'changed' END"""
"""What a journal entry `j` of a memory `m` did. What is replaced and forgotten is gone once."""
DAYS = f"""
    SELECT floor((j.at + %(offset)s) / 86400.0)::int, m.kind, {EVENT}, count(*)
        FROM journal j CROSS JOIN LATERAL (
            SELECT m.* FROM memory m WHERE m.tenant = j.tenant AND m.id = j.id OFFSET 0) m
        WHERE j.noun = 'memory' AND j.at >= %(since)s AND {sql.sight("j")} AND {sql.sight("m")}
        GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
"""
COUNT_BELOW = f"""
    WITH RECURSIVE below (top, node) AS (
        SELECT p.id, p.alias FROM memory p WHERE p.id = ANY(%(tops)s) AND {sql.sight("p")}
        UNION
        SELECT below.top, c.alias FROM below {sql.tree_links("source", "below.node")} {sql.at("target", "c")}
            WHERE {sql.sight("c")}
    ) SELECT below.top, count(*) FROM below {sql.looked_up("m.*", "below.node")}
        WHERE m.id <> below.top AND {sql.sight("m")}{{clause}} GROUP BY below.top
"""


LISTED = """
    WITH p AS MATERIALIZED (
        SELECT m.alias, {keys} FROM {table} {usage} WHERE {clause} ORDER BY {order} LIMIT %(limit)s
    ) SELECT {shown}, m.* FROM p {columns} ORDER BY {shown_order}
"""
"""Sorts without the texts, and then reads those that are shown."""


class PostgresReader(GraphReader):
    """Memories, search, records and the journal; see `GraphReader` for trees and links."""

    # --- memories
    def get(self, ids: Iterable[str], forgotten: bool = False) -> dict[str, Memory]:
        wanted = sql.usable(ids)
        if not wanted:
            return {}
        hidden = "" if forgotten else " AND m.forgotten_at IS NULL"
        rows = self._rows(
            f"SELECT {sql.MEMORY_COLUMNS} FROM {sql.named('ids')} {sql.WITH_USAGE}"
            f" WHERE {sql.sight('m')}{hidden}",
            ids=wanted,
        )
        return {memory.id: memory for memory in map(memory_of, rows)}

    def resolve(
        self, references: Iterable[str | int], limit: int, noun: Literal["memory", "link"] = "memory"
    ) -> dict[str | int, list[str]]:
        found: dict[str | int, list[str]] = {reference: [] for reference in references}
        aliases = [one for one in found if isinstance(one, int) and 0 <= one <= LARGEST_ALIAS]
        for alias, id in self._by_alias(noun, aliases) if aliases else ():
            found[alias].append(id)
        for part in found:
            if isinstance(part, str) and sql.usable([part]) and noun == "memory":
                rows = self._rows(
                    f"SELECT m.id FROM memory m WHERE ({sql.id_like(part)}) AND {sql.sight('m')}"
                    " ORDER BY m.id LIMIT %(limit)s",
                    part=part,
                    high=part + "\U0010ffff",
                    limit=limit,
                )
                found[part] = [id for (id,) in rows]
        return found

    def _by_alias(self, noun: str, aliases: list[int]) -> list[Row]:
        sight = {"memory": sql.sight("n"), "link": f"{sql.sight('s')} AND {sql.sight('e')}"}
        ends = f" {sql.at('source', 's', 'n')} {sql.at('target', 'e', 'n')}"
        return self._rows(
            f"SELECT n.alias, n.id FROM {noun} n{ends if noun == 'link' else ''}"
            f" WHERE n.tenant = %(tenant)s AND n.alias = ANY(%(aliases)s) AND {sight[noun]}",
            aliases=aliases,
        )

    def select(self, where: Filter, page: Page) -> Listing[Memory]:
        return self._listed(sql.MEMORY_COLUMNS, memory_of, where, page)

    def traces(self, where: Filter, page: Page = EVERY) -> Listing[Trace]:
        return self._listed(TRACE_COLUMNS, trace_of, where, page)

    def _listed(
        self, columns: str, item_of: Callable[[Row], Item], where: Filter, page: Page
    ) -> Listing[Item]:
        """Rows of these columns as items, in the order of the page, behind its cursor."""
        table, clause, parameters = sql.selected(where)
        clause = f"{sql.sight('m')}{clause}"
        total = 0
        if page.total:
            ((total,),) = self._rows(f"SELECT count(*) FROM {table} WHERE {clause}", **parameters)
        if page.limit < 1:
            return Listing([], total=total, more=bool(total))
        keys = sql.ORDERS[page.order]
        order = ", ".join(f"{key} DESC" for key in keys)
        if page.cursor:
            position = decoded(page.cursor, len(keys), TEXT_KEYS.get(page.order, 0))
            parameters |= {f"key{at}": value for at, value in enumerate(position)}
            clause += f" AND ({', '.join(keys)}) < ({', '.join(f'%(key{at})s' for at in range(len(keys)))})"
        shown = [f"p.key{at}" for at in range(len(keys))]
        rows = self._rows(
            LISTED.format(
                keys=", ".join(f"{key} AS {name[2:]}" for key, name in zip(keys, shown, strict=True)),
                table=table,
                usage=sql.WITH_USAGE if page.order == "use" else "",
                order=order,
                clause=clause,
                shown=", ".join(shown),
                shown_order=", ".join(f"{name} DESC" for name in shown),
                columns=sql.looked_up(columns, "p.alias", joined=sql.WITH_USAGE),
            ),
            limit=min(page.limit + 1, EVERY.limit),
            **parameters,
        )
        more, rows = len(rows) > page.limit, rows[: page.limit]
        cursor = encoded(rows[-1][: len(keys)]) if rows else page.cursor
        return Listing([item_of(row[len(keys) :]) for row in rows], cursor, more, total)

    def count_below(self, ids: Iterable[str], where: Filter) -> dict[str, int]:
        clause, parameters = sql.passing(where)
        tops = list(ids)
        rows = self._rows(COUNT_BELOW.format(clause=clause), tops=sql.usable(tops), **parameters)
        return dict.fromkeys(tops, 0) | dict(cast(list[tuple[str, int]], rows))

    def counts(self, model: str = "") -> Counts:
        current = sql.CURRENT.format(m="m")
        visible = f"FROM memory m WHERE {sql.sight('m')} AND {current}"
        kinds: dict[str, int] = dict(self._rows(f"SELECT m.kind, count(*) {visible} GROUP BY 1 ORDER BY 1"))
        projects: dict[str, int] = dict(
            self._rows(f"SELECT m.project, count(*) {visible} AND m.project > '' GROUP BY 1 ORDER BY 1")
        )
        ((forgotten, superseded, roots, links, suggestions),) = self._rows(
            f"""SELECT count(m.forgotten_at), count(*) - count(m.forgotten_at),
                (SELECT count(*) {visible} AND {sql.ROOT}),
                (SELECT count(*) FROM ({self._link_rows("l.tenant = %(tenant)s")}) x),
                (SELECT count(*) FROM ({self._suggestion_rows(PENDING_SUGGESTION)}) x)
            FROM memory m WHERE {sql.sight("m")} AND NOT ({current})"""
        )
        ((embedded, pending),) = self._rows(
            "SELECT count(*) FILTER (WHERE e.model = %(model)s), count(*) FILTER (WHERE e.model <> %(model)s)"
            f" FROM embedding e WHERE {sql.sight('e')}",
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
        rows = self._rows(text_index.FULL_TEXTS, ids=sql.usable(ids))
        return {id: text for id, *row in rows if (text := unpacked_text(*row)) is not None}

    # --- search
    def matching(self, terms: Sequence[str], limit: int, where: Filter) -> TextMatches:
        if self._tenant < 0:
            return TextMatches(information=dict.fromkeys(terms, RAREST))
        return self._matching.matching(terms, limit, self._scope(where)) if terms else TextMatches()

    def containing(self, text: str, where: Filter) -> list[str]:
        """The database folds the case of ASCII only: it looks for the longest such part."""
        wanted = text.lower()
        clause, parameters = sql.passing(where)
        rows = self._rows(
            f"SELECT m.id, m.title, m.type, m.content FROM memory m WHERE {sql.sight('m')}{clause} AND"
            " (strpos(lower(m.title), %(part)s) > 0 OR strpos(lower(m.type), %(part)s) > 0"
            " OR strpos(lower(m.content), %(part)s) > 0) ORDER BY m.alias",
            part=max(_ASCII_RUN.findall(wanted), key=len, default=""),
            **parameters,
        )
        return [id for id, *fields in rows if any(wanted in field.lower() for field in fields)]

    def about(self, names: Iterable[str], where: Filter, most: int) -> dict[str, list[str]]:
        clause, parameters = sql.passing(where)
        rows = self._rows(
            text_index.ABOUT.format(passing=f"{sql.sight('m')}{clause}"),
            names=list(dict.fromkeys(name for name in names if _storable(name))),
            most=most,
            **parameters,
        )
        found: dict[str, list[str]] = {}
        for name, id in rows:
            found.setdefault(name, []).append(id)
        return found

    def near(self, vector: Vector, model: str, limit: int, where: Filter) -> Neighbours:
        return self._nearest.nearest(vector, model, limit, self._scope(where))

    def _scope(self, where: Filter) -> Scope:
        clause, parameters = sql.passing(where)
        return Scope(self._source, f"{sql.sight('m')}{clause}", self._bound(parameters), wide=_wide(where))

    def vectors(self, model: str, ids: Iterable[str]) -> dict[str, Vector]:
        rows = self._rows(
            f"SELECT m.id, halfvec_send(e.vector) FROM {sql.named('ids')} CROSS JOIN LATERAL ("
            "SELECT e.* FROM embedding e WHERE e.tenant = m.tenant AND e.memory = m.alias OFFSET 0) e"
            f" WHERE e.model = %(model)s AND {sql.sight('m')}",
            model=model,
            ids=sql.usable(ids),
        )
        return {id: unit(np.frombuffer(sent, ">f2", offset=4).astype(np.float32)) for id, sent in rows}

    # --- records and the past
    def records(self, kind: type[AnyRecord], **fields: Any) -> list[AnyRecord]:
        table = RECORDS[kind]
        own = "r.tenant = %(tenant)s AND r.namespace = %(namespace)s"
        sight = sql.sight("r") if kind is Bookmark else own
        if any(isinstance(value, str) for name, value in fields.items() if name in numbers_of(kind)):
            return []
        given = {
            f"field_{name}": str(value) if name in table.as_text else value for name, value in fields.items()
        }
        equal = "".join(f' AND r."{name}" = %(field_{name})s' for name in fields)
        rows = self._rows(
            f"SELECT {_quoted(table.columns)} FROM {table.name} r WHERE {sight}{equal}"
            f" ORDER BY {_quoted(table.keys)}",
            namespace=self.namespace,
            **given,
        )
        return [record_of(kind, row) for row in rows]

    def journal(self, where: JournalFilter, page: Page) -> Listing[Entry]:
        wanted = {"id": where.id, "batch": where.batch}
        given = [value for value in wanted.values() if value is not None]
        if sql.usable(given) != given:
            return Listing([], page.cursor)
        order, beyond = ("DESC", "<") if where.newest_first else ("ASC", ">")
        (position,) = decoded(page.cursor, 1) if page.cursor else (1 << 62 if where.newest_first else 0,)
        entries = "".join(
            f" AND j.{name} = %({name})s" for name, value in wanted.items() if value is not None
        )
        statement = JOURNAL_OF_SOME if given else JOURNAL
        rows = self._rows(
            statement.format(entries=entries, condition=f"j.seq {beyond} %(position)s", order=order),
            **wanted,
            position=position,
            limit=min(page.limit + 1, EVERY.limit),
        )
        more, rows = len(rows) > page.limit, rows[: page.limit]
        cursor = encoded(rows[-1][:1]) if rows else page.cursor
        return Listing(map(entry_of, rows), cursor, more)

    def purged(self, ids: Iterable[str]) -> dict[str, float]:
        wanted = sql.usable(ids)
        return dict(self._rows(PURGED, ids=wanted, namespace=self.namespace)) if wanted else {}

    def days(self, since: float, offset: float = 0.0) -> list[DayCount]:
        rows = self._rows(DAYS, since=float(since), offset=float(offset))
        return [DayCount(*row) for row in rows]


def _wide(where: Filter) -> bool:
    """Whether many of the nearest are likely to pass, so that it is not worth looking up first what does."""
    bare = replace(where, kinds=ANY, other_kinds=ANY, other_sessions=ANY, projects=ANY)
    return replace(bare, roots=False, superseded=False, forgotten=False) == Filter()


def _quoted(names: Iterable[str]) -> str:
    return ", ".join(f'r."{name}"' for name in names)


def _storable(text: str) -> bool:
    return "\0" not in text and text.isprintable()
