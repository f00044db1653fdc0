"""A plan: shown or done, all of it in one transaction; what somebody has overtaken is left out."""

from dataclasses import replace

import numpy as np
import pytest

from lore import Filter, Lore, NotFound, Tie
from lore.clock import Clock
from lore.engine.consolidate.plan import Change, Plan, Step, apply
from lore.engine.observe import Subject
from lore.model import Cause, Memory, Revision, new_id
from tests.engine.consolidate.sleeping import dump, fragment, memory, view_of

CAUSE = Cause(verb="consolidate", reason="test")


def applied(lore: Lore, *steps: Step, **more: object) -> Plan:
    plan = Plan(phase="test", steps=steps, **more)  # type: ignore[arg-type]
    return apply(
        plan,
        store=lore.store,
        model=lore.sense.model,
        namespace=lore.namespace,
        cause=CAUSE,
        now=lore.clock(),
    )


def made(lore: Lore, content: str) -> Memory:
    now = lore.clock()
    return Memory(id=new_id(now), kind="fragment", content=content, created_at=now, updated_at=now)


def retitled(before: Memory, now: float) -> Step:
    after = replace(before, title="new", updated_at=now)
    return Step(told="retitled", counted={"changed": 1}, changed=(Change(before=before, after=after),))


def noted(lore: Lore, name: str) -> object:
    return lore.store.reader(lore.namespace).noted(name).get(name)


def test_what_is_new_is_kept_with_its_vector_and_its_place(lore: Lore) -> None:
    root = fragment(lore, "harbour")
    new = made(lore, "walrus")
    vector = np.zeros(384, np.float32)
    vector[7] = 1.0
    link = view_of(lore).link(root, new.id, "hierarchical")
    done = applied(lore, Step(told="", new=(new,), linked=(link,), vectors={new.id: vector}))
    assert len(done.steps) == 1
    assert lore.look_at(new.id).parent == root
    assert lore.store.reader("shared").vectors(lore.sense.model, [new.id])[new.id].tolist() == vector.tolist()
    assert [entry.cause for entry in lore.history(new.id)] == [CAUSE]


def test_a_memory_that_changed_meanwhile_is_left_as_it_is(lore: Lore, clock: Clock) -> None:
    a, b = fragment(lore, "a"), fragment(lore, "b")
    steps = [retitled(memory(lore, id), clock() + 9) for id in (a, b)]
    clock.sleep(seconds=1)
    lore.revise(Revision(id=a, content="changed by somebody"))
    done = applied(lore, *steps, noted={"mark": {"at": 1}})
    assert done.counts == {"changed": 1}
    assert (memory(lore, a).content, memory(lore, a).title) == ("changed by somebody", "")
    assert memory(lore, b).title == "new"
    assert noted(lore, "mark") is None, "the next run looks again"


def test_use_is_no_change_but_what_was_used_again_is_not_hidden(lore: Lore) -> None:
    a, b = fragment(lore, "a"), fragment(lore, "b")
    before = [memory(lore, id) for id in (a, b)]
    lore.read(a)
    lore.read(b)
    done = applied(lore, retitled(before[0], lore.clock()), Step(told="gone", hidden=(before[1],)))
    assert [step.told for step in done.steps] == ["retitled"]
    assert memory(lore, b).forgotten_at is None


def test_an_end_that_is_gone_leaves_the_whole_step_out(lore: Lore) -> None:
    gone, stays = fragment(lore, "gone"), memory(lore, fragment(lore, "stays"))
    link = view_of(lore).link(stays.id, gone, "associative")
    step = replace(retitled(stays, lore.clock()), linked=(link,))
    lore.forget([gone])
    assert applied(lore, step).steps == ()
    assert memory(lore, stays.id).title == ""


def test_a_child_that_found_another_parent_meanwhile_stays_there(lore: Lore) -> None:
    one, other, child = (fragment(lore, text) for text in ("one", "other", "child"))
    step = Step(told="", linked=(view_of(lore).link(one, child, "hierarchical"),))
    lore.link([Tie(source=other, target=child, kind="hierarchical")])
    assert applied(lore, step).steps == ()
    assert lore.look_at(child).parent == other


def test_nothing_is_hung_below_itself(lore: Lore) -> None:
    one, other = fragment(lore, "one"), fragment(lore, "other")
    step = Step(told="", linked=(view_of(lore).link(one, other, "hierarchical"),))
    lore.link([Tie(source=other, target=one, kind="hierarchical")])
    assert applied(lore, step).steps == ()
    assert lore.look_at(one).parent == other


@pytest.mark.parametrize("backwards", [False, True])
def test_two_that_were_linked_meanwhile_are_not_linked_again(lore: Lore, backwards: bool) -> None:
    one, other = fragment(lore, "one"), fragment(lore, "other")
    step = Step(told="", linked=(view_of(lore).link(one, other, "associative", weight=0.9),))
    ends = (other, one) if backwards else (one, other)
    [known] = lore.link([Tie(source=ends[0], target=ends[1], weight=0.5)])
    assert applied(lore, step).steps == ()
    assert lore.links([one]) == [known]


def test_a_link_that_ended_meanwhile_is_not_moved(lore: Lore) -> None:
    old, new, child = (fragment(lore, text) for text in ("old", "new", "child"))
    [link] = lore.link([Tie(source=old, target=child, kind="hierarchical")])
    view = view_of(lore)
    step = Step(told="", ended=view.ended([link]), linked=(view.link(new, child, "hierarchical"),))
    lore.unlink([link.id])
    assert applied(lore, step).steps == ()
    assert lore.look_at(child).parent is None


def test_who_finds_the_work_done_does_nothing(lore: Lore) -> None:
    new = made(lore, "walrus")
    before = dump(lore)
    done = applied(
        lore,
        Step(told="", new=(new,)),
        expected={"mark": {"at": 1}},
        noted={"mark": {"at": 2}},
        counted={"sessions_digested": 1},
    )
    assert (done.steps, done.counts) == ((), {})
    assert dump(lore) == before


def test_a_plan_that_expects_something_is_done_as_a_whole_or_not_at_all(lore: Lore) -> None:
    gone, new = fragment(lore, "gone"), made(lore, "walrus")
    link = view_of(lore).link(gone, new.id, "associative")
    lore.forget([gone])
    before = dump(lore)
    steps = (Step(told="", new=(made(lore, "penguin"),)), Step(told="", new=(new,), linked=(link,)))
    done = applied(lore, *steps, expected={"mark": {}}, noted={"mark": {"at": 2}})
    assert done.steps == ()
    assert dump(lore) == before


def test_a_plan_that_fails_leaves_nothing_behind(lore: Lore) -> None:
    before = dump(lore)
    ours, theirs = made(lore, "walrus"), replace(made(lore, "penguin"), namespace="theirs")
    with pytest.raises(NotFound):
        applied(lore, Step(told="", new=(ours,)), Step(told="", new=(theirs,)), noted={"mark": {"at": 2}})
    assert dump(lore) == before


def test_an_entity_is_painted_anew_when_an_observation_gives_way(lore: Lore) -> None:
    lore.graph.introduce([Subject(name="Ana", observations=("lives in Oslo", "lives in Rome"))])
    [view] = lore.graph.opened(["Ana"]).views
    old, new = view.observations
    step = Step(told="", changed=(view_of(lore).superseded(old, new.id),))
    assert len(applied(lore, step).steps) == 1
    [ana] = lore.select(Filter(kinds=frozenset({"entity"})), 9)
    assert ana.context == "lives in Rome"
