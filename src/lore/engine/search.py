"""search: find candidates → score them → hide noise → walk on if deep → order, cut → count the use."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from lore.engine.bridge import bridged
from lore.engine.deepen import deepened
from lore.engine.embeddings import Embeddings
from lore.engine.match import Candidates, Question, by_evidence, find, weigh
from lore.engine.once import each_once
from lore.engine.use import count_use
from lore.errors import Invalid, NotFound
from lore.model import FORMATS, SESSION, TURN, VERBATIM, Answer, Filter, Format, Hit, Memory, Query, Signal
from lore.ranking import fuse
from lore.ranking.confidence import LEAST, SAME_TOPIC
from lore.ranking.decay import left_of, relevance
from lore.ranking.fresh import Dated, lifted
from lore.ranking.policy import POLICIES, Policy, policy_named
from lore.store import Reader, Store
from lore.text import check_storable, label_of, listed, preview, require_text, tokens_in

LIMIT = 1_000
IDS_LIMIT = 1_000
LISTS = {"meaning_rank", "words_rank", "links_rank"}
"""What a reciprocal rank fusion counts; without a model or any link, the others count more."""
CLEAR = 0.5
"""The least score of a hit that belongs to another project than the asker's."""
ELSEWHERE = 0.5
"""The factor on the score of such a hit."""
COMPARED = 20
"""How many of the first hits are compared with each other."""
CRUMB_TOKENS = 60
"""What an id with its score costs the asker."""


def search(
    query: Query,
    *,
    store: Store,
    reader: Reader,
    sense: Embeddings,
    now: float,
    policies: Mapping[str, Policy] = POLICIES,
    project: str = "",
) -> Answer:
    """Find by meaning and words, within the filter; the answer tells how it came about.

    project: where the asker is at work. Memories of other projects are hits only where they clearly match.
    """
    _check(query, reader)
    policy = policy_named(query.policy, policies)
    if not query.text.strip():
        return _looked_up(query, store, reader, now)
    vector = sense.embed_query(query.text)
    question = Question(query.text, query.where, query.limit, vector, policy, now)

    candidates = find(question, reader, sense)
    ranked = _by_formula(candidates) if policy.formula else by_evidence(candidates)
    certainty = 1.0 if policy.formula else candidates.confidence(ranked)
    ranked, hidden = _parted(ranked, lambda hit: _is_likely(hit, candidates, certainty))
    seen = spoken(ranked, policy)
    if query.deep:
        walked = deepened(seen, query, vector, policy=policy, reader=reader, sense=sense, now=now)
        if not policy.formula:
            walked = bridged(walked, query, policy=policy, reader=reader, sense=sense, now=now)
        seen = spoken(walked, policy)
    if not policy.formula:
        seen = weigh(seen, candidates, certainty)
    if certainty < LEAST and query.where.ids is None:
        seen, hidden = [], [*hidden, *seen]
    seen, elsewhere = _of_project(seen, "" if query.where.projects else project)
    repeated = 0
    if policy.tidy:
        seen, repeated = _without_repeats(_fresh_first(seen, candidates), query.text, reader)
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
        elsewhere=len(elsewhere),
        cut=len(seen) - len(shown),
        repeated=repeated,
        meaning="ready" if vector is not None else sense.state,
        pending=store.pending(sense.model),
        trouble=sense.trouble,
    )


def _of_project(hits: list[Hit], project: str) -> tuple[list[Hit], list[Hit]]:
    """The hits of a project or of none first, others further down if they clearly match; and the rest."""
    if not project:
        return hits, []
    others = {hit.memory.id for hit in hits if hit.memory.project not in ("", project)}
    weak = {hit.memory.id for hit in hits if hit.memory.id in others and hit.score < CLEAR}
    lowered = {hit.memory.id: hit.score * ELSEWHERE for hit in hits if hit.memory.id in others - weak}
    left, right = _parted(hits, lambda hit: hit.memory.id not in weak)
    return _moved(left, lowered, "elsewhere"), right


def _by_formula(candidates: Candidates) -> list[Hit]:
    """The candidates by a published formula, best first."""
    policy, now = candidates.question.policy, candidates.question.now
    weights = fuse.without(policy.weights, LISTS - candidates.ranks.keys())
    hits = []
    for memory in candidates.memories:
        bare = Hit(memory=memory, score=0.0, signals={}, relevance=relevance(memory, now))
        signals = {name: Signal(candidates.strength(name, bare), weight) for name, weight in weights.items()}
        left = left_of(memory, policy.fade_per_day, policy.fade_floor, now)
        hits.append(replace(bare, score=left * fuse.total(signals), signals=signals, fade=left))
    return sorted(hits, key=lambda hit: (-hit.score, hit.memory.id))


def _is_likely(hit: Hit, candidates: Candidates, certainty: float) -> bool:
    """Whether it is no noise and not faded from sight. A filter by ids names what is likely."""
    id, policy = hit.memory.id, candidates.question.policy
    if candidates.question.where.ids is not None:
        return True
    found = candidates.words.get(id, 0.0) > 0 or id in candidates.ranks.get("links_rank", ())
    similar = certainty < SAME_TOPIC or candidates.likeness.get(id, 1.0) > policy.likely_above
    return (found or similar) and hit.relevance > policy.visible_above


def spoken(hits: list[Hit], policy: Policy) -> list[Hit]:
    """Without the conversations of which a turn was found: it says what they are about, and more."""
    if not policy.tidy:
        return hits
    heard = {hit.memory.session for hit in hits if hit.memory.kind == TURN and hit.memory.session}
    return [hit for hit in hits if hit.memory.kind != SESSION or hit.memory.session not in heard]


def _parted(hits: Iterable[Hit], passes: Callable[[Hit], bool]) -> tuple[list[Hit], list[Hit]]:
    """Those that pass, and the others."""
    parts: dict[bool, list[Hit]] = {True: [], False: []}
    for hit in hits:
        parts[passes(hit)].append(hit)
    return parts[True], parts[False]


def _worth(hit: Hit, policy: Policy) -> float:
    """What a wanted least score is compared with."""
    return fuse.total(hit.signals) if policy.asked_unfaded else hit.score


def _fresh_first(hits: list[Hit], candidates: Candidates) -> list[Hit]:
    """Of what says the same but for the value, the newest first."""
    compared = [
        Dated(
            id=hit.memory.id,
            text=hit.memory.content,
            at=hit.memory.created_at,
            score=hit.score,
            likeness=candidates.likeness.get(hit.memory.id),
            spoken=hit.memory.kind in VERBATIM,
        )
        for hit in hits[:COMPARED]
    ]
    return _moved(hits, lifted(candidates.question.text, compared), "fresh")


def _without_repeats(hits: list[Hit], question: str, reader: Reader) -> tuple[list[Hit], int]:
    """Each fact once, and how many hits were left out because others state the same."""
    once = each_once(hits, question, reader)
    return _moved(once.hits, once.scores, "repeats"), once.repeated


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
            evidence=dict(hit.evidence),
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
        require_text(query.text, "query")
    else:
        check_storable(query.text, "query")
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
