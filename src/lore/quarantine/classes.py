"""classes: find a word of a class (who must know, what switches off, …) in any language of words.txt."""

import re
from functools import cache
from itertools import groupby

from lore.patterns import regex
from lore.wordlists import word_lists

_WIDE = regex("[\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_ARABIC = regex("[\u0620-\u064a]")


def lists() -> dict[str, frozenset[str]]:
    """All classes with their words."""
    return dict(word_lists("lore.quarantine", "words.txt"))


def words_of(name: str, text: str) -> "re.Pattern[str]":
    """Finds a word of a class in the text; in a text of ASCII it looks for no others."""
    return _pattern(name, text.isascii())


@cache
def _pattern(name: str, ascii: bool) -> "re.Pattern[str]":
    words = [word for word in lists()[name] if word.isascii() or not ascii]
    parts = sorted(words, key=lambda word: (word[0], -len(word), word))
    wide = [re.escape(word) for word in parts if _WIDE.search(word)]
    arabic = [_arabic(word) for word in parts if _ARABIC.search(word)]
    spaced = [word for word in parts if not _WIDE.search(word) and not _ARABIC.search(word)]
    grouped = [
        f"{re.escape(first)}(?:{'|'.join(_spaced(word)[len(re.escape(first)) :] for word in group)})"
        for first, group in groupby(spaced, key=lambda word: word[0])
    ]
    return regex("|".join([*wide, rf"(?<!\w)(?:{'|'.join([*grouped, *arabic])})"]))


def _spaced(word: str) -> str:
    """A word of a script with spaces; a star stands for any ending, an apostrophe for both of its forms."""
    end = "" if word.endswith(("*", "'")) else r"(?!\w)"
    return re.escape(word.removesuffix("*")).replace("'", "['’]").replace(r"\*", r"\w{0,10}") + end


def _arabic(word: str) -> str:
    """An Arabic word, which may have its articles before it and a pronoun behind it."""
    return rf"[وفبلكس]?(?:ال|ل)?{re.escape(word)}\w{{0,{3 * (len(word) > 2)}}}(?!\w)"
