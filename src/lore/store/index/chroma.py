"""Chroma as the vector index: a collection in a folder of its own, or in memory."""

import threading
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
from chromadb.config import Settings
from chromadb.errors import ChromaError

from lore.store.index import DamagedIndex
from lore.store.index.signs import Aliases
from lore.vectors import Vector, Vectors

BATCH = 2_000
THOROUGH = {"hnsw:space": "cosine", "hnsw:search_ef": 400, "hnsw:construction_ef": 200}


class ChromaIndex:
    """Approximate search by Chroma's graph; the rows give the exact scores. It opens no connection."""

    def __init__(self, dimension: int, folder: Path | None = None) -> None:
        """Without a folder, the collection is in memory and goes with the index."""
        self._turn = threading.RLock()  # a question beside a change can fail inside Chroma
        with _plainly():
            if folder is None:
                self._client, self._name = chromadb.EphemeralClient(_settings()), f"lore-{uuid.uuid4()}"
            else:
                self._client, self._name = chromadb.PersistentClient(folder, _settings()), "lore"
            self._open()

    def _open(self) -> None:
        self._collection = self._client.get_or_create_collection(
            self._name, metadata=THOROUGH, embedding_function=None
        )

    def put(self, aliases: Aliases, vectors: Vectors) -> None:
        for start in range(0, len(aliases), BATCH):
            part = slice(start, start + BATCH)
            with self._turn, _plainly():
                self._collection.upsert(ids=_names(aliases[part]), embeddings=vectors[part])

    def remove(self, aliases: Aliases) -> None:
        with self._turn, _plainly():
            existing = self._existing(aliases)
            if len(existing):
                self._collection.delete(ids=_names(existing))

    def nearest(self, vector: Vector, limit: int, among: Aliases | None = None) -> Aliases:
        with self._turn, _plainly():
            wanted = min(limit, len(self))
            if not wanted:
                return np.empty(0, np.int64)
            if among is None:
                return self._query(vector, wanted, None)
            existing = self._existing(np.unique(among))
            if not len(existing):
                return existing
            found = self._query(vector, min(limit, len(existing)), _names(existing))
            left = existing[~np.isin(existing, found)]
            return np.concatenate([found, left])[:limit]

    def _query(self, vector: Vector, limit: int, names: list[str] | None) -> Aliases:
        vectors: Any = vector[np.newaxis]
        answer = self._collection.query(query_embeddings=vectors, n_results=limit, ids=names, include=[])
        return np.array([int(name) for name in answer["ids"][0]], np.int64)

    def _existing(self, aliases: Aliases) -> Aliases:
        found = self._collection.get(ids=_names(aliases), include=[])["ids"] if len(aliases) else []
        return np.array(sorted(map(int, found)), np.int64)

    def clear(self) -> None:
        with self._turn, _plainly():
            self._client.delete_collection(self._name)
            self._open()

    def __len__(self) -> int:
        with _plainly():
            return int(self._collection.count())


@contextmanager
def _plainly() -> Iterator[None]:
    try:
        yield
    except (ChromaError, OSError, RuntimeError, ValueError) as error:
        raise DamagedIndex(f"Chroma: {error}") from error


def _names(aliases: Aliases) -> list[str]:
    return [str(alias) for alias in aliases.tolist()]


def _settings() -> Settings:
    """Settings that keep Chroma in this process, whatever its variables or a `.env` file here say."""
    return Settings(
        _env_file=None,  # a parameter of every pydantic settings class
        anonymized_telemetry=False,
        chroma_api_impl="chromadb.api.rust.RustBindingsAPI",
        chroma_otel_granularity="none",
    )
