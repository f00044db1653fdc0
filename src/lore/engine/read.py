"""read: take memories → find their places and ties → strengthen them, and lend attention to neighbours."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from lore.engine.use import count_use
from lore.errors import Invalid, NotFound
from lore.model import VERBATIM, Branch, Filter, Reading
from lore.ranking.decay import relevance
from lore.ranking.graph import spread
from lore.store import Reader, Store
from lore.text import label_of, preview

T = TypeVar("T")

DEEPEST = 100
"""How many levels of a tree are shown at once, at most."""


def read(id: str, *, store: Store, reader: Reader, now: float) -> Reading:
    """The memory with its surroundings, as it was before this reading strengthened it."""
    readings = read_many([id], store=store, reader=reader, now=now)
    return _only(readings, id, reader)


def read_many(ids: Sequence[str], *, store: Store, reader: Reader, now: float) -> list[Reading]:
    """Read several memories at once, in the order given; ids that are unknown or forgotten are left out."""
    readings = _readings(ids, reader, now)
    lent: Counter[str] = Counter()
    for reading in readings:
        edges = [(link.source, link.target, link.weight) for link in reading.links]
        lent.update(spread(reading.memory.id, edges))
    count_use([reading.memory.id for reading in readings], store=store, now=now, lent=lent)
    return readings


def look_at(id: str, *, reader: Reader, now: float) -> Reading:
    """The same, without a trace: for pages and reports that must not count as use."""
    return _only(_readings([id], reader, now), id, reader)


def _readings(ids: Iterable[str], reader: Reader, now: float) -> list[Reading]:
    memories = reader.get(ids)
    found = [memories[id] for id in dict.fromkeys(ids) if id in memories]
    ways = reader.ancestors([memory.id for memory in found])
    above = reader.get({up for way in ways.values() for up in way})
    children = reader.children([memory.id for memory in found])
    links = reader.links([memory.id for memory in found])
    return [
        Reading(
            memory=memory,
            relevance=relevance(memory, now),
            parent=way[-1] if way else None,
            breadcrumb=tuple(label_of(above[up].title, above[up].content) for up in way if up in above),
            children=tuple(children[memory.id]),
            links=tuple(link for link in links if memory.id in (link.source, link.target)),
        )
        for memory, way in ((memory, ways[memory.id]) for memory in found)
    ]


def roots(*, reader: Reader, now: float, where: Filter, limit: int) -> list[Branch]:
    """The tops of the trees, the most relevant first; conversations only if they are asked for."""
    _at_least("limit", limit, 1)
    if not where.kinds:
        where = replace(where, other_kinds=where.other_kinds | VERBATIM)
    traces = sorted(reader.roots(where), key=lambda trace: (-relevance(trace, now), trace.id))[:limit]
    return _branches([trace.id for trace in traces], 0, reader, now)


def explore(id: str, *, reader: Reader, now: float, depth: int) -> Branch:
    """A memory and what hangs below it, `depth` levels down."""
    if not 0 <= depth <= DEEPEST:
        raise Invalid(f"depth is {depth}; it must be between 0 and {DEEPEST}")
    branches = _branches([id], depth, reader, now)
    return _only(branches, id, reader)


def root_of(id: str, *, reader: Reader) -> str:
    """The top of the tree that a memory is part of."""
    way = reader.ancestors([id])[id]
    return way[0] if way else id


def ids_like(part: str, *, reader: Reader, limit: int) -> list[str]:
    """Ids that begin with `part`, or end with at least ID_TAIL characters of it; forgotten ones included."""
    _at_least("limit", limit, 1)
    return reader.ids_like(part, limit)


def _at_least(name: str, number: int, least: int) -> None:
    if number < least:
        raise Invalid(f"{name} is {number}; it must be at least {least}")


def _only(found: Sequence[T], id: str, reader: Reader) -> T:
    """The one that was found; otherwise NotFound says whether it was forgotten."""
    if found:
        return found[0]
    if reader.get([id], forgotten=True):
        raise NotFound(f"memory {id} was forgotten; `lore restore {id}` brings it back")
    raise NotFound(f"unknown memory {preview(id, 80)}")


def _branches(ids: list[str], depth: int, reader: Reader, now: float) -> list[Branch]:
    """Level by level, two questions to the store for each."""
    memories = reader.get(ids)
    children = reader.children(ids)
    below: dict[str, Branch] = {}
    if depth > 0:
        nested = [child for id in ids for child in children[id]]
        below = (
            {branch.memory.id: branch for branch in _branches(nested, depth - 1, reader, now)}
            if nested
            else {}
        )
    return [
        Branch(
            memory=memories[id],
            relevance=relevance(memories[id], now),
            children_count=len(children[id]),
            children=tuple(below[child] for child in children[id] if child in below),
        )
        for id in ids
        if id in memories
    ]
