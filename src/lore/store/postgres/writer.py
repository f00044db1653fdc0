"""Writer: one transaction of one writer, with a journal entry for all that changes.

The writer also keeps all derived rows in step: text index, names, depths, embeddings (see `text_index`). It
holds the row of its tenant in `tenant_state`, and takes all numbers from there.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pgvector import HalfVector

from lore.admit import admit
from lore.errors import Invalid, NotFound, Unavailable
from lore.lineage import signed
from lore.model import SHARED, VERBATIM, Cause, Link, Memory, new_id
from lore.store import Writer, columns
from lore.store.columns import RECORDS, Parameters, Row
from lore.store.postgres import sql, text_index, upkeep
from lore.store.postgres.reader import PostgresReader
from lore.store.postgres.sql import TREE, Table
from lore.store.records import Bookmark, Record, key_of
from lore.store.rows import columns_json, difference
from lore.store.values import Suggestion
from lore.vectors import Vector, unit

TYPES: dict[Any, str] = {int: "int", float: "float8", float | None: "float8"}


def _typed(kind: Any, names: Iterable[str]) -> tuple[tuple[str, str], ...]:
    return tuple((name, TYPES.get(kind.__annotations__[name], "text")) for name in names)


MEMORY = Table(
    "memory",
    (("alias", "int"), ("id", "text"), ("depth", "int"), *_typed(Memory, columns.KNOWLEDGE)),
)
USAGE = Table("usage", (("memory", "int"), *_typed(Memory, columns.USE)))
LINK = Table(
    "link",
    (
        ("alias", "int"), ("id", "text"), ("source", "int"), ("target", "int"),
        *((name, "int" if name == "active" else type) for name, type in _typed(Link, columns.LINK)),
    ),
)  # fmt: skip
JOURNAL = Table(
    "journal",
    (
        ("at", "float8"), ("batch", "text"), ("verb", "text"), ("surface", "text"), ("actor", "text"),
        ("reason", "text"), ("noun", "text"), ("seq", "bigint"), ("namespace", "text"), ("id", "text"),
        ("before", "text"), ("after", "text"),
    ),
)  # fmt: skip

TAKEN = f"SELECT m.id FROM memory m WHERE m.tenant = %(tenant)s AND m.id = {sql.IDS} LIMIT 1"
ENDS = f"SELECT m.id, m.alias, m.namespace FROM memory m WHERE m.id = {sql.IDS} AND {sql.sight('m')}"
PLACES = """
    SELECT l.source, l.target, l.kind, l.type
        FROM unnest(%(sources)s::int[], %(targets)s::int[]) AS p (source, target) CROSS JOIN LATERAL (
            SELECT l.* FROM link l
            WHERE l.tenant = %(tenant)s AND l.source = p.source AND l.target = p.target OFFSET 0) l
"""
IN_TREES = f"""
    SELECT 1 FROM link l WHERE l.target = ANY(%(aliases)s) AND {TREE}
    UNION ALL
    SELECT 1 FROM link l WHERE l.source = ANY(%(aliases)s) AND {TREE}
    LIMIT 1
"""
"""Whether any of these has a parent or children."""
HANG = f"""
    UPDATE memory m SET depth = d.depth + 1 FROM (
        SELECT a.alias, p.depth FROM unnest(%(aliases)s::int[]) AS a (alias)
        {sql.tree_links("target", "a.alias")} {sql.at("source", "p")}
    ) d WHERE m.tenant = %(tenant)s AND m.alias = d.alias
"""
"""DEEPEN for leaves."""
FIND_LINK = (
    f"{sql.LINK_ROWS} WHERE l.tenant = %(tenant)s AND l.source = %(source)s AND l.target = %(target)s"
    " AND l.kind = %(kind)s AND l.type = %(type)s"
)
OTHER_PARENT = f"""
    SELECT 1 FROM link l
        WHERE l.target = %(target)s AND (l.source, l.type) <> (%(source)s, %(type)s) AND {TREE}
"""
DEEPEN = f"""
    WITH RECURSIVE below (node, depth) AS (
        SELECT %(child)s::int, coalesce((
            SELECT p.depth + 1 FROM link l {sql.at("source", "p")} WHERE l.target = %(child)s AND {TREE}
        ), 0)
        UNION
        SELECT l.target, below.depth + 1 FROM below {sql.tree_links("source", "below.node")}
    )
    UPDATE memory m SET depth = below.depth FROM below
        WHERE m.tenant = %(tenant)s AND m.alias = below.node AND m.depth <> below.depth
"""
IS_ABOVE = f"""
    WITH RECURSIVE up (node) AS (
        SELECT %(source)s::int
        UNION
        SELECT l.source FROM up {sql.tree_links("target", "up.node")}
    ) SELECT 1 FROM up WHERE node = %(target)s
"""
KEEP_VECTOR = "UPDATE embedding SET model = %s, vector = %s WHERE tenant = %s AND memory = %s"
PUT_SUGGESTION = """
    INSERT INTO suggestion (tenant, id, source, target, score, signals, type, status, created_at, updated_at)
        SELECT %(tenant)s, %(id)s, s.alias, e.alias, %(score)s, %(signals)s, %(type)s, %(status)s,
            %(created_at)s, %(updated_at)s
        FROM memory s, memory e
        WHERE s.tenant = %(tenant)s AND s.id = %(source)s AND e.tenant = %(tenant)s AND e.id = %(target)s
    ON CONFLICT (tenant, source, target) DO UPDATE SET score = excluded.score, signals = excluded.signals,
        type = excluded.type, status = excluded.status, updated_at = excluded.updated_at
"""
EXPIRE_SUGGESTIONS = """
    DELETE FROM suggestion WHERE tenant = %(tenant)s AND status = 'pending' AND updated_at < %(before)s
        RETURNING id
"""
LOCK_TENANT = "SELECT memories, links, entries FROM tenant_state WHERE tenant = %(tenant)s FOR UPDATE"
KEEP_NUMBERS = """
    UPDATE tenant_state SET memories = %(memories)s, links = %(links)s, entries = %(entries)s
        WHERE tenant = %(tenant)s
"""

Change = tuple[str, str, Parameters | None, Parameters | None]
"""The namespace and id of what changed, and its fields before and after."""


@dataclass(slots=True)
class Numbers:
    """The last numbers that a tenant has given: aliases of memories and links, entries of the journal."""

    memories: int
    links: int
    entries: int

    def next(self, name: str, count: int) -> range:
        """The next `count` numbers of this name."""
        last: int = getattr(self, name)
        setattr(self, name, last + count)
        return range(last + 1, last + count + 1)


class PostgresWriter(PostgresReader, Writer):
    """Lives as long as its transaction."""

    _origin: tuple[Any, ...] = ()
    _namespace_of_end: Mapping[str, str] = {}
    """Of each end of the links that are being put."""

    def begin(self, cause: Cause, now: float) -> None:
        """Lock the tenant, and set the origin of all journal entries: a batch of its own."""
        ((memories, links, entries),) = self._rows(LOCK_TENANT)
        self._numbers = Numbers(memories, links, entries)
        self._before = replace(self._numbers)
        self.cause, self.now = cause, now
        actor, reason = admit(cause.actor), admit(cause.reason)
        self._origin = (now, new_id(now), cause.verb, cause.surface, actor, reason)
        self._changed: set[str] = set()

    def end(self) -> bool:
        """Keep the numbers that were given, as the last step; returns whether the journal has grown."""
        numbers = self._numbers
        if numbers == self._before:
            return False
        self._rows(KEEP_NUMBERS, memories=numbers.memories, links=numbers.links, entries=numbers.entries)
        upkeep.note_change(self._source, self._tenant, self._changed, self.now)
        return numbers.entries > self._before.entries

    def put(self, memories: Iterable[Memory], full_texts: Mapping[str, str] | None = None) -> list[Memory]:
        wanted = [columns.clean_memory(memory) for memory in memories]
        for memory in wanted:
            if memory.namespace not in self._namespaces:
                raise NotFound(f"namespace {memory.namespace} is out of sight of {self.namespace}")
        existing = self.get([memory.id for memory in wanted], forgotten=True)
        new = [signed(memory, None, self.cause) for memory in wanted if memory.id not in existing]
        stored = self._insert(new) if new else {}
        for memory in wanted:
            if memory.id in existing:
                old = existing[memory.id]
                self._change(old, signed(memory, old, self.cause))
        stored |= self.get(existing, forgotten=True)
        if full_texts:
            aliases = self._aliases(full_texts)
            text_index.put_full_texts(self._tenant, admit(full_texts), aliases, self._source)
        return [stored[memory.id] for memory in wanted]

    def _insert(self, memories: Sequence[Memory]) -> dict[str, Memory]:
        """The memories as stored. Their ids must be new, also to namespaces out of sight."""
        rows = {memory.id: columns.values_of(memory) for memory in memories}
        if len(rows) < len(memories) or sql.usable(rows) != list(rows):
            raise Invalid(f"every new memory needs an id of its own, in ASCII: {', '.join(map(repr, rows))}")
        if taken := self._rows(TAKEN, ids=list(rows)):
            raise NotFound(f"memory {taken[0][0]} is not in namespace {self.namespace}")
        split = len(columns.KNOWLEDGE)
        aliases = dict(zip(rows, self._numbers.next("memories", len(rows)), strict=True))
        inserted = [(aliases[id], id, 0, *values[:split]) for id, values in rows.items()]
        sql.insert(MEMORY, self._tenant, inserted, self._source)
        used = [(aliases[id], *values[split:]) for id, values in rows.items()]
        sql.insert(USAGE, self._tenant, used, self._source)
        text_index.add(self._tenant, {aliases[one.id]: _indexed(one) for one in memories}, self._source)
        waiting = [(aliases[one.id], one.namespace, one.kind) for one in memories]
        text_index.add_embeddings(self._tenant, waiting, self.now, self._source)
        self._record("memory", [(one.namespace, one.id, None, {}) for one in memories])
        return {id: columns.memory_of((aliases[id], id, 0, *values)) for id, values in rows.items()}

    def _change(self, old: Memory, new: Memory) -> None:
        before, after = difference(columns.columns_of(old), columns.columns_of(new))
        if not after:
            return
        self._update("memory", old.alias, after)
        self._record("memory", [(new.namespace, old.id, columns.admitted(before), after)])
        if not after.keys().isdisjoint(text_index.FIELDS):
            text_index.change(self._tenant, old.alias, _indexed(new), self._source)
        moved = {"namespace": new.namespace, "verbatim": new.kind in VERBATIM}
        if not after.keys().isdisjoint({"namespace", "kind"}):
            self._update("embedding", old.alias, moved, key="memory")

    def _update(self, table: str, alias: int, values: Parameters, key: str = "alias") -> None:
        changes = ", ".join(f"{name} = %(new_{name})s" for name in values)
        given = {f"new_{name}": value for name, value in values.items()}
        where = f"tenant = %(tenant)s AND {key} = %(alias)s"
        self._rows(f"UPDATE {table} SET {changes} WHERE {where}", alias=alias, **given)

    def put_links(self, links: Iterable[Link]) -> list[Link]:
        wanted = [columns.clean_link(link) for link in links]
        if not wanted:
            return []
        ends = self._ends({end for link in wanted for end in (link.source, link.target)})
        for link in wanted:
            for end in (link.source, link.target):
                if end not in ends:
                    raise NotFound(f"unknown memory {end}")
        self._namespace_of_end = {id: namespace for id, (_, namespace) in ends.items()}
        aliases = {id: alias for id, (alias, _) in ends.items()}
        if self._independent(wanted, aliases):
            return self._insert_links(wanted, aliases)
        return [self._put_link(link, aliases) for link in wanted]

    def _ends(self, ids: Iterable[str]) -> dict[str, tuple[int, str]]:
        """id -> alias and namespace, of those in sight; forgotten ones included."""
        rows = self._rows(ENDS, ids=sql.usable(ids))
        return {id: (alias, namespace) for id, alias, namespace in rows}

    def _aliases(self, ids: Iterable[str]) -> dict[str, int]:
        return {id: alias for id, (alias, _) in self._ends(ids).items()}

    def _namespace_of(self, link: Link) -> str:
        """Of an end that is not shared: who sees both ends sees the link's history (see `journal`)."""
        ends = {self._namespace_of_end[link.source], self._namespace_of_end[link.target]}
        return min(ends - {SHARED}, default=SHARED)

    def _independent(self, links: Sequence[Link], aliases: Mapping[str, int]) -> bool:
        """Whether all are new, and what they hang below others has no place in a tree yet.

        Then no link of them depends on another one, or can be refused.
        """
        places = {(aliases[link.source], aliases[link.target], link.kind, link.type) for link in links}
        trees = [link for link in links if link.kind == "hierarchical"]
        below = {link.target for link in trees}
        if len(places) < len(links) or len(below) < len(trees):
            return False
        if not below.isdisjoint(link.source for link in trees):
            return False
        if below and self._rows(IN_TREES, aliases=[aliases[id] for id in below]):
            return False
        sources, targets = [place[0] for place in places], [place[1] for place in places]
        return places.isdisjoint(self._rows(PLACES, sources=sources, targets=targets))

    def _insert_links(self, links: Sequence[Link], ends: Mapping[str, int]) -> list[Link]:
        aliases = self._numbers.next("links", len(links))
        rows = [
            (alias, link.id, ends[link.source], ends[link.target], *columns.link_values_of(link))
            for alias, link in zip(aliases, links, strict=True)
        ]
        sql.insert(LINK, self._tenant, rows, self._source)
        self._record("link", [(self._namespace_of(link), link.id, None, {}) for link in links])
        below = [ends[link.target] for link in links if link.kind == "hierarchical"]
        if below:
            self._rows(HANG, aliases=below)
        return [
            columns.link_of((row[0], row[1], link.source, link.target, *row[4:]))
            for row, link in zip(rows, links, strict=True)
        ]

    def _put_link(self, link: Link, ends: Mapping[str, int]) -> Link:
        """One that may depend on others: it exists, or what it hangs elsewhere has a place in a tree."""
        place = {"source": ends[link.source], "target": ends[link.target], "type": link.type}
        if link.kind == "hierarchical" and link.active:
            self._refuse_no_tree(link, place)
        existing = self._rows(FIND_LINK, **place, kind=link.kind)
        if existing:
            stored = self._change_link(columns.link_of(existing[0]), link)
        else:
            [stored] = self._insert_links([link], ends)
        if link.kind == "hierarchical":
            self._rows(DEEPEN, child=place["target"])
        return stored

    def _change_link(self, old: Link, new: Link) -> Link:
        stored = replace(new, id=old.id, alias=old.alias, created_at=old.created_at)
        before, after = difference(columns.link_columns_of(old), columns.link_columns_of(stored))
        if after:
            self._update("link", old.alias, after)
            self._record("link", [(self._namespace_of(old), old.id, admit(before), after)])
        return stored

    def _refuse_no_tree(self, link: Link, place: Parameters) -> None:
        """A memory has one parent, and never below itself: not even through what this writer cannot see."""
        if self._rows(OTHER_PARENT, **place):
            raise Invalid(f"memory {link.target} already has a parent; a memory has at most one")
        if self._rows(IS_ABOVE, **place):
            raise Invalid(f"{link.target} is above {link.source}; it cannot also be below it")

    def put_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        halves = {id: half_of(vector) for id, vector in vectors.items()}
        for id, alias in (self._aliases(vectors) if vectors else {}).items():
            self._source(KEEP_VECTOR, (model, halves[id], self._tenant, alias))

    def put_suggestions(self, suggestions: Iterable[Suggestion], expire_before: float | None = None) -> int:
        for suggestion in map(admit, suggestions):
            source, target = sorted((suggestion.source, suggestion.target))
            if len(sql.usable((source, target))) < 2:
                continue
            self._rows(
                PUT_SUGGESTION,
                id=suggestion.id,
                source=source,
                target=target,
                score=float(suggestion.score),
                signals=json.dumps(dict(suggestion.signals), sort_keys=True),
                type=suggestion.type,
                status=suggestion.status,
                created_at=float(suggestion.created_at),
                updated_at=float(suggestion.updated_at),
            )
        return (
            0 if expire_before is None else len(self._rows(EXPIRE_SUGGESTIONS, before=float(expire_before)))
        )

    def put_tombstones(self, ids: Iterable[str]) -> None:
        self._record("memory", [(self.namespace, id, {}, None) for id in ids])

    def put_records(self, records: Iterable[Record], removed: Iterable[Record] = ()) -> None:
        for record in records:
            if isinstance(record, Bookmark):
                record = replace(record, state=admit(record.state))
            else:
                record = admit(record)
            table = RECORDS[type(record)]
            names = ", ".join(f'"{name}"' for name in ("tenant", "namespace", *table.columns))
            keys = ", ".join(f'"{name}"' for name in ("tenant", "namespace", *table.keys))
            sets = ", ".join(f'"{name}" = excluded."{name}"' for name in table.columns)
            values = [self._tenant, self.namespace, *table.row(record)]
            self._source(
                f"INSERT INTO {table.name} ({names}) VALUES ({', '.join(['%s'] * len(values))})"
                f" ON CONFLICT ({keys}) DO UPDATE SET {sets}",
                values,
            )
        for record in removed:
            key = key_of(record)
            equal = "".join(f' AND "{name}" = %({name})s' for name in key)
            self._rows(
                f"DELETE FROM {RECORDS[type(record)].name} WHERE tenant = %(tenant)s"
                f" AND namespace = %(namespace)s{equal}",
                namespace=self.namespace,
                **key,
            )

    def expire(self) -> None:
        """The transaction is over; whoever still holds this writer must not write outside of one."""
        self._source = _expired

    def _record(self, noun: str, changes: Sequence[Change]) -> None:
        """One journal entry for each change."""
        numbers = self._numbers.next("entries", len(changes))
        entries = [
            (*self._origin, noun, seq, namespace, id, columns_json(before), columns_json(after))
            for seq, (namespace, id, before, after) in zip(numbers, changes, strict=True)
        ]
        sql.insert(JOURNAL, self._tenant, entries, self._source)
        self._changed |= {namespace for namespace, *_ in changes}


def half_of(vector: Vector) -> HalfVector:
    """A vector as it is stored: 16 bits for each number. Invalid if it is no direction."""
    return HalfVector(unit(vector))


def _indexed(memory: Memory) -> text_index.Texts:
    return {name: getattr(memory, name) for name in text_index.FIELDS}


def _expired(statement: str, parameters: Parameters | Sequence[Any]) -> list[Row]:
    raise Unavailable("this transaction is over; begin another one")
