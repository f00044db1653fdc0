"""Fresh: where a newer memory updates an older one, the newer one is asked for."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from lore.names import VERBS, stems
from lore.ranking.compare import Relation, compare
from lore.text import words

LEAST_WORDS = 3
"""So many words two texts must have in common at their beginning, and half of the shorter one."""
COMPARABLE = 4
"""Texts are compared if they share at least one in so many telling words of the shorter one."""
OF_THE_PAST = re.compile(
    r"\b(?:first|original(?:ly)?|initial(?:ly)?|former(?:ly)?|previous(?:ly)?|earli(?:er|est)|old(?:est)?"
    r"|(?<!be )(?<!is )(?<!are )used to|at the beginning|before)\b",
    re.IGNORECASE,
)


class _Told(NamedTuple):
    """A memory that was found, its words and what stays of the telling ones."""

    id: str
    text: str
    at: float
    words: list[str]
    stems: frozenset[str]


def lifted(
    question: str,
    ranked: Sequence[tuple[str, str, float]],
    scores: Mapping[str, float],
    spoken: Collection[str] = (),
) -> dict[str, float]:
    """Which scores rise, and to what: each to that of the best older one that it updates.

    ranked: (id, text, time). Nothing rises where the question asks for the past. What is likely an update
    but not certainly one keeps its place where the question names what differs. spoken: the ids of turns of
    conversations; who speaks says "I", so that only what is certain counts.
    """
    if OF_THE_PAST.search(question):
        return {}
    asked = stems(words(question))
    told = [_Told(id, text, at, found := words(text), stems(found)) for id, text, at in ranked]
    risen: dict[str, float] = {}
    for newer in told:
        older = [
            scores[older.id]
            for older in told
            if older.at < newer.at
            and scores[older.id] > scores[newer.id]
            and _about_the_same(older.stems, newer.stems)
            and (
                _same_but_for_value(newer.words, older.words, asked) or _updates(older, newer, asked, spoken)
            )
        ]
        if older:
            risen[newer.id] = max(older)
    return risen


def _about_the_same(older: frozenset[str], newer: frozenset[str]) -> bool:
    """Whether a quarter of the shorter text's words stand in the other: less is not worth comparing."""
    shared = len(older & newer)
    return bool(shared) and COMPARABLE * shared >= min(len(older), len(newer))


def _updates(older: _Told, newer: _Told, asked: frozenset[str], spoken: Collection[str]) -> bool:
    relation = compare(older.text, newer.text, thorough=False)
    if relation is not Relation.LIKELY_UPDATE or older.id in spoken or newer.id in spoken:
        return relation is Relation.UPDATE
    return asked.isdisjoint(older.stems ^ newer.stems)


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
