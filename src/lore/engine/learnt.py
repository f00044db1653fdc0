"""learnt: turns of a conversation → the memories derived from each; and what a day has brought."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from lore.distil.learnings import learnt_line
from lore.engine.browse import check_limit
from lore.engine.origins import TURNS
from lore.errors import Invalid, NotFound
from lore.inspection import Learnt, LearntTurn
from lore.model import DERIVED, SESSION, VERBATIM, Filter, Memory
from lore.store import Reader
from lore.store.records import ConsolidationRun
from lore.store.values import Page
from lore.text import preview

LATELY_SECONDS = 86_400.0
MOST_MEMORIES = 1_000
"""Memories of a conversation, of no single turn, that are listed."""


def learnt_lately(reader: Reader, now: float) -> str:
    """What consolidation has learnt since yesterday, on one line; empty if it has digested nothing."""
    runs = (run for run in reader.records(ConsolidationRun) if 0 <= now - run.began_at < LATELY_SECONDS)
    counts = sum((Counter(run.counts) for run in runs), Counter[str]())
    return learnt_line(counts)


def learnt(session: str, page: Page, reader: Reader) -> Learnt:
    """A page of the turns of a session, oldest first, each with the current memories derived from it.

    session: the id of a session memory, or its `session`. The first page also has the memories of the
    session that come from none of its turns.
    """
    check_limit(page.limit)
    conversation = session_named(session, reader)
    below = reader.children([conversation.id])[conversation.id]
    turns = reader.traces(Filter(ids=tuple(below), kinds=TURNS)) if below else []
    times = {trace.id: trace.created_at for trace in turns}
    ids = sorted((id for id in below if id in times), key=times.__getitem__)
    start = _start(page.cursor, ids)
    shown = ids[start : start + page.limit]

    derived = _derived_from(shown, reader)
    memories = reader.get({*shown, *(id for made in derived.values() for id in made)})
    end = start + len(shown)
    return Learnt(
        session=conversation,
        turns=tuple(
            LearntTurn(turn=memories[id], memories=tuple(memories[one] for one in derived[id]))
            for id in shown
        ),
        memories=() if page.cursor else tuple(_of_no_turn(conversation, set(ids), reader)),
        cursor=shown[-1] if shown else page.cursor,
        more=end < len(ids),
        total=len(ids),
    )


def session_named(session: str, reader: Reader) -> Memory:
    """The session memory with this id, or that of the conversation with this `session`."""
    found = reader.get([session]).get(session)
    if found is None:
        where = Filter(kinds=frozenset({SESSION}), sessions=frozenset({session}))
        found = next(iter(reader.select(where, Page(limit=1))), None)
    if found is None:
        raise NotFound(f"unknown session {preview(session, 80)}")
    if found.kind != SESSION:
        raise Invalid(f"{found.id} is a {found.kind}, not a session")
    return found


def _start(cursor: str, ids: Sequence[str]) -> int:
    """The place behind the turn that a cursor names."""
    if cursor and cursor not in ids:
        raise Invalid(f"unknown cursor {preview(cursor, 80)!r}; give the one of the page before")
    return ids.index(cursor) + 1 if cursor else 0


def _derived_from(turns: Sequence[str], reader: Reader) -> Mapping[str, list[str]]:
    """turn -> the current memories that were derived from it, oldest first."""
    derived: dict[str, list[str]] = defaultdict(list)
    for link in reader.links(turns, kinds=("relation",)) if turns else ():
        if link.type == DERIVED and link.source not in derived[link.target]:
            derived[link.target].append(link.source)
    return derived


def _of_no_turn(session: Memory, turns: set[str], reader: Reader) -> list[Memory]:
    """The current memories of a session that come from none of its turns, newest first."""
    if not session.session:
        return []
    where = Filter(sessions=frozenset({session.session}), other_kinds=VERBATIM)
    found = reader.select(where, Page(limit=MOST_MEMORIES))
    links = reader.links([memory.id for memory in found], kinds=("relation",)) if found else []
    from_turns = {link.source for link in links if link.type == DERIVED and link.target in turns}
    return [memory for memory in found if memory.id not in from_turns]
