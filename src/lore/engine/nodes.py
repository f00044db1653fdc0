"""nodes: entities by name or by a piece of text, with their relations; other memories stand in for one."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lore.engine.portrait import (
    ENTITY,
    IMPLIED,
    OBSERVATION,
    Portrait,
    all_entities,
    entities_named,
    portraits_of,
)
from lore.engine.use import count_use
from lore.model import Filter, Link, Memory
from lore.store import Reader, Store
from lore.text import label_of, terms

FOREIGN_LIMIT = 50
"""How many memories of other dialects are shown at most."""
NAMESAKES = 10
_NUMBERED = re.compile(r"^(?P<label>.*) \(#(?P<alias>[0-9]{1,18})\)$", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bond:
    """A relation with the names of its two ends."""

    link: Link
    source: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """Some portraits, and the active relations that touch any of them."""

    portraits: tuple[Portrait, ...]
    bonds: tuple[Bond, ...]


def everything(*, reader: Reader) -> Nodes:
    """The whole graph, in the order it came in; memories that are no entities take no part."""
    entities = all_entities(reader=reader)
    known = {entity.id: entity.title for entity in entities}
    links = reader.links(known, kinds=("relation",))
    return Nodes(
        portraits=tuple(portraits_of([e for e in entities if IMPLIED not in e.flags], reader=reader)),
        bonds=_bonds([li for li in links if {li.source, li.target} <= known.keys()], known),
    )


def containing(text: str, *, reader: Reader) -> Nodes:
    """Whose name, type or observations have the text in them, whatever the case."""
    wanted = text.lower()
    found = reader.get(reader.containing(text, Filter()))
    parents = reader.parents([id for id, memory in found.items() if memory.kind == OBSERVATION])
    telling = [memory for memory in found.values() if _tells(memory, wanted)]
    ids = [parents.get(memory.id, memory.id) for memory in telling]
    memories = reader.get(dict.fromkeys(ids))
    shown = sorted(memories.values(), key=lambda memory: (memory.created_at, memory.alias))
    own = [memory for memory in shown if memory.kind == ENTITY and IMPLIED not in memory.flags]
    foreign = [memory for memory in shown if stands_in(memory)][-FOREIGN_LIMIT:]
    return _bound([*portraits_of(own, reader=reader), *standing_in(foreign, reader)], reader)


def opened(names: Sequence[str], *, store: Store, reader: Reader, namespace: str, now: float) -> Nodes:
    """By exact name or by id, in the order asked for; unknown ones are left out. Counts as use, together."""
    entities = entities_named(names, reader=reader, namespace=namespace)
    by_id = {id: memory for id, memory in reader.get(names).items() if IMPLIED not in memory.flags}
    own = {p.name: p for p in portraits_of(entities.values(), reader=reader)}
    shown: dict[str, Portrait] = {}
    for name in names:
        if name in own:
            found = [own[name]]
        elif name in by_id:
            found = portrayed([by_id[name]], reader=reader)
        else:
            found = standing_in(_called(name, reader), reader)
        shown |= {portrait.entity.id: portrait for portrait in found}
    count_use(list(shown), store=store, now=now, together=len(shown) > 1)
    return _bound(list(shown.values()), reader)


def portrayed(memories: Iterable[Memory], *, reader: Reader) -> list[Portrait]:
    """Entities with their observations, others under a name of their own; in the same order."""
    memories = list(memories)
    own = portraits_of([m for m in memories if m.kind == ENTITY], reader=reader)
    others = standing_in([m for m in memories if m.kind != ENTITY], reader)
    known = {portrait.entity.id: portrait for portrait in (*own, *others)}
    return [known[memory.id] for memory in memories]


def stands_in(memory: Memory) -> bool:
    """Whether a memory is shown in the place of an entity; reflections on the graph are not."""
    reflecting = memory.kind == "reflection" and "target_type" in memory.metadata
    return memory.kind not in (ENTITY, OBSERVATION) and not reflecting


def standing_in(memories: Sequence[Memory], reader: Reader) -> list[Portrait]:
    """Under title or first words; with a number where others are called the same."""
    labels = Counter(label_of(memory.title, memory.content) for memory in memories)
    titles = frozenset(labels)
    taken = Counter(m.title for m in reader.select(Filter(titles=titles), 1_000)) if titles else Counter()
    portraits = []
    for memory in memories:
        label = label_of(memory.title, memory.content)
        others = labels[label] + taken[label] - (2 if memory.title == label else 1)
        name = f"{label} (#{memory.alias})" if others > 0 else label
        portraits.append(Portrait(entity=memory, name=name))
    return portraits


def names_of(memories: Iterable[Memory], reader: Reader) -> dict[str, str]:
    """What to call the end of a relation."""
    memories = list(memories)
    others = standing_in([memory for memory in memories if memory.kind != ENTITY], reader)
    own = {memory.id: memory.title for memory in memories if memory.kind == ENTITY}
    return own | {portrait.entity.id: portrait.name for portrait in others}


def _called(name: str, reader: Reader) -> list[Memory]:
    """Memories of other dialects that go by this name."""
    if numbered := _NUMBERED.match(name):
        alias = int(numbered["alias"])
        found = reader.get(reader.ids_of("memory", [alias]).values())
        return [m for m in found.values() if label_of(m.title, m.content) == numbered["label"]]
    titled = reader.select(Filter(titles=frozenset({name})), NAMESAKES)
    like = reader.get(reader.matching(terms(name), NAMESAKES, Filter())).values()
    called = {m.id: m for m in (*titled, *like) if name in (m.title, label_of(m.title, m.content))}
    return [memory for memory in called.values() if stands_in(memory)]


def _tells(memory: Memory, wanted: str) -> bool:
    """The store looked into every field; which of them count depends on the kind."""
    told = {
        ENTITY: (memory.title, memory.type),
        OBSERVATION: (memory.content,),
    }.get(memory.kind, (memory.title, memory.type or memory.kind, memory.content))
    return any(wanted in text.lower() for text in told)


def _bound(portraits: Sequence[Portrait], reader: Reader) -> Nodes:
    links = reader.links([portrait.entity.id for portrait in portraits], kinds=("relation",))
    ends = reader.get({end for link in links for end in (link.source, link.target)})
    return Nodes(portraits=tuple(portraits), bonds=_bonds(links, names_of(ends.values(), reader)))


def _bonds(links: Iterable[Link], names: Mapping[str, str]) -> tuple[Bond, ...]:
    """In the order in which they became active."""
    in_order = sorted(links, key=lambda link: (link.updated_at, link.alias))
    return tuple(Bond(link=li, source=names[li.source], target=names[li.target]) for li in in_order)
