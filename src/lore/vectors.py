"""Embedding vectors as values: their types, their bytes, and how alike two of them are."""

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from lore.errors import Invalid

Vector = npt.NDArray[np.float32]  # one embedding: (dimension,)
Vectors = npt.NDArray[np.float32]  # many, one per row: (n, dimension)

STORED = np.dtype("<f4")  # the same bytes on every machine


def packed(vector: Vector) -> bytes:
    """The bytes to store: little-endian 32-bit floats."""
    return _checked(vector).astype(STORED).tobytes()


def unpacked(blob: bytes) -> Vector:
    """The vector in `blob`, read-only."""
    if len(blob) % STORED.itemsize:
        raise Invalid(f"a stored vector has 4 bytes per dimension, not {len(blob)} bytes in all")
    return _checked(np.frombuffer(blob, STORED).astype(np.float32, copy=False))


def unit(vector: Vector) -> Vector:
    """The same direction with length 1."""
    exact = _checked(vector).astype(np.float64)
    length = np.linalg.norm(exact)
    if length == 0:
        raise Invalid("a vector of zeros has no direction")
    return (exact / length).astype(np.float32)


def cosine(a: Vector, b: Vector) -> float:
    """How alike two directions are: 1 the same, 0 unrelated, -1 opposite."""
    if a.shape != b.shape:
        raise Invalid(f"vectors of different shapes cannot be compared: {a.shape} and {b.shape}")
    return float(np.clip(np.dot(unit(a), unit(b)), -1.0, 1.0))


def cosines_to(vector: Vector, others: Mapping[str, Vector]) -> dict[str, float]:
    """The cosine of a unit vector to each of the others (unit vectors of the same model), best first."""
    if not others:
        return {}
    products = np.stack(list(others.values())) @ vector
    ids = list(others)
    return {ids[at]: float(products[at]) for at in np.argsort(-products, kind="stable")}


def likeness(cosine: float, floor: float) -> float:
    """A cosine on the scale of all thresholds: 0 for unrelated texts, 1 for equal ones.

    Models differ in where unrelated texts lie; `floor` is that cosine (see `Embedder.floor`).
    """
    return (cosine - floor) / (1.0 - floor)


def cosine_at(likeness: float, floor: float) -> float:
    """The cosine which has this likeness: turns a threshold into what an index compares."""
    return floor + likeness * (1.0 - floor)


def _checked(vector: Vector) -> Vector:
    if vector.ndim != 1 or vector.size == 0:
        raise Invalid(f"a vector has one row with at least one number, not the shape {vector.shape}")
    if not np.isfinite(vector).all():
        raise Invalid("a vector holds finite numbers only; this one has NaN or infinity")
    return vector
