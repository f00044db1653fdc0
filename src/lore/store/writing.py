"""Writing: one transaction of one writer, with a journal entry for all that changes."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from lore.errors import Invalid, NotFound, Unavailable
from lore.model import SHARED, Cause, Link, Memory, new_id
from lore.store import bookmarking, sql, suggesting
from lore.store.base import Bookmark, Suggestion, Writer
from lore.store.index.codes import code_of
from lore.store.meaning import Meaning
from lore.store.reading import SqlReader
from lore.vectors import Vector, packed

INSERT_MEMORY = (
    f"INSERT INTO memory (id, depth, {', '.join(sql.KNOWLEDGE)})"
    f" VALUES (:id, 0, {', '.join(':' + name for name in sql.KNOWLEDGE)}) RETURNING alias"
)
INSERT_TRACE = (
    f"INSERT INTO trace (memory, {', '.join(sql.USE)})"
    f" VALUES (:memory, {', '.join(':' + name for name in sql.USE)})"
)
INSERT_LINK = (
    f"INSERT INTO link (id, source, target, {', '.join(sql.LINK)})"
    f" VALUES (:id, :source, :target, {', '.join(':' + name for name in sql.LINK)}) RETURNING alias"
)
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
JOURNAL = """
    INSERT INTO journal (at, batch, verb, surface, actor, reason, noun, id, before, after)
        VALUES (:at, :batch, :verb, :surface, :actor, :reason, :noun, :id, :before, :after)
"""


class SqlWriter(SqlReader, Writer):
    """Lives as long as its transaction."""

    def __init__(self, rows: sql.Rows, namespace: str, meaning: Meaning, cause: Cause, now: float) -> None:
        super().__init__(rows, namespace, meaning)
        self._now = now
        self._origin = {
            "at": now,
            "batch": new_id(now),
            "verb": cause.verb,
            "surface": cause.surface,
            "actor": cause.actor,
            "reason": cause.reason,
        }

    def put(self, memories: Iterable[Memory]) -> list[Memory]:
        wanted = list(memories)
        for memory in wanted:
            if memory.namespace not in (self._namespace, SHARED):
                raise NotFound(f"namespace {memory.namespace} is out of sight of {self._namespace}")
        known = self.get([memory.id for memory in wanted], forgotten=True)
        for memory in wanted:
            if memory.id in known:
                self._change(known[memory.id], memory)
            else:
                self._insert(memory)
        stored = self.get([memory.id for memory in wanted], forgotten=True)
        return [stored[memory.id] for memory in wanted]

    def _insert(self, memory: Memory) -> None:
        if self._source("SELECT 1 FROM memory WHERE id = :id", {"id": memory.id}):
            raise NotFound(f"memory {memory.id} is not in namespace {self._namespace}")
        ((alias,),) = self._source(INSERT_MEMORY, {"id": memory.id, **sql.columns_of(memory)})
        self._source(INSERT_TRACE, {"memory": alias, **sql.use_of(memory)})
        self._note("memory", memory.id, None, {})

    def _change(self, old: Memory, new: Memory) -> None:
        before, after = _difference(sql.columns_of(old), sql.columns_of(new))
        if after:
            changes = ", ".join(f"{name} = :{name}" for name in after)
            self._source(f"UPDATE memory SET {changes} WHERE alias = :alias", {"alias": old.alias, **after})
            self._note("memory", old.id, before, after)

    def put_links(self, links: Iterable[Link]) -> list[Link]:
        wanted = list(links)
        ends = self.get({end for link in wanted for end in (link.source, link.target)}, forgotten=True)
        return [self._put_link(link, ends) for link in wanted]

    def _put_link(self, link: Link, ends: Mapping[str, Memory]) -> Link:
        for end in (link.source, link.target):
            if end not in ends:
                raise NotFound(f"unknown memory {end}")
        aliases = {"source": ends[link.source].alias, "target": ends[link.target].alias}
        place = aliases | {"kind": link.kind, "type": link.type}
        self._refuse_no_tree(link, aliases)
        existing = self._source(FIND_LINK, place)
        if existing:
            stored = self._change_link(sql.link_of(existing[0]), link)
        else:
            ((alias,),) = self._source(INSERT_LINK, {"id": link.id, **aliases, **sql.link_columns_of(link)})
            stored = replace(link, alias=alias)
            self._note("link", link.id, None, {})
        if link.kind == "hierarchical":
            self._source(DEEPEN, {"child": aliases["target"]})
        return stored

    def _change_link(self, old: Link, new: Link) -> Link:
        stored = replace(new, id=old.id, alias=old.alias, created_at=old.created_at)
        before, after = _difference(sql.link_columns_of(old), sql.link_columns_of(stored))
        if after:
            changes = ", ".join(f"{name} = :{name}" for name in after)
            self._source(f"UPDATE link SET {changes} WHERE alias = :alias", {"alias": old.alias, **after})
            self._note("link", old.id, before, after)
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
        suggesting.put(suggestions, self._source)

    def expire_suggestions(self, before: float) -> int:
        return len(self._source(suggesting.EXPIRE, {"before": before}))

    def put_bookmark(self, bookmark: Bookmark) -> None:
        self._rows(bookmarking.PUT, **bookmarking.columns_of(bookmark))

    def _note(self, noun: str, id: str, before: Any, after: Any) -> None:
        entry = {"noun": noun, "id": id, "before": _json(before), "after": _json(after)}
        self._source(JOURNAL, self._origin | entry)


def keep_vectors(rows: sql.Rows, model: str, vectors: Mapping[int, Vector]) -> None:
    """Store vectors by alias, each with the next number of the sequence that feeds the indexes."""
    ((seq,),) = rows(NEXT_SEQ, {})
    for offset, (alias, vector) in enumerate(vectors.items()):
        data = packed(vector)
        code = code_of(vector[np.newaxis])[0].tobytes()
        rows(KEEP_CODE, {"memory": alias, "model": model, "seq": seq + offset, "code": code})
        rows(KEEP_VECTOR, {"memory": alias, "model": model, "data": data})


def _expired(statement: str, parameters: sql.Parameters) -> list[sql.Row]:
    raise Unavailable("this transaction is over; begin another one")


def _difference(old: sql.Parameters, new: sql.Parameters) -> tuple[sql.Parameters, sql.Parameters]:
    changed = [name for name in new if new[name] != old[name]]
    return {name: old[name] for name in changed}, {name: new[name] for name in changed}


def _json(fields: Any) -> str | None:
    return None if fields is None else json.dumps(fields, ensure_ascii=False)
