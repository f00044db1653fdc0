"""The questions that Lore asks a language model: instructions (.md), shapes of answers (.json), data."""

import json
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from lore.llm.base import Prompt, Schema
from lore.llm.structured import Check, numbered, wrapped
from lore.text import preview

NAMES = ("extraction", "compression", "reflection", "contradiction")
EXTRACTION_TOKENS = 4096
SHORT_TOKENS = 1024
LONGEST = 4_000
"""Characters of one text: what is longer is no statement, title or overview."""
SHOWN = 80


def extraction(turns: Iterable[str], about: str = "") -> Prompt:
    """What is worth keeping of a conversation? Each turn is told with its speaker, and its date if known.

    about: one line that says of the whole conversation what no turn does.
    """
    conversation = numbered(turns)
    return Prompt(
        system=instructions("extraction"),
        text=wrapped(f"{about}\n{conversation}" if about else conversation, "conversation"),
        role="extraction",
        schema=schema("extraction"),
        max_tokens=EXTRACTION_TOKENS,
    )


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


def check_extraction(turns: int) -> Check:
    """A conversation of so many turns."""

    def check(data: Any) -> str | None:
        topics = data["topics"]
        items = [item for topic in topics for item in topic["items"]]
        named = [number for item in items for number in item["turns"]]
        ends = [relation[end] for relation in data["relations"] for end in ("from", "to")]
        texts = [topic[name] for topic in topics for name in ("title", "overview")]
        return (
            _unsaid([*texts, *(item["text"] for item in items)])
            or _beyond(named, turns, "turn")
            or _beyond(ends, len(topics), "topic")
            or (None if all(item["turns"] for item in items) else "an item names no turn that it comes from")
        )

    return check


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
