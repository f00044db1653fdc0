"""Statement: the content words of a short text, whether it is negative, and the things it says are over."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from lore.patterns import regex
from lore.text import STOP_WORDS
from lore.wordlists import word_lists

LONGEST = 400
"""Characters. A longer text says several things; it is not read as one statement."""

CACHED = 2_048
"""Texts that are read once: a search compares each of its hits with the others."""
_TOKEN = regex(r"[$€£]?[^\W_](?:[\w.,:/'’+#@-]*[\w+#%])?%?|[,;]")
_OPENING = regex(
    r"^(?:(?:small |quick )?(?:corrections?|update|edit|fix|erratum|change of plans?|news|heads[- ]up)"
    r"\b[^:,.]{0,40}[:,.]|no[,:;.]"
    r"|(?:actually|scratch that|my mistake|wait|(?:it )?turns out(?: that)?)\b[,:.;]?"
    r"|(?:sorry|oops|no|i misspoke|i was wrong)\b[^:]{0,40}[:,])\s*",
    re.IGNORECASE,
)
_NOW = regex(
    r"\b(?:any ?more|any longer|from now on|now|nowadays|these days|at present|currently"
    r"|as of (?:now|today|this week|the \w+|\w+)"
    r"|since (?:today|yesterday|this week|last \w+|the(?: \w+){2,3}(?=\.?$)|the \w+)"
    r"|(?:starting|effective|beginning) (?:\w+)|recently"
    r"|last (?:week|month|year)|this (?:week|month|year)|yesterday|today|meanwhile|already|finally)\b",
    re.IGNORECASE,
)
_SPAN = r"((?:(?!\b(?:and|but|so|to|in favou?r)\b)[^,;])*)"
_ENDED = (
    r"instead of|rather than|in place of|no longer|used to|[Dd]o not|does not|[Dd]on't|doesn't|did away with"
    r"|no more|sold|scrapped|cancell?ed|gets? rid of|got rid of|ha(?:s|ve) left|left(?= [A-Z])|g[ia]ves? up"
    r"|(?:stop|drop)(?:s|ped)?|quit|(?:abandon|ditch)(?:s|es|ed)?"
    r"|(?:cease|remove|retire|discontinue|deprecate)[sd]?"
)
_GONE = (
    r"gone|history|out|shut down|cancell?ed|called off|deleted"
    r"|(?:dropp|remov|renam|retir|replac|abandon|discontinu|deprecat|decommission)ed"
)
_OVER = (
    regex(rf"\b(?:{_ENDED}) {_SPAN}"),
    regex(rf",? not {_SPAN}"),
    regex(r"\breplace[sd]? (?!by\b|with\b)([^,;]{1,60}?)(?= (?:with|by|as)\b|[,;]|$)"),
    regex(rf"\b(?:takes?|took) over .* from {_SPAN}"),
    regex(rf"(?:^|[,;] ?)([^,;]{{1,60}}?) (?:is|are|was|were|has been|have been) (?:{_GONE})\b"),
)
_FROM = regex(rf"\bfrom {_SPAN} to\b")
_EVENT = regex(r"(?<!\bthe)(?<!\bThe)(?<!\ba)(?<!\bnot) [a-z]{3,}ed\b|^[A-Z][a-z]{2,}ed\b")
_PASSIVE = regex(r"\b(?:is|are|am|be|been|gets?)(?: [a-z]+)? [a-z]+ed\b")
_PERIOD = regex(
    r"\b(?:yesterday|today|tomorrow|(?:last|this|next) (?:night|week|month|quarter|year|sprint))\b",
    re.IGNORECASE,
)
_LISTS = word_lists("lore.ranking", "words.txt")
_NUMBERS = _LISTS["number words"]
_UNIT = "second|minute|hour|day|week|month|year"
_REWORDED = (
    (regex(r"\bswap(?:s|ped)? ([^,;]{1,60}?) for\b"), r"replaced \1 with"),
    (regex(r"\b(?:went|goes|gone|go) (?:up|down)\b"), "changed"),
    (regex(r"\b(?:[Tt]urn(?:s|ed|ing)?|(?<=is |en )switched) on\b"), "enabled"),
    (regex(r"\b(?:[Tt]urn|[Ss]witch)(?:s|es|ed|ing)? off\b"), "disabled"),
    (
        regex(r"(?<!the )(?<!The )(?<!our )(?<!Our )\b(?:every |each )?(hour|week|month|year)ly\b"),
        r"every 1 \1",
    ),
    (regex(r"(?<!the )(?<!The )(?<!our )(?<!Our )\bdaily\b"), "every 1 day"),
    (regex(r"\bquarterly\b"), "every 3 month"),
    (regex(r"\bevery night\b"), "every 1 day"),
    (regex(rf"\b(for|after|within|in|every|each|takes?|lasts?) (?:an? )?({_UNIT})\b"), r"\1 1 \2"),
    (regex(r"\b(?:is|are) (?:up|down) to\b"), "changed to"),
    (regex(r"\bonly (?=\d)"), ""),
    (regex(r"(?<=\d) years old\b"), ""),
    (regex(r"\b(is|are|was|were)n't\b"), r"\1 not"),
    (regex(r"\bnoon\b"), "12 pm"),
    (regex(r"\bmidnight\b"), "12 am"),
)
_WAYS = frozenset({"up", "down", "back", "over"})
_NOT = _LISTS["negations"]
_PREPOSITIONS = _LISTS["prepositions"]
_BEFORE = _PREPOSITIONS | {"every", "each"}
"""Words that tell in which relation the next one stands."""
_IGNORED = (
    _NOT
    | _LISTS["ignored"]
    | (STOP_WORDS - _PREPOSITIONS - {"own", "other", "all", "one", "only", "off", "up", "more", "most"})
)
"""Words by which two statements about the same thing may differ."""
CHANGING = _LISTS["changing"]
"""Verbs that tell a change, in their past form: `raised to`, but not `raise`."""
_OPPOSITES = """
    on enabl activ activat | off disabl inactiv deactivat
    allow permit | forbid forbidden prohibit ban
    requir mandatori | optional
    availabl | unavailabl
    open | clos
    public | privat
    true | fals
    work | broken
    support | unsupport
    includ | exclud
"""
STATES = {
    stem: (line.split()[0], negative)
    for line in _OPPOSITES.strip().splitlines()
    for negative, stems in enumerate(line.split(" | "))
    for stem in stems.split()
}
"""Stem -> the state that it names, and 1 if it is the opposite of that state."""
SPEAKERS = frozenset({"i", "we", "you"})
_CLEAR = frozenset({"their", "his", "her", "its", "you", "your", "me", "us"})
"""Pronouns that do not point outside: an owner whom the statement names itself, the user and the agent."""


class Relation(StrEnum):
    """How a newer statement stands to an older one.

    UPDATE: both cannot be true now. LIKELY_UPDATE: the newer is what most people would ask for.
    """

    SAME = "same"
    UPDATE = "update"
    LIKELY_UPDATE = "likely update"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Token:
    """A telling word at its place among all words. before: the preposition in front of it, or `every`."""

    stem: str
    raw: str
    before: str
    at: int

    @property
    def numeric(self) -> bool:
        return self.raw[0].isdigit() or self.raw[0] in "$€£" or self.raw.lower() in _NUMBERS

    @property
    def changes(self) -> bool:
        return self.raw.lower() in CHANGING

    @property
    def named(self) -> bool:
        return self.raw[0].isupper() and self.at > 0

    @property
    def plain(self) -> bool:
        return not (self.numeric or self.named)


@dataclass(frozen=True, slots=True)
class Statement:
    """words: all of them in lower case. tokens: the content words except verbs of change.

    over: stems of the things it says are over. corrects: it opens as a correction. changes: its verb tells a
    change ("was raised to"). current: it says that it holds now. period: the day, week or year that it names
    by its distance ("last week"). past: it tells of a past state or event.
    """

    text: str
    words: tuple[str, ...]
    tokens: tuple[Token, ...]
    stems: frozenset[str]
    over: frozenset[str]
    negative: bool
    corrects: bool
    changes: bool
    current: bool
    period: str
    past: bool

    @property
    def clear(self) -> bool:
        """Whether it needs no other sentence to tell what it is about."""
        return _LISTS["pointing"].isdisjoint(set(self.words) - _CLEAR)


@dataclass(frozen=True, slots=True)
class Wording:
    """A short text in one line. body: without the opening of a correction. plain: the body without words for
    the present, and with common turns of phrase reworded. words: all of `plain`, in lower case.
    """

    line: str
    body: str
    plain: str
    words: tuple[str, ...]

    @property
    def corrects(self) -> bool:
        return self.body != self.line

    @property
    def text(self) -> str:
        return self.line.rstrip(" .!;")


@lru_cache(maxsize=CACHED)
def wording(text: str) -> Wording | None:
    """The words of a short text; None for a question, and for a text that is too long to be one statement."""
    line = " ".join(text.replace("’", "'").replace("**", "").replace("`", "").split())
    if not line or len(line) > LONGEST or line.endswith("?"):
        return None
    body = _OPENING.sub("", line)
    plain = _NOW.sub("", body).strip(" ,.!;")
    for pattern, words_instead in _REWORDED:
        plain = pattern.sub(words_instead, plain)
    return Wording(line, body, plain, tuple(word.lower() for word in _TOKEN.findall(plain)))


@lru_cache(maxsize=CACHED)
def statement(text: str) -> Statement | None:
    """Read a short text; None where `wording` gives none. This takes several times as long as the wording."""
    if (read := wording(text)) is None:
        return None
    words = _TOKEN.findall(read.plain)
    tokens, opposites = _tokens(words)
    negations = sum(word in _NOT or "n't" in word for word in read.words)
    telling = tuple(token for token in tokens if not token.changes)
    changes = len(telling) < len(tokens)
    return Statement(
        text=read.text,
        words=read.words,
        tokens=telling,
        stems=frozenset(token.stem for token in telling),
        over=frozenset(_over(read.plain, changes)),
        negative=(negations + opposites) % 2 == 1,
        corrects=read.corrects,
        changes=changes,
        current=_NOW.search(read.body) is not None or "new" in words,
        period=period[0].lower() if (period := _PERIOD.search(read.body)) else "",
        past=not _LISTS["past verbs"].isdisjoint(read.words)
        or _EVENT.search(_PASSIVE.sub("", read.plain)) is not None,
    )


def _tokens(words: Sequence[str]) -> tuple[list[Token], int]:
    """The telling words, and how many of them are the negative one of two opposite states."""
    found: list[Token] = []
    opposites, before, changing = 0, "", False
    for at, word in enumerate(words):
        low = word.lower()
        if low in _BEFORE and not (low == "on" and at + 1 == len(words)):
            before = low
        elif not (
            low in _IGNORED or low in _NOT or "n't" in low or word in ",;" or (changing and low in _WAYS)
        ):
            stem = stem_of(low)
            state, opposite = STATES.get(stem, (stem, 0))
            opposites += opposite
            found.append(Token(state, word, before, at))
            before, changing = "", found[-1].changes
    return found, opposites


def _over(text: str, changes: bool) -> set[str]:
    """Stems of what the text says is over; `from A to B` only beside a verb of change."""
    patterns = (*_OVER, _FROM) if changes else _OVER
    spans = [match.group(1) for pattern in patterns for match in pattern.finditer(text)]
    tokens = [token for span in spans for token in _tokens(_TOKEN.findall(span))[0]]
    return {token.stem for token in tokens if not token.changes}


@lru_cache(maxsize=8_192)
def stem_of(word: str) -> str:
    """A word without the ending of its form: stores, stored and storing are one."""
    word = word.removesuffix("'s").removesuffix("'")
    if len(word) < 4 or any(map(str.isdigit, word)):
        return word
    for ending in ("ing", "ies", "ied", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith(("ss", "us", "is")):
            word = word.removesuffix(ending) + ("y" if ending in {"ies", "ied"} else "")
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    if word.endswith("y"):
        word = word[:-1] + "i"
    return word.removesuffix("e")


def content_words(words: Iterable[str]) -> frozenset[str]:
    """The stems of these words."""
    return frozenset(map(stem_of, words))


def without(tokens: Sequence[Token], others: Sequence[Token]) -> list[Token]:
    """The words that the others have not."""
    left = Counter(token.stem for token in others)
    found = []
    for token in tokens:
        if left[token.stem]:
            left[token.stem] -= 1
        else:
            found.append(token)
    return found
