"""A question that names a time is about what was said then."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.ranking.when import Period, nearness, periods

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC).timestamp()  # a Monday


def days(question: str) -> list[tuple[str, str]]:
    """The first and the last day of each period."""
    return [(day(period.begin), day(period.end - 1)) for period in periods(question, NOW)]


def day(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).date().isoformat()


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("what broke on 2026-03-09?", "2026-03-09", "2026-03-09"),
        ("what broke in 2026-02?", "2026-02-01", "2026-02-28"),
        ("the plan of 8 May 2023", "2023-05-08", "2023-05-08"),
        ("the plan of May 8th, 2023", "2023-05-08", "2023-05-08"),
        ("the trip in February 2024", "2024-02-01", "2024-02-29"),
        ("the trip in May", "2026-05-01", "2026-05-31"),
        ("the trip in December", "2025-12-01", "2025-12-31"),
        ("what did we plan in 2022?", "2022-01-01", "2022-12-31"),
        ("what did I do today?", "2026-11-16", "2026-11-16"),
        ("what did I do yesterday?", "2026-11-15", "2026-11-15"),
        ("the day before yesterday", "2026-11-14", "2026-11-14"),
        ("the talk on Monday", "2026-11-09", "2026-11-09"),
        ("the talk last Friday", "2026-11-13", "2026-11-13"),
        ("decided last week", "2026-11-09", "2026-11-15"),
        ("decided last month", "2026-10-01", "2026-10-31"),
        ("decided last year", "2025-01-01", "2025-12-31"),
        ("decided in the past week", "2026-11-09", "2026-11-16"),
        ("in the last two months", "2026-09-17", "2026-11-16"),
        ("decided this month", "2026-11-01", "2026-11-16"),
        ("all since March", "2026-03-01", "2026-11-16"),
        ("a few days ago", "2026-11-13", "2026-11-13"),
        ("two weeks ago", "2026-10-30", "2026-11-05"),
        ("what have we learnt lately?", "2026-11-02", "2026-11-16"),
    ],
)
def test_a_time_is_understood(question: str, first: str, last: str) -> None:
    assert days(question) == [(first, last)]


@pytest.mark.parametrize(
    "question",
    [
        "where may I find it?",
        "march on",
        "31 February 2020",
        "room 2023",
        "the weekly call",
        "the last of them",
        "",
    ],
)
def test_what_is_no_time_is_none(question: str) -> None:
    assert days(question) == []


def test_several_times_are_all_meant() -> None:
    assert len(days("between 8 May 2023 and June 2023")) == 2


@given(st.text(), st.floats(0, 4e9))
def test_no_question_is_too_odd(question: str, now: float) -> None:
    assert all(period.begin < period.end for period in periods(f"{question} since yesterday", now))


def test_nearness_fades_over_the_length_of_the_period() -> None:
    week = Period(700.0, 1400.0)
    assert [nearness(at, [week]) for at in (700, 1000, 1400)] == [1.0, 1.0, 1.0]
    assert nearness(0, [week]) == nearness(2100, [week]) == pytest.approx(0.368, abs=1e-3)
    assert nearness(0, [week, Period(0.0, 1.0)]) == 1.0
    assert nearness(0, []) == 0.0
