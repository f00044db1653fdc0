"""read: take one memory → find its place and ties → reinforce it and lend attention to its neighbours."""

from dataclasses import replace

from lore.engine.use import count_use
from lore.errors import Invalid, NotFound
from lore.model import VERBATIM, Branch, Filter, Memory, Reading
from lore.ranking.decay import relevance
from lore.ranking.graph import spread
from lore.store import Reader, Store
from lore.text import label_of, preview

DEEPEST = 100
"""How many levels of a tree are shown at once, at most."""


def read(id: str, *, store: Store, reader: Reader, now: float) -> Reading:
    """The memory with its surroundings, as it was before this reading strengthened it."""
    reading = look_at(id, reader=reader, now=now)
    edges = [(link.source, link.target, link.weight) for link in reading.links]
    count_use([id], store=store, now=now, lent=spread(id, edges))
    return reading


def look_at(id: str, *, reader: Reader, now: float) -> Reading:
    """The same, without a trace: for pages and reports that must not count as use."""
    memory = _known(id, reader)
    way = reader.ancestors([id])[id]
    above = reader.get(way)
    return Reading(
        memory=memory,
        relevance=relevance(memory, now),
        parent=way[-1] if way else None,
        breadcrumb=tuple(label_of(above[up].title, above[up].content) for up in way if up in above),
        children=tuple(reader.children([id])[id]),
        links=tuple(reader.links([id])),
    )


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
    _known(id, reader)
    return _branches([id], depth, reader, now)[0]


def ids_like(part: str, *, reader: Reader, limit: int) -> list[str]:
    """Ids that begin with `part`, or end with at least ID_TAIL characters of it; forgotten ones included."""
    _at_least("limit", limit, 1)
    return reader.ids_like(part, limit)


def _at_least(name: str, number: int, least: int) -> None:
    if number < least:
        raise Invalid(f"{name} is {number}; it must be at least {least}")


def _known(id: str, reader: Reader) -> Memory:
    memory = reader.get([id], forgotten=True).get(id)
    if memory is None:
        raise NotFound(f"unknown memory {preview(id, 80)}")
    if memory.forgotten_at is not None:
        raise NotFound(f"memory {id} was forgotten; `lore restore {id}` brings it back")
    return memory


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
