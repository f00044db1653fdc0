"""Embeddings: the embedder as the verbs use it, the work on pending memories, and the release of memory."""

import ctypes
import gc
import re
import sys
import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Literal

import numpy as np

from lore.embed import Embedder
from lore.errors import Unavailable
from lore.store import Passage, Store
from lore.vectors import Vector, Vectors, cosine_at, likeness

PATIENCE_SECONDS = 1.5
"""An impatient query waits this long for the model; loading takes a fraction of it."""
CACHED_TEXTS = 64
"""The number of recent texts whose vectors are kept: a text that was compared is often stored next."""

RECENT_QUERY_SECONDS = 5.0
"""For this long after a query the next one is expected soon."""
QUIET_SECONDS = 0.5
"""Background work pauses for this long after a query: the search is over by then."""
LONGEST_PAUSE_SECONDS = 2.0
"""The longest pause before one text, so that a backlog shrinks even if queries never cease."""
PAUSE_POLL_SECONDS = 0.02

BATCH = 32
PIECE = 2
"""The number of texts embedded at once, on all threads of the embedder, while nobody searches."""
WORK = "embedding"
"""The name of the work that one process at a time does for a store."""
CLAIM_SECONDS = 120.0
"""How long a batch belongs to one of several processes that embed together, should it be killed."""
WAIT_POLL_SECONDS = 0.1
"""The interval at which a process that waits for another one's embedding looks again."""

MAPS = Path("/proc/self/maps")
LIBRARY = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) r-?-?x?p \S+ \S+ [1-9]\d* +/", re.MULTILINE)
"""Read-only mappings of files: code and constants, which the system can read again."""
PAGE_OUT = 21
"""MADV_PAGEOUT: these pages are not needed now. The next access reads them again."""


class _LastQuery:
    """The time of the last query, shared by all Embeddings of one embedder."""

    def __init__(self) -> None:
        self.at = -RECENT_QUERY_SECONDS


class Embeddings:
    """patient: a query waits until the model is loaded (a person runs one command). Otherwise (a server) it
    waits for a moment, and the search uses words if the model is not ready by then."""

    def __init__(
        self, embedder: Embedder, patient: bool = True, patience_seconds: float = PATIENCE_SECONDS
    ) -> None:
        self._embedder = embedder
        self.patient = patient
        self._patience_seconds = patience_seconds
        self._guard = threading.Lock()
        self._trouble = ""
        self._loading: threading.Thread | None = None
        self._cache: dict[str, Vector] = {}
        self._last_query = _LastQuery()

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimension(self) -> int:
        """The number of values in a vector."""
        return self._embedder.dimension

    @property
    def trouble(self) -> str:
        """Why the last attempt to use the model failed; empty if it did not."""
        return self._trouble

    @property
    def state(self) -> Literal["ready", "warming", "missing"]:
        if self._trouble:
            return "missing"
        return "ready" if self._embedder.ready else "warming"

    @property
    def queried_recently(self) -> bool:
        """Whether somebody is searching, so that background work should leave a processor free."""
        return time.monotonic() - self._last_query.at < RECENT_QUERY_SECONDS

    def pause_for_queries(self) -> None:
        """Wait while somebody searches, within limits. Background work calls it before each text."""
        until = time.monotonic() + LONGEST_PAUSE_SECONDS
        while (now := time.monotonic()) < until and now - self._last_query.at < QUIET_SECONDS:
            time.sleep(PAUSE_POLL_SECONDS)

    def likeness(self, cosine: float) -> float:
        """A cosine of this model on the scale of all thresholds: 0 unrelated, 1 the same."""
        return likeness(cosine, self._embedder.floor)

    def cosine_at(self, likeness: float) -> float:
        """The cosine of this model that has this likeness."""
        return cosine_at(likeness, self._embedder.floor)

    def embed_query(self, text: str) -> Vector | None:
        """The vector to search with. None: search by words; `state` and `trouble` say why."""
        self._last_query.at = time.monotonic()
        if not (self._embedder.ready or self.patient or self._loads_in_time()):
            return None
        try:
            vector = self._embedder.embed_query(text)
        except Unavailable as error:
            self._set_trouble(str(error))
            return None
        self._set_trouble("")
        return vector

    def embed_texts(self, texts: list[str]) -> Vectors | None:
        """One row for each text, after loading the model if necessary; None if there is no model."""
        vectors = {text: self._cache[text] for text in texts if text in self._cache}
        new = [text for text in dict.fromkeys(texts) if text not in vectors]
        if new or not texts:
            try:
                rows = self._embedder.embed(new)
            except Unavailable as error:
                self._set_trouble(str(error))
                return None
            self._set_trouble("")
            vectors |= dict(zip(new, rows, strict=True))
            # the cache is replaced, never changed, so that readers need no lock
            self._cache = dict([*self._cache.items(), *vectors.items()][-CACHED_TEXTS:])
        return np.stack([vectors[text] for text in texts]) if texts else rows

    def patiently(self) -> "Embeddings":
        """The same embedder for a caller that waits for it."""
        return self._with(patient=True)

    def hasty(self) -> "Embeddings":
        """The same embedder for a caller that never waits: until the model is loaded, it gets no vector."""
        return self._with(patient=False, patience_seconds=0.0)

    def _with(self, **patience: Any) -> "Embeddings":
        embeddings = Embeddings(self._embedder, **patience)
        embeddings._last_query = self._last_query
        return embeddings

    def release(self) -> None:
        """Free the memory of the model; the next use loads it again."""
        self._cache = {}
        self._embedder.release()

    def begin_to_load(self) -> threading.Thread:
        """Have one thread load the model, unless one does; returns it."""
        with self._guard:
            if self._loading is None or not self._loading.is_alive():
                self._loading = threading.Thread(target=self._load, name="lore-loading", daemon=True)
                self._loading.start()
            return self._loading

    def _loads_in_time(self) -> bool:
        """Load the model in one thread for all callers, and wait for a moment.

        Nobody waits for a model that could not be loaded the last time.
        """
        self.begin_to_load().join(0 if self._trouble else self._patience_seconds)
        return self._embedder.ready

    def _load(self) -> None:
        try:
            self._embedder.warm()
        except Unavailable as error:
            self._set_trouble(str(error))
        else:
            self._set_trouble("")

    def _set_trouble(self, trouble: str) -> None:
        with self._guard:
            self._trouble = trouble


# --- pending memories
def embed_batch(
    *, store: Store, embeddings: Embeddings, limit: int = BATCH, stopped: Callable[[], bool] = lambda: False
) -> int:
    """Embed some pending memories; returns their number. 0: nothing is pending, or there is no model.

    Only who does this work (see `embedding_work`) should. stopped: once true, no further text is begun.
    """
    backlog = store.unembedded(embeddings.model, limit, CLAIM_SECONDS)
    pending = sorted(backlog.passages, key=lambda passage: len(passage.text))
    vectors: dict[Passage, Vector] = {}
    while pending and not stopped():
        embeddings.pause_for_queries()
        size = 1 if embeddings.queried_recently else PIECE
        piece, pending = pending[:size], pending[size:]
        rows = embeddings.embed_texts([passage.text for passage in piece])
        if rows is None:
            break
        vectors |= dict(zip(piece, rows, strict=True))
    if vectors:
        store.embed(embeddings.model, vectors)
    return len(vectors)


def embedding_work(store: Store) -> AbstractContextManager[bool]:
    """Whether the caller embeds until the block ends; False: another process or thread does."""
    return nullcontext(True) if store.embeds_together else store.exclusive(WORK)


def try_embed_batch(*, store: Store, embeddings: Embeddings) -> int | None:
    """Like `embed_batch`, unless others embed what is pending: then None."""
    with embedding_work(store) as ours:
        done = embed_batch(store=store, embeddings=embeddings) if ours else None
    if not done and store.embeds_together and not embeddings.trouble:
        return None if store.unembedded(embeddings.model, 0).total else 0
    return done


def embed_pending(*, store: Store, embeddings: Embeddings) -> None:
    """Embed until nothing is pending or there is no model; wait while another process embeds."""
    while store.unembedded(embeddings.model, 0).total:
        done = try_embed_batch(store=store, embeddings=embeddings)
        if done == 0:
            return
        if done is None:
            time.sleep(WAIT_POLL_SECONDS)


# --- memory of the process
def release(*, store: Store, embeddings: Embeddings) -> None:
    """Free model, indexes and caches, and return the memory and idle code to the system."""
    embeddings.release()
    store.release()
    gc.collect()
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if trim := getattr(libc, "malloc_trim", None):
            trim(0)
        for low, high in LIBRARY.findall(MAPS.read_text()):  # a system without this advice ignores it
            start, end = int(low, 16), int(high, 16)
            libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), PAGE_OUT)
