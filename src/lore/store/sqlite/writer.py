"""Writer: one transaction of one writer, with a journal entry for all that changes.

The writer also keeps all derived rows in step: text indexes, names, depths, embeddings (see `text_index`).
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lore.admit import admit
from lore.errors import Invalid, NotFound, Unavailable
from lore.lineage import signed
from lore.model import SHARED, Cause, Link, Memory, new_id
from lore.store import Writer, columns
from lore.store.columns import RECORDS, Parameters, Row, Rows
from lore.store.records import Bookmark, Record, key_of
from lore.store.rows import columns_json, difference
from lore.store.sqlite import sql, text_index
from lore.store.sqlite.reader import SqliteReader
from lore.store.sqlite.sql import TREE, Table
from lore.store.values import Suggestion
from lore.vectors import Vector, packed

MEMORY = Table("memory", ("tenant", "id", "depth", *columns.KNOWLEDGE), returning=("id", "alias"))
USAGE = Table("usage", ("memory", *columns.USE))
LINK = Table("link", ("tenant", "id", "source", "target", *columns.LINK), returning=("id", "alias"))
JOURNAL = Table(
    "journal",
    (
        "tenant", "at", "batch", "verb", "surface", "actor", "reason", "noun", "namespace", "id", "before",
        "after",
    ),
)  # fmt: skip

TAKEN = f"SELECT id FROM memory WHERE tenant = :tenant AND id IN ({sql.IDS}) LIMIT 1"
ENDS = f"SELECT m.id, m.alias, m.namespace FROM memory m WHERE m.id IN ({sql.IDS}) AND {sql.sight_by_id('m')}"
PLACES = """
    SELECT source, target, kind, type FROM link
        WHERE (source, target) IN (SELECT value ->> 0, value ->> 1 FROM json_each(:pairs))
"""
IN_TREES = f"""
    SELECT 1 FROM json_each(:aliases) j CROSS JOIN link l ON l.target = j.value WHERE {TREE}
    UNION ALL
    SELECT 1 FROM json_each(:aliases) j CROSS JOIN link l ON l.source = j.value WHERE {TREE}
    LIMIT 1
"""
"""Whether any of these has a parent or children."""
HANG = f"""
    UPDATE memory SET depth = p.depth + 1
        FROM json_each(:aliases) j CROSS JOIN link l ON l.target = j.value
            CROSS JOIN memory p ON p.alias = l.source
        WHERE memory.alias = j.value AND {TREE}
"""
"""DEEPEN for leaves."""
FIND_LINK = f"{sql.LINK_ROWS} WHERE (l.source, l.target, l.kind, l.type) = (:source, :target, :kind, :type)"
OTHER_PARENT = f"""
    SELECT 1 FROM link l WHERE l.target = :target AND (l.source, l.type) != (:source, :type) AND {TREE}
"""
DEEPEN = f"""
    WITH RECURSIVE below (node, depth) AS (
        SELECT :child, coalesce((
            SELECT p.depth + 1 FROM link l JOIN memory p ON p.alias = l.source
                WHERE l.target = :child AND {TREE}
        ), 0)
        UNION
        SELECT l.target, below.depth + 1 FROM below CROSS JOIN link l ON l.source = below.node WHERE {TREE}
    )
    UPDATE memory SET depth = below.depth FROM below WHERE alias = below.node AND memory.depth != below.depth
"""
IS_ABOVE = f"""
    WITH RECURSIVE up (node) AS (
        SELECT :source
        UNION
        SELECT l.source FROM up CROSS JOIN link l ON l.target = up.node WHERE {TREE}
    ) SELECT 1 FROM up WHERE node = :target
"""
VECTOR = Table("short_vector", ("memory", "model", "data"), replacing=True)
KEEP_STATE = """
    UPDATE embedding SET model = :model, seq = :first + j.key FROM json_each(:aliases) j
        WHERE embedding.memory = j.value
"""
NEXT_SEQS = """
    INSERT INTO vector_feed (tenant, seq) VALUES (:tenant, :count)
        ON CONFLICT (tenant) DO UPDATE SET seq = seq + excluded.seq RETURNING seq - :count + 1
"""
PUT_SUGGESTION = """
    INSERT INTO suggestion (tenant, id, source, target, score, signals, type, status, created_at, updated_at)
        SELECT :tenant, :id, s.alias, e.alias, :score, :signals, :type, :status, :created_at, :updated_at
        FROM memory s, memory e
        WHERE s.tenant = :tenant AND s.id = :source AND e.tenant = :tenant AND e.id = :target
    ON CONFLICT (source, target) DO UPDATE SET score = excluded.score, signals = excluded.signals,
        type = excluded.type, status = excluded.status, updated_at = excluded.updated_at
"""
EXPIRE_SUGGESTIONS = """
    DELETE FROM suggestion WHERE tenant = :tenant AND status = 'pending' AND updated_at < :before RETURNING id
"""


Change = tuple[str, str, Parameters | None, Parameters | None]
"""The namespace and id of what changed, and its fields before and after."""


class SqliteWriter(SqliteReader, Writer):
    """Lives as long as its transaction."""

    _origin: tuple[Any, ...] = ()
    _namespace_of_end: Mapping[str, str] = {}
    """Of each end of the links that are being put."""

    def begin(self, cause: Cause, now: float) -> None:
        """Set the origin of all journal entries: a batch of its own."""
        self.cause, self.now = cause, now
        actor, reason = admit(cause.actor), admit(cause.reason)
        self._origin = (self._tenant, now, new_id(now), cause.verb, cause.surface, actor, reason)

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
            text_index.put_full_texts(admit(full_texts), self._aliases(full_texts), self._source)
        return [stored[memory.id] for memory in wanted]

    def _insert(self, memories: Sequence[Memory]) -> dict[str, Memory]:
        """The memories as stored. Their ids must be new, also to namespaces out of sight."""
        rows = {memory.id: columns.values_of(memory) for memory in memories}
        if len(rows) < len(memories) or not all(map(str.isascii, rows)):
            raise Invalid(f"every new memory needs an id of its own, in ASCII: {', '.join(map(repr, rows))}")
        if taken := self._rows(TAKEN, ids=sql.listed_ids(rows)):
            raise NotFound(f"memory {taken[0][0]} is not in namespace {self.namespace}")
        split = len(columns.KNOWLEDGE)
        inserted = [(self._tenant, id, 0, *values[:split]) for id, values in rows.items()]
        aliases: dict[str, int] = dict(sql.insert(MEMORY, inserted, self._source))
        sql.insert(USAGE, [(aliases[id], *values[split:]) for id, values in rows.items()], self._source)
        text_index.add(self._tenant, {aliases[one.id]: _indexed(one) for one in memories}, self._source)
        waiting = [(aliases[one.id], one.namespace, one.kind) for one in memories]
        text_index.add_embeddings(self._tenant, waiting, self._source)
        self._record("memory", [(one.namespace, one.id, None, {}) for one in memories])
        return {id: columns.memory_of((aliases[id], id, 0, *values)) for id, values in rows.items()}

    def _change(self, old: Memory, new: Memory) -> None:
        before, after = difference(columns.columns_of(old), columns.columns_of(new))
        if not after:
            return
        changes = ", ".join(f"{name} = :{name}" for name in after)
        self._source(f"UPDATE memory SET {changes} WHERE alias = :alias", {"alias": old.alias, **after})
        self._record("memory", [(new.namespace, old.id, columns.admitted(before), after)])
        if not after.keys().isdisjoint(text_index.FIELDS):
            text_index.change(self._tenant, old.alias, _indexed(old), _indexed(new), self._source)
        if "namespace" in after:
            moved = "UPDATE embedding SET namespace = :namespace WHERE memory = :alias"
            self._source(moved, {"alias": old.alias, "namespace": new.namespace})

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
        rows = self._rows(ENDS, ids=sql.listed_ids(ids))
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
        if below and self._source(IN_TREES, {"aliases": json.dumps([aliases[id] for id in below])}):
            return False
        pairs = json.dumps([place[:2] for place in places])
        return places.isdisjoint(self._source(PLACES, {"pairs": pairs}))

    def _insert_links(self, links: Sequence[Link], ends: Mapping[str, int]) -> list[Link]:
        rows = [(link.id, link.source, link.target, *columns.link_values_of(link)) for link in links]
        inserted = [
            (self._tenant, id, ends[source], ends[target], *values) for id, source, target, *values in rows
        ]
        aliases: dict[str, int] = dict(sql.insert(LINK, inserted, self._source))
        self._record("link", [(self._namespace_of(link), link.id, None, {}) for link in links])
        below = [ends[link.target] for link in links if link.kind == "hierarchical"]
        if below:
            self._source(HANG, {"aliases": json.dumps(below)})
        return [columns.link_of((aliases[row[0]], *row)) for row in rows]

    def _put_link(self, link: Link, ends: Mapping[str, int]) -> Link:
        """One that may depend on others: it exists, or what it hangs elsewhere has a place in a tree."""
        aliases = {"source": ends[link.source], "target": ends[link.target]}
        self._refuse_no_tree(link, aliases)
        existing = self._source(FIND_LINK, aliases | {"kind": link.kind, "type": link.type})
        if existing:
            stored = self._change_link(columns.link_of(existing[0]), link)
        else:
            row = (self._tenant, link.id, *aliases.values(), *columns.link_values_of(link))
            ((_, alias),) = sql.insert(LINK, [row], self._source)
            stored = replace(link, alias=alias)
            self._record("link", [(self._namespace_of(link), link.id, None, {})])
        if link.kind == "hierarchical":
            self._source(DEEPEN, {"child": aliases["target"]})
        return stored

    def _change_link(self, old: Link, new: Link) -> Link:
        stored = replace(new, id=old.id, alias=old.alias, created_at=old.created_at)
        before, after = difference(columns.link_columns_of(old), columns.link_columns_of(stored))
        if after:
            changes = ", ".join(f"{name} = :{name}" for name in after)
            self._source(f"UPDATE link SET {changes} WHERE alias = :alias", {"alias": old.alias, **after})
            self._record("link", [(self._namespace_of(old), old.id, admit(before), after)])
        return stored

    def _refuse_no_tree(self, link: Link, aliases: Mapping[str, int]) -> None:
        """A memory has one parent, and never below itself: not even through what this writer cannot see."""
        if link.kind == "hierarchical" and link.active:
            if self._source(OTHER_PARENT, {**aliases, "type": link.type}):
                raise Invalid(f"memory {link.target} already has a parent; a memory has at most one")
            if self._source(IS_ABOVE, dict(aliases)):
                raise Invalid(f"{link.target} is above {link.source}; it cannot also be below it")

    def put_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        aliases = self._aliases(vectors) if vectors else {}
        if aliases:
            by_alias = {alias: vectors[id] for id, alias in aliases.items()}
            keep_vectors(self._source, self._tenant, model, by_alias)

    def put_suggestions(self, suggestions: Iterable[Suggestion], expire_before: float | None = None) -> int:
        for suggestion in map(admit, suggestions):
            source, target = sorted((suggestion.source, suggestion.target))
            self._rows(
                PUT_SUGGESTION,
                id=suggestion.id,
                source=source,
                target=target,
                score=suggestion.score,
                signals=json.dumps(dict(suggestion.signals), sort_keys=True),
                type=suggestion.type,
                status=suggestion.status,
                created_at=suggestion.created_at,
                updated_at=suggestion.updated_at,
            )
        return 0 if expire_before is None else len(self._rows(EXPIRE_SUGGESTIONS, before=expire_before))

    def put_tombstones(self, ids: Iterable[str]) -> None:
        self._record("memory", [(self.namespace, id, {}, None) for id in ids])

    def put_records(self, records: Iterable[Record], removed: Iterable[Record] = ()) -> None:
        for record in records:
            if isinstance(record, Bookmark):
                record = replace(record, state=admit(record.state))
            else:
                record = admit(record)
            table = RECORDS[type(record)]
            names = ("tenant", "namespace", *table.columns)
            self._source(
                f"INSERT OR REPLACE INTO {table.name} ({', '.join(names)})"
                f" VALUES ({', '.join('?' * len(names))})",
                (self._tenant, self.namespace, *table.row(record)),
            )
        for record in removed:
            key = key_of(record)
            equal = "".join(f" AND {name} = :{name}" for name in key)
            self._rows(
                f"DELETE FROM {RECORDS[type(record)].name} WHERE tenant = :tenant"
                f" AND namespace = :namespace{equal}",
                **key,
            )

    def expire(self) -> None:
        """The transaction is over; whoever still holds this writer must not write outside of one."""
        self._source = _expired

    def _record(self, noun: str, changes: Iterable[Change]) -> None:
        """One journal entry for each change."""
        entries = [
            (*self._origin, noun, namespace, id, columns_json(before), columns_json(after))
            for namespace, id, before, after in changes
        ]
        sql.insert(JOURNAL, entries, self._source)


def keep_vectors(rows: Rows, tenant: int, model: str, vectors: Mapping[int, Vector]) -> None:
    """Store vectors by alias, each with the next number of the feed that vector indexes follow."""
    stored = [(alias, model, packed(vector)) for alias, vector in vectors.items()]
    if stored:
        ((first,),) = rows(NEXT_SEQS, {"tenant": tenant, "count": len(stored)})
        sql.insert(VECTOR, stored, rows)
        rows(KEEP_STATE, {"model": model, "first": first, "aliases": json.dumps(list(vectors))})


def _indexed(memory: Memory) -> text_index.Texts:
    return {name: getattr(memory, name) for name in text_index.FIELDS}


def _expired(statement: str, parameters: Parameters | Sequence[Any]) -> list[Row]:
    raise Unavailable("this transaction is over; begin another one")
