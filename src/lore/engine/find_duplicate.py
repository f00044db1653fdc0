"""find_duplicate: the memory that a draft repeats, the one it updates, and its neighbours."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from itertools import count

from lore.admit import admit
from lore.engine.embeddings import Embeddings
from lore.engine.similar import similar
from lore.model import Draft, Filter, Match, Memory
from lore.ranking.compare import Relation, compare, corrects, differ
from lore.ranking.relate import NUMBER, shared_words, twinness
from lore.store import Reader
from lore.text import passage_of, terms

KNOWLEDGE = frozenset({"note", "fragment", "entity", "observation"})
"""The kinds that may be repeated by, or tied to, a new memory."""
COMPARED_CHARACTERS = 10_000
"""The beginning of a text is enough to know it again; no embedder reads more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateCheck:
    """What there was before a draft was kept. twin: what it would repeat, and how nearly (0 to 1).

    updated: what it corrects. title: the one to keep it under; its own, or one that is free where a memory
    that says something else has its own.
    """

    title: str
    twin: Memory | None = None
    twinness: float = 0.0
    updated: Memory | None = None
    neighbours: tuple[Match, ...] = ()

    def nearest(self, least: float, besides: Container[str] = ()) -> Match | None:
        """The neighbour most alike by meaning, if it is at least that much alike."""
        alike = (match for match in self.neighbours if match.meaning >= least)
        return next((match for match in alike if match.memory.id not in besides), None)


def find_duplicate(
    draft: Draft, *, reader: Reader, sense: Embeddings, limit: int, duplicate_at: float
) -> DuplicateCheck:
    """Look before keeping: the same title repeats for certain, else meaning and words decide together.

    What differs in a number, a name, a value or a "not" is no repetition, however alike it is.
    """
    draft = admit(draft)
    namesake = namesake_of(draft, reader)
    if namesake is not None and not corrects(namesake.content, draft.content):
        return DuplicateCheck(title=draft.title, twin=namesake, twinness=1.0)
    title = draft.title if namesake is None else _free_title(draft, reader)
    matches = similar(_told(draft), reader=reader, sense=sense, where=Filter(kinds=KNOWLEDGE), limit=limit)
    alike = {
        match.memory.id: twinness(match.meaning, _words_in_common(draft, match))
        for match in matches
        if not _differs(draft, match.memory)
    }
    best = max(alike, key=alike.__getitem__, default="")
    neighbours = tuple(matches)
    if not best or alike[best] < duplicate_at:
        updated = _updated(draft, [match.memory for match in matches])
        return DuplicateCheck(title=title, updated=updated or namesake, neighbours=neighbours)
    twin = next(match.memory for match in matches if match.memory.id == best)
    return DuplicateCheck(title=title, twin=twin, twinness=alike[best], neighbours=neighbours)


def _differs(draft: Draft, memory: Memory) -> bool:
    ours, theirs = (set(NUMBER.findall(title)) for title in (draft.title, memory.title))
    renumbered = ours != theirs and bool(draft.title and memory.title)
    return renumbered or differ(memory.content, draft.content)


def _updated(draft: Draft, memories: Sequence[Memory]) -> Memory | None:
    """The most similar one that the draft certainly updates."""
    return next((old for old in memories if compare(old.content, draft.content) is Relation.UPDATE), None)


def _free_title(draft: Draft, reader: Reader) -> str:
    """The draft's title with the first number that nobody has: `Rate limit (2)`."""
    numbered = (f"{draft.title} ({number})" for number in count(2))
    return next(title for title in numbered if namesake_of(replace(draft, title=title), reader) is None)


def _words_in_common(draft: Draft, match: Match) -> float:
    """The strength by words, but no more than the words that both consist of.

    The best hit has the strength 1 however little it has in common, and a fact that differs in one word is
    not a repetition.
    """
    known = match.memory
    shares = [
        shared_words(set(terms(ours)), set(terms(theirs)))
        for ours, theirs in ((_told(draft), _told(known)), (draft.content, known.content))
    ]
    return min(match.words, max(shares))


def _told(noun: Draft | Memory) -> str:
    return passage_of(noun.title, noun.summary, noun.content, "")[:COMPARED_CHARACTERS]


def namesake_of(draft: Draft, reader: Reader) -> Memory | None:
    """The memory of the same kind that has the draft's title already."""
    if not draft.title:
        return None
    same = Filter(titles=frozenset({draft.title}), kinds=frozenset({draft.kind}), superseded=True)
    return next(iter(reader.select(same, 1)), None)
