"""Background: one thread embeds pending memories and at times sweeps for links; another one tends indexes."""

import atexit
import logging
import threading
import time
from collections.abc import Callable

from lore.engine.accounts import AT_ONCE, GROWING_SECONDS, RECENT, due_accounts, keep_accounts
from lore.engine.context import Context
from lore.engine.embeddings import Embeddings, embed_batch, embedding_work, try_embed_batch
from lore.engine.jobs import Jobs
from lore.engine.suggest import sweep, sweepable
from lore.health import Embedding
from lore.model import Cause
from lore.settings import Tuning
from lore.store import DEFAULT_TENANT, SharedStore, Store, TendedStore
from lore.supervision import Service, failure_of

POLL_SECONDS = 1.0
"""How soon pending memories of another process are noticed; a look costs a tenth of a millisecond."""
RETRY_SECONDS = 5.0
"""How soon a model that could not be loaded, or a store that could not be written, is tried again."""

SWEEP_BATCH = 20
"""The memories of one step of a sweep; a step takes a fraction of a second."""
SWEEP_STEP_SECONDS = 5.0
SWEEP_JOB = "sweep"
SWEEP_RETRY_SECONDS = 60.0
SWEEP_OVERLAP_SECONDS = 3600.0
"""A sweep looks back this far, for memories that were not embedded when the last one passed."""

TEND_SECONDS = 300.0
"""The interval at which a store looks whether a tenant has earned a vector index."""

LARGE_BACKLOG = 200
"""From this many pending memories on, the log has a line for their beginning and one for their end."""
LOG_SECONDS = 60.0
"""The interval at which the log says how many memories are left."""

logger = logging.getLogger(__name__)


class Sweep:
    """A sweep of one namespace in small steps; of all processes, one at a time does it."""

    def __init__(self, jobs: Jobs, embeddings: Embeddings, tuning: Tuning) -> None:
        self._jobs = jobs
        self._embeddings = embeddings
        self._tuning = tuning
        self._left: list[str] | None = None
        self._done_at = self._begun_at = 0.0
        self._look_at = 0.0

    def step(self, now: float) -> None:
        """Begin a sweep if one is due, or continue it. It needs a loaded model."""
        if self._embeddings.state != "ready":
            return
        if self._left is None:
            self._begin(now)
        if self._left is not None:
            self._continue(self._left, now)

    def finish(self, clock: Callable[[], float], stopped: Callable[[], bool]) -> None:
        """Sweep to the end if a sweep is due, or until `stopped`."""
        self.step(clock())
        while self._left is not None and not stopped():
            self.step(clock())

    def _begin(self, now: float) -> None:
        pause = self._tuning.suggest_interval_hours * 3600
        if not pause or 0 < self._look_at - now <= self._tuning.suggest_poll_seconds:
            return
        self._look_at = now + self._tuning.suggest_poll_seconds
        retry_at = self._retry_at(now)
        since = self._jobs.claim(SWEEP_JOB, now, retry_at, max(pause, retry_at - now))
        if since is not None:
            self._left = sweepable(self._context(now).reader, since - SWEEP_OVERLAP_SECONDS)
            self._done_at, self._begun_at = since, now

    def _continue(self, left: list[str], now: float) -> None:
        batch, self._left = left[:SWEEP_BATCH], left[SWEEP_BATCH:]
        if batch:
            sweep(batch, self._context(now), embeddings=self._embeddings, tuning=self._tuning)
        if self._left:
            self._jobs.schedule(SWEEP_JOB, self._done_at, self._retry_at(now))
        else:
            self._left = None
            pause = self._tuning.suggest_interval_hours * 3600
            self._jobs.schedule(SWEEP_JOB, self._begun_at, now + pause)

    def _context(self, now: float) -> Context:
        jobs, cause = self._jobs, Cause(verb="sweep")
        return Context(store=jobs.store, namespace=jobs.namespace, tenant=jobs.tenant, cause=cause, now=now)

    def _retry_at(self, now: float) -> float:
        return now + 2 * self._tuning.suggest_poll_seconds + SWEEP_RETRY_SECONDS


class Accounting:
    """Writes the accounts of a namespace that are missing or out of date: first all, then the latest."""

    def __init__(self, store: Store, namespace: str, tenant: str) -> None:
        self._store, self._namespace, self._tenant = store, namespace, tenant
        self._left: list[str] | None = None
        self._look_at = 0.0

    def step(self, now: float) -> bool:
        """Write a few accounts; returns whether more are left."""
        cause = Cause(verb="account")
        context = Context(
            store=self._store, namespace=self._namespace, tenant=self._tenant, cause=cause, now=now
        )
        if self._left is None:
            self._left = due_accounts(context.reader)
        elif not self._left and not 0 < self._look_at - now <= GROWING_SECONDS:
            self._left = due_accounts(context.reader, RECENT)
            self._look_at = now + GROWING_SECONDS
        batch, self._left = self._left[:AT_ONCE], self._left[AT_ONCE:]
        keep_accounts(batch, context)
        return bool(self._left)


class Background:
    """Started once, woken by every write, ended by `close`. embedded: the number of memories so far."""

    def __init__(self, store: Store, embeddings: Embeddings, clock: Callable[[], float] = time.time) -> None:
        self._store = store
        self._embeddings = embeddings
        self._clock = clock
        self._sweeps: dict[tuple[str, str], Sweep] = {}
        self._accountings: dict[tuple[str, str], Accounting] = {}
        self._embedding: Embedding | None = None
        self._elsewhere = False
        self.embedded = 0
        self._woken = threading.Event()
        self._closed = False
        self._sweep_at = 0.0
        self._tend_at = 0.0
        self._tending: threading.Thread | None = None
        self.service = Service("embedding")
        self._thread = threading.Thread(target=self._work, name="lore-background", daemon=True)

    def start(self) -> None:
        """Start the thread, which loads the model first; returns at once."""
        # a thread inside the embedding library would abort the process when that ends
        atexit.register(self.close)
        self._thread.start()

    def leave_to_workers(self) -> None:
        """Other processes embed in the place of this one, which only loads the model for its searches."""
        self._elsewhere = True
        self._embeddings.begin_to_load()

    def sweep_also(self, namespace: str, tuning: Tuning, tenant: str = DEFAULT_TENANT) -> None:
        """Sweep this namespace too from now on, and write its accounts; further calls for it change nothing.

        In a store that many processes share, the process that consolidates a namespace does so.
        """
        if isinstance(self._store, SharedStore):
            return
        self._accountings.setdefault((tenant, namespace), Accounting(self._store, namespace, tenant))
        jobs = Jobs(self._store, namespace, tenant)
        self._sweeps.setdefault((tenant, namespace), Sweep(jobs, self._embeddings, tuning))

    def wake(self, embed_now: bool = False) -> None:
        """Have the thread embed soon. embed_now: embed here if the thread does not run."""
        self._woken.set()
        if embed_now and not self._elsewhere and not self._thread.is_alive():
            try_embed_batch(store=self._store, embeddings=self._embeddings)

    @property
    def running(self) -> bool:
        """Whether the thread embeds what is new."""
        return self._thread.is_alive()

    @property
    def embedding(self) -> Embedding | None:
        """The progress after the last batch; None while this process embeds nothing."""
        return self._embedding

    def close(self) -> None:
        """Finish the text at hand and end the thread; pending memories wait in the store."""
        atexit.unregister(self.close)
        self._closed = True
        self._woken.set()
        if self._thread.is_alive():
            self._thread.join()

    def embed_all(self) -> None:
        """Embed all pending memories, unless another process does. Without any, no model is loaded."""
        if self._closed or not (left := self._store.unembedded(self._embeddings.model, 0).total):
            return
        with embedding_work(self._store) as ours:
            if ours:
                try:
                    self._embed_backlog(left)
                finally:
                    self._embedding = None

    def _embed_backlog(self, left: int) -> None:
        began = logged_at = time.monotonic()
        done = 0
        if large := left >= LARGE_BACKLOG:
            logger.info("embedding %s memories", f"{left:,}")
        self._embedding = Embedding(done=0, left=left, seconds=0.0)
        while count := embed_batch(
            store=self._store, embeddings=self._embeddings, stopped=lambda: self._closed
        ):
            now = time.monotonic()
            done += count
            self.embedded += count
            left = self._store.unembedded(self._embeddings.model, 0).total
            self._embedding = Embedding(done=done, left=left, seconds=now - began)
            if left and now - logged_at >= LOG_SECONDS:
                logged_at = now
                minutes = (self._embedding.seconds_left or 0.0) / 60
                logger.info("embedding: %s memories left, about %.0f min", f"{left:,}", minutes)
        if large:
            logger.info("embedded %s memories in %.0f s", f"{done:,}", time.monotonic() - began)

    def sweep_on(self) -> None:
        """One step for each namespace."""
        for one in list(self._sweeps.values()):
            if not self._closed:
                one.step(self._clock())

    def _work(self) -> None:
        loaded = False
        while not self._closed:
            self._woken.clear()
            error = failure_of(self._step if loaded else self._load)
            if error is None:
                loaded = True
                self.service.works()
                self._woken.wait(RETRY_SECONDS if self._embeddings.trouble else POLL_SECONDS)
            else:
                self._rest(self.service.failed(error))

    def _load(self) -> None:
        self._account()
        self._embeddings.embed_texts([])
        self._step()

    def _account(self) -> None:
        """Write accounts; they are worth embedding before the turns that they come from."""
        for one in list(self._accountings.values()):
            while not self._closed and one.step(self._clock()):
                pass

    def _step(self) -> None:
        """Write accounts, embed pending memories, and at times sweep."""
        self._tend()
        self._account()
        self.embed_all()
        if time.monotonic() >= self._sweep_at:
            self.sweep_on()
            self._sweep_at = time.monotonic() + SWEEP_STEP_SECONDS

    def _tend(self) -> None:
        """Have the store tend its indexes, in a thread of its own: a build takes minutes."""
        store, busy = self._store, self._tending is not None and self._tending.is_alive()
        if isinstance(store, TendedStore) and not busy and time.monotonic() >= self._tend_at:
            self._tend_at = time.monotonic() + TEND_SECONDS
            self._tending = threading.Thread(target=_tended, args=(store,), name="lore-indexes", daemon=True)
            self._tending.start()

    def _rest(self, seconds: float) -> None:
        """Wait after a failure, although there is work; `close` ends the wait."""
        until = time.monotonic() + seconds
        while not self._closed and (left := until - time.monotonic()) > 0:
            self._woken.wait(left)
            self._woken.clear()


def _tended(store: TendedStore) -> None:
    """Tend once; no answer depends on it, so a failure is only logged."""
    if (error := failure_of(store.tend)) is not None:
        logger.info("vector indexes were not tended: %s", error)
