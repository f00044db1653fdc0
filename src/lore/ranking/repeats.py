"""Repeats: among the hits of a search each fact is shown once, and a question is no answer to itself."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from lore.patterns import regex
from lore.ranking.relate import NOT, NUMBER, SHORT_NOT
from lore.text import STOP_WORDS, names_in, terms, tokens
from lore.wordlists import word_lists

LEAST_WORDS = 3
"""Words, without stop words, that a memory needs before it can be found in a turn."""
CONTAINED = 0.9
"""Share of a memory's words that a turn must have to say the same; names and numbers must all be there."""
COVERED = 0.5
"""Share of a turn's words from which on a memory says most of the turn."""
SHARED_TERMS = 2
"""Words of the question that a turn and a memory must share, where the memory says less of the turn."""
LONGEST_TURN, LONGEST_QUESTION = 8_000, 600
"""Characters of a turn that are compared; texts longer than the second number are no mere questions."""
CACHED = 256
"""Texts whose words are cached: each is compared with many others."""
SAME_QUESTION = 0.75
"""Share of words that two questions must have in common, of all words of both, to be the same."""

_SENTENCE = regex(r"(?<![.!?:;])[.!?:;]++(?:\s+|$)|[。！？：；]++\s*|\n+")
_QUESTION = regex(
    r"(?:what|when|where|which|who|whom|whose|why|how|is|are|am|was|were|do|does|did|can|could|will|would"
    r"|should|has|have|had|may|shall|tell me|remind me|find|search|look|recall|check|please|do you)\b"
    r"|.*[?？]\s*$",
    re.IGNORECASE | re.DOTALL,
)
_CHANGE = regex(
    r"\b(?:now|longer|anymore|instead|was|were|used to|formerly|previously|correction|actually|changed?"
    r"|switch(?:ed)?|moved?|replaced?)\b",
    re.IGNORECASE,
)
_CLAUSE_END = regex(r"(?<=[.!?])\s+|(?<=[。！？])\s*|\n+")
REQUEST = word_lists("lore.ranking", "words.txt")["request words"]
"""Words of a request that say nothing about its subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A hit as it is compared with others. at: when it was said.

    verbatim: a turn or a session. heading: a session, or an overview that Lore wrote. distilled: Lore wrote
    it. turns: ids of the turns it is known to come from. twin_key: the same for memories that are kept twice;
    empty if a memory has no twins.
    """

    id: str
    text: str
    at: float = 0.0
    verbatim: bool = False
    heading: bool = False
    distilled: bool = False
    turns: frozenset[str] = frozenset()
    twin_key: str = ""


@dataclass(slots=True)
class Repeats:
    """stands_for: memory -> turns that it replaces. covered: headings that only repeat other hits, and
    memories that say what another one says -> the memory that is shown instead. lesser: hits that repeat a
    better one in part, and stay.
    """

    stands_for: dict[str, list[str]] = field(default_factory=dict)
    covered: dict[str, str] = field(default_factory=dict)
    lesser: set[str] = field(default_factory=set)


def repeats(question: str, ranked: Sequence[Statement]) -> Repeats:
    """Compare hits, best first: a memory replaces its turns, and headings give way to what they repeat.

    A memory replaces a turn only if it has all words of the question that the turn has; a turn that
    answers more stays. What was stored on purpose is never the lesser of two.
    """
    found = Repeats()
    memories = [one for one in ranked if not one.verbatim and not one.heading]
    if not memories:
        return found
    query_terms = frozenset(terms(question))
    vocabulary = {one.id: vocabulary_of(one.text) for one in ranked}
    found.covered = _same_memories(memories, vocabulary)
    memories = [one for one in memories if one.id not in found.covered]
    place = {one.id: at for at, one in enumerate(ranked)}
    for one in ranked:
        if one.verbatim and not one.heading:
            same = [memory for memory in memories if _says(one, memory, vocabulary)]
            instead = [memory for memory in same if _answers_for(memory, one, query_terms, vocabulary)]
            if instead:
                found.stands_for.setdefault(instead[0].id, []).append(one.id)
            else:
                found.lesser |= _lesser(one, same, place)
    others = [vocabulary[one.id] for one in ranked if not one.heading]
    for one in ranked:
        instead = [memory for memory in memories if query_terms & vocabulary[one.id] <= vocabulary[memory.id]]
        if one.heading and instead and _is_covered(one.text, others):
            found.covered[one.id] = instead[0].id
    return found


def _same_memories(memories: Sequence[Statement], vocabulary: Mapping[str, frozenset[str]]) -> dict[str, str]:
    """Memories that another one makes superfluous -> that one.

    Of twins the best stays. What Lore distilled gives way to what somebody stored, if it says that.
    """
    covered: dict[str, str] = {}
    first: dict[str, str] = {}
    for one in memories:
        best = first.setdefault(one.twin_key, one.id)
        if one.twin_key and best != one.id:
            covered[one.id] = best
    stored = [one for one in memories if not one.distilled and one.id not in covered]
    for one in memories:
        if one.distilled and one.id not in covered:
            same = [other.id for other in stored if _says(one, other, vocabulary)]
            covered |= {one.id: same[0]} if same else {}
    return covered


def asks_again(question: str, text: str) -> bool:
    """Whether a text only asks, and asks what the question asks: no statement, and nearly the same words."""
    if len(text) > LONGEST_QUESTION:
        return False
    clauses = [clause for clause in _CLAUSE_END.split(text.strip()) if clause]
    if not clauses or not all(_QUESTION.match(clause) for clause in clauses):
        return False
    ours, theirs = frozenset(terms(question)) - REQUEST, frozenset(terms(text)) - REQUEST
    return len(ours & theirs) >= SAME_QUESTION * len(ours | theirs)


@lru_cache(maxsize=CACHED)
def vocabulary_of(text: str) -> frozenset[str]:
    """The words of a text by which it is compared; stop words are none."""
    return frozenset(tokens(text[:LONGEST_TURN])) - STOP_WORDS


def says(text: str, statement: str) -> bool:
    """Whether a text says all that a statement says, in the same words. A statement has LEAST_WORDS words."""
    turn, memory = Statement(id="text", text=text), Statement(id="statement", text=statement)
    return _says(turn, memory, {one.id: vocabulary_of(one.text) for one in (turn, memory)})


def _says(turn: Statement, memory: Statement, vocabulary: Mapping[str, frozenset[str]]) -> bool:
    """Whether a turn says all that a memory says: it came from the turn, or stands in it."""
    if turn.id in memory.turns:
        return True
    ours = vocabulary[memory.id]
    if len(ours) < LEAST_WORDS or len(ours & vocabulary[turn.id]) < CONTAINED * len(ours):
        return False
    passage = _passage(turn.text[:LONGEST_TURN], ours)
    theirs = frozenset(tokens(passage))
    exact = {word for name in names_in(memory.text) for word in tokens(name)} - STOP_WORDS
    exact |= {word for word in ours if any(letter.isdigit() for letter in word)}
    if len(ours & theirs) < CONTAINED * len(ours) or not exact <= theirs:
        return False
    if turn.at > memory.at and _may_correct(passage, memory.text):
        return False
    return _denies(passage) == _denies(memory.text)


def _answers_for(
    memory: Statement, turn: Statement, query_terms: frozenset[str], vocabulary: Mapping[str, frozenset[str]]
) -> bool:
    ours, theirs = vocabulary[memory.id], vocabulary[turn.id]
    shared = query_terms & theirs
    if not shared <= ours:
        return False
    return len(ours & theirs) >= COVERED * len(theirs) or len(shared) >= SHARED_TERMS


def _is_covered(heading: str, others: Sequence[frozenset[str]]) -> bool:
    """Whether each sentence stands in another hit."""
    sentences = [frozenset(tokens(part)) - STOP_WORDS for part in _SENTENCE.split(heading)]
    return all(
        any(len(sentence & other) >= CONTAINED * len(sentence) for other in others) for sentence in sentences
    )


def _lesser(turn: Statement, same: Sequence[Statement], place: Mapping[str, int]) -> set[str]:
    """Of a turn and the memories that say a part of it, those behind the first; no stored memory."""
    behind = {one.id for one in same if one.distilled and place[one.id] > place[turn.id]}
    return behind | ({turn.id} if any(place[one.id] < place[turn.id] for one in same) else set())


def _passage(text: str, wanted: frozenset[str]) -> str:
    """The sentences of a text that share at least LEAST_WORDS - 1 of these words."""
    sentences = (part for part in _SENTENCE.split(text) if part)
    return ". ".join(part for part in sentences if len(wanted.intersection(tokens(part))) >= LEAST_WORDS - 1)


def _may_correct(newer: str, older: str) -> bool:
    """Whether a newer text with the same words gives another number or speaks of a change."""
    other_numbers = set(NUMBER.findall(newer)) - set(NUMBER.findall(older))
    return bool(other_numbers or (_CHANGE.search(newer) and not _CHANGE.search(older)))


def _denies(text: str) -> bool:
    return not NOT.isdisjoint(tokens(text)) or bool(SHORT_NOT.search(text))
