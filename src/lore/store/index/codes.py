"""The default index: one byte per dimension; signs about the centre sift, the bytes rank, the rows decide."""

from dataclasses import dataclass
from threading import Lock
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from lore.vectors import Vector, Vectors

Aliases = npt.NDArray[np.int64]  # the small integer ids of memories
Rows = npt.NDArray[np.uint8]  # (n, bytes): what the rows keep for an index, one line per alias
_Codes = npt.NDArray[np.int8]
_Words = npt.NDArray[np.uint64]
_Slots = npt.NDArray[np.intp]

_WIDEST = 8  # times the usual size of a number in a unit vector: what lies beyond is cut off
_SMALLEST_CAPACITY = 1024
_SIFTED_PER_WANTED = 10
_AT_ONCE = 1 << 18  # numbers multiplied at a time: they stay in the cache, and BLAS starts no threads


def code_of(vectors: Vectors) -> Rows:
    """Each number of (n, dimension) unit vectors as one signed byte, in even steps."""
    usual = vectors.shape[1] ** -0.5
    steps: Vectors = np.rint(vectors * (127 / (_WIDEST * usual)))
    return steps.clip(-127, 127).astype(np.int8).view(np.uint8)


@dataclass(frozen=True, slots=True)
class _Table:
    """Codes in the order of arrival, with room for more, and where to find which alias."""

    aliases: Aliases  # (capacity,)
    codes: _Codes  # (capacity, dimension)
    words: _Words  # (words, capacity): on which side of the centre each number lies, a bit for each
    centre: _Codes  # (dimension,): of the codes that were here when the table was made
    sorted_aliases: Aliases  # (count,): the aliases in ascending order
    slots: _Slots  # (count,): where each of them is

    @classmethod
    def of(cls, aliases: Aliases, codes: _Codes) -> "_Table":
        """A table of these, with room to append as many again."""
        count, dimension = codes.shape
        capacity = max(_SMALLEST_CAPACITY, 2 * count)
        centre = np.floor(codes.mean(axis=0, dtype=np.float32) if count else np.zeros(dimension))
        order = np.argsort(aliases, kind="stable")
        table = cls(
            np.empty(capacity, np.int64),
            np.empty((capacity, dimension), np.int8),
            np.empty((-(-dimension // 64), capacity), np.uint64),
            centre.astype(np.int8),
            aliases[order],
            order,
        )
        table.write(slice(count), aliases, codes)
        return table

    def write(self, where: slice | _Slots, aliases: Aliases, codes: _Codes) -> None:
        self.aliases[where] = aliases
        self.codes[where] = codes
        self.words[:, where] = _sides(codes, self.centre)

    def places(self, aliases: Aliases) -> tuple[_Slots, npt.NDArray[np.bool_]]:
        """Where each alias is in `sorted_aliases` or would be inserted, and whether it is there."""
        places = np.searchsorted(self.sorted_aliases, aliases)
        found = places < len(self.sorted_aliases)
        found[found] = self.sorted_aliases[places[found]] == aliases[found]
        return places, found

    def with_new(self, aliases: Aliases, codes: _Codes) -> "_Table":
        """And these unknown ones: written behind the others if there is room, else a new table."""
        count, total = len(self.sorted_aliases), len(self.sorted_aliases) + len(aliases)
        if total > len(self.aliases):
            both = np.concatenate([self.codes[:count], codes])
            return _Table.of(np.concatenate([self.aliases[:count], aliases]), both)
        self.write(slice(count, total), aliases, codes)
        places = np.searchsorted(self.sorted_aliases, aliases)
        ordered = np.insert(self.sorted_aliases, places, aliases)
        slots = np.insert(self.slots, places, np.arange(count, total))
        return _Table(self.aliases, self.codes, self.words, self.centre, ordered, slots)


class CodeIndex:
    """Codes in memory: about 450 bytes per vector of 384 numbers, nothing to train, nothing to save.

    The vectors of most models share a strong mean, which would decide all signs alike; so signs are taken
    about the centre of the codes, anew whenever their number has doubled.

    Readers take no lock: they work on the table that was current when they began. Writers take turns, and
    change a published table in two ways only: behind what it knows, and a code in place of an older one (a
    reader may meet such a code half-written; it misplaces one candidate once). All else makes a new table.
    """

    feed: Final[Literal["code"]] = "code"

    def __init__(self, dimension: int, sifted: int = 4096) -> None:
        """`sifted`: how many the signs let through to be ranked, at least."""
        self._dimension = dimension
        self._sifted = sifted
        self._writing = Lock()
        self._table = self._empty()

    def put(self, aliases: Aliases, rows: Rows) -> None:
        order = np.argsort(aliases)
        aliases, codes = aliases[order], rows[order].view(np.int8)
        with self._writing:
            table = self._table
            places, found = table.places(aliases)
            if found.any():
                table.write(table.slots[places[found]], aliases[found], codes[found])
            if not found.all():
                self._table = table.with_new(aliases[~found], codes[~found])

    def remove(self, aliases: Aliases) -> None:
        with self._writing:
            table = self._table
            places, found = table.places(aliases)
            if found.any():
                kept = np.delete(table.slots, places[found])
                self._table = _Table.of(table.aliases[kept], table.codes[kept])

    def nearest(self, vector: Vector, limit: int, among: Aliases | None = None) -> Aliases:
        table = self._table
        if among is None:
            slots = np.arange(len(table.sorted_aliases))
            words = table.words[:, : len(slots)]
        else:
            places, found = table.places(np.unique(among))
            slots = table.slots[places[found]]
            words = table.words[:, slots]
        enough = max(self._sifted, _SIFTED_PER_WANTED * limit)
        if len(slots) > enough:
            query = _sides(code_of(vector[np.newaxis]).view(np.int8), table.centre)
            slots = slots[_sifted(words, query[:, 0], enough)]
        order = np.argsort(-_products(table.codes, slots, vector), kind="stable")
        return table.aliases[slots[order[:limit]]]

    def clear(self) -> None:
        with self._writing:
            self._table = self._empty()

    def __len__(self) -> int:
        return len(self._table.sorted_aliases)

    def _empty(self) -> _Table:
        return _Table.of(np.empty(0, np.int64), np.empty((0, self._dimension), np.int8))


def _sides(codes: _Codes, centre: _Codes) -> _Words:
    """A bit for each number, set if it lies above the centre: (words, n)."""
    bits = np.packbits(codes > centre, axis=1)
    return np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8))).view(np.uint64).T


def _sifted(words: _Words, query: _Words, enough: int) -> _Slots:
    """Which columns differ from the query in the fewest bits: `enough` of them, and more if some tie."""
    differing = np.zeros(words.shape[1], np.uint16)
    for word, wanted in zip(words, query, strict=True):
        differing += np.bitwise_count(word ^ wanted)
    return np.flatnonzero(differing <= np.partition(differing, enough - 1)[enough - 1])


def _products(codes: _Codes, slots: _Slots, vector: Vector) -> Vector:
    """The product of each of these codes with the vector."""
    products = np.empty(len(slots), np.float32)
    step = max(1, _AT_ONCE // len(vector))
    for at in range(0, len(slots), step):
        np.matmul(codes[slots[at : at + step]], vector, out=products[at : at + step])
    return products
