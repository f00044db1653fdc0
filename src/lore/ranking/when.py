"""When: which stretch of time a question speaks of, and how near a memory lies to it."""

import calendar
import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import NamedTuple

from lore.patterns import regex

DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "a couple of": 2, "a few": 3}
NUMBERS |= {"a": 1, "an": 1, "several": 4}
BACK = {"today": 0, "tonight": 0, "this morning": 0, "yesterday": 1, "the day before yesterday": 2}
BACK |= {"heute": 0, "gestern": 1, "vorgestern": 2, "hoy": 0, "ayer": 1, "anteayer": 2}
BACK |= {"今天": 0, "今日": 0, "昨天": 1, "昨日": 1, "前天": 2, "오늘": 0, "어제": 1}
LATELY_DAYS = 14
_MONTH_NAMES = """
    january jan januar janvier enero gennaio janeiro|february feb februar février febrero febbraio fevereiro
    |march mar märz mars marzo março|april apr avril abril aprile|may mai mayo maggio maio
    |june jun juni juin junio giugno junho|july jul juli juillet julio luglio julho|august aug août agosto
    |september sep sept septembre septiembre settembre setembro
    |october oct oktober octobre octubre ottobre outubro
    |november nov novembre noviembre novembro|december dec dezember décembre diciembre dicembre dezembro
"""
MONTHS = {name: number for number, names in enumerate(_MONTH_NAMES.split("|"), 1) for name in names.split()}
"""Name, also a short one or of another language -> 1 to 12."""
WEEKDAYS = [name.lower() for name in calendar.day_name]
MENTIONS_WITHIN = 4_000
"""Characters of a memory in which a date is looked for."""
MOST_MENTIONS, BESIDE = 8, 24
"""Places of a memory that may hold a date, and characters on both sides that are read with each."""

_MONTH = rf"(?P<month>{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b\.?"
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_COUNT = rf"(?P<count>\d{{1,3}}|{'|'.join(sorted(NUMBERS, key=len, reverse=True))})"
_UNIT = r"(?P<unit>day|week|month|year)"
_TELLING = regex(
    rf"\b(?:19|20)\d\d(?!\d)|\d[./月]\d|\b(?:{'|'.join(sorted(MONTHS, key=len, reverse=True))})\b"
    rf"|\b(?:{'|'.join(sorted(filter(str.isascii, BACK)))}|ago|weekend|last (?:week|month|year))\b"
    r"|昨|今|前天|어제|오늘",
    re.IGNORECASE,
)
"""A place where a text may name a date."""
_MAY = regex(r"(?:\d\d?|this) may")
_BESIDE = regex(
    rf"\b(?:(?P<weekend>weekend) (?P<where>of|after|following|before)|(?P<week>week) of"
    rf"|(?:{_COUNT} )?{_UNIT}s? (?P<side>after|following|before|preceding))(?: the)? \Z"
)
"""Ends with the words before a date that move it: the day after, two weeks before, the weekend of."""


class Period(NamedTuple):
    """From a moment to another, in seconds since the epoch."""

    begin: float
    end: float


def periods(question: str, now: float) -> list[Period]:
    """The days, weeks, months and years that a question speaks of; none if `now` is in no calendar."""
    try:
        today = datetime.fromtimestamp(now, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    except (ValueError, OverflowError, OSError):
        return []
    found: list[Period] = []
    rest = _lower(question)
    for form, read in FORMS:
        matches = list(form.finditer(rest))
        for match in matches:
            with suppress(ValueError, OverflowError):  # there is no 31 February
                if not _is_verb(match, question):
                    found += _completed(read(match, today), match, rest, now)
        if matches:
            rest = form.sub(lambda match: " " * len(match.group()), rest)
    return found


def _lower(text: str) -> str:
    """In lower case, of the same length: a few characters become two there."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(one.lower()[0] for one in text)


def _is_verb(match: re.Match[str], question: str) -> bool:
    """Whether "3 may" goes on as in "3 may fail"; a month has a capital, or a year behind it."""
    return _MAY.fullmatch(question, match.start(), match.end()) is not None


def _completed(
    periods: Period | Sequence[Period], match: re.Match[str], text: str, now: float
) -> Iterator[Period]:
    """The periods as the words before them move them, or lengthen them until now."""
    before = _BESIDE.search(text, max(0, match.start() - 40), match.start())
    for period in [periods] if isinstance(periods, Period) else periods:
        if match.group().startswith(("since", "seit")):
            yield period._replace(end=max(now, period.end))
        else:
            yield _moved(period, before) if before else period


def _moved(period: Period, words: re.Match[str]) -> Period:
    """The day, the week or the weekend beside a period."""
    first = datetime.fromtimestamp(period.begin, UTC)
    if words["week"]:
        return _days(first - timedelta(days=first.weekday()), 7)
    if words["weekend"]:
        saturday = first + timedelta(days=5 - first.weekday())
        if words["where"] == "before":
            return _days(saturday - timedelta(days=7), 2)
        later = words["where"] != "of" and first >= saturday
        return _days(saturday + timedelta(days=7 * later), 2)
    length = DAYS[words["unit"]]
    distance = (_count(words) - 1) * length
    if words["side"] in ("after", "following"):
        return _days(datetime.fromtimestamp(period.end, UTC) + timedelta(days=distance), length)
    return _days(first - timedelta(days=distance + length), length)


def nearness(moment: float, wanted: Sequence[Period], text: str = "") -> float:
    """1 within one of the periods; outside it fades, over the length of a period to about a third.

    text: of the memory of that moment. A day or a longer time within a period that it mentions counts as 1.
    """
    if not wanted:
        return 0.0
    near = max(_near(moment, period) for period in wanted)
    return 1.0 if near < 1 and _mentions(text, moment, wanted) else near


def _mentions(text: str, moment: float, wanted: Sequence[Period]) -> bool:
    places = islice(_TELLING.finditer(text, 0, MENTIONS_WITHIN), MOST_MENTIONS)
    parts = (text[max(0, place.start() - BESIDE) : place.end() + BESIDE] for place in places)
    named = (mention for part in parts for mention in periods(part, moment))
    return any(
        period.begin <= mention.begin and mention.end <= period.end for mention in named for period in wanted
    )


def _near(moment: float, period: Period) -> float:
    gap = max(period.begin - moment, moment - period.end, 0.0)
    return math.exp(-gap / (period.end - period.begin))


def _days(begin: datetime, count: int = 1) -> Period:
    return Period(begin.timestamp(), (begin + timedelta(days=count)).timestamp())


def _date(match: re.Match[str], today: datetime) -> Period:
    """A month, or a day of it; without a year, the last one that there was."""
    parts = match.groupdict()
    month = int(parts["number"]) if parts.get("number") else MONTHS[parts["month"]]
    day = int(parts.get("day") or 1)
    year = parts.get("year")
    begin = datetime(int(year or today.year), month, day, tzinfo=UTC)
    if not year and begin > today:
        begin = begin.replace(year=today.year - 1)
    return _days(begin, 1 if parts.get("day") else calendar.monthrange(begin.year, month)[1])


def _numeric(match: re.Match[str], today: datetime) -> list[Period]:
    """A day in figures, the year last. The day stands before the month where there are dots; elsewhere both
    orders are meant if both are possible."""
    one, other, year = int(match["one"]), int(match["other"]), int(match["year"])
    orders = {(one, other)} if match["sign"] == "." else {(one, other), (other, one)}
    return [_days(datetime(year, month, day, tzinfo=UTC)) for day, month in sorted(orders) if month <= 12]


def _weekend(match: re.Match[str], today: datetime) -> Period:
    """This one is that of this week, the last one that before it."""
    saturday = today + timedelta(days=5 - today.weekday())
    return _days(saturday - timedelta(days=7 * (match["which"] != "this")), 2)


def _east_asian(match: re.Match[str], today: datetime) -> Period:
    return _date(match, today) if match["number"] else _year(match, today)


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


_Read = Callable[[re.Match[str], datetime], Period | Sequence[Period]]
_UNSPACED: tuple[tuple[str, _Read], ...] = (
    (rf"{_YEAR}年(?:(?P<number>1[0-2]|0?[1-9])月(?:(?P<day>3[01]|[12]\d|0?[1-9])[日号號])?)?", _east_asian),
    (r"(?<!\d)(?P<number>1[0-2]|0?[1-9])月(?P<day>3[01]|[12]\d|0?[1-9])[日号號]", _date),
    ("昨天|昨日|今天|今日|前天|어제|오늘", _back),
)
_SPACED: tuple[tuple[str, _Read], ...] = (
    (rf"(?<!\d[./-]){_YEAR}(?P<sign>[-/.])(?P<number>1[0-2]|0?[1-9])(?P=sign){_DAY}(?![./-]\d)", _date),
    (rf"(?<!\d[./-]){_YEAR}-(?P<number>1[0-2]|0[1-9])(?![./-]\d)", _date),
    (rf"(?<!\d[./-])(?P<one>\d\d?)(?P<sign>[-/.])(?P<other>\d\d?)(?P=sign){_YEAR}(?![./-]\d)", _numeric),
    (rf"{_DAY}[.]?[ -](?:of |de |di )?{_MONTH}(?:(?:,? |-| de | del ){_YEAR})?", _date),
    (rf"{_MONTH}[ -](?:the )?{_DAY}(?:(?:,? |-){_YEAR})?", _date),
    (rf"{_MONTH},?[ -](?:of |de )?{_YEAR}", _date),
    (rf"(?:in|im|en|during|since|seit|last|this|early|late|mid) {_MONTH}", _date),
    (rf"(?:in|during|since|of|end of) {_YEAR}", _year),
    (rf"{_COUNT} {_UNIT}s? ago", _ago),
    ("(?P<which>last|past|previous|this) weekend", _weekend),
    (rf"(?P<which>last|past|previous) (?:{_COUNT} )?{_UNIT}s?", _past),
    (rf"this {_UNIT}", _current),
    ("|".join(sorted(filter(str.isascii, BACK), key=len, reverse=True)), _back),
    ("recently|lately", _lately),
    (rf"(?:last|on|this|past) (?P<weekday>{'|'.join(WEEKDAYS)})", _weekday),
)
FORMS: tuple[tuple[re.Pattern[str], _Read], ...] = (
    *((regex(pattern), read) for pattern, read in _UNSPACED),
    *((regex(rf"\b(?:{pattern})(?!\w)"), read) for pattern, read in _SPACED),
)
"""From the most exact to the least; what one has read is not read again."""
