"""find_duplicate: the memory that a draft repeats, the one it corrects, and similar ones."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace
from itertools import count

import numpy as np

from lore.admit import admit
from lore.engine.embeddings import Embeddings
from lore.errors import Invalid
from lore.model import Draft, Filter, Memory
from lore.ranking import fuse
from lore.ranking.compare import Relation, compare, corrects, differ
from lore.ranking.relate import NUMBER, shared_words, twinness
from lore.settings import Tuning
from lore.store import Reader
from lore.store.values import Page
from lore.text import passage_of, require_text, terms
from lore.vectors import Vector, cosines_to, unit

KNOWLEDGE = frozenset({"note", "fragment", "entity", "observation"})
"""The kinds that a new memory may repeat or be linked to."""
TextOrVector = str | Sequence[float]
CANDIDATES = 20
"""The number of candidates by words, and the least number by meaning."""
COMPARED_CHARACTERS = 10_000
"""The beginning of a text is enough to recognise it; no embedder reads more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """An existing memory that is similar to a text: by meaning (likeness) and by words (the best has 1)."""

    memory: Memory
    meaning: float
    words: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateCheck:
    """The memories that matter for storing a draft.

    title: the draft's own, or a free one if a memory with another text has it. twin: the memory that the
    draft would repeat. twinness: how closely, 0 to 1. updated: the memory that it corrects.
    """

    title: str
    twin: Memory | None = None
    twinness: float = 0.0
    updated: Memory | None = None
    neighbours: tuple[Match, ...] = ()

    def nearest(self, least: float, besides: Container[str] = ()) -> Match | None:
        """The neighbour with the highest likeness, if it is at least `least`."""
        similar = (match for match in self.neighbours if match.meaning >= least)
        return next((match for match in similar if match.memory.id not in besides), None)


def find_duplicate(draft: Draft, reader: Reader, embeddings: Embeddings, *, tuning: Tuning) -> DuplicateCheck:
    """Look for a duplicate: the same title is one for certain, else meaning and words decide together.

    A memory with another number, name, value or "not" is no duplicate, however similar it is.
    """
    draft = admit(draft)
    namesake = namesake_of(draft, reader)
    if namesake is not None and not corrects(namesake.content, draft.content):
        return DuplicateCheck(title=draft.title, twin=namesake, twinness=1.0)
    title = draft.title if namesake is None else _free_title(draft, reader)
    limit = max(1, tuning.auto_link_k)
    matches = similar(_text_of(draft), reader, embeddings, where=Filter(kinds=KNOWLEDGE), limit=limit)
    check = DuplicateCheck(title=title, neighbours=tuple(matches))
    candidates = [
        (twinness(match.meaning, _words_in_common(draft, match)), match.memory)
        for match in matches
        if not _differs(draft, match.memory)
    ]
    score, twin = max(candidates, key=lambda candidate: candidate[0], default=(0.0, None))
    if twin is None or score < tuning.duplicate_threshold:
        olds = (match.memory for match in matches)
        updated = (old for old in olds if compare(old.content, draft.content) is Relation.UPDATE)
        return replace(check, updated=next(updated, namesake))
    return replace(check, twin=twin, twinness=score)


def similar(
    text: TextOrVector, reader: Reader, embeddings: Embeddings, *, where: Filter, limit: int
) -> list[Match]:
    """The memories most similar to a text, best meaning first; without a model, by words alone.

    A vector of the embedding model is compared by meaning alone.
    """
    words: dict[str, float] = {}
    if isinstance(text, str):
        vectors = embeddings.embed_texts([require_text(text, "text")])
        vector = None if vectors is None else vectors[0]
        words = fuse.relative_to_best(reader.matching(terms(text), CANDIDATES, where).strengths)
    else:
        vector = _checked(text, embeddings)
    cosines: dict[str, float] = {}
    if vector is not None:
        cosines = reader.near(vector, embeddings.model, max(limit, CANDIDATES), where)
        rest = [id for id in words if id not in cosines]
        cosines |= cosines_to(vector, reader.vectors(embeddings.model, rest))
    memories = reader.get([*cosines, *words])
    matches = [
        Match(
            memory=memory,
            meaning=min(1.0, max(0.0, embeddings.likeness(cosines[id]))) if id in cosines else 0.0,
            words=words.get(id, 0.0),
        )
        for id, memory in memories.items()
    ]
    return sorted(matches, key=lambda match: (-match.meaning, -match.words, match.memory.id))[:limit]


def _checked(numbers: Sequence[float], embeddings: Embeddings) -> Vector:
    """The numbers as a unit vector of the embedding model."""
    with np.errstate(over="ignore"):  # beyond 32 bits is infinity, which `unit` refuses
        vector = unit(np.asarray(numbers, dtype=np.float32))
    if vector.size != embeddings.dimension:
        raise Invalid(f"a vector of {embeddings.model} has {embeddings.dimension} numbers, not {vector.size}")
    return vector


def _differs(draft: Draft, memory: Memory) -> bool:
    ours, theirs = (set(NUMBER.findall(title)) for title in (draft.title, memory.title))
    renumbered = ours != theirs and bool(draft.title and memory.title)
    return renumbered or differ(memory.content, draft.content)


def _free_title(draft: Draft, reader: Reader) -> str:
    """The draft's title with the first number that no other memory has: `Rate limit (2)`."""
    numbered = (f"{draft.title} ({number})" for number in count(2))
    return next(title for title in numbered if namesake_of(replace(draft, title=title), reader) is None)


def _words_in_common(draft: Draft, match: Match) -> float:
    """The strength by words, limited to the share of words that both texts have.

    The best hit has the strength 1, however few words it shares; and a fact that differs in one word is no
    duplicate.
    """
    memory = match.memory
    shares = [
        shared_words(set(terms(ours)), set(terms(theirs)))
        for ours, theirs in ((_text_of(draft), _text_of(memory)), (draft.content, memory.content))
    ]
    return min(match.words, max(shares))


def _text_of(noun: Draft | Memory) -> str:
    return passage_of(noun.title, noun.summary, noun.content, "")[:COMPARED_CHARACTERS]


def namesake_of(draft: Draft, reader: Reader) -> Memory | None:
    """The memory of the same kind with the draft's title."""
    if not draft.title:
        return None
    same = Filter(titles=frozenset({draft.title}), kinds=frozenset({draft.kind}), superseded=True)
    return next(iter(reader.select(same, Page(limit=1))), None)
