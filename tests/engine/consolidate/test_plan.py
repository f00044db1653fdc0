"""A plan is written step by step; a step is skipped if its inputs have changed."""

from dataclasses import replace

import numpy as np
import pytest

from lore import Filter, Lore, NotFound, Tie
from lore.clock import Clock
from lore.engine.consolidate.plan import Change, Plan, Step, apply
from lore.engine.context import Context
from lore.engine.entity_view import Subject
from lore.model import Cause, Memory, Revision, new_id
from lore.store.records import PhaseMark
from tests.engine.consolidate.helpers import dump, fragment, memory, view_of

CAUSE = Cause(verb="consolidate", reason="test")


def applied(lore: Lore, *steps: Step, **more: object) -> Plan:
    plan = Plan(steps=steps, **more)  # type: ignore[arg-type]
    context = Context(store=lore.store, namespace=lore.namespace, cause=CAUSE, now=lore.clock())
    return apply(plan, context, model=lore.embeddings.model)


def new_memory(lore: Lore, content: str) -> Memory:
    now = lore.clock()
    return Memory(id=new_id(now), kind="fragment", content=content, created_at=now, updated_at=now)


def retitled(before: Memory, now: float) -> Step:
    after = replace(before, title="new", updated_at=now)
    return Step(description="retitled", counts={"changed": 1}, changes=(Change(before=before, after=after),))


def mark(at: float = 0.0) -> PhaseMark:
    return PhaseMark(phase="mark", done_at=at)


def stored_marks(lore: Lore) -> list[PhaseMark]:
    return lore.store.reader(lore.namespace).records(PhaseMark)


def test_a_new_memory_is_stored_with_its_vector_and_its_parent(lore: Lore) -> None:
    root = fragment(lore, "harbour")
    new = new_memory(lore, "walrus")
    vector = np.zeros(384, np.float32)
    vector[7] = 1.0
    link = view_of(lore).branch(root, new.id)
    done = applied(lore, Step(new_memories=(new,), new_links=(link,), vectors={new.id: vector}))
    assert len(done.steps) == 1
    assert lore.read(new.id, use=False).parent == root
    assert (
        lore.store.reader("shared").vectors(lore.embeddings.model, [new.id])[new.id].tolist()
        == vector.tolist()
    )
    assert [entry.cause for entry in lore.history(new.id)] == [CAUSE]


def test_a_step_is_skipped_if_its_memory_changed_after_planning(lore: Lore, clock: Clock) -> None:
    a, b = fragment(lore, "a"), fragment(lore, "b")
    steps = [retitled(memory(lore, id), clock() + 9) for id in (a, b)]
    clock.sleep(seconds=1)
    lore.revise(Revision(id=a, content="changed by somebody"))
    done = applied(lore, *steps, records=(mark(1),))
    assert done.counts == {"changed": 1}
    assert (memory(lore, a).content, memory(lore, a).title) == ("changed by somebody", "")
    assert memory(lore, b).title == "new"
    assert stored_marks(lore) == [], "the next run looks again"


def test_reading_a_memory_does_not_skip_a_change_but_prevents_forgetting_it(lore: Lore) -> None:
    a, b = fragment(lore, "a"), fragment(lore, "b")
    before = [memory(lore, id) for id in (a, b)]
    lore.read(a)
    lore.read(b)
    done = applied(lore, retitled(before[0], lore.clock()), Step(description="gone", forgotten=(before[1],)))
    assert [step.description for step in done.steps] == ["retitled"]
    assert memory(lore, b).forgotten_at is None


def test_a_step_is_skipped_if_one_end_of_its_link_was_forgotten(lore: Lore) -> None:
    gone, stays = fragment(lore, "gone"), memory(lore, fragment(lore, "stays"))
    link = view_of(lore).link(Tie(source=stays.id, target=gone))
    step = replace(retitled(stays, lore.clock()), new_links=(link,))
    lore.forget([gone])
    assert applied(lore, step).steps == ()
    assert memory(lore, stays.id).title == ""


def test_a_step_does_not_move_a_child_that_got_another_parent_after_planning(lore: Lore) -> None:
    one, other, child = (fragment(lore, text) for text in ("one", "other", "child"))
    step = Step(new_links=(view_of(lore).branch(one, child),))
    lore.link([Tie(source=other, target=child, kind="hierarchical")])
    assert applied(lore, step).steps == ()
    assert lore.read(child, use=False).parent == other


def test_a_step_that_would_make_a_memory_its_own_ancestor_is_skipped(lore: Lore) -> None:
    one, other = fragment(lore, "one"), fragment(lore, "other")
    step = Step(new_links=(view_of(lore).branch(one, other),))
    lore.link([Tie(source=other, target=one, kind="hierarchical")])
    assert applied(lore, step).steps == ()
    assert lore.read(one, use=False).parent == other


@pytest.mark.parametrize("backwards", [False, True])
def test_a_step_does_not_link_memories_that_were_linked_after_planning(lore: Lore, backwards: bool) -> None:
    one, other = fragment(lore, "one"), fragment(lore, "other")
    step = Step(new_links=(view_of(lore).link(Tie(source=one, target=other, weight=0.9)),))
    ends = (other, one) if backwards else (one, other)
    [existing] = lore.link([Tie(source=ends[0], target=ends[1], weight=0.5)])
    assert applied(lore, step).steps == ()
    assert lore.links([one]) == [existing]


def test_a_step_does_not_move_a_link_that_ended_after_planning(lore: Lore) -> None:
    old, new, child = (fragment(lore, text) for text in ("old", "new", "child"))
    [link] = lore.link([Tie(source=old, target=child, kind="hierarchical")])
    view = view_of(lore)
    step = Step(ended_links=view.end([link]), new_links=(view.branch(new, child),))
    lore.unlink([link.id])
    assert applied(lore, step).steps == ()
    assert lore.read(child, use=False).parent is None


def test_a_plan_whose_expected_note_has_changed_does_nothing(lore: Lore) -> None:
    new = new_memory(lore, "walrus")
    before = dump(lore)
    done = applied(
        lore,
        Step(new_memories=(new,)),
        expected=(mark(1),),
        records=(mark(2),),
        more_counts={"sessions_digested": 1},
    )
    assert (done.steps, done.counts) == ((), {})
    assert dump(lore) == before


def test_a_plan_that_expects_a_note_is_written_as_a_whole_or_not_at_all(lore: Lore) -> None:
    gone, new = fragment(lore, "gone"), new_memory(lore, "walrus")
    link = view_of(lore).link(Tie(source=gone, target=new.id))
    lore.forget([gone])
    before = dump(lore)
    steps = (Step(new_memories=(new_memory(lore, "penguin"),)), Step(new_memories=(new,), new_links=(link,)))
    done = applied(lore, *steps, expected=(mark(),), records=(mark(2),))
    assert done.steps == ()
    assert dump(lore) == before


def test_a_plan_that_fails_leaves_nothing_behind(lore: Lore) -> None:
    before = dump(lore)
    ours, theirs = new_memory(lore, "walrus"), replace(new_memory(lore, "penguin"), namespace="theirs")
    with pytest.raises(NotFound):
        applied(lore, Step(new_memories=(ours,)), Step(new_memories=(theirs,)), records=(mark(2),))
    assert dump(lore) == before


def test_the_text_of_an_entity_follows_when_an_observation_is_superseded(lore: Lore) -> None:
    lore.introduce([Subject(name="Ana", observations=("lives in Oslo", "lives in Rome"))])
    [view] = lore.open_nodes(["Ana"]).views
    old, new = view.observations
    step = Step(changes=(view_of(lore).supersede(old, new.id, "moved")[0],))
    assert len(applied(lore, step).steps) == 1
    [ana] = lore.select(Filter(kinds=frozenset({"entity"})), 9)
    assert ana.context == "lives in Rome"
