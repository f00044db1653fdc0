"""Background: one thread that embeds what waits and at times sweeps for links, so that no writer has to."""

import logging
import threading
import time
from collections.abc import Callable

from lore.config import Tuning
from lore.engine.embed import WORK, embed, embed_alone
from lore.engine.embeddings import Embeddings
from lore.engine.suggest import sweep, sweepable
from lore.health import Embedding
from lore.model import Cause
from lore.store import Store
from lore.supervision import Service, failure_of

LOOK_EVERY_SECONDS = 1.0
"""How soon another process's unembedded memories are noticed; a look costs a tenth of a millisecond."""
TRY_AGAIN_SECONDS = 5.0
"""How soon a model that could not be loaded is tried again, or a store that could not be written."""

SWEPT_AT_ONCE = 20
"""How many memories a step of a sweep looks at: a fraction of a second."""
STEP_EVERY_SECONDS = 5.0
RETRY_SECONDS = 60.0
OVERLAP_SECONDS = 3600.0
"""What was not embedded yet when one sweep passed is seen by the next."""

MANY = 200
"""How many waiting memories are worth a line in the log when they are begun, and when they are done."""
TELL_EVERY_SECONDS = 60.0
"""How often the log says how many are left."""

logger = logging.getLogger(__name__)


class Sweeping:
    """A sweep in small steps, for one namespace; among all processes, one at a time does it."""

    def __init__(
        self, store: Store, sense: Embeddings, namespace: str, tuning: Tuning, clock: Callable[[], float]
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
        """Begin a sweep if one is due; go on with one that has begun. It needs a loaded model."""
        if self._sense.state != "ready":
            return
        now = self._clock()
        if self._left is None:
            self._begin(now)
        if self._left is not None:
            self._go_on(self._left, now)

    def _begin(self, now: float) -> None:
        pause = self._tuning.suggest_interval_hours * 3600
        if not pause or 0 < self._look_at - now <= self._tuning.suggest_poll_seconds:
            return
        self._look_at = now + self._tuning.suggest_poll_seconds
        retry_at = self._retry_at(now)
        since = self._store.claim(self._errand, now, retry_at, max(pause, retry_at - now))
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

    def __init__(self, store: Store, sense: Embeddings, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._sense = sense
        self._clock = clock
        self._sweeps: dict[str, Sweeping] = {}
        self._embedding: Embedding | None = None
        self._woken = threading.Event()
        self._closed = False
        self._sweep_at = 0.0
        self.service = Service("embedding")
        self._thread = threading.Thread(target=self._work, name="lore-background", daemon=True)

    def start(self) -> None:
        """Load the model and begin; returns at once."""
        self._thread.start()

    def sweep_also(self, namespace: str, tuning: Tuning) -> None:
        """Sweep this namespace too, from now on; once however often it is said."""
        self._sweeps.setdefault(namespace, Sweeping(self._store, self._sense, namespace, tuning, self._clock))

    def wake(self, embed_now: bool = False) -> None:
        """Have the thread embed soon. embed_now: embed here if the thread does not run."""
        self._woken.set()
        if embed_now and not self._thread.is_alive():
            embed_alone(store=self._store, sense=self._sense)

    @property
    def embedding(self) -> Embedding | None:
        """The backlog at work, as of the last batch; None while this process embeds nothing."""
        return self._embedding

    def close(self) -> None:
        """Finish the batch at hand and end; what is left waits in the store for the next start."""
        self._closed = True
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()

    def embed_all(self) -> None:
        """Embed whatever waits, unless another process does; if nothing waits, no model is loaded."""
        if self._closed or not (left := self._store.pending(self._sense.model)):
            return
        with self._store.exclusive(WORK) as alone:
            if alone:
                try:
                    self._embed_backlog(left)
                finally:
                    self._embedding = None

    def _embed_backlog(self, left: int) -> None:
        began = told_at = time.monotonic()
        done = 0
        if large := left >= MANY:
            logger.info("embedding %s memories", f"{left:,}")
        self._embedding = Embedding(done=0, left=left, seconds=0.0)
        while taken := embed(store=self._store, sense=self._sense, stopped=lambda: self._closed):
            now = time.monotonic()
            done += taken
            left = self._store.pending(self._sense.model)
            self._embedding = Embedding(done=done, left=left, seconds=now - began)
            if left and now - told_at >= TELL_EVERY_SECONDS:
                told_at = now
                minutes = (self._embedding.seconds_left or 0.0) / 60
                logger.info("embedding: %s memories left, about %.0f min", f"{left:,}", minutes)
        if large:
            logger.info("embedded %s memories in %.0f s", f"{done:,}", time.monotonic() - began)

    def sweep_on(self) -> None:
        """One step for each namespace."""
        for sweeping in list(self._sweeps.values()):
            if not self._closed:
                sweeping.step()

    def _work(self) -> None:
        loaded = False
        while not self._closed:
            self._woken.clear()
            error = failure_of(self._step if loaded else self._load)
            if error is None:
                loaded = True
                self.service.works()
                self._woken.wait(TRY_AGAIN_SECONDS if self._sense.trouble else LOOK_EVERY_SECONDS)
            else:
                self._rest(self.service.failed(error))

    def _load(self) -> None:
        self._sense.embed_texts([])
        self._step()

    def _step(self) -> None:
        """Embed all that waits, and at times sweep."""
        self._store.fold_log()
        self.embed_all()
        if time.monotonic() >= self._sweep_at:
            self.sweep_on()
            self._sweep_at = time.monotonic() + STEP_EVERY_SECONDS

    def _rest(self, seconds: float) -> None:
        """Wait although there is work, unless it is time to end."""
        until = time.monotonic() + seconds
        while not self._closed and (left := until - time.monotonic()) > 0:
            self._woken.wait(left)
            self._woken.clear()
