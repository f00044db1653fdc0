"""search_entities: candidates by meaning and words → their entities → weighted by use, age and company."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lore.engine import match
from lore.engine.context import Context, count_use
from lore.engine.embeddings import Embeddings
from lore.engine.entity_view import ENTITY, OBSERVATION, EntityView, GraphVocabulary
from lore.engine.nodes import is_node, portrayed
from lore.engine.search import each_once, without_found_sessions
from lore.errors import Unavailable
from lore.model import VERBATIM, Filter
from lore.ranking import fuse, limbic
from lore.ranking.confidence import LEAST
from lore.ranking.decay import DAY_SECONDS
from lore.ranking.fresh import Dated, lifted
from lore.ranking.limbic import Scoring
from lore.ranking.policy import Policy
from lore.store import Reader
from lore.store.values import parents_of
from lore.text import require_text, terms
from lore.vectors import Vector

CANDIDATES_PER_HIT = 3
FEWEST_CANDIDATES = 30
NODES = Filter(other_kinds=frozenset({OBSERVATION}))
OBSERVATIONS = Filter(kinds=frozenset({OBSERVATION}))
HOUR_SECONDS = DAY_SECONDS / 24


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityQuery:
    """A question about entities. policy: by the engine's evidence or by the published formula."""

    text: str
    limit: int
    policy: Policy
    vocabulary: GraphVocabulary


@dataclass(frozen=True, slots=True, kw_only=True)
class EntityHit:
    """An entity that was found, and why. distance: 1 - likeness; None if only words found it."""

    view: EntityView
    score: float
    scoring: Scoring
    strategy: str
    distance: float | None
    fused: float | None


@dataclass(frozen=True, slots=True)
class _Found:
    """Entities with their likeness to the question, and their fused ranks if words found any."""

    views: Mapping[str, EntityView]
    likeness: Mapping[str, float]
    fused: Mapping[str, float]

    def bases(self) -> dict[str, float]:
        """The score of each entity before use, age and company: its likeness, or one that stands in."""
        if not self.fused:
            return {id: max(0.0, likeness) for id, likeness in self.likeness.items()}
        stand_ins = limbic.words_only(self.fused)
        return {
            id: max(0.0, self.likeness[id]) if id in self.likeness else stand_ins[id] for id in self.fused
        }


@dataclass(frozen=True, slots=True)
class _Search:
    """One search: its query with the vector, and the parts that it uses."""

    query: EntityQuery
    vector: Vector
    context: Context
    embeddings: Embeddings

    @property
    def strategy(self) -> str:
        return limbic.strategy_for(self.query.text, self.query.limit, self.query.vocabulary.phrases)

    def hits(
        self, scores: Mapping[str, float], scorings: Mapping[str, Scoring], found: _Found
    ) -> list[EntityHit]:
        """A hit for each score, lowered by the status of its entity and by metadata."""
        strategy, factors = self.strategy, self.query.vocabulary.status_factors
        hits = []
        for id, score in scores.items():
            view, likeness = found.views[id], found.likeness.get(id)
            kinds = [memory.type for memory in view.observations]
            hits.append(
                EntityHit(
                    view=view,
                    score=score * limbic.dampening(view.entity.status, kinds, factors),
                    scoring=scorings[id],
                    strategy=strategy,
                    distance=None if likeness is None else min(2.0, max(0.0, 1 - likeness)),
                    fused=found.fused.get(id),
                )
            )
        return hits


def search_entities(query: EntityQuery, context: Context, *, embeddings: Embeddings) -> list[EntityHit]:
    """The best entities for a question; Unavailable without a model. Being shown counts as use, together."""
    vector = embeddings.embed_query(require_text(query.text, "query"))
    if vector is None:
        raise Unavailable(embeddings.trouble or "the embedding model is still loading")
    search = _Search(query, vector, context, embeddings)
    hits = (_by_formula(search) if query.policy.formula else _by_match(search))[: query.limit]
    count_use([hit.view.entity.id for hit in hits], context, together=len(hits) > 1)
    return hits


def _by_match(search: _Search) -> list[EntityHit]:
    """By the engine's evidence; use, age and company decide between entities that match about as well."""
    query, context, reader = search.query, search.context, search.context.reader
    question = match.Question(query.text, Filter(), query.limit, query.policy, context.now)
    candidates = match.find(question, reader, search.embeddings)
    hits = without_found_sessions(match.by_evidence(candidates), query.policy)
    certainty = candidates.confidence(hits)
    if certainty < LEAST:
        return []
    once = each_once(match.weigh(hits, candidates, certainty), query.text, reader)
    strengths = {hit.memory.id: once.scores.get(hit.memory.id, hit.score) for hit in once.hits}
    matches = _by_entity(strengths, reader)
    likeness = _by_entity({id: value for id, value in candidates.likeness.items() if id in strengths}, reader)
    by_words = list(_by_entity(candidates.words, reader))
    fused = fuse.reciprocal_rank([list(likeness), by_words]) if by_words else {}
    found = _Found(_views(list(matches), reader), likeness, fused)
    scorings = _scorings(found.views, context)
    scores = limbic.bent({id: matches[id] for id in found.views}, scorings, search.strategy)
    scores |= lifted(query.text, _dated(found, scores))
    return sorted(
        search.hits(scores, scorings, found),
        key=lambda hit: (-hit.score, -hit.view.entity.created_at, hit.view.entity.id),
    )


def _dated(found: _Found, scores: Mapping[str, float]) -> list[Dated]:
    """The memories of other dialects among the entities: one of them may update another."""
    memories = [view.entity for view in found.views.values() if view.entity.kind != ENTITY]
    return [
        Dated(
            id=memory.id,
            text=memory.content,
            at=memory.created_at,
            score=scores[memory.id],
            likeness=found.likeness.get(memory.id),
            spoken=memory.kind in VERBATIM,
        )
        for memory in memories
    ]


def _by_formula(search: _Search) -> list[EntityHit]:
    """By the published formula: likeness or fused ranks, multiplied by use, age and company."""
    query, reader, embeddings = search.query, search.context.reader, search.embeddings
    many = max(FEWEST_CANDIDATES, CANDIDATES_PER_HIT * query.limit)
    near = {
        where: reader.near(search.vector, embeddings.model, many, where) for where in (NODES, OBSERVATIONS)
    }
    cosines = _by_entity(near[NODES] | near[OBSERVATIONS], reader)
    words = _by_entity(reader.matching(terms(query.text), many, Filter()).strengths, reader)
    views = _views([*cosines, *words], reader)
    likeness = {id: embeddings.likeness(cosine) for id, cosine in cosines.items() if id in views}
    by_words = [id for id in words if id in views]
    fused = fuse.reciprocal_rank([list(likeness), by_words]) if by_words else {}
    found = _Found(views, likeness, fused)
    scorings = _scorings(views, search.context)
    scores = {id: scorings[id].applied_to(base) for id, base in found.bases().items()}
    scores = limbic.blended(scores, likeness, search.strategy)
    return sorted(search.hits(scores, scorings, found), key=lambda hit: (-hit.score, hit.view.entity.id))


def _by_entity(strengths: Mapping[str, float], reader: Reader) -> dict[str, float]:
    """Strengths of entities and other nodes, best first; the strongest observation counts for its entity."""
    parents = parents_of(reader.ancestors(strengths))
    kinds = {id: memory.kind for id, memory in reader.get(strengths).items()}
    best: dict[str, float] = {}
    for id, strength in strengths.items():
        home = parents.get(id, id) if kinds.get(id) == OBSERVATION else id
        best[home] = max(strength, best.get(home, strength))
    return dict(sorted(best.items(), key=lambda item: -item[1]))


def _views(ids: Sequence[str], reader: Reader) -> dict[str, EntityView]:
    memories = [memory for memory in reader.get(dict.fromkeys(ids)).values() if is_node(memory)]
    return {view.entity.id: view for view in portrayed(memories, reader=reader)}


def _scorings(views: Mapping[str, EntityView], context: Context) -> dict[str, Scoring]:
    """Use, age and company of each entity. To be created counts as the first use."""
    memories = {id: view.entity for id, view in views.items()}
    degrees: dict[str, int] = defaultdict(int)
    for link in context.reader.links(memories, kinds=("relation",)):
        for end in {link.source, link.target}:
            degrees[end] += 1
    meetings: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for meeting in context.reader.cooccurrences(memories):
        hours = (context.now - meeting.last_at) / HOUR_SECONDS
        for end in (meeting.one, meeting.other):
            meetings[end].append((meeting.count, hours))
    most_uses = max((memory.access_count + 1 for memory in memories.values()), default=0)
    most_days = max((memory.access_days for memory in memories.values()), default=0)
    return {
        id: Scoring(
            importance=limbic.importance(
                uses=memory.access_count + 1,
                most_uses=most_uses,
                degree=degrees[id],
                days=max(1, memory.access_days),
                most_days=most_days,
            ),
            temporal=limbic.temporal(
                (context.now - (memory.last_accessed_at or memory.created_at)) / HOUR_SECONDS
            ),
            cooccurrence=limbic.cooccurrence(meetings[id]),
        )
        for id, memory in memories.items()
    }
