"""Measure how much a search finds in German, Spanish and Chinese.

python -m bench.languages [--languages de,es,zh] [--model NAME] [--limit N] [--json FILE] [--seed S]

There are the same fifteen conversations (150 turns: work on software, and everyday talk) and the same 37
questions in three languages. Each language is imported into its own store; questions go through `search`.
Baselines in the same run: BM25 of plain words (Chinese: of pairs of characters), the embedder alone, both
fused by rank, and BM25 of words stemmed by the Snowball stemmer of the language. The last rows are the
differences, question by question, with 95 % intervals.
"""

import argparse
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import Stemmer

from bench.retrieval.baselines import Baselines
from bench.retrieval.data import Group, load
from bench.retrieval.keeping import keep
from bench.retrieval.metrics import DEPTHS, Scores, difference, judged, means

HERE = Path(__file__).parent
LANGUAGES = {"de": "german", "es": "spanish", "zh": ""}
"""Language -> its Snowball stemmer."""
OURS = "lore"
SHOWN = ("R@1", "R@5", "R@10", "nDCG@10", "MRR")
COMPARED = ("R@5", "nDCG@10")
_WORD = re.compile(r"[\u3400-\u9fff]+|[^\W_\u3400-\u9fff]+")


class PlainBaselines(Baselines):
    """BM25 without any rule of a language: lower-cased words, and pairs of Chinese characters."""

    def _tokens(self, texts: Sequence[str]) -> list[list[str]]:
        return [[token for word in _WORD.findall(text.lower()) for token in _pairs(word)] for text in texts]


@dataclass
class StemmedBaselines(PlainBaselines):
    """BM25 of words without their endings. stemmer: the Snowball stemmer of the language."""

    stemmer: str = ""

    def _tokens(self, texts: Sequence[str]) -> list[list[str]]:
        stem = Stemmer.Stemmer(self.stemmer).stemWords
        return [stem(tokens) for tokens in super()._tokens(texts)]


def _pairs(word: str) -> list[str]:
    if word[0] < "\u3400":
        return [word]
    return [word[at : at + 2] for at in range(len(word) - 1)] or [word]


def main() -> None:
    options = _options()
    report = {name: _judged(name, options) for name in options.languages}
    if options.json:
        options.json.write_text(json.dumps(report), encoding="utf-8")
    for name, rows in report.items():
        _show(name, rows, options.seed)


def _judged(language: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """One row for each question: its scores by system, and whether the search answered "nothing relevant"."""
    [group] = load(HERE / language, options.limit)
    with tempfile.TemporaryDirectory(prefix="lore-bench-") as scratch:
        return _asked(group, Path(scratch), options.model)


def _asked(group: Group, folder: Path, model: str) -> list[dict[str, Any]]:
    items = {item.id: item for item in group.items}
    kept = keep(group, folder, model, {})
    others = PlainBaselines(group, model)
    stemmer = LANGUAGES[group.name]
    stemmed = StemmedBaselines(group, "hash", stemmer=stemmer) if stemmer else None
    rows = []
    for question in group.questions:
        ranked, _ = kept.ranked(question, OURS, deep=False)
        rankings = {OURS: ranked} | others.ranked(question)
        if stemmed:
            rankings["stemmed"] = stemmed.ranked(question)["bm25"]
        scores = {name: judged(question, found, items, DEPTHS) for name, found in rankings.items()}
        rows.append({"id": question.id, "empty": not ranked, "scores": scores})
    kept.lore.close()
    return rows


def _scores(rows: Sequence[Mapping[str, Any]], system: str) -> list[Scores]:
    return [row["scores"][system] for row in rows]


def _show(language: str, rows: Sequence[Mapping[str, Any]], seed: int) -> None:
    empty = sum(row["empty"] for row in rows)
    print(f"\n{language}: {len(rows)} questions; Lore found nothing relevant for {empty}")
    print(f"{'':8}" + "".join(f"{name:>10}" for name in SHOWN))
    systems = list(rows[0]["scores"])
    for system in systems:
        values = means(_scores(rows, system))
        print(f"{system:8}" + "".join(f"{100 * values[name]:10.1f}" for name in SHOWN))
    for other in systems[1:]:
        print(f"against {other}: {'; '.join(_compared(rows, other, metric, seed) for metric in COMPARED)}")


def _compared(rows: Sequence[Mapping[str, Any]], other: str, metric: str, seed: int) -> str:
    ours, theirs = ([scores[metric] for scores in _scores(rows, system)] for system in (OURS, other))
    gap, low, high = difference(ours, theirs, seed)
    return f"{metric} {100 * gap:+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--languages", type=lambda text: text.split(","), default=list(LANGUAGES))
    parser.add_argument("--limit", type=int, help="at most this many questions of each language")
    parser.add_argument("--model", default="gte-small")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args()


if __name__ == "__main__":
    main()
