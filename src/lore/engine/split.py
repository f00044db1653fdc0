"""analyse, split: find the topics of an entity that is too large → make each topic an entity."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lore.engine.context import Context
from lore.engine.duplicates import likenesses
from lore.engine.embeddings import Embeddings
from lore.engine.entity_view import (
    EntityView,
    GraphVocabulary,
    entities_named,
    refresh_entity_text,
    shown_entities,
    views_of,
)
from lore.engine.link import end_link, new_link
from lore.engine.observe import DEFAULT_TYPE, Subject, check, introduced
from lore.engine.relate import Relation, related
from lore.errors import Invalid, NotFound
from lore.model import Memory, Tie
from lore.ranking.cluster import topics_of
from lore.store import Reader, Writer
from lore.text import preview

TOPIC_BONUS = 0.5
"""The most that topics add to the score of an entity."""


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
class Part:
    """An entity to make of some observations of another."""

    name: str
    type: str
    observations: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Splitting:
    """The result of a split: new entities, and the numbers of observations and relations."""

    created: tuple[EntityView, ...]
    moved: int
    relations: int
    remaining: int


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
        views = views_of([_entity(name, reader)], reader=reader)
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
    if len(texts) > threshold:
        alike = likenesses(texts, reader=reader, embeddings=embeddings)
        topics = topics_of([m.content for m in texts], alike)
    return Analysis(
        view=view,
        threshold=threshold,
        topics={name: tuple(texts[at] for at in group) for name, group in topics.items()},
    )


def parts_of(analysis: Analysis) -> list[Part]:
    """The proposal: one entity for each topic, called after both."""
    entity = analysis.view.entity
    return [
        Part(
            name=f"{entity.title} - {topic}",
            type=entity.type,
            observations=tuple(memory.content for memory in observations),
        )
        for topic, observations in analysis.topics.items()
    ]


def split(
    name: str, parts: Sequence[Part], parent: str | None, context: Context, vocabulary: GraphVocabulary
) -> Splitting:
    """Create the parts, move their observations, relate them to the entity (or `parent`): all or nothing."""
    _check(parts)
    with context.transaction() as writer:
        entity = _entity(name, writer)
        above = _entity(parent, writer) if parent else entity
        _refuse_existing(parts, writer)
        [before] = views_of([entity], reader=writer)
        observations = {memory.content: memory for memory in before.observations}
        subjects = [
            Subject(name=part.name, type=part.type or DEFAULT_TYPE, status=entity.status) for part in parts
        ]
        created = [view.entity for view in introduced(subjects, merge=False, writer=writer)]
        moved = sum(
            _move(part, new, entity, observations, writer) for part, new in zip(parts, created, strict=True)
        )
        relations = _relate(above, parts, vocabulary, writer)
        after, *views = refresh_entity_text([entity.id, *(new.id for new in created)], writer=writer)
    return Splitting(
        created=tuple(views), moved=moved, relations=relations, remaining=len(after.observations)
    )


def _check(parts: Sequence[Part]) -> None:
    if not parts:
        raise Invalid("No splits are given; approve at least one of the proposed ones")
    for part in parts:
        check(Subject(name=part.name, type=part.type or DEFAULT_TYPE, observations=part.observations))
    names = [part.name for part in parts]
    if twice := [name for name in names if names.count(name) > 1]:
        raise Invalid(f"Two splits have the name {preview(twice[0], 80)!r}")
    texts = [text for part in parts for text in dict.fromkeys(part.observations)]
    if doubled := [text for text in texts if texts.count(text) > 1]:
        raise Invalid(f"Two splits claim the observation {preview(doubled[0], 80)!r}")


def _refuse_existing(parts: Sequence[Part], writer: Writer) -> None:
    if taken := entities_named([part.name for part in parts], reader=writer):
        raise Invalid(f"Entity already exists: {preview(next(iter(taken)), 80)}")


def _move(
    part: Part, target: Memory, source: Memory, observations: Mapping[str, Memory], writer: Writer
) -> int:
    """Move the observations of a part; they keep id, kind and history. Returns their number."""
    texts = list(dict.fromkeys(part.observations))
    if unknown := [text for text in texts if text not in observations]:
        whose = preview(source.title, 80)
        raise Invalid(f"{whose!r} has no observation {preview(unknown[0], 80)!r}; nothing was split")
    for text in texts:
        memory = observations[text]
        places = [
            li for li in writer.links([memory.id], ended=True) if li.kind == "hierarchical" and li.active
        ]
        writer.put_links([end_link(li, writer.now) for li in places if li.target == memory.id])
        tie = Tie(source=target.id, target=memory.id, kind="hierarchical")
        writer.put_links([new_link(tie, "split", writer.now)])
    return len(texts)


def _relate(above: Memory, parts: Sequence[Part], vocabulary: GraphVocabulary, writer: Writer) -> int:
    """Relate the entity to its parts, in both directions; returns the number of new relations."""
    wanted = [Relation(source=above.title, target=part.name, type=vocabulary.contains) for part in parts]
    results = related(wanted, inverses=vocabulary.inverses, imply=False, writer=writer)
    return 2 * sum(result.link is not None for result in results)


def _entity(name: str, reader: Reader) -> Memory:
    entity = entities_named([name], reader=reader).get(name)
    if entity is None:
        raise NotFound(name)
    return entity
