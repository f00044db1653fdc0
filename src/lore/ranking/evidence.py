"""Evidence: the signals, besides words and meaning, that a memory answers a question."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lore.grams import count_words, normalized, unspaced
from lore.model import TURN, Memory
from lore.names import words_of
from lore.patterns import regex
from lore.ranking.when import Period, nearness, periods

SPEAKER = regex(r"\A(?P<name>[^\W\d_][\w.'’ -]{0,40}): ")
"""Who says a line of a conversation among people."""
CAPITALISED = regex(r"\b[^\W\d_a-z][\w'’-]*")
ABOUT_TIME = regex(
    r"\b(?:when|how (?:long|often|many (?:days|weeks|months|years|hours|times))"
    r"|(?:what|which) (?:day|date|month|year|time|week)|since|until)\b",
    re.IGNORECASE,
)
TELLS_TIME = regex(
    r"\b(?:(?:19|20)\d\d|\d{1,2}(?::\d\d|st|nd|rd|th|[./-]\d{1,2}[./-]\d{2,4})"
    r"|yesterday|today|tomorrow|tonight|ago|last|next|week(?:end)?s?|months?|years?|days?|mornings?|evenings?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|june|july|august|september"
    r"|october|november|december)\b",
    re.IGNORECASE,
)
"""A text that tells a time; a number alone does not."""
SENTENCE = regex(r"[^.!?。！？\n]+[.!?。！？]*")
WORD = regex(r"\w")
ADDRESSES = regex(r"\b(?:i|me|my|we|our|you|your|let['’]s)\b", re.IGNORECASE)
"""Somebody speaks to somebody; a bare subject, as one types it into a search box, does not."""
ASKS = ("?", "？", "؟")
MEAN = 0.25
DEVIATIONS = 8.0
"""Width of the scale of `z_scaled` in standard deviations; the mean stands at a quarter of it."""
HALF_LENGTH, MOST_LENGTH = 20, 40
"""Words at which the signal `length` is one half, and words beyond which it no longer grows."""
_FIRST_PERSON = regex(r"\b(?:i|i['’]m|me|my|mine|we|us|our)\b", re.IGNORECASE)
_OF_USER = regex(
    r"\b(?:user|owner|customer|developer|asked for|wants?|wanted|prefer\w*|insist\w*|object\w*|decid\w*"
    r"|rules?)\b",
    re.IGNORECASE,
)
"""Words of a question about what people want, decide and lay down."""


@dataclass(frozen=True, slots=True)
class Prior:
    """Pseudo-observations: `count` values with this mean and this standard deviation (`spread`)."""

    count: int
    mean: float = 0.0
    spread: float = 0.0


NO_PRIOR = Prior(0)
UNRELATED = Prior(20, mean=0.3, spread=0.12)
"""The likeness of a question to memories that have nothing to do with it."""


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """What a question tells about its answer: names that may be speakers, and whether it asks for a time.

    of_user: it asks about statements, wishes or decisions of the user, rather than of an assistant or a tool.
    continues: it continues a conversation: it tells something and does not only ask.
    periods: the times that it names.
    """

    names: frozenset[str]
    about_time: bool
    continues: bool
    of_user: bool = False
    periods: Sequence[Period] = ()


def parse_question(question: str, now: float) -> ParsedQuestion:
    """Read a question that is asked at the time `now`."""
    sentences = filter(WORD.search, SENTENCE.findall(question))
    states = any(not sentence.endswith(ASKS) for sentence in sentences)
    return ParsedQuestion(
        names=frozenset(CAPITALISED.findall(question)),
        about_time=ABOUT_TIME.search(question) is not None,
        continues=states and ADDRESSES.search(question) is not None,
        of_user=bool(_FIRST_PERSON.search(question) or _OF_USER.search(question)),
        periods=periods(question, now),
    )


def memory_signals(question: ParsedQuestion, memory: Memory) -> dict[str, float]:
    """Of one memory, each 0 to 1.

    length: the number of words, on a scale that saturates. speaker: the question points to its speaker, by
    name or as the user. is_statement: it does not end with a question mark. when: it is of the time that the
    question names, or mentions a time where the question asks for one.
    """
    text = memory.content.rstrip()
    words = count_words(text, MOST_LENGTH)
    return {
        "length": words / (words + HALF_LENGTH),
        "speaker": _says(question, memory),
        "is_statement": float(not text.endswith(ASKS)),
        "when": _of_time(question, memory.created_at, text),
    }


def _says(question: ParsedQuestion, memory: Memory) -> float:
    by = SPEAKER.match(memory.content)
    named = names_speaker(question.names, by["name"]) if by else 0.0
    spoken = memory.kind == TURN and memory.type != "user"
    return max(named, float(question.of_user and not spoken))


def _of_time(question: ParsedQuestion, moment: float, text: str) -> float:
    mentions_time = float(question.about_time and TELLS_TIME.search(text) is not None)
    return max(mentions_time, nearness(moment, question.periods, text))


def z_scaled(values: Mapping[str, float], prior: Prior = NO_PRIOR) -> dict[str, float]:
    """The z-scores of all values, scaled: the mean is 0.25, and each standard deviation 0.125 more.

    Unlike a share of the best value, this keeps its meaning when one value stands out far, or none does.
    prior: values that always count among them, so that the only one of a few that fits stands out as well.
    """
    count = len(values) + prior.count
    if not count:
        return {}
    mean = (sum(values.values()) + prior.count * prior.mean) / count
    around = sum((value - mean) ** 2 for value in values.values())
    around += prior.count * (prior.spread**2 + (prior.mean - mean) ** 2)
    spread = math.sqrt(around / count)
    return {
        name: MEAN + (value - mean) / spread / DEVIATIONS if spread else MEAN
        for name, value in values.items()
    }


def session_support(match: Mapping[str, float], places: Mapping[str, str]) -> dict[str, float]:
    """How well the best memory of each conversation matches (`z_scaled`). places: id -> its conversation."""
    best: dict[str, float] = {}
    for id, place in places.items():
        best[place] = max(match[id], best.get(place, match[id]))
    return z_scaled({id: best[places[id]] if id in places else own for id, own in match.items()})


def neighbour_support(stands: Mapping[str, float], neighbours: Iterable[tuple[str, str]]) -> dict[str, float]:
    """The `z_scaled` value of the better neighbour of each; the mean where it is lower, or was not found."""
    best = dict.fromkeys(stands, MEAN)
    for one, other in neighbours:
        if one in best and other in best:
            best[one] = max(best[one], stands[other])
            best[other] = max(best[other], stands[one])
    return best


def recency(memories: Iterable[Memory]) -> dict[str, float]:
    """How recently the conversation of each went on: 1 for the last, less by the logarithm of its rank."""
    places = {memory.id: (memory.session or memory.id, memory.created_at) for memory in memories}
    last: dict[str, float] = {}
    for place, at in places.values():
        last[place] = max(at, last.get(place, at))
    moments = sorted(set(last.values()), reverse=True)
    left = {at: 1 - math.log1p(rank) / math.log1p(len(moments)) for rank, at in enumerate(moments)}
    return {id: left[last[place]] for id, (place, _) in places.items()}


NEARLY = 0.5
"""The strength of a name that is spelt a little differently."""
SHORTEST_NEAR = 5
"""Letters of a name that may be spelt differently; a shorter one becomes another name."""
_POSSESSIVE = regex(r"['’]s?\Z")
_SPELLINGS = (("ie", "y"), ("ey", "y"), ("ph", "f"), ("ck", "k"), ("c", "k"), ("th", "t"))
"""Letters -> letters that sound the same."""
_DOUBLE = regex(r"(.)\1+")


def names_speaker(names: Iterable[str], speaker: str) -> float:
    """How surely one of the names is that of the speaker: 1, NEARLY if it is spelt differently, or 0.

    names: capitalised words of a question. "Anna's", "Annas" and "James'" name Anna and James. In a script
    without spaces a speaker is named by any run of characters that contains the name.
    """
    ours = {_folded(_POSSESSIVE.sub("", name)) for name in names}
    return max((_named(ours, _folded(part)) for part in speaker.split()), default=0.0)


def _folded(name: str) -> str:
    """Without case, and without accents where the script has letters."""
    return normalized(name) if unspaced(name) else "".join(word.text for word in words_of(name))


def _named(names: Collection[str], speaker: str) -> float:
    if speaker in names or f"{speaker}s" in names:
        return 1.0
    if unspaced(speaker):
        return float(any(speaker in name for name in names))
    return NEARLY if any(_spelt_alike(name, speaker) for name in names) else 0.0


def _spelt_alike(one: str, other: str) -> bool:
    """Whether two names sound the same by their letters, or differ in one letter behind the first."""
    if min(len(one), len(other)) < SHORTEST_NEAR:
        return False
    return _sound(one) == _sound(other) or (one[0] == other[0] and _one_letter_apart(one, other))


def _sound(name: str) -> str:
    for spelling, sound in _SPELLINGS:
        name = name.replace(spelling, sound)
    return _DOUBLE.sub(r"\1", name)


def _one_letter_apart(one: str, other: str) -> bool:
    """Whether one letter is added, left out or replaced, or two neighbours are swapped."""
    while one and other and one[0] == other[0]:
        one, other = one[1:], other[1:]
    while one and other and one[-1] == other[-1]:
        one, other = one[:-1], other[:-1]
    return max(len(one), len(other)) <= 1 or (len(one) == 2 and one == other[::-1])


WHOLE_WORDS_BELOW = 5
"""Letters below which a word counts only as a whole or with an ending of the plural."""
PLURALS = ("", "s", "'s", "’s", "es")
"""Endings of such a word."""
ENDING = 3
"""Letters of a longer word that may differ: interesting and interested, deploy and deploys."""


def coverage(information: Mapping[str, float], texts: Mapping[str, str]) -> dict[str, float]:
    """id -> the share of the information that its text covers, 0 to 1. information: of each term."""
    whole = sum(information.values())
    if not whole:
        return dict.fromkeys(texts, 0.0)
    tests = [(_test(term), share / whole) for term, share in information.items()]
    return {id: sum(share for has, share in tests if has(text)) for id, text in texts.items()}


def _test(term: str) -> Callable[[str], bool]:
    """Whether a text in lower case has the term. For a few hundred short texts this is faster than a regular
    expression, which has to be compiled for each term."""
    if unspaced(term):
        return lambda text: term in text
    if len(term) < WHOLE_WORDS_BELOW:
        return lambda text: term in text and _has_word(text, term, PLURALS)
    beginning = term[: max(WHOLE_WORDS_BELOW, len(term) - ENDING)]
    return lambda text: beginning in text and _has_word(text, beginning, ())


def _has_word(text: str, letters: str, endings: Sequence[str]) -> bool:
    """Whether a word of the text begins with these letters; if endings are given, it must end with one."""
    start = text.find(letters)
    while start >= 0:
        end = start + len(letters)
        if not text[start - 1 : start].isalnum() and (not endings or _ends(text, end, endings)):
            return True
        start = text.find(letters, start + 1)
    return False


def _ends(text: str, at: int, endings: Sequence[str]) -> bool:
    return any(
        text.startswith(ending, at) and not text[at + len(ending) : at + len(ending) + 1].isalnum()
        for ending in endings
    )


SHORTEST, LONGEST = 3, 200
"""Characters of an identifier."""
MOST = 8
"""Identifiers of one question that are looked up."""
_EDGES = "\"'`´‘’“”()[]{}<>,;:!?.…*"
_QUANTITY = regex(r"[$€£#]?\d[\d.,:/-]*(?:[a-z]{1,2}|%)?", re.IGNORECASE)
"""A number, a date or an amount: 2023, 17.01.2024, 5pm, 20th. It is no identifier."""
_INNER_CAPITAL = regex(r"[a-z0-9][A-Z]")
_DOTTED = regex(r"[^\W_]{2}[.:]{1,2}[^\W_]{2}")


def identifiers(text: str) -> tuple[str, ...]:
    """The identifiers in a text, in lower case and in order, each once."""
    tokens = (token.strip(_EDGES).removesuffix("(") for token in text.split())
    found = (token.lower() for token in tokens if _is_identifier(token))
    return tuple(dict.fromkeys(found))[:MOST]


def _is_identifier(token: str) -> bool:
    if not SHORTEST <= len(token) <= LONGEST or _QUANTITY.fullmatch(token):
        return False
    letters = any(character.isalpha() for character in token)
    digits = any(character.isdigit() for character in token)
    path = token.count("/") > 1 or token.startswith(("/", "~/", "./"))
    return letters and (
        digits
        or path
        or "_" in token
        or "@" in token
        or _INNER_CAPITAL.search(token) is not None
        or _DOTTED.search(token) is not None
    )


def contains(text: str, identifier: str) -> bool:
    """Whether a lower-case text has the identifier as a whole, not as a part of a longer one."""
    start = text.find(identifier)
    while start >= 0:
        end = start + len(identifier)
        if not _continues(text, start - 1) and not _continues(text, end):
            return True
        start = text.find(identifier, start + 1)
    return False


def _continues(text: str, at: int) -> bool:
    return 0 <= at < len(text) and (text[at].isalnum() or text[at] == "_")


def exact(wanted: Iterable[str], texts: Mapping[str, str]) -> dict[str, float]:
    """id -> the share of the identifiers that each text has, 0 to 1. Rare ones count more.

    texts: id -> lower-case text of every candidate. Texts without any identifier are left out.
    """
    holders = {name: [id for id, text in texts.items() if contains(text, name)] for name in wanted}
    rarity = {name: 1 - len(ids) / (len(texts) + 1) for name, ids in holders.items() if ids}
    shares: dict[str, float] = {}
    for name, value in rarity.items():
        for id in holders[name]:
            shares[id] = shares.get(id, 0.0) + value / len(rarity)
    return shares
