"""find_repetitions: observations of one entity that repeat each other, by meaning or by containment."""

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


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Two observations repeat each other above one of these, each 0 to 1."""

    meaning: float = MEANING_THRESHOLD
    containment: float = CONTAINMENT_THRESHOLD


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    """Two observations that say the same, how surely, and by which measure."""

    one: Memory
    other: Memory
    score: float
    measure: Literal["cosine", "containment"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetitions:
    """Observations of an entity that repeat each other: as pairs, and in groups."""

    view: EntityView
    pairs: tuple[Pair, ...] = ()
    clusters: tuple[tuple[Memory, ...], ...] = ()


def find_repetitions(
    name: str, reader: Reader, embeddings: Embeddings, *, thresholds: Thresholds
) -> Repetitions:
    """Find the repetitions; changes nothing. Unavailable without a model."""
    entity = entities_named([name], reader=reader).get(name)
    if entity is None:
        raise NotFound(name)
    [view] = views_of([entity], reader=reader)
    texts = view.observations
    if len(texts) < 2:
        return Repetitions(view=view)
    alike = likenesses(texts, reader=reader, embeddings=embeddings)
    if alike is None:
        raise Unavailable(embeddings.trouble)
    pairs: dict[tuple[int, int], Pair] = {}
    for one in range(len(texts)):
        for other in range(one + 1, len(texts)):
            pair = _pair(texts[one], texts[other], alike[one, other], thresholds)
            if pair is not None:
                pairs[one, other] = pair
    clusters = clustered(pairs, len(texts))
    return Repetitions(
        view=view,
        pairs=tuple(pairs.values()),
        clusters=tuple(tuple(texts[at] for at in cluster) for cluster in clusters),
    )


def _pair(one: Memory, other: Memory, likeness: float, thresholds: Thresholds) -> Pair | None:
    likeness = max(0.0, likeness)  # unrelated texts can be below the scale
    if likeness >= thresholds.meaning:
        return Pair(one=one, other=other, score=min(1.0, likeness), measure="cosine")
    if contained(one.content, other.content, thresholds.containment):
        score = containment(one.content, other.content)
        return Pair(one=one, other=other, score=score, measure="containment")
    return None


def repeated(
    texts: Sequence[str], existing: Sequence[Memory], *, reader: Reader, embeddings: Embeddings
) -> tuple[list[str], dict[str, Vector]]:
    """The texts that repeat the most similar existing observation, and the vectors of all texts.

    Without a model nothing is compared.
    """
    new = embeddings.embed_texts(list(texts))
    old = _vectors(existing, reader=reader, embeddings=embeddings)
    if new is None or old is None:
        return [], {}
    cosines = new @ old.T
    found = []
    for at, text in enumerate(texts):
        best = int(np.argmax(cosines[at]))
        close = embeddings.likeness(float(cosines[at, best])) >= MEANING_THRESHOLD
        alike = close or contained(text, existing[best].content, CONTAINMENT_THRESHOLD)
        if alike and not corrects(existing[best].content, text):
            found.append(text)
    return found, dict(zip(texts, new, strict=True))


def likenesses(memories: Sequence[Memory], *, reader: Reader, embeddings: Embeddings) -> Distances | None:
    """How alike each two are, 0 to 1 and below; None without a model."""
    matrix = _vectors(memories, reader=reader, embeddings=embeddings)
    if matrix is None:
        return None
    zero = embeddings.likeness(0.0)
    return zero + (embeddings.likeness(1.0) - zero) * (matrix @ matrix.T)  # likeness is linear in the cosine


def _vectors(memories: Sequence[Memory], *, reader: Reader, embeddings: Embeddings) -> Distances | None:
    """One row for each memory; pending ones are embedded here. None without a model."""
    vectors = reader.vectors(embeddings.model, [memory.id for memory in memories])
    pending = [memory for memory in memories if memory.id not in vectors]
    if pending:
        embedded = embeddings.embed_texts([memory.content for memory in pending])
        if embedded is None:
            return None
        vectors |= {memory.id: vector for memory, vector in zip(pending, embedded, strict=True)}
    return np.stack([vectors[memory.id] for memory in memories]).astype(np.float64)
