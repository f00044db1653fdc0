"""Cues: what kind of statement a sentence is, told by its words and by who says it."""

import re
from dataclasses import dataclass

from lore.distil import momentary, wording
from lore.distil.base import Importance, Role, Type
from lore.text import STOP_WORDS, words

_INTRODUCTION = re.compile(r"^(?:for|to|in|on|when|after|before)\b[^,]{2,40}, ", re.IGNORECASE)
FEWEST_WORDS = 4
ENOUGH_WORDS, ENOUGH_SUBJECT = 6, 5
FACT, FACT_OF_USER, ANNOUNCED, DIRECTED = 0.35, 0.4, 0.75, 0.6
CLEAR_WORDS, FEWEST_STOP_WORDS = 8, 1
"""In an order of fewer words "it" is the thing at hand, and the order is for now."""
TELLING, MOST_TELLING = 0.07, 3
"""What each definite detail adds to a fact, and how many count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cue:
    """strength: how sure it is, 0 to 1. said: the sentence without the words that only led to it."""

    type: Type
    strength: float
    said: str
    importance: Importance = "medium"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Of which type a sentence is that has this pattern, said by one of these.

    lasting: not if it is meant for now only. telling: only with a definite detail and so many words.
    """

    type: Type
    strength: float
    pattern: re.Pattern[str]
    roles: frozenset[Role]
    importance: Importance = "high"
    lasting: bool = False
    telling: int = 0


_USER: frozenset[Role] = frozenset({"user"})
_AGENT: frozenset[Role] = frozenset({"assistant", "summary"})

RULES: tuple[Rule, ...] = (
    Rule(type="outcome", strength=0.95, pattern=wording.CAUSING, roles=_USER),
    Rule(type="preference", strength=0.9, pattern=wording.ALWAYS, roles=_USER),
    Rule(type="decision", strength=0.9, pattern=wording.DECIDED, roles=_USER),
    Rule(type="preference", strength=0.9, pattern=wording.PREFERRING, roles=_USER),
    Rule(type="preference", strength=0.8, pattern=wording.USING, roles=_USER, lasting=True),
    Rule(type="decision", strength=0.75, pattern=wording.AGREEING, roles=_USER, lasting=True),
    Rule(type="preference", strength=0.75, pattern=wording.FORBIDDING, roles=_USER, lasting=True),
    Rule(type="preference", strength=0.75, pattern=wording.ENSURING, roles=_USER, lasting=True),
    Rule(type="correction", strength=0.7, pattern=wording.MISPLACED, roles=_USER),
    Rule(type="preference", strength=0.7, pattern=wording.STYLING, roles=_USER),
    Rule(type="preference", strength=0.75, pattern=wording.BARRING, roles=_USER),
    Rule(type="preference", strength=0.75, pattern=wording.BARRED, roles=_USER),
    Rule(type="goal", strength=0.75, pattern=wording.PLANNED, roles=_USER, importance="medium"),
    Rule(type="goal", strength=0.6, pattern=wording.NEEDED, roles=_USER, importance="medium", telling=6),
    Rule(type="goal", strength=0.6, pattern=wording.POSTPONED, roles=_USER, importance="medium"),
    Rule(type="preference", strength=0.75, pattern=wording.REQUIRING, roles=_USER, lasting=True),
    Rule(type="decision", strength=0.65, pattern=wording.SHOULD, roles=_USER, lasting=True),
    Rule(type="fact", strength=0.65, pattern=wording.BINDING, roles=_USER, importance="medium"),
    Rule(type="outcome", strength=0.6, pattern=wording.FIXED, roles=_USER, importance="medium", telling=6),
    Rule(type="outcome", strength=0.9, pattern=wording.CAUSING, roles=_AGENT),
    Rule(type="decision", strength=0.65, pattern=wording.SETTLED, roles=_AGENT),
    Rule(type="decision", strength=0.6, pattern=wording.RULING, roles=_AGENT, importance="medium"),
    Rule(
        type="outcome", strength=0.6, pattern=wording.MEASURED, roles=_AGENT, importance="medium", telling=6
    ),
    Rule(type="goal", strength=0.6, pattern=wording.OPEN, roles=_AGENT, importance="medium"),
)
"""The first that holds decides."""


_EXPLICIT = (wording.CAUSING, wording.DECIDED, wording.FIXED, wording.MISPLACED)
"""Of these wordings urgency and praise take nothing away."""


def cue_of(sentence: str, role: Role) -> Cue | None:
    """What kind of knowledge a sentence is; None for questions, guesses, offers and orders of the moment."""
    joined = wording.JOINING.sub("", sentence)
    if role == "user":
        joined = wording.OPPOSING.sub("", joined)
    said = _begun(wording.LEADING.sub("", joined))
    announced = len(said) < len(joined)
    if asks(said) or (len(said.split()) < FEWEST_WORDS and said.isascii()):
        return None
    for rule in RULES:
        if role in rule.roles and rule.pattern.search(said) and _holds(rule, said):
            return Cue(type=rule.type, strength=rule.strength, said=said, importance=rule.importance)
    if wording.UNSURE.search(said):
        return None
    if role != "user":
        return _fact_of_agent(said)
    if wording.DIRECTING.match(said) or orders(said):
        return _directive(said)
    return _fact(said, announced=announced)


def correction_of(sentence: str) -> str:
    """What holds instead, if a sentence opposes what was said before it; otherwise empty."""
    opposing = wording.OPPOSING.match(sentence)
    said = _begun(sentence[opposing.end() :]) if opposing else sentence
    if not (opposing or wording.CONTRASTING.search(sentence)):
        return ""
    if asks(said) or orders(said) or wording.COMPLAINING.match(said) or _only_opinion(said):
        return ""
    if len(said.split()) < FEWEST_WORDS or wording.ALWAYS.search(said):
        return ""
    return said if states(said) else ""


def asks(sentence: str) -> bool:
    """Whether it is a question, even without its mark."""
    return sentence.rstrip("\"'”»)* ").endswith(("?", "？")) or bool(wording.ASKING.match(sentence))


def orders(sentence: str) -> bool:
    """Whether it is an order, by its verb or by its form."""
    return bool(wording.ORDERING.match(sentence) or momentary.IMPERATIVE.match(sentence))


def states(sentence: str) -> bool:
    """Whether it says how something is or what it does."""
    return bool(wording.STATING.search(sentence) or wording.DOING.match(sentence))


def points_elsewhere(sentence: str) -> bool:
    """Whether it begins with a word that stands for something said before."""
    return bool(wording.POINTING.match(sentence)) and not wording.STANDING.match(sentence)


def _holds(rule: Rule, said: str) -> bool:
    """A guess decides nothing; an order for now is no rule; an agent must name what it speaks of."""
    if rule.type != "preference" and wording.UNSURE.search(said):
        return False
    if rule.telling and (len(said.split()) < rule.telling or not wording.TELLING.search(said)):
        return False
    if rule.lasting and wording.FOR_NOW.search(said):
        return False
    if rule.roles is _AGENT:
        return _holds_of_agent(rule, said)
    if rule.pattern not in _EXPLICIT and _for_the_moment(rule, said):
        return False
    required = rule.pattern in (wording.REQUIRING, wording.SHOULD)
    if required and (orders(said) or wording.PASTED.search(said) or momentary.CONJECTURE.search(said)):
        return False
    if rule.type in ("preference", "decision", "correction"):
        short = len(said.split()) < CLEAR_WORDS or rule.pattern is wording.ENSURING
        return not (wording.POINTLESS.search(said) or (short and wording.UNRESOLVED.search(said)))
    return not wording.COMPLAINING.match(said)


def _for_the_moment(rule: Rule, said: str) -> bool:
    """Whether it is urgent, about the thing at hand, or mere praise; "always" and the like make it a rule."""
    praising = rule.type != "preference" or rule.pattern is wording.ALWAYS
    if praising and momentary.EVALUATING.search(said):
        return True
    if momentary.REPEATED.search(said):
        return False
    return bool(momentary.URGENT.search(said)) or (rule.type == "goal" and said.endswith("!"))


def _only_opinion(said: str) -> bool:
    """Whether it tells how the user likes something, or what the user has, without a detail."""
    if momentary.EVALUATING.search(said) or wording.FLEETING.search(said):
        return True
    return bool(momentary.ADDRESSING.search(said)) and not wording.TELLING.search(said)


def _holds_of_agent(rule: Rule, said: str) -> bool:
    """An agent that speaks of its own work states nothing that lasts; nor does a cause without a detail."""
    if rule.pattern in (wording.SETTLED, wording.OPEN):
        return True
    if wording.PERSONAL.search(said) or wording.PASSING.search(said):
        return False
    if rule.pattern is wording.RULING:
        return len(said.split()) >= ENOUGH_WORDS
    return bool(wording.SPECIFIC.search(said) or wording.TELLTALE.search(said))


def _directive(said: str) -> Cue | None:
    """An order is a decision if it says how something shall be and why, or what not; else it is for now."""
    if not wording.DIRECTING.match(said) or wording.FOR_NOW.search(said) or momentary.MINE.search(said):
        return None
    if len(said.split()) < ENOUGH_WORDS or not wording.REASONED.search(said):
        return None
    return Cue(type="decision", strength=DIRECTED, said=said, importance="high")


def _fact(said: str, announced: bool) -> Cue | None:
    """A definite statement of a user: it says how something lasting is, with a detail."""
    details = min(MOST_TELLING, len(wording.TELLING.findall(momentary.LABEL.sub("", said))))
    if wording.FLEETING.search(said) or wording.FIXED.search(said) or not states(said):
        return None
    if wording.COMPLAINING.match(said) or not (announced or (details and _has_subject(said))):
        return None
    if orders(_INTRODUCTION.sub("", said)) or wording.PASTED.search(said):
        return None
    strength = (ANNOUNCED if announced else FACT_OF_USER) + TELLING * details
    return _stated(said, strength)


def _fact_of_agent(said: str) -> Cue | None:
    """A lasting statement of an agent about something that can be looked up; no report of work."""
    if not wording.SPECIFIC.search(said) or wording.FLEETING.search(said):
        return None
    stated = wording.ASIDE.sub("", said)
    lasting = wording.PLACED.search(stated) or wording.BEHAVING.match(stated)
    if not lasting and not (wording.QUANTIFIED.search(stated) and states(stated)):
        return None
    if wording.WORKING.search(said) or wording.PERSONAL.search(said):
        return None
    if wording.BARE.match(said) or orders(momentary.LABEL.sub("", said)) or wording.STATING.match(said):
        return None
    if sum(word in STOP_WORDS for word in words(said)) < FEWEST_STOP_WORDS:
        return None
    details = min(MOST_TELLING, len(wording.TELLING.findall(said)))
    return _stated(said, FACT + TELLING * details)


def _stated(said: str, strength: float) -> Cue:
    dated = wording.DATED.search(said) and wording.HAPPENING.search(said)
    return Cue(
        type="event" if dated else "fact",
        strength=strength,
        said=said,
        importance="low" if dated else "medium",
    )


def _has_subject(said: str) -> bool:
    """Whether it speaks of something that lasts, not to the agent, and of no one's liking."""
    said = momentary.LABEL.sub("", said)
    if momentary.NAMELESS.match(said) or momentary.ADDRESSING.search(said):
        return False
    if momentary.EVALUATING.search(said) or momentary.CONJECTURE.search(said):
        return False
    return len(said.split()) >= ENOUGH_SUBJECT and not said.endswith("!")


def _begun(said: str) -> str:
    return said[:1].upper() + said[1:]
