"""Times: moments and durations as people type and read them."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from lore.errors import Invalid
from lore.patterns import regex

UNIT_SECONDS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
NAMES = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60}
EARLIEST, LATEST = (datetime(year, 6, 1, tzinfo=UTC).timestamp() for year in (1, 9999))
WHEN = "a date like 2026-01-31, or an age: 30m, 3h, 7d, 2w"
"""The forms that `moment` reads, for help texts and errors."""
_AGO = regex(r"(\d{1,6})([mhdw])")
_DAY = regex(r"\d{4}-\d{2}-\d{2}")


def moment(text: str, now: float, option: str = "", *, whole_day: bool = False) -> float:
    """The time that `text` names. option: the option with this value, for errors.

    whole_day: a date means the end of that day, not its beginning.
    """
    if ago := _AGO.fullmatch(text.strip()):
        return now - int(ago[1]) * UNIT_SECONDS[ago[2]]
    try:
        named = datetime.fromisoformat(text.strip())
        if whole_day and _DAY.fullmatch(text.strip()):
            named += timedelta(days=1)
        return named.timestamp()
    except (ValueError, OverflowError, OSError):
        where = f"{option}: " if option else ""
        raise Invalid(f"{where}cannot read {text!r} as a time; give {WHEN}") from None


def iso(at: float) -> str:
    """For programs: UTC, to the millisecond."""
    return datetime.fromtimestamp(_possible(at), UTC).isoformat(timespec="milliseconds")


def with_age(at: float, now: float) -> str:
    """Local time, and how long ago that was: `2026-03-10 11:58 (1 minute ago)`."""
    seconds = now - at
    return f"{minute(at)} ({f'{duration(seconds)} ago' if seconds >= 60 else 'just now'})"


def minute(at: float) -> str:
    """Local time to the minute."""
    return f"{datetime.fromtimestamp(_possible(at)):%Y-%m-%d %H:%M}"


def day(at: float) -> str:
    """The local date, for narrow terminals."""
    return minute(at)[:10]


def minute_after(at: float, before: float) -> str:
    """Like `minute`, without the date if `before` has the same."""
    return minute(at)[11:] if day(at) == day(before) else minute(at)


def duration(seconds: float) -> str:
    """In the largest unit that fits: `2 hours`."""
    for name, unit in NAMES.items():
        if (count := int(seconds // unit)) >= 1:
            return f"{count} {name}{'s' if count > 1 else ''}"
    return "less than a minute"


def estimate(seconds: float) -> str:
    """`about 4 minutes`, `less than a minute`."""
    return f"about {duration(seconds)}" if seconds >= 60 else duration(seconds)


def stopwatch(seconds: float) -> str:
    """To a tenth of a second: `4.2 s`, `1 min 01 s`."""
    return f"{seconds:,.1f} s" if seconds < 60 else f"{seconds // 60:,.0f} min {seconds % 60:02.0f} s"


def embedding_left(work: Mapping[str, float | None] | None) -> str:
    """The rest of a daemon's backlog: `5,112 left, about 4 minutes`; empty if it has none."""
    if not work:
        return ""
    seconds = work["seconds_left"]
    return f"{work['left']:,.0f} left" + ("" if seconds is None else f", {estimate(seconds)}")


def _possible(at: float) -> float:
    """The nearest time that a calendar has, in any time zone; 1970 for NaN."""
    return min(max(at, EARLIEST), LATEST) if at == at else 0.0
