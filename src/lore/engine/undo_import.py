"""undo_import: the journal entries of one import → memories forgotten, links ended, changes undone."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lore.engine.context import Context
from lore.engine.entity_view import refresh_entities_of
from lore.engine.import_memories import TAKEN_BACK
from lore.engine.link import end_link
from lore.errors import Invalid, NotFound
from lore.model import ACCOUNT, Entry, Link, Memory
from lore.store import Reader, Writer
from lore.store.columns import columns_of, link_columns_of, link_with_columns, with_columns
from lore.store.values import JournalFilter, Page

PAGE = 500
CLOCK_SECONDS = 86_400.0
"""How far the clocks of several writers may be apart; the search ends at an entry that is older than that."""
VERSION_7 = 7


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneImport:
    """Memories that were forgotten, memories and links that have their earlier values, and links that were
    ended."""

    forgotten: int = 0
    reverted: int = 0
    links: int = 0

    def __add__(self, other: "UndoneImport") -> "UndoneImport":
        return UndoneImport(
            forgotten=self.forgotten + other.forgotten,
            reverted=self.reverted + other.reverted,
            links=self.links + other.links,
        )


def undo_import(id: str, context: Context) -> Iterator[UndoneImport]:
    """Take an import back; yields the counts of each batch. Later changes of the same fields stay."""
    began_at = _time_of(id)
    with context.store.snapshot(context.tenant) as snapshot:
        namespaces = list(snapshot.readers)
    found = False
    reader = context.store.reader(context.namespace, context.tenant, namespaces)
    for entries in _pages(reader, f"import {id}", began_at - CLOCK_SECONDS):
        found = True
        with context.store.transaction(
            context.namespace, context.cause, context.now, context.tenant, namespaces
        ) as writer:
            yield _take_back(entries, f"{TAKEN_BACK}{id}", writer)
    if not found:
        raise NotFound(f"there is no import {id}; `lore import` names its id when it has imported something")


def _time_of(id: str) -> float:
    """When an import began, in seconds: the first 48 bits of its id."""
    try:
        parsed = uuid.UUID(id)
    except ValueError:
        parsed = uuid.UUID(int=0)
    if parsed.version != VERSION_7 or str(parsed) != id:
        raise Invalid(
            f"{id!r} is not the id of an import; `lore import` names it when it has imported something"
        )
    return (parsed.int >> 80) / 1000


def _pages(reader: Reader, reason: str, oldest: float) -> Iterator[list[Entry]]:
    """The entries of an import, newest first."""
    page, more = Page(limit=PAGE), True
    while more:
        listing = reader.journal(JournalFilter(), page)
        page = Page(limit=PAGE, cursor=listing.cursor)
        more = listing.more and listing[-1].at >= oldest
        if entries := [entry for entry in listing if entry.cause.reason == reason]:
            yield entries


def _take_back(entries: Sequence[Entry], reason: str, writer: Writer) -> UndoneImport:
    memories = writer.get([entry.id for entry in entries if entry.noun == "memory"], forgotten=True)
    changed: dict[str, Memory] = {}
    new: set[str] = set()
    for entry in entries:
        if entry.noun == "memory" and entry.id in memories:
            memory = changed.get(entry.id, memories[entry.id])
            if entry.before is None:
                new.add(entry.id)
                gone = replace(
                    memory, forgotten_at=writer.now, forgotten_reason=reason, updated_at=writer.now
                )
                changed[entry.id] = memory if memory.forgotten_at is not None else gone
            else:
                changed[entry.id] = _reverted(memory, entry.before, entry.after or {})
    differing = [memory for id, memory in changed.items() if memory != memories[id]]
    writer.put(differing)
    refresh_entities_of(differing, writer=writer)
    shown = [memory for memory in differing if memory.kind != ACCOUNT]
    forgotten = sum(memory.id in new for memory in shown)
    ended, put_back = _take_links_back([entry for entry in entries if entry.noun == "link"], reason, writer)
    return UndoneImport(forgotten=forgotten, reverted=len(shown) - forgotten + put_back, links=ended)


def _reverted(memory: Memory, before: Mapping[str, Any], after: Mapping[str, Any]) -> Memory:
    """The memory with its earlier values, in the fields that still have those of the import."""
    return with_columns(memory, _still_of_import(columns_of(memory), before, after))


def _still_of_import(
    now: Mapping[str, Any], before: Mapping[str, Any], after: Mapping[str, Any]
) -> dict[str, Any]:
    """The earlier values of the columns that have kept those of the import."""
    return {name: old for name, old in before.items() if now[name] == after.get(name)}


def _take_links_back(entries: Sequence[Entry], reason: str, writer: Writer) -> tuple[int, int]:
    """End the links that the import made, and give those that it changed their earlier values.

    Returns the numbers of links that were ended, and of those that go on with earlier values.
    """
    links = {link.id: link for link in writer.links(ids=[entry.id for entry in entries], ended=True)}
    ended = put_back = 0
    for entry in entries:
        link = links.get(entry.id)
        if link is None:
            continue
        if entry.before is None:
            earlier = replace(end_link(link, writer.now), created_by=reason) if link.active else link
        else:
            columns = _still_of_import(link_columns_of(link), entry.before, entry.after or {})
            earlier = link_with_columns(link, columns)
        if earlier != link and _is_put(earlier, writer):
            links[link.id] = earlier
            ended += link.active and not earlier.active
            put_back += earlier.active
    return ended, put_back


def _is_put(link: Link, writer: Writer) -> bool:
    """Whether the store took the link; its place in the tree may be another memory's by now."""
    try:
        writer.put_links([link])
    except Invalid:
        return False
    return True
