"""Corrections: check that the newer of two statements in a user's words wins, and only where it should.

python -m bench.corrections [--model gte-small|hash] [--seen] [--failures] [--json FILE]

`correction_pairs.jsonl` holds pairs of an older and a newer statement with a question. Half of the pairs
contradict each other, half do not. Some are `unseen`: nobody looks at them while writing rules. In `reworded`
pairs the newer statement uses other words than the older one, often without any in common.
Each pair has its own store, with other notes in it. The question is asked by `search` before and after
consolidation (without a language model). A contradicting pair is right if the newer statement is the first
hit; after consolidation the older one must be superseded as well. Any other pair is right if neither is
superseded and the older statement, to which the question refers, ranks above the newer one.
"""

import argparse
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lore import Draft, Filter, Lore, Query
from lore.config import Config
from lore.connecting import wire
from lore.embed import Embedder, open_embedder
from lore.engine.consolidate.phases import consolidate
from lore.settings import LlmSettings

PAIRS = Path(__file__).parent / "correction_pairs.jsonl"
BEGAN_AT, DAY_SECONDS = 1_700_000_000.0, 86_400.0
BESIDES = (
    "The design review is on the second floor.",
    "Kubernetes upgrades need a freeze of the release train.",
    "The office plant is watered by Jonas.",
    "Search results are ranked by freshness and clicks.",
    "The customer asked for an export of all invoices as CSV.",
    "Anna is learning to sail on the lake.",
    "The mobile team writes its end-to-end tests with Detox.",
    "Database migrations run before the application starts.",
)
"""Further notes of each store."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two statements and a question. unseen: not looked at while rules are written.

    reworded: the newer statement uses other words than the older one.
    """

    older: str
    newer: str
    question: str
    contradicts: bool
    unseen: bool
    reworded: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a pair: right before and after a night, and the statement that was superseded."""

    pair: Pair
    before: bool
    after: bool
    superseded: bool


def main() -> None:
    options = _options()
    chosen = [pair for pair in read() if not (options.seen and (pair.unseen or pair.reworded))]
    embedder = open_embedder(options.model)
    outcomes = [measure(pair, embedder, options.model) for pair in chosen]
    if options.json:
        options.json.write_text(json.dumps(report(outcomes), indent=2) + "\n")
    print(shown(report(outcomes)))
    for outcome in outcomes:
        if options.failures and not outcome.pair.unseen and not (outcome.before and outcome.after):
            pair = outcome.pair
            print(
                f"{outcome.before!s:5} {outcome.after!s:5} {pair.contradicts!s:5} {pair.older} | {pair.newer}"
            )


def read() -> list[Pair]:
    return [Pair(**json.loads(line)) for line in PAIRS.read_text().splitlines()]


def measure(pair: Pair, embedder: Embedder, model: str) -> Outcome:
    """Fill a store, ask, consolidate, ask again."""
    times = iter(range(100))
    now = BEGAN_AT
    with tempfile.TemporaryDirectory() as folder:
        config = Config(
            db_path=Path(folder) / "memory.db", embedding_model=model, llm=LlmSettings(backend="none")
        )
        lore = wire(config, embedder=embedder, clock=lambda: now + next(times) * DAY_SECONDS)
        for text in BESIDES:
            lore.remember(Draft(content=text))
        older, newer = (lore.remember(Draft(content=text)).id for text in (pair.older, pair.newer))
        while lore.embed_batch():
            pass
        before = _is_right(pair, _found(lore, pair), older, newer)
        consolidate(lore)
        found = _found(lore, pair)
        kept = lore.select(Filter(ids=(older, newer), superseded=True), 2)
        superseded = {memory.id for memory in kept if memory.superseded_by}
        expected = {older} if pair.contradicts else set()
        after = _is_right(pair, found, older, newer) and superseded == expected
        lore.close()
    return Outcome(pair, before, after, bool(superseded))


def _found(lore: Lore, pair: Pair) -> list[str]:
    return [hit.memory.id for hit in lore.search(Query(text=pair.question, limit=10, counted=False)).hits]


def _is_right(pair: Pair, found: Sequence[str], older: str, newer: str) -> bool:
    if pair.contradicts:
        return found[:1] == [newer]
    return older in found and (newer not in found or found.index(older) < found.index(newer))


def report(outcomes: Sequence[Outcome]) -> dict[str, dict[str, float]]:
    """Shares in per cent, for each sort of pairs."""
    sorts: dict[str, list[Outcome]] = {}
    for one in sorted(outcomes, key=lambda one: (one.pair.reworded, one.pair.unseen)):
        kind = "contradicting" if one.pair.contradicts else "compatible"
        words = ", other words" if one.pair.reworded else ""
        sorts.setdefault(f"{kind}, {'unseen' if one.pair.unseen else 'seen'}{words}", []).append(one)
    return {name: _shares(found) for name, found in sorts.items()}


def _shares(outcomes: Sequence[Outcome]) -> dict[str, float]:
    count = len(outcomes)
    return {
        "pairs": count,
        "right before": 100 * sum(one.before for one in outcomes) / count,
        "right after": 100 * sum(one.after for one in outcomes) / count,
        "superseded": 100 * sum(one.superseded for one in outcomes) / count,
    }


def shown(shares: dict[str, dict[str, float]]) -> str:
    columns = list(next(iter(shares.values())))
    lines = [" " * 36 + "".join(f"{column:>14}" for column in columns)]
    for name, row in shares.items():
        lines.append(f"{name:36}" + "".join(f"{row[column]:>14.0f}" for column in columns))
    return "\n".join(lines)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="gte-small")
    parser.add_argument("--seen", action="store_true", help="leave out the unseen and the reworded pairs")
    parser.add_argument("--failures", action="store_true", help="list the seen pairs that went wrong")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
