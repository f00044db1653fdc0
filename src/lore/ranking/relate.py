"""Relate: how much two memories have to do with each other, from four signals; and when they are the same."""

import math
from collections.abc import Mapping, Set

from lore.patterns import regex
from lore.text import STOP_WORDS, names_in, words
from lore.wordlists import word_lists

MEANING_OF_TWINS, WORDS_OF_TWINS = 0.6, 0.4
SIGNALS = ("cosine", "bm25", "entity", "temporal")
NUMBER = regex(r"\d+(?:[.:,]\d+)*")
NOT = word_lists("lore.ranking", "words.txt")["negations in all languages"]
CAPITALISED = regex(r"\b[A-Z][^\W_]+")
SHORT_NOT = regex(r"n['’]t\b|[不没沒无無未别勿]|ない|ません|않|아니|없|못|ไม่|नहीं")
"""A negation that is no word of its own."""


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


def differ_in_detail(one: str, other: str) -> bool:
    """Whether two texts that mean nearly the same are about different things all the same.

    Texts of which only a number, a name or a "not" differs look alike to an embedder.
    """
    ours, theirs = names_in(one), names_in(other)
    return (
        set(NUMBER.findall(one)) != set(NUMBER.findall(other))
        or _denies(one) != _denies(other)
        or bool(ours - theirs and theirs - ours)
        or bool(_capitalised_only_in(one, other) and _capitalised_only_in(other, one))
    )


def _capitalised_only_in(one: str, other: str) -> set[str]:
    """Words with a capital that the other text does not have: one may be a name that begins a sentence."""
    return {word.lower() for word in CAPITALISED.findall(one)} - set(words(other)) - STOP_WORDS


def _denies(text: str) -> bool:
    return not NOT.isdisjoint(words(text)) or bool(SHORT_NOT.search(text))
