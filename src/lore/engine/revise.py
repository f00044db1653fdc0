"""revise, supersede: change a memory, or let a newer one replace it; the journal keeps the old text."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from lore.admit import admit
from lore.citations import without_citations
from lore.engine.context import Context
from lore.engine.entity_view import OBSERVATION, refresh_entities_of
from lore.engine.file_paths import FILE
from lore.engine.link import put_link
from lore.errors import Invalid, NotFound
from lore.model import SHARED, Memory, Revision, Tie
from lore.store import Writer
from lore.text import (
    CONTENT_LIMIT_BYTES,
    SHORT_LIMIT_BYTES,
    TITLE_LIMIT_BYTES,
    check_storable,
    preview,
    require_text,
    title_of,
)

LIMITS = {"title": TITLE_LIMIT_BYTES, "type": SHORT_LIMIT_BYTES, "status": SHORT_LIMIT_BYTES}


def revise(revision: Revision, context: Context) -> Memory:
    """Change one memory; the words follow at once, the vector soon after. A new text cites files anew."""
    changes = admit(_checked(revision))
    cited = context.tree.cite([changes["content"]]) if context.tree and "content" in changes else None
    with context.transaction() as writer:
        memory = writer.get([revision.id]).get(revision.id)
        if memory is None:
            raise NotFound(f"unknown memory {preview(revision.id, 80)}")
        changed = replace(memory, **_title_change(memory, changes), **changes)
        if memory.kind == FILE and changed.title != memory.title:
            raise Invalid(f"the title of the file {memory.title} is its path; rename the file instead")
        if cited is not None and memory.project in ("", context.project):
            changed = replace(changed, metadata={**without_citations(memory.metadata), **cited.metadata()})
        if changed == memory:
            return memory
        [stored] = writer.put([replace(changed, updated_at=context.now)])
        refresh_entities_of([stored], writer=writer)
    return stored


def supersede(old: str, new: str, context: Context) -> Memory:
    """Mark `old` as replaced by `new`; the old memory as it is now.

    From then on only a search of the history finds it. It stays readable and names its successor.
    """
    with context.transaction() as writer:
        before = _replaceable(old, new, writer)
        if before.superseded_by == new:
            return before
        _hand_over(old, new, writer)
        reason = context.cause.reason or "replaced"
        put_link(Tie(source=new, target=old, kind="supersedes", reason=reason), writer)
        after = replace(before, superseded_by=new, superseded_at=context.now, updated_at=context.now)
        [stored] = writer.put([after])
        refresh_entities_of([stored], writer=writer)
    return stored


def _title_change(memory: Memory, changes: Mapping[str, Any]) -> dict[str, Any]:
    """A title that was taken from the text follows the new text; the path of a file stays."""
    if "title" in changes or "content" not in changes or memory.kind == FILE:
        return {}
    if memory.title != title_of(memory.content):
        return {}
    return {"title": title_of(changes["content"])}


def _checked(revision: Revision) -> dict[str, Any]:
    changes = {
        field.name: value
        for field in fields(Revision)
        if field.name != "id" and (value := getattr(revision, field.name)) is not None
    }
    if not changes:
        raise Invalid("nothing to change; give at least one new value")
    for name, value in changes.items():
        if name == "importance":
            if not 0 <= value <= 1:
                raise Invalid(f"importance is {value}; it must be between 0 and 1")
        elif name == "content":
            require_text(value, name)
        else:
            check_storable(value, name, LIMITS.get(name, CONTENT_LIMIT_BYTES))
    return changes


def _replaceable(old: str, new: str, writer: Writer) -> Memory:
    """The old memory; Invalid if the new one cannot take its place."""
    if old == new:
        raise Invalid(f"a memory cannot replace itself: {preview(old, 80)}")
    memories = writer.get([old, new])
    for id in (old, new):
        if id not in memories:
            raise NotFound(f"unknown memory {preview(id, 80)}")
    older, newer = memories[old], memories[new]
    if newer.superseded_by is not None:
        raise Invalid(f"{new} was itself replaced by {newer.superseded_by}; name that one")
    if older.superseded_by not in (None, new):
        raise Invalid(f"{old} was already replaced by {older.superseded_by}; replace that one")
    if newer.namespace not in (older.namespace, SHARED):
        whose = "is shared" if older.namespace == SHARED else f"belongs to {older.namespace}"
        raise Invalid(f"{old} {whose}; a memory that others do not see cannot replace it")
    if old in writer.ancestors([new])[new]:
        raise Invalid(f"{new} hangs below {old}; move it elsewhere before it replaces that")
    return older


def _hand_over(old: str, new: str, writer: Writer) -> None:
    """Children move to the new memory, but for the observations of an entity, which are its own."""
    below = [
        link.target
        for link in writer.links([old], ended=True)
        if link.active and link.kind == "hierarchical" and link.source == old
    ]
    for child in writer.get(below).values():
        if child.kind != OBSERVATION:
            put_link(Tie(source=new, target=child.id, kind="hierarchical"), writer)
