"""growth: the journal counted by day, totals that follow from it, and memories by relevance."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from lore import Draft, Invalid, Lore
from lore.clock import Clock
from lore.engine import growth
from lore.inspection import Day
from lore.model import TURN, Revision


def today(clock: Clock) -> str:
    return datetime.fromtimestamp(clock(), UTC).date().isoformat()


def test_each_day_has_what_happened_on_it_and_the_total_at_its_end(lore: Lore, clock: Clock) -> None:
    old, gone, changed = (lore.remember(Draft(content=text)).id for text in ("old", "gone", "changed"))
    lore.remember(Draft(content="said", kind=TURN))
    first = today(clock)
    clock.sleep(days=1)
    second = today(clock)
    new = lore.remember("new").id
    lore.supersede(old, new)
    lore.forget([gone])
    clock.sleep(days=2)
    lore.revise(Revision(id=changed, content="changed indeed"))
    lore.restore([gone])
    lore.forget([old])  # it was replaced before, so that there is nothing less
    grown = lore.growth(4)
    assert grown.days[0] == Day(day=first, learnt=3, total=3, turns=1)
    assert grown.days[1] == Day(day=second, learnt=1, replaced=1, forgotten=1, total=2)
    assert replace(grown.days[2], day="") == Day(day="", total=2)
    assert grown.days[3] == Day(day=today(clock), changed=2, restored=1, total=3)
    assert sum(grown.relevance) == 3


def test_days_before_the_first_one_count_in_the_totals(lore: Lore, clock: Clock) -> None:
    lore.remember("early")
    clock.sleep(days=30)
    lore.remember("late")
    assert [day.total for day in lore.growth(2).days] == [1, 2]


def test_days_begin_at_the_callers_midnight(lore: Lore, clock: Clock) -> None:
    midnight = clock() - clock() % 86_400
    at_night = replace(lore, clock=lambda: midnight + 23 * 3_600)
    at_night.remember("late at night")
    assert [day.learnt for day in at_night.growth(2).days] == [0, 1]
    next_day = replace(lore, clock=lambda: midnight + 25 * 3_600)
    assert [day.learnt for day in next_day.growth(2).days] == [1, 0]
    assert [day.learnt for day in next_day.growth(2, offset_minutes=120).days] == [0, 1]


def test_memories_are_counted_by_tenths_of_their_relevance(lore: Lore) -> None:
    for importance in (0.0, 1.0, 1.0):
        lore.remember(Draft(content=f"text {importance}", importance=importance))
    counts = lore.growth(1).relevance
    assert (len(counts), counts[0], counts[6]) == (10, 1, 2)  # unread: 1.0 x 0.3, and the floor of 0.3


def test_a_large_store_is_counted_by_a_sample(lore: Lore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growth, "SAMPLE", 50)
    lore.remember_all([Draft(content=f"text {number}", importance=number % 2 * 1.0) for number in range(200)])
    counts = lore.growth(1).relevance
    assert sum(counts) == 200
    assert (counts[0] + counts[6], counts[0] in range(50, 150)) == (200, True)


@pytest.mark.parametrize(("days", "offset"), [(0, 0), (3_661, 0), (1, 1_441)])
def test_a_range_that_makes_no_sense_is_refused(lore: Lore, days: int, offset: int) -> None:
    with pytest.raises(Invalid):
        lore.growth(days, offset)
