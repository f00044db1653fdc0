"""audit: what in the graph wants attention: too large, said twice, or not used for long. Changes nothing."""

from dataclasses import dataclass

from lore.engine.embeddings import Sense
from lore.engine.entity_view import SIMILAR, Portrait, portraits_of, shown_entities
from lore.engine.split import Analysis, candidates, threshold_of
from lore.errors import Invalid
from lore.model import Memory
from lore.ranking.decay import days_since
from lore.store import Reader

RARELY_USED = 2
SET_ASIDE = "archivado"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """An entity that has hardly been used, and not for so many days."""

    portrait: Portrait
    days: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What was found."""

    entities: int
    observations: int
    splits: tuple[Analysis, ...]
    flagged: tuple[tuple[Portrait, Memory], ...]
    stale: tuple[Stale, ...]
    large: tuple[Portrait, ...]


def audit(*, stale_days: float, reader: Reader, sense: Sense, now: float) -> Audit:
    """Look at the whole graph; nothing is changed and nothing counts as use."""
    if not stale_days >= 0:
        raise Invalid(f"stale_days is {stale_days}; it must be 0 or more")
    portraits = portraits_of(shown_entities(reader=reader), reader=reader)
    large = [p for p in portraits if len(p.observations) > threshold_of(p.entity)]
    stale = [
        Stale(portrait=p, days=_idle_days(p.entity, now)) for p in portraits if _idle(p, stale_days, now)
    ]
    return Audit(
        entities=len(portraits),
        observations=sum(len(portrait.observations) for portrait in portraits),
        splits=tuple(a for a in candidates(reader=reader, sense=sense) if len(a.topics) > 1),
        flagged=tuple((p, memory) for p in portraits for memory in p.observations if SIMILAR in memory.flags),
        stale=tuple(sorted(stale, key=lambda one: -one.days)),
        large=tuple(sorted(large, key=lambda p: -len(p.observations))),
    )


def _idle(portrait: Portrait, stale_days: float, now: float) -> bool:
    entity = portrait.entity
    rare = entity.access_count <= RARELY_USED and entity.status != SET_ASIDE
    return rare and bool(portrait.observations) and _idle_days(entity, now) >= stale_days


def _idle_days(entity: Memory, now: float) -> float:
    return days_since(entity.last_accessed_at or entity.created_at, now)
