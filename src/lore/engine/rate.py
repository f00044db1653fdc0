"""rate: take what was rated as it is → move score and confidence → forget what was given up."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from lore.engine.context import Context
from lore.engine.forget import hide
from lore.model import Link, Memory
from lore.ranking.decay import SUREST, confidence_after, given_up, score_after
from lore.settings import Tuning
from lore.store import Writer

GIVEN_UP = "rated useless"
Rateable = TypeVar("Rateable", Memory, Link)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rating:
    """What somebody thinks of a memory or a link. confidence: 1 to 10; None: not said."""

    id: str
    useful: bool
    confidence: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rated:
    """What came of it: the ids rated, the memories forgotten for it, and what was refused and why."""

    memories: tuple[str, ...]
    links: tuple[str, ...]
    forgotten: tuple[str, ...]
    refused: tuple[tuple[str, str], ...]


def rate(memories: Sequence[Rating], links: Sequence[Rating], context: Context, *, tuning: Tuning) -> Rated:
    """Every rating counts, one after the other; unknown ids and impossible ratings are told, not raised."""
    rated: list[str] = []
    tied: list[str] = []
    forgotten: list[str] = []
    refused: list[tuple[str, str]] = []
    with context.transaction() as writer:
        for rating in memories:
            memory = writer.get([rating.id]).get(rating.id)
            if memory is None or _impossible(rating):
                refused.append((rating.id, _impossible(rating) or "not found"))
                continue
            rated.append(rating.id)
            if _keep(memory, rating, writer, tuning) is None:
                forgotten.append(rating.id)
        for rating in links:
            link = next(iter(writer.links(ids=[rating.id], ended=True)), None)
            if link is None or not link.active or _impossible(rating):
                refused.append((rating.id, _impossible(rating) or "not found"))
                continue
            tied.append(rating.id)
            writer.put_links([_moved(link, rating, context.now, tuning)])
    return Rated(memories=tuple(rated), links=tuple(tied), forgotten=tuple(forgotten), refused=tuple(refused))


def _impossible(rating: Rating) -> str:
    """What is wrong with the rating itself; empty if nothing is."""
    if rating.confidence is None or 1 <= rating.confidence <= SUREST:
        return ""
    return f"confidence is {rating.confidence}; it must be between 1 and {SUREST}"


def _keep(memory: Memory, rating: Rating, writer: Writer, tuning: Tuning) -> Memory | None:
    """The memory as the rating leaves it; None if it was given up."""
    moved = _moved(memory, rating, writer.now, tuning)
    if given_up(rating.useful, rating.confidence, tuning.soft_delete_confidence_threshold):
        hide(moved, GIVEN_UP, writer)
        return None
    writer.put([moved])
    return moved


def _moved(noun: Rateable, rating: Rating, now: float, tuning: Tuning) -> Rateable:
    confidence, count = noun.confidence, noun.confidence_count
    if rating.confidence is not None:
        window = tuning.confidence_window_size
        confidence = confidence_after(confidence, count, rating.confidence, window)
        count += 1
    up, down = tuning.score_bump_up, tuning.score_bump_down
    score = score_after(noun.score, rating.useful, rating.confidence, up, down)
    return replace(noun, score=score, confidence=confidence, confidence_count=count, updated_at=now)
