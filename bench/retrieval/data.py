"""Data: a folder with `corpus.jsonl[.gz]` and `questions.jsonl[.gz]`, as items and questions."""

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lore.transcripts.fields import timestamp


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """Something that can be found. session: the conversation that it is part of, or itself."""

    id: str
    text: str
    group: str
    session: str
    seq: int
    time: str | None = None
    speaker: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """evidence: the items that answer it. stale: those that did once. max_seq: only items before existed.

    time: when it was asked. answer: in words.
    """

    id: str
    group: str
    query: str
    type: str
    evidence: frozenset[str]
    stale: frozenset[str] = frozenset()
    max_seq: int | None = None
    time: float | None = None
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Group:
    """Items that belong together, in order, and what is asked about them."""

    name: str
    items: Sequence[Item]
    questions: Sequence[Question]


def load(folder: Path, limit: int | None = None) -> list[Group]:
    """The groups in the order of the file. limit: at most so many questions of each.

    A question whose evidence is unknown or known not to be complete cannot be judged; it is left out.
    """
    items: dict[str, list[Item]] = {}
    for number, row in enumerate(_rows(folder, "corpus")):
        told = {name: row[name] for name in Item.__dataclass_fields__ if row.get(name) is not None}
        item = Item(**{"session": row["id"], "seq": number, **told})
        items.setdefault(item.group, []).append(item)
    questions: dict[str, list[Question]] = {group: [] for group in items}
    for row in _rows(folder, "questions"):
        if row["evidence_ids"] and row.get("evidence_complete", True):
            questions[row["group"]].append(_question(row))
    return [
        Group(name, sorted(found, key=lambda item: item.seq), questions[name][:limit])
        for name, found in items.items()
    ]


def unanswerable(folder: Path) -> dict[str, list[Question]]:
    """group -> its questions that nothing in the corpus answers."""
    found: dict[str, list[Question]] = {}
    for row in _rows(folder, "questions"):
        if not row["evidence_ids"]:
            found.setdefault(row["group"], []).append(_question(row))
    return found


def _question(row: dict[str, Any]) -> Question:
    return Question(
        id=row["id"],
        group=row["group"],
        query=row["query"],
        type=row["type"],
        evidence=frozenset(row["evidence_ids"]),
        stale=frozenset(row.get("stale_ids") or ()),
        max_seq=row.get("max_seq"),
        time=timestamp(row.get("time")),
        answer=str(row.get("answer") or ""),
    )


def _rows(folder: Path, name: str) -> Iterator[dict[str, Any]]:
    packed, plain = folder / f"{name}.jsonl.gz", folder / f"{name}.jsonl"
    if not packed.exists() and not plain.exists():
        raise SystemExit(f"{folder} has no {name}.jsonl or {name}.jsonl.gz")
    with gzip.open(packed, "rt") if packed.exists() else plain.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
