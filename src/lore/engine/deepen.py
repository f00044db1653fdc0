"""deepen: walk on from what a search found, over names and links, to what shares no words with the question.

A memory leads to those that are introduced by a name that it mentions, and to those that it is linked to.
Of several ways, the walker prefers the one beside which words of the question stand, and of several memories
with the same name those that are more like the question. Where the question itself names what it is about,
the walk begins there and mostly decides; elsewhere it begins at the best hits, and adds to them.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lore.engine.embeddings import Embeddings
from lore.model import Hit, Link, Memory, Query, Signal
from lore.names import Mention, Word, candidates, mentions, stems, subjects, without, words_of
from lore.ranking.decay import left_of, relevance
from lore.ranking.evidence import DEVIATIONS, UNLIKE
from lore.ranking.graph import personalized_pagerank, shares
from lore.ranking.policy import Policy
from lore.store import Reader
from lore.text import overlap
from lore.vectors import Vector

SEEDS = 5
"""From how many of the best hits a walk begins."""
ROUNDS = 3
BEAM = 8
"""How many places are left behind in each round: those where most of the walkers are."""
HUB = 60
"""A name of more memories than this leads nowhere in particular."""
NAMED = 0.8
"""How many of the walkers begin at what the question names, if it does."""
DECIDES = 0.8
"""What the walk counts for where the question names what it is about."""
TELLING = 3.0
"""How much likelier a way is taken for each word of the question that stands beside it."""
LINKS = ("associative", "relation")
FOUND = (math.inf, "")
"""No way led to the best hit: it was found."""


def deepened(
    hits: Sequence[Hit],
    query: Query,
    vector: Vector | None,
    *,
    policy: Policy,
    reader: Reader,
    sense: Embeddings,
    now: float,
) -> list[Hit]:
    """The hits and what can be reached from them, best first: by how they fit and how they are reached."""
    question = words_of(query.text)
    named = _named(question, hits, query, reader)
    walk = _Walk(query, stems(without(question, named)), frozenset(named), vector, reader, sense)
    mass = walk.walked(walk.home(hits, named), policy.teleport)
    if not named and not any(walk.ways.values()):
        return list(hits)
    best = max(mass.values())
    weight = DECIDES if named else policy.walk
    known = {hit.memory.id for hit in hits}
    reached = _reached([id for id in mass if id not in known], query, policy, reader, now)
    told = (
        _walked(hit, Signal(math.sqrt(mass.get(hit.memory.id, 0.0) / best), weight), walk.via)
        for hit in (*hits, *reached)
    )
    return sorted(told, key=lambda hit: (-hit.score, hit.memory.id))


def _named(
    question: Sequence[Word], hits: Sequence[Hit], query: Query, reader: Reader
) -> dict[str, list[str]]:
    """What the question is about by name; nothing if the best hit is about something else.

    A single word is a name if it is written as one.
    """
    known = reader.about(candidates(question), query.where, HUB)
    found = (mention for mention in mentions(question, known) if mention.words > 1 or mention.capital)
    named = {mention.name: known[mention.name] for mention in found}
    return named if hits and any(hits[0].memory.id in ids for ids in named.values()) else {}


def _reached(ids: list[str], query: Query, policy: Policy, reader: Reader, now: float) -> list[Hit]:
    """What only the walk found, as far as the filter and the threshold let it pass."""
    if not ids:
        return []
    within = ids if query.where.ids is None else [id for id in ids if id in query.where.ids]
    passing = reader.select(replace(query.where, ids=tuple(within)), len(within))
    hits = (
        Hit(
            memory=memory,
            score=0.0,
            signals={},
            relevance=relevance(memory, now),
            fade=left_of(memory, policy.fade_per_day, 0.0, now) if policy.formula else 1.0,
        )
        for memory in passing
    )
    return [hit for hit in hits if hit.relevance > policy.visible_above]


def _walked(hit: Hit, walk: Signal, via: Mapping[str, tuple[float, str]]) -> Hit:
    """The hit with what the walk says of it; its other reasons count that much less."""
    rest = 1 - walk.weight
    signals = {name: Signal(signal.strength, signal.weight * rest) for name, signal in hit.signals.items()}
    return replace(
        hit,
        score=hit.score * rest + hit.fade * walk.points,
        signals={**signals, "walk": walk},
        via=via.get(hit.memory.id, (0.0, ""))[1],
    )


@dataclass(slots=True)
class _Walk:
    """A question on its way. stems: of its words that belong to none of its names.

    ways: where each memory leads that was left behind. via: what leads to a memory, and how strongly.
    fits: how like the question a memory is.
    """

    query: Query
    stems: frozenset[str]
    names: frozenset[str]
    vector: Vector | None
    reader: Reader
    sense: Embeddings
    ways: dict[str, dict[str, float]] = field(default_factory=dict)
    via: dict[str, tuple[float, str]] = field(default_factory=dict)
    fits: dict[str, float] = field(default_factory=dict)

    def home(self, hits: Sequence[Hit], named: Mapping[str, Sequence[str]]) -> dict[str, float]:
        """Where walkers begin: at the best hits, a deviation less e times fewer, and at what is named."""
        self._measure({id for ids in named.values() for id in ids})
        seeds = {hit.memory.id: math.exp(DEVIATIONS * (hit.score - hits[0].score)) for hit in hits[:SEEDS]}
        others = 1 - NAMED if named else 1.0
        home = {id: others * share for id, share in shares(seeds).items()}
        self.via = {hit.memory.id: FOUND for hit in hits[:1]}
        for name, ids in named.items():
            for id, share in self._spread(ids).items():
                home[id] = home.get(id, 0.0) + NAMED * share / len(named)
                self.via[id] = (math.inf, name)
        return home

    def walked(self, home: Mapping[str, float], teleport: float) -> dict[str, float]:
        """How many walkers are where in the end."""
        mass = dict(home)
        for _ in range(ROUNDS):
            ranked = sorted(mass.items(), key=lambda place: (-place[1], place[0]))
            left = [id for id, _ in ranked if id not in self.ways][:BEAM]
            if not left:
                break
            self._leave(self.reader.get(left))
            self.ways |= {id: {} for id in left if id not in self.ways}
            mass = personalized_pagerank(home, self.ways, teleport, ROUNDS)
        return mass

    def _leave(self, memories: Mapping[str, Memory]) -> None:
        """Find the ways that lead on from these."""
        texts = {id: words_of(f"{memory.title}\n{memory.content}") for id, memory in memories.items()}
        maybe = {name for words in texts.values() for name in candidates(words)}
        known = self.reader.about(maybe, self.query.where, HUB)
        self._measure({id for ids in known.values() for id in ids})
        linked = self._linked(memories)
        for origin, memory in memories.items():
            amounts: dict[str, float] = {}
            own = self.names.union(subjects(memory.title, memory.content))
            for mention in self._telling(mentions(texts[origin], known)):
                if mention.name not in own:
                    ends = self._spread(known[mention.name])
                    self._lead(origin, amounts, mention.name, mention.around, ends)
            for link in linked.get(origin, ()):
                end = link.target if link.source == origin else link.source
                kind = link.type.replace("_", " ") or link.kind
                beside = stems(word.text for word in words_of(f"{kind} {link.reason}"))
                self._lead(origin, amounts, kind, beside, {end: min(max(link.weight, 0.0), 1.0)})
            self.ways[origin] = shares(amounts)

    def _lead(
        self,
        origin: str,
        amounts: dict[str, float],
        name: str,
        beside: frozenset[str],
        ends: Mapping[str, float],
    ) -> None:
        telling = 1 + TELLING * len(beside & self.stems)
        for end, share in ends.items():
            if end != origin:
                amounts[end] = amounts.get(end, 0.0) + telling * share
                self.via[end] = max(self.via.get(end, (0.0, "")), (telling * share, name))

    def _telling(self, found: Iterable[Mention]) -> list[Mention]:
        """Each name once, where most words of the question stand beside it."""
        best: dict[str, Mention] = {}
        for mention in found:
            known = best.setdefault(mention.name, mention)
            if len(mention.around & self.stems) > len(known.around & self.stems):
                best[mention.name] = mention
        return list(best.values())

    def _linked(self, ids: Iterable[str]) -> dict[str, list[Link]]:
        linked: dict[str, list[Link]] = {id: [] for id in ids}
        for link in self.reader.links(linked, kinds=LINKS):
            for end in linked.keys() & {link.source, link.target}:
                linked[end].append(link)
        return linked

    def _spread(self, ids: Sequence[str]) -> dict[str, float]:
        """The more like the question, the likelier: a deviation more is e times as likely."""
        fits = {id: self.fits.get(id, 0.0) for id in ids}  # what vanished meanwhile fits nothing
        best = max(fits.values())
        return shares({id: math.exp((fit - best) / UNLIKE.spread) for id, fit in fits.items()})

    def _measure(self, ids: Iterable[str]) -> None:
        new = [id for id in ids if id not in self.fits]
        if new and self.vector is not None:
            cosines = self.reader.cosines(self.vector, self.sense.model, new)
            self.fits |= {id: self.sense.likeness(cosine) for id, cosine in cosines.items()}
        unmeasured = self.reader.get((id for id in new if id not in self.fits), forgotten=True)
        self.fits |= {id: overlap(self.query.text, memory.content) for id, memory in unmeasured.items()}
