"""Entities: the names in a text, without a model: code, files, packages, products, people, hosts."""

import re
from collections.abc import Iterable, Set

from lore.patterns import regex
from lore.text import STOP_WORDS, words
from lore.wordlists import word_lists

MOST = 8
LONGEST = 60
LONGEST_TEXT = 8_000
REPEATED_NAME, LEAST_LETTERS = 1.5, 4

_WORD = regex(r"[\w-]+")
_URL = regex(r"https?://(?:www\.)?([\w.-]+\.[a-z]{2,})\S*", re.IGNORECASE)
_FLAG = regex(r"(?<!\S)--?[a-zA-Z][\w-]*")
_PACKAGE = regex(
    r"\b(?:pip3?|uv|npm|pnpm|yarn|bun|cargo|poetry|brew|gem)\s+(?:add|install|i)\s+([@a-z][\w/-]{2,})"
)
_SEVERAL = regex(r"(?<=[\w,;:)] )([A-Z][\w'’-]{0,40}[a-z](?: [A-Z][\w'’-]{0,40}[a-z])+)")
_SHAPES: tuple[tuple[float, re.Pattern[str]], ...] = (
    (3.0, regex(r"`([^`\s]{2,60})`")),
    (3.0, regex(r"(?<![\w/.:@-])((?:~|\.{1,2})?/?(?:[\w.@-]+/)+[\w.@-]*\w)")),
    (2.5, regex(r"(?<![\w.@/-])([\w-]+\.(?:[a-z]{1,4}\d?|toml|yaml|json|lock|conf))(?![\w/.(])")),
    (2.5, regex(r"(?<![\w.])([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\(\))")),
    (2.0, regex(r"(?<![\w.])([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?![\w(])")),
    (2.0, regex(r"\b([a-zA-Z]\w*_\w+)\b")),
    (2.0, regex(r"\b([a-z]+[A-Z]\w*|[A-Z]+[a-z0-9]+[A-Z]\w*)\b")),
    (2.0, _PACKAGE),
    (1.5, regex(r"[\"“«]([^\"“”«»\n]{3,40})[\"”»]")),
    (1.5, regex(r"\b([A-Z]{2}[A-Z0-9]*(?:-\d+)?)\b")),
    (1.5, _SEVERAL),
)
_SINGLE = regex(r"(?<=[\w,;:)] )([A-Z][a-z][\w-]+)")
_LIKE_A_FLAG = regex(r"^[-\W\d]+$|^--?\w")
_COMMON = word_lists("lore.distil", "words.txt")["common"]
_GERMAN = word_lists("lore.distil", "words.txt")["german"]


def entities_of(text: str, names: Set[str] = frozenset(), most: int = MOST) -> tuple[str, ...]:
    """The names in a text, each once, the most telling first; at equal weight in their order.

    names: words that are names elsewhere in the conversation, and so here, however they are written.
    """
    weights: dict[str, float] = {}
    spelled: dict[str, str] = {}
    text = text[:LONGEST_TEXT]
    again = ((word, REPEATED_NAME) for word in _WORD.findall(text) if word.lower() in names)
    for name, weight in (*_named(text), *again):
        key = name.lower()
        spelled.setdefault(key, name)
        weights[key] = weights.get(key, 0.0) + weight
    whole = [name for name in weights if not any(name != other and name in other for other in weights)]
    ranked = sorted(whole, key=lambda name: -weights[name])
    return tuple(spelled[name] for name in ranked[:most])


def plain_names(texts: Iterable[str]) -> frozenset[str]:
    """Names that are one word, in lower case: who puts a word in code marks once may leave them out later."""
    found = (name.lower() for text in texts for name in entities_of(text))
    return frozenset(name for name in found if len(name) >= LEAST_LETTERS and _WORD.fullmatch(name))


def shared_rare(groups: Iterable[Iterable[str]], most_groups: int) -> dict[str, list[int]]:
    """Which names occur in at least two groups and in at most `most_groups`: name -> those groups."""
    places: dict[str, list[int]] = {}
    for at, names in enumerate(groups):
        for name in dict.fromkeys(name.lower() for name in names):
            places.setdefault(name, []).append(at)
    return {name: at for name, at in places.items() if 2 <= len(at) <= most_groups}


def _named(text: str) -> Iterable[tuple[str, float]]:
    for host in _URL.findall(text):
        yield host.lower(), 2.0
    text = _FLAG.sub(" ", _URL.sub(" ", text))
    for weight, shape in _SHAPES:
        for name in shape.findall(text):
            if _tells(name):
                yield name.strip(" ,:;").rstrip("."), weight
    if not _is_german(text):  # German writes every noun with a capital letter
        for name in _SINGLE.findall(text):
            if _tells(name):
                yield name, 1.0


def _tells(name: str) -> bool:
    key = name.strip(" .,:;").lower()
    if not 2 <= len(key) <= LONGEST or key in _COMMON or _LIKE_A_FLAG.match(key):
        return False
    return any(word not in STOP_WORDS for word in words(key))


def _is_german(text: str) -> bool:
    all_words = words(text)
    return sum(word in _GERMAN for word in all_words) * 10 > len(all_words)
