"""Sentence: where one ends, whether it is a plain statement, and of which time; what a claim is."""

import re
from dataclasses import dataclass

from lore.ranking.claims.values import plain
from lore.ranking.claims.words import ADDING, DOUBTFUL_OPENERS, DOUBTS, PASSING

LONGEST_SENTENCE, LONGEST_LINE = 40, 400
"""In words and in characters: what is longer says several things."""
LONGEST_TEXT = 20_000
LONGEST_SHORTENED = 8
"""Characters of an abbreviation, with its full stop and the character before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One statement: `key` names subject and attribute, `value` what is said of them."""

    key: str
    value: str = ""
    holds: bool = True
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


_BULLET = re.compile(r"^\s*(?:[-*•+>]|\d{1,2}[.)])\s+")
_END = re.compile(r"(?<=[.!?])(?<!\b[A-Z]\.)[\"'”)]*\s+(?=[\"'“(]?[A-Z0-9])")
_SHORTENED = re.compile(
    r"\b(?:Mr|Mrs|Ms|Dr|St|Jr|Sr|Prof|Gen|Col|Lt|Sgt|Rev|vs|Inc|Ltd|Co|Corp|Mt|Ft|Fr|feat)\.$"
)


_YEAR = r"(?:(?:early|late|mid) )?(?:\d{1,2}(?:st|nd|rd|th)? )?(?:[A-Z][a-z]+ )?(?:\d{1,2}, )?[12]\d{3}"
_DATE_FIRST = re.compile(rf"^(?:[Ii]n|[Oo]n|[Dd]uring) ({_YEAR}),? (?=\S)")
DATE_LAST = re.compile(rf"(?<=\S),? (?:in|on|during) ({_YEAR})$")
_SINCE = re.compile(rf",? ?\b(?:[Ss]ince|[Aa]s of|[Ff]rom|[Ss]tarting(?: in)?) {_YEAR}(?: on)?,? ?")
_NOW = re.compile(r"\b(?:now|nowadays|these days|from now on)\b,? ?|^(?:Now|Nowadays|Correction:|Update:),? ")
_STILL = re.compile(
    r"\b(?:currently|still|presently|at present|already|actually)\b,? ?|^(?:Currently|Actually),? "
)
_ASIDE = re.compile(r"\s?\([^()]*\)|\s?\[[^\[\]]*\]")
LOWER = re.compile(r"(?<![\w'’.-])[a-z][a-z'’]*(?![\w-])")
_CONTRACTED = re.compile(r"'(?:ll|d)\b")
_PLANNED = re.compile(r"\b(?:is|are) planned for\b")
_SPEAKER = re.compile(r"^(?:\w+ ){0,2}\w+: \S+ \S")


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
    if words[0].lower() in DOUBTFUL_OPENERS:
        return False
    lower = set(LOWER.findall(_PLANNED.sub("", line)))
    return not (lower & DOUBTS or PASSING.search(line) or ADDING.search(line) or ";" in line)


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


def stated(
    key: str, value: str, tail: str, sentence: Sentence, *, past: bool = False, many: bool = False
) -> Claim:
    """A claim; what narrows its value (`tail`) belongs to the key, for it makes another attribute."""
    where = f" | {plain(tail)}" if tail else ""
    return Claim(
        key=key + where, value=value, many=many, changed=sentence.changed, past=past, when=sentence.when
    )
