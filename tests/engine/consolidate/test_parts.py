"""A long plan: done in parts, so that nobody waits long to write; what it notes comes with the last."""

import pytest

from lore import Invalid, Lore
from lore.clock import Clock
from lore.engine.consolidate.plan import STEPS_AT_ONCE, Step
from lore.model import Revision
from tests.engine.consolidate.sleeping import fragment, memory
from tests.engine.consolidate.test_plan import applied, made, noted, retitled

MARK = {"mark": {"at": 2}}


def new_ones(lore: Lore, count: int) -> list[Step]:
    return [Step(told="", counted={"made": 1}, new=(made(lore, f"memory {at}"),)) for at in range(count)]


def transactions(lore: Lore, steps: list[Step]) -> list[str]:
    """In which transaction each step was done."""
    return [entry.batch for step in steps for one in step.new for entry in lore.history(one.id)]


@pytest.mark.parametrize(("beyond", "parts"), [(-1, 2), (0, 2), (1, 3)])
def test_a_long_plan_is_several_transactions(lore: Lore, beyond: int, parts: int) -> None:
    steps = new_ones(lore, 2 * STEPS_AT_ONCE + beyond)
    done = applied(lore, *steps, noted=MARK, counted={"looked_at": 7})
    assert list(done.steps) == steps
    assert done.counts == {"made": len(steps), "looked_at": 7}
    batches = transactions(lore, steps)
    assert len(set(batches)) == parts
    assert len(set(batches[:STEPS_AT_ONCE])) == 1
    assert noted(lore, "mark") == MARK["mark"]


def test_a_plan_that_expects_something_is_one_transaction_however_long(lore: Lore) -> None:
    steps = new_ones(lore, 2 * STEPS_AT_ONCE)
    applied(lore, *steps, expected={"mark": {}}, noted=MARK)
    assert len(set(transactions(lore, steps))) == 1


@pytest.mark.parametrize("overtaken", [0, 2 * STEPS_AT_ONCE])
def test_if_any_part_was_overtaken_nothing_is_noted(lore: Lore, clock: Clock, overtaken: int) -> None:
    id = fragment(lore, "a")
    step = retitled(memory(lore, id), lore.clock())
    clock.sleep(seconds=1)
    lore.revise(Revision(id=id, content="changed by somebody"))
    steps = new_ones(lore, 2 * STEPS_AT_ONCE)
    done = applied(lore, *steps[:overtaken], step, *steps[overtaken:], noted=MARK)
    assert list(done.steps) == steps
    assert noted(lore, "mark") is None, "the next run looks again"


def test_a_part_that_fails_leaves_the_ones_before_it_done(lore: Lore) -> None:
    steps = new_ones(lore, STEPS_AT_ONCE)
    twice = Step(told="", new=(made(lore, "twice"),) * 2)
    with pytest.raises(Invalid, match="needs an id of its own"):
        applied(lore, *steps, twice, noted=MARK)
    assert len(set(transactions(lore, steps))) == 1
    assert noted(lore, "mark") is None
