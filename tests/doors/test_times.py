"""Moments as people write and read them."""

from datetime import datetime

import pytest

from lore.doors.cli.times import iso, minute_after, moment, stopwatch, with_age
from lore.errors import Invalid

NOW = datetime(2026, 3, 10, 12, 0).timestamp()


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("30m", datetime(2026, 3, 10, 11, 30)),
        ("3h", datetime(2026, 3, 10, 9)),
        ("0d", datetime(2026, 3, 10, 12)),
        (" 2026-03-01 ", datetime(2026, 3, 1)),
        ("2026-03-01T08:30", datetime(2026, 3, 1, 8, 30)),
    ],
)
def test_a_moment_is_a_date_or_how_long_ago(text: str, meant: datetime) -> None:
    assert moment(text, NOW) == meant.timestamp()


def test_days_and_weeks_are_counted_in_hours() -> None:
    assert NOW - moment("7d", NOW) == NOW - moment("1w", NOW) == 7 * 24 * 3600


def test_a_zone_is_honoured() -> None:
    assert moment("2026-03-01T08:30+02:00", NOW) == moment("2026-03-01T06:30Z", NOW)


def test_a_date_can_stand_for_its_end_but_an_hour_cannot() -> None:
    assert moment("2026-03-01", NOW, whole_day=True) == moment("2026-03-02", NOW)
    assert moment("2026-03-01T08:30", NOW, whole_day=True) == moment("2026-03-01T08:30", NOW)


@pytest.mark.parametrize("text", ["", "soon", "7", "d", "-7d", "7y", "2026-13-01", "9999-12-31", "٣d d"])
def test_a_text_that_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="give a date like"):
        moment(text, NOW, whole_day=True)


def test_a_time_is_shown_with_its_age() -> None:
    assert with_age(NOW - 90, NOW) == "2026-03-10 11:58 (1 minute ago)"
    assert with_age(NOW - 7300, NOW).endswith("(2 hours ago)")
    assert with_age(NOW - 20 * 86_400, NOW).endswith("(2 weeks ago)")
    assert with_age(NOW + 5, NOW).endswith("(just now)")


def test_the_date_is_shown_only_when_it_differs_from_the_one_before() -> None:
    assert minute_after(NOW, NOW - 60) == "12:00"
    assert minute_after(NOW, NOW - 86_400) == "2026-03-10 12:00"


def test_json_documents_have_times_in_utc() -> None:
    assert iso(0) == "1970-01-01T00:00:00.000+00:00"


def test_a_duration_is_given_to_a_tenth_of_a_second_below_a_minute() -> None:
    assert (stopwatch(0.04), stopwatch(61.2)) == ("0.0 s", "1 min 01 s")
