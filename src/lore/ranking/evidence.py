"""Evidence: what tells, besides words and meaning, that a memory answers a question."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lore.grams import count_words
from lore.model import TURN, Memory
from lore.ranking.speaker import names_speaker
from lore.ranking.when import Period, nearness, periods

SPEAKER = re.compile(r"\A(?P<name>[^\W\d_][\w.'’ -]{0,40}): ")
"""Who says a line of a conversation among people."""
CAPITALISED = re.compile(r"\b[^\W\d_a-z][\w'’-]*")
ABOUT_TIME = re.compile(
    r"\b(?:when|how (?:long|often|many (?:days|weeks|months|years|hours|times))"
    r"|(?:what|which) (?:day|date|month|year|time|week)|since|until)\b",
    re.IGNORECASE,
)
TELLS_TIME = re.compile(
    r"\b(?:(?:19|20)\d\d|\d{1,2}(?::\d\d|st|nd|rd|th|[./-]\d{1,2}[./-]\d{2,4})"
    r"|yesterday|today|tomorrow|tonight|ago|last|next|week(?:end)?s?|months?|years?|days?|mornings?|evenings?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|june|july|august|september"
    r"|october|november|december)\b",
    re.IGNORECASE,
)
"""A text that tells a time; a number alone does not."""
SENTENCE = re.compile(r"[^.!?。！？\n]+[.!?。！？]*")
WORD = re.compile(r"\w")
ADDRESSES = re.compile(r"\b(?:i|me|my|we|our|you|your|let['’]s)\b", re.IGNORECASE)
"""Somebody speaks to somebody; a bare subject, as one types it into a search box, does not."""
ASKS = ("?", "？", "؟")
MEAN = 0.25
DEVIATIONS = 8.0
"""How many standard deviations the scale of `standing` is wide; the mean stands at a quarter of it."""
HALF_FULL, FULL = 20, 40
"""Words at which fullness is one half, and from which on more words count for nothing."""
_FIRST_PERSON = re.compile(r"\b(?:i|i['’]m|me|my|mine|we|us|our)\b", re.IGNORECASE)
_OF_USER = re.compile(
    r"\b(?:user|owner|customer|developer|asked for|wants?|wanted|prefer\w*|insist\w*|object\w*|decid\w*"
    r"|rules?)\b",
    re.IGNORECASE,
)
"""Words of a question about what people want, decide and lay down."""


@dataclass(frozen=True, slots=True)
class Others:
    """So many values that nobody has seen, with this mean and this standard deviation."""

    count: int
    mean: float = 0.0
    spread: float = 0.0


NOBODY = Others(0)
UNLIKE = Others(20, mean=0.3, spread=0.12)
"""How like a question memories are that have nothing to do with it."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question says of its answer: names that may be speakers, and whether it is about time.

    of_user: it asks about what the user says, wants or decides, rather than an assistant or a tool.
    goes_on: it tells something to somebody and does not only ask, as who goes on with a conversation.
    periods: the times that it names.
    """

    names: frozenset[str]
    about_time: bool
    goes_on: bool
    of_user: bool = False
    periods: Sequence[Period] = ()


def asked(question: str, now: float) -> Asked:
    """Read a question that is asked now."""
    sentences = filter(WORD.search, SENTENCE.findall(question))
    told = any(not sentence.endswith(ASKS) for sentence in sentences)
    return Asked(
        names=frozenset(CAPITALISED.findall(question)),
        about_time=ABOUT_TIME.search(question) is not None,
        goes_on=told and ADDRESSES.search(question) is not None,
        of_user=bool(_FIRST_PERSON.search(question) or _OF_USER.search(question)),
        periods=periods(question, now),
    )


def signs(question: Asked, memory: Memory) -> dict[str, float]:
    """Of one memory, each 0 to 1.

    fullness: how much it says. speaker: the question points to who says it, by name or as the user. tells: it
    does not ask itself. when: it is of the time that the question names, or tells a time where one is asked
    for.
    """
    text = memory.content.rstrip()
    words = min(FULL, count_words(text))
    return {
        "fullness": words / (words + HALF_FULL),
        "speaker": _says(question, memory),
        "tells": float(not text.endswith(ASKS)),
        "when": _of_time(question, memory.created_at, text),
    }


def _says(question: Asked, memory: Memory) -> float:
    by = SPEAKER.match(memory.content)
    named = names_speaker(question.names, by["name"]) if by else 0.0
    spoken = memory.kind == TURN and memory.type != "user"
    return max(named, float(question.of_user and not spoken))


def _of_time(question: Asked, moment: float, text: str) -> float:
    told = float(question.about_time and TELLS_TIME.search(text) is not None)
    return max(told, nearness(moment, question.periods, text))


def standing(values: Mapping[str, float], others: Others = NOBODY) -> dict[str, float]:
    """How far each value stands out among all: the mean is a quarter, and every deviation an eighth more.

    Unlike a share of the best one, this keeps its meaning when one value stands out far, or none does.
    others: what is always counted among them, so that the only one of a few that fits stands out as well.
    """
    count = len(values) + others.count
    if not count:
        return {}
    mean = (sum(values.values()) + others.count * others.mean) / count
    around = sum((value - mean) ** 2 for value in values.values())
    around += others.count * (others.spread**2 + (others.mean - mean) ** 2)
    spread = math.sqrt(around / count)
    return {
        name: MEAN + (value - mean) / spread / DEVIATIONS if spread else MEAN
        for name, value in values.items()
    }


def company(match: Mapping[str, float], places: Mapping[str, str]) -> dict[str, float]:
    """How well the best of each conversation matches, by `standing`. places: id -> its conversation."""
    best: dict[str, float] = {}
    for id, place in places.items():
        best[place] = max(match[id], best.get(place, match[id]))
    return standing({id: best[places[id]] if id in places else own for id, own in match.items()})


def nearby(stands: Mapping[str, float], neighbours: Iterable[tuple[str, str]]) -> dict[str, float]:
    """How far the better neighbour of each stands out; the mean where it does not, or was not found."""
    best = dict.fromkeys(stands, MEAN)
    for one, other in neighbours:
        if one in best and other in best:
            best[one] = max(best[one], stands[other])
            best[other] = max(best[other], stands[one])
    return best


def recency(memories: Iterable[Memory]) -> dict[str, float]:
    """How lately the conversation of each went on: 1 the last of all, less by the logarithm of its place."""
    places = {memory.id: (memory.session or memory.id, memory.created_at) for memory in memories}
    last: dict[str, float] = {}
    for place, at in places.values():
        last[place] = max(at, last.get(place, at))
    moments = sorted(set(last.values()), reverse=True)
    left = {at: 1 - math.log1p(rank) / math.log1p(len(moments)) for rank, at in enumerate(moments)}
    return {id: left[last[place]] for id, (place, _) in places.items()}
