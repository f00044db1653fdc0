"""disguise: undo letters that look like others and characters that nobody sees, before any matching."""

import unicodedata

from lore.patterns import regex

_INVISIBLE = regex(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_LOOKALIKES = str.maketrans(
    "аеорсухіјѕһԁԛԝɡɑοιανρτυκχε" + "АВЕКМНОРСТУХІЈЅΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxijshdqwgaoiavptukxe" + "ABEKMHOPCTYXIJSABEZHIKMNOPTYX",
)
_LETTER = "[A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff]"
_SPELT = regex(rf"(?<![^\W_])(?:{_LETTER}[ .*_|-]){{3,40}}{_LETTER}(?![^\W_])")
"""Letters that stand one by one: i g n o r e."""
_ONE_BY_ONE = regex(rf"(?<![^\W_])(?:{_LETTER}[ .*_-]){{1,40}}{_LETTER}(?![^\W_])")
SPELT = 8
"""Letters that must stand one by one in a text before it counts as spelt."""
_WORD = regex(r"[^\W\d_]{3,40}")
_LATIN = regex("[A-Za-z]")
_PLAIN_LATIN = regex("[A-Za-z]+")


def plain(text: str) -> str:
    """The text in its compatible form (NFKC), without invisible characters, and with Latin letters where a
    word mixes them with letters that look like them; words that are spelt letter by letter in one piece."""
    if _is_spelt(text):
        text = _ONE_BY_ONE.sub(lambda found: "".join(filter(str.isalpha, found[0])), text)
    if text.isascii():
        return text
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return _WORD.sub(lambda found: _undisguised(found[0]), visible)


def is_disguised(text: str) -> bool:
    """Whether words are spelt letter by letter, or mix Latin letters with others that look like them."""
    if _is_spelt(text):
        return True
    if text.isascii():
        return False
    words = _WORD.findall(unicodedata.normalize("NFKC", text))
    return any(word != _undisguised(word) for word in words)


def _is_spelt(text: str) -> bool:
    return sum(len(one) // 2 + 1 for one in _SPELT.findall(text)) >= SPELT


def _undisguised(word: str) -> str:
    """The word in Latin letters, if it has some and all others look like some; else as it is."""
    if word.isascii() or not _LATIN.search(word):
        return word
    latin = word.translate(_LOOKALIKES)
    return latin if _PLAIN_LATIN.fullmatch(latin) else word
