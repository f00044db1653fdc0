"""Names: what a text is about, and which known names stand in it. No model, no list of names.

A name is any run of words by which a memory is introduced: its title, or the subject of its first sentence.
Where else that name stands is found when it is asked for, so what was said before a name was known is tied
to it as well.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import NamedTuple

from lore.grams import split, unspaced
from lore.patterns import regex
from lore.text import STOP_WORDS

LONGEST = 10
"""Words of a name."""
MOST_SUBJECTS = 8
MOST_WORDS = 400
"""Of a text that are looked through."""
BEFORE, BEHIND = 5, 2
"""How many words around a name tell what it has to do with the rest."""
STEM = 5
"""So many letters of a word stand for all its forms: director and directed, founder and founded."""

ARTICLES = frozenset({"the", "a", "an"})
WITHIN = frozenset("a al and bin da de del der di du for ibn in la le of on s the to van von".split())
"""Small words that may stand within a name."""
VERBS = frozenset(
    "is are was were be has have had will would can could may might must shall should do does did".split()
)
"""What ends the subject of a sentence."""

_WORD = regex(r"[^\W_]+")
_LABEL = regex(r"\A[^\W\d_][\w.'’ -]{0,40}: ")
_ASIDE = regex(r"\([^()]*\)\s*\Z")
_VERB = regex(rf"(?<![^\W_])(?:{'|'.join(sorted(VERBS))})(?![^\W_])", re.IGNORECASE)
_OPENING_ENDS = regex(r"[(\n]|(?<=[^\W\d_]{3}[.!?])\s")
"""What ends the first sentence, or interrupts it; an abbreviation such as St. does not."""


class Word(NamedTuple):
    """A word as it is compared, and whether it was written as names are."""

    text: str
    capital: bool


@dataclass(frozen=True, slots=True)
class Mention:
    """A known name in a text. around: the stems of the telling words beside it."""

    name: str
    words: int
    capital: bool
    around: frozenset[str]


def words_of(text: str) -> list[Word]:
    """In order, without case and accents."""
    return list(islice(_words(text), MOST_WORDS))


def _words(text: str) -> Iterator[Word]:
    for found in _WORD.finditer(text):
        token = found[0]
        yield Word(_folded(token), not token[0].islower())


def forms(text: str) -> frozenset[str]:
    """All words of a text, however long it is, without case and accents; grams where it has no spaces."""
    if unspaced(text):
        return frozenset(split(text))
    if text.isascii():
        return frozenset(_WORD.findall(text.lower()))
    return frozenset(map(_folded, _WORD.findall(text)))


def subjects(title: str, content: str) -> list[str]:
    """What a memory is about, by name; often nothing. Who speaks is not what it is about."""
    line, _, rest = content.strip().partition("\n")
    heading = _of_heading(line) if rest else []
    sentence = _of_sentence(_LABEL.sub("", rest.strip() if heading else content.strip(), count=1))
    return list(dict.fromkeys([*_of_heading(title), *heading, *sentence]))[:MOST_SUBJECTS]


def stems(words: Iterable[str]) -> frozenset[str]:
    """What stays of telling words in all their forms."""
    return frozenset(word[:STEM] for word in words if word not in STOP_WORDS)


def candidates(words: Sequence[Word]) -> set[str]:
    """Every run of words that could be a name; which of them are, only a store can tell."""
    return {name for _, _, name in _runs(words)}


def mentions(words: Sequence[Word], names: Collection[str]) -> list[Mention]:
    """The given names in a text, in order. Of those that overlap the first, and then the longest, counts."""
    ends: dict[int, tuple[int, str]] = {}
    for begin, end, name in _runs(words):
        if name in names and end > ends.get(begin, (0, ""))[0]:
            ends[begin] = (end, name)
    found: list[Mention] = []
    free = 0
    for begin in sorted(ends):
        if begin >= free:
            free, name = ends[begin]
            beside = [*words[max(0, begin - BEFORE) : begin], *words[free : free + BEHIND]]
            capital = any(word.capital for word in words[begin:free])
            around = stems(word.text for word in beside)
            found.append(Mention(name, free - begin, capital, around))
    return found


def without(words: Sequence[Word], names: Collection[str]) -> list[str]:
    """The words that do not belong to one of these names."""
    inside: set[int] = set()
    for begin, end, name in _runs(words):
        if name in names:
            inside.update(range(begin, end))
    return [word.text for at, word in enumerate(words) if at not in inside]


def _runs(words: Sequence[Word]) -> Iterator[tuple[int, int, str]]:
    """Where each run begins and ends, and what it is called. None begins or ends with a small word."""
    bounds = [_bounds(word) for word in words]
    for begin, first in enumerate(words):
        if first.text in ARTICLES or not bounds[begin]:
            continue
        name = first.text
        if _alone(name):
            yield begin, begin + 1, name
        for end in range(begin + 1, min(len(words), begin + LONGEST)):
            name += f" {words[end].text}"
            if bounds[end]:
                yield begin, end + 1, name


def _bounds(word: Word) -> bool:
    return word.capital or word.text not in STOP_WORDS


def _alone(word: str) -> bool:
    """Whether this word may be a whole name."""
    return len(word) > 1 and word not in STOP_WORDS and not word.isdigit()


def _of_heading(heading: str) -> list[str]:
    """Of a title: as it is, without an aside in parentheses, and without what follows a comma."""
    if heading.rstrip().endswith((".", "!", "?", ":", "…")):
        return []
    bare = _ASIDE.sub("", heading).rstrip()
    parts = dict.fromkeys((heading, bare, bare.partition(",")[0]))
    return [name for part in parts if (name := _name(words_of(part)))]


def _of_sentence(text: str) -> list[str]:
    """The names before the verb, and all that stands there if it is short; else the name it begins with,
    which has several words: any word begins with a capital there."""
    first = _WORD.search(text)
    if not first:
        return []
    verb = _VERB.search(text, first.end())
    end = _OPENING_ENDS.search(text, 0, verb.start() if verb else len(text))
    if not verb or end:
        run = [] if first[0][0].islower() else next(_capitalised(_words(text[: end and end.start()])), [])
        return [name] if len(run) > 1 and (name := _name(run)) else []
    before = words_of(text[: verb.start()])
    begin = next((at for at, word in enumerate(before) if word.text not in STOP_WORDS), 0)
    return [name for part in (before, *_capitalised(before[begin:])) if (name := _name(part))]


def _capitalised(words: Iterable[Word]) -> Iterator[list[Word]]:
    """Runs of capitalised words, with small ones within; where two are joined by `and`, each of them too."""
    run: list[Word] = []
    small: list[Word] = []
    for word in chain(words, [Word("", False)]):
        if word.capital:
            run += [*small, word] if run else [word]
            small = []
        elif run and word.text in WITHIN and len(small) < 2:
            small.append(word)
        elif run:
            yield run
            yield from _joined(run)
            run, small = [], []


def _joined(run: Sequence[Word]) -> Iterator[list[Word]]:
    places = [at for at, word in enumerate(run) if word.text == "and"]
    if places:
        for begin, end in zip([0, *(at + 1 for at in places)], [*places, len(run)], strict=True):
            yield list(run[begin:end])


def _name(words: Sequence[Word]) -> str:
    """As it is kept: without an article; empty if it is none."""
    begin = next((at for at, word in enumerate(words) if word.text not in ARTICLES), len(words))
    rest = words[begin:]
    if not 0 < len(rest) <= LONGEST or (len(rest) == 1 and not _alone(rest[0].text)):
        return ""
    return " ".join(word.text for word in rest) if _bounds(rest[0]) and _bounds(rest[-1]) else ""


def _folded(token: str) -> str:
    lower = token.lower()
    if lower.isascii():
        return lower
    parts = unicodedata.normalize("NFKD", lower)
    return "".join(part for part in parts if not unicodedata.combining(part))
