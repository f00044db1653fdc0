"""Does memory that an agent gets unasked help, what does it cost, and how often does it come without need?

python -m bench.injection DATASET_DIR [--limit N] [--night] [--gold] [--store DIR] [--memories 10000]

Questions of a data set (see `bench.retrieval`) are taken as prompts: how often is evidence of the answer, or
a memory distilled from it, in the brief, in what `remind` shows for the question, and among the first five
hits of a search; and how many tokens that costs. `unanswerable`: how often `remind` shows something for a
question that nothing in the store answers. --night consolidates a copy of each store first, without a
language model. --gold stores the statements of `gold.jsonl`, which a person found worth remembering: what a
good digest would have kept.

Then come the labelled prompts of `prompts.jsonl` over the made-up store of `memories.jsonl`. Thresholds were
chosen with their tuning half and with LoCoMo; the held-out half is the check. The last lines are the times of
`brief` and `remind` in a store of --memories memories.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.corpus import Corpus
from bench.injection.prompts import ask, judged, prompts, store
from bench.retrieval.data import Group, Question, load, unanswerable
from bench.retrieval.keeping import Kept, add_options, folder_of, keep
from bench.speed import fill
from lore import Draft, Lore, Query
from lore.config import Config
from lore.connecting import wire
from lore.engine.consolidate.phases import consolidate
from lore.model import DERIVED
from lore.surfaces import SURFACES
from lore.text import tokens_in

Statements = Mapping[str, Sequence[str]]
"""Memory -> the items that it comes from."""
WAYS = ("brief", "remind", "search, first five")
FIRST = 5
SAMPLES = 200
"""Texts that are embedded by the model; the other vectors are made from theirs."""


def main() -> None:
    options = _options()
    report: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="lore-bench-") as scratch:
        if options.dataset:
            report["questions"] = _questions(options, scratch)
        report["prompts"] = _prompts(Path(scratch) / "prompts", options.model)
        if options.memories:
            report["times"] = _times(Path(scratch) / "times", options)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


# --- questions of a data set
def _questions(options: argparse.Namespace, scratch: str) -> dict[str, Any]:
    rows: list[dict[str, tuple[bool, int]]] = []
    needless: list[bool] = []
    others = unanswerable(options.dataset)
    for number, group in enumerate(load(options.dataset, options.limit)[: options.groups]):
        kept = keep(group, folder_of(number, options.dataset, options, scratch), options.model, {})
        kept = kept.copied(Path(scratch) / f"copy-{number:03}")
        if options.night:
            consolidate(kept.lore)
        statements = _stored_gold(kept, options.dataset / "gold.jsonl") if options.gold else {}
        kept.lore.embeddings.embed_query("load the model")
        rows += _answered(group, kept, statements)
        needless += [bool(kept.lore.remind(one.query).ids) for one in others.get(group.name, ())]
        kept.lore.close()
    report = {way: _summed([row[way] for row in rows]) for way in WAYS}
    report["remind"]["fires"] = float(np.mean([row["remind"][1] > 0 for row in rows]))
    report["unanswerable"] = {"fires": float(np.mean(needless)) if needless else 0.0, "of": len(needless)}
    print(f"{options.dataset.name}{', after a night' if options.night else ''}: {len(rows):,} questions")
    for name, figures in report.items():
        print(f"  {name:20}" + "  ".join(f"{key} {value:.3g}" for key, value in figures.items()))
    return report


def _stored_gold(kept: Kept, path: Path) -> Statements:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    drafts = [Draft(content=row["statement"], type=row["type"], session=row["session"]) for row in rows]
    stored = kept.lore.remember_all(drafts)
    kept.lore.embed_pending()
    return {one.memory.id: row["evidence_ids"] for one, row in zip(stored, rows, strict=True)}


def _answered(group: Group, kept: Kept, statements: Statements) -> list[dict[str, tuple[bool, int]]]:
    """For each question and way: whether evidence is shown, and the tokens."""
    brief = kept.lore.brief()
    briefed = _items(kept, brief.ids, statements)
    rows = []
    for question in (one for one in group.questions if one.max_seq is None):
        reminder = kept.lore.remind(question.query)
        cost = tokens_in(reminder.text) if reminder.ids else 0
        rows.append(
            {
                "brief": (_has(question, briefed), brief.tokens),
                "remind": (_has(question, _items(kept, reminder.ids, statements)), cost),
                "search, first five": _searched(question, kept, statements),
            }
        )
    return rows


def _searched(question: Question, kept: Kept, statements: Statements) -> tuple[bool, int]:
    arguments = {"query": question.query, "limit": FIRST, "detail": "preview"}
    reply = SURFACES["tree"].tools["search"](kept.lore, arguments)
    ids = [result["id"] for result in reply.data["results"]]
    return _has(question, _items(kept, ids, statements)), tokens_in(reply.blocks()[0])


def _items(kept: Kept, ids: Sequence[str], statements: Statements) -> set[str]:
    """The items behind these memories: their own, or those that they were distilled from."""
    links = kept.lore.links(ids, ["relation"]) if ids else []
    turns = [link.target for link in links if link.type == DERIVED and link.source in ids]
    own = kept.items_of([*(id for id in ids if id not in statements), *turns])
    return {*own.values(), *(item for id in ids for item in statements.get(id, ()))}


def _has(question: Question, items: Iterable[str]) -> bool:
    return not question.evidence.isdisjoint(items)


def _summed(cells: Sequence[tuple[bool, int]]) -> dict[str, float]:
    found, tokens = zip(*cells, strict=True)
    return {"evidence": float(np.mean(found)), "tokens": float(np.mean(tokens))}


# --- labelled prompts
def _prompts(folder: Path, model: str) -> dict[str, dict[str, float]]:
    lore, labels = store(folder, model)
    outcomes = ask(prompts(), lore, labels)
    lore.close()
    report = {}
    for half in ("tuning", "held-out"):
        part = [one for one in outcomes if one.prompt.half == half]
        report[half] = judged(part)
        print(f"prompts, {half} ({len(part)}): " + ", ".join(f"{k} {v:.2f}" for k, v in report[half].items()))
    return report


# --- times
def _times(folder: Path, options: argparse.Namespace) -> dict[str, tuple[float, float]]:
    lore = wire(Config(data_dir=folder, embedding_model=options.model))
    corpus, size, calls = Corpus(), options.memories, options.calls
    texts = fill(lore, corpus, size, options.model, SAMPLES)
    questions = [corpus.question(texts[at * len(texts) // calls]) for at in range(calls)]
    lore.search(Query(text=questions[0]))
    report = {
        "brief": _timed(lambda _: lore.brief(), questions),
        "remind": _timed(lore.remind, questions),
        "remind, nothing to do": _timed(lore.remind, ["yes, go on"] * calls),
        "search": _timed(lambda text: _search(lore, text), questions),
    }
    lore.close()
    for name, (middle, slow) in report.items():
        print(f"{size:,} memories: {name}: p50 {middle:.1f} ms, p95 {slow:.1f} ms")
    return report


def _search(lore: Lore, text: str) -> object:
    return lore.search(Query(text=text, limit=FIRST, counted=False))


def _timed(work: Callable[[str], object], texts: Sequence[str]) -> tuple[float, float]:
    taken = []
    for text in texts:
        began = time.perf_counter()
        work(text)
        taken.append((time.perf_counter() - began) * 1000)
    return float(np.quantile(taken, 0.5)), float(np.quantile(taken, 0.95))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", type=Path, nargs="?", help="without one, only the prompts and the times")
    parser.add_argument("--night", action="store_true", help="consolidate a copy of each store first")
    parser.add_argument("--gold", action="store_true", help="store the statements of gold.jsonl")
    parser.add_argument("--groups", type=int, help="at most this many groups")
    parser.add_argument("--memories", type=int, default=10_000, help="for the times; 0: none")
    parser.add_argument("--calls", type=int, default=100, help="of each verb, for the times")
    parser.add_argument("--json", type=Path)
    add_options(parser)
    return parser.parse_args()


if __name__ == "__main__":
    main()
