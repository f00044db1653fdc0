"""match: find candidates by words and meaning → measure each → how well each matches the question."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace

from lore.engine.embeddings import Embeddings
from lore.model import Filter, Hit, Memory, Signal
from lore.ranking import confidence, evidence, fuse
from lore.ranking.decay import left_of, relevance, usage
from lore.ranking.evidence import coverage, exact, identifiers
from lore.ranking.graph import STEPS, reached
from lore.ranking.policy import MATCH, Policy
from lore.store import Reader
from lore.store.values import EVERY, Neighbours, Page, TextMatches
from lore.text import overlap, terms
from lore.vectors import Vector, cosines_to

LINKED_FROM = 5
"""From how many of the first candidates links are followed where they count."""
BESIDE = 20
"""Of how many of the first found by meaning, and by words, the turns before and after are candidates too: an
answer stands beside the question."""
STEEPNESS = 8.0
"""How fast a match gets weaker behind the best one: by a factor e for each eighth of evidence."""
WORDS_IN_COMPANY = 0.7
"""What all words of a question count for in the match of a conversation."""
DENSITY = 0.5
"""How much of the wording of a memory depends on how often and how densely it has the words (BM25)."""
LENGTH_ALONE = 0.4
"""What the length of a memory counts for that does not fit the question at all; all of it where it fits."""
FURTHER_OF_CONVERSATION = 0.5
"""The factor on the score of each further hit of one conversation, where the asker goes on with something."""
PROPORTIONAL = ("relevance", "quality", "use")
"""Signals that count in proportion to the match."""


@dataclass(frozen=True, slots=True)
class Question:
    """One search as far as candidates are concerned. vector: `find` adds it, if there is a model."""

    text: str
    where: Filter
    limit: int
    policy: Policy
    now: float
    vector: Vector | None = None


@dataclass(frozen=True, slots=True)
class Candidates:
    """Memories with the raw strengths they were found by. ranks: of each list that took part.

    around: signal -> strengths that depend on the other candidates. pending: memories without a vector.
    """

    question: Question
    memories: Sequence[Memory]
    likeness: Mapping[str, float]
    meaning: Mapping[str, float]
    words: Mapping[str, float]
    wording: Mapping[str, float]
    around: Mapping[str, Mapping[str, float]]
    parsed: evidence.ParsedQuestion
    ranks: Mapping[str, Mapping[str, float]]
    pending: int

    def strength(self, name: str, hit: Hit) -> float:
        """How strong one signal of a policy is for a hit, 0 to 1."""
        id = hit.memory.id
        match name:
            case "relevance":
                return hit.relevance
            case "quality":
                return hit.memory.score / 10
            case "use":
                return usage(hit.memory.access_count, self.question.policy.usage_cap)
            case "words":
                return self.words.get(id, 0.0)
            case "similarity":
                return max(0.0, self._similarity(hit.memory))
            case "links":
                return self.around.get("links", {}).get(id, 0.0)
        return self.ranks.get(name, {}).get(id, 0.0)

    def _similarity(self, memory: Memory) -> float:
        measured = self.likeness.get(memory.id)
        if measured is None:
            return overlap(self.question.text, f"{memory.title}\n{memory.content}")
        return measured

    def evidence_of(self, memory: Memory) -> dict[str, float]:
        """The signals that tell how well a memory matches."""
        meaning, wording = self.meaning.get(memory.id, 0.0), self.wording.get(memory.id, 0.0)
        signs = evidence.memory_signals(self.parsed, memory)
        fits = min(max((meaning + wording) / 2, 0.0), 1 - LENGTH_ALONE)
        return {
            **signs,
            "meaning": meaning,
            "wording": wording,
            "length": signs["length"] * (LENGTH_ALONE + fits),
            **{name: by.get(memory.id, 0.0) for name, by in self.around.items()},
        }

    def confidence(self, hits: Sequence[Hit]) -> float:
        """How likely the store knows something about the question. hits: the candidates, best first."""
        support = [
            confidence.Support(
                self.likeness.get(hit.memory.id),
                f"{hit.memory.title}\n{hit.memory.context}\n{hit.memory.content}",
            )
            for hit in hits
        ]
        certain = bool(self.around.get("exact"))
        return confidence.confidence(self.question.text, support, certain)


@dataclass(frozen=True, slots=True)
class WordMatches:
    """Matches by words. memories: theirs, and the turns beside the first. vectors: of those that have one."""

    matches: TextMatches
    memories: Sequence[Memory]
    vectors: Mapping[str, Vector]


def find(question: Question, reader: Reader, embeddings: Embeddings) -> Candidates:
    """The candidates by meaning and by words, looked for at the same time.

    A filter by ids names exactly the candidates.
    """
    policy, where = question.policy, question.where
    names = () if policy.formula else identifiers(question.text)
    with ThreadPoolExecutor(1, "lore-words") as meanwhile:
        by_words = meanwhile.submit(_by_words, question, names, reader, embeddings.model)
        vector = embeddings.embed_query(question.text)
        near = (
            Neighbours({})
            if vector is None
            else reader.near(vector, embeddings.model, _many(question), where)
        )
        found = by_words.result()
    question, words = replace(question, vector=vector), found.matches.strengths
    likely = [id for id, cosine in near.items() if embeddings.likeness(cosine) > policy.likely_above]
    linked = _linked([likely, list(words)], question, reader)
    lists = {"words_rank": list(words)}
    lists |= {} if vector is None else {"meaning_rank": likely}
    lists |= {"links_rank": list(linked)} if linked else {}
    read = {memory.id for memory in found.memories}
    unread = [id for id in (*near, *linked, *(where.ids or ())) if id not in read]
    memories = _newest_first([*found.memories, *_read(unread, list(near), question, reader)])
    unmeasured = [memory.id for memory in memories if memory.id not in near]
    rest: dict[str, float] = {}
    if vector is not None and unmeasured:
        others = [id for id in unmeasured if id not in read]
        vectors = {**found.vectors, **(reader.vectors(embeddings.model, others) if others else {})}
        rest = cosines_to(vector, {id: vectors[id] for id in unmeasured if id in vectors})
    likeness = {id: embeddings.likeness(cosine) for id, cosine in (near | rest).items()}
    meaning = evidence.z_scaled(likeness, evidence.UNRELATED)
    texts = {memory.id: f"{memory.title}\n{memory.content}".lower() for memory in memories}
    wording = {} if policy.formula else _wording(found.matches, terms(question.text), texts)
    candidates = Candidates(
        question=question,
        memories=memories,
        likeness=likeness,
        meaning=meaning,
        words=fuse.relative_to_best(words),
        wording=wording,
        around={"links": linked} if linked else {},
        parsed=evidence.parse_question(question.text, question.now),
        ranks={name: fuse.by_rank(ids) for name, ids in lists.items()},
        pending=near.pending,
    )
    return candidates if policy.formula else replace(candidates, around=_around(candidates, names, reader))


def _many(question: Question) -> int:
    """Candidates by meaning, and by words."""
    return max(question.policy.candidates, question.limit)


def _by_words(question: Question, names: Sequence[str], reader: Reader, model: str) -> WordMatches:
    wanted = [*terms(question.text), *names]
    matches = reader.matching(wanted, _many(question), question.where)
    memories = _read(list(matches.strengths), list(matches.strengths), question, reader)
    vectors = reader.vectors(model, [memory.id for memory in memories]) if memories else {}
    return WordMatches(matches, memories, vectors)


def _read(ids: Sequence[str], ranked: Sequence[str], question: Question, reader: Reader) -> list[Memory]:
    """The memories with these ids, and the turns beside the first of `ranked`."""
    alone = question.policy.formula or question.where.ids is not None
    beside = () if alone else tuple(ranked[:BESIDE])
    chosen = tuple(dict.fromkeys(ids))
    wanted = replace(question.where, ids=chosen, beside=beside)
    return reader.select(wanted, EVERY) if chosen or beside else []


def _newest_first(memories: Iterable[Memory]) -> list[Memory]:
    """Each once."""
    distinct = {memory.id: memory for memory in memories}.values()
    return sorted(distinct, key=lambda memory: (-memory.created_at, -memory.alias))


def _wording(found: TextMatches, words: Sequence[str], texts: Mapping[str, str]) -> dict[str, float]:
    """The share of the question that each text covers; of equal shares the denser text has a little more."""
    covered = coverage({word: found.information[word] for word in words}, texts)
    dense = fuse.relative_to_best(found.strengths)
    return {id: share * (1 - DENSITY + DENSITY * dense.get(id, 0.0)) for id, share in covered.items()}


def _around(candidates: Candidates, names: Sequence[str], reader: Reader) -> dict[str, Mapping[str, float]]:
    """Strengths that depend on the other candidates: conversation, neighbours, recency, identifiers."""
    memories, wording = candidates.memories, candidates.wording
    places = {memory.id: memory.session for memory in memories if memory.session}
    stands = {memory.id: candidates.meaning.get(memory.id, 0.0) for memory in memories}
    match = {id: stand + WORDS_IN_COMPANY * wording[id] for id, stand in stands.items()}
    following = reader.links(between=places, kinds=("temporal",)) if places else []
    around: dict[str, Mapping[str, float]] = {
        **candidates.around,
        "session_support": evidence.session_support(match, places),
        "neighbour_support": evidence.neighbour_support(
            stands, [(link.source, link.target) for link in following]
        ),
    }
    if candidates.parsed.continues:
        around["recent"] = evidence.recency(memories)
    if names:
        texts = {memory.id: f"{memory.title}\n{memory.content}".lower() for memory in memories}
        around["exact"] = exact(names, texts)
    return around


def _linked(lists: list[list[str]], question: Question, reader: Reader) -> dict[str, float]:
    """What the first of these lists are linked to and the filter lets pass, strongest first, 0 to 1."""
    if not {"links", "links_rank"} & question.policy.weights.keys():
        return {}
    fused = fuse.reciprocal_rank(lists)
    seeds = dict(sorted(fused.items(), key=lambda item: (-item[1], item[0]))[:LINKED_FROM])
    strengths = fuse.relative_to_best(reached(seeds, edges_around(seeds, reader, STEPS)))
    where = question.where
    within = [id for id in strengths if where.ids is None or id in where.ids]
    passing = reader.select(replace(where, ids=tuple(within)), Page(limit=len(within))) if within else []
    return {
        memory.id: strengths[memory.id]
        for memory in sorted(passing, key=lambda memory: (-strengths[memory.id], memory.id))
    }


def edges_around(seeds: Iterable[str], reader: Reader, steps: int) -> list[tuple[str, str, float]]:
    """The associative links and relations within this many steps from the seeds."""
    seen: set[str] = set()
    edges: dict[str, tuple[str, str, float]] = {}
    frontier = set(seeds)
    for _ in range(steps):
        links = reader.links(frontier, kinds=("associative", "relation"))
        edges |= {link.id: (link.source, link.target, link.weight) for link in links}
        seen |= frontier
        frontier = {end for link in links for end in (link.source, link.target)} - seen
    return list(edges.values())


def by_evidence(candidates: Candidates) -> list[Hit]:
    """The candidates by the engine's evidence, best first; the score is the evidence."""
    weights = candidates.question.policy.evidence
    hits = []
    for memory in candidates.memories:
        strengths = candidates.evidence_of(memory)
        hits.append(
            Hit(
                memory=memory,
                score=fuse.weighed(strengths, weights),
                signals=fuse.Signals(strengths, weights),
                relevance=relevance(memory, candidates.question.now),
            )
        )
    return sorted(hits, key=lambda hit: (-hit.score, hit.memory.id))


def weigh(hits: Sequence[Hit], candidates: Candidates, certainty: float) -> list[Hit]:
    """The hits as the policy weighs them, best first. hits: by evidence, best first.

    certainty: how likely the store knows anything about the question. It puts the match on one scale for all
    questions: the best hit matches that well, the others less, by how far their evidence is behind.
    """
    best = hits[0].score if hits else 0.0
    walked = bool(hits) and "walk" in hits[0].signals  # then the evidence is a share already
    weighed = []
    for hit in hits:
        share = max(0.0, hit.score) / best if walked else math.exp(STEEPNESS * (hit.score - best))
        weighed.append(_weighed(hit, certainty * share, candidates, certainty))
    weighed.sort(key=_best_first)
    return sorted(_broad(weighed), key=_best_first) if candidates.parsed.continues else weighed


def _best_first(hit: Hit) -> tuple[float, str]:
    return -hit.score, hit.memory.id


def _broad(hits: Sequence[Hit]) -> Iterator[Hit]:
    """Lower each further hit of a conversation. Going on with something takes several conversations, where a
    plain question asks for the turn that answers it."""
    before: Counter[str] = Counter()
    for hit in hits:
        session = hit.memory.session
        if not session or not before[session]:
            yield hit
        else:
            factor = FURTHER_OF_CONVERSATION ** before[session]
            change = Signal((factor - 1) * hit.score / hit.fade, 1.0)
            yield replace(hit, score=factor * hit.score, signals={**hit.signals, "breadth": change})
        before[session] += 1


def _weighed(hit: Hit, match: float, candidates: Candidates, certainty: float) -> Hit:
    policy, memory = candidates.question.policy, hit.memory
    signals: dict[str, Signal] = {}
    score = 0.0
    for name, weight in policy.weights.items():
        if name == MATCH:
            signal = Signal(match, weight)
        elif name in PROPORTIONAL:
            signal = Signal(candidates.strength(name, hit), weight * match)
        else:
            signal = Signal(candidates.strength(name, hit), weight * certainty)
        signals[name] = signal
        score += signal.points
    fade = left_of(memory, policy.fade_per_day, policy.fade_floor, candidates.question.now)
    return Hit(
        memory=memory,
        score=fade * score,
        signals=signals,
        relevance=hit.relevance,
        fade=fade,
        via=hit.via,
        evidence=hit.signals,
    )
