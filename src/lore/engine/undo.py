"""undo: the journal entries of one transaction → refuse what was changed since → put the earlier values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from lore.engine.context import Context
from lore.engine.entity_view import ENTITY, OBSERVATION, refresh_entity_text
from lore.engine.file_paths import FILE, refuse_taken
from lore.engine.link import end_link
from lore.errors import Invalid, NotFound
from lore.inspection import Undone
from lore.model import ACCOUNT, Entry, Link, Memory
from lore.store import Reader, Writer
from lore.store.columns import columns_of, link_columns_of, with_columns
from lore.store.values import EVERY, JournalFilter, Page, SuggestionFilter, parents_of
from lore.text import label_of, preview

VERB, REVIEW = "undo", "review"
DERIVED_FIELDS = frozenset({"updated_at"})
"""Fields that follow from other changes; nobody decides about them."""
FIELDS_BY_KIND = {
    ENTITY: DERIVED_FIELDS | {"context"},
    ACCOUNT: DERIVED_FIELDS | {"title", "content", "project", "metadata", "created_at"},
}
"""The same for entities, whose context is made of their observations, and accounts, made of turns."""


@dataclass(slots=True)
class Past:
    """What one transaction did to one memory or link. before: its earlier fields; None if it was new."""

    noun: str
    before: dict[str, Any] | None
    last: int
    fields: set[str] = field(default_factory=set)


def undo(batch: str, context: Context, *, dry_run: bool) -> Undone:
    """Take back all changes of one transaction of the journal, in one transaction, which can be undone too.

    Changed fields get their earlier values; new memories are forgotten, new links end. Invalid, naming the
    later change, if any of these fields was changed since, or if others have built on a new memory.
    """
    entries = _entries(batch, context)
    if dry_run:
        memories, links = _planned(entries, context.reader, context.now)
        return Undone(batch="", changed=(*memories, *links))
    cause = replace(context.cause, reason=context.cause.reason or f"undo of {batch}")
    with replace(context, cause=cause).transaction() as writer:
        changed = take_back(entries, writer)
        return Undone(batch=batch_of(changed, writer), changed=tuple(changed))


def take_back(entries: Sequence[Entry], writer: Writer) -> list[str]:
    """Within somebody's transaction: undo these entries; returns the ids of what changed."""
    memories, links = _planned(entries, writer, writer.now)
    stored, outdated = writer.get(memories, forgotten=True), _rewritten_entities(entries, writer)
    refuse_taken([one.title for one in memories.values() if _needs_its_path(one, stored[one.id])], writer)
    writer.put(memories.values())
    writer.put_links([link for link in links.values() if not link.active])
    writer.put_links([link for link in links.values() if link.active])
    refresh_entity_text(outdated, writer=writer)
    _propose_again([link for link in links.values() if not link.active], writer)
    return [*memories, *links]


def batch_of(changed: Sequence[str], writer: Writer) -> str:
    """The batch of a transaction that has changed these; empty if it has changed nothing."""
    if not changed:
        return ""
    return writer.journal(JournalFilter(id=changed[0]), Page(limit=1))[0].batch


def _entries(batch: str, context: Context) -> list[Entry]:
    """The entries of a batch, oldest first, all of which the caller sees."""
    where = JournalFilter(batch=batch, newest_first=False)
    seen = context.reader.journal(where, EVERY)
    if not seen:
        raise NotFound(f"there is no change {preview(batch, 80)}; `activity` names the batch of each")
    every = [name for _, name in context.store.namespaces(context.tenant)]
    if len(context.store.reader(context.namespace, context.tenant, every).journal(where, EVERY)) > len(seen):
        raise Invalid(f"{batch} also changed memories that {context.namespace} does not see")
    return seen


# --- planning
def _planned(
    entries: Sequence[Entry], reader: Reader, now: float
) -> tuple[dict[str, Memory], dict[str, Link]]:
    """The memories and links as they are to be, by id; those that would stay the same are left out."""
    past = _past(entries)
    ids = {noun: [id for id, one in past.items() if one.noun == noun] for noun in ("memory", "link")}
    memories = reader.get(ids["memory"], forgotten=True)
    links = {link.id: link for link in reader.links(ids=ids["link"], ended=True)} if ids["link"] else {}
    for id, one in past.items():
        if id not in memories and id not in links:
            raise Invalid(f"{id} was erased for good; a change of it cannot be undone")
        if id in memories:
            present = _decided(columns_of(memories[id]), memories[id].kind)
        else:
            present = _decided(link_columns_of(links[id]))
        _refuse_changed(id, one, present, reader)
    _refuse_built_on([id for id in ids["memory"] if past[id].before is None], past.keys(), reader)
    rewritten = _rewritten_entities(entries, reader) | _rewritten_accounts(past, memories, reader)
    planned_memories = {
        id: _earlier_memory(memory, past[id], now, id in rewritten) for id, memory in memories.items()
    }
    planned_links = {id: _earlier_link(link, past[id], now) for id, link in links.items()}
    return (
        {id: one for id, one in planned_memories.items() if one is not None},
        {id: one for id, one in planned_links.items() if one is not None},
    )


def _past(entries: Iterable[Entry]) -> dict[str, Past]:
    """The earliest values of each memory and link in these entries, which are oldest first."""
    past: dict[str, Past] = {}
    for entry in entries:
        if entry.after is None:
            raise Invalid(f"{entry.batch} erased memories for good; that cannot be undone")
        before = None if entry.before is None else dict(entry.before)
        one = past.setdefault(entry.id, Past(entry.noun, before, entry.seq))
        one.last = entry.seq
        one.fields |= entry.after.keys()
        if one.before is not None and entry.before is not None:
            one.before = {**entry.before, **one.before}
    return past


def _refuse_changed(id: str, past: Past, present: Mapping[str, Any], reader: Reader) -> None:
    """Invalid if what the transaction made or changed has other values since. present: the fields that
    somebody decides about, as they are now."""
    then, last = _values_then(id, past.last, reader)
    fields = present.keys() if past.before is None else past.fields & present.keys()
    if last is not None and any(present[name] != then.get(name, present[name]) for name in fields):
        at = datetime.fromtimestamp(last.at, UTC).isoformat(timespec="seconds")
        raise Invalid(
            f"{past.noun} {id} was changed since, by {last.cause.verb} at {at} (batch {last.batch}); "
            "undo that first"
        )


def _values_then(id: str, seq: int, reader: Reader) -> tuple[dict[str, Any], Entry | None]:
    """The values right after this entry of the fields that were changed since, and the last change."""
    then: dict[str, Any] = {}
    last: Entry | None = None
    for entry in reader.journal(JournalFilter(id=id), EVERY):
        if entry.seq <= seq:
            break
        then |= entry.before or {}
        last = last or entry
    return then, last


def _refuse_built_on(new: Sequence[str], batch: Iterable[str], reader: Reader) -> None:
    """Invalid if a memory from outside of the batch hangs below a new one, or was replaced by it."""
    own, made = set(batch), set(new)
    links = reader.links(new, kinds=("hierarchical", "supersedes"), ended=True) if new else []
    for link in links:
        if link.active and link.source in made and link.id not in own:
            target = reader.get([link.target], forgotten=True)[link.target]
            how = "hangs below" if link.kind == "hierarchical" else "was replaced by"
            label = label_of(target.title, target.content)
            raise Invalid(f"“{label}” ({target.id}) {how} {link.source} since; undo that first")


def _earlier_memory(memory: Memory, past: Past, now: float, rewritten: bool) -> Memory | None:
    """The memory as it was before, changed now; forgotten, if it was new. None: it is so already.

    rewritten: it is an entity or account with a later text, which stays.
    """
    if past.before is None:
        if memory.forgotten_at is not None:
            return None
        return replace(memory, forgotten_at=now, forgotten_reason="undone", updated_at=now)
    earlier = with_columns(memory, _decided(past.before, memory.kind if rewritten else ""))
    return None if earlier == memory else replace(earlier, updated_at=now)


def _earlier_link(link: Link, past: Past, now: float) -> Link | None:
    if past.before is None:
        return end_link(link, now) if link.active else None
    fields = _decided(past.before)
    if "active" in fields:
        fields["active"] = bool(fields["active"])
    earlier: Link = replace(link, **fields)
    return None if earlier == link else replace(earlier, updated_at=now)


def _decided(fields: Mapping[str, Any], kind: str = "") -> dict[str, Any]:
    derived = FIELDS_BY_KIND.get(kind, DERIVED_FIELDS)
    return {name: value for name, value in fields.items() if name not in derived}


# --- what belongs to a change besides its entries
def _rewritten_entities(entries: Sequence[Entry], reader: Reader) -> set[str]:
    """The entities in these entries, and those of observations in them, whose text was rewritten since."""
    memories = reader.get({entry.id for entry in entries if entry.noun == "memory"}, forgotten=True)
    observations = [id for id, memory in memories.items() if memory.kind == OBSERVATION]
    homes = set(parents_of(reader.ancestors(observations)).values()) if observations else set[str]()
    last = max(entry.seq for entry in entries)
    rewritten = set()
    for id, memory in {**memories, **reader.get(homes)}.items():
        if memory.kind == ENTITY:
            then, _ = _values_then(id, last, reader)
            if then.get("context", memory.context) != memory.context:
                rewritten.add(id)
    return rewritten


def _rewritten_accounts(past: Mapping[str, Past], memories: Mapping[str, Memory], reader: Reader) -> set[str]:
    """The accounts among these memories that were written again since; their conversation went on."""
    accounts = (id for id, memory in memories.items() if memory.kind == ACCOUNT)
    texts = FIELDS_BY_KIND[ACCOUNT] - DERIVED_FIELDS
    return {id for id in accounts if texts & _values_then(id, past[id].last, reader)[0].keys()}


def _needs_its_path(new: Memory, old: Memory) -> bool:
    """Whether a file comes back, or moves, to a path that another file may have taken."""
    moved = old.forgotten_at is not None or old.superseded_by is not None or old.title != new.title
    return new.kind == FILE and new.forgotten_at is None and moved


def _propose_again(ended: Sequence[Link], writer: Writer) -> None:
    """A suggested link whose acceptance was undone waits for a review again."""
    for link in ended:
        if link.created_by == REVIEW:
            ends = {link.source, link.target}
            found = writer.suggestions(SuggestionFilter(touching=(link.source,)))
            accepted = [one for one in found if {one.source, one.target} == ends and one.status == "accepted"]
            writer.put_suggestions(
                [replace(one, status="pending", updated_at=writer.now) for one in accepted]
            )
