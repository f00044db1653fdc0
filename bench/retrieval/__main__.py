"""Measure how much of the evidence a search finds, on any data set with a corpus and questions.

python -m bench.retrieval DATASET_DIR [--policy lore | --surface NAME] [--deep] [--night] [--k 1,5,10,20]
    [--limit N] [--json FILE] [--baseline FILE] [--ablate] [--store DIR] [--reference] [--seed S]

Every group of the corpus is imported into its own Lore: turns below sessions, with speaker and time.
Questions go through `search`. BM25 alone, the embedder alone and both fused by rank are measured in the same
run. --baseline compares with the --json of an earlier run, question by question. --ablate asks each
question again without each of the policy's signals. --store keeps the stores, so that the next run with
another policy does not embed again. --surface asks through a surface's own search tool with an agent's
arguments and limit, on a copy of the store. --night consolidates such a copy first. --reference ranks by the
formulas that the surfaces publish.
"""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.retrieval.ablation import ablated
from bench.retrieval.baselines import Baselines
from bench.retrieval.data import Group, load
from bench.retrieval.keeping import Kept, add_options, folder_of, keep
from bench.retrieval.metrics import DEPTHS, Scores, difference, judged, macro, means
from bench.retrieval.surfaces import CALLS
from lore.engine.consolidate.phases import consolidate

OURS = "lore"
SHOWN = (
    "R@1",
    "R@5",
    "R@10",
    "R@20",
    "any@5",
    "all@5",
    "all@10",
    "nDCG@10",
    "MRR",
    "R in 1024 tokens",
    "fresh first",
)
COMPARED = ("R@5", "R@10", "all@10", "nDCG@10", "fresh first")
TUNED_GROUPS = 6
"""What was tuned was tuned on the first groups of a set; the others are the check."""


def main() -> None:
    options = _options()
    groups = load(options.dataset, options.limit)
    partial = ablated(options.policy) if options.ablate else {}
    rows: list[dict[str, Any]] = []
    sizes: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="lore-bench-") as scratch:
        for number, group in enumerate(groups):
            folder = folder_of(number, options.dataset, options, scratch)
            _tell(f"{number + 1}/{len(groups)} {group.name}: {len(group.items):,} items are kept")
            kept = keep(group, folder, options.model, partial, options.reference)
            sizes[group.name] = _size(group, kept, folder)
            if options.surface or options.night:
                kept = kept.copied(Path(scratch) / f"copy-{number:03}")
            if options.night:
                consolidate(kept.lore)
            rows += _asked(group, kept, options, list(partial), tuned=number < TUNED_GROUPS)
            kept.lore.close()
    _tell("")
    way = options.surface or options.policy
    report = {"dataset": options.dataset.name, "policy": way, "deep": options.deep, "model": options.model}
    report |= {"groups": sizes, "questions": rows}
    if options.json:
        options.json.write_text(json.dumps(report), encoding="utf-8")
    _show(report, options)


def _asked(
    group: Group, kept: Kept, options: argparse.Namespace, partial: Sequence[str], tuned: bool
) -> list[dict[str, Any]]:
    items = {item.id: item for item in group.items}
    others = None if options.alone else Baselines(group, options.model)
    rows = []
    latest_first = sorted(group.questions, key=lambda question: -(question.max_seq or 0))
    for number, question in enumerate(latest_first if options.surface else group.questions):
        if number % 20 == 0:
            _tell(f"{group.name}: {number:,} of {len(group.questions):,} questions")
        if options.surface:
            ranked, taken = kept.ranked_by(options.surface, question)
        else:
            ranked, taken = kept.ranked(question, options.policy, options.deep)
        rankings = {OURS: ranked} | (others.ranked(question) if others else {})
        rankings |= {name: kept.ranked(question, name, options.deep)[0] for name in partial}
        scores = {name: judged(question, found, items, options.k) for name, found in rankings.items()}
        rows.append({"id": question.id, "type": question.type, "tuned": tuned, "ms": taken, "scores": scores})
    return rows


def _size(group: Group, kept: Kept, folder: Path) -> dict[str, float]:
    size = sum(file.stat().st_size for file in folder.glob("memory.db*"))
    return {"items": len(group.items), "bytes": size, "seconds": kept.seconds}


def _show(report: Mapping[str, Any], options: argparse.Namespace) -> None:
    rows = report["questions"]
    taken = [row["ms"] for row in rows]
    sizes = list(report["groups"].values())
    items, seconds = sum(size["items"] for size in sizes), sum(size["seconds"] for size in sizes)
    wrote = f"{seconds / items * 1000:.1f} ms an item to write, " if seconds else ""
    print(f"{report['dataset']} by {report['policy']}: {len(rows):,} questions, {items:,} items; {wrote}"
          f"{sum(size['bytes'] for size in sizes) / items:,.0f} bytes an item;"
          f" search p50 {np.quantile(taken, 0.5):.1f} ms, p95 {np.quantile(taken, 0.95):.1f} ms")  # fmt: skip
    for name, part in (
        ("all", rows),
        (f"first {TUNED_GROUPS} groups", [row for row in rows if row["tuned"]]),
        ("other groups", [row for row in rows if not row["tuned"]]),
    ):
        if part and (name == "all" or len(part) < len(rows)):
            _table(name, part)
    _by_type(rows)
    if options.baseline:
        _compare(
            rows,
            json.loads(options.baseline.read_text())["questions"],
            f"{options.baseline.name}",
            OURS,
            options.seed,
        )
    for other in [name for name in rows[0]["scores"] if name != OURS]:
        _compare(rows, rows, other, other, options.seed)


def _scores(rows: Iterable[Mapping[str, Any]], system: str) -> list[Scores]:
    return [row["scores"][system] for row in rows]


def _table(title: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Micro, and macro over the types."""
    systems = list(rows[0]["scores"])
    width = max(map(len, systems)) + len(" micro") + 2
    print(
        f"\n{title} ({len(rows):,} questions)\n{'':{width}}" + "".join(f"{name:>18}" for name in _named(rows))
    )
    for system in systems:
        kinds = sorted({row["type"] for row in rows})
        by_type = {
            kind: means(_scores((row for row in rows if row["type"] == kind), system)) for kind in kinds
        }
        for label, values in (("micro", means(_scores(rows, system))), ("macro", macro(by_type))):
            _line(f"{system} {label}", values, rows, width)


def _by_type(rows: Sequence[Mapping[str, Any]]) -> None:
    print(f"\n{OURS} by type\n{'':26}" + "".join(f"{name:>18}" for name in _named(rows)))
    for kind in sorted({row["type"] for row in rows}):
        part = [row for row in rows if row["type"] == kind]
        _line(f"{kind} ({len(part)})", means(_scores(part, OURS)), rows, width=26)


def _named(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    there = {name for row in rows for name in row["scores"][OURS]}
    return [name for name in SHOWN if name in there]


def _line(label: str, values: Mapping[str, float], rows: Sequence[Mapping[str, Any]], width: int) -> None:
    cells = "".join(f"{100 * values[name]:18.1f}" if name in values else f"{'':18}" for name in _named(rows))
    print(f"{label:{width}}{cells}")


def _compare(
    ours: Sequence[Mapping[str, Any]], theirs: Sequence[Mapping[str, Any]], name: str, system: str, seed: int
) -> None:
    """Question by question, those that both have."""
    before = {row["id"]: row["scores"][system] for row in theirs if system in row["scores"]}
    both = [row for row in ours if row["id"] in before]
    told = []
    for metric in COMPARED:
        pairs = [
            (row["scores"][OURS][metric], before[row["id"]][metric])
            for row in both
            if metric in row["scores"][OURS] and metric in before[row["id"]]
        ]
        if pairs:
            gap, low, high = difference([one for one, _ in pairs], [other for _, other in pairs], seed)
            told.append(f"{metric} {100 * gap:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]")
    print(f"\nagainst {name}: {'; '.join(told)}")


def _tell(text: str) -> None:
    """Progress, on one line of a terminal."""
    if sys.stderr.isatty() or os.environ.get("BENCH_PROGRESS"):
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--policy", default="lore")
    parser.add_argument("--surface", choices=CALLS, help="ask through this surface's search tool")
    parser.add_argument("--reference", action="store_true", help="by the formulas that surfaces publish")
    parser.add_argument("--deep", action="store_true", help="follow links from what was found")
    parser.add_argument("--night", action="store_true", help="consolidate a copy of the store first")
    parser.add_argument("--k", type=lambda text: [int(k) for k in text.split(",")], default=list(DEPTHS))
    add_options(parser)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--baseline", type=Path, help="the --json of an earlier run")
    parser.add_argument("--ablate", action="store_true", help="without each signal, too; takes long")
    parser.add_argument("--alone", action="store_true", help="without the baselines")
    return parser.parse_args()


if __name__ == "__main__":
    main()
