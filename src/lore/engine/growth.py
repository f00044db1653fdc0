"""growth: the journal counted by day → days with totals, and how present all memories are now."""

import math
from collections import Counter
from datetime import date, timedelta

from lore.engine.context import Context
from lore.errors import Invalid
from lore.inspection import Day, Event, Growth
from lore.model import TURN, VERBATIM, Filter
from lore.ranking.decay import DAY_SECONDS, relevance
from lore.store import Reader
from lore.store.values import COUNT, Page

MOST_DAYS = 3_660
WIDEST_OFFSET_MINUTES = 24 * 60
TENTHS = 10
SAMPLE = 10_000
"""Memories whose relevance is computed; in a larger store they stand for all."""
KNOWLEDGE = Filter(other_kinds=VERBATIM)
"""Current memories without what was only said."""
EPOCH = date(1970, 1, 1)


def growth(days: int, offset_minutes: int, context: Context) -> Growth:
    """What was learnt, changed, replaced and forgotten on each of the last days, by the journal.

    offset_minutes: how far the caller's clock is ahead of UTC; days begin at its midnight. The total of a day
    is that of today, less what came later, plus what went later.
    """
    if not 1 <= days <= MOST_DAYS:
        raise Invalid(f"days is {days}; it must be between 1 and {MOST_DAYS:,}")
    if abs(offset_minutes) > WIDEST_OFFSET_MINUTES:
        raise Invalid(f"offset_minutes is {offset_minutes}; it must be within a day")
    offset = offset_minutes * 60.0
    today = int((context.now + offset) // DAY_SECONDS)
    first = today - days + 1
    events, turns = _events(first * DAY_SECONDS - offset, offset, context.reader)

    total = now = context.reader.traces(KNOWLEDGE, COUNT).total
    listed = []
    for number in range(today, first - 1, -1):
        counts = events.get(number, Counter())
        listed.append(
            Day(
                day=(EPOCH + timedelta(days=number)).isoformat(),
                learnt=counts["learnt"],
                changed=counts["changed"],
                replaced=counts["replaced"],
                forgotten=counts["forgotten"],
                restored=counts["restored"],
                total=max(0, total),
                turns=turns[number],
            )
        )
        total -= gain(counts)
    return Growth(days=tuple(reversed(listed)), relevance=_tenths(now, context))


def gain(counts: Counter[Event]) -> int:
    """How many more memories are current after these events."""
    return counts["learnt"] + counts["restored"] - counts["replaced"] - counts["forgotten"]


def total_at(at: float, reader: Reader) -> int:
    """How many memories were current at a time, by the journal since then."""
    events, _ = _events(math.nextafter(at, math.inf), 0.0, reader)
    since = sum((counts for counts in events.values()), Counter[Event]())
    return max(0, reader.traces(KNOWLEDGE, COUNT).total - gain(since))


def _events(since: float, offset: float, reader: Reader) -> tuple[dict[int, Counter[Event]], Counter[int]]:
    """day -> what happened to memories, and day -> recorded turns."""
    events: dict[int, Counter[Event]] = {}
    turns: Counter[int] = Counter()
    for one in reader.days(since, offset):
        if one.kind not in VERBATIM:
            events.setdefault(one.day, Counter())[one.event] += one.count
        elif one.kind == TURN and one.event == "learnt":
            turns[one.day] += one.count
    return events, turns


def _tenths(total: int, context: Context) -> tuple[int, ...]:
    """All memories by tenths of their relevance, those of a large store as its sample has them."""
    sample = context.reader.traces(KNOWLEDGE, Page(limit=SAMPLE, order="shuffled"))
    counts = [0] * TENTHS
    for trace in sample:
        counts[min(TENTHS - 1, int(relevance(trace, context.now) * TENTHS))] += 1
    return tuple(round(count * total / len(sample)) for count in counts) if sample else tuple(counts)
