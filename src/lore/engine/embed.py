"""embed: take memories without a vector of this model → embed them → keep the vectors."""

from lore.engine.sense import Sense
from lore.store import Passage, Store
from lore.vectors import Vector

BATCH = 32
PIECE = 8
"""How many texts are embedded at once, on all the embedder's threads, while nobody is searching."""


def embed(*, store: Store, sense: Sense, limit: int = BATCH) -> int:
    """Embed some of what is waiting; how many were taken on. 0: nothing waits, or there is no model."""
    waiting = store.unembedded(sense.model, limit)
    vectors: dict[Passage, Vector] = {}
    alike = sorted(waiting, key=lambda passage: len(passage.text))
    while alike:
        size = 1 if sense.asked_lately else PIECE
        piece, alike = alike[:size], alike[size:]
        found = sense.of_texts([passage.text for passage in piece])
        if found is None:
            break
        vectors |= dict(zip(piece, found, strict=True))
    if vectors:
        store.embed(sense.model, vectors)
    return len(vectors)
