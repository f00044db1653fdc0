"""Metrics: the value of a ranking of items for one question, and over many questions."""

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from bench.retrieval.data import Item, Question

DEPTHS = (1, 5, 10, 20)
BUDGETS = (256, 512, 1024, 2048)
TOKENS_PER_WORD = 1.35
RESAMPLED = 2_000

Scores = Mapping[str, float]


def judged(
    question: Question,
    ranked: Sequence[str],
    items: Mapping[str, Item],
    depths: Sequence[int],
    budgets: Sequence[int] = BUDGETS,
) -> Scores:
    """All metrics of one question; shares between 0 and 1."""
    gold = question.evidence
    scores: dict[str, float] = {}
    for k in depths:
        found = len(gold.intersection(ranked[:k]))
        scores |= {
            f"R@{k}": found / len(gold),
            f"any@{k}": float(found > 0),
            f"all@{k}": float(found == len(gold)),
        }
    places = [place for place, id in enumerate(ranked, 1) if id in gold]
    scores["nDCG@10"] = _gain(place for place in places if place <= 10) / _gain(
        range(1, min(len(gold), 10) + 1)
    )
    scores["MRR"] = 1 / places[0] if places else 0.0
    scores |= {f"R in {budget} tokens": _within(budget, gold, ranked, items) for budget in budgets}
    if question.stale:
        stale = [place for place, id in enumerate(ranked, 1) if id in question.stale]
        scores["fresh first"] = float(bool(places) and (not stale or max(places) < min(stale)))
    return scores


def _gain(places: Iterable[int]) -> float:
    return sum(1 / math.log2(place + 1) for place in places)


def _within(budget: int, gold: frozenset[str], ranked: Sequence[str], items: Mapping[str, Item]) -> float:
    """The share of the evidence among the first items that fit; one that is cut does not count."""
    spent = 0.0
    found = 0
    for id in ranked:
        spent += TOKENS_PER_WORD * len(items[id].text.split())
        if spent > budget:
            break
        found += id in gold
    return found / len(gold)


def means(scores: Sequence[Scores]) -> dict[str, float]:
    """Of each metric, over the questions that have it."""
    names = dict.fromkeys(name for one in scores for name in one)
    return {name: float(np.mean([one[name] for one in scores if name in one])) for name in names}


def macro(by_type: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    """Every type counts the same, however many questions it has."""
    return means(list(by_type.values()))


def difference(ours: Sequence[float], theirs: Sequence[float], seed: int) -> tuple[float, float, float]:
    """How much better, question by question, and the 95 % interval of it by resampling the questions."""
    gaps = np.asarray(ours) - np.asarray(theirs)
    chance = np.random.default_rng(seed)
    picks = chance.integers(0, len(gaps), (RESAMPLED, len(gaps)))
    low, high = np.quantile(gaps[picks].mean(axis=1), (0.025, 0.975))
    return float(gaps.mean()), float(low), float(high)
