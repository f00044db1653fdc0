"""When: which stretch of time a question speaks of, and how near a memory lies to it."""

import calendar
import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "a couple of": 2, "a few": 3}
NUMBERS |= {"a": 1, "an": 1, "several": 4}
BACK = {"today": 0, "tonight": 0, "this morning": 0, "yesterday": 1, "the day before yesterday": 2}
LATELY_DAYS = 14
MONTHS = [name.lower() for name in calendar.month_name]
WEEKDAYS = [name.lower() for name in calendar.day_name]

_MONTH = "|".join(MONTHS[1:])
_DAY = r"(?P<day>[12]?\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>day|week|month|year)"


class Period(NamedTuple):
    """From a moment to another, in seconds since the epoch."""

    begin: float
    end: float


def periods(question: str, now: float) -> list[Period]:
    """The days, weeks, months and years that a question speaks of."""
    today = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    found: list[Period] = []
    rest = question.lower()
    for form, read in FORMS:
        for match in form.finditer(rest):
            with suppress(ValueError):  # there is no 31 February
                period = read(match, today)
                found.append(period._replace(end=now) if match.group().startswith("since") else period)
        rest = form.sub(" ", rest)
    return found


def nearness(moment: float, asked: Sequence[Period]) -> float:
    """1 within one of the periods; outside it fades, over the length of a period to about a third."""
    return max((_near(moment, period) for period in asked), default=0.0)


def _near(moment: float, period: Period) -> float:
    gap = max(period.begin - moment, moment - period.end, 0.0)
    return math.exp(-gap / (period.end - period.begin))


def _days(begin: datetime, count: int = 1) -> Period:
    return Period(begin.timestamp(), (begin + timedelta(days=count)).timestamp())


def _date(match: re.Match[str], today: datetime) -> Period:
    """A month, or a day of it; without a year, the last one that there was."""
    parts = match.groupdict()
    month = int(parts["number"]) if parts.get("number") else MONTHS.index(parts["month"])
    day = int(parts.get("day") or 1)
    begin = today.replace(year=int(parts.get("year") or today.year), month=month, day=day)
    if not parts.get("year") and begin > today:
        begin = begin.replace(year=today.year - 1)
    return _days(begin, 1 if parts.get("day") else calendar.monthrange(begin.year, month)[1])


def _year(match: re.Match[str], today: datetime) -> Period:
    return _days(today.replace(year=int(match["year"]), month=1, day=1), 365)


def _count(match: re.Match[str]) -> int:
    count = match["count"]
    return 1 if count is None else NUMBERS.get(count) or int(count)


def _ago(match: re.Match[str], today: datetime) -> Period:
    """About then: the unit itself is as exact as it is meant."""
    length = DAYS[match["unit"]]
    begin = today - timedelta(days=_count(match) * length + length // 2)
    return _days(begin, length)


def _past(match: re.Match[str], today: datetime) -> Period:
    """The last month is the one before this one; the past month, or the last two, are the days until now."""
    unit = match["unit"]
    if match["count"] is None and match["which"] != "past":
        end = today - timedelta(days=_since(unit, today))
        length = _since(unit, end - timedelta(days=1)) + 1
        return _days(end - timedelta(days=length), length)
    back = DAYS[unit] * _count(match)
    return _days(today - timedelta(days=back), back + 1)


def _since(unit: str, day: datetime) -> int:
    """How many days of this week, month or year lie before a day."""
    passed = {"week": day.weekday(), "month": day.day - 1, "year": day.timetuple().tm_yday - 1}
    return passed.get(unit, 0)


def _current(match: re.Match[str], today: datetime) -> Period:
    passed = _since(match["unit"], today)
    return _days(today - timedelta(days=passed), passed + 1)


def _back(match: re.Match[str], today: datetime) -> Period:
    return _days(today - timedelta(days=BACK[match.group()]))


def _lately(match: re.Match[str], today: datetime) -> Period:
    return _days(today - timedelta(days=LATELY_DAYS), LATELY_DAYS + 1)


def _weekday(match: re.Match[str], today: datetime) -> Period:
    back = (today.weekday() - WEEKDAYS.index(match["weekday"])) % 7
    return _days(today - timedelta(days=back or 7))


FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], datetime], Period]], ...] = tuple(
    (re.compile(rf"\b(?:{pattern})\b"), read)
    for pattern, read in (
        (rf"{_YEAR}-(?P<number>0[1-9]|1[0-2])(?:-(?P<day>0[1-9]|[12]\d|3[01]))?", _date),
        (rf"{_DAY}(?: of)? (?P<month>{_MONTH})(?:,? {_YEAR})?", _date),
        (rf"(?P<month>{_MONTH}) {_DAY}(?:,? {_YEAR})?", _date),
        (rf"(?P<month>{_MONTH}),? (?:of )?{_YEAR}", _date),
        (rf"(?:in|during|since|last|this|early|late|mid) (?P<month>{_MONTH})", _date),
        (rf"(?:in|during|since|of|end of) {_YEAR}", _year),
        (rf"{_COUNT} {_UNIT}s? ago", _ago),
        (rf"(?P<which>last|past|previous) (?:{_COUNT} )?{_UNIT}s?", _past),
        (rf"this {_UNIT}", _current),
        ("|".join(sorted(BACK, key=len, reverse=True)), _back),
        ("recently|lately", _lately),
        (rf"(?:last|on|this|past) (?P<weekday>{'|'.join(WEEKDAYS)})", _weekday),
    )
)
"""From the most exact to the least; what one has read is not read again."""
