"""Forms: the ways in which English states one value of one attribute, or nothing when in doubt."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from lore.patterns import regex
from lore.ranking.claims.grammar import (
    LISTS,
    Claim,
    Description,
    Sentence,
    description,
    has_name,
    is_name,
    is_statement,
    is_subject,
    new_claim,
    placed,
    split,
)
from lore.ranking.claims.values import TIMES, kind_of, plain

CATEGORIES = {
    "city": "", "town": "", "village": "", "country": "country", "nation": "country",
    "continent": "continent", "state": "state", "language": "language", "religion": "religion",
    "faith": "religion", "sport": "sport", "field": "field", "position": "position", "role": "position",
    "genre": "genre", "island": "island",
}  # fmt: skip
"""`the city of Rome` is Rome: the noun only says of which kind the value is, and that it is one."""


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


def _phrase(words: str, attribute: str = "", **more: bool) -> Phrase:
    return Phrase(regex(rf" (?:{words}) (?=\S)"), attribute, **more)


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

PHRASES = (*STATES_OF_AFFAIRS, *EVENTS, *APPOSITION)
ANY = regex("|".join(phrase.pattern.pattern for phrase in PHRASES))
_NEGATIVE = regex(r"\b(?:not|never|no|none|nothing|nobody|without|hardly|barely|neither|nor)\b|n't\b")


def read(text: str, *, opening: bool) -> list[Claim]:
    """The claims of one sentence; `opening` if nothing stands before it. A negative one claims nothing."""
    line = " ".join(text.replace("’", "'").replace("**", "").replace("`", "").split()).rstrip(" .!;")
    if text.rstrip().endswith("?") or not is_statement(line) or _NEGATIVE.search(line):
        return []
    sentence = placed(line, opening)
    return [*_described(sentence), *_phrased(sentence)]


_COPULA = regex(r" (is|was|are|were|has been|became) (?=\S)")


def _described(sentence: Sentence) -> Iterator[Claim]:
    """`The N of X is V`, `X's N is V`, and the other way round: `V is the N of X`, `V is X's N`."""
    for match in _COPULA.finditer(sentence.text):
        left, verb, right = sentence.text[: match.start()], match.group(1), sentence.text[match.end() :]
        if verb in {"are", "were"}:
            return
        if (what := description(left)) and (claim := _identified(what, verb, right, sentence)):
            yield claim
            return
        if (what := description(right)) and (claim := _held(what, verb, left, sentence)):
            yield claim
            return


def _identified(what: Description, verb: str, predicate: str, sentence: Sentence) -> Claim | None:
    value, tail = split(predicate)
    if not value or what.several or not (what.owned or sentence.opening):
        return None
    named = is_name(value)
    if _is_remark(value):
        return None
    property_like = what.a_property or (what.singled and (what.owned or what.set_apart))
    if not named and not (property_like and _is_noun(value, tail)):
        return None
    sure = what.owned or what.a_property or what.noun in LISTS["roles"] or what.singled
    if not sure and not named:
        return None
    shape = "" if what.noun in LISTS["attributes"] or (named and not value[0].isdigit()) else "#"
    past = verb == "was" and what.noun not in LISTS["made once"]
    return replace(new_claim(f"{what.name} ·{shape}", value, tail, sentence), past=past, many=not sure)


def _is_remark(value: str) -> bool:
    first, *rest = value.split()
    return first in LISTS["remarks"] or (
        first in LISTS["adjectives"] and (not rest or rest[0] in {"and", "but", "or", "enough"})
    )


def _is_noun(value: str, tail: str) -> bool:
    """As far as its ending tells: `staging` is a name, `rising` and `rising fast` are no values."""
    words = value.split()
    verbal = words[0].endswith(("ed", "ing", "ly")) and (
        tail != "" or len(words) > 1 or words[0] in LISTS["ongoing"]
    )
    return not verbal and not value.endswith(("able", "ible", "ful", "ous", "less")) and len(words) <= 4


def _held(what: Description, verb: str, holder: str, sentence: Sentence) -> Claim | None:
    """A person or thing predicate to hold a post of which there is one."""
    definite = what.owned or (what.related and sentence.opening)
    if what.noun not in LISTS["roles"] or not definite or not is_subject(holder, sentence.opening):
        return None
    if not is_name(holder) or holder.lower().startswith(("the ", "my ", "our ")) or holder in {"I", "We"}:
        return None
    past = verb == "was" and what.noun not in LISTS["made once"]
    return replace(new_claim(f"{what.name} ·", holder, "", sentence), past=past)


_ACTIVE = regex(r"^(?:We|we|I) (host|track|manage|deploy|log|cache|archive|handle|store|keep) (\S.*?)"
                     r" (in|on|with|to|at|via|through) (\S.*)$")  # fmt: skip


def _passive(match: re.Match[str]) -> str:
    """`We host the wiki on V` says that the wiki is hosted on V."""
    verb, what, preposition, value = match.groups()
    done = {"keep": "kept", "log": "logged"}.get(verb) or f"{verb.removesuffix('e')}ed"
    return f"{what[0].upper()}{what[1:]} is {done} {preposition} {value}"


def _phrased(sentence: Sentence) -> Iterator[Claim]:
    """`X lives in V`, `X was founded by V`: the verbs of which a subject has one object at a time."""
    sentence = replace(sentence, text=_ACTIVE.sub(_passive, sentence.text))
    if not ANY.search(sentence.text):
        return
    for phrase in PHRASES:
        match = phrase.pattern.search(sentence.text)
        if not match or not is_subject(left := sentence.text[: match.start()], sentence.opening):
            continue
        if phrase.event and left.lower().startswith(("the ", "my ", "our ")) and not has_name(left):
            return
        if claim := _valued(phrase, match, left, sentence):
            yield claim
        return


_INDEFINITE = regex(r"^an? ")


def _valued(phrase: Phrase, match: re.Match[str], left: str, sentence: Sentence) -> Claim | None:
    predicate = match.string[match.end() :]
    category = re.match(r"the (\w+) of (?=\S)", predicate)
    kind = CATEGORIES.get(category.group(1)) if category else None
    if category and kind is not None:
        predicate = predicate[category.end() :]
    value, tail = split(_INDEFINITE.sub("", predicate) if phrase.indefinite else predicate)
    if not value or (kind is None and _is_remark(value)):
        return None
    if (value[0].islower() and value.split()[0].endswith("ly")) or not _fits(phrase, value, kind):
        return None
    if phrase.sorted_by_kind or kind:
        kind = kind_of(value) if kind is None else kind
    verb = phrase.attribute or plain(match.group()).replace("are ", "is ")
    attribute = f"{verb} {kind or ''}".rstrip()
    tail = "" if kind_of(value) in TIMES else tail
    key = f"{plain(left)} · {attribute}" if attribute != "=" else f"{plain(left)} ·"
    return new_claim(key, value, tail, replace(sentence, when=""))


def _fits(phrase: Phrase, value: str, category: str | None) -> bool:
    """Whether a phrase means what we think with such a value."""
    kind = kind_of(value)
    if phrase.telling:
        return category is not None or kind not in {"", "word", "number"}
    return not phrase.named or category is not None or kind != "word"
