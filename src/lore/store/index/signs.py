"""Signs: one bit for each number of a vector, packed into words; vectors that differ in few bits are near."""

import math
import threading
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

Aliases = npt.NDArray[np.int64]  # the small integer ids of memories
Slots = npt.NDArray[np.intp]  # places of vectors in a table
Words = npt.NDArray[np.uint64]  # (words, n): the bits of n vectors
Counts = npt.NDArray[np.uint16]

BLOCK = 1 << 14  # columns compared at a time: they stay in the cache of the processor
_SAMPLED = 1 << 16  # counts from which a bound is estimated


def side_words(above: npt.NDArray[np.bool_]) -> Words:
    """The bits of (n, dimension) booleans as (words, n)."""
    bits = np.packbits(above, axis=1)
    return np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8))).view(np.uint64).T


class _Scratch(threading.local):
    """Memory for results in between, kept by each thread: to get several MB anew from the system for each
    question costs more than the comparison."""

    def __init__(self) -> None:
        self._arrays: dict[str, npt.NDArray[Any]] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: type[np.generic]) -> npt.NDArray[Any]:
        """An array with any values, used until the next call with the same name."""
        size = math.prod(shape)
        if name not in self._arrays or len(self._arrays[name]) < size:
            self._arrays[name] = np.empty(size, dtype)
        return self._arrays[name][:size].reshape(shape)


scratch = _Scratch()


def few_differing(words: Words, query: npt.NDArray[np.uint64], enough: int) -> Slots:
    """The columns that differ from the query in the fewest bits: about `enough` of them."""
    count = words.shape[1]
    parts = (words[:, start : start + BLOCK] for start in range(0, count, BLOCK))
    return few_differing_in(parts, query, enough, count)


def few_differing_in(parts: Iterable[Words], query: npt.NDArray[np.uint64], enough: int, count: int) -> Slots:
    """The same for words in parts of BLOCK columns, of which the last may be shorter."""
    wanted, start = query[:, np.newaxis], 0
    counts = scratch.array("counts", (-(-count // BLOCK) * BLOCK,), np.uint16)
    different = scratch.array("different", (len(query), BLOCK), np.uint64)
    bits = scratch.array("bits", (len(query), BLOCK), np.uint8)
    for part in parts:
        size = part.shape[1]
        np.bitwise_xor(part, wanted, out=different[:, :size])
        np.bitwise_count(different[:, :size], out=bits[:, :size])
        np.add.reduce(bits[:, :size], axis=0, dtype=np.uint16, out=counts[start : start + size])
        start += size
    few = scratch.array("few", (count,), np.bool_)
    np.less_equal(counts[:count], _threshold(counts[:count], enough), out=few)
    return np.flatnonzero(few)


def _threshold(counts: Counts, enough: int) -> int:
    """A count that about `enough` of them do not exceed: exact for few, estimated from a sample of many."""
    stride = max(1, len(counts) // _SAMPLED)
    sample = counts[::stride]
    totals = np.cumsum(np.bincount(sample))
    return int(np.searchsorted(totals, min(enough / stride, len(sample))))
