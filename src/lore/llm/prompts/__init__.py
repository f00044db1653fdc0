"""The questions that Lore asks a language model: instructions (.md), shapes of answers (.json), data."""

import json
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from lore.llm.base import Prompt, Schema
from lore.llm.wrapping import numbered, wrapped

NAMES = ("extraction", "compression", "reflection", "contradiction")
EXTRACTION_TOKENS = 4096
SHORT_TOKENS = 1024


def extraction(turns: Iterable[str], about: str = "") -> Prompt:
    """What is worth keeping of a conversation? Each turn is told with its speaker, and its date if known.

    about: one line that says of the whole conversation what no turn does.
    """
    told = numbered(turns)
    return Prompt(
        system=instructions("extraction"),
        text=wrapped(f"{about}\n{told}" if about else told, "conversation"),
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
