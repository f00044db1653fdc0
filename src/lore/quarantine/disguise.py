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
_WORD = regex(r"[^\W\d_]{3,40}")
_LATIN = regex("[A-Za-z]")
_PLAIN_LATIN = regex("[A-Za-z]+")


def plain(text: str) -> str:
    """The text in its compatible form (NFKC), without invisible characters, and with Latin letters where a
    word mixes them with letters that look like them."""
    if text.isascii():
        return text
    visible = _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))
    return _WORD.sub(lambda found: _undisguised(found[0]), visible)


def is_disguised(text: str) -> bool:
    """Whether a word mixes Latin letters with letters of another script that look like them."""
    if text.isascii():
        return False
    words = _WORD.findall(unicodedata.normalize("NFKC", text))
    return any(word != _undisguised(word) for word in words)


def _undisguised(word: str) -> str:
    """The word in Latin letters, if it has some and all others look like some; else as it is."""
    if word.isascii() or not _LATIN.search(word):
        return word
    latin = word.translate(_LOOKALIKES)
    return latin if _PLAIN_LATIN.fullmatch(latin) else word
