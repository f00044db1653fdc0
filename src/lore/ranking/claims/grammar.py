"""Grammar: sentences, whether they are plain statements, and which words are their subjects and values."""

import re
from dataclasses import dataclass

from lore.patterns import regex
from lore.ranking.claims.values import plain
from lore.wordlists import word_lists

LONGEST_SENTENCE, LONGEST_LINE = 40, 400
"""In words and in characters: what is longer says several things."""
LONGEST_TEXT = 20_000
LONGEST_SHORTENED = 8
"""Characters of an abbreviation, with its full stop and the character before it."""
LONGEST_SUBJECT = 14
LONGEST_VALUE = 10
LISTS = word_lists("lore.ranking", "words.txt")
PASSING = regex(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|so far|at the moment|this time|for once|once|twice"
    r"|(?:last|next|this|that|every|each|other|previous|following) (?:\w+ )?(?:night|morning|afternoon"
    r"|evening|day|week|weekend|month|quarter|year|season|spring|summer|autumn|fall|winter|time|sprint"
    r"|[A-Z]\w*day)"
    r"|(?:in|during) the (?:past|meantime|morning|afternoon|evening)|until|till|formerly|previously"
    r"|originally|temporarily|briefly)\b"
)
"""True of a moment or a stretch of time, not until further notice."""

ADDING = regex(
    r"\b(?:also|another|too|as well|one of|among|besides|in addition|additionally|along with|both|either"
    r"|other than|such as|e\.g\.|for example|for instance|part of|including|and more|etc)\b"
)
"""The speaker says that there are further values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One statement: `key` names subject and attribute, `value` what is said of them."""

    key: str
    value: str = ""
    many: bool = False
    """Further values may stand beside this one, unless one says that it replaces them."""
    changed: bool = False
    past: bool = False
    when: str = ""
    part: int = 0
    share: float = 1.0
    """Which sentence of the text this is, and how much of the text."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence without the words that only place it in time."""

    text: str
    opening: bool
    changed: bool
    when: str


_BULLET = regex(r"^\s*(?:[-*•+>]|\d{1,2}[.)])\s+")
_END = regex(r"(?<=[.!?])(?<!\b[A-Z]\.)[\"'”)]*\s+(?=[\"'“(]?[A-Z0-9])")
_SHORTENED = regex(r"\b(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|Prof|Gen|Col|Lt|Sgt|Rev|vs|Inc|Ltd|Co|Corp|Mt|Ft|Fr|feat)\.$")


_YEAR = r"(?:(?:early|late|mid) )?(?:\d{1,2}(?:st|nd|rd|th)? )?(?:[A-Z][a-z]+ )?(?:\d{1,2}, )?[12]\d{3}"
_DATE_FIRST = regex(rf"^(?:[Ii]n|[Oo]n|[Dd]uring) ({_YEAR}),? (?=\S)")
DATE_LAST = regex(rf"(?<=\S),? (?:in|on|during) ({_YEAR})$")
_SINCE = regex(rf",? ?\b(?:[Ss]ince|[Aa]s of|[Ff]rom|[Ss]tarting(?: in)?) {_YEAR}(?: on)?,? ?")
_NOW = regex(r"\b(?:now|nowadays|these days|from now on)\b,? ?|^(?:Now|Nowadays|Correction:|Update:),? ")
_STILL = regex(
    r"\b(?:currently|still|presently|at present|already|actually)\b,? ?|^(?:Currently|Actually),? "
)
_ASIDE = regex(r"\s?\([^()]*\)|\s?\[[^\[\]]*\]")
LOWER = regex(r"(?<![\w'’.-])[a-z][a-z'’]*(?![\w-])")
_CONTRACTED = regex(r"'(?:ll|d)\b")
_PLANNED = regex(r"\b(?:is|are) planned for\b")
_SPEAKER = regex(r"^(?:\w+ ){0,2}\w+: \S+ \S")


def sentences(text: str) -> list[str]:
    """The sentences and lines of a text, without bullets."""
    found: list[str] = []
    for line in text[:LONGEST_TEXT].splitlines():
        open_end: list[str] = []
        for piece in _END.split(_BULLET.sub("", line).strip()):
            open_end.append(piece)
            if not _SHORTENED.search(piece[-LONGEST_SHORTENED:]):
                found.append(" ".join(open_end))
                open_end = []
        found.append(" ".join(open_end))
    return [sentence for sentence in map(str.strip, found) if sentence]


def is_statement(line: str) -> bool:
    """Whether a line is one plain sentence about a subject: no doubt, no quotation, no remark in passing."""
    words = line.split()
    if len(line) > LONGEST_LINE or not 2 <= len(words) <= LONGEST_SENTENCE:
        return False
    if _CONTRACTED.search(line) or _SPEAKER.match(line):
        return False
    if line[0] in "\"'“„«<>#|/{" and line[-1] in "\"'”“»>":
        return False
    if line.count('"') % 2 or line.count("“") != line.count("”"):
        return False
    if words[0].lower() in LISTS["doubtful openers"]:
        return False
    lower = set(LOWER.findall(_PLANNED.sub("", line)))
    return not (lower & LISTS["doubts"] or PASSING.search(line) or ADDING.search(line) or ";" in line)


def placed(line: str, opening: bool) -> Sentence:
    """The sentence without its date, its `now` and its asides; of these only what they tell is kept."""
    when = ""
    for pattern in (_DATE_FIRST, DATE_LAST):
        if match := pattern.search(line):
            when = plain(match.group(1))
            break
    dateless = _DATE_FIRST.sub("", _SINCE.sub(" ", line))
    changed = bool(_NOW.search(dateless))
    text = _ASIDE.sub("", _STILL.sub("", _NOW.sub("", dateless))).strip(" ,")
    return Sentence(" ".join(text.split()), opening, changed or line.endswith("instead"), when)


def new_claim(key: str, value: str, tail: str, sentence: Sentence) -> Claim:
    """A claim; what narrows its value (`tail`) belongs to the key, for it makes another attribute."""
    where = f" | {plain(tail)}" if tail else ""
    return Claim(key=key + where, value=value, changed=sentence.changed, when=sentence.when)


def is_subject(text: str, opening: bool) -> bool:
    """Whether these words pick out one thing without help from another sentence."""
    words = text.split()
    if not words or len(words) > LONGEST_SUBJECT:
        return False
    first = words[0].lower().rstrip(",")
    if not opening and len(words) == 2 and first.rstrip(".") in LISTS["honorifics"]:
        return False
    if text in {"I", "We", "we"} or _is_title(words):
        return True
    if first in LISTS["not subjects"] or first in LISTS["openers"] or not _sound(text):
        return False
    if "," in text and (first != "the" or re.search(r",(?! [A-Z])", text)):
        return False
    return opening or first != "the" or has_name(text)


def _is_title(words: list[str]) -> bool:
    """Capitalised throughout, but for small words: a name or a title, whatever word it begins with."""
    telling = [word for word in words[1:] if word not in LISTS["small in titles"]]
    return bool(telling) and all(word[0].isupper() or word[0].isdigit() for word in [words[0], *telling])


def _sound(text: str, relative: bool = False) -> bool:
    """No second clause hides in it; a relative one may follow its noun."""
    lower = LOWER.findall(text)
    allowed = {"that", "which", "who", "whom", "whose", "was", "is", "has", "i", "we"} if relative else set()
    return not (set(lower) & (LISTS["clause words"] - allowed)) and not (
        " and " in text and _joins_plain_words(text)
    )


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


_TAIL = regex(r" (?=(?:for|in|on|at|with|during|by|under|from|to|via|per|as|when|after|before|near|within) )")
_BREAK = regex(r"(?:,|:| [–—-]+)(?= [a-z]| \")")
_LISTED = regex(r"^[\w-]+(?:, [\w-]+)+,? and [\w-]+$")


def split(predicate: str) -> tuple[str, str]:
    """The value, and what narrows it (`for tests`, `in Berlin`); nothing if another clause follows."""
    text = DATE_LAST.sub("", predicate)
    if not _LISTED.match(text):
        text = _BREAK.split(text)[0]
    parts = _TAIL.split(text.strip(" \"'“”,"), maxsplit=1)
    value = parts[0].strip(" \"'“”,")
    if not value or len(value.split()) > LONGEST_VALUE or not _sound(value):
        return "", ""
    return value, parts[1] if len(parts) > 1 else ""


_POSSESSIVE = regex(r"^((?:[\w.&-]+ ){0,5}[\w.&-]+)'s? ((?:[\w-]+ ){0,4}[\w-]+)$")
_MINE = regex(r"^([Mm]y|[Oo]ur) ((?:[\w-]+ ){0,5}[\w-]+)$")
_DEFINITE = regex(r"^[Tt]he (.+)$")
_BORDER = regex(
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
        return bool(set(self.name.split()) & LISTS["singling"])

    @property
    def set_apart(self) -> bool:
        return bool(set(self.name.split()) & LISTS["set apart"])

    @property
    def several(self) -> bool:
        alone = self.singled if self.owned else self.set_apart
        return self.noun in LISTS["remark nouns"] or (self.noun in LISTS["many"] and not alone)

    @property
    def a_property(self) -> bool:
        vague = self.noun in LISTS["vague attributes"] and self.name.startswith(self.noun)
        return self.noun in LISTS["attributes"] and not vague


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
