"""read, recall, roots, explore: take memories → add parent, children and links → count the use."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from lore.engine.context import Context, count_use
from lore.engine.handout import standing_of
from lore.engine.verify import states_of
from lore.errors import Invalid, NotFound
from lore.model import (
    ID_TAIL,
    VERBATIM,
    Answer,
    Branch,
    Entry,
    Filter,
    Hit,
    Link,
    Memory,
    Order,
    Reading,
    Signal,
    Successor,
)
from lore.ranking.decay import relevance
from lore.ranking.graph import spread
from lore.store import Reader
from lore.store.values import COUNT, JournalFilter, Page
from lore.text import preview

T = TypeVar("T")

RECALL_LIMIT = 1_000
DEEPEST = 100
"""How many levels of a tree are shown at once, at most."""


def read(id: str, context: Context, *, use: bool) -> Reading:
    """The memory with its surroundings, as it was before this reading strengthened it.

    id: the whole id, or an end of at least ID_TAIL characters that only this memory has. use: False for pages
    and reports that must not count as use.
    """
    readings = read_many([id], context) if use else _readings([id], context)
    return _only(readings, id, context.reader)


def read_many(ids: Sequence[str], context: Context) -> list[Reading]:
    """Read several memories at once, in the order given; ids that are unknown or forgotten are left out."""
    readings = _readings(ids, context)
    lent: Counter[str] = Counter()
    for reading in readings:
        edges = [(link.source, link.target, link.weight) for link in reading.links]
        lent.update(spread(reading.memory.id, edges))
    count_use([reading.memory.id for reading in readings], context, lent=lent)
    return readings


def _readings(ids: Sequence[str], context: Context) -> list[Reading]:
    memories = context.reader.get(ids)
    if short := [id for id in ids if id not in memories and len(id) >= ID_TAIL]:
        whole = {
            part: found[0] for part, found in context.reader.resolve(short, 2).items() if len(found) == 1
        }
        ids = [whole.get(id, id) for id in ids]
        memories = context.reader.get(ids)
    found = [memories[id] for id in dict.fromkeys(ids) if id in memories]
    places = context.reader.places([memory.id for memory in found])
    children = context.reader.children([memory.id for memory in found])
    links = context.reader.links([memory.id for memory in found])
    states = states_of(found, context.tree)
    return [
        Reading(
            memory=memory,
            relevance=relevance(memory, context.now),
            parent=place.path[-1] if place.path else None,
            breadcrumb=place.labels,
            children=tuple(children[memory.id]),
            links=tuple(link for link in links if memory.id in (link.source, link.target)),
            successor=place.successor,
            citations=states.get(memory.id, {}),
            standing=standing_of(memory, context.reader),
        )
        for memory, place in ((memory, places[memory.id]) for memory in found)
    ]


def recall(where: Filter, context: Context, *, choose: Order, show: Order, limit: int) -> Answer:
    """The first `limit` of one order, shown in another; each has its place as its score, the first one 1."""
    if not 1 <= limit <= RECALL_LIMIT:
        raise Invalid(f"limit is {limit}; it must be between 1 and {RECALL_LIMIT:,}")
    chosen: list[Memory] = context.reader.select(where, Page(limit=limit, order=choose))
    if show != choose:
        chosen = sorted(chosen, key=lambda memory: _place(memory, show))
    total = context.reader.traces(where, COUNT).total if len(chosen) == limit else len(chosen)

    places = context.reader.places([memory.id for memory in chosen])
    states = states_of(chosen, context.tree)
    hits = []
    for at, memory in enumerate(chosen):
        place = Signal(1 - at / len(chosen), 1.0)
        hits.append(
            Hit(
                memory=memory,
                score=place.points,
                signals={"place": place},
                relevance=relevance(memory, context.now),
                successor=places[memory.id].successor,
                citations=states.get(memory.id, {}),
                standing=standing_of(memory, context.reader),
            )
        )
    count_use([hit.memory.id for hit in hits], context)
    return Answer(
        hits=tuple(hits),
        stored=None if hits else context.reader.traces(Filter(), COUNT).total,
        cut=total - len(hits),
    )


def roots(context: Context, *, where: Filter, limit: int) -> list[Branch]:
    """The tops of the trees, the most relevant first; conversations only if they are asked for."""
    _at_least("limit", limit, 1)
    if not where.kinds:
        where = replace(where, other_kinds=where.other_kinds | VERBATIM)
    tops = context.reader.traces(replace(where, roots=True))
    best = sorted(tops, key=lambda trace: (-relevance(trace, context.now), trace.id))[:limit]
    return _branches([trace.id for trace in best], 0, context)


def explore(id: str, context: Context, *, depth: int) -> Branch:
    """A memory and what hangs below it, `depth` levels down."""
    if not 0 <= depth <= DEEPEST:
        raise Invalid(f"depth is {depth}; it must be between 0 and {DEEPEST}")
    branches = _branches([id], depth, context)
    return _only(branches, id, context.reader)


def successors(ids: Sequence[str], reader: Reader) -> dict[str, Successor]:
    """The newer memory of each of these that something replaces or updates."""
    places = reader.places(ids)
    return {id: place.successor for id, place in places.items() if place.successor is not None}


def root_of(answer: Answer, reader: Reader) -> str:
    """The root of the first hit's tree; NotFound if there is no hit."""
    if not answer.hits:
        raise NotFound("no memory matches this topic")
    id = answer.hits[0].memory.id
    return next(iter(reader.ancestors([id]).get(id, ())), id)


def ids_like(part: str, *, reader: Reader, limit: int) -> list[str]:
    """Ids that begin with `part`, or end with at least ID_TAIL characters of it; forgotten ones included."""
    _at_least("limit", limit, 1)
    return reader.resolve([part], limit)[part]


def last_change(reader: Reader) -> Entry | None:
    """The newest entry of the journal in sight; None if nothing was ever written."""
    return next(iter(reader.journal(JournalFilter(), Page(limit=1))), None)


def by_alias(noun: Literal["memory", "link"], alias: int, reader: Reader) -> Memory | Link | None:
    """The memory or link with this number; None if there is none."""
    ids = reader.resolve([alias], 1, noun)[alias]
    if noun == "link":
        return next(iter(reader.links(ids=ids, ended=True)), None)
    return next(iter(reader.get(ids).values()), None)


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


def _branches(ids: list[str], depth: int, context: Context) -> list[Branch]:
    """Level by level, three questions to the store for each."""
    memories = context.reader.get(ids)
    children, places = context.reader.children(ids), context.reader.places(ids)
    states = states_of(memories.values(), context.tree)
    below: dict[str, Branch] = {}
    if depth > 0:
        nested = [child for id in ids for child in children[id]]
        below = (
            {branch.memory.id: branch for branch in _branches(nested, depth - 1, context)} if nested else {}
        )
    return [
        Branch(
            memory=memories[id],
            relevance=relevance(memories[id], context.now),
            children_count=len(children[id]),
            children=tuple(below[child] for child in children[id] if child in below),
            successor=places[id].successor,
            citations=states.get(id, {}),
            standing=standing_of(memories[id], context.reader),
        )
        for id in ids
        if id in memories
    ]


def _place(memory: Memory, order: Order) -> tuple[float, float, int]:
    first = {"newest": 0.0, "importance": memory.importance, "use": float(memory.access_count)}
    return -first.get(order, 0.0), -memory.created_at, -memory.alias
