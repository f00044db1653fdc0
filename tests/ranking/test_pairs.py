"""Which of many vectors lie close together: all pairs among few, nearly all among many."""

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from lore.ranking.cluster import FEW, close_pairs
from lore.vectors import Vectors


def units(count: int, dimension: int = 16, seed: int = 0) -> Vectors:
    vectors = np.random.default_rng(seed).normal(size=(count, dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def all_pairs(vectors: Vectors, least: float, fresh: set[int]) -> set[tuple[int, int]]:
    cosines = vectors @ vectors.T
    return {
        (i, j)
        for i in range(len(vectors))
        for j in range(i + 1, len(vectors))
        if cosines[i, j] > least and {i, j} & fresh
    }


def marked(count: int, fresh: set[int]) -> npt.NDArray[np.bool_]:
    return np.isin(np.arange(count), list(fresh))


@given(st.integers(0, 40), st.sets(st.integers(0, 39)), st.floats(-0.9, 0.9), st.integers(0, 99))
def test_among_few_all_pairs_are_found_once(count: int, fresh: set[int], least: float, seed: int) -> None:
    vectors = units(count, 4, seed)
    pairs = close_pairs(vectors, least, marked(count, fresh))
    assert len(pairs) == len({pair[:2] for pair in pairs})
    assert {(i, j) for i, j, _ in pairs} == all_pairs(vectors, least, fresh)
    assert [cosine for _, _, cosine in pairs] == sorted((cosine for _, _, cosine in pairs), reverse=True)


def test_the_cosine_must_be_above_the_least() -> None:
    vectors = np.array([[1, 0], [1, 0], [0, 1]], np.float32)
    everyone = np.ones(3, bool)
    assert close_pairs(vectors, 0.5, everyone) == [(0, 1, 1.0)]
    assert close_pairs(vectors, 1.0, everyone) == []


def test_among_many_no_twin_is_missed() -> None:
    originals = units(FEW // 2 + 500, 32)
    noise = units(len(originals), 32, seed=1)
    twins = originals + 0.05 * noise
    twins /= np.linalg.norm(twins, axis=1, keepdims=True)
    vectors = np.concatenate([originals, twins]).astype(np.float32)
    pairs = close_pairs(vectors, 0.95, np.ones(len(vectors), bool))
    found = {(i, j) for i, j, _ in pairs}
    wanted = {(i, i + len(originals)) for i in range(len(originals))}
    assert len(wanted & found) >= 0.99 * len(wanted)
    assert all(vectors[i] @ vectors[j] > 0.95 for i, j in found)


def test_a_few_fresh_ones_among_many_are_compared_with_all() -> None:
    vectors = units(FEW + 100, 32)
    vectors[-1] = vectors[0]
    pairs = close_pairs(vectors, 0.99, marked(FEW + 100, {0}))
    assert [pair[:2] for pair in pairs] == [(0, FEW + 99)]
