"""Measure how much evidence an answer of a given number of tokens contains.

python -m bench.retrieval.budget DATASET_DIR [--tokens 1024] [--hits 10] [--limit N] [--store DIR] [--seed S]

The questions go through the tool `search` (detail=full, limit, budget_tokens). BM25 and the embedder, fused
by rank, return whole items, or the 300 characters of each that match best. `evidence`: the share of
the evidence that is in the answer at all. `readable`: the share for which the answer contains at least four
fifths of the words that the evidence has in common with the right answer. Questions that were asked before
all of the items existed are left out: the tool has no such filter.
"""

import argparse
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from bench.retrieval.baselines import Baselines
from bench.retrieval.data import Group, Item, Question, load
from bench.retrieval.keeping import Kept, add_options, folder_of, keep
from bench.retrieval.metrics import TOKENS_PER_WORD, difference, means
from lore.names import forms, stems
from lore.ranking.excerpt import excerpt
from lore.surfaces import SURFACES
from lore.text import tokens_in

PASSAGE = 300
READABLE = 0.8
LABEL_TOKENS = 25
"""What an id and a date beside a passage cost."""

Shown = Sequence[tuple[str, str]]
"""(item, the text of it that is shown), best first."""


def main() -> None:
    options = _options()
    rows: dict[str, list[Mapping[str, float]]] = {}
    with tempfile.TemporaryDirectory(prefix="lore-bench-") as scratch:
        for number, group in enumerate(load(options.dataset, options.limit)):
            folder = folder_of(number, options.dataset, options, scratch)
            kept = keep(group, folder, options.model, {}).copied(Path(scratch) / f"copy-{number:03}")
            others = Baselines(group, options.model)
            for question in (one for one in group.questions if one.max_seq is None):
                for name, shown in _answers(
                    question, group, kept, others, options.hits, options.tokens
                ).items():
                    rows.setdefault(name, []).append(_judged(question, shown, group))
            kept.lore.close()
    _show(rows, options)


def _answers(
    question: Question, group: Group, kept: Kept, others: Baselines, hits: int, tokens: int
) -> dict[str, Shown]:
    items = {item.id: item for item in group.items}
    ranked = [items[id] for id in others.ranked(question)["rrf"]]
    return {
        "lore, the tool": _by_tool(question, kept, hits, tokens),
        "rrf, whole items": _within(ranked, lambda item: item.text, 0, tokens),
        "rrf, passages": _within(
            ranked, lambda item: excerpt(item.text, question.query, PASSAGE), LABEL_TOKENS, tokens
        ),
    }


def _by_tool(question: Question, kept: Kept, hits: int, tokens: int) -> Shown:
    arguments = {"query": question.query, "limit": hits, "detail": "full", "budget_tokens": tokens}
    reply = SURFACES["tree"].tools["search"](kept.lore, arguments)
    assert tokens_in(reply.blocks()[0]) <= tokens, "the answer is longer than its budget"
    results = reply.data["results"]
    items = kept.items_of([result["id"] for result in results])
    return [(items[result["id"]], result["content"]) for result in results if result["id"] in items]


def _within(ranked: Iterable[Item], text_of: Callable[[Item], str], label: int, tokens: int) -> Shown:
    """The first items that fit; one that would be cut does not count."""
    shown: list[tuple[str, str]] = []
    spent = 0.0
    for item in ranked:
        text = text_of(item)
        spent += TOKENS_PER_WORD * len(text.split()) + label
        if spent > tokens:
            break
        shown.append((item.id, text))
    return shown


def _judged(question: Question, shown: Shown, group: Group) -> Mapping[str, float]:
    items = {item.id: item for item in group.items}
    found = {id: text for id, text in shown if id in question.evidence}
    readable = [id for id, text in found.items() if _keeps(text, items[id].text, question.answer)]
    many = len(question.evidence)
    return {"evidence": len(found) / many, "readable": len(readable) / many, "items": len(shown)}


def _keeps(shown: str, whole: str, answer: str) -> bool:
    shared = stems(forms(answer)) & stems(forms(whole))
    return len(shared & stems(forms(shown))) >= READABLE * len(shared)


def _show(rows: Mapping[str, Sequence[Mapping[str, float]]], options: argparse.Namespace) -> None:
    ours = rows["lore, the tool"]
    print(f"{options.dataset.name}, {len(ours):,} questions, answers of {options.tokens:,} tokens")
    print(f"{'':20}{'evidence':>10}{'readable':>10}{'items':>8}")
    for name, scores in rows.items():
        mean = means(scores)
        print(f"{name:20}{100 * mean['evidence']:10.1f}{100 * mean['readable']:10.1f}{mean['items']:8.1f}")
    for name, scores in rows.items():
        for metric in ("evidence", "readable"):
            if scores is not ours:
                values = [[row[metric] for row in part] for part in (ours, scores)]
                gap, low, high = difference(values[0], values[1], options.seed)
                print(f"against {name}: {metric} {100 * gap:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--tokens", type=int, default=1_024)
    parser.add_argument("--hits", type=int, default=10, help="how many hits the tool is asked for")
    add_options(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
