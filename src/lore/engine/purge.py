"""purge: forgotten memories, and what was forgotten along with them → erased for good."""

from collections.abc import Sequence

from lore.engine import origins
from lore.engine.context import Context
from lore.engine.forget import gone_along
from lore.errors import Invalid, NotFound
from lore.inspection import Purged
from lore.model import SESSION, Memory
from lore.store import Reader
from lore.text import label_of, preview


def purge(ids: Sequence[str], context: Context) -> Purged:
    """Erase forgotten memories from rows, indexes, journal and file; this cannot be undone.

    With a session go its turns and memories that were forgotten along with it, with an entity its
    observations. Other memories that repeat the same words, such as the conversation that a memory came from,
    are memories of their own, and so are copies in backups and in other stores.
    """
    reader = context.reader
    memories = reader.get(ids, forgotten=True)
    for id in ids:
        if id not in memories:
            raise NotFound(f"unknown memory {preview(id, 80)}")
        if memories[id].forgotten_at is None:
            label = label_of(memories[id].title, memories[id].content)
            raise Invalid(f"“{label}” ({id}) is not forgotten; forget it before it is erased for good")
    doomed = dict.fromkeys(id for memory in memories.values() for id in (memory.id, *_along(memory, reader)))
    return context.store.purge(doomed, context.cause, context.now, context.tenant)


def _along(memory: Memory, reader: Reader) -> list[str]:
    """What was forgotten with a memory and would be restored with it."""
    if memory.kind == SESSION:
        return list(origins.gone_with(memory, reader))
    return [one.id for one in gone_along(memory, reader)]
