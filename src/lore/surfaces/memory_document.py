"""memory_document: one memory as a resource, under an address that its id completes."""

from collections.abc import Iterable
from typing import Any

from lore.engine import Lore
from lore.model import Filter
from lore.surfaces.answers import day
from lore.text import compact

SCHEME = "lore://memory/"
TEMPLATE = SCHEME + "{id}"
PARAMETER = "id"
MOST_IDS = 50


def document(lore: Lore, id: str) -> str:
    """A memory with its whole text, its place and its links, as JSON; NotFound if it is not in sight."""
    reading = lore.read(id)
    memory = reading.memory
    data: dict[str, Any] = {
        "id": memory.id,
        "title": memory.title,
        "kind": memory.kind,
        "created": day(memory.created_at),
        "project": memory.project,
        "author": memory.author,
        "content": lore.full_texts([id]).get(id, memory.content),
        "parent": reading.parent,
        "children": list(reading.children),
        "links": [{"type": link.type, "from": link.source, "to": link.target} for link in reading.links],
    }
    return compact({key: value for key, value in data.items() if value})


def ids(lore: Lore, part: str) -> Iterable[str]:
    """Ids that begin with a text; without one, those of the newest memories."""
    where = Filter(ids=tuple(lore.ids_like(part, MOST_IDS))) if part else Filter()
    return (memory.id for memory in lore.select(where, MOST_IDS))
