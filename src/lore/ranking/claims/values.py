"""Values: one spelling for what is the same, and whether two values can both be right."""

import re
import unicodedata
from collections import Counter

from lore.patterns import regex
from lore.wordlists import word_lists

_LISTS = word_lists("lore.ranking", "words.txt")
ARTICLES = _LISTS["articles"]
_PLACES = (
    ("country", _LISTS["countries"]),
    ("continent", _LISTS["continents"]),
    ("state", _LISTS["states"]),
)
_TOKEN = regex(r"[^\W_]+")
_AMOUNT = regex(r"(\d+(?:\.\d+)?) ?([a-zµ]+)")
_ARTICLE = regex(rf"(?<!\S)[\"'(]?(?:{'|'.join(sorted(ARTICLES))})(?=\s)")
_SMALL_WORDS = {"and", "or", "of", "about", "around", "roughly", "approximately", "exactly", "just"}
_SAME_PLACE = {
    "united states of america": "usa", "united states": "usa", "us": "usa", "u s": "usa", "u s a": "usa",
    "united kingdom": "uk", "great britain": "uk", "britain": "uk",
}  # fmt: skip
_NUMBERS = {
    word: str(number)
    for number, word in enumerate(
        """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
        sixteen seventeen eighteen nineteen twenty""".split()
    )
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "ninety": "90", "hundred": "100"}
_SPELLINGS = {
    "favourite": "favorite", "colour": "color", "licence": "license", "centre": "center",
    "theatre": "theater", "organisation": "organization", "neighbour": "neighbor",
    "programme": "program", "grey": "gray",
}  # fmt: skip
_UNITS: dict[str, tuple[str, float]] = {
    name: (kind, factor)
    for kind, factor, names in (
        ("time", 0.001, "ms millisecond milliseconds"),
        ("time", 1, "s sec secs second seconds"),
        ("time", 60, "min mins minute minutes"),
        ("time", 3_600, "h hr hrs hour hours"),
        ("time", 86_400, "d day days"),
        ("time", 604_800, "week weeks"),
        ("time", 2_592_000, "month months"),
        ("time", 31_536_000, "year years"),
        ("bytes", 1, "b byte bytes"),
        ("bytes", 1e3, "kb kib"),
        ("bytes", 1e6, "mb mib"),
        ("bytes", 1e9, "gb gib"),
        ("bytes", 1e12, "tb tib"),
        ("length", 0.001, "mm"),
        ("length", 0.01, "cm"),
        ("length", 1, "m metre metres meter meters"),
        ("length", 1_000, "km"),
        ("mass", 0.001, "g"),
        ("mass", 1, "kg"),
    )
    for name in names.split()
}
ROUNDING = 0.05
"""Amounts this near are the same: 1 GB is 1000 or 1024 MB."""


def plain(text: str) -> str:
    """Without case, accents, articles and punctuation; one spelling of a word."""
    return " ".join(_tokens(text))


def _tokens(text: str) -> list[str]:
    bare = text.replace("’", "'").casefold()
    if not bare.isascii():
        parted = unicodedata.normalize("NFKD", bare)
        bare = "".join(character for character in parted if not unicodedata.combining(character))
    words = _TOKEN.findall(_ARTICLE.sub("", bare.replace("'s ", " ")).replace("'", ""))
    return [_SPELLINGS.get(word, word) for word in words]


def agree(one: str, other: str) -> bool:
    """Whether two values say the same, or one only says it more exactly."""
    ours, theirs = _telling(one), _telling(other)
    if Counter(ours) == Counter(theirs):
        return True
    if (mine := amount_of(one)) and (other_amount := amount_of(other)) and mine[0] == other_amount[0]:
        return abs(mine[1] - other_amount[1]) <= ROUNDING * max(mine[1], other_amount[1])
    shorter, longer = sorted((ours, theirs), key=len)
    if len(shorter) == len(longer):
        return _shortened(ours, theirs)
    return _within(shorter, longer) or _initials(one, other) or _initials(other, one)


def _telling(value: str) -> list[str]:
    tokens = _SAME_PLACE.get(plain(value), plain(value)).split()
    return [_NUMBERS.get(word, word) for word in tokens if word not in _SMALL_WORDS] or tokens


def _within(shorter: list[str], longer: list[str]) -> bool:
    """Every word of one is in the other, in order: the longer one only adds."""
    rest = iter(longer)
    return all(any(_same(word, candidate) for candidate in rest) for word in shorter)


def _same(word: str, candidate: str) -> bool:
    return word == candidate or (len(word) > 3 and word.rstrip("s") == candidate.rstrip("s"))


def _shortened(ours: list[str], theirs: list[str]) -> bool:
    """J. Austen is Jane Austen: initials stand for names if the rest is the same."""
    pairs = list(zip(ours, theirs, strict=True))
    same = [_same(word, other) for word, other in pairs]
    initial = [
        min(map(len, pair)) == 1 and pair[0][0] == pair[1][0] and pair[0][0].isalpha() for pair in pairs
    ]
    return all(same) or (any(same) and all(a or b for a, b in zip(same, initial, strict=True)))


def _initials(short: str, long: str) -> bool:
    """NYC is New York City; USA is United States of America."""
    letters = "".join(_tokens(short))
    words = _tokens(long)
    if not 2 <= len(letters) < sum(map(len, words)) or len(words) < 2 or not letters.isalpha():
        return False
    return letters in {"".join(word[0] for word in kept) for kept in (words, _telling(long))}


def amount_of(value: str) -> tuple[str, float] | None:
    """The kind of measure and its amount in base units, if the value is nothing but an amount."""
    tokens = value.lower().replace(",", "").split()
    text = " ".join(_NUMBERS.get(token, token) for token in tokens if token not in _SMALL_WORDS)
    match = _AMOUNT.fullmatch(text.rstrip(".!"))
    if not match or match.group(2) not in _UNITS:
        return None
    kind, factor = _UNITS[match.group(2)]
    return kind, float(match.group(1)) * factor


_MONTH = "january|february|march|april|may|june|july|august|september|october|november|december"
_KINDS = (
    ("hour", regex(r"(?:\d{1,2}:\d\d|\d{1,2} ?[ap]\.?m\b|noon\b|midnight\b)", re.IGNORECASE)),
    ("day", regex(r"(?:mon|tues|wednes|thurs|fri|satur|sun)day", re.IGNORECASE)),
    (
        "date",
        regex(
            rf"(?:the )?(?:\d{{1,2}}(?:st|nd|rd|th)? )?(?:of )?(?:{_MONTH})\b|[12]\d{{3}}\b", re.IGNORECASE
        ),
    ),
    ("number", regex(r"[$€£~]?\d")),
)
_NUMBERED = regex(r"([a-z]+) #?v?\d[\w.]*$")
_IDENTIFIER = regex(r"(?:true|false|on|off|null|none|enabled|disabled)$|\S*[\d_/.@\"'-]")
TIMES = frozenset({"hour", "day", "date"})


def kind_of(value: str) -> str:
    """The kind of a value: values of different kinds answer different questions."""
    for kind, pattern in _KINDS:
        if pattern.match(value):
            return kind
    if numbered := _NUMBERED.match(value):
        return numbered.group(1)
    name = plain(value)
    for kind, names in _PLACES:
        if name in names:
            return kind
    return "" if value[:1].isupper() or _IDENTIFIER.match(value) else "word"
