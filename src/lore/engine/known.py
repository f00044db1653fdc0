"""known: what resembles a draft → the one that it repeats, and the one next to it that is worth a tie."""

from collections.abc import Container
from dataclasses import dataclass

from lore.engine.sense import Sense
from lore.engine.similar import similar
from lore.model import Draft, Filter, Match, Memory
from lore.ranking.relate import shared_words, twinness
from lore.store import Reader
from lore.text import passage_of, terms

KNOWLEDGE = frozenset({"note", "fragment", "entity", "observation"})
"""The kinds that may be repeated by, or tied to, a new memory."""
COMPARED_CHARACTERS = 10_000
"""The beginning of a text is enough to know it again; no embedder reads more."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What there was before a draft was kept. twin: what it would repeat, and how nearly (0 to 1)."""

    twin: Memory | None = None
    twinness: float = 0.0
    neighbours: tuple[Match, ...] = ()

    def nearest(self, least: float, besides: Container[str] = ()) -> Match | None:
        """The neighbour most alike by meaning, if it is at least that much alike."""
        alike = (match for match in self.neighbours if match.meaning >= least)
        return next((match for match in alike if match.memory.id not in besides), None)


def known(draft: Draft, *, reader: Reader, sense: Sense, limit: int, twin_at: float) -> Known:
    """Look before keeping: the same title repeats for certain, else meaning and words decide together."""
    if namesake := namesake_of(draft, reader):
        return Known(twin=namesake, twinness=1.0)
    matches = similar(_told(draft), reader=reader, sense=sense, where=Filter(kinds=KNOWLEDGE), limit=limit)
    alike = {match.memory.id: twinness(match.meaning, _words_in_common(draft, match)) for match in matches}
    best = max(matches, key=lambda match: alike[match.memory.id], default=None)
    if best is None or alike[best.memory.id] < twin_at:
        return Known(neighbours=tuple(matches))
    return Known(twin=best.memory, twinness=alike[best.memory.id], neighbours=tuple(matches))


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
