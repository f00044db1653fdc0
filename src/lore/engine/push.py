"""push: the journal behind a mark → turns and headings to send; and those that arrive → memories, once."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, cast

from lore.engine.clean import clean_heading, clean_turn
from lore.engine.context import Context
from lore.engine.ingest import LEFT, NEIGHBOUR, NEIGHBOUR_SEARCHED, Ingested, keep_foreign
from lore.model import FULL_LENGTH, LORE_CALL, SESSION, TURN, VERBATIM, Filter, Memory
from lore.store import Page, Reader
from lore.store.records import SyncMark
from lore.store.values import JournalFilter
from lore.text import preview
from lore.transcripts.turns import Heading, Role, Turn, TurnOrHeading

PAGE = 600
"""Entries of the journal that one step looks at."""
TURNS = frozenset({TURN, LORE_CALL})
SYNC = "sync"
"""The verb of journal entries about turns that left this store after a push."""


class Sent(NamedTuple):
    """A turn or heading with the client that recorded it. memory: its id in the store that sends it."""

    source: str
    entry: TurnOrHeading
    memory: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """What is to be sent next. cursor: the mark behind it. more: whether the journal goes on."""

    turns: Sequence[Sent]
    headings: Sequence[Sent]
    cursor: str
    more: bool


def keep_pushed(entries: Sequence[Sent], context: Context) -> Ingested:
    """Keep turns and headings of another machine, after the turns of their sessions that are here already.

    A turn that is stored already is kept once. Nothing is looked up on this disk for a folder of another
    machine.
    """
    by_source: dict[str, list[TurnOrHeading]] = {}
    for source, entry, _ in entries:
        by_source.setdefault(source, []).append(entry)
    done = Ingested()
    for source, group in by_source.items():
        last = _last_turns({one.session for one in group if isinstance(one, Turn)}, context)
        done = sum(keep_foreign(group, source, context, last), done)
    return done


def _last_turns(sessions: Iterable[str], context: Context) -> dict[str, Sequence[str]]:
    """Id and beginning of the last stored turn of each session of the caller."""
    authors = frozenset(filter(None, (context.cause.author,)))
    turns = Filter(kinds=frozenset({TURN}), authors=authors)
    newest = {
        session: context.reader.select(replace(turns, sessions=frozenset({session})), Page(limit=1))
        for session in sessions
    }
    return {
        session: (turn.id, preview(turn.content[:NEIGHBOUR_SEARCHED], NEIGHBOUR))
        for session, turns in newest.items()
        for turn in turns
    }


def outgoing(cursor: str, context: Context, ignored: Callable[[str], bool]) -> Outgoing:
    """The turns of this namespace that the journal names behind the cursor, with the headings of their
    sessions.

    Forgotten turns stay here, and so do those of folders that are left out (`ignored`). Secrets that only
    the present rules recognise are taken out.
    """
    reader = context.reader
    entries = reader.journal(JournalFilter(newest_first=False), Page(limit=PAGE, cursor=cursor))
    ids = dict.fromkeys(entry.id for entry in entries if entry.noun == "memory" and entry.cause.verb != SYNC)
    memories = [
        memory
        for memory in reader.get(ids, forgotten=True).values()
        if memory.namespace == context.namespace
        and memory.kind in VERBATIM
        and (memory.forgotten_at is None or _left(memory))
        and not ignored(str(memory.metadata.get("folder", "")))
    ]
    turns = sorted((memory for memory in memories if memory.kind in TURNS), key=lambda memory: memory.alias)
    full = reader.full_texts(memory.id for memory in turns)
    named = {memory.id: memory for memory in memories if memory.kind == SESSION}
    sessions = named | _sessions_of(turns, reader)
    return Outgoing(
        turns=[Sent(one.source, _turn(one, full.get(one.id, "")), one.id) for one in turns],
        headings=[Sent(one.source, _heading(one), one.id) for one in sessions.values()],
        cursor=entries.cursor,
        more=entries.more,
    )


def _left(memory: Memory) -> bool:
    """Whether a turn is forgotten because a server has it: the next server needs it, too. A forgotten one has
    no whole text; its excerpt would take the place of the whole text there."""
    return memory.forgotten_reason.startswith(LEFT) and FULL_LENGTH not in memory.metadata


def _sessions_of(turns: Sequence[Memory], reader: Reader) -> dict[str, Memory]:
    names = frozenset(turn.session for turn in turns)
    if not names:
        return {}
    where = Filter(sessions=names, kinds=frozenset({SESSION}), namespaces=frozenset({reader.namespace}))
    return {memory.id: memory for memory in reader.select(where, Page(limit=10 * len(names)))}


def _turn(memory: Memory, full: str) -> Turn:
    """The turn that a memory was made of. Its project stands for the remote of the repository."""
    kept: dict[str, Any] = dict(memory.metadata)
    turn = Turn(
        uuid=memory.id,
        session=memory.session,
        role=cast(Role, memory.type),
        text=memory.content,
        full=full,
        at=memory.created_at,
        remote=memory.project,
        **{name: kept[name] for name in FROM_METADATA if name in kept},
    )
    return clean_turn(turn, Counter())


FROM_METADATA = ("reasoning", "tool", "failed", "agent", "folder", "branch", "model", "line")
"""Fields of a turn that its memory has in the metadata under the same name."""


def _heading(memory: Memory) -> Heading:
    kept = {name: str(memory.metadata.get(name, "")) for name in ("folder", "parent")}
    heading = Heading(session=memory.session, title=memory.title, at=memory.created_at, **kept)
    return clean_heading(heading, Counter())


# --- marks
def mark_of(remote: str, direction: str, reader: Reader) -> SyncMark:
    """How far this store has been exchanged with a server; at the beginning, if never."""
    marks = reader.records(SyncMark, remote=remote, direction=direction)
    return marks[0] if marks else SyncMark(remote=remote, direction=direction)


def move_mark(mark: SyncMark, gone: Sequence[str], context: Context) -> None:
    """Remember how far the exchange is, and forget the turns with these ids, in one transaction.

    A turn that changed since it was read stays: the journal names it behind the mark.
    """
    with context.transaction() as writer:
        behind = Page(limit=1, cursor=mark.cursor)
        writer.put(
            replace(memory, forgotten_at=context.now, forgotten_reason=context.cause.reason)
            for memory in writer.get(gone).values()
            if not writer.journal(JournalFilter(id=memory.id, newest_first=False), behind)
        )
        writer.put_records([mark])
