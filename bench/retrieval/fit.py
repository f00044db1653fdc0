"""Check that the weights of the signals hold on a data set that they were not chosen on.

python -m bench.retrieval.fit DATASET_DIR DATASET_DIR ... [--limit N] [--store DIR]

Every question is asked once; the signals of its candidates are kept. For each set, weights are fitted on all
the others (the likelihood that a candidate drawn in proportion to e^score is evidence, each set counting the
same, no weight below 0), and tested on the set that was left out, next to Lore's own weights. Only the
weights differ: the steps of a search after weighing (newest first, each fact once) are left out for both.
"""

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.retrieval.data import Question, load
from bench.retrieval.keeping import Kept, add_options, folder_of, keep
from bench.retrieval.metrics import difference, judged, means
from lore.ranking.policy import EVIDENCE

STEPS = 1_500
RATE = 0.05
FIRST_SCALE = 30.0
"""The sum of the weights to begin with: how sharply scores decide is fitted, too."""
SHOWN = ("R@5", "nDCG@10")
DEPTHS = (5, 10)

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with its candidates: signals has a row for each, items names it."""

    question: Question
    signals: Array
    items: Sequence[str]

    def scores(self, weights: Array) -> Mapping[str, float]:
        order = np.argsort(-(self.signals @ weights), kind="stable")
        return judged(self.question, list(dict.fromkeys(self.items[at] for at in order)), {}, DEPTHS, ())


def main() -> None:
    options = _options()
    sets = {folder.name: _asked(folder, options) for folder in options.datasets}
    own = np.array([EVIDENCE[name] for name in EVIDENCE])
    print(f"{'left out':20}{'':8}" + "".join(f"{name:>10}" for name in SHOWN) + "   weights")
    for name, asked in sets.items():
        others = [_Fit(other) for left, other in sets.items() if left != name]
        fitted = _fitted(others)
        rows = {"own": own, "fitted": fitted / fitted.sum() * own.sum()}
        scores = {label: [one.scores(weights) for one in asked] for label, weights in rows.items()}
        for label, weights in rows.items():
            cells = "".join(f"{100 * means(scores[label])[metric]:10.1f}" for metric in SHOWN)
            shown = ", ".join(
                f"{signal} {weight:.3f}" for signal, weight in zip(EVIDENCE, weights, strict=True)
            )
            print(f"{name:20}{label:8}{cells}   {shown}", flush=True)
        for metric in SHOWN:
            values = [[one[metric] for one in scores[label]] for label in ("own", "fitted")]
            gap, low, high = difference(values[0], values[1], options.seed)
            print(f"{'':20}own above fitted: {metric} {100 * gap:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]")


def _asked(folder: Path, options: argparse.Namespace) -> list[Asked]:
    found: list[Asked] = []
    with tempfile.TemporaryDirectory(prefix="lore-bench-") as scratch:
        for number, group in enumerate(load(folder, options.limit)):
            kept = keep(group, folder_of(number, folder, options, scratch), options.model, {})
            found += filter(None, (_candidates(question, kept) for question in group.questions))
            kept.lore.close()
    return found


def _candidates(question: Question, kept: Kept) -> Asked | None:
    """None where nothing was found. A conversation is no candidate beside its turns."""
    hits, _ = kept.hits(question, "lore", deep=False)
    items = kept.items_of([hit.memory.id for hit in hits])
    rows = [(hit, items[hit.memory.id]) for hit in hits if hit.memory.id in items and hit.evidence]
    if not rows:
        return None
    signals = [[_strength(hit.evidence, name) for name in EVIDENCE] for hit, _ in rows]
    return Asked(question, np.array(signals), [item for _, item in rows])


def _strength(evidence: Mapping[str, object], name: str) -> float:
    return float(getattr(evidence.get(name), "strength", 0.0))


class _Fit:
    """The questions of one set that have evidence among their candidates, as one table."""

    def __init__(self, asked: Sequence[Asked]) -> None:
        hits = [np.array([item in one.question.evidence for item in one.items]) for one in asked]
        some = [(one, hit) for one, hit in zip(asked, hits, strict=True) if hit.any()]
        self._signals = np.concatenate([one.signals for one, _ in some])
        self._evidence = np.concatenate([hit for _, hit in some]).astype(float)
        sizes = [len(hit) for _, hit in some]
        self._starts = np.r_[0, np.cumsum(sizes)[:-1]]
        self._question = np.repeat(np.arange(len(some)), sizes)

    def slope(self, weights: Array) -> Array:
        """Of the mean log likelihood of the evidence."""
        scores = self._signals @ weights
        chance = np.exp(scores - np.maximum.reduceat(scores, self._starts)[self._question])
        chance /= np.add.reduceat(chance, self._starts)[self._question]
        of_evidence = np.add.reduceat(chance * self._evidence, self._starts)[self._question]
        pull = chance * self._evidence / np.maximum(of_evidence, 1e-12) - chance
        slope: Array = pull @ self._signals / len(self._starts)
        return slope


def _fitted(sets: Sequence[_Fit]) -> Array:
    """Weights by gradient ascent with momentum for each of them (Adam)."""
    weights: Array = np.array(list(EVIDENCE.values()))
    weights = weights / weights.sum() * FIRST_SCALE
    drift, spread = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, STEPS + 1):
        slope = np.mean([one.slope(weights) for one in sets], axis=0)
        drift, spread = 0.9 * drift + 0.1 * slope, 0.999 * spread + 0.001 * slope**2
        change = drift / (1 - 0.9**step) / (np.sqrt(spread / (1 - 0.999**step)) + 1e-8)
        weights = np.maximum(0.0, weights + RATE * change)
    return weights


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("datasets", type=Path, nargs="+")
    add_options(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
