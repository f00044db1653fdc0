"""Measure the quality of digests of real conversations without a language model.

python -m bench.digest DATASET_DIR [--half tuned|unseen|all] [--store DIR] [--model NAME] [--labels FILE]
    [--out FILE] [--json FILE]

Each conversation of the data set is imported, embedded and digested by the consolidation phase `digest`, then
`merge`, `resummarize` and `contradict` run. --out writes each kept statement and each root as a JSON line, to
be graded. --labels (default: bench/digest_labels.jsonl) holds grades (useful, trivial, wrong) by a hash of
the turn's id and the words, so that no text of the data set is kept here. If the data set has a `gold.jsonl`,
recall is measured against it. Conversations at an odd place in the file, counted from 1, are the tuned half,
those at an even place the unseen half. --store keeps the embedded turns for the next run.
"""

import argparse
import hashlib
import json
import re
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.retrieval.data import Group, load
from bench.retrieval.keeping import Kept, keep
from lore import Filter, Memory
from lore.distil.cues import asks
from lore.distil.phrases import content_words
from lore.engine.consolidate.phases import Run, consolidate
from lore.model import DERIVED, OVERVIEW_OF
from lore.text import words

LABELS = Path(__file__).parent / "digest_labels.jsonl"
GRADES = ("useful", "trivial", "wrong")
PHASES = ("digest", "merge", "resummarize", "contradict")
ALL = 1_000_000
LIKE_WITH_TURN, LIKE_ALONE = 0.5, 0.75
"""Least likeness (0 unrelated, 1 the same) of a kept statement to a gold statement of the same conversation
that counts as a find: with a turn of evidence as its source, and without."""
SHARED_WORDS = 0.5
"""Share of a gold statement's content words that also makes a statement from a turn of evidence a find."""
_PERSON_OR_QUESTION = re.compile(
    r"\?|(?<![\w`/.@-])(?:i|me|my|mine|we|us|our|ours|you|your|yours|what|why|how|who|whom|whose|when|where|which)"
    r"(?![\w`/-])",
    re.IGNORECASE,
)
_VERB_FIRST = re.compile(
    r"^\W*(?:please\b|let['’]?s\b|(?:is|are|was|were|am|be|has|have|had|do|does|did|don['’]?t|can|could|will|would"
    r"|shall|should|may|might|must|get|give|go|make|take|put|let|tell|show|find|keep|use|try|write|add|fix|create)\b"
    r"|[a-z]+(?<!s)(?<!ing)(?<!ly) (?:the|a|an|this|that|these|those|it|them|all|if|whether)\b)",
    re.IGNORECASE,
)
_TOPIC = re.compile(r"^\[[^\]]*\] ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A kept statement. turns: ids of its source turns; hidden: a newer statement supersedes it."""

    session: str
    turns: tuple[str, ...]
    speaker: str
    type: str
    text: str
    hidden: bool

    @property
    def keys(self) -> list[str]:
        return [key_of(turn, self.text) for turn in self.turns]


def main() -> None:
    options = _options()
    labels = labels_of(options.labels)
    rows: list[Row] = []
    roots: list[str] = []
    gold: list[Mapping[str, Any]] = []
    seconds, sessions = 0.0, 0
    with tempfile.TemporaryDirectory(prefix="lore-bench-") as scratch:
        for number, group in enumerate(load(options.dataset)):
            folder = (options.store or Path(scratch)) / options.dataset.name / options.model / f"{number:03}"
            folder.mkdir(parents=True, exist_ok=True)
            part = _half(group, options.half)
            kept = keep(group, folder, options.model, {}).copied(Path(scratch) / f"copy-{number:03}")
            _forget_others(kept, part)
            seconds += _digested(kept)
            found = rows_of(kept)
            rows += found
            roots += roots_of(kept)
            sessions += len(part)
            gold += _found(kept, found, _gold(options.dataset, part))
            kept.lore.close()
    report = {"half": options.half, "seconds": round(seconds, 1)}
    report |= figures(rows, roots, labels, sessions, gold)
    if options.out:
        _write(options.out, rows, roots, labels)
    if options.json:
        options.json.write_text(
            json.dumps({**report, "gold_statements": gold}, indent=2) + "\n", encoding="utf-8"
        )
    print(json.dumps(report, indent=2))


def key_of(turn: str, text: str) -> str:
    """Identify a statement of a turn by its words; a topic in brackets before it does not count."""
    said = " ".join(words(_TOPIC.sub("", text)))
    return hashlib.blake2b(f"{turn} {said}".encode(), digest_size=8).hexdigest()


def labels_of(path: Path) -> dict[str, str]:
    """key -> grade."""
    if not path.exists():
        return {}
    graded = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    if unknown := [one for one in graded if one["label"] not in GRADES]:
        raise SystemExit(f"{path}: unknown label {unknown[0]['label']!r}; known: {', '.join(GRADES)}")
    return {one["key"]: one["label"] for one in graded}


def label_of(row: Row, labels: Mapping[str, str]) -> str:
    return next((labels[key] for key in row.keys if key in labels), "")


def figures(
    rows: Sequence[Row],
    roots: Sequence[str],
    labels: Mapping[str, str],
    sessions: int,
    gold: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Shares in percent. precision and wrong: of the labelled statements."""
    grades = Counter(label_of(row, labels) or "unlabelled" for row in rows)
    labelled = len(rows) - grades["unlabelled"]
    return {
        "conversations": sessions,
        "kept": len(rows),
        "kept_per_conversation": round(len(rows) / max(1, sessions), 1),
        "by_speaker": dict(Counter(row.speaker for row in rows)),
        "by_type": dict(Counter(row.type for row in rows)),
        "grades": dict(grades),
        "useful_percent": _percent(grades["useful"], labelled),
        "wrong_percent": _percent(grades["wrong"], labelled),
        "hidden_by_contradiction": sum(row.hidden for row in rows),
        "end_with_colon": sum(row.text.rstrip(".").endswith(":") for row in rows),
        "questions": sum(asks(row.text) for row in rows),
        "roots": len(roots),
        "roots_that_are_sentences": sum(is_sentence(root) for root in roots),
        "roots_repeated": len(roots) - len({root.lower() for root in roots}),
        "gold": len(gold),
        "gold_found": sum(bool(one["found"]) for one in gold),
        "gold_recall_percent": _percent(sum(bool(one["found"]) for one in gold), len(gold)),
    }


def is_sentence(title: str) -> bool:
    """Whether a title is a request or a remark, by marks of grammar independent of the digester's rules.

    It begins with an auxiliary, a frequent verb or a word right before an article, or has a question word or
    a pronoun of the first or second person.
    """
    return bool(_VERB_FIRST.match(title) or _PERSON_OR_QUESTION.search(title))


def rows_of(kept: Kept) -> list[Row]:
    """The kept statements in the order of the data set."""
    reader = kept.lore.store.reader(kept.lore.namespace)
    found = [
        memory
        for memory in kept.lore.select(Filter(kinds=frozenset({"fragment"}), superseded=True), ALL)
        if OVERVIEW_OF not in memory.metadata
    ]
    links = reader.links([memory.id for memory in found], kinds=("relation",))
    sources: dict[str, list[str]] = {}
    for link in links:
        if link.type == DERIVED:
            sources.setdefault(link.source, []).append(link.target)
    turns = reader.get({id for ids in sources.values() for id in ids})
    rows = [_row(kept, one, [turns[id] for id in sources.get(one.id, ()) if id in turns]) for one in found]
    return sorted(rows, key=lambda row: (row.session, row.turns))


def roots_of(kept: Kept) -> list[str]:
    where = Filter(kinds=frozenset({"fragment"}), roots=True)
    return [memory.title or memory.content for memory in kept.lore.select(where, ALL)]


def _row(kept: Kept, memory: Memory, turns: Sequence[Memory]) -> Row:
    places = [(turn.session, int(turn.metadata.get("line", 0))) for turn in turns]
    return Row(
        session=memory.session,
        turns=tuple(kept.by_place.get(place, "") for place in places),
        speaker=" ".join(sorted({turn.type for turn in turns})),
        type=memory.type,
        text=memory.content,
        hidden=bool(memory.superseded_by),
    )


def _half(group: Group, half: str) -> frozenset[str]:
    sessions = list(dict.fromkeys(item.session for item in group.items))
    wanted = {"tuned": (0,), "unseen": (1,), "all": (0, 1)}[half]
    return frozenset(session for at, session in enumerate(sessions) if at % 2 in wanted)


def _forget_others(kept: Kept, part: frozenset[str]) -> None:
    others = frozenset(kept.sessions) - part
    if others:
        doomed = kept.lore.select(Filter(sessions=others, superseded=True), ALL)
        kept.lore.forget([memory.id for memory in doomed])


def _digested(kept: Kept) -> float:
    """Seconds that the phases take."""
    began = time.perf_counter()
    consolidate(kept.lore, Run(phases=PHASES))
    return time.perf_counter() - began


def _gold(folder: Path, part: frozenset[str]) -> list[dict[str, Any]]:
    path = folder / "gold.jsonl"
    rows = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [one for one in map(json.loads, rows) if one["session"] in part]


def _found(kept: Kept, rows: Sequence[Row], gold: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each gold statement with the kept statement that says it, if there is one."""
    texts = [one["statement"] for one in gold] + [row.text for row in rows]
    vectors = kept.lore.embeddings.embed_texts(texts) if gold else None
    if vectors is None:
        return []
    cosines = vectors[: len(gold)] @ vectors[len(gold) :].T
    matched = []
    for at, one in enumerate(gold):
        near = [
            (kept.lore.embeddings.likeness(float(cosines[at, place])), row)
            for place, row in enumerate(rows)
            if row.session == one["session"]
        ]
        likeness, best = max((pair for pair in near if _matches(one, *pair)), default=(0.0, None), key=_first)
        matched.append({**one, "found": best.text if best else "", "likeness": round(likeness, 2)})
    return matched


def _first(pair: tuple[float, Row]) -> float:
    return pair[0]


def _matches(gold: Mapping[str, Any], likeness: float, row: Row) -> bool:
    if frozenset(gold["evidence_ids"]).isdisjoint(row.turns):
        return likeness >= LIKE_ALONE
    wanted = content_words(gold["statement"])
    shared = len(wanted & content_words(row.text)) / max(1, len(wanted))
    return likeness >= LIKE_WITH_TURN or shared >= SHARED_WORDS


def _write(path: Path, rows: Iterable[Row], roots: Iterable[str], labels: Mapping[str, str]) -> None:
    lines = [
        {
            "session": row.session,
            "turns": row.turns,
            "speaker": row.speaker,
            "type": row.type,
            "text": row.text,
            "key": row.keys[0] if row.turns else "",
            "label": label_of(row, labels),
        }
        for row in rows
    ]
    told = [*lines, *({"root": root} for root in roots)]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in told), encoding="utf-8")


def _percent(part: int, whole: int) -> float | None:
    return round(100 * part / whole, 1) if whole else None


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--half", choices=("tuned", "unseen", "all"), default="all")
    parser.add_argument("--store", type=Path, help="keep the embedded turns here for the next run")
    parser.add_argument("--model", default="gte-small")
    parser.add_argument("--labels", type=Path, default=LABELS)
    parser.add_argument("--out", type=Path, help="write the kept statements and roots as JSON lines")
    parser.add_argument("--json", type=Path, help="write the figures and the gold statements found")
    return parser.parse_args()


if __name__ == "__main__":
    main()
