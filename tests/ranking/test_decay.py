"""Memory fades with time and grows with use, by the published numbers of all dialects."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.model import Trace
from lore.ranking.decay import (
    DAY_SECONDS,
    LENT_LIMIT,
    days_since,
    fade,
    fade_per_day,
    fade_with_floor,
    forgetting_curve,
    link_weight,
    relevance,
    retained,
    usage,
)

NOW = 1_800_000_000.0
IMPORTANCES = st.floats(0, 1)
DAYS = st.floats(0, 10_000)
COUNTS = st.integers(0, 10_000)


def trace(importance: float = 0.5, access_count: int = 0, days: float = 0.0) -> Trace:
    """A memory that was kept, or last read, so many days ago."""
    return Trace(
        id="a",
        importance=importance,
        created_at=NOW - days * DAY_SECONDS,
        access_count=access_count,
        last_reinforced_at=None,
        activation=0.0,
        activated_at=None,
    )


@pytest.mark.parametrize(
    ("count", "norm"), [(0, 0), (1, 0.1502), (5, 0.3882), (10, 0.5196), (50, 0.8519), (100, 1), (200, 1.1491)]
)
def test_use_counts_on_a_logarithmic_scale(count: int, norm: float) -> None:
    assert usage(count, 100) == pytest.approx(norm, abs=5e-5)


@pytest.mark.parametrize(
    ("days", "left"), [(1, 0.9923), (7, 0.9475), (30, 0.7937), (90, 0.5001), (180, 0.2501), (365, 0.0602)]
)
def test_a_whole_score_fades_exponentially(days: float, left: float) -> None:
    assert fade(days, 0.0077) == pytest.approx(left, abs=5e-5)


@pytest.mark.parametrize(
    ("days", "left"),
    [
        (1, 0.9976), (7, 0.9833), (30, 0.9305), (90, 0.8057), (180, 0.6492), (365, 0.4164), (730, 0.1734),
        (959.5, 0.1), (5_000, 0.1),
    ],
)  # fmt: skip
def test_the_temporal_factor_never_falls_below_its_floor(days: float, left: float) -> None:
    assert fade_with_floor(days * 24, 0.0001, 0.1) == pytest.approx(left, abs=5e-5)


@pytest.mark.parametrize(
    ("importance", "rate"),
    [(1.0, 0.010), (0.9, 0.016), (0.7, 0.028), (0.5, 0.040), (0.2, 0.058), (0.1, 0.064), (7.0, 0.010)],
)
def test_important_memories_fade_more_slowly(importance: float, rate: float) -> None:
    assert fade_per_day(importance) == pytest.approx(rate)


UNREAD = {
    1.0: {0: 0.6, 7: 0.5797, 30: 0.5222, 90: 0.4220, 365: 0.3078},
    0.9: {0: 0.54, 7: 0.5114, 30: 0.4371, 90: 0.3340, 365: 0.2708},
    0.7: {0: 0.42, 7: 0.3826, 30: 0.3007, 90: 0.2269, 365: 0.2100},
    0.5: {0: 0.3, 7: 0.2634, 30: 0.1952, 90: 0.1541, 365: 0.1500},
    0.2: {0: 0.12, 7: 0.1000, 30: 0.0705, 90: 0.0603, 365: 0.0600},
    0.1: {0: 0.06, 7: 0.0492, 30: 0.0344, 90: 0.0301, 365: 0.0300},
}
JUST_READ = {
    1.0: {1: 0.7040, 10: 0.9597, 100: 1},
    0.9: {1: 0.6336, 10: 0.8637, 100: 1},
    0.7: {1: 0.4928, 10: 0.6718, 100: 0.9046},
    0.5: {1: 0.3520, 10: 0.4798, 100: 0.6461},
    0.2: {1: 0.1408, 10: 0.1919, 100: 0.2585},
    0.1: {1: 0.0704, 10: 0.0960, 100: 0.1292},
}
RELEVANCE = [(i, 0, days, r) for i, row in UNREAD.items() for days, r in row.items()] + [
    (i, count, 0, r) for i, row in JUST_READ.items() for count, r in row.items()
]


@pytest.mark.parametrize(("importance", "count", "days", "expected"), RELEVANCE)
def test_relevance_follows_the_forgetting_curve(
    importance: float, count: int, days: int, expected: float
) -> None:
    # 5e-5, and a little more: the published table cuts .09597 to .0960 and .99990 to 1
    assert relevance(trace(importance, count, days), NOW) == pytest.approx(expected, abs=1.1e-4)


def test_the_last_reading_restarts_the_curve() -> None:
    read_today = replace(trace(days=365), last_reinforced_at=NOW)
    assert relevance(read_today, NOW) == pytest.approx(0.3)


def test_what_a_neighbour_lent_halves_every_day() -> None:
    woken = replace(trace(), activation=0.1, activated_at=NOW)
    later = NOW + DAY_SECONDS
    assert relevance(woken, NOW) == pytest.approx(0.3 + 0.1)
    assert relevance(woken, later) == pytest.approx(forgetting_curve(0.5, 0, 1) + 0.05)


def test_many_readings_of_neighbours_lend_no_more_than_the_limit() -> None:
    assert relevance(replace(trace(), activation=1.0, activated_at=NOW), NOW) == pytest.approx(
        0.3 + LENT_LIMIT
    )


@given(IMPORTANCES, COUNTS, DAYS, st.floats(0, 1))
def test_relevance_stays_between_none_and_all(
    importance: float, count: int, days: float, activation: float
) -> None:
    lively = replace(trace(importance, count, days), activation=activation, activated_at=NOW)
    assert 0 <= relevance(lively, NOW) <= 1


@given(IMPORTANCES, COUNTS, DAYS, DAYS)
def test_relevance_never_rises_by_waiting(importance: float, count: int, days: float, more: float) -> None:
    assert relevance(trace(importance, count, days + more), NOW) <= relevance(
        trace(importance, count, days), NOW
    )


@given(IMPORTANCES, COUNTS, DAYS)
def test_relevance_never_falls_by_another_use(importance: float, count: int, days: float) -> None:
    assert relevance(trace(importance, count + 1, days), NOW) >= relevance(
        trace(importance, count, days), NOW
    )


@given(IMPORTANCES, DAYS)
def test_a_first_reading_never_lowers_relevance(importance: float, days: float) -> None:
    unread = trace(importance, 0, days)
    assert relevance(replace(unread, access_count=1, last_reinforced_at=NOW), NOW) >= relevance(unread, NOW)


def test_each_use_adds_less_than_the_one_before() -> None:
    gains = [relevance(trace(0.5, n + 1), NOW) - relevance(trace(0.5, n), NOW) for n in (0, 10, 100)]
    assert gains[0] > gains[1] > gains[2] > 0


@given(st.floats(0, 1e9))
def test_a_clock_that_went_backwards_counts_as_no_time(seconds: float) -> None:
    assert days_since(NOW + seconds, NOW) == 0
    assert relevance(trace(days=-seconds / DAY_SECONDS), NOW) == relevance(trace(), NOW)


def test_a_use_of_less_than_nothing_is_no_use() -> None:
    assert usage(-3, 100) == 0
    assert math.isclose(forgetting_curve(0.5, -3, 0), forgetting_curve(0.5, 0, 0))


@given(IMPORTANCES, COUNTS, DAYS)
def test_forgetting_slows_down(importance: float, count: int, days: float) -> None:
    """Convex: the first day takes at least as much as the next."""
    first, second, third = (relevance(trace(importance, count, days + more), NOW) for more in (0, 1, 2))
    if first < 1:
        assert first - second >= second - third - 1e-12


@pytest.mark.parametrize(("importance", "least", "most"), [(1.0, 0.29, 1.0), (0.1, 0.0, 0.05)])
def test_what_is_important_never_fades_away(importance: float, least: float, most: float) -> None:
    assert least <= relevance(trace(importance, days=365), NOW) < most


@given(IMPORTANCES, COUNTS, DAYS)
def test_what_is_retained_is_what_is_present_without_the_floor(
    importance: float, count: int, days: float
) -> None:
    memory = trace(importance, count, days)
    floor = relevance(memory, NOW) - retained(memory, NOW)
    assert floor == pytest.approx(0.3 * importance) or relevance(memory, NOW) == 1


def test_what_lasts_is_retained_for_ever() -> None:
    assert retained(replace(trace(days=10_000), type="identity"), NOW) == retained(trace(), NOW)


@pytest.mark.parametrize(("periods", "left"), [(0, 1.0), (1, 0.95), (10, 0.5987), (36, 0.1578), (37, 0.1499)])
def test_a_link_loses_a_twentieth_in_each_period(periods: int, left: float) -> None:
    assert link_weight(1.0, NOW - 7 * periods * DAY_SECONDS, NOW, 7) == pytest.approx(left, abs=5e-5)


def test_a_link_without_a_period_keeps_its_weight() -> None:
    assert link_weight(0.2, 0.0, NOW, 0) == 0.2


@given(st.floats(0, 1), DAYS, DAYS)
def test_it_does_not_matter_how_often_a_link_is_looked_at(weight: float, days: float, more: float) -> None:
    embed_now = link_weight(weight, NOW - (days + more) * DAY_SECONDS, NOW, 7)
    in_between = link_weight(weight, NOW - days * DAY_SECONDS, NOW, 7)
    assert link_weight(in_between, NOW - more * DAY_SECONDS, NOW, 7) == pytest.approx(embed_now, abs=1e-9)
