"""Decay: how memories fade, what use and ratings give back, and which categories last."""

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol

from lore.model import Memory

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


IMPORTANCE: Mapping[str, float] = MappingProxyType(
    {
        "fact": 0.5,
        "preference": 0.7,
        "decision": 0.8,
        "identity": 1.0,
        "event": 0.5,
        "observation": 0.4,
        "goal": 0.7,
        "todo": 0.3,
    }
)
"""The categories, each with the importance of a memory that was given none."""

BY_KIND: Mapping[str, str] = MappingProxyType(
    {
        "observation": "observation",
        "reflection": "observation",
        "turn": "event",
        "session": "event",
        "lore-call": "event",
    }
)
"""What a memory counts as whose type is no category; any other kind counts as OTHERWISE."""
OTHERWISE = "fact"

LASTING = frozenset({"identity"})
"""Memories of these types do not fade."""


def category_of(type: str, kind: str) -> str:
    """A memory's own type if that is a category, else the one of its kind."""
    return type if type in IMPORTANCE else BY_KIND.get(kind, OTHERWISE)


SCORE_LOWEST, SCORE_HIGHEST = 0.0, 10.0
SUREST = 10


def confidence_after(previous: float | None, count: int, rating: float, window: int) -> float:
    """A mean over the first `window` ratings; later ones move it by 1 / window of their distance."""
    if previous is None:
        return rating
    return previous + (rating - previous) / max(1, min(count + 1, window))


def score_after(score: float, useful: bool, confidence: int | None, up: float, down: float) -> float:
    """Praise counts more with a high confidence, blame with a low one; unsaid, both count in full."""
    if useful:
        moved = score + up * (1.0 if confidence is None else confidence / SUREST)
    else:
        moved = score - down * (1.0 if confidence is None else (SUREST + 1 - confidence) / SUREST)
    return min(SCORE_HIGHEST, max(SCORE_LOWEST, moved))


def given_up(useful: bool, confidence: int | None, at_most: int) -> bool:
    """Whether a verdict is so bad that the memory should be forgotten: a rating must have been given."""
    return not useful and confidence is not None and confidence <= at_most
