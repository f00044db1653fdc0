"""Prompts: labelled prompts of a developer over a small made-up store, and how well `remind` answers them."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lore import Draft, Lore
from lore.config import Config
from lore.connecting import wire

HERE = Path(__file__).parent
SESSION = "earlier"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """needs: the memories of which one should be shown; empty: none should. half: tuning or held-out."""

    prompt: str
    needs: frozenset[str]
    half: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """A prompt, and the memories that were shown."""

    prompt: Prompt
    shown: tuple[str, ...]

    @property
    def right(self) -> bool:
        return not self.prompt.needs.isdisjoint(self.shown)


def prompts() -> list[Prompt]:
    """All labelled prompts."""
    rows = map(json.loads, (HERE / "prompts.jsonl").read_text(encoding="utf-8").splitlines())
    return [Prompt(prompt=row["prompt"], needs=frozenset(row["needs"]), half=row["half"]) for row in rows]


def store(folder: Path, model: str) -> tuple[Lore, dict[str, str]]:
    """A Lore with the made-up memories and turns, embedded; id of a memory -> its label."""
    lore = wire(Config(data_dir=folder, embedding_model=model))
    rows = [json.loads(line) for line in (HERE / "memories.jsonl").read_text(encoding="utf-8").splitlines()]
    stored = lore.remember_all([_draft(row) for row in rows])
    lore.embed_pending()
    return lore, {one.memory.id: row["id"] for one, row in zip(stored, rows, strict=True)}


def _draft(row: dict[str, str]) -> Draft:
    if "role" in row:
        return Draft(content=row["text"], kind="turn", type=row["role"], session=SESSION)
    return Draft(content=row["text"], type=row["type"])


def ask(prompts: Sequence[Prompt], lore: Lore, labels: dict[str, str]) -> list[Outcome]:
    """What `remind` shows for each prompt."""
    return [Outcome(one, tuple(labels[id] for id in lore.remind(one.prompt).ids)) for one in prompts]


def judged(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """precision: of the reminders, those with a needed memory. lines: of the lines, those needed.

    recall: of the prompts that need one, those that get it. without_need: prompts without need that fire.
    """
    fired = [one for one in outcomes if one.shown]
    needing = [one for one in outcomes if one.prompt.needs]
    others = [one for one in outcomes if not one.prompt.needs]
    lines = [id in one.prompt.needs for one in fired for id in one.shown]
    return {
        "precision": _share([one.right for one in fired]),
        "precision of lines": _share(lines),
        "recall": _share([one.right for one in needing]),
        "fires without need": _share([bool(one.shown) for one in others]),
        "lines a reminder": len(lines) / max(1, len(fired)),
    }


def _share(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0
