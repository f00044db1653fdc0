"""graph_search: candidates by meaning and words, folded into entities, weighted by use, age and company."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lore.engine import match
from lore.engine.embeddings import Embeddings
from lore.engine.entity_view import ENTITY, IMPLIED, OBSERVATION, EntityView
from lore.engine.nodes import portrayed, stands_in
from lore.engine.once import each_once
from lore.engine.search import spoken
from lore.engine.use import count_use
from lore.errors import Unavailable
from lore.model import VERBATIM, Filter, Memory
from lore.ranking import fuse, limbic
from lore.ranking.confidence import LEAST
from lore.ranking.decay import DAY_SECONDS
from lore.ranking.fresh import Dated, lifted
from lore.ranking.limbic import Scoring
from lore.ranking.policy import Policy
from lore.store import Reader, Store
from lore.text import require_text, terms
from lore.vectors import Vector

WIDER = 3
FEWEST_CANDIDATES = 30
NODES = Filter(other_kinds=frozenset({OBSERVATION}))
OBSERVATIONS = Filter(kinds=frozenset({OBSERVATION}))
HOUR_SECONDS = DAY_SECONDS / 24


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
    """Candidates: how like they are, and their fused rank if words took part."""

    likeness: Mapping[str, float]
    fused: Mapping[str, float]

    def bases(self) -> dict[str, float]:
        if not self.fused:
            return {id: max(0.0, likeness) for id, likeness in self.likeness.items()}
        stand_ins = limbic.words_only(self.fused)
        return {
            id: max(0.0, self.likeness[id]) if id in self.likeness else stand_ins[id] for id in self.fused
        }


@dataclass(frozen=True, slots=True)
class _Question:
    """A query, its reader, and its ranking: by the engine's evidence or by the published formula."""

    text: str
    limit: int
    vector: Vector
    policy: Policy
    reader: Reader
    sense: Embeddings
    now: float


def search_graph(
    question: str, *, limit: int, policy: Policy, store: Store, reader: Reader, sense: Embeddings, now: float
) -> list[EntityHit]:
    """The best entities for a question; Unavailable without a model. Being shown counts as use, together."""
    vector = sense.embed_query(require_text(question, "query"))
    if vector is None:
        raise Unavailable(sense.trouble or "the embedding model is still loading")
    wanted = _Question(question, limit, vector, policy, reader, sense, now)
    shown = (_by_formula(wanted) if policy.formula else _by_match(wanted))[:limit]
    count_use([a.view.entity.id for a in shown], store=store, now=now, together=len(shown) > 1)
    return shown


def _by_match(question: _Question) -> list[EntityHit]:
    """By the engine's evidence; use, age and company decide between entities that match about as well."""
    reader, now = question.reader, question.now
    asked = match.Question(question.text, Filter(), question.limit, question.vector, question.policy, now)
    candidates = match.find(asked, reader, question.sense)
    hits = spoken(match.by_evidence(candidates), question.policy)
    certainty = candidates.confidence(hits)
    if certainty < LEAST:
        return []
    once = each_once(match.weigh(hits, candidates, certainty), question.text, reader)
    strengths = {hit.memory.id: once.scores.get(hit.memory.id, hit.score) for hit in once.hits}
    matches = _folded(strengths, reader)
    likeness = _folded({id: value for id, value in candidates.likeness.items() if id in strengths}, reader)
    worded = list(_folded(candidates.words, reader))
    fused = fuse.reciprocal_rank([list(likeness), worded]) if worded else {}
    views = _views(list(matches), reader)
    scorings = _scorings({id: p.entity for id, p in views.items()}, reader, now)
    strategy = limbic.strategy_for(question.text, question.limit)
    bent = limbic.bent({id: matches[id] for id in views}, scorings, strategy)
    bent |= lifted(question.text, _dated(views, bent, likeness))
    return sorted(
        (
            _entity_hit(views[id], score, scorings[id], strategy, likeness.get(id), fused.get(id))
            for id, score in bent.items()
        ),
        key=lambda a: (-a.score, -a.view.entity.created_at, a.view.entity.id),
    )


def _dated(
    views: Mapping[str, EntityView], scores: Mapping[str, float], likeness: Mapping[str, float]
) -> list[Dated]:
    """The memories of other dialects among the entities: one of them may update another."""
    memories = [view.entity for view in views.values() if view.entity.kind != ENTITY]
    return [
        Dated(
            id=memory.id,
            text=memory.content,
            at=memory.created_at,
            score=scores[memory.id],
            likeness=likeness.get(memory.id),
            spoken=memory.kind in VERBATIM,
        )
        for memory in memories
    ]


def _by_formula(question: _Question) -> list[EntityHit]:
    """By the published formula: likeness or fused ranks, multiplied by use, age and company."""
    reader, sense = question.reader, question.sense
    many = max(FEWEST_CANDIDATES, WIDER * question.limit)
    near = {where: reader.near(question.vector, sense.model, many, where) for where in (NODES, OBSERVATIONS)}
    cosines = _folded(near[NODES] | near[OBSERVATIONS], reader)
    words = _folded(reader.matching(terms(question.text), many, Filter()), reader)
    views = _views([*cosines, *words], reader)
    likeness = {id: sense.likeness(cosine) for id, cosine in cosines.items() if id in views}
    worded = [id for id in words if id in views]
    found = _Found(likeness, fuse.reciprocal_rank([list(likeness), worded]) if worded else {})
    scorings = _scorings({id: p.entity for id, p in views.items()}, reader, question.now)
    strategy = limbic.strategy_for(question.text, question.limit)
    scores = {id: scorings[id].applied_to(base) for id, base in found.bases().items()}
    scores = limbic.blended(scores, likeness, strategy)
    return sorted(
        (
            _entity_hit(views[id], score, scorings[id], strategy, likeness.get(id), found.fused.get(id))
            for id, score in scores.items()
        ),
        key=lambda a: (-a.score, a.view.entity.id),
    )


def _entity_hit(
    view: EntityView,
    score: float,
    scoring: Scoring,
    strategy: str,
    likeness: float | None,
    fused: float | None,
) -> EntityHit:
    return EntityHit(
        view=view,
        score=score * _dampening(view),
        scoring=scoring,
        strategy=strategy,
        distance=None if likeness is None else min(2.0, max(0.0, 1 - likeness)),
        fused=fused,
    )


def _folded(found: Mapping[str, float], reader: Reader) -> dict[str, float]:
    """An observation speaks for its entity: the strongest of them counts; best first."""
    parents = reader.parents(found)
    kinds = {id: memory.kind for id, memory in reader.get(found).items()}
    best: dict[str, float] = {}
    for id, strength in found.items():
        home = parents.get(id, id) if kinds.get(id) == OBSERVATION else id
        best[home] = max(strength, best.get(home, strength))
    return dict(sorted(best.items(), key=lambda item: -item[1]))


def _views(ids: Sequence[str], reader: Reader) -> dict[str, EntityView]:
    memories = [
        memory
        for memory in reader.get(dict.fromkeys(ids)).values()
        if (memory.kind == ENTITY and IMPLIED not in memory.flags) or stands_in(memory)
    ]
    return {view.entity.id: view for view in portrayed(memories, reader=reader)}


def _dampening(view: EntityView) -> float:
    return limbic.dampening(view.entity.status, [memory.type for memory in view.observations])


def _scorings(memories: Mapping[str, Memory], reader: Reader, now: float) -> dict[str, Scoring]:
    """Being kept is the first use, so that what is new is not worthless."""
    degrees: dict[str, int] = defaultdict(int)
    for link in reader.links(memories, kinds=("relation",)):
        for end in {link.source, link.target}:
            degrees[end] += 1
    met: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for meeting in reader.meetings(memories):
        hours = (now - meeting.last_at) / HOUR_SECONDS
        for end in (meeting.one, meeting.other):
            met[end].append((meeting.count, hours))
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
            temporal=limbic.temporal((now - (memory.last_accessed_at or memory.created_at)) / HOUR_SECONDS),
            company=limbic.company(met[id]),
        )
        for id, memory in memories.items()
    }
