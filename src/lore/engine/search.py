"""search: find candidates → score them → hide noise → walk on if deep → order, cut → count the use."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from lore.engine.deepen import deepened
from lore.engine.sense import Sense
from lore.engine.use import count_use
from lore.errors import Invalid, NotFound
from lore.model import FORMATS, SESSION, TURN, VERBATIM, Answer, Filter, Format, Hit, Memory, Query, Signal
from lore.ranking import evidence, fuse
from lore.ranking.decay import left_of, relevance, usage
from lore.ranking.fresh import lifted
from lore.ranking.graph import STEPS, reached
from lore.ranking.policy import POLICIES, Policy, policy_named
from lore.ranking.repeats import repeating
from lore.store import Reader, Store
from lore.text import clean, label_of, listed, overlap, preview, storable, terms, tokens_in
from lore.vectors import Vector

LIMIT = 1_000
IDS_LIMIT = 1_000
LISTS = {"meaning_rank", "words_rank", "links_rank"}
"""What a reciprocal rank fusion counts; without a model or any link, the others count more."""
SEEDS = 5
"""From how many of the first hits links are followed where they count as a list of their own."""
COMPARED = 20
"""How many of the first hits are compared with each other."""
REPEATED = 0.5
"""What a hit is worth that says again what a better one has said."""
CRUMB_TOKENS = 60
"""What an id with its score costs the asker."""


def search(
    query: Query,
    *,
    store: Store,
    reader: Reader,
    sense: Sense,
    now: float,
    policies: Mapping[str, Policy] = POLICIES,
) -> Answer:
    """Find by meaning and words, within the filter; the answer tells how it came about."""
    _check(query, reader)
    policy = policy_named(query.policy, policies)
    if not query.text.strip():
        return _looked_up(query, store, reader, now)
    vector = sense.of_question(query.text)

    found = _find(query, policy, vector, sense, reader, now)
    policy = replace(policy, weights=fuse.without(policy.weights, LISTS - found.ranks.keys()))
    hits = [_hit(memory, found.strengths_of(memory, policy, now), policy, now) for memory in found.memories]
    hits.sort(key=lambda hit: (-hit.score, hit.memory.id))
    likely, hidden = _parted(hits, lambda hit: found.is_likely(hit, query, policy))
    seen = _spoken(likely, policy)
    if query.deep:
        walked = deepened(seen, query, vector, policy=policy, reader=reader, sense=sense, now=now)
        seen = _spoken(walked, policy)
    if policy.tidy:
        seen = _without_repeats(_fresh_first(seen, query.text))
    seen, weak = _parted(seen, lambda hit: _worth(hit, policy) >= query.min_score)
    hidden += weak
    if policy.best_per_tree and query.where.under is None:
        seen = _best_per_tree(seen, reader)
    shown = _told(_within_budget(seen[: query.limit], query.format, query.budget_tokens), reader)

    if query.counted and query.format != "ids":
        count_use([hit.memory.id for hit in shown], store=store, now=now)
    return Answer(
        hits=tuple(shown),
        stored=None if shown else _searched(query, reader),
        hidden=len(hidden),
        best_hidden=max((hit.score for hit in hidden), default=0.0),
        cut=len(seen) - len(shown),
        meaning="ready" if vector is not None else sense.state,
        pending=store.pending(sense.model),
        trouble=sense.trouble,
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """Candidates with the raw strengths they were found by. ranks: of each list that took part.

    around: signal -> strengths by what else was found.
    """

    text: str
    memories: list[Memory]
    likeness: Mapping[str, float]
    meaning: Mapping[str, float]
    words: Mapping[str, float]
    wording: Mapping[str, float]
    around: Mapping[str, Mapping[str, float]]
    asked: evidence.Asked
    ranks: Mapping[str, Mapping[str, float]]

    def strengths_of(self, memory: Memory, policy: Policy, now: float) -> dict[str, float]:
        similarity = self.likeness.get(memory.id)
        if similarity is None:
            similarity = overlap(self.text, f"{memory.title}\n{memory.content}")
        return {
            "similarity": max(0.0, similarity),
            "meaning": self.meaning.get(memory.id, 0.0),
            "words": self.words.get(memory.id, 0.0),
            "wording": self.wording.get(memory.id, 0.0),
            **(evidence.signs(self.asked, memory) if "speaker" in policy.weights else {}),
            "relevance": relevance(memory, now),
            "quality": memory.score / 10,
            "use": usage(memory.access_count, policy.usage_cap),
            **{name: by.get(memory.id, 0.0) for name, by in (*self.around.items(), *self.ranks.items())},
        }

    def is_likely(self, hit: Hit, query: Query, policy: Policy) -> bool:
        """Whether it is no noise, and not faded from sight unless it is asked for by its id."""
        id = hit.memory.id
        told = self.words.get(id, 0.0) > 0 or id in self.ranks.get("links_rank", ())
        likely = told or self.likeness.get(id, 1.0) > policy.likely_above
        return likely and (hit.relevance > policy.visible_above or query.where.ids is not None)


def _find(
    query: Query, policy: Policy, vector: Vector | None, sense: Sense, reader: Reader, now: float
) -> _Found:
    """By meaning and by words; a refinement considers exactly the memories it names."""
    many = max(policy.candidates, query.limit)
    words = reader.matching(terms(query.text), many, query.where)
    near = {} if vector is None else reader.near(vector, sense.model, many, query.where)
    likely = [id for id, cosine in near.items() if sense.likeness(cosine) > policy.likely_above]
    linked = _linked([likely, list(words)], query, reader) if "links_rank" in policy.weights else []
    lists = {"words_rank": list(words)}
    lists |= ({} if vector is None else {"meaning_rank": likely}) | ({"links_rank": linked} if linked else {})
    chosen = list(dict.fromkeys([*near, *words, *linked, *(query.where.ids or ())]))
    memories = reader.select(replace(query.where, ids=tuple(chosen)), len(chosen))
    unmeasured = [memory.id for memory in memories if memory.id not in near]
    rest = {} if vector is None or not unmeasured else reader.cosines(vector, sense.model, unmeasured)
    likeness = {id: sense.likeness(cosine) for id, cosine in (near | rest).items()}
    meaning = evidence.standing(likeness, evidence.UNLIKE)
    told = {memory.id: words.get(memory.id, 0.0) for memory in memories}
    wording = evidence.standing(told, evidence.UNMATCHED)
    asked = evidence.asked(query.text, now)
    around = _around(memories, meaning, wording, reader) if "company" in policy.weights else {}
    if asked.goes_on and "recent" in policy.weights:
        around["recent"] = evidence.recency(memories)
    return _Found(
        text=query.text,
        memories=memories,
        likeness=likeness,
        meaning=meaning,
        words=fuse.relative_to_best(words),
        wording=wording,
        around=around,
        asked=asked,
        ranks={name: fuse.by_rank(ids) for name, ids in lists.items()},
    )


def _around(
    memories: list[Memory], meaning: Mapping[str, float], wording: Mapping[str, float], reader: Reader
) -> dict[str, Mapping[str, float]]:
    """What others that were found say for each: the best of its conversation, and its neighbours."""
    places = {memory.id: memory.session for memory in memories if memory.session}
    stands = {memory.id: meaning.get(memory.id, 0.0) for memory in memories}
    match = {id: stand + wording[id] for id, stand in stands.items()}
    return {
        "company": evidence.company(match, places),
        "nearby": evidence.nearby(stands, reader.following(places)),
    }


def _linked(lists: list[list[str]], query: Query, reader: Reader) -> list[str]:
    """What the first hits of these lists are linked to and the filter lets pass, strongest first."""
    fused = fuse.reciprocal_rank(lists)
    seeds = dict(sorted(fused.items(), key=lambda item: (-item[1], item[0]))[:SEEDS])
    strengths = reached(seeds, _edges_around(seeds, reader, STEPS))
    within = [id for id in strengths if query.where.ids is None or id in query.where.ids]
    passing = reader.select(replace(query.where, ids=tuple(within)), len(within)) if within else []
    return sorted((memory.id for memory in passing), key=lambda known: (-strengths[known], known))


def _spoken(hits: list[Hit], policy: Policy) -> list[Hit]:
    """Without the conversations of which a turn was found: it says what they are about, and more."""
    if not policy.tidy:
        return hits
    heard = {hit.memory.session for hit in hits if hit.memory.kind == TURN and hit.memory.session}
    return [hit for hit in hits if hit.memory.kind != SESSION or hit.memory.session not in heard]


def _hit(memory: Memory, strengths: Mapping[str, float], policy: Policy, now: float) -> Hit:
    left = left_of(memory, policy.fade_per_day, now)
    return Hit(
        memory=memory,
        score=left * fuse.weighed(strengths, policy.weights),
        signals=fuse.Signals(strengths, policy.weights),
        relevance=strengths["relevance"],
        fade=left,
    )


def _parted(hits: Iterable[Hit], passes: Callable[[Hit], bool]) -> tuple[list[Hit], list[Hit]]:
    """Those that pass, and the others."""
    parts: dict[bool, list[Hit]] = {True: [], False: []}
    for hit in hits:
        parts[passes(hit)].append(hit)
    return parts[True], parts[False]


def _worth(hit: Hit, policy: Policy) -> float:
    """What a wanted least score is compared with."""
    return fuse.total(hit.signals) if policy.asked_unfaded else hit.score


def _fresh_first(hits: list[Hit], question: str) -> list[Hit]:
    """Of what says the same but for the value, the newest first."""
    ranked = [(hit.memory.id, hit.memory.content, hit.memory.created_at) for hit in hits[:COMPARED]]
    scores = {hit.memory.id: hit.score for hit in hits[:COMPARED]}
    spoken = {hit.memory.id for hit in hits[:COMPARED] if hit.memory.kind in VERBATIM}
    return _moved(hits, lifted(question, ranked, scores, spoken), "fresh")


def _without_repeats(hits: list[Hit]) -> list[Hit]:
    """What says again what a better hit has said moves down."""
    first = hits[:COMPARED]
    ranked = [(hit.memory.id, hit.memory.content, hit.memory.kind in VERBATIM) for hit in first]
    again = repeating(ranked)
    return _moved(
        hits, {hit.memory.id: hit.score * REPEATED for hit in first if hit.memory.id in again}, "repeats"
    )


def _moved(hits: list[Hit], scores: Mapping[str, float], why: str) -> list[Hit]:
    """With these scores for some; where scores are the same, the newest first."""
    if not scores:
        return hits
    told = [_rescored(hit, scores.get(hit.memory.id, hit.score), why) for hit in hits]
    return sorted(told, key=lambda hit: (-hit.score, -hit.memory.created_at, -hit.memory.alias))


def _rescored(hit: Hit, score: float, why: str) -> Hit:
    if score == hit.score:
        return hit
    change = Signal((score - hit.score) / hit.fade, 1.0)
    return replace(hit, score=score, signals={**hit.signals, why: change})


def _best_per_tree(hits: Iterable[Hit], reader: Reader) -> list[Hit]:
    hits = list(hits)
    ways = reader.ancestors([hit.memory.id for hit in hits])
    best: dict[str, Hit] = {}
    for hit in hits:
        way = ways.get(hit.memory.id)
        best.setdefault(way[0] if way else hit.memory.id, hit)
    return list(best.values())


def _edges_around(seeds: Iterable[str], reader: Reader, steps: int) -> list[tuple[str, str, float]]:
    """The associative links within reach of so many steps from the seeds."""
    known: set[str] = set()
    edges: dict[str, tuple[str, str, float]] = {}
    frontier = set(seeds)
    for _ in range(steps):
        links = reader.links(frontier, kinds=("associative", "relation"))
        edges |= {link.id: (link.source, link.target, link.weight) for link in links}
        known |= frontier
        frontier = {end for link in links for end in (link.source, link.target)} - known
    return list(edges.values())


def _within_budget(hits: list[Hit], format: Format, budget: int | None) -> list[Hit]:
    """The best hits that fit, passing over one that is too long for what is left.

    The first one is always there, so that an answer is never empty for its length.
    """
    if budget is None:
        return hits
    shown: list[Hit] = []
    spent = 0
    for hit in hits:
        cost = _cost(hit.memory, format)
        if not shown or spent + cost <= budget:
            spent += cost
            shown.append(hit)
    return shown


def _cost(memory: Memory, format: Format) -> int:
    text = {"ids": "", "title": label_of(memory.title, memory.content), "full": memory.title + memory.content}
    return CRUMB_TOKENS + (tokens_in(text[format]) if text[format] else 0)


def _told(hits: list[Hit], reader: Reader) -> list[Hit]:
    ways = reader.ancestors([hit.memory.id for hit in hits])
    above = reader.get({id for way in ways.values() for id in way})
    labels = {id: label_of(memory.title, memory.content) for id, memory in above.items()}
    return [
        replace(
            hit,
            signals=dict(hit.signals),
            breadcrumb=tuple(labels[id] for id in ways.get(hit.memory.id, ()) if id in labels),
        )
        for hit in hits
    ]


def _looked_up(query: Query, store: Store, reader: Reader, now: float) -> Answer:
    """No text but ids: the memories themselves, in the order asked for."""
    ids = list(dict.fromkeys(query.where.ids or ()))
    passing = {memory.id: memory for memory in reader.select(query.where, len(ids))}
    hits = [
        Hit(memory=passing[id], score=0.0, signals={}, relevance=relevance(passing[id], now))
        for id in ids
        if id in passing
    ]
    shown = _told(_within_budget(hits[: query.limit], query.format, query.budget_tokens), reader)
    if query.counted and query.format != "ids":
        count_use([hit.memory.id for hit in shown], store=store, now=now)
    return Answer(
        hits=tuple(shown), stored=None if shown else _searched(query, reader), cut=len(hits) - len(shown)
    )


def _searched(query: Query, reader: Reader) -> int:
    """How much there is to search for this asker."""
    return reader.count(Filter(projects=query.where.projects))


def _check(query: Query, reader: Reader) -> None:
    if query.text.strip() or query.where.ids is None:
        clean(query.text, "query")
    else:
        storable(query.text, "query")
    if not 1 <= query.limit <= LIMIT:
        raise Invalid(f"limit is {query.limit}; it must be between 1 and {LIMIT:,}")
    if not math.isfinite(query.min_score):
        raise Invalid(f"min_score is {query.min_score}; it must be a number")
    if query.budget_tokens is not None and query.budget_tokens < 1:
        raise Invalid(f"the token budget is {query.budget_tokens}; it must be at least 1")
    if query.format not in FORMATS:
        raise Invalid(f"unknown format {query.format!r}; known: {listed(FORMATS)}")
    if query.where.ids is not None and len(query.where.ids) > IDS_LIMIT:
        raise Invalid(f"{len(query.where.ids):,} ids; at most {IDS_LIMIT:,} at a time")
    if query.where.under is not None and not reader.get([query.where.under]):
        raise NotFound(f"unknown memory {preview(query.where.under, 80)}")
