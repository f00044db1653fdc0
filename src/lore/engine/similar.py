"""similar: find what is like a text. One service for all dialects, which block, flag or advise by it."""

from lore.engine.sense import Sense
from lore.model import Filter, Match
from lore.ranking import fuse
from lore.store import Reader
from lore.text import clean, terms

CANDIDATES = 20


def similar(text: str, *, reader: Reader, sense: Sense, where: Filter, limit: int) -> list[Match]:
    """The most similar memories, best meaning first. Without a model, by words alone. Counts as no use."""
    vectors = sense.of_texts([clean(text, "text")])
    words = fuse.relative_to_best(reader.matching(terms(text), CANDIDATES, where))
    cosines: dict[str, float] = {}
    if vectors is not None:
        cosines = reader.near(vectors[0], sense.model, max(limit, CANDIDATES), where)
        cosines |= reader.cosines(vectors[0], sense.model, [id for id in words if id not in cosines])
    memories = reader.get([*cosines, *words])
    matches = [
        Match(
            memory=memory,
            meaning=min(1.0, max(0.0, sense.likeness(cosines[id]))) if id in cosines else 0.0,
            words=words.get(id, 0.0),
        )
        for id, memory in memories.items()
    ]
    return sorted(matches, key=lambda match: (-match.meaning, -match.words, match.memory.id))[:limit]
