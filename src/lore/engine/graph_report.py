"""graph_report: entities that are too large, repetitive, or long unused. Changes nothing."""

from dataclasses import dataclass

from lore.engine.context import Context
from lore.engine.embeddings import Embeddings
from lore.engine.entity_view import SIMILAR, EntityView, GraphVocabulary, shown_entities, views_of
from lore.engine.split import Analysis, analyse, large_entities
from lore.errors import Invalid
from lore.model import Memory
from lore.ranking.decay import days_since

RARELY_USED = 2
"""The most uses of an entity that may be stale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """An entity that was rarely used, and the days since its last use."""

    view: EntityView
    days: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphReport:
    """Counts of entities and observations, and the entities that need attention."""

    entities: int
    observations: int
    splits: tuple[Analysis, ...]
    flagged: tuple[tuple[EntityView, Memory], ...]
    stale: tuple[Stale, ...]
    large: tuple[EntityView, ...]


def graph_report(
    stale_days: float, context: Context, embeddings: Embeddings, vocabulary: GraphVocabulary
) -> GraphReport:
    """Look at the whole graph; nothing is changed and nothing counts as use."""
    if not stale_days >= 0:
        raise Invalid(f"stale_days is {stale_days}; it must be 0 or more")
    views = views_of(shown_entities(reader=context.reader), reader=context.reader)
    splits = analyse(None, context.reader, embeddings, vocabulary)
    rare = [
        Stale(view=view, days=days_since(view.entity.last_accessed_at or view.entity.created_at, context.now))
        for view in views
        if view.observations
        and view.entity.access_count <= RARELY_USED
        and view.entity.status != vocabulary.archived
    ]
    stale = [one for one in rare if one.days >= stale_days]
    return GraphReport(
        entities=len(views),
        observations=sum(len(view.observations) for view in views),
        splits=tuple(split for split in splits if len(split.topics) > 1),
        flagged=tuple((p, memory) for p in views for memory in p.observations if SIMILAR in memory.flags),
        stale=tuple(sorted(stale, key=lambda one: -one.days)),
        large=tuple(sorted(large_entities(views, vocabulary), key=lambda view: -len(view.observations))),
    )
