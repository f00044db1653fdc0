"""in_progress: find the conversation of the agent that searches → leave its turns out of the results."""

from dataclasses import dataclass, replace

from lore.model import LORE_CALL, TURN, Filter, Query
from lore.store import Reader
from lore.store.values import Page
from lore.text import terms

RECENT = 100
"""Turns since the agent connected that are read to find its conversation."""
COUNTED = 100
"""Limit for the count of matching turns of the conversation."""


@dataclass(frozen=True, slots=True)
class Asker:
    """The agent that searches. session: its conversation, empty if the client does not name it.

    connected_at: seconds since 1970, None for a person. client: the client's name. project: where it works.
    """

    session: str
    connected_at: float | None
    client: str
    project: str


def without_own_turns(query: Query, asker: Asker, reader: Reader) -> tuple[Query, int]:
    """The query without the conversation in progress, and how many turns of it match by words.

    A query that names sessions, memories or a subtree gets what it names.
    """
    where = query.where
    named = where.sessions or where.under or where.ids is not None
    sessions = frozenset[str]() if named else _sessions(asker, reader)
    if not sessions:
        return query, 0
    own = replace(where, sessions=sessions, kinds=frozenset({TURN}))
    matching = len(reader.matching(terms(query.text), COUNTED, own).strengths)
    return replace(query, where=replace(where, other_sessions=sessions)), matching


def _sessions(asker: Asker, reader: Reader) -> frozenset[str]:
    """The session that the client names; else those that the same client has written to in the same project
    since it connected."""
    if asker.session:
        return frozenset({asker.session})
    if asker.connected_at is None or not asker.client:
        return frozenset()
    lately = Filter(
        kinds=frozenset({TURN, LORE_CALL}),
        projects=frozenset({asker.project}),
        created_after=asker.connected_at,
    )
    turns = reader.select(lately, Page(limit=RECENT))
    return frozenset(turn.session for turn in turns if turn.source.partition("-")[0] in asker.client.lower())
