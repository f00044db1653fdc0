"""Segments: where a conversation turns to something else."""

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from lore.distil.base import Spoken
from lore.distil.phrases import alternatives, content_words, pattern
from lore.patterns import regex

Measured = npt.NDArray[np.float64]

MAX_TURNS = 200
LEAST_TURNS, SHORT_ENOUGH = 6, 12
LONG_PAUSE_SECONDS = 2 * 3600.0
"""Whoever comes back after this long begins anew."""
WIDE_WINDOW = 6
MOST_ALIKE, LEAST_DEPTH = 0.1, 0.4
"""Of centred vectors: how alike the sides of a boundary may be, and how much less than turns around it."""
MOST_COMMON = 0.06
"""Of words: which share of the rarer half of the vocabulary both sides of a boundary may have."""
FEWEST_WORDS = 4
"""Who begins a subject says more than "go on"."""
LONGEST_TEXT = 600

_TURNING = regex(
    r"^\W*(?:(?:ok(?:ay)?|great|good|cool|perfect|thanks?|thank you|alright|super|danke|gut|merci|vale)\W+)*"
    + alternatives("turning")
    + r"(?!\w)",
    re.IGNORECASE,
)
_CONTINUING = pattern("continuing")


def segments(spoken: Sequence[Spoken], max_turns: int = MAX_TURNS) -> list[int]:
    """The exclusive ends of the segments, in order; the last is the number of turns.

    A long pause and a user who says so begin a new one. Otherwise a subject begins where a user says
    something that has little to do with what was before: by meaning where all turns have vectors, else by
    words. What is still longer than `max_turns` is cut where it is least coherent.
    """
    if not spoken:
        return [0]
    vocabularies = [content_words(turn.text[:LONGEST_TEXT]) for turn in spoken]
    by_meaning = all(turn.vector is not None for turn in spoken)
    alike = _by_meaning(spoken, vocabularies) if by_meaning else _by_words(vocabularies)
    begins = [at for at in range(1, len(spoken)) if _paused(spoken, at) or _turned(spoken[at])]
    parts: list[int] = []
    for begin, end in zip([0, *begins], [*begins, len(spoken)], strict=True):
        requests = [
            at
            for at in range(begin + LEAST_TURNS, end - LEAST_TURNS + 1)
            if len(vocabularies[at]) >= FEWEST_WORDS and _begins(spoken[at])
        ]
        wanted = requests if end - begin > SHORT_ENOUGH else []
        shifts = [at for at in wanted if (_deep(alike, at) if by_meaning else alike[at] <= MOST_COMMON)]
        for shift in [*_apart(shifts, alike), end]:
            _chunk(alike, parts, shift, max_turns)
    return parts


def _paused(spoken: Sequence[Spoken], at: int) -> bool:
    before, now = spoken[at - 1].at, spoken[at].at
    return before is not None and now is not None and now - before >= LONG_PAUSE_SECONDS


def _begins(turn: Spoken) -> bool:
    return turn.role == "user" and not _CONTINUING.match(turn.text)


def _turned(turn: Spoken) -> bool:
    return turn.role == "user" and bool(_TURNING.match(turn.text))


def _apart(shifts: Sequence[int], alike: Measured) -> list[int]:
    """Of places that are near each other, the one where the sides are least alike."""
    kept: list[int] = []
    for at in sorted(shifts, key=lambda at: (alike[at], at)):
        if all(abs(at - other) >= LEAST_TURNS for other in kept):
            kept.append(at)
    return sorted(kept)


def _deep(alike: Measured, at: int) -> bool:
    """Whether it is a valley: both sides have little in common, but much with what is around them."""
    left, right = alike[max(1, at - WIDE_WINDOW) : at], alike[at + 1 : at + 1 + WIDE_WINDOW]
    height = (left.max(initial=alike[at]) + right.max(initial=alike[at])) / 2
    return bool(alike[at] <= MOST_ALIKE and height - alike[at] >= LEAST_DEPTH)


def _by_meaning(spoken: Sequence[Spoken], vocabularies: Sequence[frozenset[str]]) -> Measured:
    """For each turn, how alike the turns before it and from it on are; 1 for the first.

    Vectors of one conversation all point much the same way: only what they have beyond their mean tells.
    Turns of a few words count less.
    """
    vectors = np.array([turn.vector for turn in spoken], dtype=np.float64)
    centred = vectors - vectors.mean(axis=0)
    lengths = np.maximum(np.linalg.norm(centred, axis=1), 1e-9)
    weights = np.minimum(1.0, np.array([len(words) for words in vocabularies]) / SHORT_ENOUGH)
    sums = np.cumsum(centred * (weights / lengths)[:, None], axis=0)
    sums = np.concatenate([np.zeros((1, sums.shape[1])), sums])
    places = np.arange(len(spoken))
    before = sums[places] - sums[np.maximum(0, places - WIDE_WINDOW)]
    after = sums[np.minimum(len(spoken), places + WIDE_WINDOW)] - sums[places]
    both = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    alike: Measured = np.ones(len(spoken))
    np.divide((before * after).sum(axis=1), both, out=alike, where=both > 1e-9)
    return alike


def _by_words(vocabularies: Sequence[frozenset[str]]) -> Measured:
    """The same by the words that both sides have, of those that the lesser side has; rare ones count more."""
    spread = Counter(word for words in vocabularies for word in words)
    weights = {word: math.log(len(vocabularies) / count) for word, count in spread.items()}

    def weight(words: frozenset[str]) -> float:
        return sum(weights[word] for word in sorted(words))

    alike = np.ones(len(vocabularies))
    for at in range(1, len(vocabularies)):
        before = frozenset[str]().union(*vocabularies[max(0, at - WIDE_WINDOW) : at])
        after = frozenset[str]().union(*vocabularies[at : at + WIDE_WINDOW])
        lesser = min(weight(before), weight(after))
        alike[at] = weight(before & after) / lesser if lesser else 1.0
    return alike


def _chunk(alike: Measured, parts: list[int], end: int, max_turns: int) -> None:
    """Add a segment to `parts`; if it is too long, as several, each cut in its second half."""
    begin = parts[-1] if parts else 0
    while end - begin > max_turns:
        first = begin + max(1, max_turns // 2)
        begin = first + int(np.argmin(alike[first : begin + max_turns + 1]))
        parts.append(begin)
    parts.append(end)
