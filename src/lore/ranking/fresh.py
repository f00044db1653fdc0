"""Fresh: where a newer memory updates an older one, the newer one is asked for."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from lore.names import VERBS, stems
from lore.ranking.announced import replaces
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


@dataclass(frozen=True)
class Dated:
    """A hit with its time. likeness: its similarity to the question, if it has a vector.

    spoken: it is a turn of a conversation, where people say "I"; only a certain update counts.
    """

    id: str
    text: str
    at: float
    score: float
    likeness: float | None = None
    spoken: bool = False

    @cached_property
    def words(self) -> list[str]:
        return words(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        return stems(self.words)


def lifted(question: str, hits: Sequence[Dated]) -> dict[str, float]:
    """New scores by id: a hit that updates older ones rises to the best score among them.

    Nothing rises where the question asks for the past. A likely update keeps its place where the question
    names what differs.
    """
    if OF_THE_PAST.search(question):
        return {}
    asked = stems(words(question))
    risen: dict[str, float] = {}
    for newer in hits:
        updated = [
            older.score
            for older in hits
            if older.at < newer.at and older.score > newer.score and _updates(older, newer, question, asked)
        ]
        if updated:
            risen[newer.id] = max(updated)
    return risen


def _updates(older: Dated, newer: Dated, question: str, asked: frozenset[str]) -> bool:
    spoken = older.spoken or newer.spoken
    if not spoken and replaces(question, older.text, newer.text, _less_similar(older, newer)):
        return True
    if not _about_the_same(older.stems, newer.stems):
        return False
    if _same_but_for_value(newer.words, older.words, asked):
        return True
    relation = compare(older.text, newer.text, thorough=False)
    if relation is not Relation.LIKELY_UPDATE or spoken:
        return relation is Relation.UPDATE
    return asked.isdisjoint(older.stems ^ newer.stems)


def _less_similar(older: Dated, newer: Dated) -> float:
    if older.likeness is None or newer.likeness is None:
        return 0.0
    return older.likeness - newer.likeness


def _about_the_same(older: frozenset[str], newer: frozenset[str]) -> bool:
    """Whether a quarter of the shorter text's words stand in the other: less is not worth comparing."""
    shared = len(older & newer)
    return bool(shared) and COMPARABLE * shared >= min(len(older), len(newer))


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
