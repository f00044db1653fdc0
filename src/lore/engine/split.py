"""split: the topics of an entity that is too large → an entity for each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lore.engine.context import Context
from lore.engine.entity_view import (
    DEFAULT_TYPE,
    EntityView,
    GraphVocabulary,
    Subject,
    check_subject,
    entities_named,
    entity_named,
    refresh_entity_text,
    views_of,
)
from lore.engine.graph_report import Analysis
from lore.engine.link import end_link, new_link
from lore.engine.observe import introduced
from lore.engine.relate import Relation, related
from lore.errors import Invalid
from lore.model import Memory, Tie
from lore.store import Writer
from lore.text import preview


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
        entity = entity_named(name, writer)
        above = entity_named(parent, writer) if parent else entity
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
        check_subject(Subject(name=part.name, type=part.type or DEFAULT_TYPE, observations=part.observations))
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
