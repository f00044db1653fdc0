"""Grams: how text is indexed and asked for in scripts that no index can split into words.

Chinese, Japanese, Thai, Lao, Khmer and Burmese have no spaces between words, Korean attaches particles to
them, and the vowel signs of Indic scripts look like separators to a text index. Their text is cut into
overlapping runs of characters (grams) instead: two of Chinese, Japanese and Korean, three of the others.
"""

import unicodedata
from typing import NamedTuple

from lore.patterns import regex

_PAIRS = (
    "\u1100-\u11ff\u3005-\u3007\u3041-\u3096\u3099-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u3131-\u318e"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97c\uac00-\ud7fb\uf900-\ufaff\U00020000-\U0003ffff"
)
_TRIPLES = (
    "\u0900-\u0963\u0971-\u09e3\u09f0-\u0a65\u0a70-\u0ae3\u0b01-\u0b63\u0b71-\u0be5\u0c00-\u0c63\u0c80-\u0ce3"
    "\u0d00-\u0d63\u0d7a-\u0ddf\u0df2\u0df3\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u0f40-\u0fbc\u1000-\u103f"
    "\u1050-\u109d\u1780-\u17d3"
)
_HALF_WIDTH = "\uff66-\uffdc"
_ANY = regex(f"[{_PAIRS}{_TRIPLES}{_HALF_WIDTH}]")
_TOKEN = regex(rf"(?:[^\W_]|[{_PAIRS}{_TRIPLES}])+")
_PART = regex(rf"([{_PAIRS}]+)|([{_TRIPLES}]+)|([^\W_{_PAIRS}{_TRIPLES}]+)")


def normalized(text: str) -> str:
    """Lower case, composed characters, full-width letters and half-width kana as usual ones."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).lower()


def unspaced(text: str) -> bool:
    """Whether a text has characters of such a script."""
    return not text.isascii() and _ANY.search(text) is not None


def indexed(text: str) -> str:
    """The grams of a text for the index, separated by spaces; empty for a text without such a script.

    The last characters of a run stand for themselves too, so that every character begins a gram. Words of
    other scripts are left to the index of words, unless they are written together with such a script.
    """
    return " ".join(gram for part in _parts(text) for gram in part.grams(ends=True)) if unspaced(text) else ""


def phrase(term: str) -> tuple[str, bool]:
    """The grams that stand one after the other in the index where a text has this term.

    True: the term ends with less than a gram, so the last one is only the beginning of a gram.
    """
    *parts, last = _parts(term)
    found = [gram for part in parts for gram in part.grams(ends=True)] + last.grams(ends=False)
    return " ".join(found), len(last.run) < last.size


def split(text: str) -> list[str]:
    """The words of a text in lower case and in order, with grams in place of such scripts."""
    return [gram for part in _cut(normalized(text)) for gram in part.grams(ends=False)]


def count_words(text: str, at_most: int) -> int:
    """About how many words a text has, up to a number: two characters of Chinese, Japanese or Korean count as
    one, or four of another such script."""
    if not unspaced(text):
        return min(at_most, len(text.split(None, at_most)))
    counts = (-(-len(part.run) // (2 * part.size - 2)) if part.size else 1 for part in _cut(normalized(text)))
    return min(at_most, sum(counts))


class _Part(NamedTuple):
    """A run of characters, and how many of them make a gram; 0: it is a word."""

    run: str
    size: int

    def grams(self, *, ends: bool) -> list[str]:
        """ends: also those at the end that are shorter than the others."""
        if not self.size:
            return [self.run]
        last = len(self.run) if ends else max(1, len(self.run) - self.size + 1)
        return [self.run[at : at + self.size] for at in range(last)]


def _parts(text: str) -> list[_Part]:
    """Those that belong into the index of grams."""
    tokens = (token for token in _TOKEN.findall(normalized(text)) if _ANY.search(token))
    return [part for token in tokens for part in _cut(token)]


def _cut(text: str) -> list[_Part]:
    return [
        _Part(pairs, 2) if pairs else _Part(triples, 3) if triples else _Part(word, 0)
        for pairs, triples, word in _PART.findall(text)
    ]
