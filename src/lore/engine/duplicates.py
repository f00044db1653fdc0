"""duplicates: which observations of one entity say the same, by meaning or because one contains the other."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lore.engine.embeddings import Embeddings
from lore.engine.entity_view import EntityView, entities_named, views_of
from lore.errors import NotFound, Unavailable
from lore.model import Memory
from lore.ranking.cluster import Distances, clustered, contained, containment
from lore.ranking.compare import corrects
from lore.store import Reader
from lore.vectors import Vector

MEANING_THRESHOLD = 0.85
CONTAINMENT_THRESHOLD = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two observations that say the same, how surely, and by which measure."""

    one: Memory
    other: Memory
    score: float
    measure: Literal["cosine", "containment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetitions:
    """What an entity says more than once: pair by pair, and grouped."""

    view: EntityView
    pairs: tuple[Pair, ...] = ()
    clusters: tuple[tuple[Memory, ...], ...] = ()


def duplicates(
    name: str,
    *,
    reader: Reader,
    sense: Embeddings,
    namespace: str,
    threshold: float = MEANING_THRESHOLD,
    containment_threshold: float = CONTAINMENT_THRESHOLD,
) -> Repetitions:
    """Nothing is changed; without a model: Unavailable."""
    entity = entities_named([name], reader=reader, namespace=namespace).get(name)
    if entity is None:
        raise NotFound(name)
    [view] = views_of([entity], reader=reader)
    texts = view.observations
    if len(texts) < 2:
        return Repetitions(view=view)
    alike = likenesses(texts, reader=reader, sense=sense)
    if alike is None:
        raise Unavailable(sense.trouble)
    pairs: dict[tuple[int, int], Pair] = {}
    for one in range(len(texts)):
        for other in range(one + 1, len(texts)):
            pair = _pair(texts[one], texts[other], alike[one, other], threshold, containment_threshold)
            if pair is not None:
                pairs[one, other] = pair
    clusters = clustered(pairs, len(texts))
    return Repetitions(
        view=view,
        pairs=tuple(pairs.values()),
        clusters=tuple(tuple(texts[at] for at in cluster) for cluster in clusters),
    )


def _pair(one: Memory, other: Memory, likeness: float, meaning: float, containing: float) -> Pair | None:
    likeness = max(0.0, likeness)  # unrelated texts can be below the scale
    if likeness >= meaning:
        return Pair(one=one, other=other, score=min(1.0, likeness), measure="cosine")
    if contained(one.content, other.content, containing):
        score = containment(one.content, other.content)
        return Pair(one=one, other=other, score=score, measure="containment")
    return None


def repeated(
    texts: Sequence[str], known: Sequence[Memory], *, reader: Reader, sense: Embeddings
) -> tuple[list[str], dict[str, Vector]]:
    """Those of `texts` that repeat the known observation most like them, and the vectors of all.

    Without a model nothing is compared.
    """
    new = sense.embed_texts(list(texts))
    old = _vectors(known, reader=reader, sense=sense)
    if new is None or old is None:
        return [], {}
    cosines = new @ old.T
    found = []
    for at, text in enumerate(texts):
        best = int(np.argmax(cosines[at]))
        close = sense.likeness(float(cosines[at, best])) >= MEANING_THRESHOLD
        alike = close or contained(text, known[best].content, CONTAINMENT_THRESHOLD)
        if alike and not corrects(known[best].content, text):
            found.append(text)
    return found, dict(zip(texts, new, strict=True))


def likenesses(memories: Sequence[Memory], *, reader: Reader, sense: Embeddings) -> Distances | None:
    """How alike each two are, 0 to 1 and below; None without a model."""
    matrix = _vectors(memories, reader=reader, sense=sense)
    if matrix is None:
        return None
    zero = sense.likeness(0.0)
    return zero + (sense.likeness(1.0) - zero) * (matrix @ matrix.T)  # likeness is linear in the cosine


def _vectors(memories: Sequence[Memory], *, reader: Reader, sense: Embeddings) -> Distances | None:
    """One row for each; what still waits for its vector is embedded here."""
    known = reader.vectors(sense.model, [memory.id for memory in memories])
    waiting = [memory for memory in memories if memory.id not in known]
    if waiting:
        fresh = sense.embed_texts([memory.content for memory in waiting])
        if fresh is None:
            return None
        known |= {memory.id: vector for memory, vector in zip(waiting, fresh, strict=True)}
    return np.stack([known[memory.id] for memory in memories]).astype(np.float64)
