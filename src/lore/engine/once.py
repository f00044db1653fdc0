"""once: each fact once among the hits; a memory stands for its turns, and a question is no answer."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lore.model import DERIVED, DISTILLED, OVERVIEW_OF, SESSION, TURN, VERBATIM, Hit, Signal
from lore.ranking.repeats import Statement, asks_again, repeats
from lore.store import Reader

COMPARED = 30
"""How many of the first hits are compared with each other."""
REPEATED = 0.5
"""Factor for the score of a hit that repeats a better one in part, or that repeats the question."""


def each_once(hits: Sequence[Hit], question: str, reader: Reader) -> tuple[list[Hit], int]:
    """The hits without those that only repeat others, and the number of these.

    A memory takes the place of the best turn that it stands for, and names these turns as its sources.
    """
    first = hits[:COMPARED]
    found = repeats(question, _statements(first, reader))
    replaced = found.covered.union(*found.stands_for.values())
    scores = {hit.memory.id: hit.score for hit in first}
    again = {hit.memory.id for hit in first if _is_question(hit, question)}
    changed = {id: scores[id] * REPEATED for id in found.lesser | again}
    changed |= {id: max(scores[one] for one in (id, *turns)) for id, turns in found.stands_for.items()}
    kept = [hit for hit in hits if hit.memory.id not in replaced]
    named = [replace(hit, sources=tuple(found.stands_for.get(hit.memory.id, ()))) for hit in kept]
    return moved(named, changed, "repeats"), len(replaced)


def moved(hits: list[Hit], scores: Mapping[str, float], why: str) -> list[Hit]:
    """Hits in the order of these new scores; of equal scores, the newest first."""
    if not scores:
        return hits
    rescored = [_rescored(hit, scores.get(hit.memory.id, hit.score), why) for hit in hits]
    return sorted(rescored, key=lambda hit: (-hit.score, -hit.memory.created_at, -hit.memory.alias))


def _rescored(hit: Hit, score: float, why: str) -> Hit:
    if score == hit.score:
        return hit
    change = Signal((score - hit.score) / hit.fade, 1.0)
    return replace(hit, score=score, signals={**hit.signals, why: change})


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
            verbatim=hit.memory.kind in VERBATIM,
            heading=hit.memory.kind == SESSION
            or (hit.memory.id in distilled and OVERVIEW_OF in hit.memory.metadata),
            distilled=hit.memory.id in distilled,
            turns=frozenset(turns.get(hit.memory.id, ())),
        )
        for hit in hits
    ]


def _is_question(hit: Hit, question: str) -> bool:
    return hit.memory.kind in (TURN, SESSION) and asks_again(question, hit.memory.content)
