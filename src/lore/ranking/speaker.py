"""Speaker: does a question name the one who says a line?"""

import re
from collections.abc import Collection, Iterable

from lore.grams import normalized, unspaced
from lore.names import words_of

NEARLY = 0.5
"""The strength of a name that is spelt a little differently."""
SHORTEST_NEAR = 5
"""Letters of a name that may be spelt differently; a shorter one becomes another name."""
_POSSESSIVE = re.compile(r"['’]s?\Z")
_SPELLINGS = (("ie", "y"), ("ey", "y"), ("ph", "f"), ("ck", "k"), ("c", "k"), ("th", "t"))
"""Letters -> letters that sound the same."""
_DOUBLE = re.compile(r"(.)\1+")


def names_speaker(names: Iterable[str], speaker: str) -> float:
    """How surely one of the names is that of the speaker: 1, NEARLY if it is spelt differently, or 0.

    names: capitalised words of a question. "Anna's", "Annas" and "James'" name Anna and James. In a script
    without spaces a speaker is named by any run of characters that contains the name.
    """
    ours = {_folded(_POSSESSIVE.sub("", name)) for name in names}
    return max((_named(ours, _folded(part)) for part in speaker.split()), default=0.0)


def _folded(name: str) -> str:
    """Without case, and without accents where the script has letters."""
    return normalized(name) if unspaced(name) else "".join(word.text for word in words_of(name))


def _named(names: Collection[str], speaker: str) -> float:
    if speaker in names or f"{speaker}s" in names:
        return 1.0
    if unspaced(speaker):
        return float(any(speaker in name for name in names))
    return NEARLY if any(_spelt_alike(name, speaker) for name in names) else 0.0


def _spelt_alike(one: str, other: str) -> bool:
    """Whether two names sound the same by their letters, or differ in one letter behind the first."""
    if min(len(one), len(other)) < SHORTEST_NEAR:
        return False
    return _sound(one) == _sound(other) or (one[0] == other[0] and _one_letter_apart(one, other))


def _sound(name: str) -> str:
    for spelling, sound in _SPELLINGS:
        name = name.replace(spelling, sound)
    return _DOUBLE.sub(r"\1", name)


def _one_letter_apart(one: str, other: str) -> bool:
    """Whether one letter is added, left out or replaced, or two neighbours are swapped."""
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return max(len(one), len(other)) <= 1 or (len(one) == 2 and one == other[::-1])
