"""Check that Lore says so when it knows nothing: answerable and unanswerable questions over the same stores.

python -m bench.retrieval.answerable DATASET_DIR --foreign DATASET_DIR [--foreign …] [--limit N] [--store DIR]

Three kinds of questions go through `search`: the set's own (answerable), those of other sets or of another
group of the same set (the store knows nothing about them), and the set's own without evidence (close, but not
answered there). The bench shows for each kind how often the answer is "nothing relevant", and the best score
that was shown.
"""

import argparse
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.retrieval.data import Group, Question, load, unanswerable
from bench.retrieval.keeping import Kept, add_options, folder_of, keep

PERCENTILES = (5, 50, 95)


def main() -> None:
    options = _options()
    groups = load(options.dataset, options.limit)
    open_questions = unanswerable(options.dataset)
    chance = random.Random(options.seed)
    best: dict[str, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="lore-bench-") as scratch:
        for number, group in enumerate(groups):
            folder = folder_of(number, options.dataset, options, scratch)
            kept = keep(group, folder, options.model, {})
            for kind, question in (
                *(("own", question) for question in group.questions),
                *_foreign(group, groups, options.foreign, len(group.questions), chance),
                *(("unanswerable", question) for question in open_questions.get(group.name, ())),
            ):
                best[kind].append(_best_score(kept, question))
            kept.lore.close()
    _show(best)


def _foreign(
    group: Group, groups: Sequence[Group], folders: Sequence[Path], many: int, chance: random.Random
) -> Iterator[tuple[str, Question]]:
    """Of each other set, and of the other groups of this one, as many questions as the group has itself."""
    pools = {folder.name: [q for other in load(folder) for q in other.questions] for folder in folders}
    if len(groups) > 1:
        pools["other groups"] = [q for other in groups if other is not group for q in other.questions]
    for name, pool in pools.items():
        for question in chance.sample(pool, min(many, len(pool))):
            yield f"foreign: {name}", replace(question, max_seq=None, time=None)


def _best_score(kept: Kept, question: Question) -> float:
    """0: the answer is that nothing is relevant."""
    hits, _ = kept.hits(question, "lore", deep=False)
    return hits[0].score if hits else 0.0


def _show(best: dict[str, list[float]]) -> None:
    spread = f"best score, {PERCENTILES} %"
    print(f"{'questions':32}{'count':>8}{'nothing relevant':>18}{spread:>34}")
    for kind, scores in best.items():
        none = sum(score == 0 for score in scores) / len(scores)
        spread = " / ".join(f"{value:.2f}" for value in np.percentile(scores, PERCENTILES))
        print(f"{kind:32}{len(scores):8,}{100 * none:17.1f}%{spread:>34}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--foreign", type=Path, action="append", default=[], help="another set's questions")
    add_options(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
