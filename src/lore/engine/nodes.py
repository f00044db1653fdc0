"""nodes: entities by name or by a piece of text, with their relations; other memories stand in for one."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lore.engine.context import Context, count_use
from lore.engine.entity_view import (
    ENTITY,
    IMPLIED,
    OBSERVATION,
    EntityView,
    all_entities,
    entities_named,
    observations_below,
    views_of,
)
from lore.errors import Invalid
from lore.model import OF_CONVERSATIONS, Filter, Link, Memory
from lore.store import Reader
from lore.store.values import COUNT, Page, parents_of
from lore.text import LABEL_WIDTH, label_of, preview, words

FOREIGN_LIMIT = 50
"""The most memories of other dialects in one answer."""
FOREIGN_CHARACTERS = 40_000
"""The most text of other dialects' memories in one answer; one memory is shown whatever its length."""
NAMESAKES = 50
"""The most memories that are compared with one name."""
OTHERS = Filter(other_kinds=frozenset({ENTITY, OBSERVATION}))
REPLACED = replace(OTHERS, superseded=True)
"""Memories of other dialects, also those that something newer has replaced."""
LISTED = Filter(other_kinds=frozenset({ENTITY, OBSERVATION, "reflection"}) | OF_CONVERSATIONS)
"""The memories of other dialects in the whole graph: no transcripts, and no reflections."""
Which = Literal["current", "implied", "replaced"]
"""Entities that a name may mean: current ones; also those that only relations mention; only replaced ones."""
_NUMBERED = re.compile(r"^(?P<label>.*) \(#(?P<alias>[0-9]{1,18})\)$", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bond:
    """A relation with the names of its two ends."""

    link: Link
    source: str
    target: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Nodes:
    """Some entity views, and the active relations that touch any of them.

    omitted: how many more memories of other dialects there are than an answer has room for.
    """

    views: tuple[EntityView, ...]
    bonds: tuple[Bond, ...]
    omitted: int = 0


def matching_nodes(text: str | None, *, reader: Reader) -> Nodes:
    """The nodes whose name, type or observations contain the text, whatever the case; None: all of them."""
    return _everything(reader) if text is None else _containing(text, reader)


def _everything(reader: Reader) -> Nodes:
    """All entities in the order of their creation, then the newest memories of other dialects."""
    entities = all_entities(reader=reader)
    shown = [entity for entity in entities if IMPLIED not in entity.flags]
    foreign = _bounded(reader.select(LISTED, Page(limit=FOREIGN_LIMIT)))
    links = reader.links([memory.id for memory in (*entities, *foreign)], kinds=("relation",))
    views = [*views_of(shown, reader=reader), *standing_in(foreign, reader)]
    omitted = reader.traces(LISTED, COUNT).total - len(foreign)
    return Nodes(views=tuple(views), bonds=named_bonds(links, views, reader), omitted=omitted)


def _containing(text: str, reader: Reader) -> Nodes:
    wanted = text.lower()
    found = reader.get(reader.containing(text, Filter()))
    parents = parents_of(reader.ancestors([id for id, memory in found.items() if memory.kind == OBSERVATION]))
    ids = [parents.get(id, id) for id, memory in found.items() if _contains(memory, wanted)]
    memories = reader.get(dict.fromkeys(ids))
    matches = sorted(memories.values(), key=lambda memory: (memory.created_at, memory.alias))
    own = [memory for memory in matches if memory.kind == ENTITY and IMPLIED not in memory.flags]
    foreign = [memory for memory in reversed(matches) if stands_in(memory)]
    shown = _bounded(foreign)
    views = [*views_of(own, reader=reader), *standing_in(shown, reader)]
    return _bound(views, reader, omitted=len(foreign) - len(shown))


def open_nodes(names: Sequence[str], context: Context, *, replaced: bool) -> Nodes:
    """By exact name or by id, in the order asked for; unknown ones are left out. Counts as use, together.

    replaced: where no current memory goes by a name, those that something newer has replaced.
    """
    entities = entities_named(names, reader=context.reader)
    by_id = {id: memory for id, memory in context.reader.get(names).items() if IMPLIED not in memory.flags}
    own = {p.name: p for p in views_of(entities.values(), reader=context.reader)}
    shown: dict[str, EntityView] = {}
    for name in dict.fromkeys(names):
        if name in own:
            found = [own[name]]
        elif name in by_id:
            found = portrayed([by_id[name]], reader=context.reader)
        else:
            called = _called(name, context.reader) or (
                _called(name, context.reader, REPLACED) if replaced else []
            )
            found = standing_in(called, context.reader)
        shown |= {view.entity.id: view for view in found}
    count_use(list(shown), context, together=len(shown) > 1)
    return _bound(list(shown.values()), context.reader)


def addressed(names: Iterable[str], *, reader: Reader, which: Which = "current") -> dict[str, Memory]:
    """The memory behind each name or id that the graph shows, whichever dialect stored it.

    Entities come before memories of other dialects. Invalid lists the memories that share a name.
    """
    if which == "replaced":
        old = {name: _called(name, reader, REPLACED) for name in names}
        return {name: one for name, memories in old.items() for one in memories if one.superseded_by}
    names = list(dict.fromkeys(names))
    found: dict[str, Memory] = dict(entities_named(names, reader=reader, implied=which == "implied"))
    others = [name for name in names if name not in found]
    found |= {id: memory for id, memory in reader.get(others).items() if is_node(memory)}
    for name in others:
        if name not in found and (called := _called(name, reader)):
            if len(called) > 1:
                choices = ", ".join(repr(p.name) for p in standing_in(called[:5], reader))
                raise Invalid(f"{len(called)} memories are called {preview(name, 80)!r}; name one: {choices}")
            found[name] = called[0]
    return found


def portrayed(memories: Iterable[Memory], *, reader: Reader) -> list[EntityView]:
    """Entities with their observations, others under a name of their own; in the same order."""
    memories = list(memories)
    own = views_of([m for m in memories if m.kind == ENTITY], reader=reader)
    others = standing_in([m for m in memories if m.kind != ENTITY], reader)
    views = {view.entity.id: view for view in (*own, *others)}
    return [views[memory.id] for memory in memories]


def stands_in(memory: Memory) -> bool:
    """Whether a memory is shown in the place of an entity; reflections on the graph are not."""
    reflecting = memory.kind == "reflection" and "target_type" in memory.metadata
    return memory.kind not in (ENTITY, OBSERVATION) and not reflecting


def is_node(memory: Memory) -> bool:
    """Whether the graph shows a memory as a node of its own."""
    return stands_in(memory) or (memory.kind == ENTITY and IMPLIED not in memory.flags)


def standing_in(memories: Sequence[Memory], reader: Reader) -> list[EntityView]:
    """Views of other memories, named by title or first words, with a number where a name is not unique."""
    below = observations_below([memory.id for memory in memories], reader=reader)
    labels = Counter(label_of(memory.title, memory.content) for memory in memories)
    titles = frozenset(labels)
    taken = (
        Counter(m.title for m in reader.select(Filter(titles=titles), Page(limit=1_000)))
        if titles
        else Counter()
    )
    views = []
    for memory in memories:
        label = label_of(memory.title, memory.content)
        others = labels[label] + taken[label] - (2 if memory.title == label else 1)
        name = f"{label} (#{memory.alias})" if others > 0 else label
        views.append(EntityView(entity=memory, name=name, observations=below[memory.id]))
    return views


def names_of(memories: Iterable[Memory], reader: Reader) -> dict[str, str]:
    """The names of these memories as ends of a relation, by id."""
    memories = list(memories)
    others = standing_in([memory for memory in memories if memory.kind != ENTITY], reader)
    own = {memory.id: memory.title for memory in memories if memory.kind == ENTITY}
    return own | {view.entity.id: view.name for view in others}


def relations_of(entity: Memory, *, reader: Reader) -> list[Bond]:
    """All relations of an entity, ended ones included, without those that were deleted."""
    links = [link for link in reader.links([entity.id], ended=True) if link.kind == "relation"]
    names = names_of(reader.get([link.other(entity.id) for link in links]).values(), reader)
    names[entity.id] = names_of([entity], reader)[entity.id]
    return [
        Bond(link=link, source=names[link.source], target=names[link.target])
        for link in links
        if (link.active or link.ended_at is not None) and link.other(entity.id) in names
    ]


def _called(name: str, reader: Reader, where: Filter = OTHERS) -> list[Memory]:
    """Memories of other dialects with this name; none for an empty name."""
    if not name.strip():
        return []
    if numbered := _NUMBERED.match(name):
        alias = int(numbered["alias"])
        found = reader.get(reader.resolve([alias], 1)[alias])
        named = {m.id: m for m in found.values() if label_of(m.title, m.content) == numbered["label"]}
    else:
        titled = reader.select(replace(where, titles=frozenset({name})), Page(limit=NAMESAKES))
        candidates = (*titled, *reader.get(_quoting(name, reader, where)).values())
        named = {m.id: m for m in candidates if name in (m.title, label_of(m.title, m.content))}
    return [memory for memory in named.values() if stands_in(memory)]


def _quoting(name: str, reader: Reader, where: Filter) -> list[str]:
    """Memories of other dialects that may have `name` as their label: its words stand in them, in order.

    A longer name is no label; to look for a phrase of thousands of words would take minutes.
    """
    if len(name) > LABEL_WIDTH:
        return []
    whole = name.removesuffix("…").rstrip() or name
    phrase = whole if whole == name else whole.rpartition(" ")[0]
    if not words(phrase):
        return reader.containing(whole, where)
    quoting = list(reader.matching([phrase], NAMESAKES, where).strengths)
    return quoting if len(quoting) < NAMESAKES else reader.containing(phrase, where)


def _bounded(memories: Iterable[Memory]) -> list[Memory]:
    """The first memories that fit into one answer."""
    shown: list[Memory] = []
    room = FOREIGN_CHARACTERS
    for memory in memories:
        room -= len(memory.content)
        if shown and (room < 0 or len(shown) == FOREIGN_LIMIT):
            break
        shown.append(memory)
    return shown


def _contains(memory: Memory, text: str) -> bool:
    """Whether a field that counts for its kind contains a lower-case text; the store searches all fields."""
    fields = {
        ENTITY: (memory.title, memory.type),
        OBSERVATION: (memory.content,),
    }.get(memory.kind, (memory.title, memory.type or memory.kind, memory.content))
    return any(text in field.lower() for field in fields)


def _bound(views: Sequence[EntityView], reader: Reader, omitted: int = 0) -> Nodes:
    links = reader.links([view.entity.id for view in views], kinds=("relation",))
    return Nodes(views=tuple(views), bonds=named_bonds(links, views, reader), omitted=omitted)


def named_bonds(links: Sequence[Link], views: Iterable[EntityView], reader: Reader) -> tuple[Bond, ...]:
    """Relations in the order in which they became active, with the names of their ends.

    A relation is left out if one of its ends was deleted after the relation was read.
    """
    names = {view.entity.id: view.name for view in views}
    ends = {end for link in links for end in (link.source, link.target)} - names.keys()
    names |= names_of(reader.get(ends).values(), reader)
    in_order = sorted(links, key=lambda link: (link.updated_at, link.alias))
    return tuple(
        Bond(link=link, source=names[link.source], target=names[link.target])
        for link in in_order
        if link.source in names and link.target in names
    )
