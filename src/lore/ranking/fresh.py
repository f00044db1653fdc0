"""Fresh: where a newer memory updates an older one, the newer one is asked for."""

import re
from collections.abc import Mapping, Sequence

from lore.names import VERBS, stems
from lore.ranking.compare import Relation, compare
from lore.text import words

LEAST_WORDS = 3
"""So many words two texts must have in common at their beginning, and half of the shorter one."""
OF_THE_PAST = re.compile(
    r"\b(?:first|original(?:ly)?|initial(?:ly)?|former(?:ly)?|previous(?:ly)?|earli(?:er|est)|old(?:est)?"
    r"|(?<!be )(?<!is )(?<!are )used to|at the beginning|before)\b",
    re.IGNORECASE,
)


def lifted(
    question: str, ranked: Sequence[tuple[str, str, float]], scores: Mapping[str, float]
) -> dict[str, float]:
    """Which scores rise, and to what: each to that of the best older one that it updates.

    ranked: (id, text, time). Nothing rises where the question asks for the past. What is likely an update
    but not certainly one keeps its place where the question names what differs.
    """
    if OF_THE_PAST.search(question):
        return {}
    asked = stems(words(question))
    told = [(id, text, words(text), at) for id, text, at in ranked]
    risen: dict[str, float] = {}
    for id, text, new_words, at in told:
        older = [
            scores[other]
            for other, earlier, old_words, then in told
            if then < at
            and scores[other] > scores[id]
            and (_same_but_for_value(new_words, old_words, asked) or _updates(earlier, text, asked))
        ]
        if older:
            risen[id] = max(older)
    return risen


def _updates(older: str, newer: str, asked: frozenset[str]) -> bool:
    relation = compare(older, newer, thorough=False)
    if relation is not Relation.LIKELY_UPDATE:
        return relation is Relation.UPDATE
    return asked.isdisjoint(stems(words(older)) ^ stems(words(newer)))


def _same_but_for_value(one: Sequence[str], other: Sequence[str], asked: frozenset[str]) -> bool:
    """Whether they begin alike, and go on with different words that are not asked for.

    What differs must stand behind the verb: before it, they speak of different things.
    """
    shared = next(
        (at for at, (ours, theirs) in enumerate(zip(one, other, strict=False)) if ours != theirs), None
    )
    if shared is None or shared < max(LEAST_WORDS, min(len(one), len(other)) / 2):
        return False
    if one[shared][0].isdigit() != other[shared][0].isdigit():
        return False
    values = (*one[shared:], *other[shared:])
    distinguishing = asked - stems(one[:shared])
    return VERBS.isdisjoint(values) and distinguishing.isdisjoint(stems(values))
