"""unite: entities of one name, or files at one path, that two stores made → one entity, files at two paths.

Every store settles them in the same way, so that stores which exchange memories still end equal.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby

from lore.engine.context import Context
from lore.engine.entity_view import ENTITY, IMPLIED, OBSERVATION, refresh_entity_text
from lore.engine.file_paths import FILE
from lore.engine.forget import hide
from lore.engine.link import end_link
from lore.engine.versions import HIERARCHICAL, PARENT, Change
from lore.model import ID_TAIL, Filter, Link, Memory, new_id
from lore.store import Reader, Writer
from lore.store.values import EVERY

UNITED = "united with "
"""Begins the reason for which an entity is forgotten that another one has taken over; the id follows."""


def unite(arrived: Sequence[Change], context: Context) -> None:
    """Settle entities and files of this namespace that have the name of one that arrived.

    The oldest entity takes over observations and links of the others, which are forgotten; also those that
    arrive later. The oldest file keeps its path; the others get paths with their ids.
    """
    titles = frozenset(
        str(one.version.fields.get("title", ""))
        for one in arrived
        if one.noun == "memory" and one.version.fields.get("kind") in (ENTITY, FILE)
    )
    touched = {id for one in arrived for id in _touched(one)}
    reader = context.reader
    if _namesakes(titles, reader) or _left_behind(touched, reader):
        with context.transaction() as writer:
            for first, *others in _namesakes(titles, writer):
                if first.kind == ENTITY:
                    _take_over(first.id, others, writer)
                else:
                    moved = [replace(one, title=_own_path(one), updated_at=writer.now) for one in others]
                    writer.put(moved)
            for gone in _left_behind(touched, writer):
                _take_over(_successor(gone, writer), [gone], writer)


def _touched(change: Change) -> list[str]:
    """The entities to which a change may have tied something."""
    if change.noun == "link":
        return [change.ends["source"], change.ends["target"]] if change.ends else []
    parent = change.version.fields.get(PARENT)
    return [change.id, *([parent] if parent else [])]


def _left_behind(ids: Iterable[str], reader: Reader) -> list[Memory]:
    """Of these, the entities that another one has taken over, and that have active links all the same."""
    gone = {
        id: memory
        for id, memory in reader.get(ids, forgotten=True).items()
        if memory.forgotten_at is not None and memory.forgotten_reason.startswith(UNITED)
    }
    if not gone:
        return []
    links = [link for link in reader.links(gone, ended=True) if link.active]
    tied = {
        end
        for link in links
        for end in (link.source, link.target)
        if end in gone and _travels(link, end, reader)
    }
    return [memory for id, memory in gone.items() if id in tied]


def _successor(gone: Memory, reader: Reader) -> str:
    """The entity that has taken over another one, at the end of the row."""
    seen = {gone.id}
    while gone.forgotten_reason.startswith(UNITED):
        id = gone.forgotten_reason.removeprefix(UNITED)
        found = reader.get([id], forgotten=True).get(id)
        if found is None or id in seen:
            break
        seen.add(id)
        gone = found
    return gone.id


def _namesakes(titles: frozenset[str], reader: Reader) -> list[list[Memory]]:
    """The entities and files that share a name, the oldest first."""
    if not titles:
        return []
    where = Filter(kinds=frozenset({ENTITY, FILE}), titles=titles, namespaces=frozenset({reader.namespace}))
    found = sorted(
        reader.select(where, EVERY),
        key=lambda one: (one.kind, one.title, IMPLIED in one.flags, one.created_at, one.id),
    )
    groups = [list(group) for _, group in groupby(found, key=lambda one: (one.kind, one.title))]
    return [group for group in groups if len(group) > 1]


def _take_over(first: str, others: Sequence[Memory], writer: Writer) -> None:
    for other in others:
        if other.id == first:
            continue
        for link in writer.links([other.id], ended=True):
            if link.active and _travels(link, other.id, writer):
                writer.put_links([end_link(link, writer.now)])
                writer.put_links(_instead(link, other.id, first, writer.now))
        if other.forgotten_at is None:
            hide(other, f"{UNITED}{first}", writer)
    refresh_entity_text([first], writer=writer)


def _travels(link: Link, entity: str, reader: Reader) -> bool:
    """Whether a link of an entity is one to an observation, or a tie outside of trees."""
    if link.kind != HIERARCHICAL:
        return True
    below = reader.get([link.target], forgotten=True).get(link.target)
    return link.source == entity and below is not None and below.kind == OBSERVATION


def _instead(link: Link, old: str, new: str, now: float) -> list[Link]:
    """The link with another end; none if a tie of two entities would become one of the entity to itself."""
    source, target = (new if end == old else end for end in (link.source, link.target))
    if source == target and link.source != link.target:
        return []
    return [
        replace(link, id=new_id(now), alias=0, source=source, target=target, created_at=now, updated_at=now)
    ]


def _own_path(file: Memory) -> str:
    """The path of a file with the end of its id before the suffix."""
    folder, _, name = file.title.rpartition("/")
    stem, dot, suffix = name.rpartition(".")
    own = file.id[-ID_TAIL:]
    return f"{folder}/{stem}-{own}.{suffix}" if stem and dot else f"{folder}/{name}-{own}"
