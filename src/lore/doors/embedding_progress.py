"""embedding_progress: waits until all memories are embedded, by any process, and reports progress."""

import time
from collections.abc import Iterator
from typing import Protocol

from lore.health import Embedding

LOOK_EVERY_SECONDS = 0.5
"""How often a process that waits for another one looks how far that is."""


class Embeds(Protocol):
    """A Lore, or one at the other end of a line."""

    def pending(self) -> int: ...

    def embed_batch(self) -> int | None: ...


def settling(lore: Embeds) -> Iterator[Embedding]:
    """Embed until nothing waits or there is no model; while another process embeds, wait for that.

    Yields the progress at the start, and after each batch or each look at the other process.
    """
    began, total, elsewhere = time.monotonic(), 0, False
    while left := lore.pending():
        total = max(total, left)
        seconds = time.monotonic() - began
        yield Embedding(done=total - left, left=left, seconds=seconds, elsewhere=elsewhere)
        taken = lore.embed_batch()
        if taken == 0:
            return
        if elsewhere := taken is None:
            time.sleep(LOOK_EVERY_SECONDS)
    if total:
        yield Embedding(done=total, left=0, seconds=time.monotonic() - began, elsewhere=elsewhere)
