"""A clock that only moves when told to."""

from datetime import UTC, datetime

import pytest

from lore.clock import Clock


def test_it_starts_when_it_is_told_to_in_utc() -> None:
    assert Clock("2026-01-01T00:00:00")() == datetime(2026, 1, 1, tzinfo=UTC).timestamp()


def test_it_stands_still() -> None:
    clock = Clock()
    assert clock() == clock()


@pytest.mark.parametrize(
    ("amount", "seconds"),
    [
        ({"days": 2}, 172_800),
        ({"hours": 1}, 3_600),
        ({"minutes": 1}, 60),
        ({"seconds": 0.5}, 0.5),
        ({"days": 1, "hours": 1, "minutes": 1, "seconds": 1}, 90_061),
        ({"hours": -1}, -3_600),
    ],
)
def test_sleeping_is_how_its_time_passes(amount: dict[str, float], seconds: float) -> None:
    clock = Clock()
    start = clock()
    clock.sleep(**amount)
    assert clock() - start == seconds
