"""merge_changes: memories and links of another store → merged with those of this one, field by field."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lore.engine.context import Context
from lore.engine.link import end_link
from lore.engine.merge import MERGE, Version, later, merge
from lore.engine.versions import (
    ENDS,
    HIERARCHICAL,
    LINK_FIELDS,
    NEVER,
    OWN_FIELDS,
    PARENT,
    Change,
    Dated,
    parents_of,
    plain,
    version_of_link,
    versions_of,
)
from lore.errors import Invalid, LoreError
from lore.model import OF_CONVERSATIONS, Link, Memory, new_id
from lore.store import Writer
from lore.store.records import FieldStamps
from lore.text import listed

AHEAD_SECONDS = 86_400.0
"""How far another store's clock may be ahead; a later change would win over every other for ever."""


NEEDED = ("content", "created_at", "updated_at")
"""Fields without which there is no memory; others have defaults."""
ERASED = "erased in another store"
"""The reason for which a memory is forgotten of which a tombstone arrived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """ids: of the changes that this store has taken in. changed: the number of those that were news.

    newer: those of which this store has later changes, as it has them. refused: id -> why.
    """

    ids: Sequence[str]
    changed: int
    newer: Sequence[Change]
    refused: Mapping[str, str]


def merge_changes(arrived: Sequence[Change], context: Context, *, may_erase: bool = True) -> Merged:
    """Merge changes of another store into this namespace, all in one transaction; bad ones are refused.

    may_erase: tombstones erase memories whoever wrote them; otherwise those of the caller, and others are
    forgotten. What was erased here does not come back; the sender gets the tombstone.
    """
    refused: dict[str, str] = {}
    changed: set[str] = set()
    memories = [one for one in arrived if one.noun == "memory"]
    tombstones = [one for one in arrived if one.noun == "tombstone"]
    with context.transaction() as writer:
        merging = _Merging([*memories, *tombstones], writer, may_erase=may_erase)
        steps: list[tuple[Callable[[Change], bool], list[Change]]] = [
            (merging.tombstone, tombstones),
            (merging.memory, memories),
            (merging.place, memories),
            (merging.link, [one for one in arrived if one.noun == "link"]),
        ]
        for step, these in steps:
            for one in these:
                if one.id in refused:
                    continue
                try:
                    if step(one):
                        changed.add(one.id)
                except LoreError as error:
                    refused[one.id] = str(error)
        taken = [one for one in arrived if one.id not in refused]
        newer = [mine for one in taken if (mine := merging.newer(one)) is not None]
        merging.keep_stamps()
    if merging.doomed:
        context.store.purge(merging.doomed, context.cause, context.now, context.tenant)
    return Merged(ids=[one.id for one in taken], changed=len(changed), newer=newer, refused=refused)


class _Merging:
    """One transaction of a merge. It has the versions of all memories that arrived and are here."""

    def __init__(self, arrived: Sequence[Change], writer: Writer, *, may_erase: bool) -> None:
        self._writer = writer
        self._may_erase = may_erase
        self._memories = writer.get([one.id for one in arrived], forgotten=True)
        self._purged = set(writer.purged(one.id for one in arrived)) - self._memories.keys()
        self.doomed: list[str] = []
        """Memories to erase for good when the transaction is over; they are forgotten already."""
        self._dated = versions_of(self._memories.values(), writer)
        self._links: dict[str, Link] = {}
        self._merged: set[str] = set()

    def tombstone(self, change: Change) -> bool:
        """Erase a memory that another store has erased, and keep that it was; whether that is news."""
        if change.id in self._purged:
            return False
        if (existing := self._memories.get(change.id)) is None:
            self._writer.put_tombstones([change.id])
            self._purged.add(change.id)
            return True
        if existing.namespace != self._writer.namespace:
            raise Invalid(f"memory {change.id} is not one of namespace {self._writer.namespace}")
        if existing.forgotten_at is None:
            gone = replace(existing, forgotten_at=self._writer.now, forgotten_reason=ERASED)
            (self._memories[change.id],) = self._writer.put([gone])
        if not self._may_erase and existing.author != self._writer.cause.author:
            raise Invalid("it is forgotten here, but only its author or an administrator erases it for good")
        self.doomed.append(change.id)
        del self._memories[change.id], self._dated[change.id]
        self._purged.add(change.id)
        return True

    def memory(self, change: Change) -> bool:
        """Merge all fields but the place; whether any of them changed."""
        if change.id in self._purged:
            return False
        self._check(change)
        if change.id not in self._memories:
            return self._add(change)
        existing = self._memories[change.id]
        if existing.namespace != self._writer.namespace or existing.kind in OF_CONVERSATIONS:
            raise Invalid(f"memory {change.id} is not one of namespace {self._writer.namespace}")
        mine, seq = self._dated[change.id]
        newer = [name for name in later(mine, change.version) if name != PARENT]
        if not newer:
            return False
        merged = merge(mine, _only(change.version, newer))
        author = (change.author if "content" in newer else "") or existing.author
        self._memories[change.id] = self._put(change.id, merged, author)
        self._remember(change.id, merged, seq)
        return any(mine.fields[name] != merged.fields[name] for name in newer)

    def _add(self, change: Change) -> bool:
        """A memory that was not here; its place comes later."""
        own = _only(change.version, [name for name in change.version.fields if name != PARENT])
        if missing := [name for name in NEEDED if name not in own.fields]:
            raise Invalid(f"it is not here yet, and its fields lack {listed(missing)}")
        memory = self._put(change.id, own, change.author)
        fields = {name: plain(getattr(memory, name)) for name in OWN_FIELDS}
        nowhere = Version(
            fields={**fields, **own.fields, PARENT: None},
            stamps={**dict.fromkeys(OWN_FIELDS, NEVER), **own.stamps, PARENT: memory.created_at},
        )
        self._memories[change.id] = memory
        self._remember(change.id, nowhere, 0)
        return True

    def _put(self, id: str, version: Version, author: str) -> Memory:
        fields: dict[str, Any] = {name: value for name, value in version.fields.items() if name != PARENT}
        fields["flags"] = frozenset(fields.get("flags", ()))
        memory = Memory(id=id, namespace=self._writer.namespace, author=author, **fields)
        return self._writer.put([memory])[0]

    def place(self, change: Change) -> bool:
        """Move the memory below its parent, if that was done later than the last move here; whether it moved.

        A parent that is not here yet comes later, and the memory once more with it.
        """
        if change.id in self._purged:
            return False
        mine, seq = self._dated[change.id]
        if PARENT not in later(mine, change.version):
            return False
        parent = change.version.fields[PARENT]
        if parent is not None and not self._is_here(parent):
            return False
        merged = merge(mine, _only(change.version, [PARENT]))
        self._remember(change.id, merged, seq)
        if mine.fields[PARENT] == parent:
            return False
        self._end_place(change.id, mine.fields[PARENT])
        if parent is not None:
            self._hang(change.id, parent)
        return True

    def _is_here(self, id: str) -> bool:
        return id in self._memories or id in self._writer.get([id], forgotten=True)

    def _hang(self, child: str, parent: str) -> None:
        """Where the two would hang below each other, the oldest of the moves that close the circle is undone:
        the same one in every store."""
        now = self._writer.now
        link = Link(
            id=new_id(now), source=parent, target=child, kind=HIERARCHICAL, created_at=now, updated_at=now,
            created_by=MERGE,
        )  # fmt: skip
        try:
            self._writer.put_links([link])
        except Invalid:
            if not (circle := self._circle(child, parent)):
                raise
            moves = {id: self._version(id).stamps[PARENT] for id in circle}
            oldest = min(moves, key=lambda one: (moves[one], one))
            if oldest != child:
                self._end_place(oldest, self._version(oldest).fields[PARENT])
                self._writer.put_links([link])
            self._nowhere(oldest)

    def _circle(self, child: str, parent: str) -> list[str]:
        """The memories from the parent up to the child, if the child stands above it; else none."""
        way = [parent]
        while way[-1] != child:
            above = [link.source for link in parents_of([way[-1]], self._writer)[way[-1]] if link.active]
            if not above:
                return []
            way.append(above[0])
        return way

    def _version(self, id: str) -> Version:
        if id not in self._dated:
            self._dated |= versions_of(self._writer.get([id], forgotten=True).values(), self._writer)
        return self._dated[id].version

    def _nowhere(self, id: str) -> None:
        mine, seq = self._dated[id]
        self._dated[id] = Dated(replace(mine, fields={**mine.fields, PARENT: None}), seq)

    def _end_place(self, id: str, parent: str | None) -> None:
        if parent is not None:
            above = [link for link in parents_of([id], self._writer)[id] if link.active]
            self._writer.put_links([end_link(link, self._writer.now) for link in above])

    def link(self, change: Change) -> bool:
        """Merge a link; whether it changed. A link to a memory that was erased or that stores do not exchange
        is left out; one to a memory that is not here yet is refused."""
        self._check(change)
        ends = dict(change.ends or {})
        named = [ends["source"], ends["target"]]
        both = self._writer.get(named, forgotten=True)
        if self._purged.intersection(named) or any(end.kind in OF_CONVERSATIONS for end in both.values()):
            return False
        if missing := [end for end in named if end not in both and not self._writer.purged([end])]:
            raise Invalid(f"it waits for memory {missing[0]}, which is not here yet")
        if len(both.keys() & set(named)) < len(set(named)):
            return False
        existing = self._same_link(ends)
        if existing is None:
            at = change.version.fields.get("updated_at", self._writer.now)
            fields: dict[str, Any] = {"created_at": at, "updated_at": at, **ends, **change.version.fields}
            new = Link(id=new_id(self._writer.now), **fields)
            (stored,) = self._writer.put_links([new])
            self._links[change.id] = stored
            known = {name: getattr(stored, name) for name in LINK_FIELDS}
            stamps = dict.fromkeys(LINK_FIELDS, NEVER) | dict(change.version.stamps)
            self._remember(stored.id, Version(fields=known, stamps=stamps), 0)
            return True
        self._links[change.id] = existing
        if existing.id not in self._dated:
            self._dated[existing.id] = version_of_link(existing, self._writer)
        mine, seq = self._dated[existing.id]
        newer = later(mine, change.version)
        if not newer:
            return False
        merged = merge(mine, change.version)
        (self._links[change.id],) = self._writer.put_links([replace(existing, **merged.fields)])
        self._remember(existing.id, merged, seq)
        return any(mine.fields[name] != merged.fields[name] for name in newer)

    def _same_link(self, ends: Mapping[str, str]) -> Link | None:
        between = [ends["source"], ends["target"]]
        links = self._writer.links(between=between, kinds=[ends["kind"]], ended=True)
        return next((link for link in links if all(getattr(link, name) == ends[name] for name in ENDS)), None)

    def newer(self, change: Change) -> Change | None:
        """The same memory or link as it is here, if a field of it has a later change here; its tombstone, if
        it was erased here."""
        if change.noun == "memory" and change.id in self._purged:
            return Change(noun="tombstone", id=change.id)
        if change.noun == "tombstone" or (change.noun == "link" and change.id not in self._links):
            return None
        here = change.id if change.noun == "memory" else self._links[change.id].id
        mine = self._dated[here].version
        if not later(change.version, mine):
            return None
        author = self._memories[here].author if change.noun == "memory" else ""
        return replace(change, version=mine, author=author)

    def _check(self, change: Change) -> None:
        latest = max(change.version.stamps.values(), default=NEVER)
        if latest > self._writer.now + AHEAD_SECONDS:
            raise Invalid("it was changed in the future: the clock of the store that sent it is wrong")

    def _remember(self, id: str, version: Version, seq: int) -> None:
        self._dated[id] = Dated(version, seq)
        self._merged.add(id)

    def keep_stamps(self) -> None:
        """Keep the stamps of all that was merged."""
        dated = ((id, self._dated[id]) for id in sorted(self._merged))
        self._writer.put_records(
            FieldStamps(id=id, stamps=dict(version.stamps), seq=seq) for id, (version, seq) in dated
        )


def _only(version: Version, names: Sequence[str]) -> Version:
    """The version with these fields alone."""
    return Version(
        fields={name: version.fields[name] for name in names},
        stamps={name: version.stamps[name] for name in names},
    )
