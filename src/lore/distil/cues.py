"""Cues: which sentences of a user last beyond the conversation, and what kind of statement each is.

Few wordings are sure enough to be kept without a language model (docs/decisions/0015).
"""

import re
from dataclasses import dataclass

from lore.distil import requests, wording
from lore.distil.base import Importance, Type
from lore.text import STOP_WORDS, words

FEWEST_WORDS, MOST_WORDS = 4, 40
FEWEST_TELLING = 2
"""Content words besides those of the wording itself, before any `it` or `them`."""
_JOINING = re.compile(
    r"^(?:(?:then|so|and|but|also|ok|okay|yes|well|however|plus|again|similarly|additionally"
    r"|for example)\b[,:.]?\s+)+(?=\w)",
    re.IGNORECASE,
)
"""Words that tie a statement to the one before, and are nothing by themselves."""
_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|«[^»]*»|„[^“”]*[“”]|(?<!\w)['‘][^'‘’]{3,}['’](?!\w)")
_EMPTY = frozenset(
    """always never rule time next future please sure make use using prefer like love want need avoid thing
    things stuff something anything everything whenever unless must should may really also note remember
    again way kind lot bit one ones don't dont doesn't i'm i'd we're let ever going forward every
    each""".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """said: the sentence without the words that only led to it."""

    type: Type
    said: str
    importance: Importance = "medium"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A sentence with this pattern is of this type. momentary: words of the day do not refute it.

    opposing: only after a contradiction (`no, …`).
    """

    type: Type
    pattern: re.Pattern[str]
    importance: Importance = "high"
    momentary: bool = False
    opposing: bool = False


RULES: tuple[Rule, ...] = (
    Rule(type="preference", pattern=wording.ALWAYS, momentary=True),
    Rule(type="preference", pattern=wording.GUARDING),
    Rule(type="preference", pattern=wording.LASTING, momentary=True),
    Rule(type="preference", pattern=wording.STYLING, momentary=True),
    Rule(type="preference", pattern=wording.PREFERRING),
    Rule(type="preference", pattern=wording.CHOOSING, momentary=True),
    Rule(type="decision", pattern=wording.DECIDED),
    Rule(type="correction", pattern=wording.CORRECTING, momentary=True),
    Rule(type="correction", pattern=wording.VALUED, opposing=True),
    Rule(type="fact", pattern=wording.USING),
    Rule(type="fact", pattern=wording.ROUTINE, importance="medium"),
    Rule(type="fact", pattern=wording.PERSONAL),
    Rule(type="event", pattern=wording.DATED, importance="medium"),
)
"""The first that holds decides."""


def cue_of(sentence: str) -> Cue | None:
    """The kind of a user's sentence that is worth keeping; None for all others."""
    opposing = requests.OPPOSING.match(sentence)
    joined = _begun(_JOINING.sub("", sentence[opposing.end() :] if opposing else sentence))
    announced = wording.ANNOUNCING.match(joined)
    said = _begun(joined[announced.end() :]) if announced else joined
    bare = wording.REMINDING.sub("", _QUOTED.sub("…", said))
    reminded = announced or wording.ANNOUNCING.search(bare) or wording.REMINDING.search(said)
    if not _may_last(said, bare):
        return None
    for rule in RULES:
        found = rule.pattern.search(bare) if opposing or not rule.opposing else None
        if found and _holds(rule, bare, bare[: found.end()]):
            return Cue(type=rule.type, said=said, importance=rule.importance)
    if reminded and wording.STATING.search(bare) and not wording.PAST.search(bare):
        return Cue(type="fact", said=said)
    return None


def asks(sentence: str) -> bool:
    """Whether it is a question, even without its mark."""
    return sentence.rstrip("\"'”»)* ").endswith(("?", "？")) or bool(requests.ASKING.match(sentence))


def orders(sentence: str) -> bool:
    """Whether it is an order, by its verb or by its form."""
    return bool(requests.ORDERING.match(sentence) or requests.IMPERATIVE.match(sentence))


def _may_last(said: str, bare: str) -> bool:
    """Whether it is a calm, certain statement of a readable length that names its subject."""
    length = len(said.split())
    if not FEWEST_WORDS <= length <= MOST_WORDS or asks(said):
        return False
    if wording.ANGRY.search(bare) or wording.FOR_NOW.search(bare) or _names_too_little(bare):
        return False
    if wording.OPENING.match(bare):
        return True
    refuting = (wording.UNSURE, wording.UNRESOLVED, wording.ADDRESSING, wording.WRITING_DOWN)
    return not any(pattern.search(bare) for pattern in refuting)


def _names_too_little(bare: str) -> bool:
    named = wording.POINTING.split(bare, maxsplit=1)[0]
    telling = {word for word in words(named) if word not in STOP_WORDS | _EMPTY and len(word) > 1}
    return bool(wording.NAMELESS.match(bare)) or len(telling) < FEWEST_TELLING


def _holds(rule: Rule, bare: str, begun: str) -> bool:
    """begun: the sentence up to the end of the wording; what comes after may tell of the past."""
    if wording.PAST.search(begun) and not wording.OPENING.match(bare):
        return False
    if rule.pattern is wording.LASTING:
        return bool(wording.NORMATIVE.search(bare) or orders(bare))
    return rule.momentary or not wording.MOMENTARY.search(bare)


def _begun(said: str) -> str:
    return said[:1].upper() + said[1:]
