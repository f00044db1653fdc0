"""Extract: a conversation → prompts to a language model → a report and the few items worth keeping."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lore.distil.condense import Entry, condensed
from lore.engine.consolidate.conversation import Conversation
from lore.engine.consolidate.trees import fingerprint
from lore.llm import prompts
from lore.llm.base import LanguageModel, Prompt
from lore.llm.structured import Check, ask
from lore.text import preview

MOST_ITEMS, MOST_OF_ALL = 8, 24
"""Items of one answer that count, and of a conversation that is read in parts: its last ones."""
TYPES: Mapping[str, str] = {
    "decision": "decision",
    "rule": "rule",
    "gotcha": "pitfall",
    "howto": "command",
    "fact": "fact",
    "open": "todo",
}
"""The type of an item -> the type of its memory."""
LABELS: Mapping[str, str] = {
    "why": "Why",
    "rejected": "Rejected",
    "cause": "Cause",
    "fix": "Fix",
    "when": "When",
}
"""Parts of an item behind its text, in this order, with the words before them."""
LONGEST = 1_500
"""Characters of one part: what is longer is no statement."""
PLACE_CHARACTERS, TOPIC_CHARACTERS, POINT_CHARACTERS = 300, 80, 400
MOST_TOPICS, MOST_POINTS, MOST_FILES = 60, 8, 10
"""Existing topics, statements of a part of the report, and files that count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One thing to keep. type: of its memory. text: one readable statement. turns: numbers of real ones."""

    type: str
    text: str
    turns: tuple[int, ...]
    files: tuple[str, ...] = ()
    topic: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a conversation was about."""

    title: str = ""
    request: str = ""
    done: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """The report and the items that hold at the end."""

    report: Report = field(default_factory=Report)
    items: tuple[Item, ...] = ()


@dataclass(slots=True)
class Questions:
    """Asks a language model, but no question twice: answers of an earlier try of the same session count.

    used: the answers of this try, by question.
    """

    model: LanguageModel
    earlier: Mapping[str, Any]
    used: dict[str, Any] = field(default_factory=dict)

    def ask(self, prompt: Prompt, check: Check | None = None) -> Any:
        key = fingerprint((prompt.system, str(prompt.schema), prompt.text))
        answer = self.earlier[key] if key in self.earlier else ask(self.model, prompt, check).data
        self.used[key] = answer
        return answer


def extract(
    questions: Questions,
    conversation: Conversation,
    topics: Sequence[str],
    before: Sequence[str],
    limit: int,
) -> Extracted:
    """The report of the whole conversation, and the items of its new turns.

    topics: titles of existing trees. before: what was written about earlier turns. limit: characters of
    turns in one prompt; what does not fit is asked about part by part.
    """
    report, items = Report(), list[Item]()
    for part in condensed(conversation.spoken(), limit):
        about = _about(conversation, [*topics, *(item.topic for item in items)], before)
        data = questions.ask(prompts.extraction(part, about), prompts.check_extraction())
        report = _report(data["session"], report)
        items = [*items, *_items(data["items"], part)][-MOST_OF_ALL:]
        before = [*_written(report), *(f"- {item.text}" for item in items)]
    return Extracted(report=report, items=tuple(items))


def prompts_of(conversation: Conversation, topics: Sequence[str], limit: int) -> list[Prompt]:
    """The questions about a conversation that nothing was written about yet, to see what they cost."""
    parts = condensed(conversation.spoken(), limit)
    return [prompts.extraction(part, _about(conversation, topics, [])) for part in parts]


def _about(conversation: Conversation, topics: Sequence[str], before: Sequence[str]) -> list[str]:
    """Where the conversation took place, existing topics, and what was written before, as lines."""
    session = conversation.session
    fields = {"conversation": session.title, "project": session.project.rpartition("/")[2]}
    fields |= {name: str(session.metadata.get(name, "")) for name in ("folder", "branch")}
    shown = [f"{name}: {preview(text, PLACE_CHARACTERS)}" for name, text in fields.items() if text.strip()]
    lines = ["; ".join(shown)] if shown else []
    if titles := list(dict.fromkeys(filter(None, topics)))[:MOST_TOPICS]:
        lines.append(f"existing topics: {' | '.join(preview(title, TOPIC_CHARACTERS) for title in titles)}")
    if before:
        lines += ["written about the earlier part:", *(preview(line, LONGEST) for line in before)]
    return lines


def _written(report: Report) -> Iterator[str]:
    yield f"{report.title}: {report.request}"
    yield from (f"done: {text}" for text in report.done)
    yield from (f"left: {text}" for text in report.left)


def _report(data: Mapping[str, Any], before: Report) -> Report:
    """The report of the last part covers the earlier ones; a part that says nothing leaves theirs."""
    return Report(
        title=preview(data["title"], TOPIC_CHARACTERS),
        request=preview(data["request"], POINT_CHARACTERS) or before.request,
        done=_points(data["done"]) or before.done,
        left=_points(data["left"]),
        files=tuple(dict.fromkeys([*_paths(data["files"]), *before.files]))[:MOST_FILES],
    )


def _points(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(preview(text, POINT_CHARACTERS) for text in texts[:MOST_POINTS] if text.strip())


def _paths(files: Sequence[str]) -> tuple[str, ...]:
    return tuple(preview(path, PLACE_CHARACTERS) for path in files[:MOST_FILES] if path.strip())


def _items(answers: Sequence[Mapping[str, Any]], part: Sequence[Entry]) -> Iterator[Item]:
    """The usable items; one without a real turn, or without a statement, is left out alone."""
    first, last = part[0][0], part[-1][0]
    for data in answers[:MOST_ITEMS]:
        text = _statement(data)
        turns = tuple(dict.fromkeys(turn for turn in data["turns"] if first <= turn <= last))
        if data["holds"] and text and turns:
            yield Item(
                type=TYPES[data["type"]],
                text=text,
                turns=turns,
                files=_paths(data["files"]),
                topic=preview(data["topic"], TOPIC_CHARACTERS),
            )


def _statement(data: Mapping[str, Any]) -> str:
    """The text of an item with its other parts as sentences behind it; empty if it is none."""
    text = data["text"].strip()
    parts = {label: part for name, label in LABELS.items() if (part := (data[name] or "").strip())}
    if not text or any(len(part) > LONGEST for part in (text, *parts.values())):
        return ""
    more = [f"{label}: {_sentence(part)}" for label, part in parts.items()]
    return " ".join([_sentence(text), *more]) if more else text


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "…", "。", "`")) else f"{text}."
