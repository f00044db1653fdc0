"""observe, introduce: what is said about entities, all of a call or nothing of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lore.engine.duplicates import repeated
from lore.engine.embeddings import Embeddings
from lore.engine.entity_view import (
    ENTITY,
    GENERIC_KIND,
    IMPLIED,
    OBSERVATION,
    SIMILAR,
    EntityView,
    entities_named,
    header_of,
    past_of,
    refresh_entity_text,
    text_of,
    views_of,
)
from lore.engine.link import new_link
from lore.engine.nodes import addressed, portrayed
from lore.engine.remember import SHORT_LIMIT_BYTES, TITLE_LIMIT_BYTES
from lore.engine.use import count_use
from lore.errors import Invalid, NotFound
from lore.model import UPDATES, Cause, Link, Memory, Tie, new_id
from lore.ranking.compare import Relation, compare
from lore.store import Reader, Store, Writer
from lore.text import check_storable, preview, require_text
from lore.vectors import Vector

DEFAULT_TYPE = "Generic"
DEFAULT_STATUS = "activo"
MOST_COMPARED = 100
"""The newest observations of an entity with which a new one is compared to see what it corrects."""
TICK_SECONDS = 1e-6
"""Between entities of one call of which some were implied before: their numbers do not tell the order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What somebody says about an entity; None leaves type and status as they are, or at the default.

    kind: of the observations. supersedes: the alias of an older observation that the last one replaces.
    """

    name: str
    type: str | None = None
    status: str | None = None
    observations: tuple[str, ...] = ()
    kind: str = GENERIC_KIND
    supersedes: int | None = None


@dataclass(frozen=True, slots=True)
class _Judged:
    """What was thought about new texts before the transaction: which repeat others, and their vectors."""

    similar: frozenset[tuple[str, str]] = frozenset()
    vectors: Mapping[str, Vector] = field(default_factory=dict)


def introduce(
    subjects: Sequence[Subject],
    *,
    merge: bool,
    store: Store,
    sense: Embeddings,
    namespace: str,
    cause: Cause,
    now: float,
) -> list[EntityView]:
    """Create entities. Those that exist gain the new observations, or stay as they are without `merge`."""
    for subject in subjects:
        check(subject)
    judged = _Judged()
    if merge:
        reader = store.reader(namespace)
        names = [subject.name for subject in subjects]
        known = entities_named(names, reader=reader, namespace=namespace)
        judged = _judged(subjects, known, reader, sense)
    with store.transaction(namespace, cause, now) as writer:
        views = introduced(subjects, merge=merge, writer=writer, judged=judged, namespace=namespace, now=now)
        _keep_vectors(views, judged, writer, sense)
    _count(views, store, now)
    return views


def observe(
    subjects: Sequence[Subject],
    *,
    judge: bool,
    store: Store,
    sense: Embeddings,
    namespace: str,
    cause: Cause,
    now: float,
) -> list[EntityView]:
    """Add observations to entities, or to other memories under the names that the graph shows.

    NotFound names one that does not exist. judge: flag observations that repeat an older one, which takes
    their vectors.
    """
    for subject in subjects:
        check(subject)
    judged = _Judged()
    if judge:
        reader = store.reader(namespace)
        judged = _judged(subjects, _addressed(subjects, reader, namespace), reader, sense)
    with store.transaction(namespace, cause, now) as writer:
        known = _addressed(subjects, writer, namespace)
        if missing := [subject.name for subject in subjects if subject.name not in known]:
            raise NotFound(missing[0])
        kept = [_Kept(s, known[s.name].id) for s in subjects]
        views = {p.entity.id: p for p in portrayed(_distinct(known.values()), reader=writer)}
        results = _extended(kept, views, judged, writer, now)
        results = [_superseded(s, result, writer, now) for s, result in zip(subjects, results, strict=True)]
        _keep_vectors(results, judged, writer, sense)
    _count(results, store, now)
    return results


def _addressed(subjects: Sequence[Subject], reader: Reader, namespace: str) -> dict[str, Memory]:
    return addressed([subject.name for subject in subjects], reader=reader, namespace=namespace)


def _distinct(memories: Iterable[Memory]) -> list[Memory]:
    return list({memory.id: memory for memory in memories}.values())


@dataclass(frozen=True, slots=True)
class _Kept:
    """One subject of a call and the id of the memory that it is about."""

    subject: Subject
    id: str
    created: bool = False
    ignored: bool = False


def introduced(
    subjects: Iterable[Subject],
    *,
    merge: bool,
    writer: Writer,
    namespace: str,
    now: float,
    judged: _Judged | None = None,
) -> list[EntityView]:
    """The same inside a transaction of the caller's."""
    subjects = list(subjects)
    names = [subject.name for subject in subjects]
    known = entities_named(names, reader=writer, namespace=namespace, implied=True)
    existing = [entity for entity in known.values() if IMPLIED not in entity.flags]
    views = {p.entity.id: p for p in views_of(existing, reader=writer)}
    ids = {p.name: p.entity.id for p in views.values()}
    tick = TICK_SECONDS if len(existing) < len(known) else 0.0
    kept: list[_Kept] = []
    for subject in subjects:
        id = ids.get(subject.name)
        if id is None:
            entity = _entity(subject, known.get(subject.name), namespace, now + tick * len(kept))
            ids[subject.name] = entity.id
            views[entity.id] = EntityView(entity=entity, name=entity.title, created=True)
            kept.append(_Kept(subject, entity.id, created=True))
        else:
            if merge:
                views[id] = replace(views[id], entity=_updated(views[id].entity, subject))
            kept.append(_Kept(subject, id, ignored=not merge))
    return _extended(kept, views, judged or _Judged(), writer, now)


def _extended(
    kept: Sequence[_Kept], views: Mapping[str, EntityView], judged: _Judged, writer: Writer, now: float
) -> list[EntityView]:
    """Write what the subjects add to their memories; one view for each subject.

    Exact repetitions of what is current are left out.
    """
    texts = {id: {memory.content for memory in p.statements} for id, p in views.items()}
    added: list[list[Memory]] = []
    for one in kept:
        wanted = () if one.ignored else dict.fromkeys(one.subject.observations)
        fresh = [text for text in wanted if text not in texts[one.id]]
        texts[one.id].update(fresh)
        entity = views[one.id].entity
        added.append([_observation(text, entity, one.subject, judged, now) for text in fresh])
    below: dict[str, list[Memory]] = {id: list(p.observations) for id, p in views.items()}
    for one, observations in zip(kept, added, strict=True):
        below[one.id] += observations
    drawn = {id: replace(p, observations=tuple(below[id])) for id, p in views.items()}
    new = [memory for observations in added for memory in observations]
    stored = [*_write_entities(drawn.values(), writer, now), *writer.put(new)]
    written = {memory.id: memory for memory in stored}
    pairs = [(one.id, m) for one, observations in zip(kept, added, strict=True) for m in observations]
    writer.put_links([_below(id, memory, now) for id, memory in pairs])
    writer.put_links(_updates_of([(views[id], memory) for id, memory in pairs], now))
    return [
        EntityView(
            entity=written.get(one.id, drawn[one.id].entity),
            name=drawn[one.id].name,
            observations=tuple(written.get(m.id, m) for m in drawn[one.id].observations),
            created=one.created,
            added=tuple(written[memory.id] for memory in observations),
        )
        for one, observations in zip(kept, added, strict=True)
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


def _write_entities(views: Iterable[EntityView], writer: Writer, now: float) -> list[Memory]:
    """Write the entities whose fields or observations have changed."""
    own = [view for view in views if view.own]
    before = writer.get([view.entity.id for view in own])
    wanted = [replace(view.entity, context=text_of(view)) for view in own]
    changed = [entity for entity in wanted if before.get(entity.id) != entity]
    return writer.put([replace(entity, updated_at=now) for entity in changed])


def implied(names: Iterable[str], *, writer: Writer, namespace: str, now: float) -> dict[str, Memory]:
    """Entities that only a relation speaks of, by name."""
    subjects = [Subject(name=name) for name in names]
    for subject in subjects:
        check(subject)
    ghosts = [_entity(subject, None, namespace, now) for subject in subjects]
    flags = frozenset({IMPLIED})
    stored = writer.put([replace(ghost, content=ghost.title, flags=flags) for ghost in ghosts])
    return {memory.title: memory for memory in stored}


def check(subject: Subject) -> None:
    """Invalid says what about it cannot be stored."""
    require_text(subject.name, "name", TITLE_LIMIT_BYTES)
    check_storable(subject.type or "", "entityType", SHORT_LIMIT_BYTES)
    for name, text in (("status", subject.status), ("kind", subject.kind)):
        if text is not None:
            require_text(text, name, SHORT_LIMIT_BYTES)
    for text in subject.observations:
        require_text(text, "observation")
    check_storable(header_of(subject.name, subject.type or DEFAULT_TYPE), "name")


def _entity(subject: Subject, ghost: Memory | None, namespace: str, now: float) -> Memory:
    """A new entity; it takes the place of one that was only implied."""
    kind = DEFAULT_TYPE if subject.type is None else subject.type
    return Memory(
        id=new_id(now) if ghost is None else ghost.id,
        namespace=namespace if ghost is None else ghost.namespace,
        kind=ENTITY,
        type=kind,
        title=subject.name,
        content=header_of(subject.name, kind),
        status=subject.status or DEFAULT_STATUS,
        created_at=now,
        updated_at=now,
    )


def _updated(entity: Memory, subject: Subject) -> Memory:
    """Only what was really given: a default never overwrites."""
    kind = entity.type if subject.type is None else subject.type
    status = subject.status or entity.status
    return replace(entity, type=kind, status=status, content=header_of(entity.title, kind))


def _observation(text: str, entity: Memory, subject: Subject, judged: _Judged, now: float) -> Memory:
    repeats = (subject.name, text) in judged.similar
    return Memory(
        id=new_id(now),
        namespace=entity.namespace,
        kind=OBSERVATION,
        type=subject.kind,
        content=text,
        project=entity.project,
        flags=frozenset({SIMILAR}) if repeats else frozenset(),
        created_at=now,
        updated_at=now,
    )


def _below(entity: str, observation: Memory, now: float) -> Link:
    return new_link(Tie(source=entity, target=observation.id, kind="hierarchical"), "observe", now)


def _superseded(subject: Subject, result: EntityView, writer: Writer, now: float) -> EntityView:
    """The last of the new observations takes the place of an older one, which stays as history."""
    if subject.supersedes is None:
        return result
    entity, known = result.entity, {memory.content: memory for memory in result.statements}
    past = {memory.alias: memory for memory in past_of(entity, reader=writer)}
    old = past.get(subject.supersedes)
    if old is None:
        whose = preview(result.name, 80)
        raise Invalid(f"Observation not found: {subject.supersedes}; it is none of {whose!r}")
    if old.superseded_by is not None:
        raise Invalid(f"Observation {subject.supersedes} is superseded already")
    if not subject.observations or known[subject.observations[-1]].id == old.id:
        raise Invalid("An observation is superseded by another one: give its text")
    newer = known[subject.observations[-1]].id
    writer.put([replace(old, superseded_by=newer, superseded_at=now, updated_at=now)])
    refresh_entity_text([entity.id], writer=writer, now=now)
    [after] = portrayed(writer.get([entity.id]).values(), reader=writer)
    return replace(after, added=result.added)


def _judged(
    subjects: Sequence[Subject], memories: Mapping[str, Memory], reader: Reader, sense: Embeddings
) -> _Judged:
    """Compare new texts with what is known of the same entity: outside any transaction."""
    views = portrayed(_distinct(memories.values()), reader=reader)
    known = {view.entity.id: view.statements for view in views}
    similar: set[tuple[str, str]] = set()
    vectors: dict[str, Vector] = {}
    for subject in subjects:
        old = known[memories[subject.name].id] if subject.name in memories else ()
        texts = {memory.content for memory in old}
        fresh = [text for text in dict.fromkeys(subject.observations) if text not in texts]
        if old and fresh:
            found, embedded = repeated(fresh, old, reader=reader, sense=sense)
            similar |= {(subject.name, text) for text in found}
            vectors |= embedded
    return _Judged(frozenset(similar), vectors)


def _keep_vectors(views: Iterable[EntityView], judged: _Judged, writer: Writer, sense: Embeddings) -> None:
    added = [memory for view in views for memory in view.added]
    vectors = {m.id: judged.vectors[m.content] for m in added if m.content in judged.vectors}
    if vectors:
        writer.put_vectors(sense.model, vectors)


def _count(views: Sequence[EntityView], store: Store, now: float) -> None:
    """Saying something about a known entity is a use of it."""
    count_use([p.entity.id for p in views if not p.created], store=store, now=now)
