"""The same tests of dialects and verbs, on a store in PostgreSQL: `config` is all that differs."""

from pathlib import Path

import pytest

from lore.config import Config

LARGE, EVERY = 20, 8
"""Of a file with more tests than this, every eighth runs here: the contract tests the store itself."""


@pytest.fixture
def config(tmp_path: Path, postgres: str) -> Config:
    return Config(data_dir=tmp_path / "data", database_url=postgres)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        if item.path.parent == Path(__file__).parent:
            files.setdefault(item.path, []).append(item)
    large = [of_file for of_file in files.values() if len(of_file) > LARGE]
    left_out = {item for of_file in large for at, item in enumerate(of_file) if at % EVERY}
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]
