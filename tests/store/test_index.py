"""The promises of every vector index, and the recall of the default one."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from threading import Event
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.store.index import BUILTIN, INDEXES, Aliases, VectorIndex, open_index
from lore.store.index.codes import CodeIndex, code_of
from lore.vectors import Vector, Vectors

DIMENSION = 384


@pytest.fixture(params=sorted(INDEXES))
def index(request: pytest.FixtureRequest, tmp_path: Path) -> VectorIndex:
    """Each index as a store uses it: the built-in one in memory, the others in a folder."""
    return open_index(request.param, DIMENSION, None if request.param == BUILTIN else tmp_path)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How much a test does: other engines take long. shared: of 500, because a graph that many threads build
    is another one each time."""

    changes: int | None = 15
    shared: int = 480
    ordered: int = 1_000
    recalled: int = 3_000


def sizes(index: VectorIndex) -> Sizes:
    return Sizes(None, 495, 3_000, 20_000) if isinstance(index, CodeIndex) else Sizes()


def some_vectors(count: int, seed: int = 1) -> Vectors:
    """Unit vectors, each as near to one of fifty centres as to its own will: neighbours are hard to tell."""
    centres = np.random.default_rng(0).standard_normal((50, DIMENSION))
    rng = np.random.default_rng(seed)
    return unit(centres[rng.integers(0, 50, count)] + rng.standard_normal((count, DIMENSION)))


def unit(vectors: npt.NDArray[Any]) -> Vectors:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def aliases(*values: int) -> Aliases:
    return np.array(values, np.int64)


def test_what_was_put_is_found_best_first(index: VectorIndex) -> None:
    vectors = some_vectors(3)
    index.put(aliases(30, 10, 20), vectors)
    for alias, vector in zip((30, 10, 20), vectors, strict=True):
        assert index.nearest(vector, 1).tolist() == [alias]
    between = vectors[0] + 0.5 * vectors[1]
    assert index.nearest(between, 2).tolist() == [30, 10]


def test_put_replaces_what_is_known_and_keeps_the_rest(index: VectorIndex) -> None:
    old, kept, new = some_vectors(3)
    index.put(aliases(1, 2), np.stack([old, kept]))
    index.put(aliases(1), new[np.newaxis])
    assert len(index) == 2
    assert index.nearest(new, 1).tolist() == [1]
    assert index.nearest(kept, 1).tolist() == [2]


def test_the_order_of_arrival_makes_no_difference(index: VectorIndex) -> None:
    size = sizes(index).ordered
    vectors = some_vectors(size)
    query = some_vectors(1, seed=9)[0]
    index.put(np.arange(size), vectors)
    wanted = index.nearest(query, 500).tolist()
    index.clear()
    for part in np.array_split(np.random.default_rng(3).permutation(size), 7):
        index.put(part, vectors[part])
    found = index.nearest(query, 500).tolist()
    assert found[:20] == wanted[:20]
    assert len(set(found) & set(wanted)) >= sizes(index).shared  # not every index is exact so far out
    index.put(np.arange(size), vectors)
    assert len(index) == size
    assert len(index.nearest(query, size, among=np.arange(size))) == size


def test_removed_aliases_are_not_proposed_and_unknown_ones_do_not_matter(index: VectorIndex) -> None:
    vectors = some_vectors(10)
    index.put(np.arange(10), vectors)
    index.remove(aliases(3, 7, 99))
    assert len(index) == 8
    assert set(index.nearest(vectors[3], 10).tolist()) == set(range(10)) - {3, 7}
    assert index.nearest(vectors[9], 1).tolist() == [9]


def test_clear_leaves_nothing_and_the_index_can_be_filled_again(index: VectorIndex) -> None:
    vectors = some_vectors(5)
    index.put(np.arange(5), vectors)
    index.clear()
    assert len(index) == 0
    assert index.nearest(vectors[0], 5).tolist() == []
    index.put(aliases(8), vectors[:1])
    assert index.nearest(vectors[0], 5).tolist() == [8]


def test_an_empty_index_answers_and_takes_empty_changes(index: VectorIndex) -> None:
    [query] = some_vectors(1)
    index.put(aliases(), some_vectors(0))
    index.remove(aliases(1))
    assert len(index) == 0
    assert index.nearest(query, 10).tolist() == []
    assert index.nearest(query, 10, among=aliases(1, 2)).tolist() == []


def test_a_limit_beyond_the_size_returns_everything_and_zero_nothing(index: VectorIndex) -> None:
    vectors = some_vectors(20)
    index.put(np.arange(20), vectors)
    assert sorted(index.nearest(vectors[0], 1000).tolist()) == list(range(20))
    assert index.nearest(vectors[0], 0).tolist() == []


@pytest.mark.parametrize("backend", ["builtin"])
@given(
    stored=st.sets(st.integers(-(2**62), 2**62), max_size=60),
    asked=st.lists(st.integers(-(2**62), 2**62), max_size=20),
    picks=st.lists(st.integers(0, 1000), max_size=20),
    spare=st.integers(0, 3),
)
def test_among_never_loses_a_row(
    backend: str, stored: set[int], asked: list[int], picks: list[int], spare: int
) -> None:
    index = open_index(backend, DIMENSION)
    known = sorted(stored)
    index.put(aliases(*known), some_vectors(len(known)))
    among = asked + [known[pick % len(known)] for pick in picks if known]
    wanted = set(among) & stored
    found = index.nearest(some_vectors(1, seed=2)[0], len(wanted) + spare, aliases(*among)).tolist()
    assert sorted(found) == sorted(wanted)


@pytest.mark.parametrize("backend", ["builtin"])
@given(
    st.lists(
        st.tuples(st.booleans(), st.lists(st.integers(0, 30), unique=True, max_size=12), st.integers(0, 9)),
        max_size=12,
    )
)
def test_after_any_history_every_alias_is_found_by_its_latest_vector(
    backend: str, history: list[tuple[bool, list[int], int]]
) -> None:
    vectors = some_vectors(310).reshape(31, 10, DIMENSION)
    index, latest = open_index(backend, DIMENSION), dict[int, Vector]()
    for stays, some, version in history:
        if stays:
            index.put(aliases(*some), vectors[some, version])
            latest |= {alias: vectors[alias, version] for alias in some}
        else:
            index.remove(aliases(*some))
            latest = {alias: vector for alias, vector in latest.items() if alias not in some}
    assert len(index) == len(latest)
    for alias, vector in latest.items():
        assert index.nearest(vector, 1).tolist() == [alias]
        assert index.nearest(-vector, 1, among=aliases(alias, 99)).tolist() == [alias]


def test_among_ranks_only_those_it_names(index: VectorIndex) -> None:
    vectors = some_vectors(2000)
    index.put(np.arange(2000), vectors)
    assert index.nearest(vectors[5], 1, among=aliases(1999, 6, 5, 700)).tolist() == [5]
    assert index.nearest(vectors[5], 1, among=aliases(1999, 6, 700))[0] in (1999, 6, 700)


def recall(index: VectorIndex, limit: int, shift: float = 0.0) -> float:
    """How many of the exact ten nearest are among `limit` candidates, all vectors moved by one `shift`."""
    mean = shift / DIMENSION**0.5
    vectors, queries = unit(some_vectors(sizes(index).recalled) + mean), unit(some_vectors(50, seed=2) + mean)
    index.put(np.arange(len(vectors)), vectors)
    found = 0
    for query in queries:
        exact = np.argsort(-(vectors @ query))[:10]
        candidates = index.nearest(query, limit)
        rescored = candidates[np.argsort(-(vectors[candidates] @ query))[:10]]
        found += len(np.intersect1d(exact, rescored))
    return found / (10 * len(queries))


def test_recall_after_rescoring(index: VectorIndex) -> None:
    assert recall(index, limit=32) >= 0.99


def changes(index: VectorIndex, vectors: Vectors) -> Iterator[None]:
    """Even aliases come, in an order that grows, fills gaps and replaces, and some go again."""
    for step in range(400):
        some = 2 * np.unique(np.random.default_rng(step).integers(0, 2000, 20))
        index.put(some, vectors[some // 2])
        index.remove(some[:5])
        yield


def test_readers_beside_a_writer_see_only_aliases_that_were_put(index: VectorIndex) -> None:
    vectors = some_vectors(2000)
    index.put(aliases(*range(0, 200, 2)), vectors[:100])
    done = Event()

    def read() -> int:
        rounds = 0
        while not done.is_set() or rounds == 0:
            for found in (index.nearest(vectors[rounds % 2000], 50), index.nearest(vectors[0], 5000)):
                assert len(np.unique(found)) == len(found)
                assert (found % 2 == 0).all()
                assert ((found >= 0) & (found < 4000)).all()
            rounds += 1
        return rounds

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        try:
            for _ in islice(changes(index, vectors), sizes(index).changes):
                pass
        finally:
            done.set()
        assert all(reader.result() > 0 for reader in readers)


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_signs_about_the_centre_let_the_near_ones_through(shift: float) -> None:
    assert recall(CodeIndex(DIMENSION, sifted=512), limit=32, shift=shift) >= 0.9


def test_a_code_is_one_signed_byte_for_each_number() -> None:
    usual = 4**-0.5
    numbers = np.array([[0, usual, -usual, 20 * usual]], np.float32)
    assert code_of(numbers).tolist() == [[0, 16, -16, 127]]
