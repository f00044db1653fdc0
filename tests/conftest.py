"""Things to test with: a clock, an empty Lore on a real file, and the real parts behind it."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from lore import Lore
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.environment import SESSION

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""How properties are tested: a machine that is busy fails none of them."""
settings.register_profile("same", PATIENT, derandomize=True)
settings.register_profile("hunt", PATIENT, max_examples=1000, print_blob=True)
settings.load_profile("same")  # every run tries the same examples; --hypothesis-profile=hunt finds new ones


@pytest.fixture(autouse=True, scope="session")
def strangers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests leave the conversations of whoever runs them alone, ask no language model of theirs, and stand
    in nobody's repository."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LORE_INGEST_PAUSED", "yes")
        patch.setenv("LORE_LLM_BACKEND", "none")
        for name in ("ANTHROPIC_API_KEY", *SESSION):
            patch.delenv(name, raising=False)
        patch.chdir(tmp_path_factory.mktemp("nowhere"))
        yield


@pytest.fixture(autouse=True, scope="session")
def interruptible() -> None:
    """Whoever runs the tests behind `&` ignores Ctrl-C, and so would every process that a test starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(data_dir=tmp_path / "data")


@pytest.fixture
def lore(config: Config, clock: Clock) -> Iterator[Lore]:
    """An empty Lore on its own file, with hashed words for meaning and a clock that stands still."""
    opened = wire(config, embedder=HashEmbedder(), clock=clock)
    yield opened
    opened.close()
