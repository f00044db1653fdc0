"""Halves: a vector of SQLite's form as a halfvec and a rest, from which the same bytes are made again.

SQLite keeps an integer of 16 bits for each number; a half has a significand of 11 bits. The rest is the
difference in steps of SQLite's scale: some bits for each number. It begins with a checksum of the half, so
that a rest is ignored once its vector has been replaced.
"""

import struct
import zlib

import numpy as np
import numpy.typing as npt
from pgvector import HalfVector

from lore.vectors import packed, unpacked

_HEAD = struct.Struct("<If")
"""The checksum of the half, and the scale."""
_NUMBER, _HALF = np.dtype("<i2"), np.dtype("<f2")


def halved(blob: bytes) -> tuple[HalfVector, bytes]:
    """A vector of SQLite's form as its halfvec and the rest."""
    half = unpacked(blob).astype(_HALF)
    scale = float(np.frombuffer(blob[:4], "<f4")[0])
    numbers = np.frombuffer(blob[4:], _NUMBER)
    rest = (numbers - _steps(half, scale)).astype(np.int8)
    return HalfVector(half), _HEAD.pack(_checksum(half), scale) + zlib.compress(rest.tobytes())


def joined(vector: HalfVector, rest: bytes | None) -> bytes:
    """The bytes that `halved` was given; those of the half alone if the rest belongs to another vector."""
    half = vector.to_numpy().astype(_HALF)
    if rest is not None:
        checksum, scale = _HEAD.unpack_from(rest)
        if checksum == _checksum(half):
            numbers = _steps(half, scale) + np.frombuffer(zlib.decompress(rest[_HEAD.size :]), np.int8)
            return rest[4 : _HEAD.size] + numbers.astype(_NUMBER).tobytes()
    return packed(half.astype(np.float32))


def _steps(half: npt.NDArray[np.float16], scale: float) -> npt.NDArray[np.float64]:
    """The nearest integers of the scale."""
    return np.rint(half.astype(np.float64) / scale)


def _checksum(half: npt.NDArray[np.float16]) -> int:
    return zlib.crc32(half.tobytes())
