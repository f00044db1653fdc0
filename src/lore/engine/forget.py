"""forget, restore: hide memories and hand their children upward → or undo exactly that."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lore.engine import origins
from lore.engine.accounts import renew_accounts
from lore.engine.context import Context
from lore.engine.entity_view import OBSERVATION, refresh_entities_of
from lore.engine.file_paths import FILE, refuse_taken
from lore.engine.link import end_link, new_link
from lore.model import ACCOUNT, SESSION, Link, Memory, Tie
from lore.store import Reader, Writer


def forget(ids: Sequence[str], context: Context) -> list[str]:
    """Hide them from every answer. Nothing is erased: `restore` brings them back.

    With a session go its turns, its account, and the memories that came from these alone. Returns the ids
    that existed, in their order, then the ids of what went along with a session, but for accounts.
    """
    with context.transaction() as writer:
        existing = writer.get(dict.fromkeys(ids))
        along: dict[str, Memory] = {}
        for memory in existing.values():
            if memory.kind == SESSION:
                along |= origins.of_session(memory, writer)
        sessions = {id: memory for id, memory in existing.items() if memory.kind == SESSION}
        gone = [
            replace(
                memory,
                forgotten_at=context.now,
                forgotten_reason=context.cause.reason,
                updated_at=context.now,
            )
            for memory in (sessions | along).values()
        ]
        writer.put(gone)
        refresh_entities_of(gone, writer=writer)
        for id, memory in existing.items():
            if id not in sessions and id not in along:
                hide(memory, context.cause.reason, writer)
    renew_accounts(existing.values(), context)
    return [
        *(id for id in dict.fromkeys(ids) if id in existing),
        *(id for id, memory in along.items() if id not in existing and memory.kind != ACCOUNT),
    ]


def hide(memory: Memory, reason: str, writer: Writer) -> None:
    """Within somebody's transaction: forget one memory and the observations that were made about it."""
    hidden = [memory, *_observations_of(memory, writer)]
    _hand_up(memory, writer)
    writer.put(
        [replace(m, forgotten_at=writer.now, forgotten_reason=reason, updated_at=writer.now) for m in hidden]
    )
    refresh_entities_of([memory], writer=writer)


def hide_all(memories: Mapping[str, Memory], writer: Writer) -> list[str]:
    """Within somebody's transaction: forget many memories together; returns all ids that were hidden.

    Children that stay go to the nearest memory above that stays.
    """
    ties = writer.links(memories, kinds=("hierarchical",), ended=True)
    leaving = [link for link in ties if link.active and link.source in memories]
    children = writer.get({link.target for link in leaving} - memories.keys())
    observations = {id: child for id, child in children.items() if child.kind == OBSERVATION}
    gone = {**memories, **observations}
    orphaning = [link for link in leaving if link.target in children and link.target not in gone]
    above = writer.ancestors({link.source for link in orphaning}) if orphaning else {}
    writer.put_links([end_link(link, writer.now) for link in orphaning])
    for link in orphaning:
        home = next((id for id in reversed(above[link.source]) if id not in gone), None)
        if home is not None:
            adoption = _adoption(home, link.target, _mark(gone[link.source]), writer.now)
            writer.put_links([adoption])
    reason = writer.cause.reason
    writer.put(
        replace(one, forgotten_at=writer.now, forgotten_reason=reason, updated_at=writer.now)
        for one in gone.values()
    )
    refresh_entities_of(gone.values(), writer=writer)
    return list(gone)


def restore(ids: Sequence[str], context: Context) -> list[str]:
    """Bring forgotten memories back to where they were, with the children they had.

    A session comes back with all that went along with it. A file does not come back to a path that another
    file has taken since. Returns the ids that were forgotten, then the ids
    of what came back along with a session.
    """
    with context.transaction() as writer:
        forgotten = [m for m in writer.get(ids, forgotten=True).values() if m.forgotten_at is not None]
        along: dict[str, Memory] = {}
        for memory in forgotten:
            if memory.kind == SESSION:
                along |= origins.gone_with(memory, writer)
        given = {memory.id for memory in forgotten}
        others = [memory for id, memory in along.items() if id not in given]
        back = [*forgotten, *others, *(gone for one in forgotten for gone in gone_along(one, writer))]
        refuse_taken([memory.title for memory in back if memory.kind == FILE], writer)
        writer.put([replace(m, forgotten_at=None, forgotten_reason="", updated_at=context.now) for m in back])
        for memory in forgotten:
            _take_back(memory, writer)
        refresh_entities_of(back, writer=writer)
    renew_accounts(back, context)
    return [*(memory.id for memory in forgotten), *(memory.id for memory in others if memory.kind != ACCOUNT)]


def _observations_of(memory: Memory, writer: Writer) -> list[Memory]:
    """What was observed about a memory has no place without it."""
    below = [link.target for link in _ties(memory.id, writer) if link.source == memory.id]
    return [child for child in writer.get(below).values() if child.kind == OBSERVATION]


def gone_along(memory: Memory, reader: Reader) -> list[Memory]:
    """The observations that were forgotten because the memory they are about was."""
    below = [
        link.target
        for link in reader.links([memory.id], kinds=("hierarchical",), ended=True)
        if link.active or link.ended_at == memory.forgotten_at
    ]
    children = reader.get(below, forgotten=True).values()
    return [
        child for child in children if child.kind == OBSERVATION and child.forgotten_at == memory.forgotten_at
    ]


def _mark(memory: Memory) -> str:
    """Who an adopted child was taken from."""
    return f"forget:{memory.id}"


def _ties(id: str, writer: Writer) -> list[Link]:
    """The active place of a memory and of its children, forgotten ones included."""
    return [link for link in writer.links([id], ended=True) if link.active and link.kind == "hierarchical"]


def _hand_up(memory: Memory, writer: Writer) -> None:
    """The children go to the grandparent, or become roots; marked, so that it can be undone."""
    ties = _ties(memory.id, writer)
    above = [link.source for link in ties if link.target == memory.id]
    below = [link for link in ties if link.source == memory.id]
    writer.put_links([end_link(link, writer.now) for link in below])
    for grandparent in above:
        writer.put_links([_adoption(grandparent, link.target, _mark(memory), writer.now) for link in below])


def _adoption(parent: str, child: str, mark: str, now: float) -> Link:
    return new_link(Tie(source=parent, target=child, kind="hierarchical"), mark, now)


def _take_back(memory: Memory, writer: Writer) -> None:
    """Children come back unless they have found another place since, or now stand above."""
    way = writer.ancestors([memory.id])[memory.id]
    lost = [
        link
        for link in writer.links([memory.id], ended=True)
        if link.source == memory.id and link.kind == "hierarchical" and link.ended_at == memory.forgotten_at
    ]
    for link in lost:
        above = [up for up in _ties(link.target, writer) if up.target == link.target]
        if link.target not in way and all(up.created_by == _mark(memory) for up in above):
            writer.put_links([end_link(up, writer.now) for up in above])
            writer.put_links([replace(link, active=True, ended_at=None, updated_at=writer.now)])
