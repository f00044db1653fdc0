"""similar: find what is like a text or a vector. Dialects block, flag or advise by it."""

from collections.abc import Sequence

import numpy as np

from lore.engine.embeddings import Embeddings
from lore.errors import Invalid
from lore.model import Filter, Match
from lore.ranking import fuse
from lore.store import Reader
from lore.text import require_text, terms
from lore.vectors import Vector, unit

CANDIDATES = 20
TextOrVector = str | Sequence[float]


def similar(
    like: TextOrVector, *, reader: Reader, sense: Embeddings, where: Filter, limit: int
) -> list[Match]:
    """The most similar memories, best meaning first. Counts as no use.

    A vector is compared by meaning alone. A text without a model is compared by words alone.
    """
    words: dict[str, float] = {}
    vector: Vector | None
    if isinstance(like, str):
        vectors = sense.embed_texts([require_text(like, "text")])
        vector = None if vectors is None else vectors[0]
        words = fuse.relative_to_best(reader.matching(terms(like), CANDIDATES, where))
    else:
        vector = _checked(like, sense)
    cosines: dict[str, float] = {}
    if vector is not None:
        cosines = reader.near(vector, sense.model, max(limit, CANDIDATES), where)
        cosines |= reader.cosines(vector, sense.model, [id for id in words if id not in cosines])
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


def _checked(numbers: Sequence[float], sense: Embeddings) -> Vector:
    """The numbers as a unit vector of the embedding model in use."""
    with np.errstate(over="ignore"):  # beyond 32 bits is infinity, which `unit` refuses
        vector = unit(np.asarray(numbers, dtype=np.float32))
    if vector.size != sense.dimension:
        raise Invalid(f"a vector of {sense.model} has {sense.dimension} numbers, not {vector.size}")
    return vector
