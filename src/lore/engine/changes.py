"""changes: the journal behind a cursor → memories and links as they stand, with the times of their changes.

What was said (turns and sessions) is not part of it: that travels by `push`. What was erased for good is: as
a tombstone, which has no text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lore.engine.context import Context
from lore.engine.merge import MERGE
from lore.engine.versions import ENDS, HIERARCHICAL, Change, version_of_link, versions_of
from lore.model import OF_CONVERSATIONS, PRIVATE, Link, Memory
from lore.store import Page, Reader
from lore.store.values import JournalFilter


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """One page of changes. cursor: behind the last one. more: whether others follow."""

    changes: Sequence[Change]
    cursor: str
    more: bool


def changes(after: str, limit: int, context: Context, *, sent_to: str = "") -> Changes:
    """What the journal names behind the cursor, of this very namespace, as it stands.

    sent_to: the store that gets it; what came from there is left out. Private memories never leave.
    """
    reader = context.reader
    entries = reader.journal(JournalFilter(newest_first=False), Page(limit=limit, cursor=after))
    own = [one for one in entries if not sent_to or (one.cause.verb, one.cause.actor) != (MERGE, sent_to)]
    named = reader.links(ids=dict.fromkeys(one.id for one in own if one.noun == "link"), ended=True)
    children = [link.target for link in named if link.kind == HIERARCHICAL]
    ids = dict.fromkeys([*(one.id for one in own if one.noun == "memory"), *children])
    erased = reader.purged(one.id for one in own if one.noun == "memory" and one.after is None)
    found = _as_they_stand(ids, erased, named, reader)
    return Changes(changes=found, cursor=entries.cursor, more=entries.more)


def changes_of(ids: Iterable[str], context: Context) -> list[Change]:
    """These memories and links as they stand, with the children of the memories: their place may depend on
    them. Unknown ones, and those that may not leave, are left out."""
    reader = context.reader
    wanted = dict.fromkeys(ids)
    below = reader.links(wanted, [HIERARCHICAL], ended=True)
    memories = dict.fromkeys([*wanted, *(link.target for link in below if link.source in wanted)])
    return _as_they_stand(memories, reader.purged(wanted), reader.links(ids=wanted, ended=True), reader)


def _as_they_stand(
    ids: Iterable[str], erased: Iterable[str], named: Iterable[Link], reader: Reader
) -> list[Change]:
    known = reader.get(ids, forgotten=True)
    leaving = [one for one in known.values() if _leaves(one, reader.namespace)]
    leaving.sort(key=lambda memory: memory.alias)
    versions = versions_of(leaving, reader)
    memories = [
        Change(noun="memory", id=one.id, version=versions[one.id].version, author=one.author)
        for one in leaving
    ]
    links = [link for link in named if link.kind != HIERARCHICAL]
    both = reader.get({end for link in links for end in (link.source, link.target)}, forgotten=True)
    ends = {id for id, memory in both.items() if _leaves(memory, reader.namespace)}
    ties = [
        Change(
            noun="link",
            id=link.id,
            version=version_of_link(link, reader).version,
            ends={name: getattr(link, name) for name in ENDS},
        )
        for link in links
        if {link.source, link.target} <= ends
    ]
    gone = [Change(noun="tombstone", id=id) for id in erased if id not in known]
    return [*memories, *ties, *gone]


def _leaves(memory: Memory, namespace: str) -> bool:
    """Whether a memory of this namespace may leave the store."""
    return (
        memory.namespace == namespace and memory.kind not in OF_CONVERSATIONS and PRIVATE not in memory.flags
    )
