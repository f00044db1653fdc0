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
    PARENT,
    Change,
    Dated,
    parents_of,
    version_of_link,
    versions_of,
)
from lore.errors import Invalid, LoreError
from lore.model import VERBATIM, Link, Memory, new_id
from lore.store import Writer
from lore.store.records import FieldStamps

AHEAD_SECONDS = 86_400.0
"""How far another store's clock may be ahead; a later change would win over every other for ever."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merged:
    """ids: of the changes that this store has taken in. changed: the number of those that were news.

    newer: those of which this store has later changes, as it has them. refused: id -> why.
    """

    ids: Sequence[str]
    changed: int
    newer: Sequence[Change]
    refused: Mapping[str, str]


def merge_changes(arrived: Sequence[Change], context: Context) -> Merged:
    """Merge changes of another store into this namespace, all in one transaction; bad ones are refused."""
    refused: dict[str, str] = {}
    changed: set[str] = set()
    memories = [one for one in arrived if one.noun == "memory"]
    with context.transaction() as writer:
        merging = _Merging(memories, writer)
        steps: list[tuple[Callable[[Change], bool], list[Change]]] = [
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
    return Merged(ids=[one.id for one in taken], changed=len(changed), newer=newer, refused=refused)


class _Merging:
    """One transaction of a merge. It has the versions of all memories that arrived and are here."""

    def __init__(self, arrived: Sequence[Change], writer: Writer) -> None:
        self._writer = writer
        self._memories = writer.get([one.id for one in arrived], forgotten=True)
        self._dated = versions_of(self._memories.values(), writer)
        self._links: dict[str, Link] = {}
        self._merged: set[str] = set()

    def memory(self, change: Change) -> bool:
        """Merge all fields but the place; whether any of them changed."""
        self._check(change)
        if change.id not in self._memories:
            return self._add(change)
        existing = self._memories[change.id]
        if existing.namespace != self._writer.namespace or existing.kind in VERBATIM:
            raise Invalid(f"memory {change.id} is not one of namespace {self._writer.namespace}")
        mine, seq = self._dated[change.id]
        newer = [name for name in later(mine, change.version) if name != PARENT]
        if not newer:
            return False
        merged = merge(mine, _only(change.version, newer))
        self._memories[change.id] = self._put(change.id, merged, existing.author)
        self._remember(change.id, merged, seq)
        return any(mine.fields[name] != merged.fields[name] for name in newer)

    def _add(self, change: Change) -> bool:
        """A memory that was not here; its place comes later."""
        own = _only(change.version, [name for name in change.version.fields if name != PARENT])
        memory = self._put(change.id, own, change.author)
        nowhere = Version(
            fields={**own.fields, PARENT: None}, stamps={**own.stamps, PARENT: memory.created_at}
        )
        self._memories[change.id] = memory
        self._remember(change.id, nowhere, 0)
        return True

    def _put(self, id: str, version: Version, author: str) -> Memory:
        fields: dict[str, Any] = {name: value for name, value in version.fields.items() if name != PARENT}
        fields["flags"] = frozenset(fields["flags"])
        memory = Memory(id=id, namespace=self._writer.namespace, author=author, **fields)
        return self._writer.put([memory])[0]

    def place(self, change: Change) -> bool:
        """Move the memory below its parent, if that was done later than the last move here; whether it moved.

        A parent that is not here yet comes later, and the memory once more with it.
        """
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
        """Merge a link; whether it changed. A link to a memory that is not here is left out."""
        self._check(change)
        ends = dict(change.ends or {})
        both = self._writer.get([ends["source"], ends["target"]], forgotten=True)
        if not {ends["source"], ends["target"]} <= both.keys() or any(
            end.kind in VERBATIM for end in both.values()
        ):
            return False
        existing = self._same_link(ends)
        if existing is None:
            fields: dict[str, Any] = {"created_at": change.version.fields["updated_at"], **ends}
            new = Link(id=new_id(self._writer.now), **fields, **change.version.fields)
            (stored,) = self._writer.put_links([new])
            self._links[change.id] = stored
            self._remember(stored.id, change.version, 0)
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
        """The same memory or link as it is here, if a field of it has a later change here."""
        if change.noun == "link" and change.id not in self._links:
            return None
        here = change.id if change.noun == "memory" else self._links[change.id].id
        mine = self._dated[here].version
        if not later(change.version, mine):
            return None
        author = self._memories[here].author if change.noun == "memory" else ""
        return replace(change, version=mine, author=author)

    def _check(self, change: Change) -> None:
        latest = max(change.version.stamps.values())
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
