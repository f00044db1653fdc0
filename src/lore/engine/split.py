"""analyse, split: find the topics of an entity that has grown too large → make them entities, at once."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from lore.engine.duplicates import likenesses
from lore.engine.embeddings import Embeddings
from lore.engine.entity_view import (
    EntityView,
    entities_named,
    refresh_entity_text,
    shown_entities,
    views_of,
)
from lore.engine.link import end_link, new_link
from lore.engine.observe import DEFAULT_TYPE, Subject, check, introduced
from lore.engine.relate import Relation, related
from lore.errors import Invalid, NotFound
from lore.model import Cause, Link, Memory, Tie
from lore.ranking.cluster import topics_of
from lore.store import Reader, Store, Writer
from lore.text import preview

THRESHOLDS: Mapping[str, int] = MappingProxyType({"Sesion": 15, "Proyecto": 25})
THRESHOLD = 20
TOPIC_BONUS = 0.5
CONTAINS = "contiene"


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
    """What a split has done."""

    created: tuple[EntityView, ...]
    moved: int
    relations: int
    remaining: int


def split_score(count: int, threshold: int, topics: int) -> float:
    """How urgent: above 1 an entity is too large; many topics add up to a half."""
    bonus = min(topics / count, TOPIC_BONUS) if count else 0.0
    return count / threshold + bonus


def threshold_of(entity: Memory) -> int:
    """How many observations are enough for an entity of this type."""
    return THRESHOLDS.get(entity.type, THRESHOLD)


def analyse(name: str, *, reader: Reader, sense: Embeddings, namespace: str) -> Analysis:
    """Topics by meaning, or by words without a model; none if the entity is small enough."""
    entity = _known(name, reader, namespace)
    [view] = views_of([entity], reader=reader)
    return _analysed(view, reader, sense)


def candidates(*, reader: Reader, sense: Embeddings) -> list[Analysis]:
    """Every entity that has grown too large, the most urgent first."""
    views = views_of(shown_entities(reader=reader), reader=reader)
    large = [p for p in views if len(p.observations) > threshold_of(p.entity)]
    found = [_analysed(view, reader, sense) for view in large]
    return sorted((a for a in found if a.needed), key=lambda a: (-a.score, a.view.entity.alias))


def _analysed(view: EntityView, reader: Reader, sense: Embeddings) -> Analysis:
    threshold, texts = threshold_of(view.entity), view.observations
    topics: dict[str, list[int]] = {}
    if len(texts) > threshold:
        alike = likenesses(texts, reader=reader, sense=sense)
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
    name: str,
    parts: Sequence[Part],
    *,
    parent: str | None,
    store: Store,
    namespace: str,
    cause: Cause,
    now: float,
) -> Splitting:
    """Make the parts, move their observations, tie them to the entity (or `parent`): all or nothing."""
    _check(parts)
    with store.transaction(namespace, cause, now) as writer:
        entity = _known(name, writer, namespace)
        above = _known(parent, writer, namespace) if parent else entity
        _refuse_existing(parts, writer, namespace)
        [before] = views_of([entity], reader=writer)
        known = {memory.content: memory for memory in before.observations}
        moved = 0
        created = []
        for part in parts:
            subject = Subject(name=part.name, type=part.type or DEFAULT_TYPE, status=entity.status)
            [view] = introduced([subject], merge=False, writer=writer, namespace=entity.namespace, now=now)
            moved += _move(part, view.entity, entity, known, writer, now)
            created.append(view.entity.id)
        relations = _tie(above, parts, writer, namespace, now)
        after, *made_of = refresh_entity_text([entity.id, *created], writer=writer, now=now)
    return Splitting(
        created=tuple(made_of), moved=moved, relations=relations, remaining=len(after.observations)
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


def _refuse_existing(parts: Sequence[Part], writer: Writer, namespace: str) -> None:
    if taken := entities_named([part.name for part in parts], reader=writer, namespace=namespace):
        raise Invalid(f"Entity already exists: {preview(next(iter(taken)), 80)}")


def _move(
    part: Part, target: Memory, source: Memory, known: Mapping[str, Memory], writer: Writer, now: float
) -> int:
    """The observations keep id, kind and history; only their place changes."""
    texts = list(dict.fromkeys(part.observations))
    if unknown := [text for text in texts if text not in known]:
        whose = preview(source.title, 80)
        raise Invalid(f"{whose!r} has no observation {preview(unknown[0], 80)!r}; nothing was split")
    for text in texts:
        memory = known[text]
        places = [li for li in writer.all_links(memory.id) if li.kind == "hierarchical" and li.active]
        writer.put_links([end_link(li, now) for li in places if li.target == memory.id])
        writer.put_links([_place(target, memory, now)])
    return len(texts)


def _place(entity: Memory, observation: Memory, now: float) -> Link:
    return new_link(Tie(source=entity.id, target=observation.id, kind="hierarchical"), "split", now)


def _tie(above: Memory, parts: Sequence[Part], writer: Writer, namespace: str, now: float) -> int:
    wanted = [Relation(source=above.title, target=part.name, type=CONTAINS) for part in parts]
    done = related(wanted, pairs=True, imply=False, writer=writer, namespace=namespace, now=now)
    return 2 * sum(one.link is not None for one in done)


def _known(name: str, reader: Reader, namespace: str) -> Memory:
    entity = entities_named([name], reader=reader, namespace=namespace).get(name)
    if entity is None:
        raise NotFound(name)
    return entity
