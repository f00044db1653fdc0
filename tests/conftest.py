"""Things to test with: a clock, an empty Lore on a real file, and the real parts behind it."""

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from lore import Lore
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.doors.upkeep import spare_loaded
from lore.embed.hashing import HashEmbedder
from lore.environment import SESSION
from tests.postgres import empty, new_database, postgres_of_run, require_postgres

MEMORY_FOLDER = Path("/dev/shm")
"""A file system in memory, where Linux has one: stores of tests need no disk."""
MEMORY_BYTES = 2 << 30
"""Free space that a run may need; a container often has 64 MB."""


def use_memory_for_temporary_files() -> None:
    """Workers inherit the variable. Whoever sets TMPDIR or --basetemp decides otherwise."""
    usable = "TMPDIR" not in os.environ and os.access(MEMORY_FOLDER, os.W_OK | os.X_OK)
    if usable and shutil.disk_usage(MEMORY_FOLDER).free >= MEMORY_BYTES:
        os.environ["TMPDIR"] = tempfile.tempdir = str(MEMORY_FOLDER)


use_memory_for_temporary_files()

PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
"""Settings of property tests: no deadline, so that a busy machine fails none of them."""
settings.register_profile("same", PATIENT, derandomize=True, max_examples=40)
settings.register_profile("hunt", PATIENT, max_examples=1000, print_blob=True)
settings.load_profile("same")  # every run tries the same examples; --hypothesis-profile=hunt finds new ones


def pytest_collection_finish() -> None:
    """Keep modules and collected tests out of garbage collections, which would look at all of them again."""
    spare_loaded()


@pytest.fixture(autouse=True, scope="session")
def no_settings_of_the_user(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Tests see no settings and conversations of whoever runs them, ask no language model of theirs, and
    run in a folder that is in no repository."""
    with pytest.MonkeyPatch.context() as patch:
        own = [name for name in os.environ if name.startswith("LORE_")]
        for name in ("ANTHROPIC_API_KEY", *SESSION, *own):
            patch.delenv(name, raising=False)
        patch.setenv("LORE_INGEST_PAUSED", "yes")
        patch.setenv("LORE_LLM_BACKEND", "none")
        patch.chdir(tmp_path_factory.mktemp("nowhere"))
        yield


@pytest.fixture(autouse=True, scope="session")
def interruptible() -> None:
    """A shell starts background jobs with Ctrl-C ignored, and the processes of tests would inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def postgres_of_worker() -> Iterator[str]:
    """The address of this worker's own database, on the server of the run."""
    require_postgres()
    worker = os.environ.get("PYTEST_XDIST_WORKER", "alone")
    with postgres_of_run() as server:
        yield new_database(server, f"test_{worker}")


@pytest.fixture
def postgres(postgres_of_worker: str) -> Iterator[str]:
    """The address of an empty database in PostgreSQL."""
    yield postgres_of_worker
    empty(postgres_of_worker)


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


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The folder of a repository with one file."""
    folder = tmp_path / "ferry"
    (folder / ".git").mkdir(parents=True)
    (folder / "src").mkdir()
    (folder / "src" / "app.py").write_text("pool = 4\n")
    return folder


@pytest.fixture
def inside(lore: Lore, checkout: Path) -> Lore:
    """The same Lore for a caller in that repository."""
    return lore.in_folder(str(checkout))
