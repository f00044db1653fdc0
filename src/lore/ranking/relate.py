"""Relate: how much two memories have to do with each other, from four signals; and when they are the same."""

import math
from collections.abc import Mapping, Set

MEANING_OF_TWINS, WORDS_OF_TWINS = 0.6, 0.4
SIGNALS = ("cosine", "bm25", "entity", "temporal")


def twinness(meaning: float, words: float) -> float:
    """How nearly one text repeats another; words alone never make a twin."""
    return MEANING_OF_TWINS * meaning + WORDS_OF_TWINS * words


def shared_words(ours: Set[str], theirs: Set[str]) -> float:
    """Dice: how far two texts consist of the same words; 0 when one has none."""
    return 2 * len(ours & theirs) / (len(ours) + len(theirs)) if ours and theirs else 0.0


def shared_names(ours: Set[str], theirs: Set[str]) -> float:
    """Jaccard: the share of all names that both mention; 0 when neither mentions any."""
    both = ours | theirs
    return len(ours & theirs) / len(both) if both else 0.0


def closeness_in_time(days: float, tau_days: float) -> float:
    """1 for the same moment, 1/e after `tau_days`; without a tau, time does not matter."""
    return math.exp(-abs(days) / tau_days) if tau_days > 0 else 1.0


def relatedness(strengths: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The weighted sum of the signals."""
    return sum(weights[name] * strengths.get(name, 0.0) for name in SIGNALS)
