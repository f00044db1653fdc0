"""forget SESSION: its turns and what came from them alone are hidden; restore brings all of it back."""

import pytest

from lore import Draft, Filter, Lore, Tie
from lore.clock import Clock
from lore.distil.account import account_id
from lore.model import DERIVED, DISTILLED, Memory
from tests.engine.consolidate.helpers import converse

EVERYTHING = Filter(kinds=frozenset())


def conversation(lore: Lore, name: str, *texts: str) -> tuple[str, list[str]]:
    """The ids of a session and its turns."""
    converse(lore, name, *texts)
    [session] = lore.select(Filter(kinds=frozenset({"session"}), sessions=frozenset({name})), 10)
    turns = lore.select(Filter(kinds=frozenset({"turn"}), sessions=frozenset({name})), 100)
    return session.id, [turn.id for turn in turns[::-1]]


def distilled(lore: Lore, text: str, *sources: str, parent: str | None = None, by: str = DISTILLED) -> str:
    ties = tuple(Tie(source="", target=id, kind="relation", type=DERIVED) for id in sources)
    draft = Draft(content=text, kind="fragment", source_type=by, parent=parent, ties=ties)
    return lore.remember(draft).id


def current(lore: Lore) -> dict[str, Memory]:
    return {memory.id: memory for memory in lore.select(EVERYTHING, 1_000)}


def without_times(memories: dict[str, Memory]) -> list[tuple[str, str, int]]:
    return sorted((one.id, one.content, one.depth) for one in memories.values())


@pytest.fixture
def two(lore: Lore) -> tuple[str, list[str], str, list[str]]:
    ferry = conversation(lore, "ferry", "When does it leave?", "At noon.", "And back?")
    harbour = conversation(lore, "harbour", "When does it close?", "At ten.")
    return *ferry, *harbour


def test_a_session_takes_its_turns_and_what_came_from_them_alone(
    lore: Lore, clock: Clock, two: tuple[str, list[str], str, list[str]]
) -> None:
    session, turns, other, others = two
    top = distilled(lore, "Ferries", turns[0])
    fact = distilled(lore, "The ferry leaves at noon", turns[0], turns[1], parent=top)
    insight = distilled(lore, "Ferries are punctual", top)
    both = distilled(lore, "Times are told in hours", turns[1], others[1])
    mine = distilled(lore, "I like ferries", turns[0], by="observed")
    before = current(lore)
    clock.sleep(seconds=1)
    done = lore.forget([session])
    assert done[0] == session
    assert set(done) == {session, *turns, top, fact, insight}
    assert current(lore).keys() == {other, *others, both, mine, account_id(other)}
    clock.sleep(seconds=1)
    assert set(lore.restore([session])) == set(done)
    assert without_times(current(lore)) == without_times(before)
    assert lore.read(turns[0], use=False).parent == session
    assert lore.read(fact, use=False).parent == top
    assert set(lore.read(session, use=False).children) == {*turns, account_id(session)}


def test_what_others_have_built_on_stays(lore: Lore, two: tuple[str, list[str], str, list[str]]) -> None:
    session, turns, _, others = two
    top = distilled(lore, "Ferries", turns[0])
    distilled(lore, "The harbour closes at ten", others[1], parent=top)
    insight = distilled(lore, "Ferries are punctual", top)
    fact = distilled(lore, "The ferry leaves at noon", turns[1], parent=top)
    assert set(lore.forget([session])) == {session, *turns, fact}
    assert {top, insight} <= current(lore).keys()


def test_a_turn_that_was_forgotten_before_stays_forgotten(
    lore: Lore, clock: Clock, two: tuple[str, list[str], str, list[str]]
) -> None:
    session, turns, _, _ = two
    fact = distilled(lore, "The ferry leaves at noon", turns[0])
    lore.forget([turns[0]])
    clock.sleep(seconds=1)
    assert set(lore.forget([session, turns[1]])) == {session, *turns[1:], fact}
    clock.sleep(seconds=1)
    assert set(lore.restore([session])) == {session, *turns[1:], fact}
    assert turns[0] not in current(lore)


def test_whole_texts_are_hidden_and_come_back_with_their_session(lore: Lore) -> None:
    session, [turn] = conversation(lore, "log", "walrus " * 20_000)
    whole = lore.full_texts([turn])
    assert len(whole[turn]) > 100_000
    lore.forget([session])
    assert lore.full_texts([turn]) == {}
    lore.restore([session])
    assert lore.full_texts([turn]) == whole
