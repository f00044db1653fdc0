"""Vector indexes on disk: ready for the next process, never trusted blindly, and made again from the rows."""

import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from lore.model import SHARED, Cause, Filter, Memory
from lore.store.index import INDEXES
from lore.store.index.codes import CodeIndex
from lore.store.index.frozen import HEADER_BYTES, Codec, Frozen, Header, freeze, open_frozen
from lore.store.sqlite import backups, index_files
from lore.store.sqlite.index_files import folder_of
from lore.store.sqlite.store import SqliteStore
from lore.vectors import Vectors

NOW = 1_800_000_000.0
CAUSE = Cause(verb="test")
DIMENSION = 64
MODEL = "test/model/64"
COUNT = 400


@pytest.fixture(autouse=True)
def _frozen_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A store as small as that of a test has its codes in a file."""
    monkeypatch.setattr(index_files, "FROZEN_FROM", 100)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    opened = SqliteStore(path)
    yield opened
    opened.close()


def some_vectors(count: int, seed: int = 1, dimension: int = DIMENSION) -> Vectors:
    """Unit vectors around fifty centres."""
    rng = np.random.default_rng(seed)
    centres = np.random.default_rng(0).standard_normal((50, dimension))
    vectors = rng.standard_normal((count, dimension)) + centres[rng.integers(0, 50, count)]
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def fill(store: SqliteStore, vectors: Vectors, first: int = 0) -> None:
    """Memories m0, m1, … with these vectors."""
    ids = [f"m{first + at}" for at in range(len(vectors))]
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        writer.put([Memory(id=id, content=f"walrus {id}", created_at=NOW, updated_at=NOW) for id in ids])
        writer.put_vectors(MODEL, dict(zip(ids, vectors, strict=True)))


def nearest(store: SqliteStore, vector: npt.NDArray[np.float32], limit: int = 1) -> list[str]:
    return list(store.reader(SHARED).near(vector, MODEL, limit, Filter()))


def codes_of(path: Path) -> Path:
    return folder_of(path) / "builtin-1.codes"


def index_finding(store: SqliteStore) -> tuple[bool, str]:
    [found] = [finding for finding in store.check() if finding.check == "vector index"]
    return found.passed, found.detail


# --- the file of codes


def frozen_at(folder: Path, vectors: Vectors, first: int = 1) -> Frozen:
    aliases = np.arange(first, first + len(vectors))
    header = Header("store 1 model", vectors.shape[1], count=0, seq=7)
    parts = zip(np.array_split(aliases, 5), np.array_split(vectors, 5), strict=True)
    frozen = freeze(folder / "codes", header, vectors, parts, lambda done: None)
    assert frozen is not None
    return frozen


@pytest.mark.parametrize(("dimension", "recall"), [(384, 0.98), (33, 0.9)])  # 33: bytes and words have gaps
def test_codes_in_a_file_find_what_an_exact_search_finds(
    dimension: int, recall: float, tmp_path: Path
) -> None:
    vectors, queries = some_vectors(20_000, dimension=dimension), some_vectors(40, 2, dimension)
    index = CodeIndex(dimension, frozen=frozen_at(tmp_path, vectors))
    some = np.arange(1, 20_001, 100)
    found = filtered = 0
    for query in queries:
        exact = np.argsort(-(vectors @ query))[:10] + 1
        found += len(np.intersect1d(index.nearest(query, 128), exact))
        exact_some = some[np.argsort(-(vectors[some - 1] @ query))[:10]]
        filtered += len(np.intersect1d(index.nearest(query, 128, some), exact_some))
    assert found / 400 >= recall
    assert filtered / 400 >= 0.99


@pytest.mark.parametrize("dimension", [384, 33])
def test_the_product_of_a_code_is_that_of_the_vector_it_stands_for(dimension: int) -> None:
    vectors, [query] = some_vectors(1_500, dimension=dimension), some_vectors(1, 2, dimension)
    codec = Codec.of(vectors)
    codes = codec.codes(vectors)
    levels = np.stack([codes & 15, codes >> 4], axis=2).reshape(len(codes), -1)[:, :dimension]
    coded = codec.centre + (levels - 7.5) * codec.step
    assert codec.products(codes, query) == pytest.approx(coded @ query, abs=1e-5)


def test_what_changed_since_is_found_in_place_of_the_codes_in_the_file(tmp_path: Path) -> None:
    vectors, new = some_vectors(500), some_vectors(2, seed=9)
    index = CodeIndex(DIMENSION, frozen=frozen_at(tmp_path, vectors))
    index.put(np.array([5, 900]), new)
    index.remove(np.array([9]))
    assert len(index) == 500
    assert [index.nearest(vector, 1).tolist() for vector in new] == [[5], [900]]
    assert 5 not in index.nearest(vectors[4], 3)
    assert 9 not in index.nearest(vectors[8], 500)
    assert sorted(index.nearest(vectors[0], 4, np.array([5, 9, 10, 900, 901]))) == [5, 10, 900]
    index.clear()
    assert len(index) == 0
    assert index.nearest(vectors[0], 5).tolist() == []


def test_a_file_that_is_damaged_or_foreign_is_no_index(tmp_path: Path) -> None:
    frozen_at(tmp_path, some_vectors(300))
    path, content = tmp_path / "codes", (tmp_path / "codes").read_bytes()
    assert open_frozen(path, "store 1 model", DIMENSION) is not None
    assert open_frozen(path, "store 1 other", DIMENSION) is None
    assert open_frozen(path, "store 1 model", 32) is None
    for damaged in (
        b"",
        content[:100],
        content[:-1],
        content + b"x",
        b"x" + content[1:],
        _flipped(content, 60),
    ):
        path.write_bytes(damaged)
        assert open_frozen(path, "store 1 model", DIMENSION) is None
    path.write_bytes(_flipped(content, HEADER_BYTES + 99))
    frozen = open_frozen(path, "store 1 model", DIMENSION)
    assert frozen is not None
    assert frozen.damage() == "its checksum is wrong"


def _flipped(content: bytes, at: int) -> bytes:
    return content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :]


def test_a_file_that_cannot_be_completed_leaves_nothing_behind(tmp_path: Path) -> None:
    def failing() -> Iterator[tuple[npt.NDArray[np.int64], Vectors]]:
        yield np.arange(3), some_vectors(3)
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        freeze(
            tmp_path / "codes", Header("o", DIMENSION, 0, 0), some_vectors(3), failing(), lambda done: None
        )
    assert list(tmp_path.iterdir()) == []


# --- the file of a store


def test_the_next_process_finds_the_index_ready_and_catches_up(store: SqliteStore, path: Path) -> None:
    vectors = some_vectors(COUNT + 1)
    fill(store, vectors[:COUNT])
    assert nearest(store, vectors[3]) == ["m3"]
    assert stat.S_IMODE(codes_of(path).stat().st_mode) == 0o600
    before = codes_of(path).stat()
    fill(store, vectors[COUNT:], first=COUNT)
    other = SqliteStore(path)
    assert nearest(other, vectors[3]) == ["m3"]
    assert nearest(other, vectors[COUNT]) == [f"m{COUNT}"]
    assert codes_of(path).stat().st_ino == before.st_ino
    other.close()


def test_a_store_that_grows_writes_its_file_again_and_readers_take_the_new_one(
    store: SqliteStore, path: Path
) -> None:
    vectors = some_vectors(3 * COUNT)
    fill(store, vectors[:COUNT])
    nearest(store, vectors[0])
    before = codes_of(path).stat().st_ino
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        writer.put(
            [Memory(id=f"w{at}", content="walrus", created_at=NOW, updated_at=NOW) for at in range(COUNT)]
        )
    passages = store.unembedded(MODEL, COUNT).passages
    store.embed(MODEL, dict(zip(passages, vectors[COUNT:], strict=False)))
    assert codes_of(path).stat().st_ino != before
    wanted = passages[7].id
    assert nearest(store, vectors[COUNT + 7]) == [wanted]
    index = store._nearest(1)._index
    assert isinstance(index, CodeIndex)
    nearest(store, vectors[0])
    assert isinstance(index := store._nearest(1)._index, CodeIndex)
    assert index.frozen is not None
    assert len(index.frozen) == 2 * COUNT


def _truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-9])


def _turn_over(file: Path) -> None:
    """All codes are those of other vectors."""
    content = bytearray(file.read_bytes())
    content[HEADER_BYTES : -COUNT * 8] = bytes(255 - byte for byte in content[HEADER_BYTES : -COUNT * 8])
    file.write_bytes(content)


@pytest.mark.parametrize("damage", [_truncate, _turn_over])
def test_a_damaged_file_is_found_and_made_again(damage: Callable[[Path], None], path: Path) -> None:
    vectors = some_vectors(COUNT)
    store = SqliteStore(path)
    fill(store, vectors)
    nearest(store, vectors[0])
    assert index_finding(store) == (True, "the builtin index on disk agrees with the vectors")
    store.close()
    damage(codes_of(path))
    store = SqliteStore(path)
    assert not index_finding(store)[0]
    assert [nearest(store, vector) for vector in vectors[:5]] == [[f"m{at}"] for at in range(5)]
    assert index_finding(store)[0]
    store.close()


def test_a_restored_store_does_not_use_the_index_of_its_later_self(path: Path, tmp_path: Path) -> None:
    vectors = some_vectors(2 * COUNT + 1)
    store = SqliteStore(path)
    fill(store, vectors[:COUNT])
    store.backup(tmp_path / "copy.db")
    fill(store, vectors[COUNT : COUNT + 9], first=COUNT)
    nearest(store, vectors[0])
    store.close()
    shutil.copyfile(codes_of(path), tmp_path / "later.codes")
    backups.restore(tmp_path / "copy.db", path)
    assert not folder_of(path).exists()
    folder_of(path).mkdir()
    shutil.copyfile(tmp_path / "later.codes", codes_of(path))  # as if somebody had copied the database alone
    store = SqliteStore(path)
    fill(store, -vectors[COUNT : COUNT + 9], first=COUNT)
    assert nearest(store, -vectors[COUNT + 8]) == [f"m{COUNT + 8}"]
    store.close()


def test_a_repair_and_a_scrub_delete_the_index_on_disk(store: SqliteStore, path: Path) -> None:
    fill(store, some_vectors(COUNT))
    for cleaned in (lambda: store.check(repair=True), lambda: store.scrub(False, lambda *_: None)):
        nearest(store, some_vectors(1)[0])
        assert codes_of(path).exists()
        cleaned()
        assert not codes_of(path).exists()


def test_where_nothing_can_be_written_the_index_is_in_memory(store: SqliteStore, path: Path) -> None:
    vectors = some_vectors(COUNT)
    fill(store, vectors)
    folder_of(path).write_text("a file where the folder should be")
    assert nearest(store, vectors[9]) == ["m9"]


def test_a_number_of_the_feed_is_never_given_twice(store: SqliteStore, path: Path) -> None:
    vectors = some_vectors(COUNT + 1)
    fill(store, vectors[:COUNT])
    assert nearest(store, vectors[COUNT - 1]) == [f"m{COUNT - 1}"]
    with store._connections.writing() as connection:  # as a purge does
        connection.execute("DELETE FROM memory WHERE id = ?", (f"m{COUNT - 1}",))
    fill(store, vectors[COUNT:], first=COUNT)
    assert nearest(store, vectors[COUNT]) == [f"m{COUNT}"]


# --- other engines


ENGINES = sorted(set(INDEXES) - {"builtin"})


def opened(path: Path, engine: str) -> SqliteStore:
    return SqliteStore(path, vector_store=engine)


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_is_filled_once_and_heals_from_the_rows(engine: str, path: Path) -> None:
    vectors = some_vectors(120)
    store = opened(path, engine)
    fill(store, vectors[:110])
    assert nearest(store, vectors[4]) == ["m4"]
    fill(store, vectors[110:], first=110)
    store.close()

    second = opened(path, engine)
    rival = opened(path, engine)
    assert nearest(second, vectors[115]) == ["m115"]
    assert nearest(rival, vectors[115]) == ["m115"], (
        "the folder has one owner; another process has its own copy"
    )
    assert index_finding(second) == (True, f"the {engine} index on disk agrees with the vectors")
    index = second._nearest(1)._index
    assert index is not None
    index.remove(np.arange(1, 60))
    second.close()
    rival.close()

    third = opened(path, engine)
    passed, detail = index_finding(third)
    assert not passed
    assert "61 of 120 vectors" in detail
    assert nearest(third, vectors[4]) == ["m4"], "an incomplete index is made again when it is opened"
    third.check(repair=True)
    assert index_finding(third)[0]
    assert nearest(third, vectors[4]) == ["m4"]
    third.close()


@pytest.mark.parametrize("engine", ENGINES)
def test_an_engine_whose_files_are_damaged_is_made_again(engine: str, path: Path) -> None:
    vectors = some_vectors(60)
    store = opened(path, engine)
    fill(store, vectors)
    assert nearest(store, vectors[4]) == ["m4"]
    store.close()
    for file in folder_of(path).rglob("*"):
        if file.is_file() and file.name not in ("state.json", "lock"):
            file.write_bytes(b"damaged")
    store = opened(path, engine)
    assert not index_finding(store)[0]
    assert nearest(store, vectors[4]) == ["m4"]
    assert index_finding(store)[0]
    store.close()
