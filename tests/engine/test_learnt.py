"""learnt: each turn of a conversation with the memories that came from it; a night in one line."""

import pytest

from lore import Draft, Invalid, Lore, NotFound
from lore.clock import Clock
from lore.distil.account import account_id
from lore.distil.learnings import CLOSED_COUNT, learnt_count, learnt_line
from lore.store.records import ConsolidationRun
from tests.engine.test_forget_session import conversation, distilled


def test_each_turn_has_the_memories_that_came_from_it(lore: Lore) -> None:
    session, turns = conversation(lore, "ferry", "When does it leave?", "At noon.", "And back?")
    _, others = conversation(lore, "harbour", "When does it close?", "At ten.")
    fact = distilled(lore, "The ferry leaves at noon", turns[0], turns[1])
    distilled(lore, "The harbour closes at ten", others[1])
    gone = distilled(lore, "Ferries are late", turns[2])
    lore.forget([gone])
    note = lore.remember(Draft(content="Buy tickets", session="ferry")).id
    found = lore.learnt(session)
    assert [(one.turn.id, [memory.id for memory in one.memories]) for one in found.turns] == [
        (turns[0], [fact]), (turns[1], [fact]), (turns[2], []),
    ]  # fmt: skip
    assert ([memory.id for memory in found.memories], found.total, found.more) == (
        [account_id(session), note],
        3,
        False,
    )
    assert lore.learnt("ferry") == found


def test_long_conversations_come_page_by_page(lore: Lore) -> None:
    session, turns = conversation(lore, "ferry", *(f"Sentence {number}." for number in range(5)))
    first = lore.learnt(session, limit=2)
    second = lore.learnt(session, limit=2, cursor=first.cursor)
    third = lore.learnt(session, limit=2, cursor=second.cursor)
    assert [one.turn.id for page in (first, second, third) for one in page.turns] == turns
    assert [page.more for page in (first, second, third)] == [True, True, False]


def test_only_a_session_has_turns(lore: Lore) -> None:
    note = lore.remember("a note").id
    session, _ = conversation(lore, "ferry", "When does it leave?", "At noon.")
    with pytest.raises(Invalid, match="not a session"):
        lore.learnt(note)
    with pytest.raises(Invalid, match="cursor"):
        lore.learnt(session, cursor=note)
    for session_of_nobody in ("nowhere", "\ud800", ""):
        with pytest.raises(NotFound):
            lore.learnt(session_of_nobody)


def test_a_conversation_of_another_namespace_is_unknown(lore: Lore) -> None:
    session, _ = conversation(lore.for_namespace("theirs"), "ferry", "When does it leave?", "At noon.")
    for name in (session, "ferry"):
        with pytest.raises(NotFound):
            lore.for_namespace("mine").learnt(name)


@pytest.mark.parametrize(
    ("counts", "line"),
    [
        ({"sessions_digested": 3, "learnt_decision": 2, "learnt_pitfall": 1, "todos_closed": 1},
         "3 conversations → 2 decisions, 1 gotcha; 1 todo closed"),
        ({"sessions_digested": 1}, "1 conversation → nothing new"),
        ({"links_created": 4}, ""),
    ],
)  # fmt: skip
def test_a_night_is_told_in_one_line(counts: dict[str, int], line: str) -> None:
    assert learnt_line(counts) == line


def test_the_next_brief_says_what_was_learnt_since_yesterday(lore: Lore, clock: Clock) -> None:
    lore.remember(Draft(content="We keep Postgres for the bookings.", type="decision"))
    counts = {"sessions_digested": 3, learnt_count("decision"): 2, CLOSED_COUNT: 1}
    with lore._context("consolidate").transaction() as writer:
        writer.put_records([ConsolidationRun(began_at=clock(), seconds=1.0, counts=counts)])
    said = "Learnt since yesterday: 3 conversations → 2 decisions; 1 todo closed."
    assert said in lore.brief().lines
    clock.sleep(days=2)
    assert said not in lore.brief().lines
