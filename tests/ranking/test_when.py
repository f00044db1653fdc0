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
        ("the trip in may", "2026-05-01", "2026-05-31"),
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
        ("the call of 17.01.2024", "2024-01-17", "2024-01-17"),
        ("the call of 7.1.2024", "2024-01-07", "2024-01-07"),
        ("the call of 2024/01/17", "2024-01-17", "2024-01-17"),
        ("the call of 17/01/2024", "2024-01-17", "2024-01-17"),
        ("the call of 01/17/2024", "2024-01-17", "2024-01-17"),
        ("the call of 17-01-2024", "2024-01-17", "2024-01-17"),
        ("what did she say on 29 Dec 2023?", "2023-12-29", "2023-12-29"),
        ("what did she say on Dec 29?", "2025-12-29", "2025-12-29"),
        ("what did she say on Dec. 29th, 2023?", "2023-12-29", "2023-12-29"),
        ("the trip of January-05-2024", "2024-01-05", "2024-01-05"),
        ("the trip of 05-Jan-2024", "2024-01-05", "2024-01-05"),
        ("the trip in Sept 2024", "2024-09-01", "2024-09-30"),
        ("the day after 17.01.2024", "2024-01-18", "2024-01-18"),
        ("the day before 1 March 2024", "2024-02-29", "2024-02-29"),
        ("two days after Dec 30, 2023", "2024-01-01", "2024-01-01"),
        ("the week before 8 May 2023", "2023-05-01", "2023-05-07"),
        ("the week of 10 May 2023", "2023-05-08", "2023-05-14"),
        ("the weekend of 10 May 2023", "2023-05-13", "2023-05-14"),
        ("the weekend of 14 May 2023", "2023-05-13", "2023-05-14"),
        ("the weekend before 10 May 2023", "2023-05-06", "2023-05-07"),
        ("the weekend before 14 May 2023", "2023-05-06", "2023-05-07"),
        ("the weekend after 13 May 2023", "2023-05-20", "2023-05-21"),
        ("what did we do last weekend?", "2026-11-14", "2026-11-15"),
        ("Was war am 3. April 2025?", "2025-04-03", "2025-04-03"),
        ("Was haben wir im März beschlossen?", "2026-03-01", "2026-03-31"),
        ("Was habe ich gestern gesagt?", "2026-11-15", "2026-11-15"),
        ("¿Qué pasó el 19 de octubre de 2025?", "2025-10-19", "2025-10-19"),
        ("2025年4月3日发生了什么", "2025-04-03", "2025-04-03"),
        ("我们4月3号去哪里", "2026-04-03", "2026-04-03"),
        ("昨天说了什么", "2026-11-15", "2026-11-15"),
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
        "3 may fail",
        "this may fail",
        "room 5",
        "version 3.12.2024.1",
        "10.0.0.1",
        "1/2",
        "99/99/2024",
        "2024-13-45",
        "the day after the party",
    ],
)
def test_what_is_no_time_is_none(question: str) -> None:
    assert days(question) == []


def test_a_day_that_may_be_a_month_is_both() -> None:
    assert days("the call of 03/04/2024") == [("2024-04-03", "2024-04-03"), ("2024-03-04", "2024-03-04")]
    assert days("the call of 04/04/2024") == [("2024-04-04", "2024-04-04")]


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


@pytest.mark.parametrize(
    "text",
    [
        "We met Anna on 8 May 2023 in the harbour",
        "Backup of 08.05.2023: 12 GB",
        "That was the week before, on May 8th, 2023.",
    ],
)
def test_a_memory_that_mentions_the_day_asked_for_is_of_that_day(text: str) -> None:
    asked = periods("what happened on 8 May 2023?", NOW)
    assert nearness(NOW, asked, text) == 1.0
    assert nearness(NOW, asked, text.replace("8", "9")) < 0.01
    assert nearness(NOW, [], text) == 0.0


def test_yesterday_is_the_day_before_a_memory() -> None:
    asked = periods("what happened on 8 May 2023?", NOW)
    said_at = datetime(2023, 5, 9, 12, tzinfo=UTC).timestamp()
    assert nearness(said_at, asked, "I fell into the harbour yesterday") == 1.0
    assert nearness(said_at, asked, "I fell into the harbour today") < 1.0


def test_a_longer_time_than_was_asked_for_is_no_mention() -> None:
    assert nearness(NOW, periods("on 8 May 2023?", NOW), "Many things happened in May 2023") < 0.01


@pytest.mark.parametrize(
    "text",
    [
        "1/" * 3_000,
        "may " * 1_000,
        "2024-" * 1_000,
        "31 " * 1_500,
        "İ 8 May 2023",
        "999 years ago",
        "since 2099",
    ],
)
def test_absurd_dates_never_raise(text: str) -> None:
    for now in (0.0, NOW, 2e11, 1e18):
        assert (
            0 <= nearness(now, [*periods(text, now), Period(0.0, 1.0)], f"{text} the day before {text}") <= 1
        )
