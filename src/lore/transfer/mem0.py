"""mem0: the JSON of its `get_all` and of its exports: `{"results": […]}`, `{"memories": […]}` or a list."""

from collections.abc import Iterator
from typing import Any

from lore.model import Memory
from lore.transfer.items import Item, Passed, Unreadable, id_of, kept, seconds_of, text
from lore.transfer.tables import Fields

NAME = "mem0"
OWNERS = ("user_id", "agent_id", "app_id", "run_id", "actor_id", "role", "hash", "categories")


def entries_of(document: Any) -> list[Any] | None:
    """The list of memories; None if this is no document of mem0."""
    found = document
    if isinstance(document, dict):
        found = next((document[name] for name in ("results", "memories") if name in document), None)
    if not isinstance(found, list) or not found:
        return None
    return found if any(isinstance(one, dict) and _text(one) and "id" in one for one in found) else None


def of_document(document: Any) -> Iterator[Item]:
    """The memories of a document; the relations of its graph are not imported."""
    for place, one in enumerate(entries_of(document) or [], 1):
        if isinstance(one, dict) and _text(one):
            yield kept(_memory(one))
        else:
            yield Unreadable(f"memory {place}", "it has no text in the field `memory`")
    relations = document.get("relations") if isinstance(document, dict) else None
    yield from (Passed("graph relation") for _ in (relations if isinstance(relations, list) else []))


def _text(one: Fields) -> str:
    return text(one, "memory", "data", "text")


def _memory(one: Fields) -> Memory:
    content = _text(one)
    created = seconds_of(one.get("created_at"), 0.0) or 0.0
    given = one.get("metadata")
    owners = {name: one[name] for name in OWNERS if one.get(name)}
    return Memory(
        id=id_of(NAME, text(one, "id") or content),
        namespace="",
        content=content,
        source=NAME,
        source_type="inferred",
        session=text(one, "run_id"),
        author=text(one, "actor_id", "user_id", "agent_id"),
        created_at=created,
        updated_at=seconds_of(one.get("updated_at"), created) or created,
        metadata={**(given if isinstance(given, dict) else {}), **owners, "mem0_id": text(one, "id")},
    )
