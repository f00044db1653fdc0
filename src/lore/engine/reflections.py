"""reflections: find reflections by meaning and words, filtered by author, target and mood."""

from dataclasses import dataclass, replace

from lore.engine.context import Context
from lore.engine.embeddings import Embeddings
from lore.errors import Unavailable
from lore.model import Filter, Memory
from lore.ranking import fuse
from lore.ranking.decay import DAY_SECONDS
from lore.ranking.limbic import temporal
from lore.store.values import EVERY
from lore.text import require_text, terms
from lore.vectors import cosines_to

REFLECTIONS = Filter(kinds=frozenset({"reflection"}))
CANDIDATES_PER_HIT = 3
HOUR_SECONDS = DAY_SECONDS / 24
ALL = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionHit:
    """A reflection as the graph shows it; those of other dialects are about a session."""

    memory: Memory
    target_type: str
    target_id: int | None
    author: str
    mood: str | None
    score: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ReflectionQuery:
    """A question about reflections. None: any author, mood or target. targets: numbers of entities."""

    text: str = ""
    author: str | None = None
    mood: str | None = None
    target_type: str | None = None
    targets: frozenset[int] | None = None
    limit: int = 10

    def passes(self, reflection: ReflectionHit) -> bool:
        return (
            self.author in (None, reflection.author)
            and self.mood in (None, reflection.mood)
            and self.target_type in (None, reflection.target_type)
            and (self.targets is None or reflection.target_id in self.targets)
        )


def reflections(query: ReflectionQuery, context: Context, *, embeddings: Embeddings) -> list[ReflectionHit]:
    """The best reflections for a question; Unavailable without a model. Counts as no use.

    score = (likeness + reciprocal ranks by meaning and words) x freshness. Without a text but with targets:
    all reflections about these, oldest first.
    """
    found = {m.id: reflection_hit(m) for m in context.reader.select(REFLECTIONS, EVERY)}
    passing = {id: reflection for id, reflection in found.items() if query.passes(reflection)}
    if query.targets is not None:
        return list(reversed(passing.values()))
    vector = embeddings.embed_query(require_text(query.text, "query"))
    if vector is None:
        raise Unavailable(embeddings.trouble or "the embedding model is still loading")
    where = replace(REFLECTIONS, ids=tuple(passing))
    many = CANDIDATES_PER_HIT * query.limit
    near = context.reader.near(vector, embeddings.model, many, where)
    words = context.reader.matching(terms(query.text), many, where).strengths
    cosines = near | cosines_to(vector, context.reader.vectors(embeddings.model, words))
    hits = []
    for id, ranks in fuse.reciprocal_rank([list(near), list(words)]).items():
        if id in passing:
            likeness = max(0.0, embeddings.likeness(cosines[id])) if id in cosines else 0.0
            hours = (context.now - passing[id].memory.created_at) / HOUR_SECONDS
            hits.append(replace(passing[id], score=(likeness + ranks) * temporal(hours)))
    return sorted(hits, key=lambda hit: (-hit.score, hit.memory.id))[: query.limit]


def reflection_hit(memory: Memory) -> ReflectionHit:
    """A reflection with its target, author and mood, read from its metadata."""
    about = memory.metadata
    target = about.get("target_id")
    return ReflectionHit(
        memory=memory,
        target_type=str(about.get("target_type", "session")),
        target_id=target if isinstance(target, int) else None,
        author=str(about.get("author", memory.source)),
        mood=str(about["mood"]) if about.get("mood") else None,
    )
