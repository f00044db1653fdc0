"""entity_view: an entity with its observations; found by name, and kept as text for search."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from lore.model import Filter, Memory
from lore.ranking.snapshot import snapshot_of
from lore.store import Reader, Writer

ENTITY, OBSERVATION = "entity", "observation"
GENERIC_KIND = "generic"
IMPLIED = "implied"
"""The flag of an entity that only relations speak of: it holds their end, and is shown to nobody."""
SIMILAR = "similar"
"""The flag of an observation that repeats an older one."""
ALL = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityView:
    """An entity and its observations, oldest first; created and added tell what a call has brought.

    Any other memory can stand for an entity, under a `name` of its own: its text is its first observation.
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


def entities_named(
    names: Collection[str], *, reader: Reader, namespace: str, implied: bool = False
) -> dict[str, Memory]:
    """By exact name; where the reader's own and a shared one have the same name, the own one."""
    if not names:
        return {}
    where = Filter(kinds=frozenset({ENTITY}), titles=frozenset(names), superseded=True)
    found = sorted(reader.select(where, ALL), key=lambda m: (m.namespace != namespace, m.created_at, m.alias))
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
    below = reader.children(ids)
    children = tuple(child for ids in below.values() for child in ids)
    where = Filter(kinds=frozenset({OBSERVATION}), ids=children)
    known = {memory.id: memory for memory in reader.select(where, len(children))} if children else {}
    return {id: tuple(known[child] for child in ids if child in known) for id, ids in below.items()}


def past_of(entity: Memory, *, reader: Reader) -> list[Memory]:
    """All observations of one entity, superseded ones included, oldest first."""
    where = Filter(kinds=frozenset({OBSERVATION}), under=entity.id, superseded=True)
    found = reader.select(where, ALL)
    parents = reader.parents([memory.id for memory in found])
    return [memory for memory in reversed(found) if parents.get(memory.id) == entity.id]


def all_entities(*, reader: Reader) -> list[Memory]:
    """Everything in the graph, in the order it came in; what is only implied as well."""
    found = reader.select(Filter(kinds=frozenset({ENTITY})), ALL)
    return sorted(found, key=lambda memory: (memory.created_at, memory.alias))


def shown_entities(*, reader: Reader) -> list[Memory]:
    """Those that are more than implied."""
    return [entity for entity in all_entities(reader=reader) if IMPLIED not in entity.flags]


def refresh_entity_text(ids: Iterable[str], *, writer: Writer, now: float) -> list[EntityView]:
    """Let the words and the vector of these entities follow their observations."""
    ids = list(dict.fromkeys(ids))
    known = writer.get(ids)
    entities = [known[id] for id in ids if id in known and known[id].kind == ENTITY]
    views = views_of(entities, reader=writer)
    changed = [
        replace(view.entity, context=text, updated_at=now)
        for view in views
        if (text := text_of(view)) != view.entity.context
    ]
    stored = {memory.id: memory for memory in writer.put(changed)}
    return [replace(p, entity=stored.get(p.entity.id, p.entity)) for p in views]


def refresh_entities_of(observations: Iterable[Memory], *, writer: Writer, now: float) -> None:
    """The same for whatever entities these observations belong to."""
    ids = [memory.id for memory in observations if memory.kind == OBSERVATION]
    if ids:
        refresh_entity_text(writer.parents(ids).values(), writer=writer, now=now)


def text_of(view: EntityView) -> str:
    """The text by which search finds an entity: its header and its observations."""
    entity = view.entity
    header = f"{header_of(entity.title, entity.type)} [{entity.status}]: "
    return snapshot_of(header, [_told(memory) for memory in view.observations])


def _told(observation: Memory) -> str:
    kind = observation.type
    return observation.content if kind in ("", GENERIC_KIND) else f"[{kind}] {observation.content}"
