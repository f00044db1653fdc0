"""graph_report, analyse: entities that are too large, repetitive, or long unused. Changes nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lore.engine.context import Context
from lore.engine.duplicates import likenesses
from lore.engine.embeddings import Embeddings
from lore.engine.entity_view import (
    SIMILAR,
    EntityView,
    GraphVocabulary,
    entity_named,
    shown_entities,
    views_of,
)
from lore.errors import Invalid
from lore.model import Memory
from lore.ranking.cluster import topics_of
from lore.ranking.decay import days_since
from lore.store import Reader

TOPIC_BONUS = 0.5
"""The most that topics add to the score of an entity."""
RARELY_USED = 2
"""The most uses of an entity that may be stale."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """How large an entity is for its type, and into which topics it falls."""

    view: EntityView
    threshold: int
    topics: Mapping[str, tuple[Memory, ...]]

    @property
    def count(self) -> int:
        return len(self.view.observations)

    @property
    def score(self) -> float:
        return split_score(self.count, self.threshold, len(self.topics))

    @property
    def needed(self) -> bool:
        return self.count > self.threshold and self.score > 1


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


def split_score(count: int, threshold: int, topics: int) -> float:
    """How urgent: above 1 an entity is too large; many topics add up to a half."""
    bonus = min(topics / count, TOPIC_BONUS) if count else 0.0
    return count / threshold + bonus


def analyse(
    name: str | None, reader: Reader, embeddings: Embeddings, vocabulary: GraphVocabulary
) -> list[Analysis]:
    """The topics of one entity, by meaning, or by words without a model; no topics if it is small enough.

    Without a name: all entities that are too large, the most urgent first.
    """
    if name is not None:
        views = views_of([entity_named(name, reader)], reader=reader)
        return [_analysed(view, reader, embeddings, vocabulary) for view in views]
    views = large_entities(views_of(shown_entities(reader=reader), reader=reader), vocabulary)
    analyses = [_analysed(view, reader, embeddings, vocabulary) for view in views]
    return sorted((a for a in analyses if a.needed), key=lambda a: (-a.score, a.view.entity.alias))


def large_entities(views: Iterable[EntityView], vocabulary: GraphVocabulary) -> list[EntityView]:
    """The entities with more observations than the threshold of their type."""
    return [
        view for view in views if len(view.observations) > vocabulary.split_threshold_of(view.entity.type)
    ]


def _analysed(
    view: EntityView, reader: Reader, embeddings: Embeddings, vocabulary: GraphVocabulary
) -> Analysis:
    threshold, texts = vocabulary.split_threshold_of(view.entity.type), view.observations
    topics: dict[str, list[int]] = {}
    if texts and len(texts) > threshold:
        alike = likenesses(texts, reader=reader, embeddings=embeddings)
        topics = topics_of([m.content for m in texts], alike)
    return Analysis(
        view=view,
        threshold=threshold,
        topics={name: tuple(texts[at] for at in group) for name, group in topics.items()},
    )
