"""A long plan is written in several transactions, so that other writers get their turn; notes come last."""

import pytest

from lore import Invalid, Lore
from lore.clock import Clock
from lore.engine.consolidate.plan import STEPS_PER_TRANSACTION, Step
from lore.model import Revision
from tests.engine.consolidate.helpers import fragment, memory
from tests.engine.consolidate.test_plan import applied, mark, new_memory, retitled, stored_marks

MARK = (mark(2),)


def new_ones(lore: Lore, count: int) -> list[Step]:
    return [Step(counts={"made": 1}, new_memories=(new_memory(lore, f"memory {at}"),)) for at in range(count)]


def transactions(lore: Lore, steps: list[Step]) -> list[str]:
    """In which transaction each step was done."""
    return [entry.batch for step in steps for one in step.new_memories for entry in lore.history(one.id)]


@pytest.mark.parametrize(("beyond", "parts"), [(-1, 2), (0, 2), (1, 3)])
def test_a_long_plan_is_written_in_several_transactions(lore: Lore, beyond: int, parts: int) -> None:
    steps = new_ones(lore, 2 * STEPS_PER_TRANSACTION + beyond)
    done = applied(lore, *steps, records=MARK, more_counts={"looked_at": 7})
    assert list(done.steps) == steps
    assert done.counts == {"made": len(steps), "looked_at": 7}
    batches = transactions(lore, steps)
    assert len(set(batches)) == parts
    assert len(set(batches[:STEPS_PER_TRANSACTION])) == 1
    assert stored_marks(lore) == [*MARK]


def test_a_plan_that_expects_a_note_is_one_transaction_however_long(lore: Lore) -> None:
    steps = new_ones(lore, 2 * STEPS_PER_TRANSACTION)
    applied(lore, *steps, expected=(mark(),), records=MARK)
    assert len(set(transactions(lore, steps))) == 1


@pytest.mark.parametrize("overtaken", [0, 2 * STEPS_PER_TRANSACTION])
def test_no_record_is_kept_if_a_step_of_any_part_was_skipped(
    lore: Lore, clock: Clock, overtaken: int
) -> None:
    id = fragment(lore, "a")
    step = retitled(memory(lore, id), lore.clock())
    clock.sleep(seconds=1)
    lore.revise(Revision(id=id, content="changed by somebody"))
    steps = new_ones(lore, 2 * STEPS_PER_TRANSACTION)
    done = applied(lore, *steps[:overtaken], step, *steps[overtaken:], records=MARK)
    assert list(done.steps) == steps
    assert stored_marks(lore) == [], "the next run looks again"


def test_a_part_that_fails_leaves_earlier_parts_written(lore: Lore) -> None:
    steps = new_ones(lore, STEPS_PER_TRANSACTION)
    twice = Step(new_memories=(new_memory(lore, "twice"),) * 2)
    with pytest.raises(Invalid, match="needs an id of its own"):
        applied(lore, *steps, twice, records=MARK)
    assert len(set(transactions(lore, steps))) == 1
    assert stored_marks(lore) == []
