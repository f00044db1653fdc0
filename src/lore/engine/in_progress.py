"""in_progress: find the conversation of the agent that searches → leave its turns out of the results."""

from dataclasses import replace

from lore.engine.context import Context
from lore.model import LORE_CALL, TURN, Filter, Query
from lore.store.values import Page
from lore.text import terms

RECENT = 100
"""Turns since the agent connected that are read to find its conversation."""
COUNTED = 100
"""Limit for the count of matching turns of the conversation."""


def without_own_turns(query: Query, context: Context) -> tuple[Query, int]:
    """The query without the conversation in progress, and how many turns of it match by words.

    A query that names sessions, memories or a subtree gets what it names.
    """
    where = query.where
    named = where.sessions or where.under or where.ids is not None
    sessions = frozenset[str]() if named else own_sessions(context)
    if not sessions:
        return query, 0
    own = replace(where, sessions=sessions, kinds=frozenset({TURN}))
    matching = len(context.reader.matching(terms(query.text), COUNTED, own).strengths)
    return replace(query, where=replace(where, other_sessions=sessions)), matching


def own_sessions(context: Context) -> frozenset[str]:
    """The session that the client names; else those that the same client has written to in the same project
    since it connected."""
    if context.session:
        return frozenset({context.session})
    if context.connected_at is None or not context.cause.actor:
        return frozenset()
    lately = Filter(
        kinds=frozenset({TURN, LORE_CALL}),
        projects=frozenset({context.project}),
        created_after=context.connected_at,
    )
    turns, client = context.reader.select(lately, Page(limit=RECENT)), context.cause.actor.lower()
    return frozenset(turn.session for turn in turns if turn.source.partition("-")[0] in client)
