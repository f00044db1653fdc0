"""Several processes share a store: one embeds pending memories, the others wait for it."""

import subprocess
import sys
from pathlib import Path

import pytest

from lore import Draft
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.engine.embeddings import WORK

SECONDS = 90.0
TEXTS = [f"walrus {number}" for number in range(100)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A store of which nothing is embedded."""
    path = tmp_path / "memory.db"
    lore = wire(Config(db_path=path), embedder=HashEmbedder())
    lore.remember_all([Draft(content=text) for text in TEXTS])
    lore.close()
    return path


def start(file: Path, log: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.engine.embedder", str(file), str(log), *arguments]
    root = Path(__file__).parent.parent.parent
    return subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def next_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout
    return process.stdout.readline().strip()


def left(file: Path) -> int:
    lore = wire(Config(db_path=file), embedder=HashEmbedder())
    waiting = lore.pending()
    lore.close()
    return waiting


def test_no_memory_is_embedded_by_two_processes(file: Path, tmp_path: Path) -> None:
    log = tmp_path / "log"
    with start(file, log, "embed_pending", "wait") as first:
        assert next_line(first) == "embedding"
        with start(file, log, "embed_batch") as second:
            assert next_line(second) == "None"
        first.communicate("go on\n", timeout=SECONDS)
    assert sorted(log.read_text().splitlines()) == sorted(TEXTS)
    assert left(file) == 0


def test_a_waiting_process_continues_when_the_embedding_process_is_killed(file: Path, tmp_path: Path) -> None:
    killed, log = tmp_path / "killed", tmp_path / "log"
    with start(file, killed, "embed_pending", "wait") as first:
        assert next_line(first) == "embedding"
        with start(file, log, "embed_pending") as second:
            first.kill()
            assert second.wait(SECONDS) == 0
    assert sorted(log.read_text().splitlines()) == sorted(TEXTS)
    assert not killed.exists()
    assert left(file) == 0


def test_the_background_does_not_embed_while_another_process_does(file: Path) -> None:
    lore = wire(Config(db_path=file), embedder=HashEmbedder())
    with lore.store.exclusive(WORK) as alone:
        assert alone
        lore.background.embed_all()
        assert lore.pending() == len(TEXTS)
    lore.background.embed_all()
    assert lore.pending() == 0
    lore.close()
