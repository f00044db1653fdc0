"""What a schema cannot say: numbers that point at something, and texts that say something."""

from collections.abc import Iterable
from typing import Any

from lore.llm.structured import Check
from lore.text import preview

LONGEST = 4_000
"""Characters of one text: what is longer is no statement, title or overview."""
SHOWN = 80


def of_extraction(turns: int) -> Check:
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


def of_compression() -> Check:
    return lambda data: _unsaid((data["title"], data["overview"]))


def of_reflection(texts: int) -> Check:
    """So many memories."""

    def check(data: Any) -> str | None:
        if data["insight"] is None:
            return None
        lonely = "an insight rests on two memories at least" if len(set(data["sources"])) < 2 else None
        return _unsaid([data["insight"]]) or _beyond(data["sources"], texts, "memory") or lonely

    return check


def of_contradiction(pairs: int) -> Check:
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
