"""Fresh: of memories that say the same of something but for the value, the newest one is asked for."""

import re
from collections.abc import Mapping, Sequence

from lore.names import VERBS, stems
from lore.text import words

LEAST_WORDS = 3
"""So many words two texts must have in common at their beginning, and half of the shorter one."""
OF_THE_PAST = re.compile(
    r"\b(?:first|original(?:ly)?|initial(?:ly)?|former(?:ly)?|previous(?:ly)?|earli(?:er|est)|old(?:est)?"
    r"|used to|at the beginning|before)\b",
    re.IGNORECASE,
)


def lifted(
    question: str, ranked: Sequence[tuple[str, str, float]], scores: Mapping[str, float]
) -> dict[str, float]:
    """Which scores rise, and to what: each to that of the best older one that differs in the value alone.

    ranked: (id, text, time). What a question distinguishes keeps its place, and so does everything where it
    asks for the past.
    """
    if OF_THE_PAST.search(question):
        return {}
    asked = stems(words(question))
    told = [(id, words(text), at) for id, text, at in ranked]
    risen: dict[str, float] = {}
    for id, text, at in told:
        older = [
            scores[other]
            for other, earlier, then in told
            if then < at and scores[other] > scores[id] and _same_but_for_value(text, earlier, asked)
        ]
        if older:
            risen[id] = max(older)
    return risen


def _same_but_for_value(one: Sequence[str], other: Sequence[str], asked: frozenset[str]) -> bool:
    """Whether they begin alike, and go on with different words that are not asked for.

    What differs must stand behind the verb: before it, they speak of different things.
    """
    shared = next(
        (at for at, (ours, theirs) in enumerate(zip(one, other, strict=False)) if ours != theirs), None
    )
    if shared is None or shared < max(LEAST_WORDS, min(len(one), len(other)) / 2):
        return False
    values = (*one[shared:], *other[shared:])
    distinguishing = asked - stems(one[:shared])
    return VERBS.isdisjoint(values) and distinguishing.isdisjoint(stems(values))
