"""relevance_curve: it ends in the present relevance, follows the journal before, and only falls after."""

from itertools import pairwise

import pytest

from lore import Draft, Invalid, Lore, NotFound
from lore.clock import Clock
from lore.model import Revision

DAY = 86_400.0


def test_the_curve_meets_the_present_relevance_and_fades_from_there(lore: Lore, clock: Clock) -> None:
    id = lore.remember(Draft(content="walrus", importance=0.8)).id
    for _ in range(3):
        clock.sleep(days=10)
        lore.read(id)
    clock.sleep(days=5)
    curve = lore.relevance_curve(id, days_back=365, days_ahead=30)
    points = dict(curve.points)
    assert (curve.now, points[clock()]) == (clock(), lore.read(id, use=False).relevance)
    assert min(points) == clock() - 35 * DAY  # no earlier than its creation
    assert [at - (clock() - 35 * DAY) for at in curve.uses] == [10 * DAY, 20 * DAY, 30 * DAY]
    future = [value for at, value in curve.points if at >= curve.now]
    assert len(future) == 31
    assert all(one > other for one, other in pairwise(future))
    used = clock() - 5 * DAY
    assert points[used] > points[used - DAY] < points[used - 2 * DAY]


def test_the_past_has_the_importance_of_its_time(lore: Lore, clock: Clock) -> None:
    id = lore.remember(Draft(content="walrus", importance=0.2)).id
    clock.sleep(days=10)
    lore.revise(Revision(id=id, importance=0.9))
    clock.sleep(days=10)
    points = dict(lore.relevance_curve(id, 20, 0).points)
    assert points[clock() - 20 * DAY] == pytest.approx(0.2 * 0.3 + 0.3 * 0.2)
    assert points[clock() - 11 * DAY] < 0.2 < 0.4 < points[clock() - 10 * DAY]


def test_a_forgotten_memory_has_a_curve_too(lore: Lore) -> None:
    id = lore.remember("walrus").id
    lore.forget([id])
    assert len(lore.relevance_curve(id, 0, 0).points) == 1


def test_wrong_ranges_and_unknown_memories_are_refused(lore: Lore) -> None:
    id = lore.for_namespace("theirs").remember("walrus").id
    with pytest.raises(NotFound):
        lore.for_namespace("mine").relevance_curve(id)
    for days_back, days_ahead in ((-1, 0), (0, 3_661)):
        with pytest.raises(Invalid, match="days"):
            lore.relevance_curve(id, days_back, days_ahead)
