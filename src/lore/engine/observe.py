"""observe, introduce, retract: what is said about entities, all of a call or nothing of it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lore.engine.duplicates import repeated
from lore.engine.link import made
from lore.engine.portrait import (
    ENTITY,
    GENERIC_KIND,
    IMPLIED,
    OBSERVATION,
    SIMILAR,
    Portrait,
    entities_named,
    header_of,
    past_of,
    portraits_of,
    repaint,
)
from lore.engine.remember import SHORT_LIMIT_BYTES, TITLE_LIMIT_BYTES
from lore.engine.sense import Sense
from lore.engine.use import count_use
from lore.errors import Invalid, NotFound
from lore.model import Cause, Link, Memory, Tie, new_id
from lore.store import Reader, Store, Writer
from lore.text import clean, preview, storable
from lore.vectors import Vector

DEFAULT_TYPE = "Generic"
DEFAULT_STATUS = "activo"


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
    sense: Sense,
    namespace: str,
    cause: Cause,
    now: float,
) -> list[Portrait]:
    """Create entities. Those that exist gain the new observations, or stay as they are without `merge`."""
    for subject in subjects:
        check(subject)
    judged = _judged(subjects, store.reader(namespace), sense, namespace) if merge else _Judged()
    with store.transaction(namespace, cause, now) as writer:
        portraits = introduced(
            subjects, merge=merge, writer=writer, judged=judged, namespace=namespace, now=now
        )
        _keep_vectors(portraits, judged, writer, sense)
    _count(portraits, store, now)
    return portraits


def observe(
    subjects: Sequence[Subject],
    *,
    judge: bool,
    store: Store,
    sense: Sense,
    namespace: str,
    cause: Cause,
    now: float,
) -> list[Portrait]:
    """Add observations to entities that exist; NotFound names one that does not.

    judge: flag those that repeat an older one, which takes their vectors.
    """
    for subject in subjects:
        check(subject)
    judged = _judged(subjects, store.reader(namespace), sense, namespace) if judge else _Judged()
    with store.transaction(namespace, cause, now) as writer:
        known = entities_named([s.name for s in subjects], reader=writer, namespace=namespace)
        if missing := [subject.name for subject in subjects if subject.name not in known]:
            raise NotFound(missing[0])
        portraits = [_observed(known[s.name], s, writer, judged, now) for s in subjects]
        _keep_vectors(portraits, judged, writer, sense)
    _count(portraits, store, now)
    return portraits


def retract(
    subjects: Sequence[Subject],
    *,
    strict: bool,
    store: Store,
    namespace: str,
    cause: Cause,
    now: float,
) -> dict[str, Portrait]:
    """Hide observations by their exact text; the entities that are known, as they stand afterwards.

    strict: an entity that does not exist is NotFound.
    """
    with store.transaction(namespace, cause, now) as writer:
        known = entities_named([s.name for s in subjects], reader=writer, namespace=namespace)
        if strict and (missing := [subject.name for subject in subjects if subject.name not in known]):
            raise NotFound(missing[0])
        for subject in subjects:
            if subject.name in known:
                gone = [
                    replace(memory, forgotten_at=now, forgotten_reason=cause.reason, updated_at=now)
                    for memory in past_of(known[subject.name], reader=writer)
                    if memory.content in subject.observations
                ]
                writer.put(gone)
        painted = repaint([entity.id for entity in known.values()], writer=writer, now=now)
    _count(painted, store, now)
    return {portrait.name: portrait for portrait in painted}


def introduced(
    subjects: Iterable[Subject],
    *,
    merge: bool,
    writer: Writer,
    namespace: str,
    now: float,
    judged: _Judged | None = None,
) -> list[Portrait]:
    """The same inside a transaction of the caller's."""
    portraits = []
    for subject in subjects:
        names = [subject.name]
        entity = entities_named(names, reader=writer, namespace=namespace, implied=True).get(subject.name)
        fresh = entity is None or IMPLIED in entity.flags
        if fresh or entity is None:
            entity = _created(subject, entity, writer, namespace, now)
        elif merge:
            entity = _updated(entity, subject, writer, now)
        else:
            portraits += portraits_of([entity], reader=writer)
            continue
        portrait = _observed(entity, subject, writer, judged or _Judged(), now)
        portraits.append(replace(portrait, created=fresh))
    return portraits


def implied(name: str, *, writer: Writer, namespace: str, now: float) -> Memory:
    """An entity that only a relation speaks of."""
    check(Subject(name=name))
    ghost = _entity(Subject(name=name), namespace, now)
    [stored] = writer.put([replace(ghost, content=name, flags=frozenset({IMPLIED}))])
    return stored


def check(subject: Subject) -> None:
    """Invalid says what about it cannot be stored."""
    clean(subject.name, "name", TITLE_LIMIT_BYTES)
    for name, text in (("entityType", subject.type), ("status", subject.status), ("kind", subject.kind)):
        if text is not None:
            clean(text, name, SHORT_LIMIT_BYTES)
    for text in subject.observations:
        clean(text, "observation")
    storable(header_of(subject.name, subject.type or DEFAULT_TYPE), "name")


def _entity(subject: Subject, namespace: str, now: float) -> Memory:
    kind = subject.type or DEFAULT_TYPE
    return Memory(
        id=new_id(now),
        namespace=namespace,
        kind=ENTITY,
        type=kind,
        title=subject.name,
        content=header_of(subject.name, kind),
        status=subject.status or DEFAULT_STATUS,
        created_at=now,
        updated_at=now,
    )


def _created(subject: Subject, ghost: Memory | None, writer: Writer, namespace: str, now: float) -> Memory:
    entity = _entity(subject, namespace, now)
    if ghost is not None:
        entity = replace(entity, id=ghost.id, namespace=ghost.namespace)
    [stored] = writer.put([entity])
    return stored


def _updated(entity: Memory, subject: Subject, writer: Writer, now: float) -> Memory:
    """Only what was really given: a default never overwrites."""
    kind, status = subject.type or entity.type, subject.status or entity.status
    changed = replace(entity, type=kind, status=status, content=header_of(entity.title, kind))
    if changed == entity:
        return entity
    [stored] = writer.put([replace(changed, updated_at=now)])
    return stored


def _observed(entity: Memory, subject: Subject, writer: Writer, judged: _Judged, now: float) -> Portrait:
    """Keep what is new; exact repetitions of what is current are left out."""
    [before] = portraits_of([entity], reader=writer)
    known = {memory.content: memory for memory in before.observations}
    fresh = [text for text in dict.fromkeys(subject.observations) if text not in known]
    added = writer.put([_observation(text, entity, subject, judged, now) for text in fresh])
    writer.put_links([_below(entity, memory, now) for memory in added])
    if subject.supersedes is not None:
        known |= {memory.content: memory for memory in added}
        _supersede(subject, entity, known, writer, now)
    [after] = repaint([entity.id], writer=writer, now=now)
    return replace(after, added=tuple(added))


def _observation(text: str, entity: Memory, subject: Subject, judged: _Judged, now: float) -> Memory:
    repeats = (entity.title, text) in judged.similar
    return Memory(
        id=new_id(now),
        namespace=entity.namespace,
        kind=OBSERVATION,
        type=subject.kind,
        content=text,
        flags=frozenset({SIMILAR}) if repeats else frozenset(),
        created_at=now,
        updated_at=now,
    )


def _below(entity: Memory, observation: Memory, now: float) -> Link:
    return made(Tie(source=entity.id, target=observation.id, kind="hierarchical"), "observe", now)


def _supersede(
    subject: Subject, entity: Memory, known: Mapping[str, Memory], writer: Writer, now: float
) -> None:
    """The last of the new observations takes the place of an older one, which stays as history."""
    past = {memory.alias: memory for memory in past_of(entity, reader=writer)}
    old = past.get(subject.supersedes or 0)
    if old is None:
        whose = preview(entity.title, 80)
        raise Invalid(f"Observation not found: {subject.supersedes}; it is none of {whose!r}")
    if old.superseded_by is not None:
        raise Invalid(f"Observation {subject.supersedes} is superseded already")
    if not subject.observations or known[subject.observations[-1]].id == old.id:
        raise Invalid("An observation is superseded by another one: give its text")
    newer = known[subject.observations[-1]].id
    writer.put([replace(old, superseded_by=newer, superseded_at=now, updated_at=now)])


def _judged(subjects: Sequence[Subject], reader: Reader, sense: Sense, namespace: str) -> _Judged:
    """Compare new texts with what is known of the same entity: outside any transaction."""
    entities = entities_named([s.name for s in subjects], reader=reader, namespace=namespace)
    known = {p.name: p.observations for p in portraits_of(entities.values(), reader=reader)}
    similar: set[tuple[str, str]] = set()
    vectors: dict[str, Vector] = {}
    for subject in subjects:
        old = known.get(subject.name, ())
        texts = {memory.content for memory in old}
        fresh = [text for text in dict.fromkeys(subject.observations) if text not in texts]
        if old and fresh:
            found, embedded = repeated(fresh, old, reader=reader, sense=sense)
            similar |= {(subject.name, text) for text in found}
            vectors |= embedded
    return _Judged(frozenset(similar), vectors)


def _keep_vectors(portraits: Iterable[Portrait], judged: _Judged, writer: Writer, sense: Sense) -> None:
    added = [memory for portrait in portraits for memory in portrait.added]
    vectors = {m.id: judged.vectors[m.content] for m in added if m.content in judged.vectors}
    if vectors:
        writer.put_vectors(sense.model, vectors)


def _count(portraits: Sequence[Portrait], store: Store, now: float) -> None:
    """Saying something about a known entity is a use of it."""
    count_use([p.entity.id for p in portraits if not p.created], store=store, now=now)
