"""revise: take the memory as it is → change what was asked → keep it, the old text staying in the journal."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from lore.admit import admit
from lore.engine.entity_view import refresh_entities_of
from lore.engine.remember import SHORT_LIMIT_BYTES, TITLE_LIMIT_BYTES
from lore.errors import Invalid, NotFound
from lore.model import Cause, Memory, Revision
from lore.store import Store
from lore.text import CONTENT_LIMIT_BYTES, check_storable, preview, require_text, title_of

LIMITS = {"title": TITLE_LIMIT_BYTES, "type": SHORT_LIMIT_BYTES, "status": SHORT_LIMIT_BYTES}


def revise(revision: Revision, *, store: Store, namespace: str, cause: Cause, now: float) -> Memory:
    """Change one memory; the words follow at once, the vector soon after."""
    changes = admit(_checked(revision))
    with store.transaction(namespace, cause, now) as writer:
        memory = writer.get([revision.id]).get(revision.id)
        if memory is None:
            raise NotFound(f"unknown memory {preview(revision.id, 80)}")
        changed = replace(memory, **_title_change(memory, changes), **changes)
        if changed == memory:
            return memory
        [stored] = writer.put([replace(changed, updated_at=now)])
        refresh_entities_of([stored], writer=writer, now=now)
    return stored


def _title_change(memory: Memory, changes: Mapping[str, Any]) -> dict[str, Any]:
    """A title that was taken from the text follows the new text."""
    if "title" in changes or "content" not in changes or memory.title != title_of(memory.content):
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
