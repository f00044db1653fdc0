"""observe, introduce, retract: add and hide observations; a call is stored whole or not at all."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lore.citations import NOTHING, Cited
from lore.engine.context import Context, count_use
from lore.engine.duplicates import repeated
from lore.engine.embeddings import Embeddings
from lore.engine.entity_view import (
    ENTITY,
    IMPLIED,
    OBSERVATION,
    SIMILAR,
    EntityView,
    Subject,
    check_subject,
    entities_named,
    header_of,
    new_entity,
    past_of,
    refresh_entity_text,
    text_of,
    views_of,
)
from lore.engine.forget import hide
from lore.engine.link import new_link
from lore.engine.nodes import addressed, portrayed
from lore.errors import Invalid, NotFound
from lore.model import UPDATES, Link, Memory, Tie, new_id
from lore.ranking.compare import Relation, compare
from lore.store import Reader, Writer
from lore.text import preview
from lore.vectors import Vector

MOST_COMPARED = 100
"""The newest observations of an entity with which a new one is compared to see what it corrects."""
TICK_SECONDS = 1e-6
"""Between entities of one call of which some were implied before: their numbers do not tell the order."""


@dataclass(frozen=True, slots=True)
class _Comparison:
    """Results of comparing new texts with old ones before the transaction.

    repeats: (entity name, text) of texts that repeat an older one. vectors: of the new texts. cited: the
    files that the new texts name.
    """

    repeats: frozenset[tuple[str, str]] = frozenset()
    vectors: Mapping[str, Vector] = field(default_factory=dict)
    cited: Mapping[str, Cited] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Target:
    """One subject of a call and the id of the memory that it is about."""

    subject: Subject
    id: str
    created: bool = False
    ignored: bool = False


def introduce(
    subjects: Sequence[Subject], context: Context, *, merge: bool, embeddings: Embeddings
) -> list[EntityView]:
    """Create entities. Those that exist gain the new observations, or stay as they are without `merge`."""
    for subject in subjects:
        check_subject(subject)
    comparison = _Comparison()
    if merge:
        reader = context.reader
        existing = entities_named([subject.name for subject in subjects], reader=reader)
        comparison = _compared(subjects, existing, reader, embeddings)
    comparison = replace(comparison, cited=_cited(subjects, context))
    with context.transaction() as writer:
        targets, views = _targets(subjects, merge, writer)
        results = _extended(targets, views, comparison, writer)
        _keep_vectors(results, comparison, writer, embeddings)
    _count(results, context)
    return results


def introduced(subjects: Sequence[Subject], *, merge: bool, writer: Writer) -> list[EntityView]:
    """`introduce` inside a transaction of the caller, without comparing the texts."""
    targets, views = _targets(subjects, merge, writer)
    return _extended(targets, views, _Comparison(), writer)


def observe(
    subjects: Sequence[Subject], context: Context, *, judge: bool, embeddings: Embeddings
) -> list[EntityView]:
    """Add observations to entities, or to other memories under the names that the graph shows.

    NotFound names one that does not exist. judge: flag observations that repeat an older one, which takes
    their vectors.
    """
    for subject in subjects:
        check_subject(subject)
    names = [subject.name for subject in subjects]
    comparison = _Comparison()
    if judge:
        reader = context.reader
        comparison = _compared(subjects, addressed(names, reader=reader), reader, embeddings)
    comparison = replace(comparison, cited=_cited(subjects, context))
    with context.transaction() as writer:
        memories = addressed(names, reader=writer)
        if missing := [name for name in names if name not in memories]:
            raise NotFound(missing[0])
        targets = [_Target(subject, memories[subject.name].id) for subject in subjects]
        views = {p.entity.id: p for p in portrayed(_distinct(memories.values()), reader=writer)}
        results = _extended(targets, views, comparison, writer)
        results = [_superseded(s, result, writer) for s, result in zip(subjects, results, strict=True)]
        _keep_vectors(results, comparison, writer, embeddings)
    _count(results, context)
    return results


def _distinct(memories: Iterable[Memory]) -> list[Memory]:
    return list({memory.id: memory for memory in memories}.values())


def _targets(
    subjects: Sequence[Subject], merge: bool, writer: Writer
) -> tuple[list[_Target], dict[str, EntityView]]:
    """The entity of each subject, and the views by id; new entities are made, but not written yet."""
    entities = entities_named([subject.name for subject in subjects], reader=writer, implied=True)
    existing = [entity for entity in entities.values() if IMPLIED not in entity.flags]
    views = {view.entity.id: view for view in views_of(existing, reader=writer)}
    ids = {view.name: view.entity.id for view in views.values()}
    tick = TICK_SECONDS if len(existing) < len(entities) else 0.0
    targets: list[_Target] = []
    for subject in subjects:
        id = ids.get(subject.name)
        if id is None:
            now = writer.now + tick * len(targets)
            entity = new_entity(subject, entities.get(subject.name), writer.namespace, now)
            ids[subject.name] = entity.id
            views[entity.id] = EntityView(entity=entity, name=entity.title, created=True)
            targets.append(_Target(subject, entity.id, created=True))
        else:
            if merge:
                views[id] = replace(views[id], entity=_updated(views[id].entity, subject))
            targets.append(_Target(subject, id, ignored=not merge))
    return targets, views


def _extended(
    targets: Sequence[_Target], views: Mapping[str, EntityView], comparison: _Comparison, writer: Writer
) -> list[EntityView]:
    """Write the new observations of each target; one view for each target.

    A text that repeats a current observation word for word is left out.
    """
    texts = {id: {memory.content for memory in view.statements} for id, view in views.items()}
    below: dict[str, list[Memory]] = {id: list(view.observations) for id, view in views.items()}
    added: list[list[Memory]] = []
    for target in targets:
        wanted = () if target.ignored else dict.fromkeys(target.subject.observations)
        new = [text for text in wanted if text not in texts[target.id]]
        texts[target.id].update(new)
        entity = views[target.id].entity
        added.append([_observation(text, entity, target.subject, comparison, writer.now) for text in new])
        below[target.id] += added[-1]
    extended = {id: replace(view, observations=tuple(below[id])) for id, view in views.items()}
    observations = [memory for memories in added for memory in memories]
    stored = [*_write_entities(extended.values(), writer), *writer.put(observations)]
    written = {memory.id: memory for memory in stored}
    pairs = [(target.id, m) for target, memories in zip(targets, added, strict=True) for m in memories]
    writer.put_links(
        [
            new_link(Tie(source=id, target=memory.id, kind="hierarchical"), "observe", writer.now)
            for id, memory in pairs
        ]
    )
    writer.put_links(_updates_of([(views[id], memory) for id, memory in pairs], writer.now))
    return [
        EntityView(
            entity=written.get(target.id, extended[target.id].entity),
            name=extended[target.id].name,
            observations=tuple(written.get(m.id, m) for m in extended[target.id].observations),
            created=target.created,
            added=tuple(written[memory.id] for memory in memories),
        )
        for target, memories in zip(targets, added, strict=True)
    ]


def _updates_of(added: Iterable[tuple[EntityView, Memory]], now: float) -> list[Link]:
    """A link from each new observation to an older one of its entity that it certainly corrects."""
    links = []
    for view, memory in added:
        older = [one for one in view.observations[-MOST_COMPARED:] if not one.superseded_by]
        corrected = next((o for o in older if compare(o.content, memory.content) is Relation.UPDATE), None)
        if corrected is not None:
            links.append(new_link(Tie(source=memory.id, target=corrected.id, type=UPDATES), "observe", now))
    return links


def _write_entities(views: Iterable[EntityView], writer: Writer) -> list[Memory]:
    """Write the entities whose fields or observations have changed."""
    entities = [replace(view.entity, context=text_of(view)) for view in views if view.own]
    before = writer.get([entity.id for entity in entities])
    changed = [entity for entity in entities if before.get(entity.id) != entity]
    return writer.put([replace(entity, updated_at=writer.now) for entity in changed])


def _updated(entity: Memory, subject: Subject) -> Memory:
    """The entity with the type and status of the subject, where it has them."""
    type = entity.type if subject.type is None else subject.type
    status = subject.status or entity.status
    return replace(entity, type=type, status=status, content=header_of(entity.title, type))


def _observation(text: str, entity: Memory, subject: Subject, comparison: _Comparison, now: float) -> Memory:
    repeats = (subject.name, text) in comparison.repeats
    return Memory(
        id=new_id(now),
        namespace=entity.namespace,
        kind=OBSERVATION,
        type=subject.kind,
        content=text,
        project=entity.project,
        flags=frozenset({SIMILAR}) if repeats else frozenset(),
        metadata=comparison.cited.get(text, NOTHING).metadata(),
        created_at=now,
        updated_at=now,
    )


def _superseded(subject: Subject, result: EntityView, writer: Writer) -> EntityView:
    """The last of the new observations takes the place of an older one, which stays as history."""
    if subject.supersedes is None:
        return result
    entity, current = result.entity, {memory.content: memory for memory in result.statements}
    past = {memory.alias: memory for memory in past_of(entity, reader=writer)}
    old = past.get(subject.supersedes)
    if old is None:
        whose = preview(result.name, 80)
        raise Invalid(f"Observation not found: {subject.supersedes}; it is none of {whose!r}")
    if old.superseded_by is not None:
        raise Invalid(f"Observation {subject.supersedes} is superseded already")
    if not subject.observations or current[subject.observations[-1]].id == old.id:
        raise Invalid("An observation is superseded by another one: give its text")
    newer = current[subject.observations[-1]].id
    writer.put([replace(old, superseded_by=newer, superseded_at=writer.now, updated_at=writer.now)])
    refresh_entity_text([entity.id], writer=writer)
    [after] = portrayed(writer.get([entity.id]).values(), reader=writer)
    return replace(after, added=result.added)


def _compared(
    subjects: Sequence[Subject], memories: Mapping[str, Memory], reader: Reader, embeddings: Embeddings
) -> _Comparison:
    """Compare new texts with the observations of the same entity: outside any transaction."""
    views = portrayed(_distinct(memories.values()), reader=reader)
    statements = {view.entity.id: view.statements for view in views}
    repeats: set[tuple[str, str]] = set()
    vectors: dict[str, Vector] = {}
    for subject in subjects:
        old = statements[memories[subject.name].id] if subject.name in memories else ()
        old_texts = {memory.content for memory in old}
        new = [text for text in dict.fromkeys(subject.observations) if text not in old_texts]
        if old and new:
            found, embedded = repeated(new, old, reader=reader, embeddings=embeddings)
            repeats |= {(subject.name, text) for text in found}
            vectors |= embedded
    return _Comparison(frozenset(repeats), vectors)


def _cited(subjects: Sequence[Subject], context: Context) -> dict[str, Cited]:
    """The files of the caller's repository that the observations name, by text."""
    texts = {text for subject in subjects for text in subject.observations}
    return {text: context.tree.cite([text]) for text in texts} if context.tree else {}


def _keep_vectors(
    views: Iterable[EntityView], comparison: _Comparison, writer: Writer, embeddings: Embeddings
) -> None:
    added = [memory for view in views for memory in view.added]
    new = comparison.vectors
    vectors = {memory.id: new[memory.content] for memory in added if memory.content in new}
    if vectors:
        writer.put_vectors(embeddings.model, vectors)


def _count(views: Sequence[EntityView], context: Context) -> None:
    """Count a use of each entity that existed before."""
    count_use([p.entity.id for p in views if not p.created], context)


def retract(subjects: Sequence[Subject], context: Context, *, strict: bool) -> dict[str, EntityView]:
    """Hide observations by their exact text; returns the memories that are left, by the subject's name.

    The text of another dialect's memory is the memory itself: it is forgotten. strict: raise NotFound for
    an unknown name.
    """
    with context.transaction() as writer:
        memories = addressed([subject.name for subject in subjects], reader=writer)
        if strict and (missing := [subject.name for subject in subjects if subject.name not in memories]):
            raise NotFound(missing[0])
        for subject in subjects:
            if subject.name in memories:
                _retract(subject, memories[subject.name], writer)
        left = list(writer.get([memory.id for memory in memories.values()]).values())
        refresh_entity_text([memory.id for memory in left], writer=writer)
        views = {p.entity.id: p for p in portrayed(left, reader=writer)}
    count_use(list(views), context)
    return {name: views[memory.id] for name, memory in memories.items() if memory.id in views}


def _retract(subject: Subject, memory: Memory, writer: Writer) -> None:
    past = past_of(memory, reader=writer)
    gone = [observation for observation in past if observation.content in subject.observations]
    hidden = [
        replace(
            observation, forgotten_at=writer.now, forgotten_reason=writer.cause.reason, updated_at=writer.now
        )
        for observation in gone
    ]
    writer.put(hidden)
    if memory.kind == ENTITY or memory.content not in subject.observations:
        return
    if any(observation not in gone and observation.superseded_by is None for observation in past):
        whose = preview(subject.name, 80)
        raise Invalid(
            f"{preview(memory.content, 80)!r} is the memory {whose!r} itself, and other observations were "
            "added to it; delete those as well, or the whole with delete_entities"
        )
    hide(memory, writer.cause.reason, writer)
