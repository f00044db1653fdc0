"""How memory fades with time and grows with use: the curves of all four dialects."""

import math
from typing import Protocol

from lore.model import Memory
from lore.ranking.category import LASTING

DAY_SECONDS = 86_400.0
FLOOR = 0.3
"""The share of its importance that a memory never loses."""
ACTIVATION_FADE_PER_DAY = math.log(2)
"""What a neighbour's reading lent to a memory halves every day."""
LENT_LIMIT = 0.1
"""What readings of its neighbours add to the relevance of a memory at most, however many they are."""
LINK_KEPT = 0.95


class Used(Protocol):
    """What relevance is computed from; a Memory and a Trace both have it."""

    @property
    def type(self) -> str: ...
    @property
    def importance(self) -> float: ...
    @property
    def created_at(self) -> float: ...
    @property
    def access_count(self) -> int: ...
    @property
    def last_reinforced_at(self) -> float | None: ...
    @property
    def activation(self) -> float: ...
    @property
    def activated_at(self) -> float | None: ...


def clamp(value: float) -> float:
    """`value` kept within 0 and 1."""
    return min(1.0, max(0.0, value))


def days_since(then: float, now: float) -> float:
    """Elapsed days; a clock that went backwards counts as no time at all."""
    return max(0.0, now - then) / DAY_SECONDS


def fading_since(memory: Used) -> float:
    """When a memory was last reinforced, or made; what is distilled is reinforced by being distilled."""
    return memory.created_at if memory.last_reinforced_at is None else memory.last_reinforced_at


def idle_days(memory: Used, since: float, now: float) -> float:
    """For how long a memory has been fading; a lasting one never began to."""
    return 0.0 if memory.type in LASTING else days_since(since, now)


def habit(access_count: int) -> float:
    """How firmly use has set a memory: .3 unread, 1 after about a hundred readings."""
    return min(1.0, 0.3 + 0.15 * math.log1p(max(0, access_count)))


def fade_per_day(importance: float) -> float:
    """The forgetting rate: important memories fade seven times slower than trifles."""
    return 0.07 - 0.06 * clamp(importance)


def forgetting_curve(importance: float, access_count: int, days: float) -> float:
    """Ebbinghaus with a floor: importance x habit x e^(-rate x days), plus .3 x importance."""
    kept = habit(access_count) * math.exp(-fade_per_day(importance) * days)
    return clamp(importance * kept + FLOOR * importance)


def lent(activation: float, days: float) -> float:
    """What is left of an activation that spread from neighbours; never more than LENT_LIMIT."""
    return min(LENT_LIMIT, activation) * math.exp(-ACTIVATION_FADE_PER_DAY * days)


def relevance(memory: Used, now: float) -> float:
    """How present a memory is right now, 0 to 1."""
    idle = idle_days(memory, fading_since(memory), now)
    own = forgetting_curve(memory.importance, memory.access_count, idle)
    if not memory.activation or memory.activated_at is None:
        return own
    return clamp(own + lent(memory.activation, days_since(memory.activated_at, now)))


def retained(memory: Used, now: float) -> float:
    """What is left of a memory without the share that it never loses."""
    left = math.exp(-fade_per_day(memory.importance) * idle_days(memory, fading_since(memory), now))
    return memory.importance * habit(memory.access_count) * left


def link_weight(weight: float, used_at: float, now: float, period_days: float) -> float:
    """A link loses a twentieth of its weight in each period without use; a period of 0 days: never."""
    return weight * LINK_KEPT ** (days_since(used_at, now) / period_days) if period_days > 0 else weight


def fade(days: float, per_day: float) -> float:
    """A plain exponential: the factor on a whole score."""
    return math.exp(-per_day * days)


def left_of(memory: Memory, per_day: float, floor: float, now: float) -> float:
    """The factor on the whole score of a memory that has not been used for a while; at least `floor`."""
    last_use = fading_since(memory) if memory.last_accessed_at is None else memory.last_accessed_at
    return floor + (1 - floor) * fade(idle_days(memory, last_use, now), per_day)


def fade_with_floor(hours: float, per_hour: float, floor: float) -> float:
    """An exponential that never falls below `floor`."""
    return max(floor, math.exp(-per_hour * hours))


def usage(count: int, cap: int) -> float:
    """Use on a logarithmic scale, 1 at `cap`; more use than that still counts a little more."""
    return math.log2(1 + count) / math.log2(1 + cap) if count > 0 else 0.0
