"""On a full disk or a read-only file system, searching and reading go on; what cannot be kept is said."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lore import Draft, Query
from lore.config import Config
from lore.connecting import wire
from lore.doors.endpoint import Endpoint
from lore.embed.hashing import HashEmbedder
from tests.doors import resident
from tests.doors.command import LORE, Command
from tests.doors.resident import Agent, short_folder

SHELL = ("sh", "-c", 'ulimit -f 0; exec "$@"', "sh")
"""No file can grow in what runs behind it, as on a full disk."""
READ_ONLY = (
    *("unshare", "--map-root-user", "--mount", "sh", "-c"),
    'd=$1; shift; mount --bind "$d" "$d" && mount -o remount,ro,bind "$d" && exec "$@"',
)


@pytest.fixture
def folder() -> Iterator[Path]:
    with short_folder() as endpoint:
        yield endpoint


@pytest.fixture
def store(folder: Path) -> Path:
    """The data folder of a store whose last memory is in its log only, and whose processes were killed."""
    lore = wire(Config(data_dir=folder / "data"), embedder=HashEmbedder())
    with closing(lore):
        lore.remember(Draft(content="The deploy key lives in the vault."))
        shutil.copytree(folder / "data", folder / "left", ignore=shutil.ignore_patterns("*-shm"))
    return folder / "left"


def on(disk: tuple[str, ...], store: Path) -> tuple[str, ...]:
    """The beginning of a command that runs with such a disk below the store."""
    if disk is SHELL:
        return disk
    command = (*disk, "sh", str(store))
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system lets nobody mount a folder read-only")
    return command


def lore(disk: tuple[str, ...], store: Path, *args: str, code: int = 0) -> str:
    command = [*on(disk, store), *LORE, "--data-dir", str(store), *args]
    done = subprocess.run(
        command, env=Command(store).env(), capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout + done.stderr


DISKS = pytest.mark.parametrize("disk", [SHELL, READ_ONLY], ids=["full", "read-only"])


@DISKS
def test_a_bad_disk_keeps_nobody_from_searching_and_copying(disk: tuple[str, ...], store: Path) -> None:
    assert "in the vault" in lore(disk, store, "search", "deploy key")
    assert "nothing was saved" in lore(disk, store, "remember", "something new", code=1)
    if disk is READ_ONLY:
        assert "its file system is read-only; memories can be searched" in lore(disk, store, "status")
        copy = store.parent / "copy.db"
        lore(disk, store, "backup", str(copy))
        with closing(wire(Config(db_path=copy), embedder=HashEmbedder())) as copied:
            assert copied.search(Query(text="deploy key")).hits


@DISKS
def test_an_agent_searches_on_a_bad_disk_without_a_daemon(
    disk: tuple[str, ...], store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resident, "RELAY", (*on(disk, store), sys.executable, "-m", "lore.doors.relay"))
    before = sorted(os.listdir(store))
    with Agent(Endpoint({}, str(store)), LORE_SURFACES="tree").greet() as agent:
        [found] = agent.call("search", query="deploy key", detail="full")["results"]
        assert "in the vault" in found["content"]
        refused = agent.ask("tools/call", {"name": "store", "arguments": {"content": "something new"}})
        assert refused["result"]["isError"]
        assert "nothing was saved" in refused["result"]["content"][0]["text"]
    left_behind = set(os.listdir(store)) - set(before)
    assert not [name for name in left_behind if name.startswith("daemon.")]


def test_ingest_says_so_where_it_cannot_look_or_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    endpoint = tmp_path / ".claude" / "projects" / "ferry"
    endpoint.mkdir(parents=True)
    os.mkfifo(endpoint / "pipe.jsonl")
    run = Command(tmp_path / "data")
    assert "pipe.jsonl: is not a regular file" in run("ingest", "--source", "claude-code", code=1).stderr
    assert "pipe.jsonl" in run("ingest", "--source", "claude-code", str(endpoint), code=1).stderr


def test_an_answer_that_cannot_be_written_is_an_error_of_one_line(store: Path) -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no /dev/full")
    with (
        open("/dev/full", "w") as full,
        Command(store).start("status", stdout=full, stderr=subprocess.PIPE) as process,
    ):
        _, told = process.communicate(timeout=60)
    assert process.returncode == 1
    assert told.decode().splitlines()[0].endswith("the output could not be written: No space left on device")
