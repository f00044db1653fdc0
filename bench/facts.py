"""FactConsolidation: is the newest of contradicting facts found first, before and after consolidation?

python -m bench.facts DATASET_DIR [--pools NAME ...] [--limit N] [--model gte-small|hash]
                      [--kind note|fragment] [--json FILE]

DATASET_DIR holds `corpus.jsonl[.gz]` and `questions.jsonl[.gz]`. Each pool has its own store, filled
with `remember` in the order of the facts, one a minute. The questions are asked before and after
consolidation (without a language model): by plain `search`, by `deep` search, and by words alone (`matching`
of the store, BM25). They do not count as use. A fresh fact that is not among the first 20 hits is missed; a
stale one that is not among them ranks below them.
"""

import argparse
import gzip
import json
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bench.measuring import Bar, measured
from lore import Draft, Filter, Lore, Query
from lore.config import Config
from lore.connecting import wire
from lore.engine.consolidate.phases import consolidate
from lore.settings import LlmSettings
from lore.text import terms

DEPTH = 20
"""How many hits are looked at."""
BEGAN_AT, MINUTE = 1_700_000_000.0, 60.0
SINGLE, MULTI = "single-hop", "multi-hop"
PUBLISHED = {"single-hop fresh-first": 22.9, "multi-hop all@10": 8.7}
"""BM25 (bm25s 0.3.16, Lucene's variant) on the whole set, in per cent."""


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a pool, and which facts are right and which were right once."""

    text: str
    type: str
    fresh: tuple[str, ...]
    stale: frozenset[str]


@dataclass(frozen=True, slots=True)
class Pool:
    """Facts (id, text), oldest first, and what is asked about them."""

    name: str
    facts: tuple[tuple[str, str], ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Asked:
    """One question and what came of it: the facts found, best first, and the milliseconds it took."""

    question: Question
    found: tuple[str, ...]
    milliseconds: float


class Calendar:
    """A clock that somebody else moves on."""

    def __init__(self, now: float = BEGAN_AT) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def main() -> None:
    options = _options()
    pools = [pool for pool in read(options.dataset) if pool.name in (options.pools or {pool.name})]
    asked: dict[str, list[Asked]] = {}
    costs = []
    for pool in pools:
        with tempfile.TemporaryDirectory() as folder:
            config = Config(
                db_path=Path(folder) / "memory.db",
                embedding_model=options.model,
                llm=LlmSettings(backend="none"),
            )
            part, cost = measure(pool, config, options.kind, options.limit)
        for name, answers in part.items():
            asked.setdefault(name, []).extend(answers)
        costs.append(cost)
    report = {
        "model": options.model,
        "kind": options.kind,
        "facts": sum(len(pool.facts) for pool in pools),
        "scores": {name: scores(answers) for name, answers in asked.items()},
        "milliseconds": {name: _times(answers) for name, answers in asked.items()},
        "pools": costs,
        "published": PUBLISHED,
    }
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(shown(report))


def read(folder: Path) -> list[Pool]:
    """The pools, smallest first; questions whose evidence is not known for certain are left out."""
    facts: dict[str, list[tuple[int, str, str]]] = {}
    for item in _lines(folder, "corpus"):
        facts.setdefault(item["group"], []).append((item["seq"], item["id"], item["text"]))
    questions: dict[str, list[Question]] = {name: [] for name in facts}
    for item in _lines(folder, "questions"):
        if item.get("evidence_complete", True) and item["evidence_ids"]:
            fresh, stale = tuple(item["evidence_ids"]), frozenset(item.get("stale_ids", ()))
            questions[item["group"]].append(Question(item["query"], item["type"], fresh, stale))
    pools = [
        Pool(name, tuple((id, text) for _, id, text in sorted(told)), tuple(questions[name]))
        for name, told in facts.items()
    ]
    return sorted(pools, key=lambda pool: len(pool.facts))


def _lines(folder: Path, name: str) -> Iterable[dict[str, Any]]:
    plain = folder / f"{name}.jsonl"
    text = (
        plain.read_bytes() if plain.exists() else gzip.decompress((folder / f"{name}.jsonl.gz").read_bytes())
    )
    return map(json.loads, text.decode().splitlines())


def measure(
    pool: Pool, config: Config, kind: str, limit: int | None
) -> tuple[dict[str, list[Asked]], dict[str, Any]]:
    """Fill a store, ask, consolidate, ask again."""
    calendar = Calendar()
    lore = wire(config, clock=calendar)
    began = time.perf_counter()
    names = _kept(pool, lore, calendar, kind)
    kept = time.perf_counter()
    _embedded(pool, lore)
    filled = time.perf_counter()
    questions = [
        question
        for type in (SINGLE, MULTI)
        for question in [one for one in pool.questions if one.type == type][:limit]
    ]
    before = _asked(lore, questions, names, f"{pool.name} before")
    lore.close()
    (counts, seconds), cost = measured(slept, config, calendar.now)
    lore = wire(config, clock=calendar)
    lore.search(Query(text="warm up", counted=False))
    after = _asked(lore, questions, names, f"{pool.name} after")
    lore.close()
    told = {f"{name}, before": answers for name, answers in before.items()}
    told |= {f"{name}, after": answers for name, answers in after.items()}
    return told, {
        "pool": pool.name,
        "facts": len(pool.facts),
        "questions": len(questions),
        "remember_seconds": kept - began,
        "embed_seconds": filled - kept,
        "consolidation": {**asdict(cost), "phases": seconds, "counts": counts},
    }


def _kept(pool: Pool, lore: Lore, calendar: Calendar, kind: str) -> dict[str, str]:
    """The facts as memories, each a minute after the one before; memory -> fact."""
    bar = Bar(f"{pool.name} remember", len(pool.facts))
    names = {}
    for number, (fact, text) in enumerate(pool.facts, 1):
        calendar.now += MINUTE
        names[lore.remember(Draft(content=text, kind=kind)).id] = fact
        bar.at(number)
    calendar.now += MINUTE
    return names


def _embedded(pool: Pool, lore: Lore) -> None:
    bar, done = Bar(f"{pool.name} embed", len(pool.facts)), 0
    while taken := lore.embed_batch():
        done += taken
        bar.at(done)


def slept(config: Config, now: float) -> tuple[dict[str, int], dict[str, float]]:
    """One night: what it amounts to, and the seconds of each phase."""
    lore = wire(config, clock=lambda: now)
    report = consolidate(lore)
    lore.close()
    return report.counts, {done.phase: done.seconds for done in report.phases}


def _asked(
    lore: Lore, questions: Sequence[Question], names: Mapping[str, str], label: str
) -> dict[str, list[Asked]]:
    """Each question in three ways."""
    reader = lore.store.reader(lore.namespace)

    def search(query: Query) -> list[str]:
        return [hit.memory.id for hit in lore.search(query).hits]

    ways: dict[str, Callable[[Query], Iterable[str]]] = {
        "words": lambda query: reader.matching(terms(query.text), DEPTH, Filter()).strengths,
        "search": search,
        "deep": lambda query: search(replace(query, deep=True)),
    }
    asked: dict[str, list[Asked]] = {name: [] for name in ways}
    bar = Bar(label, len(questions))
    for number, question in enumerate(questions, 1):
        query = Query(text=question.text, limit=DEPTH, counted=False)
        for name, way in ways.items():
            began = time.perf_counter()
            ids = list(way(query))
            taken = (time.perf_counter() - began) * 1000
            asked[name].append(Asked(question, tuple(names.get(id, "") for id in ids), taken))
        bar.at(number)
    return asked


def scores(answers: Sequence[Asked]) -> dict[str, float]:
    """Shares of the questions, in per cent, by type."""
    single = [asked for asked in answers if asked.question.type == SINGLE]
    multi = [asked for asked in answers if asked.question.type == MULTI]
    return {
        f"{SINGLE} fresh-first": _share(map(fresh_first, single)),
        f"{SINGLE} R@1": _share(_recall(asked, 1) for asked in single),
        f"{SINGLE} R@5": _share(_recall(asked, 5) for asked in single),
        f"{SINGLE} stale@1": _share(bool(asked.question.stale & set(asked.found[:1])) for asked in single),
        f"{MULTI} R@5": _share(_recall(asked, 5) for asked in multi),
        **{f"{MULTI} all@{k}": _share(_recall(asked, k) == 1 for asked in multi) for k in (5, 10, 20)},
    }


def fresh_first(asked: Asked) -> bool:
    """Whether every fresh fact was found, and none that is stale before it."""
    places = {fact: place for place, fact in enumerate(asked.found)}
    if not all(fact in places for fact in asked.question.fresh):
        return False
    worst = max(places[fact] for fact in asked.question.fresh)
    return all(places.get(fact, DEPTH) > worst for fact in asked.question.stale)


def _recall(asked: Asked, k: int) -> float:
    return len(set(asked.question.fresh) & set(asked.found[:k])) / len(asked.question.fresh)


def _share(values: Iterable[float]) -> float:
    shares = list(values)
    return 100 * sum(shares) / len(shares) if shares else 0.0


def _times(answers: Sequence[Asked]) -> dict[str, float]:
    taken = [asked.milliseconds for asked in answers]
    return {f"p{p}": float(np.percentile(taken, p)) for p in (50, 95)}


def shown(report: Mapping[str, Any]) -> str:
    """A table: how one has asked, and what share of the questions was answered how."""
    columns = list(next(iter(report["scores"].values())))
    heads = [column.replace(SINGLE, "SH").replace(MULTI, "MH") for column in columns]
    lines = [
        f"{report['facts']:,} facts as {report['kind']}, model {report['model']}",
        f"{'':16}" + "".join(f"{head:>15}" for head in heads) + "   p50/p95 ms",
    ]
    for name, row in report["scores"].items():
        times = report["milliseconds"][name]
        figures = "".join(f"{row[column]:15.1f}" for column in columns)
        lines.append(f"{name:16}{figures}   {times['p50']:.1f}/{times['p95']:.1f}")
    published = ", ".join(f"{name} {value}" for name, value in report["published"].items())
    lines.append(f"published, BM25: {published}")
    for cost in report["pools"]:
        night = cost["consolidation"]
        lines.append(
            f"{cost['pool']}: {cost['facts']:,} facts, remember {cost['remember_seconds']:.1f} s,"
            f" embed {cost['embed_seconds']:.1f} s; sleep {night['seconds']:.1f} s"
            f" ({night['cpu_seconds']:.1f} s CPU), at most {night['peak_mb']:.0f} MB, {night['counts']}"
        )
    return "\n".join(lines)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--pools", nargs="*", help="only these")
    parser.add_argument("--limit", type=int, help="at most so many questions of each type and pool")
    parser.add_argument("--model", default="gte-small")
    parser.add_argument("--kind", default="note", help="as which kind of memory the facts are kept")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
