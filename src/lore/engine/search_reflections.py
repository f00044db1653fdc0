"""search_reflections: find reflections by meaning and words, filtered by author, target and mood."""

from dataclasses import dataclass, replace

from lore.engine.embeddings import Embeddings
from lore.errors import Unavailable
from lore.model import Filter, Memory
from lore.ranking import fuse
from lore.ranking.decay import DAY_SECONDS
from lore.ranking.limbic import temporal
from lore.store import Reader
from lore.text import require_text, terms

REFLECTIONS = Filter(kinds=frozenset({"reflection"}))
WIDER = 3
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


def search_reflections(
    question: str,
    *,
    author: str | None,
    mood: str | None,
    target_type: str | None,
    limit: int,
    reader: Reader,
    sense: Embeddings,
    now: float,
) -> list[ReflectionHit]:
    """The best reflections for a question; Unavailable without a model. Counts as no use.

    score = (likeness + reciprocal ranks by meaning and words) x freshness.
    """
    vector = sense.embed_query(require_text(question, "query"))
    if vector is None:
        raise Unavailable(sense.trouble or "the embedding model is still loading")
    asked = {"author": author, "mood": mood, "target_type": target_type}
    wanted = {name: value for name, value in asked.items() if value is not None}
    thoughts = {m.id: reflection_hit(m) for m in reader.select(REFLECTIONS, ALL)}
    passing = tuple(
        id for id, thought in thoughts.items() if all(getattr(thought, n) == v for n, v in wanted.items())
    )
    where = Filter(kinds=REFLECTIONS.kinds, ids=passing) if wanted else REFLECTIONS
    near = reader.near(vector, sense.model, WIDER * limit, where)
    words = reader.matching(terms(question), WIDER * limit, where)
    cosines = near | reader.cosines(vector, sense.model, words)
    likeness = {id: max(0.0, sense.likeness(cosine)) for id, cosine in cosines.items()}
    fused = fuse.reciprocal_rank([list(near), list(words)])
    scores = {id: likeness.get(id, 0.0) + ranks for id, ranks in fused.items()}
    found = [_scored(thoughts[id], score, now) for id, score in scores.items() if id in thoughts]
    return sorted(found, key=lambda thought: (-thought.score, thought.memory.id))[:limit]


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


def reflections_about(
    target_type: str, aliases: list[int], *, reader: Reader
) -> dict[int, list[ReflectionHit]]:
    """The reflections about each of some entities or relations, oldest first."""
    found: dict[int, list[ReflectionHit]] = {alias: [] for alias in aliases}
    for memory in reversed(reader.select(REFLECTIONS, ALL)):
        thought = reflection_hit(memory)
        if thought.target_type == target_type and thought.target_id in found:
            found[thought.target_id].append(thought)
    return found


def _scored(thought: ReflectionHit, score: float, now: float) -> ReflectionHit:
    fresh = temporal((now - thought.memory.created_at) / HOUR_SECONDS)
    return replace(thought, score=score * fresh)
