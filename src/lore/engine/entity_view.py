"""entity_view: an entity with its observations; made of a subject, found by name, kept as text for search."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace

from lore.errors import NotFound
from lore.model import Filter, Memory, new_id
from lore.ranking.limbic import QuestionPhrases, snapshot_of
from lore.store import Reader, Writer
from lore.store.values import EVERY, Page, parents_of
from lore.text import SHORT_LIMIT_BYTES, TITLE_LIMIT_BYTES, check_storable, require_text

ENTITY, OBSERVATION = "entity", "observation"
GENERIC_KIND = "generic"
DEFAULT_TYPE = "Generic"
IMPLIED = "implied"
"""The flag of an entity that only relations mention: it is the end of a link, and never shown."""
SIMILAR = "similar"
"""The flag of an observation that repeats an older one."""
ALL = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphVocabulary:
    """The words of a graph dialect for which verbs have rules. The defaults are plain English.

    status: of a new entity. archived: the status of entities that no report calls stale. status_factors:
    weight of an entity in a search by its status, 1 if not listed. contains: the relation type from an entity
    to its parts after a split. inverses: relation types that come in pairs. split_thresholds: observations
    above which an entity of a type is too large, split_threshold for other types. phrases: of questions.
    """

    status: str = "active"
    archived: str = "archived"
    status_factors: Mapping[str, float] = field(default_factory=dict)
    contains: str = "contains"
    inverses: Mapping[str, str] = field(
        default_factory=lambda: {"contains": "part_of", "part_of": "contains"}
    )
    split_thresholds: Mapping[str, int] = field(default_factory=dict)
    split_threshold: int = 20
    phrases: QuestionPhrases = field(default_factory=QuestionPhrases)

    def split_threshold_of(self, type: str) -> int:
        """The number of observations above which an entity of this type is too large."""
        return self.split_thresholds.get(type, self.split_threshold)


ENGLISH = GraphVocabulary()


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Statements about an entity. None leaves type and status as they are, or at the default if it is new.

    default_status: of a new entity without a status. kind: of the observations. supersedes: the alias of an
    older observation that the last one replaces.
    """

    name: str
    type: str | None = None
    status: str | None = None
    default_status: str = ENGLISH.status
    observations: tuple[str, ...] = ()
    kind: str = GENERIC_KIND
    supersedes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityView:
    """An entity and its observations, oldest first.

    Any other memory can stand for an entity, under a `name` of its own: its text is its first observation.
    created: the call has created the entity. added: the observations that the call has added.
    """

    entity: Memory
    name: str
    observations: tuple[Memory, ...] = ()
    created: bool = False
    added: tuple[Memory, ...] = ()

    @property
    def own(self) -> bool:
        """Whether this is an entity of the graph rather than another memory in its place."""
        return self.entity.kind == ENTITY

    @property
    def statements(self) -> tuple[Memory, ...]:
        """The memories whose texts are shown as observations."""
        return self.observations if self.own else (self.entity, *self.observations)


def header_of(name: str, type: str) -> str:
    """The text of an entity without observations."""
    return f"{name} ({type})"


def entities_named(names: Collection[str], *, reader: Reader, implied: bool = False) -> dict[str, Memory]:
    """By exact name; where the reader's own and a shared one have the same name, the own one."""
    if not names:
        return {}
    where = Filter(kinds=frozenset({ENTITY}), titles=frozenset(names), superseded=True)
    found = sorted(
        reader.select(where, EVERY), key=lambda m: (m.namespace != reader.namespace, m.created_at, m.alias)
    )
    entities: dict[str, Memory] = {}
    for memory in found:
        if implied or IMPLIED not in memory.flags:
            entities.setdefault(memory.title, memory)
    return entities


def views_of(entities: Iterable[Memory], *, reader: Reader) -> list[EntityView]:
    """Each with its current observations."""
    entities = list(entities)
    below = observations_below([entity.id for entity in entities], reader=reader)
    return [EntityView(entity=e, name=e.title, observations=below[e.id]) for e in entities]


def observations_below(ids: Iterable[str], *, reader: Reader) -> dict[str, tuple[Memory, ...]]:
    """The current observations of each memory, oldest first; an entry for each of `ids`."""
    children = reader.children(ids)
    child_ids = tuple(child for ids in children.values() for child in ids)
    where = Filter(kinds=frozenset({OBSERVATION}), ids=child_ids)
    page = Page(limit=len(child_ids))
    found = {memory.id: memory for memory in reader.select(where, page)} if child_ids else {}
    return {id: tuple(found[child] for child in ids if child in found) for id, ids in children.items()}


def past_of(entity: Memory, *, reader: Reader) -> list[Memory]:
    """All observations of one entity, superseded ones included, oldest first."""
    where = Filter(kinds=frozenset({OBSERVATION}), under=entity.id, superseded=True)
    found = reader.select(where, EVERY)
    parents = parents_of(reader.ancestors([memory.id for memory in found]))
    return [memory for memory in reversed(found) if parents.get(memory.id) == entity.id]


def all_entities(*, reader: Reader) -> list[Memory]:
    """All entities in the order of their creation, those that are only implied included."""
    found = reader.select(Filter(kinds=frozenset({ENTITY})), EVERY)
    return sorted(found, key=lambda memory: (memory.created_at, memory.alias))


def shown_entities(*, reader: Reader) -> list[Memory]:
    """All entities but those that are only implied."""
    return [entity for entity in all_entities(reader=reader) if IMPLIED not in entity.flags]


def refresh_entity_text(ids: Iterable[str], *, writer: Writer) -> list[EntityView]:
    """Rewrite the search text of these entities from their observations."""
    ids = list(dict.fromkeys(ids))
    memories = writer.get(ids)
    entities = [memories[id] for id in ids if id in memories and memories[id].kind == ENTITY]
    views = views_of(entities, reader=writer)
    changed = [
        replace(view.entity, context=text, updated_at=writer.now)
        for view in views
        if (text := text_of(view)) != view.entity.context
    ]
    stored = {memory.id: memory for memory in writer.put(changed)}
    return [replace(p, entity=stored.get(p.entity.id, p.entity)) for p in views]


def refresh_entities_of(observations: Iterable[Memory], *, writer: Writer) -> None:
    """Rewrite the search text of the entities to which these observations belong."""
    ids = [memory.id for memory in observations if memory.kind == OBSERVATION]
    if ids:
        refresh_entity_text(parents_of(writer.ancestors(ids)).values(), writer=writer)


def text_of(view: EntityView) -> str:
    """The text by which search finds an entity: its header and its observations."""
    entity = view.entity
    header = f"{header_of(entity.title, entity.type)} [{entity.status}]: "
    return snapshot_of(header, [_line(memory) for memory in view.observations])


def _line(observation: Memory) -> str:
    kind = observation.type
    return observation.content if kind in ("", GENERIC_KIND) else f"[{kind}] {observation.content}"


def implied(names: Iterable[str], *, writer: Writer) -> dict[str, Memory]:
    """Create entities that only a relation mentions, by name."""
    subjects = [Subject(name=name) for name in names]
    for subject in subjects:
        check_subject(subject)
    entities = [new_entity(subject, None, writer.namespace, writer.now) for subject in subjects]
    flags = frozenset({IMPLIED})
    stored = writer.put([replace(entity, content=entity.title, flags=flags) for entity in entities])
    return {memory.title: memory for memory in stored}


def check_subject(subject: Subject) -> None:
    """Raise Invalid if the subject cannot be stored."""
    require_text(subject.name, "name", TITLE_LIMIT_BYTES)
    check_storable(subject.type or "", "entityType", SHORT_LIMIT_BYTES)
    for name, text in (("status", subject.status), ("kind", subject.kind)):
        if text is not None:
            require_text(text, name, SHORT_LIMIT_BYTES)
    for text in subject.observations:
        require_text(text, "observation")
    check_storable(header_of(subject.name, subject.type or DEFAULT_TYPE), "name")


def new_entity(subject: Subject, implied: Memory | None, namespace: str, now: float) -> Memory:
    """A new entity; it takes the place of one that was only implied."""
    type = DEFAULT_TYPE if subject.type is None else subject.type
    return Memory(
        id=new_id(now) if implied is None else implied.id,
        namespace=namespace if implied is None else implied.namespace,
        kind=ENTITY,
        type=type,
        title=subject.name,
        content=header_of(subject.name, type),
        status=subject.status or subject.default_status,
        created_at=now,
        updated_at=now,
    )


def entity_named(name: str, reader: Reader) -> Memory:
    """The entity with this very name; NotFound if there is none."""
    entity = entities_named([name], reader=reader).get(name)
    if entity is None:
        raise NotFound(name)
    return entity
