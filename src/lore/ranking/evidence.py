"""Evidence: what tells, besides words and meaning, that a memory answers a question."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lore.model import Memory

SPEAKER = re.compile(r"\A(?P<name>[^\W\d_][\w.'’ -]{0,40}): ")
"""Who says a line of a conversation among people."""
CAPITALISED = re.compile(r"\b[^\W\d_a-z][\w'’-]*")
ABOUT_TIME = re.compile(
    r"\b(?:when|how (?:long|often|many (?:days|weeks|months|years|hours|times))"
    r"|(?:what|which) (?:day|date|month|year|time|week)|since|until)\b",
    re.IGNORECASE,
)
TELLS_TIME = re.compile(
    r"\d|\b(?:yesterday|today|tomorrow|tonight|ago|last|next|week(?:end)?s?|months?|years?|days?|morning|evening"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|june|july|august|september"
    r"|october|november|december)\b",
    re.IGNORECASE,
)
COMPANY = 3
"""How many of the best of a conversation speak for it."""
DEVIATIONS = 8.0
"""How many standard deviations the scale of `standing` is wide; the mean stands at a quarter of it."""


@dataclass(frozen=True, slots=True)
class Others:
    """So many values that nobody has seen, with this mean and this standard deviation."""

    count: int
    mean: float = 0.0
    spread: float = 0.0


NOBODY = Others(0)
UNLIKE = Others(20, mean=0.3, spread=0.12)
"""How like a question memories are that have nothing to do with it."""
UNMATCHED = Others(20)
"""They have none of its words."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a question says of its answer: names that may be speakers, and whether it is about time."""

    names: frozenset[str]
    about_time: bool


def asked(question: str) -> Asked:
    """Read a question."""
    names = (
        match.group().removesuffix("'s").removesuffix("’s").lower()
        for match in CAPITALISED.finditer(question)
    )
    return Asked(frozenset(names), ABOUT_TIME.search(question) is not None)


def signs(question: Asked, memory: Memory) -> dict[str, float]:
    """Of one memory, each 0 to 1.

    speaker: the question names who says it. tells: it does not ask itself. answers: it follows a question.
    dated: it tells a time, where one is asked for.
    """
    text = memory.content.rstrip()
    return {
        "speaker": float(_says(question, text)),
        "tells": float(not text.endswith(("?", "？"))),
        "answers": float(memory.context.rstrip().endswith(("?", "？"))),
        "dated": float(question.about_time and TELLS_TIME.search(text) is not None),
    }


def _says(question: Asked, text: str) -> bool:
    by = SPEAKER.match(text)
    return by is not None and not question.names.isdisjoint(by["name"].lower().split())


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
        name: 0.25 + (value - mean) / spread / DEVIATIONS if spread else 0.25
        for name, value in values.items()
    }


def fullness(memories: Iterable[Memory]) -> dict[str, float]:
    """How much each says, by `standing`: who says more is more likely to have said it."""
    return standing({memory.id: math.log1p(len(memory.content.split())) for memory in memories})


def company(scores: Mapping[str, float], places: Mapping[str, str]) -> dict[str, float]:
    """How good the best of each conversation are, by `standing`. places: id -> the conversation it is in."""
    if not scores:
        return {}
    least = min(scores.values())
    by_place: dict[str, list[float]] = {}
    for id, place in places.items():
        by_place.setdefault(place, []).append(scores[id])
    best = {place: _best(found, least) for place, found in by_place.items()}
    return standing(
        {id: best[places[id]] if id in places else _best([score], least) for id, score in scores.items()}
    )


def _best(found: Sequence[float], least: float) -> float:
    """The mean of the best few; where there are fewer, the others count as the worst of all."""
    top = sorted(found, reverse=True)[:COMPANY]
    return (sum(top) + least * (COMPANY - len(top))) / COMPANY
