"""embed: take memories without a vector of this model → embed them → keep the vectors."""

import time
from collections.abc import Callable

from lore.engine.embeddings import Embeddings
from lore.store import Passage, Store
from lore.vectors import Vector

BATCH = 32
PIECE = 2
"""How many texts are embedded at once, on all the embedder's threads, while nobody is searching."""
WORK = "embedding"
"""The work that one process at a time does for a store."""
LOOK_EVERY_SECONDS = 0.1
"""How often whoever waits for the one that embeds looks whether that is done."""


def embed(
    *, store: Store, sense: Embeddings, limit: int = BATCH, stopped: Callable[[], bool] = lambda: False
) -> int:
    """Embed some of what is waiting; how many were taken on. 0: nothing waits, or there is no model.

    Only one process should: see `embed_alone`. stopped: from then on no further text is begun.
    """
    waiting = store.unembedded(sense.model, limit)
    vectors: dict[Passage, Vector] = {}
    alike = sorted(waiting, key=lambda passage: len(passage.text))
    while alike and not stopped():
        sense.give_way()
        size = 1 if sense.asked_lately else PIECE
        piece, alike = alike[:size], alike[size:]
        found = sense.embed_texts([passage.text for passage in piece])
        if found is None:
            break
        vectors |= dict(zip(piece, found, strict=True))
    if vectors:
        store.embed(sense.model, vectors)
    return len(vectors)


def embed_alone(*, store: Store, sense: Embeddings) -> int | None:
    """Like `embed`, unless another process or thread embeds: then None."""
    with store.exclusive(WORK) as alone:
        return embed(store=store, sense=sense) if alone else None


def embed_pending(*, store: Store, sense: Embeddings) -> None:
    """Embed until nothing waits or there is no model; while another one embeds, wait for that."""
    while store.pending(sense.model) and (taken := embed_alone(store=store, sense=sense)) != 0:
        if taken is None:
            time.sleep(LOOK_EVERY_SECONDS)
