"""Phrases: patterns from the tables of wording.txt, and the words by which two texts are compared.

A section of wording.txt is `[name kind]`. Sections of one name and different kinds make one pattern. Each
line is a phrase: a regular expression in which a space stands for any white space and an apostrophe for both
of its forms, or none. A line end means "or", also inside parentheses. `{name}` inserts a `fragment`.
"""

import re
from functools import cache

from lore.patterns import regex
from lore.text import STOP_WORDS, words
from lore.wordlists import sections

_PLACEHOLDER = regex(r"\{([a-z][a-z ]*)\}")
_KINDS = {
    "within": r"(?<!\w){}(?!\w)",
    "beginning": r"^\W*{}(?!\w)",
    "clause": r"(?:^\W*|[,;:–—]\s+|\b(?:and|but|so|since|because)\s+){}",
}
"""Where a text must have one of the phrases: anywhere, at its beginning, or at the beginning of a clause."""


def alternatives(name: str, kind: str = "fragment") -> str:
    """A regular expression for any of the phrases of a section."""
    phrases = (" ".join(line.split()) for line in _table(name, kind).splitlines())
    return "(?:" + "|".join(phrase.replace("'", "['’]?").replace(" ", r"\s++") for phrase in phrases) + ")"


@cache
def pattern(name: str) -> re.Pattern[str]:
    """Finds texts with one of the phrases of the sections of this name."""
    parts = [
        _KINDS[kind].format(alternatives(name, kind)) if kind in _KINDS else _table(name, kind)
        for kind in (*_KINDS, "pattern")
        if f"{name} {kind}" in _sections()
    ]
    return regex("|".join(parts), re.IGNORECASE)


def names_of(kind: str) -> list[str]:
    """The names of the sections of a kind, in the order of the file."""
    return [name.removesuffix(f" {kind}") for name in _sections() if name.endswith(f" {kind}")]


def content_words(text: str) -> frozenset[str]:
    """The words by which two texts are compared: no stop words, no endings of the plural."""
    return frozenset(
        word.removesuffix("s") for word in words(text) if word not in STOP_WORDS and len(word) > 1
    )


def _sections() -> dict[str, tuple[str, ...]]:
    return dict(sections("lore.distil", "wording.txt"))


def _table(name: str, kind: str) -> str:
    """The lines of a section with its fragments inserted."""
    table = "\n".join(_sections()[f"{name} {kind}"])
    return _PLACEHOLDER.sub(lambda found: _table(found[1], "fragment"), table)
