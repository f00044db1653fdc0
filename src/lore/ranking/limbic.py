"""Limbic: how use, age and company of an entity bend its likeness to a question."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lore.ranking.decay import fade_with_floor

FADE_PER_HOUR = 0.0001
FADE_FLOOR = 0.1
IMPORTANCE_WEIGHT = 0.5
COMPANY_WEIGHT = 0.01
DEGREE_WEIGHT, DEGREE_CAP = 0.15, 15
DAYS_WEIGHT = 0.2
WORDS_ONLY_FLOOR, WORDS_ONLY_SPAN = 0.2, 0.6

STATUS_FACTORS: Mapping[str, float] = {"activo": 1.0, "pausado": 0.85, "completado": 0.7, "archivado": 0.5}
METADATA_FACTOR = 0.7
"""For an entity most of whose observations only describe other data."""

FACTUAL = ("qué es", "definición", "cómo funciona", "es un ", "es una ")
COMPARING = ("relación", "diferencia", "ejemplos", "comparar")
NARRATIVE = ("explícame", "relación entre", "dime todo", "cuentame", "qué piensas")

COSINE_SHARE: Mapping[str, float] = {"cosine_heavy": 0.7, "limbic_heavy": 0.3, "hybrid_balanced": 0.0}
"""How much plain likeness counts beside the limbic score, per strategy."""


LIMBIC_SHARE: Mapping[str, float] = {"cosine_heavy": 0.1, "limbic_heavy": 0.3, "hybrid_balanced": 0.2}
"""How much of a match use, age and company can take away, per strategy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scoring:
    """Why an entity has its score."""

    importance: float
    temporal: float
    company: float

    def applied_to(self, base: float) -> float:
        """The limbic score of an entity whose plain likeness is `base`."""
        lifted = base * (1 + IMPORTANCE_WEIGHT * self.importance)
        return lifted * self.temporal * (1 + COMPANY_WEIGHT * self.company)


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


def company(meetings: Iterable[tuple[int, float]]) -> float:
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


def strategy_for(question: str, limit: int) -> str:
    """Whether a question asks for a fact (likeness decides) or for a story (use and company decide)."""
    asked, length = question.lower(), len(question.split())
    score = 2 * sum(phrase in asked for phrase in FACTUAL)
    score += sum(phrase in asked for phrase in COMPARING)
    score -= 2 * sum(phrase in asked for phrase in NARRATIVE)
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
    """The matches, lowered where others have more use, are fresher or in better company.

    The entity with the best factor keeps its match; the others lose at most the strategy's share of theirs.
    """
    share = LIMBIC_SHARE[strategy]
    factors = {id: scorings[id].applied_to(1.0) for id in matches}
    best = max(factors.values(), default=1.0)
    return {id: value * (1 - share + share * factors[id] / best) for id, value in matches.items()}


def dampening(status: str, kinds: Iterable[str]) -> float:
    """The factor for what is set aside, and for what is mostly metadata."""
    kinds = list(kinds)
    mostly_metadata = kinds.count("metadata") * 2 > len(kinds)
    return STATUS_FACTORS.get(status, 1.0) * (METADATA_FACTOR if mostly_metadata else 1.0)
