"""Stores to test: `open_store` opens one database, as often as it is called; `store` is open."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lore.store import STORES, Store
from lore.store import open_store as open_at

OpenStore = Callable[[], Store]
PLACES: dict[str, Callable[[Path], str | Path]] = {"sqlite": lambda folder: folder / "memory.db"}
"""Where each kind of database keeps the data of one test."""


@pytest.fixture(params=STORES)
def open_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[OpenStore]:
    opened: list[Store] = []

    def open_another() -> Store:
        opened.append(open_at(PLACES[request.param](tmp_path)))
        return opened[-1]

    yield open_another
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: OpenStore) -> Store:
    return open_store()
