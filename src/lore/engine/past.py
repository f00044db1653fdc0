"""past: a reader that finds and shows memories as they were at a time, from the journal of their changes."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

from lore.engine.embeddings import Embeddings
from lore.model import Filter, Memory
from lore.names import forms, stems
from lore.store import Reader
from lore.store.columns import with_columns
from lore.store.values import EVERY, JournalFilter, Listing, Neighbours, Page, TextMatches
from lore.vectors import Vector

MOST_REWRITTEN = 1_000
"""Memories changed since whose earlier texts are looked at, the newest first."""
MOST_EMBEDDED = 100
"""Earlier texts that share a word with the question and are compared by meaning: about 10 ms each."""
CROWD = 3
"""How many more candidates are taken: some of them were not current then."""


def reader_at(at: float, reader: Reader, embeddings: Embeddings) -> Reader:
    """The memories that were stored, and neither forgotten nor replaced, at a time, as they were then."""
    return cast(Reader, _PastReader(at, reader, embeddings))


def created_until(at: float, where: Filter) -> Filter:
    """The filter for memories of all states; `at` itself is included."""
    behind = math.nextafter(at, math.inf)
    before = behind if where.created_before is None else min(where.created_before, behind)
    return replace(where, created_before=before, superseded=True, forgotten=True)


def as_of(
    at: float, memories: Iterable[Memory], reader: Reader, where: Filter | None = None
) -> Iterator[Memory]:
    """Those that were stored and current at a time, in their order, with the values that they had.

    where: says whether those that were replaced or forgotten by then are wanted too.
    """
    replaced, forgotten = (False, False) if where is None else (where.superseded, where.forgotten)
    for memory in memories:
        earlier = _earlier(memory, at, reader)
        if (
            earlier is not None
            and (forgotten or earlier.forgotten_at is None)
            and (replaced or earlier.superseded_by is None)
        ):
            yield earlier


def _earlier(memory: Memory, at: float, reader: Reader) -> Memory | None:
    """The memory before all its changes since then; None if it was stored since."""
    before: dict[str, Any] = {}
    for entry in reader.journal(JournalFilter(id=memory.id), EVERY):
        if entry.at <= at:
            break
        if entry.before is None:
            return None
        before |= entry.before
    return with_columns(memory, before) if before else memory


@dataclass(frozen=True)
class _PastReader:
    """The search of a reader at a past time; all else is as it is now: links, trees, counts.

    No index has earlier texts. So the indexes find what has kept its text, and memories that were rewritten
    since are compared one by one: those that share a word with the question.
    """

    at: float
    reader: Reader
    embeddings: Embeddings

    def __getattr__(self, name: str) -> Any:
        return getattr(self.reader, name)

    def select(self, where: Filter, page: Page) -> Listing[Memory]:
        found = self.reader.select(created_until(self.at, where), page)
        return Listing(as_of(self.at, found, self.reader, where), found.cursor, found.more, found.total)

    def matching(self, terms: Sequence[str], limit: int, where: Filter) -> TextMatches:
        found = self.reader.matching(terms, limit * CROWD, created_until(self.at, where))
        strengths = {id: one for id, one in found.strengths.items() if id not in self._rewritten}
        best = max(found.strengths.values(), default=1.0)
        information = sum(found.information.get(term, 0.0) for term in terms) or 1.0
        for id in self._among(where):
            words = forms(self._text(id))
            roots = stems(words)
            shared = [term for term in terms if (own := forms(term)) & words or stems(own) & roots]
            if shared:
                strengths[id] = best * sum(found.information.get(term, 0.0) for term in shared) / information
        ordered = sorted(strengths.items(), key=lambda one: -one[1])
        return replace(found, strengths=dict(ordered[: limit * CROWD]))

    def near(self, vector: Vector, model: str, limit: int, where: Filter) -> Neighbours:
        found = self.reader.near(vector, model, limit * CROWD, created_until(self.at, where))
        cosines = {id: one for id, one in found.items() if id not in self._rewritten}
        return Neighbours(cosines, found.pending)

    def vectors(self, model: str, ids: Iterable[str]) -> dict[str, Vector]:
        ids = list(ids)
        kept = self.reader.vectors(model, [id for id in ids if id not in self._rewritten])
        return kept | self._vectors([id for id in ids if id in self._rewritten])

    @cached_property
    def _rewritten(self) -> dict[str, Memory]:
        """The memories that had another text then, as they were."""
        where = replace(created_until(self.at, Filter()), updated_after=self.at)
        changed = {one.id: one for one in self.reader.select(where, Page(limit=MOST_REWRITTEN))}
        earlier = as_of(self.at, changed.values(), self.reader, Filter(superseded=True, forgotten=True))
        return {one.id: one for one in earlier if _texts(one) != _texts(changed[one.id])}

    def _among(self, where: Filter) -> list[str]:
        """The rewritten memories that pass a filter."""
        if not self._rewritten:
            return []
        ids = tuple(self._rewritten if where.ids is None else self._rewritten.keys() & {*where.ids})
        return [one.id for one in self.select(replace(where, ids=ids), EVERY)] if ids else []

    def _vectors(self, ids: Sequence[str]) -> dict[str, Vector]:
        ids = ids[:MOST_EMBEDDED]
        rows = self.embeddings.embed_texts([self._text(id) for id in ids]) if ids else None
        return {} if rows is None else dict(zip(ids, rows, strict=True))

    def _text(self, id: str) -> str:
        return "\n".join(filter(None, _texts(self._rewritten[id])))


def _texts(memory: Memory) -> tuple[str, ...]:
    return memory.title, memory.summary, memory.context, memory.content
