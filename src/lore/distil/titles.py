"""Titles: what to call a stretch of a conversation, and what to say of it in a few sentences."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import takewhile

from lore.distil.base import Finding, Spoken
from lore.distil.cues import IMPERATIVE, OPENING, OPPOSING, ORDERING, asks, orders
from lore.distil.entities import entities_of
from lore.distil.phrases import alternatives, pattern
from lore.distil.sentences import sentences_of
from lore.patterns import regex
from lore.ranking.cluster import containment
from lore.text import STOP_WORDS, preview, words

LONGEST = 80
ENOUGH_WORDS = 12
EARLY_TURNS = 4
"""Of how many turns of the user the request is taken: it stands at the beginning."""
LONGEST_OVERVIEW = 600
LATER, LATER_TURN, REQUESTED = 0.8, 0.4, 1.5
MOST_SENTENCES = 3
REPEATED = 0.7
KEY_WORDS, MOST_SPACES = 4, 3
FEWEST_NOUNS = 2
LONGEST_READ = 400
"""Characters of a turn in which a noun phrase is looked for."""

_ASKING_TO = regex(rf"^(?:{alternatives('asking to')}(?:[,.:;!–—-]+\s*|\s+))+", re.IGNORECASE)
_APPENDED = regex(
    r"[,;]\s+(?:and )?(?:please|bitte)\b.*$"
    r"|[,;]\s+(?:and )?(?:can|could|would|will|kannst|könntest|peux|puedes|puoi)[ -](?:you|du|tu)\b.*$",
    re.IGNORECASE,
)
_TRAILING = regex(r"(?:[\s,;:.!?…]|\b(?:please|thanks|thank you|pls|bitte|danke)\b)+$", re.IGNORECASE)
_WONDERING, _COMPLAINING = pattern("wondering"), pattern("complaining")
_ORDER = regex(
    ORDERING.pattern
    + r"(?:\s+(?:sure|working|out|up|into|in|at|on|over|through|with|for|to|me|us|why|how|whether|if|that"
    + r"|and))*\s+",
    re.IGNORECASE,
)
_VERB_OR_PERSON = regex(
    rf"(?<![@/`.-])(?<!\w){alternatives('verb or person')}(?!\w)(?![-/.]\w)", re.IGNORECASE
)
"""A finite verb, a person or a question word: a noun phrase ends before it."""
_DETERMINER = regex(
    r"^(?:(?:in|on|at|for|with|the|a|an|this|that|our|my|all|some|any|new|both)\s+)+", re.IGNORECASE
)
_FURTHER = regex(r"(?<=\w\w)[,;:]\s.*$", re.DOTALL)
"""A further order after the first."""
_JOINED = regex(r"[,;:]\s|\s[–—(-]|\s(?:and|or|but|so|because|since|that|if|whether)\s", re.IGNORECASE)
"""Where a further clause may begin."""
_CLAUSE = regex(r"^(.{30,80}?)(?:[,;:]\s|\s[–—(-])")
_NOUNS = regex(r"\b(?:the|our|my|an?) ((?:[\w-]+ ){1,3}[\w-]+)")
_OUTCOMES = {"outcome": 0, "decision": 1, "correction": 2, "preference": 3, "fact": 4, "goal": 5}


def request_of(spoken: Sequence[Spoken]) -> str:
    """What the user asked for: the most telling sentence of their first turns; empty if there is none."""
    best, most = "", 0.0
    early = [turn for turn in spoken if turn.role == "user"][:EARLY_TURNS]
    for place, turn in enumerate(early):
        for at, sentence in enumerate(sentences_of(turn.text)[:6]):
            content = [word for word in words(sentence) if word not in STOP_WORDS]
            requested = REQUESTED if asks(sentence) or orders(sentence) else 1.0
            worth = min(ENOUGH_WORDS, len(content)) * requested * LATER**at * LATER_TURN**place
            if len(content) > 1 and worth > most:
                best, most = sentence, worth
    return _asked(best)


def subject_of(spoken: Sequence[Spoken]) -> str:
    """The subject of the user's request as a noun phrase of at most 80 characters; empty if there is none.

    An order loses its verb: `Update the session start command, then …` is about the `session start command`.
    A question, a remark on the work of the moment and a sentence with a verb or a person have no subject.
    """
    request = OPPOSING.sub("", request_of(spoken))
    if ORDERING.match(request):
        request = _FURTHER.sub("", _ORDER.sub("", request))
    elif IMPERATIVE.match(request):
        request = _FURTHER.sub("", request.partition(" ")[2])
    subject = _noun_part(_TRAILING.sub("", _DETERMINER.sub("", request)))
    if not any(map(str.isalpha, subject)) or asks(request) or ORDERING.match(subject):
        return ""
    if _COMPLAINING.match(subject) or OPENING.match(subject):
        return ""
    return _short(subject[:1].upper() + subject[1:])


def _noun_part(subject: str) -> str:
    """The subject if it is a noun phrase, else the noun phrase it begins with; empty without one."""
    clause = _VERB_OR_PERSON.search(subject)
    if not clause:
        return subject
    begun = _JOINED.split(subject[: clause.start()], maxsplit=1)[0].split()
    while begun and begun[-1].lower() in STOP_WORDS:
        begun.pop()
    telling = sum(word.lower() not in STOP_WORDS for word in begun)
    return _TRAILING.sub("", " ".join(begun)) if telling >= FEWEST_NOUNS else ""


def title_of(spoken: Sequence[Spoken], findings: Sequence[Finding] = ()) -> str:
    """At most 80 characters: the subject of the request, else the names that the findings have most."""
    return subject_of(spoken) or _key_phrase(spoken, findings)


def overview_of(spoken: Sequence[Spoken], findings: Sequence[Finding]) -> str:
    """The subject and the most important findings, in one to three sentences."""
    came = sorted(
        (finding for finding in findings if finding.type in _OUTCOMES),
        key=lambda finding: (finding.importance != "high", _OUTCOMES[finding.type], -finding.turns[-1]),
    )
    subject = subject_of(spoken)
    parts = [ended(subject)] if subject else []
    for text in (finding.text for finding in came):
        if len(parts) < MOST_SENTENCES and all(_differ(text, part) for part in parts):
            parts.append(ended(text))
    overview = " ".join(parts)
    return preview(overview or title_of(spoken, findings), LONGEST_OVERVIEW)


def _asked(sentence: str) -> str:
    sentence = _APPENDED.sub("", sentence)
    bare = _TRAILING.sub("", _ASKING_TO.sub("", sentence))
    if asks(sentence) and _WONDERING.match(bare):
        bare = f"{bare}?"
    return bare[:1].upper() + bare[1:]


def _short(text: str) -> str:
    """What fits, if it can be up to the end of a clause."""
    clause = _CLAUSE.match(text) if len(text) > LONGEST else None
    return clause.group(1) if clause else preview(text, LONGEST)


def _differ(one: str, other: str) -> bool:
    return containment(one, other) < REPEATED


def ended(text: str) -> str:
    """With a full stop, unless it has an end."""
    return text if not text or text.endswith((".", "!", "?", "。", "！", "？")) else f"{text}."


def _key_phrase(spoken: Sequence[Spoken], findings: Sequence[Finding]) -> str:
    named = Counter(name for finding in findings for name in finding.entities)
    if names := [name for name, _ in named.most_common() if name.count(" ") < MOST_SPACES]:
        return preview(", ".join(names[:KEY_WORDS]), LONGEST)
    text = " ".join(finding.text for finding in findings) or request_of(spoken)
    text = text or " ".join(turn.text[:LONGEST_READ] for turn in spoken[:20])
    counts = Counter(word for word in words(text) if word not in STOP_WORDS and len(word) > 3)
    key_words = [word for word, _ in counts.most_common(KEY_WORDS)]
    names = [name for name in entities_of(text, most=KEY_WORDS) if name.count(" ") < MOST_SPACES]
    first = next((turn.text[:LONGEST_READ] for turn in spoken if turn.role == "user"), "")
    phrase = _noun_phrase(text) or _noun_phrase(first)
    return preview(", ".join(names) or phrase or ", ".join(key_words), LONGEST)


def _noun_phrase(text: str) -> str:
    """The first run of at least two telling words behind an article: `release branch`."""
    for found in _NOUNS.findall(text):
        nouns = list(takewhile(lambda word: word.lower() not in STOP_WORDS, found.split()))
        if len(nouns) > 1:
            return " ".join(nouns).capitalize()
    return ""
