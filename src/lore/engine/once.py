"""once: each fact once among the hits; a memory stands for its turns, and a question is no answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lore.engine.remember import TWIN_KINDS
from lore.model import DERIVED, DISTILLED, OVERVIEW_OF, SESSION, TURN, VERBATIM, Hit, Memory
from lore.ranking.repeats import Statement, asks_again, repeats
from lore.store import Reader
from lore.text import folded

COMPARED = 30
"""How many of the first hits are compared with each other."""
REPEATED = 0.5
"""Factor for the score of a hit that repeats a better one in part."""
ASKED_AGAIN = 0.1
"""Factor for the score of a hit that only asks what the question asks."""


@dataclass(frozen=True, slots=True)
class Once:
    """Hits that repeat nothing, those that stand for turns with their sources, in the order given.

    scores: the new scores of some of them. repeated: how many hits were left out.
    """

    hits: list[Hit]
    scores: dict[str, float]
    repeated: int


def each_once(hits: Sequence[Hit], question: str, reader: Reader) -> Once:
    """Leave out hits that only repeat others.

    A memory takes the place of the best turn that it stands for, and names these turns as its sources.
    """
    first = hits[:COMPARED]
    found = repeats(question, _statements(first, reader))
    replaced = set(found.covered).union(*found.stands_for.values())
    before = {hit.memory.id: hit.score for hit in first}
    again = {hit.memory.id for hit in first if _is_question(hit, question)}
    scores = {id: before[id] * REPEATED for id in found.lesser}
    scores |= {id: before[id] * ASKED_AGAIN for id in again}
    standing = [(turn, id) for id, turns in found.stands_for.items() for turn in turns]
    for left_out, id in (*standing, *found.covered.items()):
        scores[id] = max(before[left_out], scores.get(id, before[id]))
    kept = [hit for hit in hits if hit.memory.id not in replaced]
    named = [replace(hit, sources=tuple(found.stands_for.get(hit.memory.id, ()))) for hit in kept]
    return Once(named, scores, len(replaced))


def _statements(hits: Sequence[Hit], reader: Reader) -> list[Statement]:
    distilled = {hit.memory.id for hit in hits if hit.memory.source_type == DISTILLED}
    memories = {hit.memory.id for hit in hits if hit.memory.kind not in VERBATIM}
    turns: dict[str, set[str]] = {}
    for link in reader.links(memories, kinds=("relation",)) if 0 < len(memories) < len(hits) else ():
        if link.type == DERIVED:
            turns.setdefault(link.source, set()).add(link.target)
    return [
        Statement(
            id=hit.memory.id,
            text=hit.memory.content,
            at=hit.memory.created_at,
            verbatim=hit.memory.kind in VERBATIM,
            heading=hit.memory.kind == SESSION
            or (hit.memory.id in distilled and OVERVIEW_OF in hit.memory.metadata),
            distilled=hit.memory.id in distilled,
            turns=frozenset(turns.get(hit.memory.id, ())),
            twin_key=_twin_key(hit.memory),
        )
        for hit in hits
    ]


def _twin_key(memory: Memory) -> str:
    if memory.kind not in TWIN_KINDS:
        return ""
    return "\0".join((memory.namespace, memory.project, folded(memory.content)))


def _is_question(hit: Hit, question: str) -> bool:
    return hit.memory.kind in (TURN, SESSION) and asks_again(question, hit.memory.content)
