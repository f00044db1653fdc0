"""embed: take memories without a vector of this model → embed them → keep the vectors."""

from lore.engine.sense import Sense
from lore.store import Store

BATCH = 32


def embed(*, store: Store, sense: Sense, limit: int = BATCH) -> int:
    """Embed some of what is waiting; how many were taken on. 0: nothing waits, or there is no model."""
    passages = store.unembedded(sense.model, limit)
    if not passages:
        return 0
    vectors = sense.of_texts([passage.text for passage in passages])
    if vectors is None:
        return 0
    store.embed(sense.model, dict(zip(passages, vectors, strict=True)))
    return len(passages)
