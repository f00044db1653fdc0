"""Halves: a vector from SQLite is the same again after it was a halfvec."""

import numpy as np
import pytest

pytest.importorskip("pgvector")

from lore.store.postgres.halves import halved, joined
from lore.vectors import packed, unit


@pytest.mark.parametrize("dimension", [1, 8, 384, 4_000])
def test_the_same_bytes_come_back(dimension: int) -> None:
    random = np.random.default_rng(dimension)
    for spread in (0, 3):  # equal numbers, and numbers of very different sizes
        vector = unit(
            (random.normal(size=dimension) * 10.0 ** random.uniform(-spread, 0, dimension)).astype("f4")
        )
        stored = packed(vector)
        half, rest = halved(stored)
        assert joined(half, rest) == stored


def test_the_rest_is_much_smaller_than_the_vector() -> None:
    stored = packed(unit(np.random.default_rng(1).normal(size=384).astype(np.float32)))
    assert len(halved(stored)[1]) < len(stored) / 2


def test_the_rest_of_another_vector_is_ignored() -> None:
    one, other = (packed(unit(np.random.default_rng(seed).normal(size=8).astype("f4"))) for seed in (1, 2))
    half, _ = halved(one)
    _, rest = halved(other)
    assert joined(half, rest) == joined(half, None) != one
