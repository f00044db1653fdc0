"""search: find candidates → rank them → leave out noise and repeats → show the best → count the use."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from lore.engine.context import Context, count_use
from lore.engine.deep_search import search_again, walk_on
from lore.engine.embeddings import Embeddings
from lore.engine.handout import standing_of
from lore.engine.match import Candidates, Question, by_evidence, find, weigh
from lore.engine.past import reader_at
from lore.engine.remember import TWIN_KINDS
from lore.engine.verify import stale_scores, states_of
from lore.errors import Invalid, NotFound
from lore.model import (
    ACCOUNT,
    DERIVED,
    DISTILLED,
    FORMATS,
    OVERVIEW_OF,
    SESSION,
    TURN,
    VERBATIM,
    Answer,
    Filter,
    Format,
    Hit,
    Memory,
    Query,
    Signal,
)
from lore.ranking import fuse
from lore.ranking.confidence import LEAST, SAME_TOPIC
from lore.ranking.decay import left_of, relevance
from lore.ranking.fresh import Dated, lifted
from lore.ranking.policy import POLICIES, Policy, policy_named
from lore.ranking.repeats import Statement, asks_again, repeats
from lore.store import Reader
from lore.store.values import COUNT, Page
from lore.text import check_storable, folded, label_of, listed, preview, require_text, tokens_in

LIMIT = 1_000
IDS_LIMIT = 1_000
LISTS = {"meaning_rank", "words_rank", "links_rank"}
"""The lists of a reciprocal rank fusion; without a model or any link, the others count more."""
CLEAR = 0.5
"""The least score of a hit that belongs to another project than the caller's."""
ELSEWHERE = 0.5
"""The factor on the score of such a hit."""
REPORT = 0.85
"""The factor on the score of an account, which repeats what others say."""
COMPARED = 20
"""The first hits among which a newer statement is looked for."""
DEDUPLICATED = 30
"""The first hits among which repeats are looked for."""
REPEATED = 0.5
"""Factor for the score of a hit that repeats a better one in part."""
ASKED_AGAIN = 0.1
"""Factor for the score of a hit that only asks what the question asks."""
CRUMB_TOKENS = 60
"""Tokens that an id with its score costs the caller."""


def search(
    query: Query, context: Context, *, embeddings: Embeddings, policies: Mapping[str, Policy] = POLICIES
) -> Answer:
    """Find by meaning and words, within the filter; the answer tells how it came about.

    Memories of other projects than the caller's are hits only where they clearly match.
    """
    reader, policy = context.reader, policy_named(query.policy, policies)
    _check(query, reader)
    if query.as_of is not None:
        reader, query = reader_at(query.as_of, reader, embeddings), replace(query, counted=False)
    if not query.text.strip():
        return _look_up(query, reader, context)
    candidates = find(Question(query.text, query.where, query.limit, policy, context.now), reader, embeddings)
    question = candidates.question
    ranked = _by_formula(candidates) if policy.formula else by_evidence(candidates)
    certainty = 1.0 if policy.formula else candidates.confidence(ranked)
    likely, hidden = _partition(ranked, lambda hit: _is_likely(hit, candidates, certainty))
    hits = without_found_sessions(likely, policy)
    if query.deep:
        hits = walk_on(hits, question, context, embeddings=embeddings)
        if not policy.formula:
            hits = search_again(hits, question, context, embeddings=embeddings)
        hits = without_found_sessions(hits, policy)
    if not policy.formula:
        hits = weigh(hits, candidates, certainty)
        hits = _rescored(hits, _reports(hits), "report")
    if certainty < LEAST and query.where.ids is None:
        hits, hidden = [], [*hidden, *hits]
    hits, elsewhere = _of_project(hits, "" if query.where.projects else context.project)
    repeated = 0
    if policy.tidy:
        once = each_once(_fresh_first(hits, candidates), query.text, reader)
        hits, repeated = _rescored(once.hits, once.scores, "repeats"), once.repeated
    hits, weak = _partition(
        hits, lambda hit: (fuse.total(hit.signals) if policy.asked_unfaded else hit.score) >= query.min_score
    )
    hidden += weak
    if not policy.formula:
        hits = _rescored(hits, stale_scores(hits, context.tree), "stale")
    if policy.best_per_tree and query.where.under is None:
        hits = _best_per_tree(hits, reader)
    answer = _answer(query, hits, context)
    return replace(
        answer,
        hidden=len(hidden),
        best_hidden=max((hit.score for hit in hidden), default=0.0),
        elsewhere=len(elsewhere),
        repeated=repeated,
        embedding_state="ready" if question.vector is not None else embeddings.state,
        pending=candidates.pending,
        error=embeddings.trouble,
    )


def _answer(query: Query, hits: list[Hit], context: Context) -> Answer:
    """The first hits within limit and budget, with breadcrumbs and successors; the use is counted."""
    fitting = _within_budget(hits[: query.limit], query.format, query.budget_tokens)
    places = context.reader.places([hit.memory.id for hit in fitting]) if fitting else {}
    states = states_of([hit.memory for hit in fitting], context.tree)
    shown = [
        replace(
            hit,
            signals=dict(hit.signals),
            evidence=dict(hit.evidence),
            breadcrumb=places[hit.memory.id].labels,
            successor=places[hit.memory.id].successor,
            citations=states.get(hit.memory.id, {}),
            standing=standing_of(hit.memory, context.reader),
        )
        for hit in fitting
    ]
    if query.counted and query.format != "ids":
        count_use([hit.memory.id for hit in shown], context)
    stored = None if shown else context.reader.traces(Filter(projects=query.where.projects), COUNT).total
    return Answer(hits=tuple(shown), stored=stored, cut=len(hits) - len(shown))


def _of_project(hits: list[Hit], project: str) -> tuple[list[Hit], list[Hit]]:
    """The hits of a project or of none first, others further down if they clearly match; and the rest."""
    if not project:
        return hits, []
    others = {hit.memory.id for hit in hits if hit.memory.project not in ("", project)}
    weak = {hit.memory.id for hit in hits if hit.memory.id in others and hit.score < CLEAR}
    lowered = {hit.memory.id: hit.score * ELSEWHERE for hit in hits if hit.memory.id in others - weak}
    left, right = _partition(hits, lambda hit: hit.memory.id not in weak)
    return _rescored(left, lowered, "elsewhere"), right


def _reports(hits: Iterable[Hit]) -> dict[str, float]:
    """The scores of accounts behind what matches as well."""
    return {hit.memory.id: hit.score * REPORT for hit in hits if hit.memory.kind == ACCOUNT}


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


def without_found_sessions(hits: list[Hit], policy: Policy) -> list[Hit]:
    """The hits without sessions of which a turn was found: the turn says more."""
    if not policy.tidy:
        return hits
    found = {hit.memory.session for hit in hits if hit.memory.kind == TURN and hit.memory.session}
    return [hit for hit in hits if hit.memory.kind != SESSION or hit.memory.session not in found]


def _partition(hits: Iterable[Hit], passes: Callable[[Hit], bool]) -> tuple[list[Hit], list[Hit]]:
    """Those that pass, and the others."""
    parts: dict[bool, list[Hit]] = {True: [], False: []}
    for hit in hits:
        parts[passes(hit)].append(hit)
    return parts[True], parts[False]


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
    return _rescored(hits, lifted(candidates.question.text, compared), "fresh")


def _rescored(hits: list[Hit], scores: Mapping[str, float], reason: str) -> list[Hit]:
    """The hits with new scores for some of them, best first; of equal scores, the newest first."""
    if not scores:
        return hits
    changed = [_with_score(hit, scores.get(hit.memory.id, hit.score), reason) for hit in hits]
    return sorted(changed, key=lambda hit: (-hit.score, -hit.memory.created_at, -hit.memory.alias))


def _with_score(hit: Hit, score: float, reason: str) -> Hit:
    if score == hit.score:
        return hit
    change = Signal((score - hit.score) / hit.fade, 1.0)
    return replace(hit, score=score, signals={**hit.signals, reason: change})


def _best_per_tree(hits: Sequence[Hit], reader: Reader) -> list[Hit]:
    below = [hit.memory.id for hit in hits if hit.memory.depth]
    paths = reader.ancestors(below) if below else {}
    best: dict[str, Hit] = {}
    for hit in hits:
        path = paths.get(hit.memory.id)
        best.setdefault(path[0] if path else hit.memory.id, hit)
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


def _look_up(query: Query, reader: Reader, context: Context) -> Answer:
    """No text but ids: the memories themselves, in the order of the ids."""
    ids = list(dict.fromkeys(query.where.ids or ()))
    passing = {memory.id: memory for memory in reader.select(query.where, Page(limit=len(ids)))}
    found = [passing[id] for id in ids if id in passing]
    hits = [Hit(memory=m, score=0.0, signals={}, relevance=relevance(m, context.now)) for m in found]
    return _answer(query, hits, context)


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
    if query.as_of is not None:
        _check_as_of(query.as_of, query.deep)
    if query.where.ids is not None and len(query.where.ids) > IDS_LIMIT:
        raise Invalid(f"{len(query.where.ids):,} ids; at most {IDS_LIMIT:,} at a time")
    if query.where.under is not None and not reader.get([query.where.under]):
        raise NotFound(f"unknown memory {preview(query.where.under, 80)}")


def _check_as_of(at: float, deep: bool) -> None:
    if not math.isfinite(at):
        raise Invalid(f"as_of is {at}; it must be a time")
    if deep:
        raise Invalid("a deep search follows the links of now: give a past time or `deep`, not both")


@dataclass(frozen=True, slots=True)
class Once:
    """Hits without repeats, in the order given; those that stand for turns name these as sources.

    scores: new scores of some of them. repeated: the number of hits left out.
    """

    hits: list[Hit]
    scores: dict[str, float]
    repeated: int


def each_once(hits: Sequence[Hit], question: str, reader: Reader) -> Once:
    """Leave out hits that only repeat others, and lower those that only ask the question again.

    A memory takes the place of the best turn that it stands for, and names these turns as its sources.
    """
    first = hits[:DEDUPLICATED]
    found = repeats(question, _statements(first, reader))
    replaced = set(found.covered).union(*found.stands_for.values())
    before = {hit.memory.id: hit.score for hit in first}
    spoken = [hit.memory for hit in first if hit.memory.kind in (TURN, SESSION)]
    again = {memory.id for memory in spoken if asks_again(question, memory.content)}
    scores = {id: before[id] * REPEATED for id in found.lesser}
    scores |= {id: before[id] * ASKED_AGAIN for id in again}
    turns = [(turn, id) for id, stood_for in found.stands_for.items() for turn in stood_for]
    for left_out, id in (*turns, *found.covered.items()):
        scores[id] = max(before[left_out], scores.get(id, before[id]))
    kept = [hit for hit in hits if hit.memory.id not in replaced]
    for at, hit in enumerate(kept):
        if stood_for := found.stands_for.get(hit.memory.id):
            kept[at] = replace(hit, sources=tuple(stood_for))
    return Once(kept, scores, len(replaced))


def _statements(hits: Sequence[Hit], reader: Reader) -> list[Statement]:
    distilled = {hit.memory.id for hit in hits if hit.memory.source_type == DISTILLED}
    memories = {hit.memory.id for hit in hits if hit.memory.kind not in VERBATIM}
    turns: dict[str, set[str]] = {}
    for link in reader.links(memories, kinds=("relation",)) if 0 < len(memories) < len(hits) else ():
        if link.type == DERIVED:
            turns.setdefault(link.source, set()).add(link.target)
    return [
        Statement(
            id=hit.memory.id,
            text=hit.memory.content,
            at=hit.memory.created_at,
            verbatim=hit.memory.kind in VERBATIM,
            heading=hit.memory.kind == SESSION
            or (hit.memory.id in distilled and OVERVIEW_OF in hit.memory.metadata),
            distilled=hit.memory.id in distilled,
            turns=frozenset(turns.get(hit.memory.id, ())),
            twin_key=_twin_key(hit.memory),
        )
        for hit in hits
    ]


def _twin_key(memory: Memory) -> str:
    if memory.kind not in TWIN_KINDS:
        return ""
    return "\0".join((memory.namespace, memory.project, folded(memory.content)))
