"""Repeats: what was distilled from a turn says what the turn says; one of them among the first is enough."""

from collections.abc import Sequence

from lore.text import STOP_WORDS, words

LEAST_WORDS = 4
SAID = 0.9
"""The share of what a distilled memory says that its turn says too."""


def repeating(ranked: Sequence[tuple[str, str, bool]]) -> set[str]:
    """Which of (id, text, verbatim), best first, say what a better one of the other sort has said."""
    kept: list[tuple[frozenset[str], bool]] = []
    found: set[str] = set()
    for id, text, verbatim in ranked:
        told = frozenset(words(text)) - STOP_WORDS
        others = [said for said, as_said in kept if as_said != verbatim]
        if any(_says(told, said) if verbatim else _says(said, told) for said in others):
            found.add(id)
        else:
            kept.append((told, verbatim))
    return found


def _says(turn: frozenset[str], distilled: frozenset[str]) -> bool:
    return len(distilled) >= LEAST_WORDS and len(distilled & turn) >= SAID * len(distilled)
