"""Pairs: which of many vectors lie close together, without comparing each with each."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from lore.vectors import Vector, Vectors

FEW = 4_000
"""So many are compared each with each: a fraction of a second."""
CELLS_EACH = 4
"""In how many cells a vector is looked for: pairs across a border share at least one of them."""
NEIGHBOURS = 50
"""With how many others one is paired at most, of all that lie close to it in a cell."""
ROUNDS = 3
BLOCK = 1_024

Numbers = npt.NDArray[np.intp]


def close_pairs(vectors: Vectors, least: float, fresh: npt.NDArray[np.bool_]) -> list[tuple[int, int, float]]:
    """Pairs (i < j) of unit vectors whose cosine is above `least`, the closest first.

    fresh: only pairs with at least one of these. Among many, a pair is found if both lie in a common cell:
    for close pairs that is nearly always so, and the cost grows with n to the power of 1.5. Where many lie
    close together, each is paired with its nearest only, so that the pairs do not outgrow the vectors.
    """
    keys: list[Numbers] = [np.empty(0, np.intp)]
    strengths: list[Vector] = [np.empty(0, np.float32)]
    for rows, columns in _compared(vectors, fresh):
        for start in range(0, len(rows), BLOCK):
            block = rows[start : start + BLOCK]
            cosines = vectors[block] @ vectors[columns].T
            a, b = np.nonzero(_near(cosines, least))
            one, other = block[a], columns[b]
            apart = one != other
            keys.append((np.minimum(one, other) * len(vectors) + np.maximum(one, other))[apart])
            strengths.append(cosines[a, b][apart])
    pairs, first = np.unique(np.concatenate(keys), return_index=True)
    found = np.concatenate(strengths)[first]
    best = np.lexsort((pairs, -found))
    lower, higher = np.divmod(pairs[best], len(vectors))
    return list(zip(lower.tolist(), higher.tolist(), found[best].tolist(), strict=True))


def _near(cosines: Vectors, least: float) -> npt.NDArray[np.bool_]:
    """Which of a row are close to it: at most NEIGHBOURS, and itself."""
    near: npt.NDArray[np.bool_] = cosines > least
    crowded = np.flatnonzero(np.count_nonzero(near, axis=1) > NEIGHBOURS + 1)
    if len(crowded):
        beyond = np.argpartition(-cosines[crowded], NEIGHBOURS, axis=1)[:, NEIGHBOURS + 1 :]
        near[crowded[:, np.newaxis], beyond] = False
    return near


def _compared(vectors: Vectors, fresh: npt.NDArray[np.bool_]) -> Iterator[tuple[Numbers, Numbers]]:
    """Which rows are compared with which: the fresh ones with all, as long as that is cheap."""
    everyone, new = np.arange(len(vectors)), np.flatnonzero(fresh)
    if len(new) * len(everyone) <= FEW * FEW:
        yield new, everyone
        return
    cells = _cells(vectors)
    for cell in range(int(cells.max()) + 1):
        inside = np.flatnonzero((cells == cell).any(axis=1))
        yield inside[fresh[inside]], inside


def _cells(vectors: Vectors) -> npt.NDArray[np.intp]:
    """The nearest cells of each vector; there are about as many cells as vectors in one."""
    count = max(CELLS_EACH, int(np.sqrt(len(vectors))))
    chance = np.random.default_rng(0)
    centres = vectors[chance.choice(len(vectors), count, replace=False)]
    for _ in range(ROUNDS):
        nearest = _nearest(vectors, centres, 1)[:, 0]
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, vectors)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centres = np.where(lengths > 0, sums / np.maximum(lengths, 1e-12), centres)
    return _nearest(vectors, centres, CELLS_EACH)


def _nearest(vectors: Vectors, centres: Vectors, many: int) -> npt.NDArray[np.intp]:
    rows = [
        np.argpartition(-(vectors[start : start + BLOCK] @ centres.T), many - 1, axis=1)[:, :many]
        for start in range(0, len(vectors), BLOCK)
    ]
    return np.concatenate(rows)
