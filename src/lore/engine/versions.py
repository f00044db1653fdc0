"""versions: memories and links as a store has them, with the times of their changes by the journal."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from lore.engine.merge import MERGE, Version, following, stamps_of
from lore.model import Entry, Link, LinkKind, Memory
from lore.store import Reader
from lore.store.columns import KNOWLEDGE, LINK
from lore.store.records import FieldStamps
from lore.store.values import EVERY, JournalFilter

PARENT = "parent"
"""The place of a memory in a tree counts as a field of the memory: so it has one parent in every store."""
OWN_FIELDS = tuple(name for name in KNOWLEDGE if name not in ("namespace", "author"))
MEMORY_FIELDS = (*OWN_FIELDS, PARENT)
ENDS = ("source", "target", "kind", "type")
"""The fields that tell links apart; ids of links differ between stores that made the same link."""
LINK_FIELDS = tuple(name for name in LINK if name not in (*ENDS, "created_at"))
HIERARCHICAL: LinkKind = "hierarchical"
NEVER = 0.0
"""The stamp of a field that nobody has changed, such as one that the other store does not know."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A memory or link as a store has it, or that a memory was erased for good (tombstone). ends: of a link.
    author: of a memory."""

    noun: Literal["memory", "link", "tombstone"]
    id: str
    version: Version = field(default_factory=lambda: Version(fields={}, stamps={}))
    ends: Mapping[str, str] | None = None
    author: str = ""


class Dated(NamedTuple):
    """A version, and the number of the last journal entry that its stamps include."""

    version: Version
    seq: int


def versions_of(memories: Iterable[Memory], reader: Reader) -> dict[str, Dated]:
    """The version of each memory, by its id."""
    by_id = {memory.id: memory for memory in memories}
    above = parents_of(by_id, reader)
    return {id: _version_of(memory, above[id], reader) for id, memory in by_id.items()}


def _version_of(memory: Memory, above: Iterable[Link], reader: Reader) -> Dated:
    before, seq = _stamps(memory.id, reader)
    own = _entries(memory.id, seq, reader)
    stamps = dict.fromkeys(OWN_FIELDS, NEVER) | stamps_of(own, OWN_FIELDS, before)
    moves = [entry for link in above for entry in _entries(link.id, seq, reader) if _moves(entry)]
    placed = stamps.get(PARENT, memory.created_at)
    for entry in sorted(moves, key=lambda entry: entry.seq):
        placed = following(entry.at, placed)
    fields = {name: plain(getattr(memory, name)) for name in OWN_FIELDS}
    fields[PARENT] = next((link.source for link in above if link.active), None)
    last = max((entry.seq for entry in (*own, *moves)), default=seq)
    return Dated(Version(fields=fields, stamps={**stamps, PARENT: placed}), last)


def version_of_link(link: Link, reader: Reader) -> Dated:
    """The version of a link."""
    before, seq = _stamps(link.id, reader)
    entries = _entries(link.id, seq, reader)
    fields = {name: getattr(link, name) for name in LINK_FIELDS}
    stamps = dict.fromkeys(LINK_FIELDS, NEVER) | stamps_of(entries, LINK_FIELDS, before)
    return Dated(Version(fields=fields, stamps=stamps), max((entry.seq for entry in entries), default=seq))


def parents_of(ids: Iterable[str], reader: Reader) -> dict[str, list[Link]]:
    """The links to the parents that each of these memories has or had."""
    found: dict[str, list[Link]] = {id: [] for id in ids}
    for link in reader.links(found, [HIERARCHICAL], ended=True):
        if link.target in found:
            found[link.target].append(link)
    return found


def _stamps(id: str, reader: Reader) -> tuple[Mapping[str, float], int]:
    merged = reader.records(FieldStamps, id=id)
    return (merged[0].stamps, merged[0].seq) if merged else ({}, 0)


def _entries(id: str, seq: int, reader: Reader) -> list[Entry]:
    """The journal of a memory or link behind this number, without what merges wrote."""
    entries = reader.journal(JournalFilter(id=id, newest_first=False), EVERY)
    return [entry for entry in entries if entry.seq > seq and entry.cause.verb != MERGE]


def _moves(entry: Entry) -> bool:
    """Whether a link to a parent began or ended."""
    return entry.before is None or "active" in (entry.after or ())


def plain(value: Any) -> Any:
    """The value of a field as JSON has it."""
    if isinstance(value, frozenset):
        return sorted(value)
    return dict(value) if isinstance(value, Mapping) else value
