"""Stores to test: `open_store` opens one database, as often as it is called; `store` is open."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from lore.store import STORES, Store
from lore.store import open_store as open_at

OpenStore = Callable[[], Store]
PLACES: dict[str, Callable[[pytest.FixtureRequest], str | Path]] = {
    "sqlite": lambda request: Path(request.getfixturevalue("tmp_path")) / "memory.db",
    "postgresql": lambda request: str(request.getfixturevalue("postgres")),
}
"""Where each kind of database keeps the data of one test."""


@pytest.fixture(params=STORES)
def open_store(request: pytest.FixtureRequest) -> Iterator[OpenStore]:
    opened: list[Store] = []
    place = PLACES[request.param](request)

    def open_another() -> Store:
        opened.append(open_at(place))
        return opened[-1]

    yield open_another
    for store in opened:
        store.close()


@pytest.fixture
def store(open_store: OpenStore) -> Store:
    return open_store()
