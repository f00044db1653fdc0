"""associate: near by meaning and words → fused → bent by use, age and company → counted together."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lore.engine.nodes import portrayed, stands_in
from lore.engine.portrait import ENTITY, IMPLIED, OBSERVATION, Portrait
from lore.engine.sense import Sense
from lore.engine.use import count_use
from lore.errors import Unavailable
from lore.model import Filter, Memory
from lore.ranking import fuse, limbic
from lore.ranking.decay import DAY_SECONDS
from lore.ranking.limbic import Scoring
from lore.store import Reader, Store
from lore.text import clean, terms

WIDER = 3
FEWEST_CANDIDATES = 30
NODES = Filter(other_kinds=frozenset({OBSERVATION}))
OBSERVATIONS = Filter(kinds=frozenset({OBSERVATION}))
HOUR_SECONDS = DAY_SECONDS / 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Association:
    """A portrait that was found, and why. distance: 1 - likeness; None if only words found it."""

    portrait: Portrait
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


def associate(
    question: str, *, limit: int, store: Store, reader: Reader, sense: Sense, now: float
) -> list[Association]:
    """The best entities for a question; Unavailable without a model. Being shown counts as use, together."""
    vector = sense.of_question(clean(question, "query"))
    if vector is None:
        raise Unavailable(sense.trouble or "the embedding model is still loading")
    many = max(FEWEST_CANDIDATES, WIDER * limit)
    near = {where: reader.near(vector, sense.model, many, where) for where in (NODES, OBSERVATIONS)}
    cosines = _folded(near[NODES] | near[OBSERVATIONS], reader)
    words = _folded(reader.matching(terms(question), many, Filter()), reader)
    portraits = _portraits([*cosines, *words], reader)
    ranked = _ranked(question, portraits, cosines, words, sense, reader, limit, now)
    shown = ranked[:limit]
    count_use([a.portrait.entity.id for a in shown], store=store, now=now, together=len(shown) > 1)
    return shown


def _folded(found: Mapping[str, float], reader: Reader) -> dict[str, float]:
    """An observation speaks for its entity: the strongest of them counts; best first."""
    parents = reader.parents(found)
    kinds = {id: memory.kind for id, memory in reader.get(found).items()}
    best: dict[str, float] = {}
    for id, strength in found.items():
        home = parents.get(id, id) if kinds.get(id) == OBSERVATION else id
        best[home] = max(strength, best.get(home, strength))
    return dict(sorted(best.items(), key=lambda item: -item[1]))


def _portraits(ids: Sequence[str], reader: Reader) -> dict[str, Portrait]:
    memories = [
        memory
        for memory in reader.get(dict.fromkeys(ids)).values()
        if (memory.kind == ENTITY and IMPLIED not in memory.flags) or stands_in(memory)
    ]
    return {portrait.entity.id: portrait for portrait in portrayed(memories, reader=reader)}


def _ranked(
    question: str,
    portraits: Mapping[str, Portrait],
    cosines: Mapping[str, float],
    words: Mapping[str, float],
    sense: Sense,
    reader: Reader,
    limit: int,
    now: float,
) -> list[Association]:
    """Everything that moves a score does so before the list is sorted."""
    likeness = {id: sense.likeness(cosine) for id, cosine in cosines.items() if id in portraits}
    worded = [id for id in words if id in portraits]
    found = _Found(likeness, fuse.reciprocal_rank([list(likeness), worded]) if worded else {})
    scorings = _scorings({id: p.entity for id, p in portraits.items()}, reader, now)
    strategy = limbic.strategy_for(question, limit)
    scores = {id: scorings[id].applied_to(base) for id, base in found.bases().items()}
    scores = limbic.blended(scores, likeness, strategy)
    associations = [
        Association(
            portrait=portraits[id],
            score=score * _dampening(portraits[id]),
            scoring=scorings[id],
            strategy=strategy,
            distance=min(2.0, max(0.0, 1 - likeness[id])) if id in likeness else None,
            fused=found.fused.get(id),
        )
        for id, score in scores.items()
    ]
    return sorted(associations, key=lambda a: (-a.score, a.portrait.entity.id))


def _dampening(portrait: Portrait) -> float:
    return limbic.dampening(portrait.entity.status, [memory.type for memory in portrait.observations])


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
