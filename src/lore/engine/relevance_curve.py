"""relevance_curve: the journal of a memory and its counted uses → its relevance, past and future."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from lore.engine.context import Context
from lore.errors import Invalid, NotFound
from lore.inspection import Curve
from lore.model import Memory
from lore.ranking.decay import DAY_SECONDS, relevance
from lore.store import Reader
from lore.store.values import EVERY, JournalFilter
from lore.text import preview

MOST_DAYS = 3_660
MOST_USES = 1_000
"""Uses that are placed on the curve; more change nothing that can be seen."""


def relevance_curve(id: str, days_back: int, days_ahead: int, context: Context) -> Curve:
    """The relevance of a memory, one point a day, from its creation at the earliest, and the one right now.

    The future is the forgetting curve if nobody uses the memory again. The past is reconstructed: the journal
    has its importance at any time, but of its uses the store knows only the number and the last one. The
    others are spread evenly between its creation and the last one. What its neighbours lent it counts
    from the last time that they did.
    """
    for name, days in (("days_back", days_back), ("days_ahead", days_ahead)):
        if not 0 <= days <= MOST_DAYS:
            raise Invalid(f"{name} is {days}; it must be between 0 and {MOST_DAYS:,}")
    memory = context.reader.get([id], forgotten=True).get(id)
    if memory is None:
        raise NotFound(f"unknown memory {preview(id, 80)}")
    now, uses = context.now, _uses(memory)
    importance = _importance(memory, context.reader)
    earliest = max(now - days_back * DAY_SECONDS, min(memory.created_at, now))
    times = [now - day * DAY_SECONDS for day in range(days_back, -days_ahead - 1, -1)]
    shown = sorted({earliest, *(at for at in times if at >= earliest)})
    points = [(at, relevance(_as_of(memory, at, min(at, now), uses, importance), at)) for at in shown]
    return Curve(points=tuple(points), uses=tuple(uses), now=now)


def _uses(memory: Memory) -> list[float]:
    """When the memory may have been used: the last time as recorded, the others evenly before it."""
    last, count = memory.last_accessed_at, min(memory.access_count, MOST_USES)
    if last is None or count < 1:
        return []
    first = min(memory.created_at, last)
    return [first + (last - first) * number / count for number in range(1, count)] + [last]


def _importance(memory: Memory, reader: Reader) -> list[tuple[float, float]]:
    """The importance of a memory from each change on, oldest first."""
    entries = reader.journal(JournalFilter(id=memory.id, newest_first=False), EVERY)
    changes = [entry for entry in entries if entry.before and "importance" in entry.before]
    first = memory.importance if not changes else float((changes[0].before or {})["importance"])
    later = [(entry.at, float((entry.after or {})["importance"])) for entry in changes]
    return [(float("-inf"), first), *later]


def _as_of(
    memory: Memory, at: float, until: float, uses: Sequence[float], importance: Sequence[tuple[float, float]]
) -> Memory:
    """The memory with its importance and its uses at a time. until: the last moment of which uses count."""
    used = bisect_right(uses, until)
    share = used / len(uses) if uses else 0.0
    then = importance[bisect_right(importance, (at, float("inf"))) - 1][1]
    reinforced = memory.last_reinforced_at
    if reinforced is not None and reinforced > until:
        reinforced = uses[used - 1] if used else None
    lent = memory.activated_at is not None and memory.activated_at <= until
    return replace(
        memory,
        importance=then,
        access_count=round(memory.access_count * share),
        last_reinforced_at=reinforced,
        activation=memory.activation if lent else 0.0,
    )
