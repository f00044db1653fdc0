"""Limbic: how use, age and co-occurrence of an entity change its likeness to a question; its short text."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lore.ranking.decay import fade_with_floor

FADE_PER_HOUR = 0.0001
FADE_FLOOR = 0.1
IMPORTANCE_WEIGHT = 0.5
COOCCURRENCE_WEIGHT = 0.01
DEGREE_WEIGHT, DEGREE_CAP = 0.15, 15
DAYS_WEIGHT = 0.2
WORDS_ONLY_FLOOR, WORDS_ONLY_SPAN = 0.2, 0.6

METADATA_FACTOR = 0.7
"""For an entity most of whose observations only describe other data."""

COSINE_SHARE: Mapping[str, float] = {"cosine_heavy": 0.7, "limbic_heavy": 0.3, "hybrid_balanced": 0.0}
"""How much plain likeness counts beside the limbic score, per strategy."""


LIMBIC_SHARE: Mapping[str, float] = {"cosine_heavy": 0.1, "limbic_heavy": 0.3, "hybrid_balanced": 0.2}
"""How much of a match use, age and co-occurrence can take away, per strategy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionPhrases:
    """Lower-case phrases by which a question asks for a fact, for a comparison, or for a story."""

    factual: tuple[str, ...] = ()
    comparing: tuple[str, ...] = ()
    narrative: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """Why an entity has its score."""

    importance: float
    temporal: float
    cooccurrence: float

    def applied_to(self, base: float) -> float:
        """The limbic score of an entity whose plain likeness is `base`."""
        lifted = base * (1 + IMPORTANCE_WEIGHT * self.importance)
        return lifted * self.temporal * (1 + COOCCURRENCE_WEIGHT * self.cooccurrence)


def importance(*, uses: int, most_uses: int, degree: int = 0, days: int = 1, most_days: int = 1) -> float:
    """Use relative to the most used candidate; relations and use on many days add to it."""
    if most_uses <= 0:
        return 0.0
    used = math.log2(1 + uses) / math.log2(1 + most_uses)
    steady = 1.0 if most_days <= 1 else 1 + DAYS_WEIGHT * math.log2(1 + days) / math.log2(1 + most_days)
    return used * (1 + DEGREE_WEIGHT * min(degree, DEGREE_CAP) / DEGREE_CAP) * steady


def temporal(hours: float) -> float:
    """What is left after so many hours without use; never less than a tenth."""
    return fade_with_floor(max(0.0, hours), FADE_PER_HOUR, FADE_FLOOR)


def cooccurrence(meetings: Iterable[tuple[int, float]]) -> float:
    """What other candidates lend: for each, (how often both were shown together, hours since)."""
    return sum((math.log2(1 + count) * temporal(hours) for count, hours in meetings), 0.0)


def words_only(fused: Mapping[str, float]) -> dict[str, float]:
    """A stand-in for the likeness of what only words found, from the fused ranks."""
    low, high = min(fused.values(), default=0.0), max(fused.values(), default=0.0)
    width = high - low
    return {
        id: WORDS_ONLY_FLOOR + WORDS_ONLY_SPAN * ((value - low) / width if width else 1.0)
        for id, value in fused.items()
    }


def strategy_for(question: str, limit: int, phrases: QuestionPhrases) -> str:
    """Whether a question asks for a fact (likeness decides) or for a story (use and co-occurrence decide)."""
    text, length = question.lower(), len(question.split())
    score = 2 * sum(phrase in text for phrase in phrases.factual)
    score += sum(phrase in text for phrase in phrases.comparing)
    score -= 2 * sum(phrase in text for phrase in phrases.narrative)
    score += (length <= 3) - (length >= 10)
    score += (limit <= 3) - (limit >= 10)
    if score >= 2:
        return "cosine_heavy"
    return "limbic_heavy" if score <= -2 else "hybrid_balanced"


def blended(limbic: Mapping[str, float], likeness: Mapping[str, float], strategy: str) -> dict[str, float]:
    """The final scores of one strategy; what only words found has no likeness."""
    share = COSINE_SHARE[strategy]
    if not share or not limbic:
        return dict(limbic)
    low, high = min(limbic.values()), max(limbic.values())
    width = high - low
    return {
        id: share * likeness.get(id, 0.0) + (1 - share) * ((value - low) / width if width else 1.0)
        for id, value in limbic.items()
    }


def bent(matches: Mapping[str, float], scorings: Mapping[str, Scoring], strategy: str) -> dict[str, float]:
    """The matches, lowered where others have more use, are fresher or shown together more often.

    The entity with the best factor keeps its match; the others lose at most the strategy's share of theirs.
    """
    share = LIMBIC_SHARE[strategy]
    factors = {id: scorings[id].applied_to(1.0) for id in matches}
    best = max(factors.values(), default=1.0)
    return {id: value * (1 - share + share * factors[id] / best) for id, value in matches.items()}


def dampening(status: str, kinds: Iterable[str], status_factors: Mapping[str, float]) -> float:
    """The factor for an entity with this status and observations of these kinds; 0 to 1."""
    kinds = list(kinds)
    mostly_metadata = kinds.count("metadata") * 2 > len(kinds)
    return status_factors.get(status, 1.0) * (METADATA_FACTOR if mostly_metadata else 1.0)


TOKENS = 480
RESERVED_TOKENS = 25
CHARACTERS_PER_TOKEN = 3.57
HEAD, TAIL = 3, 7
SEPARATOR = " | "
LEAST_ROOM = 20


def room_for(header: str) -> int:
    """How many characters of observations fit beside the header."""
    header_tokens = max(1, int(len(header) / CHARACTERS_PER_TOKEN))
    return int((TOKENS - RESERVED_TOKENS - header_tokens) * CHARACTERS_PER_TOKEN)


def snapshot_of(header: str, observations: Sequence[str]) -> str:
    """All of a few; of many the first, the last, and from between those with the most varied words."""
    if len(observations) <= HEAD + TAIL:
        return SEPARATOR.join(observations)
    last = len(observations) - TAIL
    chosen = [*range(HEAD), *range(last, len(observations))]
    room = room_for(header) - sum(_cost(observations[at]) for at in chosen)
    for at in sorted(range(HEAD, last), key=lambda at: (-_variety(observations[at]), at)):
        if room < LEAST_ROOM:
            break
        if _cost(observations[at]) <= room:
            chosen.append(at)
            room -= _cost(observations[at])
    return SEPARATOR.join(observations[at] for at in sorted(chosen))


def _cost(text: str) -> int:
    return len(text) + len(SEPARATOR)


def _variety(text: str) -> float:
    words = text.lower().split()
    return len(set(words)) / len(words) if words else 0.0
