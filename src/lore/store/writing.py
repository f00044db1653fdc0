"""Writing: one transaction of one writer, with a journal entry for all that changes."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any, cast

import numpy as np

from lore.admit import admit
from lore.errors import Invalid, NotFound, Unavailable
from lore.model import SHARED, Cause, Link, Memory, new_id
from lore.store import about, bookmarking, bulk, full_text, grams, sql, suggesting
from lore.store.base import Bookmark, Suggestion, Writer
from lore.store.bulk import Table
from lore.store.index.codes import code_of
from lore.store.meaning import Meaning
from lore.store.reading import SqlReader
from lore.vectors import Vector, packed

MEMORY = Table("memory", ("id", "depth", *sql.KNOWLEDGE), returning=("id", "alias"))
TRACE = Table("trace", ("memory", *sql.USE))
LINK = Table("link", ("id", "source", "target", *sql.LINK), returning=("id", "alias"))
JOURNAL = Table(
    "journal", ("at", "batch", "verb", "surface", "actor", "reason", "noun", "id", "before", "after")
)

TAKEN = f"SELECT id FROM memory WHERE id IN ({sql.IDS}) LIMIT 1"
PLACES = """
    SELECT source, target, kind, type FROM link
        WHERE (source, target) IN (SELECT value ->> 0, value ->> 1 FROM json_each(:pairs))
"""
IN_TREES = """
    SELECT 1 FROM json_each(:aliases) j CROSS JOIN link l ON l.target = j.value
        WHERE l.kind = 'hierarchical' AND l.active = 1
    UNION ALL
    SELECT 1 FROM json_each(:aliases) j CROSS JOIN link l ON l.source = j.value
        WHERE l.kind = 'hierarchical' AND l.active = 1
    LIMIT 1
"""
"""Whether any of these has a parent or children."""
HANG = """
    UPDATE memory SET depth = p.depth + 1
        FROM json_each(:aliases) j CROSS JOIN link l ON l.target = j.value
            CROSS JOIN memory p ON p.alias = l.source
        WHERE memory.alias = j.value AND l.kind = 'hierarchical' AND l.active = 1
"""
"""DEEPEN for leaves."""
FIND_LINK = f"{sql.LINK_ROWS} WHERE (l.source, l.target, l.kind, l.type) = (:source, :target, :kind, :type)"
KEEP_CODE = "UPDATE embedding SET model = :model, seq = :seq, code = :code WHERE memory = :memory"
KEEP_VECTOR = "INSERT OR REPLACE INTO vector (memory, model, data) VALUES (:memory, :model, :data)"
NEXT_SEQ = "SELECT coalesce(max(seq), 0) + 1 FROM embedding"
DEEPEN = """
    WITH RECURSIVE below (node, depth) AS (
        SELECT :child, coalesce((
            SELECT p.depth + 1 FROM link l JOIN memory p ON p.alias = l.source
                WHERE l.target = :child AND l.kind = 'hierarchical' AND l.active = 1
        ), 0)
        UNION
        SELECT l.target, below.depth + 1 FROM below CROSS JOIN link l ON l.source = below.node
            WHERE l.kind = 'hierarchical' AND l.active = 1
    )
    UPDATE memory SET depth = below.depth FROM below WHERE alias = below.node AND memory.depth != below.depth
"""
IS_ABOVE = """
    WITH RECURSIVE up (node) AS (
        SELECT :source
        UNION
        SELECT l.source FROM up CROSS JOIN link l ON l.target = up.node
            WHERE l.kind = 'hierarchical' AND l.active = 1
    ) SELECT 1 FROM up WHERE node = :target
"""


_texts = attrgetter(*sql.TEXTS)

Change = tuple[str, sql.Parameters | None, sql.Parameters | None]
"""The id of what changed, and its fields before and after."""


class SqlWriter(SqlReader, Writer):
    """Lives as long as its transaction."""

    def __init__(self, rows: sql.Rows, namespace: str, meaning: Meaning, cause: Cause, now: float) -> None:
        super().__init__(rows, namespace, meaning)
        self._now = now
        actor, reason = admit(cause.actor), admit(cause.reason)
        self._origin = (now, new_id(now), cause.verb, cause.surface, actor, reason)

    def put(self, memories: Iterable[Memory]) -> list[Memory]:
        wanted = [admitted(memory) for memory in memories]
        for memory in wanted:
            if memory.namespace not in (self._namespace, SHARED):
                raise NotFound(f"namespace {memory.namespace} is out of sight of {self._namespace}")
        known = self.get([memory.id for memory in wanted], forgotten=True)
        fresh = [memory for memory in wanted if memory.id not in known]
        stored = self._insert(fresh) if fresh else {}
        for memory in wanted:
            if memory.id in known:
                self._change(known[memory.id], memory)
        stored |= self.get(known, forgotten=True)
        return [stored[memory.id] for memory in wanted]

    def _insert(self, memories: Sequence[Memory]) -> dict[str, Memory]:
        """As they are stored. Their ids must be new, also to namespaces out of sight."""
        rows = {memory.id: sql.values_of(memory) for memory in memories}
        if len(rows) < len(memories) or not all(map(str.isascii, rows)):
            raise Invalid(f"every new memory needs an id of its own, in ASCII: {', '.join(map(repr, rows))}")
        if taken := self._source(TAKEN, {"ids": sql.listed_ids(rows)}):
            raise NotFound(f"memory {taken[0][0]} is not in namespace {self._namespace}")
        known = len(sql.KNOWLEDGE)
        given = [(id, 0, *values[:known]) for id, values in rows.items()]
        aliases: dict[str, int] = dict(bulk.insert(MEMORY, given, self._source))
        traces = [(aliases[id], *values[known:]) for id, values in rows.items()]
        bulk.insert(TRACE, traces, self._source)
        about.put(memories, aliases, self._source)
        grams.put(memories, aliases, self._source)
        self._note("memory", [(id, None, {}) for id in rows])
        return {id: sql.memory_of((aliases[id], id, 0, *values)) for id, values in rows.items()}

    def _change(self, old: Memory, new: Memory) -> None:
        before, after = _difference(sql.columns_of(old), sql.columns_of(new))
        if after:
            before = sql.admitted(before)
            changes = ", ".join(f"{name} = :{name}" for name in after)
            self._source(f"UPDATE memory SET {changes} WHERE alias = :alias", {"alias": old.alias, **after})
            self._note("memory", [(old.id, before, after)])
            if "title" in after or "content" in after:
                about.change(replace(new, alias=old.alias), self._source)
            if not after.keys().isdisjoint(grams.FIELDS):
                grams.change(replace(new, alias=old.alias), self._source)

    def put_full_texts(self, texts: Mapping[str, str]) -> None:
        full_text.put(admit(texts), self._aliases(texts), self._source)

    def put_links(self, links: Iterable[Link]) -> list[Link]:
        wanted = [admitted_link(link) for link in links]
        if not wanted:
            return []
        aliases = self._aliases({end for link in wanted for end in (link.source, link.target)})
        for link in wanted:
            for end in (link.source, link.target):
                if end not in aliases:
                    raise NotFound(f"unknown memory {end}")
        if self._independent(wanted, aliases):
            return self._insert_links(wanted, aliases)
        return [self._put_link(link, aliases) for link in wanted]

    def _aliases(self, ids: Iterable[str]) -> dict[str, int]:
        """Of those in sight, forgotten ones included."""
        found = self._rows(
            f"SELECT m.id, m.alias FROM memory m WHERE m.id IN ({sql.IDS}) AND {self._sight()}",
            ids=sql.listed_ids(ids),
        )
        return dict(cast(list[tuple[str, int]], found))

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
        rows = [(link.id, link.source, link.target, *sql.link_values_of(link)) for link in links]
        given = [(id, ends[source], ends[target], *values) for id, source, target, *values in rows]
        aliases: dict[str, int] = dict(bulk.insert(LINK, given, self._source))
        self._note("link", [(link.id, None, {}) for link in links])
        below = [ends[link.target] for link in links if link.kind == "hierarchical"]
        if below:
            self._source(HANG, {"aliases": json.dumps(below)})
        return [sql.link_of((aliases[row[0]], *row)) for row in rows]

    def _put_link(self, link: Link, ends: Mapping[str, int]) -> Link:
        """One that may depend on others: it exists, or what it hangs elsewhere has a place in a tree."""
        aliases = {"source": ends[link.source], "target": ends[link.target]}
        self._refuse_no_tree(link, aliases)
        existing = self._source(FIND_LINK, aliases | {"kind": link.kind, "type": link.type})
        if existing:
            stored = self._change_link(sql.link_of(existing[0]), link)
        else:
            values = sql.link_values_of(link)
            ((_, alias),) = bulk.insert(LINK, [(link.id, *aliases.values(), *values)], self._source)
            stored = replace(link, alias=alias)
            self._note("link", [(link.id, None, {})])
        if link.kind == "hierarchical":
            self._source(DEEPEN, {"child": aliases["target"]})
        return stored

    def _change_link(self, old: Link, new: Link) -> Link:
        stored = replace(new, id=old.id, alias=old.alias, created_at=old.created_at)
        before, after = _difference(sql.link_columns_of(old), sql.link_columns_of(stored))
        if after:
            changes = ", ".join(f"{name} = :{name}" for name in after)
            self._source(f"UPDATE link SET {changes} WHERE alias = :alias", {"alias": old.alias, **after})
            self._note("link", [(old.id, admit(before), after)])
        return stored

    def _refuse_no_tree(self, link: Link, aliases: Mapping[str, int]) -> None:
        """A memory has one parent, and never below itself: not even through what this writer cannot see."""
        if link.kind == "hierarchical" and link.active:
            others = self._source(
                "SELECT 1 FROM link WHERE target = :target AND (source, type) != (:source, :type)"
                " AND kind = 'hierarchical' AND active = 1",
                {**aliases, "type": link.type},
            )
            if others:
                raise Invalid(f"memory {link.target} already has a parent; a memory has at most one")
            if self._source(IS_ABOVE, dict(aliases)):
                raise Invalid(f"{link.target} is above {link.source}; it cannot also be below it")

    def put_vectors(self, model: str, vectors: Mapping[str, Vector]) -> None:
        known = self.get(vectors, forgotten=True)
        if not known:
            return
        keep_vectors(self._source, model, {known[id].alias: vectors[id] for id in known})

    def expire(self) -> None:
        """The transaction is over; whoever still holds this writer must not write outside of one."""
        self._source = _expired

    def put_suggestions(self, suggestions: Iterable[Suggestion]) -> None:
        suggesting.put(map(admit, suggestions), self._source)

    def expire_suggestions(self, before: float) -> int:
        return len(self._source(suggesting.EXPIRE, {"before": before}))

    def put_bookmark(self, bookmark: Bookmark) -> None:
        self._rows(bookmarking.PUT, **bookmarking.columns_of(replace(bookmark, state=admit(bookmark.state))))

    def note(self, name: str, value: Mapping[str, Any] | None) -> None:
        if value is None:
            self._rows("DELETE FROM noted WHERE namespace = :namespace AND name = :name", name=name)
            return
        self._rows(
            "INSERT INTO noted (namespace, name, value) VALUES (:namespace, :name, :value)"
            " ON CONFLICT (namespace, name) DO UPDATE SET value = excluded.value",
            name=name,
            value=json.dumps(dict(admit(value)), sort_keys=True),
        )

    def _note(self, noun: str, changes: Iterable[Change]) -> None:
        """One entry for each."""
        entries = [(*self._origin, noun, id, _json(before), _json(after)) for id, before, after in changes]
        bulk.insert(JOURNAL, entries, self._source)


def admitted(memory: Memory) -> Memory:
    """The memory without secrets."""
    texts = _texts(memory)
    clean = admit(texts)
    return memory if clean is texts else replace(memory, **dict(zip(sql.TEXTS, clean, strict=True)))


def admitted_link(link: Link) -> Link:
    """The link without secrets."""
    type, reason = admit(link.type), admit(link.reason)
    same = type is link.type and reason is link.reason
    return link if same else replace(link, type=type, reason=reason)


def keep_vectors(rows: sql.Rows, model: str, vectors: Mapping[int, Vector]) -> None:
    """Store vectors by alias, each with the next number of the sequence that feeds the indexes."""
    ((seq,),) = rows(NEXT_SEQ, {})
    for offset, (alias, vector) in enumerate(vectors.items()):
        data = packed(vector)
        code = code_of(vector[np.newaxis])[0].tobytes()
        rows(KEEP_CODE, {"memory": alias, "model": model, "seq": seq + offset, "code": code})
        rows(KEEP_VECTOR, {"memory": alias, "model": model, "data": data})


def _expired(statement: str, parameters: sql.Parameters | Sequence[Any]) -> list[sql.Row]:
    raise Unavailable("this transaction is over; begin another one")


def _difference(old: sql.Parameters, new: sql.Parameters) -> tuple[sql.Parameters, sql.Parameters]:
    changed = [name for name in new if new[name] != old[name]]
    return {name: old[name] for name in changed}, {name: new[name] for name in changed}


def _json(fields: sql.Parameters | None) -> str | None:
    if not fields:
        return None if fields is None else "{}"
    return json.dumps(fields, ensure_ascii=False)
