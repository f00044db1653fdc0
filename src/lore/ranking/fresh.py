"""Fresh: a newer memory that updates an older one comes before it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from lore.names import VERBS, stems
from lore.patterns import regex
from lore.ranking.claims.grammar import ADDING
from lore.ranking.compare import Relation, compare
from lore.ranking.statement import CHANGING, Statement, content_words, statement, stem_of, wording
from lore.text import STOP_WORDS, words
from lore.wordlists import word_lists

LEAST_WORDS = 3
"""Words that two texts must have in common at their beginning, besides half of the shorter one."""
COMPARABLE = 4
"""Texts are compared if they share at least one in this many content words of the shorter one."""
OF_THE_PAST = regex(
    r"\b(?:first|original(?:ly)?|initial(?:ly)?|former(?:ly)?|previous(?:ly)?|earli(?:er|est)|old"
    r"|(?<!be )(?<!is )(?<!are )used to|at the beginning|before(?=\W*$))\b",
    re.IGNORECASE,
)
MOST_LESS_SIMILAR = 0.33
"""How much less similar to the question the newer memory may be."""
STEM_LETTERS = 5
"""Letters of a stem that are compared, so that `deployment` is about `deploy`."""
CACHED = 2_048
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_CHANGE = regex(
    r"\b(?:instead of|rather than|no longer|any ?more|any longer|as of|from now on"
    r"|from (?:this|next|\w+day)\b[\w ]{0,12} on"
    r"|effective|now|nowadays|these days|currently"
    rf"|since (?:last|this|the|yesterday|today|{_DAY}|\w+ left)"
    r"|became|becomes|started|stopped|quit|again|slipped|(?:is|are|was|were) gone|took .{0,40}\bover"
    r"|taken over|ditched|abandoned|removed|retired|got rid of|sold|gave up|rewrote"
    r"|turned .{1,40}\b(?:on|off)|not \w+\)?\.?$)",
    re.IGNORECASE,
)
_ASKS_QUANTITY = regex(
    r"^\W*(?:how (?:long|many|much|often|large|big|old|fast|far|high)|when|(?:at )?what time)\b",
    re.IGNORECASE,
)
_QUANTITY = regex(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred"
    rf"|once|twice|hourly|daily|weekly|monthly|yearly|half|quarter|noon|midnight|{_DAY}s?)\b",
    re.IGNORECASE,
)
_ASKING = frozenset(
    stem[:STEM_LETTERS] for stem in content_words(word_lists("lore.ranking", "words.txt")["asking"])
)
"""Stems of the words by which a question asks; an answer may use others."""


@dataclass(frozen=True)
class Dated:
    """A hit with its time. likeness: its similarity to the question, if it has a vector.

    spoken: it is a turn of a conversation, where people say "I"; only a certain update counts.
    """

    id: str
    text: str
    at: float
    score: float
    likeness: float | None = None
    spoken: bool = False

    @cached_property
    def words(self) -> list[str]:
        return words(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        return stems(self.words)


def lifted(question: str, hits: Sequence[Dated]) -> dict[str, float]:
    """New scores by id: a hit that updates older ones rises to the best score among them.

    Nothing rises where the question asks for the past. A likely update keeps its place where the question
    names what differs.
    """
    if OF_THE_PAST.search(question):
        return {}
    question_stems = stems(words(question))
    raised: dict[str, float] = {}
    for newer in hits:
        better = (older for older in hits if older.at < newer.at and older.score > newer.score)
        updated = [older.score for older in better if _updates(older, newer, question, question_stems)]
        if updated:
            raised[newer.id] = max(updated)
    return raised


def _updates(older: Dated, newer: Dated, question: str, question_stems: frozenset[str]) -> bool:
    spoken = older.spoken or newer.spoken
    if not spoken and replaces(question, older.text, newer.text, _less_similar(older, newer)):
        return True
    if not _about_the_same(older.stems, newer.stems):
        return False
    if _same_but_for_value(newer.words, older.words, question_stems):
        return True
    relation = compare(older.text, newer.text, thorough=False)
    if relation is not Relation.LIKELY_UPDATE or spoken:
        return relation is Relation.UPDATE
    return question_stems.isdisjoint(older.stems ^ newer.stems)


def _less_similar(older: Dated, newer: Dated) -> float:
    if older.likeness is None or newer.likeness is None:
        return 0.0
    return older.likeness - newer.likeness


def _about_the_same(older: frozenset[str], newer: frozenset[str]) -> bool:
    """Whether a quarter of the shorter text's words stand in the other: less is not worth comparing."""
    shared = len(older & newer)
    return bool(shared) and COMPARABLE * shared >= min(len(older), len(newer))


def _same_but_for_value(one: Sequence[str], other: Sequence[str], question_stems: frozenset[str]) -> bool:
    """Whether they begin alike, and go on with different words that the question does not name.

    What differs must stand behind the verb: before it, they speak of different things.
    """
    shared = next(
        (at for at, (ours, theirs) in enumerate(zip(one, other, strict=False)) if ours != theirs), None
    )
    if shared is None or shared < max(LEAST_WORDS, min(len(one), len(other)) / 2):
        return False
    if one[shared][0].isdigit() != other[shared][0].isdigit():
        return False
    values = (*one[shared:], *other[shared:])
    distinguishing = question_stems - stems(one[:shared])
    return VERBS.isdisjoint(values) and distinguishing.isdisjoint(stems(values))


def replaces(question: str, older: str, newer: str, less_similar: float = 0.0) -> bool:
    """Whether the newer text tells of a change and answers the question that the older one answers.

    `compare` looks at two statements alone and needs nearly the same words. Here the question decides whether
    both are about the same thing: "We moved to three-week sprints" replaces "The sprint length is two weeks"
    for "How long is a sprint?". That is likely, never certain: it changes an order and hides nothing.

    less_similar: by how much the newer text is less similar to the question than the older one.
    """
    topic = _topic(question, older)
    if not topic or not topic <= _topic(question, newer) or less_similar > MOST_LESS_SIMILAR:
        return False
    if not _tells_change(newer) or wording(older) is None or ADDING.search(newer):
        return False
    if _ASKS_QUANTITY.search(question) and _QUANTITY.search(older) and not _QUANTITY.search(newer):
        return False
    new = statement(newer)  # reading a text takes longest
    return new is not None and not _is_narrower(older, new)


@lru_cache(maxsize=CACHED)
def _tells_change(text: str) -> bool:
    new = wording(text)
    if new is None:
        return False
    return new.corrects or not CHANGING.isdisjoint(new.words) or _CHANGE.search(new.text) is not None


@lru_cache(maxsize=CACHED)
def _topic(question: str, text: str) -> frozenset[str]:
    """The stems of a text that the question names."""
    return (_stems(question) - _ASKING) & _stems(text)


@lru_cache(maxsize=CACHED)
def _stems(text: str) -> frozenset[str]:
    return frozenset(stem_of(word)[:STEM_LETTERS] for word in words(text) if word not in STOP_WORDS)


def _is_narrower(older: str, new: Statement) -> bool:
    """Whether the newer text is about a part, or about somebody else: `for admins`, `Mia's parents`."""
    stems = _stems(older)
    added = [token for token in new.tokens if token.stem[:STEM_LETTERS] not in stems]
    owners = {owner for owner in re.findall(r"\b(\w+)'s (?=[a-z])", new.text) if f"{owner}'s " not in older}
    return any(token.before == "for" and not token.numeric for token in added) or any(
        stem_of(owner.lower())[:STEM_LETTERS] in stems for owner in owners
    )
