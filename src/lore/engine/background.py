"""Background: one thread that embeds what waits, so that no writer has to."""

import logging
import threading

from lore.engine.embed import embed
from lore.engine.sense import Sense
from lore.errors import LoreError
from lore.store import Store

LOOK_EVERY_SECONDS = 5.0
"""How soon another process's unembedded memories are noticed."""

logger = logging.getLogger(__name__)


class Background:
    """Started once, woken by every write, stopped by `close`."""

    def __init__(self, store: Store, sense: Sense) -> None:
        self._store = store
        self._sense = sense
        self._woken = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="lore-background", daemon=True)

    def start(self) -> None:
        """Load the model and begin; returns at once."""
        self._thread.start()

    def wake(self) -> None:
        """There is something to embed."""
        self._woken.set()

    def close(self) -> None:
        """Finish the batch at hand and end; what is left waits in the store for the next start."""
        self._closed = True
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()

    def _work(self) -> None:
        self._sense.of_texts([])
        while not self._closed:
            self._woken.clear()
            try:
                while not self._closed and embed(store=self._store, sense=self._sense):
                    pass
            except LoreError as trouble:
                logger.warning("embedding will be tried again: %s", trouble)
            self._woken.wait(LOOK_EVERY_SECONDS)
