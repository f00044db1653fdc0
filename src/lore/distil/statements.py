"""Statements: the sentences and commands of some turns that may be worth keeping, and what was taken back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from lore.distil.base import Importance, Spoken, Type
from lore.distil.commands import commands_of, worth
from lore.distil.cues import asks, correction_of, cue_of
from lore.distil.phrases import telling_words
from lore.distil.sentences import is_document, sentences_of

MOST_SENTENCES = 60
"""Of one turn: who says more is quoting."""
FEWEST_SHARED, FEW_SAID = 2, 2
"""Words that a correction has in common with what it corrects; among so few statements one is enough."""
CORRECTING = 0.95
CORRECTING_FIRST = 3
"""How many sentences of a turn may correct the one before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A candidate. strength: how sure it is to be knowledge, 0 to 1; place: which sentence of its turn."""

    text: str
    type: Type
    importance: Importance
    strength: float
    turns: tuple[int, ...]
    place: int = 0
    replaces: str = ""


def statements_of(spoken: Sequence[Spoken]) -> list[Statement]:
    """All of them in order, without those that a later one corrects."""
    found: list[Statement] = []
    taken_back: set[str] = set()
    said: list[str] = []
    for turn in spoken:
        if turn.role == "tool" or (turn.role == "user" and is_document(turn.text)):
            continue
        sentences = sentences_of(turn.text)[:MOST_SENTENCES]
        for place, sentence in enumerate(sentences):
            statement = _correcting(sentence, turn, said) if place < CORRECTING_FIRST else None
            if statement:
                taken_back.add(statement.replaces)
            else:
                statement = _stated(sentence, turn)
            if statement:
                found.append(replace(statement, place=place))
        said = [] if turn.role == "user" else [*said, *sentences]
    kept = [statement for statement in found if statement.replaces or statement.text not in taken_back]
    return [*kept, *_commands(spoken)]


def _stated(sentence: str, turn: Spoken) -> Statement | None:
    cue = cue_of(sentence, turn.role)
    if cue is None:
        return None
    return Statement(
        text=cue.said,
        type=cue.type,
        importance=cue.importance,
        strength=cue.strength,
        turns=(turn.number,),
    )


def _correcting(sentence: str, turn: Spoken, said: Sequence[str]) -> Statement | None:
    """A user who contradicts what the assistant said just before. A "no" to a question corrects nothing."""
    holds = correction_of(sentence) if turn.role == "user" and said else ""
    if not holds:
        return None
    before = _nearest(holds, (one for one in said if not asks(one)))
    if not before and asks(said[-1]):
        return None
    return Statement(
        text=holds,
        type="correction",
        importance="high",
        strength=CORRECTING,
        turns=(turn.number,),
        replaces=before,
    )


def _nearest(holds: str, said: Iterable[str]) -> str:
    """The statement that has most words with what holds in common; empty if none has enough."""
    wanted = telling_words(holds)
    shares = {one: len(wanted & telling_words(one)) for one in said}
    best = max(shares, key=lambda one: shares[one], default="")
    enough = 1 if len(shares) <= FEW_SAID else FEWEST_SHARED
    return best if best and shares[best] >= enough else ""


def _commands(spoken: Sequence[Spoken]) -> list[Statement]:
    return [
        Statement(text=command.text, type="command", importance="low", strength=value, turns=command.turns)
        for command, value in worth(commands_of(spoken)).items()
    ]
