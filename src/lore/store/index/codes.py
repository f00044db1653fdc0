"""The default index: one byte per dimension; signs about the centre sift, the bytes rank, the rows decide."""

from dataclasses import dataclass
from threading import Lock

import numpy as np
import numpy.typing as npt

from lore.store.index.frozen import Frozen
from lore.store.index.signs import Aliases, Slots, Words, few_differing, scratch, side_words
from lore.vectors import Vector, Vectors

_Codes = npt.NDArray[np.int8]

_WIDEST = 8  # times the usual size of a number in a unit vector: what lies beyond is cut off
_SMALLEST_CAPACITY = 1024
_SIFTED_PER_WANTED = 10
_AT_ONCE = 1 << 18  # numbers multiplied at a time: they stay in the cache, and BLAS starts no threads


def code_of(vectors: Vectors) -> _Codes:
    """Each number of (n, dimension) unit vectors as one signed byte, in even steps."""
    steps: Vectors = np.rint(vectors * (1 / _step(vectors.shape[1])))
    return steps.clip(-127, 127).astype(np.int8)


def _step(dimension: int) -> float:
    """The width of one step of a code."""
    return float(_WIDEST * dimension**-0.5 / 127)


@dataclass(frozen=True, slots=True)
class _Table:
    """Codes in the order of arrival, with room for more, and where to find which alias."""

    aliases: Aliases  # (capacity,)
    codes: _Codes  # (capacity, dimension)
    words: Words  # (words, capacity): on which side of the centre each number lies, a bit for each
    centre: _Codes  # (dimension,): of the codes that were here when the table was made
    sorted_aliases: Aliases  # (count,): the aliases in ascending order
    slots: Slots  # (count,): where each of them is

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

    def write(self, where: slice | Slots, aliases: Aliases, codes: _Codes) -> None:
        self.aliases[where] = aliases
        self.codes[where] = codes
        self.words[:, where] = side_words(codes > self.centre)

    def places(self, aliases: Aliases) -> tuple[Slots, npt.NDArray[np.bool_]]:
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


@dataclass(frozen=True, slots=True)
class _File:
    """Codes in a file, and which of them were replaced or removed since."""

    frozen: Frozen
    replaced: npt.NDArray[np.bool_]

    def replace(self, aliases: Aliases) -> None:
        slots, found = self.frozen.places(aliases)
        self.replaced[slots[found]] = True

    def candidates(self, vector: Vector, limit: int, among: Aliases | None) -> tuple[Aliases, Vector]:
        """Aliases with their approximate products, in any order."""
        within = None
        if among is not None:
            places, found = self.frozen.places(among)
            within = places[found]
        slots = self.frozen.sift(vector, limit, within)
        slots = slots[~self.replaced[slots]]
        return self.frozen.aliases[slots], self.frozen.products(slots, vector)

    def __len__(self) -> int:
        return len(self.replaced) - int(np.count_nonzero(self.replaced))


class CodeIndex:
    """Codes in memory: about 450 bytes per vector of 384 numbers. Many vectors are in a file, `frozen`; then
    memory holds only those that came or changed since.

    The vectors of most models share a strong mean, which would decide all signs alike; so signs are taken
    about the centre of the codes, computed again whenever their number has doubled.

    Readers take no lock: they work on the table that was current when they began. Writers take turns, and
    change a published table in two ways only: behind what it knows, and a code in place of an older one (a
    reader may meet such a code half-written; it misplaces one candidate once). All else makes a new table.
    """

    def __init__(self, dimension: int, sifted: int = 4096, frozen: Frozen | None = None) -> None:
        """`sifted`: how many the signs let through to be ranked, at least."""
        self._dimension = dimension
        self._sifted = sifted
        self._writing = Lock()
        self._table = self._empty()
        self._file = None if frozen is None else _File(frozen, np.zeros(len(frozen), np.bool_))

    @property
    def frozen(self) -> Frozen | None:
        """The codes in the file."""
        return None if self._file is None else self._file.frozen

    @property
    def in_memory(self) -> int:
        """The number of vectors that are not in the file."""
        return len(self._table.sorted_aliases)

    def put(self, aliases: Aliases, vectors: Vectors) -> None:
        order = np.argsort(aliases)
        aliases, codes = aliases[order], code_of(vectors[order])
        with self._writing:
            table = self._table
            places, found = table.places(aliases)
            if found.any():
                table.write(table.slots[places[found]], aliases[found], codes[found])
            if not found.all():
                self._table = table.with_new(aliases[~found], codes[~found])
            if self._file is not None:
                self._file.replace(aliases)

    def remove(self, aliases: Aliases) -> None:
        with self._writing:
            table = self._table
            places, found = table.places(aliases)
            if found.any():
                kept = np.delete(table.slots, places[found])
                self._table = _Table.of(table.aliases[kept], table.codes[kept])
            if self._file is not None:
                self._file.replace(aliases)

    def nearest(self, vector: Vector, limit: int, among: Aliases | None = None) -> Aliases:
        wanted = None if among is None else np.unique(among)
        file = self._file  # before the table: a vector that moves meanwhile is in both, not in none
        parts = [] if file is None else [file.candidates(vector, limit, wanted)]
        parts.append(self._candidates(vector, limit, wanted))
        found, products = (np.concatenate(column) for column in zip(*parts, strict=True))
        if len(products) > 2 * limit:  # far cheaper than to sort them all
            better = np.sort(np.argpartition(-products, 2 * limit)[: 2 * limit])
            found, products = found[better], products[better]
        best = found[np.argsort(-products, kind="stable")]
        _, first = np.unique(best, return_index=True)
        return best[np.sort(first)][:limit]

    def _candidates(self, vector: Vector, limit: int, among: Aliases | None) -> tuple[Aliases, Vector]:
        """Aliases in memory with their approximate products, in any order."""
        table = self._table
        if among is None:
            slots = np.arange(len(table.sorted_aliases))
            words = table.words[:, : len(slots)]
        else:
            places, found = table.places(among)
            slots = table.slots[places[found]]
            words = table.words[:, slots]
        enough = max(self._sifted, _SIFTED_PER_WANTED * limit)
        if len(slots) > enough:
            query = side_words(code_of(vector[np.newaxis]) > table.centre)[:, 0]
            slots = slots[few_differing(words, query, enough)]
        return table.aliases[slots], _products(table.codes, slots, vector) * _step(self._dimension)

    def clear(self) -> None:
        with self._writing:
            self._table, self._file = self._empty(), None

    def __len__(self) -> int:
        return self.in_memory + (0 if self._file is None else len(self._file))

    def _empty(self) -> _Table:
        return _Table.of(np.empty(0, np.int64), np.empty((0, self._dimension), np.int8))


def _products(codes: _Codes, slots: Slots, vector: Vector) -> Vector:
    """The product of each of these codes with the vector."""
    products = np.empty(len(slots), np.float32)
    step = max(1, _AT_ONCE // len(vector))
    numbers = scratch.array("numbers", (step, len(vector)), np.float32)
    for at in range(0, len(slots), step):
        size = min(step, len(slots) - at)
        numbers[:size] = codes[slots[at : at + size]]
        np.matmul(numbers[:size], vector, out=products[at : at + size])
    return products
