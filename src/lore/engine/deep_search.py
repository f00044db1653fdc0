"""deep_search: from the hits of a search to memories that share no words with the question, in two ways.

`walk_on` follows names and links. A memory leads to those that are introduced by a name it mentions, and to
those it is linked to. Of several ways, the walk prefers the one beside which words of the question stand, and
of several memories with the same name those that are more like the question. Where the question itself names
its subject, the walk begins there and mostly decides; elsewhere it begins at the best hits, and adds to them.

`search_again` starts from the best hit. "When was the mother of Lothair born?": the best hit says who she is.
The passage of it that matches, read together with the question, leads to the memory about her.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from lore.engine.context import Context
from lore.engine.embeddings import Embeddings
from lore.engine.match import Question
from lore.model import Filter, Hit, Link, Memory, Signal
from lore.names import Mention, Word, candidates, forms, mentions, stems, subjects, without, words_of
from lore.ranking.decay import left_of, relevance
from lore.ranking.evidence import DEVIATIONS, UNRELATED
from lore.ranking.excerpt import excerpt
from lore.ranking.graph import personalized_pagerank, shares
from lore.store import Reader
from lore.store.values import Page
from lore.text import STOP_WORDS, label_of, overlap
from lore.vectors import cosines_to

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
PASSAGE = 160
"""Characters of the best hit that are read with the question: about the sentence that matches."""
SECOND_LIMIT = 12
"""Memories that the second search finds."""
WALKED = 2
"""How many further hits of a walk that decides stay ahead of the second search."""
RARE = 3.0
"""Information, in nats, of a name that leads somewhere: at most one memory in twenty has it."""


def walk_on(
    hits: Sequence[Hit], question: Question, context: Context, *, embeddings: Embeddings
) -> list[Hit]:
    """The hits and the memories that can be reached from them, best first."""
    words, policy = words_of(question.text), question.policy
    named = _named(words, hits, question, context.reader)
    walk = _Walk(question, stems(without(words, named)), frozenset(named), context.reader, embeddings)
    mass = walk.walked(walk.home(hits, named), policy.teleport)
    if not named and not any(walk.ways.values()):
        return list(hits)
    best = max(mass.values())
    weight = DECIDES if named else policy.walk
    found = {hit.memory.id for hit in hits}
    reached = _reached([id for id in mass if id not in found], question, context)
    walked = (
        _walked(hit, Signal(math.sqrt(mass.get(hit.memory.id, 0.0) / best), weight), walk.via)
        for hit in (*hits, *reached)
    )
    return sorted(walked, key=lambda hit: (-hit.score, hit.memory.id))


def _named(
    words: Sequence[Word], hits: Sequence[Hit], question: Question, reader: Reader
) -> dict[str, list[str]]:
    """The names that the question is about, with their memories; none if the best hit is about another.

    A single word is a name if it is written as one.
    """
    by_name = reader.about(candidates(words), question.where, HUB)
    found = (mention for mention in mentions(words, by_name) if mention.words > 1 or mention.capital)
    named = {mention.name: by_name[mention.name] for mention in found}
    return named if hits and any(hits[0].memory.id in ids for ids in named.values()) else {}


def _reached(ids: list[str], question: Question, context: Context) -> list[Hit]:
    """The memories that only the walk found, as far as filter and threshold let them pass."""
    if not ids:
        return []
    where, policy = question.where, question.policy
    within = ids if where.ids is None else [id for id in ids if id in where.ids]
    passing = context.reader.select(replace(where, ids=tuple(within)), Page(limit=len(within)))
    hits = (
        Hit(
            memory=memory,
            score=0.0,
            signals={},
            relevance=relevance(memory, context.now),
            fade=left_of(memory, policy.fade_per_day, 0.0, context.now) if policy.formula else 1.0,
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

    question: Question
    stems: frozenset[str]
    names: frozenset[str]
    reader: Reader
    embeddings: Embeddings
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
        by_name = self.reader.about(maybe, self.question.where, HUB)
        self._measure({id for ids in by_name.values() for id in ids})
        linked = self._linked(memories)
        for origin, memory in memories.items():
            amounts: dict[str, float] = {}
            own = self.names.union(subjects(memory.title, memory.content))
            for mention in self._telling(mentions(texts[origin], by_name)):
                if mention.name not in own:
                    ends = self._spread(by_name[mention.name])
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
            before = best.setdefault(mention.name, mention)
            if len(mention.around & self.stems) > len(before.around & self.stems):
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
        return shares({id: math.exp((fit - best) / UNRELATED.spread) for id, fit in fits.items()})

    def _measure(self, ids: Iterable[str]) -> None:
        new = [id for id in ids if id not in self.fits]
        if new and self.question.vector is not None:
            cosines = cosines_to(self.question.vector, self.reader.vectors(self.embeddings.model, new))
            self.fits |= {id: self.embeddings.likeness(cosine) for id, cosine in cosines.items()}
        unmeasured = self.reader.get((id for id in new if id not in self.fits), forgotten=True)
        self.fits |= {id: overlap(self.question.text, memory.content) for id, memory in unmeasured.items()}


def search_again(
    hits: Sequence[Hit], question: Question, context: Context, *, embeddings: Embeddings
) -> list[Hit]:
    """The hits, and those of a second search: one after each of the first hits, where it is not yet."""
    if not hits:
        return []
    best = hits[0].memory
    passage = excerpt(best.content, question.text, PASSAGE)
    names = _names(best.content, question.text, context.reader)
    vector = embeddings.embed_query(f"{question.text} {passage}") if names else None
    if vector is None:
        return list(hits)
    near = context.reader.near(vector, embeddings.model, SECOND_LIMIT, question.where)
    found = _found([id for id in near if id != best.id], hits, question, context)
    by_id = {hit.memory.id: hit for hit in [*found, *hits]}
    second = [by_id[id] for id in near if id in by_id and id != best.id]
    named = [hit for hit in second if names & forms(f"{hit.memory.title}\n{hit.memory.content}")]
    return _merged(hits, named, label_of(best.title, best.content))


def _names(passage: str, question: str, reader: Reader) -> frozenset[str]:
    """The words of names in the passage that are not in the question, and rare enough to lead somewhere."""
    in_question = forms(question)
    new = {
        word.text
        for word in words_of(passage)
        if word.capital and not word.text.isdigit() and word.text not in in_question | STOP_WORDS
    }
    information = reader.matching(sorted(new), 0, Filter()).information
    return frozenset(word for word, nats in information.items() if nats >= RARE)


def _found(ids: Sequence[str], hits: Sequence[Hit], question: Question, context: Context) -> list[Hit]:
    """The memories that only the second search found, as hits without a score."""
    found = {hit.memory.id for hit in hits}
    new = tuple(id for id in ids if id not in found)
    memories: Sequence[Memory] = (
        context.reader.select(replace(question.where, ids=new), Page(limit=len(new))) if new else ()
    )
    bare = (Hit(memory=m, score=0.0, signals={}, relevance=relevance(m, context.now)) for m in memories)
    return [hit for hit in bare if hit.relevance > question.policy.visible_above]


def _merged(hits: Sequence[Hit], second: Sequence[Hit], via: str) -> list[Hit]:
    """One of each list in turn. A hit that moves up scores between the two that it comes between."""
    order: dict[str, Hit] = {}
    walk = hits[0].signals.get("walk")
    begin = WALKED if walk is not None and walk.weight == DECIDES else 0
    for place, hit in enumerate(hits):
        order.setdefault(hit.memory.id, hit)
        if 0 <= place - begin < len(second) and second[place - begin].memory.id not in order:
            raised = second[place - begin]
            below = hits[place + 1].score if place + 1 < len(hits) else 0.0
            score = max(raised.score, (hit.score + below) / 2)
            signals = {**raised.signals, "bridge": Signal((score - raised.score) / raised.fade, 1.0)}
            order[raised.memory.id] = replace(raised, score=score, signals=signals, via=raised.via or via)
    return sorted(order.values(), key=lambda hit: (-hit.score, hit.memory.id))
