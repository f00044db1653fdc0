"""purge: forgotten memories, and what was forgotten along with them → erased for good."""

from collections.abc import Collection, Sequence
from dataclasses import replace

from lore.engine import origins
from lore.engine.accounts import accounts_of, renew_accounts
from lore.engine.context import Context
from lore.engine.forget import gone_along
from lore.errors import Invalid, NotFound
from lore.inspection import Purged
from lore.model import SESSION, Filter, Memory
from lore.store import Reader
from lore.store.values import EVERY
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
    turns = list(reader.get(doomed, forgotten=True).values())
    _forget_repetitions(turns, context)
    accounts = _hidden_accounts(turns, context)
    purged = context.store.purge([*doomed, *accounts], context.cause, context.now, context.tenant)
    renew_accounts(turns, context)
    return purged


def _hidden_accounts(doomed: Collection[Memory], context: Context) -> list[str]:
    """Hide the accounts that quote these turns, as the journal does what they were; returns their ids."""
    ids = accounts_of(doomed, context.reader)
    if ids:
        with context.transaction() as writer:
            current = writer.get(ids).values()
            writer.put(replace(one, forgotten_at=context.now, updated_at=context.now) for one in current)
    return ids


def _forget_repetitions(doomed: Collection[Memory], context: Context) -> None:
    """Take the beginnings of these turns out of the contexts of the turns after them."""
    said: dict[str, list[str]] = {}
    for memory in doomed:
        if memory.kind in origins.TURNS:
            said.setdefault(memory.session, []).append(" ".join(memory.content.split()))
    if not said:
        return
    gone = {memory.id for memory in doomed}
    where = Filter(kinds=origins.TURNS, sessions=frozenset(said), superseded=True, forgotten=True)
    with context.transaction() as writer:
        beside = [memory for memory in writer.select(where, EVERY) if memory.id not in gone]
        writer.put([own for memory in beside if (own := _without(said[memory.session], memory)) != memory])


def _without(said: Sequence[str], memory: Memory) -> Memory:
    """The turn with a context that does not repeat the beginning of one of these texts."""
    own, _, before = memory.context.partition("\n")
    repeated = before.removesuffix("…").rstrip()
    repeats = repeated and any(text.startswith(repeated) for text in said)
    return replace(memory, context=own) if repeats else memory


def _along(memory: Memory, reader: Reader) -> list[str]:
    """What was forgotten with a memory and would be restored with it."""
    if memory.kind == SESSION:
        return list(origins.gone_with(memory, reader))
    return [one.id for one in gone_along(memory, reader)]
