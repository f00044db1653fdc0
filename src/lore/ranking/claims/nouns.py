"""Nouns: which words pick out one thing, which describe it, and which are a value."""

import re
from dataclasses import dataclass

from lore.ranking.claims.sentence import DATE_LAST, LOWER
from lore.ranking.claims.values import plain
from lore.ranking.claims.words import (
    ATTRIBUTES,
    GLUE,
    HONORIFICS,
    MANY,
    NOT_SUBJECTS,
    OPENERS,
    REMARKED,
    SET_APART,
    SINGLING,
    TITLE_SMALL,
    VAGUE,
)

LONGEST_SUBJECT = 14
LONGEST_VALUE = 10


def is_subject(text: str, opening: bool) -> bool:
    """Whether these words pick out one thing without help from another sentence."""
    words = text.split()
    if not words or len(words) > LONGEST_SUBJECT:
        return False
    first = words[0].lower().rstrip(",")
    if not opening and len(words) == 2 and first.rstrip(".") in HONORIFICS:
        return False
    if text in {"I", "We", "we"} or _is_title(words):
        return True
    if first in NOT_SUBJECTS or first in OPENERS or not _sound(text):
        return False
    if "," in text and (first != "the" or re.search(r",(?! [A-Z])", text)):
        return False
    return opening or first != "the" or has_name(text)


def _is_title(words: list[str]) -> bool:
    """Capitalised throughout, but for small words: a name or a title, whatever word it begins with."""
    telling = [word for word in words[1:] if word not in TITLE_SMALL]
    return bool(telling) and all(word[0].isupper() or word[0].isdigit() for word in [words[0], *telling])


def _sound(text: str, relative: bool = False) -> bool:
    """No second clause hides in it; a relative one may follow its noun."""
    lower = LOWER.findall(text)
    allowed = {"that", "which", "who", "whom", "whose", "was", "is", "has", "i", "we"} if relative else set()
    return not (set(lower) & (GLUE - allowed)) and not (" and " in text and _joins_plain_words(text))


def _joins_plain_words(text: str) -> bool:
    before, _, after = text.partition(" and ")
    return not (before.split()[-1][0].isupper() and after[:1].isupper())


def has_name(text: str) -> bool:
    """Whether something in it is a name: a capital behind the first word, a digit, an identifier."""
    words = text.split()
    inner = words[1:] if words and words[0] in {"The", "the"} else words
    return any(word[0].isupper() or re.search(r"[\d_./]", word) for word in inner)


def is_name(value: str) -> bool:
    words = value.split()
    head = words[1] if words[0] in {"the", "The"} and len(words) > 1 else words[0]
    return not head[0].islower() or bool(re.search(r"[\d_/.@:-]", head))


_TAIL = re.compile(
    r" (?=(?:for|in|on|at|with|during|by|under|from|to|via|per|as|when|after|before|near|within) )"
)
_BREAK = re.compile(r"(?:,|:| [–—-]+)(?= [a-z]| \")")
_LISTED = re.compile(r"^[\w-]+(?:, [\w-]+)+,? and [\w-]+$")


def split(said: str) -> tuple[str, str]:
    """The value, and what narrows it (`for tests`, `in Berlin`); nothing if another clause follows."""
    text = DATE_LAST.sub("", said)
    if not _LISTED.match(text):
        text = _BREAK.split(text)[0]
    parts = _TAIL.split(text.strip(" \"'“”,"), maxsplit=1)
    value = parts[0].strip(" \"'“”,")
    if not value or len(value.split()) > LONGEST_VALUE or not _sound(value):
        return "", ""
    return value, parts[1] if len(parts) > 1 else ""


_POSSESSIVE = re.compile(r"^((?:[\w.&-]+ ){0,5}[\w.&-]+)'s? ((?:[\w-]+ ){0,4}[\w-]+)$")
_MINE = re.compile(r"^([Mm]y|[Oo]ur) ((?:[\w-]+ ){0,5}[\w-]+)$")
_DEFINITE = re.compile(r"^[Tt]he (.+)$")
_BORDER = re.compile(
    r" (?:of|for|in|on|at|to|from|that|which|where|who|whom|whose|with|between|behind|by|I|I'm|we) "
)


@dataclass(frozen=True, slots=True)
class Description:
    """`the default port of X`: its words, its noun, whether it tells an owner, and whether by name."""

    name: str
    noun: str
    owned: bool
    related: bool = True

    @property
    def singled(self) -> bool:
        return bool(set(self.name.split()) & SINGLING)

    @property
    def set_apart(self) -> bool:
        return bool(set(self.name.split()) & SET_APART)

    @property
    def several(self) -> bool:
        alone = self.singled if self.owned else self.set_apart
        return self.noun in REMARKED or (self.noun in MANY and not alone)

    @property
    def a_property(self) -> bool:
        return self.noun in ATTRIBUTES and (self.noun not in VAGUE or not self.name.startswith(self.noun))


def description(text: str) -> Description | None:
    """A noun phrase that picks out one thing: `the N …`, `X's N`, `my N`."""
    if mine := _MINE.match(text):
        owner = "i" if mine.group(1).lower() == "my" else "we"
        return _owned(mine.group(2), owner)
    if definite := _DEFINITE.match(text):
        words = definite.group(1)
        if possessive := _POSSESSIVE.match(words):
            return _owned(possessive.group(2), possessive.group(1), named=has_name(possessive.group(1)))
        border = _BORDER.search(words)
        noun = words[: border.start()] if border else words
        if len(noun.split()) > 5 or not _sound(words, relative=True):
            return None
        return Description(
            plain(words), plain(noun.split()[-1]), bool(border) and has_name(words), bool(border)
        )
    possessive = _POSSESSIVE.match(text)
    if possessive and is_subject(possessive.group(1), True):
        return _owned(possessive.group(2), possessive.group(1))
    return None


def _owned(noun: str, owner: str, named: bool = True) -> Description:
    return Description(f"{plain(noun)} of {plain(owner)}", plain(noun.split()[-1]), named)
