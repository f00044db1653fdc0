"""Statements: the sentences of users that are worth keeping."""

from collections.abc import Iterable
from dataclasses import dataclass

from lore.distil.base import Importance, Spoken, Type
from lore.distil.cues import cue_of
from lore.distil.own import own_sentences

MOST_OF_TURN = 4
"""Who lays down more at once is quoting, or writes a document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    text: str
    type: Type
    importance: Importance
    turns: tuple[int, ...]


def statements_of(spoken: Iterable[Spoken]) -> list[Statement]:
    """All of them in order. What an assistant says is never kept without a language model."""
    found: list[Statement] = []
    for turn in spoken:
        sentences = own_sentences(turn.text) if turn.role == "user" else []
        cues = [cue for cue in map(cue_of, sentences) if cue is not None]
        found += [
            Statement(text=cue.said, type=cue.type, importance=cue.importance, turns=(turn.number,))
            for cue in cues[:MOST_OF_TURN]
        ]
    return found
