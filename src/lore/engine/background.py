"""Background: one thread that embeds what waits and at times sweeps for links, so that no writer has to."""

import logging
import threading
from collections.abc import Callable

from lore.config import Tuning
from lore.engine.embed import embed
from lore.engine.sense import Sense
from lore.engine.suggest import sweep, sweepable
from lore.errors import LoreError
from lore.model import Cause
from lore.store import Store

LOOK_EVERY_SECONDS = 5.0
"""How soon another process's unembedded memories are noticed."""

SWEPT_AT_ONCE = 20
"""How many memories a step of a sweep looks at: a fraction of a second."""
RETRY_SECONDS = 60.0
OVERLAP_SECONDS = 3600.0
"""What was not embedded yet when one sweep passed is seen by the next."""

logger = logging.getLogger(__name__)


class Sweeping:
    """A sweep in small steps, for one namespace; among all processes, one at a time does it."""

    def __init__(
        self, store: Store, sense: Sense, namespace: str, tuning: Tuning, clock: Callable[[], float]
    ) -> None:
        self._store = store
        self._sense = sense
        self._namespace = namespace
        self._tuning = tuning
        self._clock = clock
        self._errand = f"sweep {namespace}"
        self._left: list[str] | None = None
        self._done_at = self._begun_at = 0.0
        self._look_at = 0.0

    def step(self) -> None:
        """Begin a sweep if one is due; go on with one that has begun."""
        now = self._clock()
        if self._left is None:
            self._begin(now)
        if self._left is not None:
            self._go_on(self._left, now)

    def _begin(self, now: float) -> None:
        if now < self._look_at or not self._tuning.suggest_interval_hours or self._sense.state != "ready":
            return
        self._look_at = now + self._tuning.suggest_poll_seconds
        since = self._store.claim(self._errand, now, self._retry_at(now))
        if since is not None:
            self._left = sweepable(self._store.reader(self._namespace), since - OVERLAP_SECONDS)
            self._done_at, self._begun_at = since, now

    def _go_on(self, left: list[str], now: float) -> None:
        batch, self._left = left[:SWEPT_AT_ONCE], left[SWEPT_AT_ONCE:]
        if batch:
            sweep(
                batch,
                store=self._store,
                reader=self._store.reader(self._namespace),
                sense=self._sense,
                namespace=self._namespace,
                cause=Cause(verb="sweep"),
                now=now,
                tuning=self._tuning,
            )
        if self._left:
            self._store.schedule(self._errand, self._done_at, self._retry_at(now))
        else:
            self._left = None
            pause = self._tuning.suggest_interval_hours * 3600
            self._store.schedule(self._errand, self._begun_at, now + pause)

    def _retry_at(self, now: float) -> float:
        return now + 2 * self._tuning.suggest_poll_seconds + RETRY_SECONDS


class Background:
    """Started once, woken by every write, stopped by `close`."""

    def __init__(self, store: Store, sense: Sense, sweeping: Sweeping | None = None) -> None:
        self._store = store
        self._sense = sense
        self._sweeping = sweeping
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
                if self._sweeping is not None and not self._closed:
                    self._sweeping.step()
            except LoreError as trouble:
                logger.warning("embedding or sweeping will be tried again: %s", trouble)
            self._woken.wait(LOOK_EVERY_SECONDS)
