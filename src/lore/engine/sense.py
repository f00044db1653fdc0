"""Sense: the embedder as the verbs see it. Asked for a vector, it gives one or says why it cannot."""

import threading
from typing import Literal

from lore.embed import Embedder
from lore.errors import Unavailable
from lore.vectors import Vector, Vectors, likeness


class Sense:
    """patient: wait for the model to load (a person asked once); otherwise answer by words meanwhile."""

    def __init__(self, embedder: Embedder, patient: bool = True) -> None:
        self._embedder = embedder
        self._patient = patient
        self._told = threading.Lock()
        self._trouble = ""

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def trouble(self) -> str:
        """Why the model could not be loaded the last time; empty if it could."""
        return self._trouble

    @property
    def state(self) -> Literal["ready", "warming", "missing"]:
        if self._trouble:
            return "missing"
        return "ready" if self._embedder.ready else "warming"

    def likeness(self, cosine: float) -> float:
        """A cosine of this model on the scale of all thresholds: 0 unrelated, 1 the same."""
        return likeness(cosine, self._embedder.floor)

    def of_question(self, text: str) -> Vector | None:
        """The vector to search with; None: search by words, `state` and `trouble` say why."""
        if not (self._embedder.ready or self._patient):
            return None
        try:
            vector = self._embedder.embed_query(text)
        except Unavailable as error:
            self._remember(str(error))
            return None
        self._remember("")
        return vector

    def of_texts(self, texts: list[str]) -> Vectors | None:
        """One row for each text, waiting for the model if need be; None if there is no model."""
        try:
            vectors = self._embedder.embed(texts)
        except Unavailable as error:
            self._remember(str(error))
            return None
        self._remember("")
        return vectors

    def release(self) -> None:
        """Give the model's memory back; the next use loads it again."""
        self._embedder.release()

    def _remember(self, trouble: str) -> None:
        with self._told:
            self._trouble = trouble
