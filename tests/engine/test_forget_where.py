"""forget_where: a whole project, session or day is hidden at once, exactly that, and comes back by undo."""

from dataclasses import replace

import pytest

from lore import Draft, Filter, Invalid, Lore
from lore.clock import Clock
from lore.engine.entity_view import Subject
from lore.inspection import Selection
from lore.model import LORE_CALL
from tests.engine.test_forget_session import conversation, distilled
from tests.engine.test_undo import assert_restored, state

ALL = Filter(superseded=True)


def current(lore: Lore) -> set[str]:
    return {memory.id for memory in lore.select(ALL, 1_000)}


def of_project(*names: str) -> Selection:
    return Selection(projects=frozenset(names))


def test_a_project_goes_with_replaced_memories_but_without_those_of_no_project(lore: Lore) -> None:
    old, new, kept, everywhere = (
        lore.remember(Draft(content=f"text {number}", project=project)).id
        for number, project in enumerate(("ferry", "ferry", "harbour", ""))
    )
    lore.supersede(old, new)
    before = state(lore)
    counted = lore.forget_where(of_project("ferry"), dry_run=True)
    assert (counted.count, set(counted.ids), counted.batch, state(lore)) == (2, {old, new}, "", before)
    done = lore.forget_where(of_project("ferry"), reason="sold")
    assert (set(done.ids), current(lore)) == ({old, new}, {kept, everywhere})
    assert lore.history(new)[-1].cause.reason == "sold"
    lore.undo(done.batch)
    assert_restored(state(lore), before)


def test_a_session_goes_with_its_turns_calls_and_memories(lore: Lore) -> None:
    session, turns = conversation(lore, "ferry", "When does it leave?", "At noon.")
    _, others = conversation(lore, "harbour", "When does it close?", "At ten.")
    fact = distilled(lore, "The ferry leaves at noon", turns[1])
    both = distilled(lore, "Times are told in hours", turns[1], others[1])
    note = lore.remember(Draft(content="Buy tickets", session="ferry")).id
    call = lore.remember(Draft(content="search", session="ferry", kind=LORE_CALL)).id
    for wanted in ("ferry", session):
        done = lore.forget_where(Selection(sessions=frozenset({wanted})))
        assert set(done.ids) == {session, *turns, fact, note, call}
        assert both in current(lore)
        lore.undo(done.batch)


def test_a_day_goes(lore: Lore, clock: Clock) -> None:
    made = []
    for text in "abc":
        made.append(lore.remember(text).id)
        clock.sleep(days=1)
    begin = clock() - 2 * 86_400
    day = Selection(created_after=begin, created_before=begin + 86_400)
    assert lore.forget_where(day).ids == (made[1],)
    assert lore.forget_where(replace(day, kinds=frozenset({"turn"}))).count == 0


def test_children_that_stay_go_to_the_nearest_memory_above_and_come_back(lore: Lore) -> None:
    def below(parent: str | None, project: str) -> str:
        return lore.remember(Draft(content=f"{project} below {parent}", parent=parent, project=project)).id

    root = below(None, "")
    top = below(root, "ferry")
    middle = below(top, "ferry")
    leaf, twin = below(middle, ""), below(middle, "ferry")
    before = state(lore)
    done = lore.forget_where(of_project("ferry"))
    assert set(done.ids) == {top, middle, twin}
    assert lore.read(leaf, use=False).parent == root
    assert lore.read(leaf, use=False).memory.depth == 1
    lore.restore([middle])
    assert lore.read(leaf, use=False).parent == middle
    lore.undo(lore.history(middle)[-1].batch)
    lore.undo(done.batch)
    assert_restored(state(lore), before)
    assert [finding for finding in lore.check() if not finding.passed] == []


def test_an_entity_goes_with_its_observations(lore: Lore) -> None:
    [view] = lore.introduce([Subject(name="Ferry", observations=("it is red", "it is slow"))])
    done = lore.forget_where(Selection(kinds=frozenset({"entity"})))
    assert set(done.ids) == {view.entity.id, *(one.id for one in view.observations)}
    lore.undo(done.batch)
    assert len(lore.nodes("Ferry").views[0].observations) == 2
    lore.forget_where(Selection(kinds=frozenset({"entity"})))
    lore.restore([view.entity.id])
    assert len(lore.nodes("Ferry").views[0].observations) == 2


@pytest.mark.parametrize("where", [Selection(), Selection(created_after=2.0, created_before=2.0)])
def test_a_selection_of_everything_or_nothing_is_refused(lore: Lore, where: Selection) -> None:
    id = lore.remember("a").id
    with pytest.raises(Invalid):
        lore.forget_where(where)
    assert current(lore) == {id}


def test_nothing_of_another_namespace_or_tenant_is_forgotten(lore: Lore) -> None:
    draft = Draft(content="text", project="ferry")
    mine, theirs, elsewhere = (
        lore.for_namespace("mine"),
        lore.for_namespace("theirs"),
        replace(lore, tenant="acme"),
    )
    own, *_ = (one.remember(draft).id for one in (mine, theirs, elsewhere))
    assert mine.forget_where(of_project("ferry")).ids == (own,)
    assert len(current(theirs)) == len(current(elsewhere)) == 1
