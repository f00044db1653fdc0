"""The questions that Lore asks a language model: instructions (.md), shapes of answers (.json), data."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files
from typing import Any

from lore.llm.base import Prompt, Schema
from lore.llm.structured import Check, labelled, numbered, wrapped
from lore.text import preview

NAMES = ("extraction", "reconciliation", "compression", "reflection", "contradiction")
EXTRACTION_TOKENS = 4096
SHORT_TOKENS = 1024
LONGEST = 4_000
"""Characters of one text: what is longer is no statement, title or overview."""
SHOWN = 80


def extraction(turns: Iterable[tuple[int, str]], before: Iterable[str] = ()) -> Prompt:
    """What is worth keeping of a conversation? turns: numbers and texts. before: lines about all of it."""
    marked = [f"| {' '.join(line.split())}" for line in before]
    return Prompt(
        system=instructions("extraction"),
        text=wrapped("\n".join([*marked, labelled(turns)]), "conversation"),
        role="extraction",
        schema=schema("extraction"),
        max_tokens=EXTRACTION_TOKENS,
    )


def reconciliation(memories: Sequence[str], items: Sequence[str]) -> Prompt:
    """What are these new items to these memories, and to each other?"""
    new = labelled(enumerate(items, len(memories) + 1))
    text = f"Memories:\n{numbered(memories)}\n\nNew items:\n{new}"
    return replace(_short("reconciliation", text, "memories"), role="extraction")


def compression(texts: Iterable[str]) -> Prompt:
    """What do these memories, which belong together, say in short?"""
    return _short("compression", numbered(texts), "memories")


def reflection(texts: Iterable[str]) -> Prompt:
    """What follows from these memories together that none of them says alone?"""
    return _short("reflection", numbered(texts), "memories")


def contradiction(pairs: Sequence[tuple[str, str]]) -> Prompt:
    """Which of these pairs of memories cannot both be true now?"""
    entries = (f"A: {first}\nB: {second}" for first, second in pairs)
    return _short("contradiction", numbered(entries), "pairs")


@cache
def instructions(name: str) -> str:
    """What the model is told to do."""
    return (files(__name__) / f"{name}.md").read_text(encoding="utf-8").strip()


@cache
def schema(name: str) -> Schema:
    """The shape of the answer."""
    shape: dict[str, Any] = json.loads((files(__name__) / f"{name}.json").read_text(encoding="utf-8"))
    return shape


def _short(name: str, text: str, label: str) -> Prompt:
    return Prompt(
        system=instructions(name),
        text=wrapped(text, label),
        role="compression",
        schema=schema(name),
        max_tokens=SHORT_TOKENS,
    )


def check_extraction() -> Check:
    """The report has to say something; an unusable item is left out by itself."""
    return lambda data: _unsaid([data["session"]["title"]])


def check_compression() -> Check:
    return lambda data: _unsaid((data["title"], data["overview"]))


def check_reflection(texts: int) -> Check:
    """So many memories."""

    def check(data: Any) -> str | None:
        if data["insight"] is None:
            return None
        lonely = "an insight rests on two memories at least" if len(set(data["sources"])) < 2 else None
        return _unsaid([data["insight"]]) or _beyond(data["sources"], texts, "memory") or lonely

    return check


def check_contradiction(pairs: int) -> Check:
    """So many pairs."""
    return lambda data: _beyond((each["pair"] for each in data["contradictions"]), pairs, "pair")


def _unsaid(texts: Iterable[str]) -> str | None:
    """What keeps one of the texts from saying something."""
    for text in texts:
        if not text.strip():
            return "a text is empty"
        if len(text) > LONGEST:
            return f"a text has {len(text):,} characters, {LONGEST:,} are allowed: {preview(text, SHOWN)}"
    return None


def _beyond(numbers: Iterable[int], last: int, what: str) -> str | None:
    wrong = sorted({number for number in numbers if not 1 <= number <= last})
    return f"there is no {what} {', '.join(map(str, wrong))}; the last is {last}" if wrong else None
