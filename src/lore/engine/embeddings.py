"""embeddings: the embedder as the verbs see it. Asked for a vector, it gives one or says why it cannot."""

import threading
import time
from typing import Literal

import numpy as np

from lore.embed import Embedder
from lore.errors import Unavailable
from lore.vectors import Vector, Vectors, cosine_at, likeness

PATIENCE_SECONDS = 1.5
"""How long a question of an impatient asker waits for the model: a load takes a fraction of it."""
RECENT = 64
"""How many texts are remembered with their vectors: what was compared is often kept a moment later."""

LATELY_SECONDS = 5.0
"""How long after a question the next one is expected soon."""
QUIET_SECONDS = 0.5
"""How long after a question background work pauses: the search that asked it is over by then."""
LONGEST_PAUSE_SECONDS = 2.0
"""The longest pause before one text, so that a backlog shrinks even if questions never cease."""
GLANCE_SECONDS = 0.02


class _Asked:
    """When the last question came, to whichever Embeddings of an embedder."""

    def __init__(self) -> None:
        self.at = -LATELY_SECONDS


class Embeddings:
    """patient: wait for the model to load (a person asked once). Otherwise (a server) a question waits a
    moment, and is answered by words if the model is not there by then."""

    def __init__(
        self, embedder: Embedder, patient: bool = True, patience_seconds: float = PATIENCE_SECONDS
    ) -> None:
        self._embedder = embedder
        self._patient = patient
        self._patience_seconds = patience_seconds
        self._guard = threading.Lock()
        self._trouble = ""
        self._loading: threading.Thread | None = None
        self._recent: dict[str, Vector] = {}
        self._asked = _Asked()

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self._embedder.dimension

    @property
    def trouble(self) -> str:
        """Why the model could not be loaded the last time; empty if it could."""
        return self._trouble

    @property
    def state(self) -> Literal["ready", "warming", "missing"]:
        if self._trouble:
            return "missing"
        return "ready" if self._embedder.ready else "warming"

    @property
    def asked_lately(self) -> bool:
        """Whether somebody is searching: then whoever has time should leave a processor free."""
        return time.monotonic() - self._asked.at < LATELY_SECONDS

    def give_way(self) -> None:
        """Wait while somebody searches, within limits. For background work, before each text."""
        until = time.monotonic() + LONGEST_PAUSE_SECONDS
        while (now := time.monotonic()) < until and now - self._asked.at < QUIET_SECONDS:
            time.sleep(GLANCE_SECONDS)

    def likeness(self, cosine: float) -> float:
        """A cosine of this model on the scale of all thresholds: 0 unrelated, 1 the same."""
        return likeness(cosine, self._embedder.floor)

    def cosine_at(self, likeness: float) -> float:
        """The cosine of this model that has this likeness."""
        return cosine_at(likeness, self._embedder.floor)

    def embed_query(self, text: str) -> Vector | None:
        """The vector to search with; None: search by words, `state` and `trouble` say why."""
        self._asked.at = time.monotonic()
        if not (self._embedder.ready or self._patient or self._loaded_in_time()):
            return None
        try:
            vector = self._embedder.embed_query(text)
        except Unavailable as error:
            self._remember(str(error))
            return None
        self._remember("")
        return vector

    def embed_texts(self, texts: list[str]) -> Vectors | None:
        """One row for each text, waiting for the model if need be; None if there is no model."""
        known = {text: self._recent[text] for text in texts if text in self._recent}
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new or not texts:
            try:
                vectors = self._embedder.embed(new)
            except Unavailable as error:
                self._remember(str(error))
                return None
            self._remember("")
            known |= dict(zip(new, vectors, strict=True))
            self._keep(known)
        return np.stack([known[text] for text in texts]) if texts else vectors

    def patiently(self) -> "Embeddings":
        """The same embedder, for somebody who waits for it."""
        sense = Embeddings(self._embedder, patient=True)
        sense._asked = self._asked
        return sense

    def release(self) -> None:
        """Give the model's memory back; the next use loads it again."""
        self._recent = {}
        self._embedder.release()

    def _loaded_in_time(self) -> bool:
        """Have the model loaded, by one thread for all who ask, and wait a moment for it.

        Nobody waits for a model that could not be loaded the last time.
        """
        with self._guard:
            loading = self._loading
            if loading is None or not loading.is_alive():
                loading = threading.Thread(target=self._load, name="lore-loading", daemon=True)
                loading.start()
                self._loading = loading
        loading.join(0 if self._trouble else self._patience_seconds)
        return self._embedder.ready

    def _load(self) -> None:
        try:
            self._embedder.warm()
        except Unavailable as error:
            self._remember(str(error))
        else:
            self._remember("")

    def _keep(self, vectors: dict[str, Vector]) -> None:
        """The dictionary is replaced, never changed: whoever reads it takes no lock."""
        self._recent = dict([*self._recent.items(), *vectors.items()][-RECENT:])

    def _remember(self, trouble: str) -> None:
        with self._guard:
            self._trouble = trouble
