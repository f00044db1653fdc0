"""Phrases: the verbs of which one subject has one object at a time."""

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Phrase:
    """A verb with its preposition. Phrases with the same `attribute` say the same in other words."""

    pattern: re.Pattern[str]
    attribute: str = ""
    event: bool = False
    """It happened once, so that its past tense stays true."""
    sorted_by_kind: bool = False
    """`in` may be followed by a year, a city or a country: each is an attribute of its own."""
    named: bool = False
    """Only with a name, a number or an identifier: `works for Acme`, but not `works for fun`."""
    telling: bool = False
    """Only with a value whose kind is known: `written in 1999`, but `written in Ada` may be a place."""
    indefinite: bool = False
    """Its value has an indefinite article: `works as a nurse`."""
    timed: bool = False
    """Only with a time: `is at noon`, but not `is at home`."""


def _phrase(words: str, attribute: str = "", **more: bool) -> Phrase:
    return Phrase(re.compile(rf" (?:{words}) (?=\S)"), attribute, **more)


_BE = r"(?:is|are|am|'m|'s|'re)"
_ONCE = r"(?:was|were|is|are|has been)"
_MADE = (
    "founded|co-?founded|created|written|directed|performed|produced|developed|manufactured|published|designed"
    "|built|invented|composed|discovered|recorded|painted|established|edited|sung|introduced|coined|authored"
)
_DONE = (
    "managed|tracked|handled|routed|provisioned|orchestrated|deployed|formatted|linted|powered|done|billed"
)
_PUT = "tracked|logged|cached|archived|queued"
_SERVED = "|".join(
    f"(?<=[{word[0].upper()}{word[0]}]{word[1:]} )" for word in "CI monitoring logging wiki".split()
)
"""What a team has one tool for, as it stands before the verb."""
_BEGUN = "founded|co-?founded|established|incorporated"
_LED = "owned|run|led|managed|maintained|headed|chaired|governed|coached|operated|controlled"
_ONE_OF_A_KIND = "language|religion|faith|sport|field|position|role|genre"
_IN = "(?:in|on|at)"

STATES_OF_AFFAIRS = (
    # one home, one seat
    _phrase(rf"lives? in|resides? in|{_BE} living in|(?:has|have) lived in|{_BE} (?:located|situated|based"
            r"|headquartered) in", "place", sorted_by_kind=True, named=True),
    # one spouse, one betrothed
    _phrase(rf"{_BE} (?:happily )?married to", "married to", named=True),
    _phrase(rf"{_BE} engaged to", "engaged to", named=True),
    # one employer, one occupation, one passport: as a rule
    _phrase(rf"works? (?:at|for)|{_BE} (?:working|employed) (?:at|for|by)", "employer", named=True),
    _phrase(rf"works? as|{_BE} working as|{_BE} employed as", "occupation", indefinite=True),
    _phrase(rf"{_BE} (?:a citizen|citizens?) of", "citizenship", named=True),
    _phrase(r"reports? to", "reports to", named=True),
    _phrase(rf"{_BE}(?= \d+ years old)", "age"),
    # whoever is in control is so alone
    *(_phrase(rf"{_BE} {word} by", f"{word} by") for word in _LED.split("|")),
    # a thing is kept and run in one place
    _phrase(rf"{_BE} hosted (?:on|at|by|in|with)", "hosted", sorted_by_kind=True, named=True),
    _phrase(rf"{_BE} deployed (?:on|to|in|at)", "deployed", sorted_by_kind=True, named=True),
    _phrase(r"lives? (?:at|on)", "lives at", named=True),
    _phrase(r"is in(?= [a-z]+-[a-z]+-?\d)", "region"),
    _phrase(rf"{_BE} (?:stored|kept|saved) (?:in|on|at|under|to)", "stored", sorted_by_kind=True, named=True),
    _phrase(rf"{_BE} (?:written|implemented) in", "written in", sorted_by_kind=True, named=True),
    # one tool does one thing
    _phrase(rf"{_BE} (?:{_DONE}) (?:with|by|via|through)", sorted_by_kind=True, named=True),
    _phrase(rf"{_BE} (?:(?:{_PUT}) (?:in|on|to)|based on)", sorted_by_kind=True, named=True),
    _phrase(rf"(?:{_SERVED})runs? on", "runs on", sorted_by_kind=True, named=True),
    # a setting has one value
    _phrase(r"listens? on|is listening on|binds? to|is bound to", "listens on", sorted_by_kind=True),
    _phrase(rf"{_BE} set to", "=", named=True),
    _phrase(r"defaults? to", "="),
    _phrase(r"points? to|resolves? to", "points to"),
    _phrase(rf"{_BE} pinned (?:to|at)", "pinned to"),
    _phrase(rf"{_BE} licensed under", "licensed under"),
    _phrase(r"costs?", "costs", sorted_by_kind=True, named=True),
    _phrase(r"weighs?", "weighs", sorted_by_kind=True, named=True),
    # an appointment, a task and a name are given once
    _phrase(rf"{_BE} (?:scheduled|planned|set) (?:for|on|at)", "scheduled", sorted_by_kind=True, named=True),
    _phrase(rf"{_BE} due (?:on|by|in|at)?", "due", sorted_by_kind=True, named=True),
    _phrase(r"expires? (?:on|in|at)", "expires", sorted_by_kind=True, named=True),
    _phrase(rf"{_BE} assigned to", "assigned to"),
    _phrase(rf"{_BE} (?:named|called|titled)|goes by", "named"),
)  # fmt: skip

EVENTS = (
    # one birth, one death
    _phrase(rf"was born {_IN}", "born", event=True, sorted_by_kind=True, named=True),
    _phrase(rf"died {_IN}", "died", event=True, sorted_by_kind=True, named=True),
    # a thing is made once, by one maker, somewhere
    *(_phrase(rf"{_ONCE} {word} by", f"{word} by", event=True) for word in _MADE.split("|")),
    _phrase(rf"{_ONCE} (?:{_BEGUN}) {_IN}", "founded", event=True, sorted_by_kind=True, named=True),
    *(
        _phrase(rf"{_ONCE} {word} {_IN}", f"{word} in", event=True, sorted_by_kind=True, telling=True)
        for word in _MADE.split("|")
    ),
)

APPOSITION = (
    # `the sport of`: the article says that it is one
    _phrase(
        r"(?:is|are|was|were|am) \w+(?:ed|en) (?:in|with|to|on)"
        rf"(?= the (?:{_ONE_OF_A_KIND}|country|continent|city|state) of )"
    ),
    _phrase(
        r"(?:plays?|speaks?|holds?|follows?|practi[sc]es|works? in)"
        rf"(?= the (?:{_ONE_OF_A_KIND}) of )"
    ),
)

TIMED = (
    _phrase(r"(?:is|are|takes? place|happens?) (?:at|on)", "scheduled", timed=True, sorted_by_kind=True),
    _phrase(r"(?:starts?|begins?) (?:at|on)", "starts", timed=True, sorted_by_kind=True),
    _phrase(r"(?:ends?) (?:at|on)", "ends", timed=True, sorted_by_kind=True),
)

PHRASES = (*STATES_OF_AFFAIRS, *EVENTS, *APPOSITION, *TIMED)
ANY = re.compile("|".join(phrase.pattern.pattern for phrase in PHRASES))
