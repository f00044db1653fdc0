"""audit: what in the graph wants attention: too large, said twice, or not used for long. Changes nothing."""

from dataclasses import dataclass

from lore.engine.embeddings import Embeddings
from lore.engine.entity_view import SIMILAR, EntityView, shown_entities, views_of
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

    view: EntityView
    days: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Audit:
    """What was found."""

    entities: int
    observations: int
    splits: tuple[Analysis, ...]
    flagged: tuple[tuple[EntityView, Memory], ...]
    stale: tuple[Stale, ...]
    large: tuple[EntityView, ...]


def audit(*, stale_days: float, reader: Reader, sense: Embeddings, now: float) -> Audit:
    """Look at the whole graph; nothing is changed and nothing counts as use."""
    if not stale_days >= 0:
        raise Invalid(f"stale_days is {stale_days}; it must be 0 or more")
    views = views_of(shown_entities(reader=reader), reader=reader)
    large = [p for p in views if len(p.observations) > threshold_of(p.entity)]
    stale = [Stale(view=p, days=_idle_days(p.entity, now)) for p in views if _idle(p, stale_days, now)]
    return Audit(
        entities=len(views),
        observations=sum(len(view.observations) for view in views),
        splits=tuple(a for a in candidates(reader=reader, sense=sense) if len(a.topics) > 1),
        flagged=tuple((p, memory) for p in views for memory in p.observations if SIMILAR in memory.flags),
        stale=tuple(sorted(stale, key=lambda one: -one.days)),
        large=tuple(sorted(large, key=lambda p: -len(p.observations))),
    )


def _idle(view: EntityView, stale_days: float, now: float) -> bool:
    entity = view.entity
    rare = entity.access_count <= RARELY_USED and entity.status != SET_ASIDE
    return rare and bool(view.observations) and _idle_days(entity, now) >= stale_days


def _idle_days(entity: Memory, now: float) -> float:
    return days_since(entity.last_accessed_at or entity.created_at, now)
