"""Cues: which sentences of a user last beyond the conversation, and what kind of statement each is.

Few wordings are sure enough to be kept without a language model (docs/decisions/0015).
wording.txt has them.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from lore.distil.base import Importance, Spoken, Type
from lore.distil.own import own_statements, unquoted
from lore.distil.phrases import pattern
from lore.patterns import regex
from lore.text import STOP_WORDS, words
from lore.wordlists import word_lists

FEWEST_WORDS, MOST_WORDS = 4, 40
FEWEST_NAMED = 2
"""Content words besides those of the wording itself, before any `it` or `them`."""
MOST_OF_TURN = 4
"""Statements kept of one turn: a user who lays down more at once is quoting, or writes a document."""
_EMPTY = word_lists("lore.distil", "words.txt")["empty"]
_NO_VERB = STOP_WORDS - {"do"} | word_lists("lore.distil", "words.txt")["no verbs"]
_OBJECT = "the|a|an|my|our|your|me|us|it|this|that|these|those|them|if|whether|all|any|each|every|some|more"
IMPERATIVE = regex(
    rf"^\W*(?:(?:please|pls|kindly|bitte)\W+(?!(?:{_OBJECT}|i|we)\b)\w|(?:i|we) (?:need|want) you to\b"
    r"|(?:do not|don['’]?t|stop|avoid) \w"
    rf"|(?!(?:{'|'.join(sorted(_NO_VERB))})\b)[a-z]{{3,}}(?<!s)(?<!ing)(?<!ed)(?<!ly)"
    rf"(?: (?:up|out|down|off|on))? (?:{_OBJECT})\b)",
    re.IGNORECASE,
)
"""An order by its form: `please` and a verb, or a word without an ending right before its object."""
ASKING, ORDERING, OPPOSING = pattern("asking"), pattern("ordering"), pattern("opposing")
OPENING = pattern("opening")
_ANNOUNCING, _STATING, _PAST = pattern("announcing"), pattern("stating"), pattern("past")
_UNSURE, _UNRESOLVED = pattern("unsure"), pattern("unresolved")
_NAMELESS, _POINTING, _NORMATIVE = pattern("nameless"), pattern("pointing"), pattern("normative")
_EARLIER, _DESCRIBING = pattern("earlier"), pattern("describing")


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A sentence worth keeping. turns: the numbers of the turns that it comes from."""

    text: str
    type: Type
    importance: Importance
    turns: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """text: the sentence without the words that only introduce it."""

    type: Type
    text: str
    importance: Importance = "medium"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A sentence with the wording of this name is of this type.

    opposing: only after a contradiction (`no, …`). ordering: only if it is an order or a duty.
    """

    type: Type
    wording: str
    pattern: re.Pattern[str]
    importance: Importance = "high"
    opposing: bool = False
    ordering: bool = False


RULES: tuple[Rule, ...] = (
    Rule(type="preference", wording="always", pattern=pattern("always")),
    Rule(type="preference", wording="lasting", pattern=pattern("lasting"), ordering=True),
    Rule(type="preference", wording="preferring", pattern=pattern("preferring")),
    Rule(type="preference", wording="choosing", pattern=pattern("choosing")),
    Rule(type="decision", wording="decided", pattern=pattern("decided")),
    Rule(type="correction", wording="correcting", pattern=pattern("correcting")),
    Rule(type="correction", wording="valued", pattern=pattern("valued"), opposing=True),
    Rule(type="fact", wording="using", pattern=pattern("using")),
    Rule(type="fact", wording="routine", pattern=pattern("routine"), importance="medium"),
    Rule(type="fact", wording="personal", pattern=pattern("personal")),
)
"""The first that holds decides."""


def statements_of(spoken: Iterable[Spoken]) -> list[Statement]:
    """The statements of users in order. Statements of assistants are left to a language model."""
    found: list[Statement] = []
    for turn in spoken:
        sentences = own_statements(turn.text) if turn.role == "user" else []
        cues = [cue for one in sentences if (cue := cue_of(one)) and cue_of(unquoted(one))]
        found += [
            Statement(text=cue.text, type=cue.type, importance=cue.importance, turns=(turn.number,))
            for cue in cues[:MOST_OF_TURN]
        ]
    return found


def cue_of(sentence: str) -> Cue | None:
    """The kind of a user's sentence that is worth keeping; None for all others."""
    opposing = OPPOSING.match(sentence)
    text = _capitalised(sentence[opposing.end() :] if opposing else sentence)
    announced = _ANNOUNCING.match(text)
    text = _capitalised(text[announced.end() :]) if announced else text
    if not _may_last(text):
        return None
    for rule in RULES:
        found = rule.pattern.search(text) if opposing or not rule.opposing else None
        if found and _holds(rule, text, text[: found.end()]):
            return Cue(type=rule.type, text=text, importance=rule.importance)
    if announced and _STATING.search(text) and not _PAST.search(text):
        return Cue(type="fact", text=text)
    return None


def asks(sentence: str) -> bool:
    """Whether it is a question, even without its mark."""
    return sentence.rstrip("\"'”»)* ").endswith(("?", "？")) or bool(ASKING.match(sentence))


def orders(sentence: str) -> bool:
    """Whether it is an order, by its verb or by its form."""
    return bool(ORDERING.match(sentence) or IMPERATIVE.match(sentence))


def _may_last(text: str) -> bool:
    """Whether it is a certain statement of a readable length that names its subject."""
    if not FEWEST_WORDS <= len(text.split()) <= MOST_WORDS or asks(text) or _names_too_little(text):
        return False
    if _EARLIER.search(text):
        return False
    return bool(OPENING.match(text)) or not (_UNSURE.search(text) or _UNRESOLVED.search(text))


def _names_too_little(text: str) -> bool:
    named = _POINTING.split(text, maxsplit=1)[0]
    content = {word for word in words(named) if word not in STOP_WORDS | _EMPTY and len(word) > 1}
    return bool(_NAMELESS.match(text)) or len(content) < FEWEST_NAMED


def _holds(rule: Rule, text: str, begin: str) -> bool:
    """begin: the sentence up to the end of the wording; the rest may tell of the past."""
    if _PAST.search(begin) and not OPENING.match(text):
        return False
    if rule.wording == "always" and _DESCRIBING.match(begin) and not _NORMATIVE.search(text):
        return False
    return not rule.ordering or bool(_NORMATIVE.search(text) or orders(text))


def _capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]
