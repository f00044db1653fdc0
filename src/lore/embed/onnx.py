"""The bundled model: gte-small in 8 bits, run by onnxruntime on the CPU."""

import ctypes
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from importlib.resources import as_file, files
from importlib.resources.abc import Traversable
from pathlib import Path
from threading import Lock
from types import ModuleType
from typing import Any

import numpy as np

from lore.embed.wordpiece import WordPiece
from lore.errors import Unavailable
from lore.vectors import Vector, Vectors

MODEL = "gte-small/int8/384"
DIMENSION = 384
FLOOR = 0.75  # measured by scripts/build_model.py; with it, likeness is on the scale of all-MiniLM-L6-v2
TOKENS = 512  # the longest text the model was trained on
CHARACTERS = 8192  # more than 512 tokens of any prose; the rest is not even tokenised
THREADS = 2
QUERIES = 256  # remembered query vectors
MMAP_THRESHOLD, LARGE_BYTES = -3, 128 * 1024  # of mallopt(3)
REFUSALS = "Fail InvalidArgument InvalidGraph InvalidProtobuf NoSuchFile NotImplemented RuntimeException"


@dataclass(frozen=True, slots=True)
class _Loaded:
    """The model in memory."""

    pieces: WordPiece
    session: Any

    def vector(self, text: str) -> Vector:
        """Alone, never in a batch: 8-bit scales are chosen per run, so neighbours would change the result."""
        ids = np.array([self.pieces.ids(text[:CHARACTERS], TOKENS)], np.int64)
        [[vector]] = self.session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})
        result: Vector = vector
        result.flags.writeable = False
        return result


class OnnxEmbedder:
    """See `Embedder`. `folder` holds gte-small.onnx and vocab.txt; by default the ones shipped with Lore."""

    model = MODEL
    dimension = DIMENSION
    floor = FLOOR

    def __init__(self, folder: Traversable | None = None) -> None:
        self._folder = folder or files("lore.embed") / "models"
        self._lock = Lock()
        self._loaded: _Loaded | None = None
        self._query = lru_cache(QUERIES)(lambda text: self._ready_model().vector(text))

    @property
    def ready(self) -> bool:
        return self._loaded is not None

    def warm(self) -> None:
        self._ready_model()

    def embed(self, texts: Sequence[str]) -> Vectors:
        loaded = self._ready_model()
        vectors = np.empty((len(texts), DIMENSION), np.float32)
        longest_first = sorted(range(len(texts)), key=lambda at: len(texts[at]), reverse=True)
        found = _mapped(loaded, [texts[at] for at in longest_first])
        for at, vector in zip(longest_first, found, strict=True):
            vectors[at] = vector
        return vectors

    def embed_query(self, text: str) -> Vector:
        return self._query(text[:CHARACTERS])

    def release(self) -> None:
        with self._lock:
            self._loaded = None
            self._query.cache_clear()
        _trim()

    def _ready_model(self) -> _Loaded:
        with self._lock:
            if self._loaded is None:
                self._loaded = _load(self._folder)
            return self._loaded


def _mapped(loaded: _Loaded, texts: Sequence[str]) -> list[Vector]:
    if len(texts) < THREADS:
        return [loaded.vector(text) for text in texts]
    with ThreadPoolExecutor(THREADS, "lore-embed") as pool:
        return list(pool.map(loaded.vector, texts))


def _trim() -> None:
    """The allocator keeps freed memory for later; where it can be asked to, let it go to the system."""
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)):
        trim(0)


def _keep_large_blocks_apart() -> None:
    """glibc learns to keep large blocks among small ones, where they leave holes when the model is released;
    a fixed threshold keeps them apart, so that they go back to the system as a whole."""
    if sys.platform == "linux" and (mallopt := getattr(ctypes.CDLL(None), "mallopt", None)):
        mallopt(MMAP_THRESHOLD, LARGE_BYTES)


def _load(folder: Traversable) -> _Loaded:
    _keep_large_blocks_apart()
    try:
        runtime = import_module("onnxruntime")
    except ImportError as error:
        raise Unavailable(f"onnxruntime cannot be imported, so there are no embeddings: {error}") from error
    try:
        with as_file(folder / "vocab.txt") as vocab, as_file(folder / "gte-small.onnx") as weights:
            return _Loaded(WordPiece(vocab), _session(runtime, weights))
    except (OSError, UnicodeDecodeError, KeyError) as error:
        raise Unavailable(f"the files of the embedding model cannot be read: {error}") from error


def _session(runtime: ModuleType, weights: Path) -> Any:
    options = runtime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3  # errors only: stderr belongs to the program around us
    state = runtime.capi.onnxruntime_pybind11_state
    refusals = tuple(getattr(state, name) for name in REFUSALS.split())
    try:
        session = runtime.InferenceSession(weights, options, providers=["CPUExecutionProvider"])
    except refusals as error:
        raise Unavailable(f"the embedding model {weights} cannot be loaded: {error}") from error
    if [list(output.shape[1:]) for output in session.get_outputs()] != [[DIMENSION]]:
        raise Unavailable(f"the embedding model {weights} does not give one vector of {DIMENSION} numbers")
    return session
