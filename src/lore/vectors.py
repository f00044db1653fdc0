"""Embedding vectors as values: their types, their bytes, and how alike two of them are."""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from lore.errors import Invalid

Vector = npt.NDArray[np.float32]  # one embedding: (dimension,)
Vectors = npt.NDArray[np.float32]  # many, one per row: (n, dimension)

_SCALE, _NUMBER = np.dtype("<f4"), np.dtype("<i2")  # the same bytes on every machine
_LARGEST = 32_767


def stored_bytes(dimension: int) -> int:
    """The length of a stored vector."""
    return _SCALE.itemsize + _NUMBER.itemsize * dimension


def packed(vector: Vector) -> bytes:
    """The bytes to store: a scale, then an integer of 16 bits for each number.

    The cosine of a unit vector changes by less than 0.0001; by 0.00001 for text embeddings.
    """
    largest = float(np.abs(_checked(vector)).max())
    scale = np.array(largest / _LARGEST or 1.0, _SCALE)
    numbers = np.rint(vector / scale.astype(np.float64)).clip(-_LARGEST, _LARGEST)
    return scale.tobytes() + numbers.astype(_NUMBER).tobytes()


def unpacked(blob: bytes) -> Vector:
    """The vector in `blob`."""
    if len(blob) < stored_bytes(1) or len(blob) % _NUMBER.itemsize:
        raise Invalid(f"a stored vector has 4 bytes and 2 for each dimension, not {len(blob)} bytes in all")
    return _checked(unpacked_rows([blob])[0])


def unpacked_rows(blobs: Sequence[bytes]) -> Vectors:
    """The vectors in `blobs` of equal length, one per row."""
    if not blobs:
        return np.empty((0, 0), np.float32)
    rows = np.frombuffer(b"".join(blobs), np.uint8).reshape(len(blobs), -1)
    scales = np.ascontiguousarray(rows[:, : _SCALE.itemsize]).view(_SCALE)
    numbers = np.ascontiguousarray(rows[:, _SCALE.itemsize :]).view(_NUMBER)
    return numbers.astype(np.float32) * scales


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
