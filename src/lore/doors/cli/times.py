"""Times: how a person writes a moment and likes to read one."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from lore.errors import Invalid

UNIT_SECONDS = {"m": 60, "h": 3_600, "d": 86_400, "w": 604_800}
NAMES = {"week": 604_800, "day": 86_400, "hour": 3_600, "minute": 60}
EARLIEST, LATEST = (datetime(year, 6, 1, tzinfo=UTC).timestamp() for year in (1, 9999))
_AGO = re.compile(r"(\d{1,6})([mhdw])")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def moment(text: str, now: float, option: str = "", *, whole_day: bool = False) -> float:
    """The moment that `text` names, which was given to `option` on the command line.

    whole_day: a date stands for the end of that day, not its beginning.
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
        raise Invalid(
            f"{where}cannot read {text!r} as a time;"
            " give a date like 2026-01-31, or how long ago: 30m, 3h, 7d, 2w"
        ) from None


def iso(at: float) -> str:
    """For machines: UTC, to the millisecond."""
    return datetime.fromtimestamp(_possible(at), UTC).isoformat(timespec="milliseconds")


def told(at: float, now: float) -> str:
    """For people: local time, and how long ago that was."""
    return f"{minute(at)} ({_ago(now - at)})"


def minute(at: float) -> str:
    """For tables: local time to the minute."""
    return f"{datetime.fromtimestamp(_possible(at)):%Y-%m-%d %H:%M}"


def day(at: float) -> str:
    """For narrow terminals: the local date."""
    return f"{datetime.fromtimestamp(_possible(at)):%Y-%m-%d}"


def minute_after(at: float, before: float) -> str:
    """Like minute; without the day if that is the one of `before`."""
    then = datetime.fromtimestamp(_possible(at))
    return f"{then:%H:%M}" if then.date() == datetime.fromtimestamp(before).date() else minute(at)


def span(seconds: float) -> str:
    """How long, in the largest unit that fits."""
    for name, unit in NAMES.items():
        if (count := int(seconds // unit)) >= 1:
            return f"{count} {name}{'s' if count > 1 else ''}"
    return "less than a minute"


def about(seconds: float) -> str:
    """An estimate: "about 4 minutes", "less than a minute"."""
    return f"about {span(seconds)}" if seconds >= min(NAMES.values()) else span(seconds)


def embedding_left(work: Mapping[str, float | None] | None) -> str:
    """How far a daemon is with a backlog, after its state: ": 5,112 left, about 4 minutes"."""
    if not work:
        return ""
    seconds = work["seconds_left"]
    return f": {work['left']:,.0f} left" + ("" if seconds is None else f", {about(seconds)}")


def _possible(at: float) -> float:
    """The nearest time that a calendar has, in any time zone; 1970 of what is no number."""
    return min(max(at, EARLIEST), LATEST) if at == at else 0.0


def _ago(seconds: float) -> str:
    return f"{span(seconds)} ago" if seconds >= min(NAMES.values()) else "just now"
