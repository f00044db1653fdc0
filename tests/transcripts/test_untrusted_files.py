"""No file of a repository or a client's folder blocks its reader or fills its memory."""

import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import apsw
import pytest

from lore.errors import Unavailable
from lore.transcripts import untrusted_files
from lore.transcripts.ignore_rules import IgnoreRules
from lore.transcripts.project import project_of, repository_of
from lore.transcripts.sources import SOURCES

SECONDS = 30.0
T = TypeVar("T")


def embed_now(work: Callable[[], T]) -> T:
    """The result of `work`; a failure, not a hang, if it blocks."""
    results: list[T] = []
    thread = threading.Thread(target=lambda: results.append(work()), daemon=True)
    thread.start()
    thread.join(SECONDS)
    assert results, "it blocked, or failed"
    return results[0]


def fifo(path: Path) -> None:
    os.mkfifo(path)


def endless(path: Path) -> None:
    path.symlink_to("/dev/zero")


def huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(8 << 30)


hostile = pytest.mark.parametrize("make", [fifo, endless, huge])


@hostile
def test_a_hostile_ignore_file_leaves_its_folder_out(tmp_path: Path, make: Callable[[Path], None]) -> None:
    """It may say anything, so nothing below it is remembered."""
    make(tmp_path / ".loreignore")
    assert embed_now(lambda: IgnoreRules([], Path("/home/ada"))(str(tmp_path / "src")))


@hostile
def test_hostile_files_of_git_are_passed_over(tmp_path: Path, make: Callable[[Path], None]) -> None:
    (tmp_path / "plain" / ".git").mkdir(parents=True)
    make(tmp_path / "plain" / ".git" / "config")
    project = embed_now(lambda: repository_of(str(tmp_path / "plain")))
    assert project is not None
    assert project.key == str(tmp_path / "plain")
    tree, own = tmp_path / "tree", tmp_path / "own"
    tree.mkdir()
    own.mkdir()
    (tree / ".git").write_text(f"gitdir: {own}\n")
    make(own / "commondir")
    assert embed_now(lambda: repository_of(str(tree)))
    pointer = tmp_path / "pointer"
    pointer.mkdir()
    make(pointer / ".git")
    assert embed_now(lambda: project_of(str(pointer)))


@hostile
def test_a_hostile_project_root_file_gives_no_folder(tmp_path: Path, make: Callable[[Path], None]) -> None:
    chats = tmp_path / ".gemini" / "tmp" / "ferry" / "chats"
    chats.mkdir(parents=True)
    make(chats.parent / ".project_root")
    session = chats / "session-1.jsonl"
    session.write_text(json.dumps({"sessionId": "a", "kind": "main", "summary": "The ferry"}) + "\n")

    def folders() -> list[str]:
        with SOURCES["gemini"].open(session, []) as transcript:
            return [said.folder for piece in transcript for said in piece]

    assert embed_now(folders) == [""]


@pytest.mark.parametrize("make", [fifo, endless])
@pytest.mark.parametrize("source", ["claude-code", "opencode"])
def test_a_transcript_that_is_no_regular_file_is_refused(
    tmp_path: Path, make: Callable[[Path], None], source: str
) -> None:
    path = tmp_path / ("opencode.db" if source == "opencode" else "a.jsonl")
    make(path)

    def refusal() -> str:
        try:
            with SOURCES[source].open(path, []) as transcript:
                return str(list(transcript))
        except (OSError, Unavailable) as error:
            return str(error)

    assert "not a regular file" in embed_now(refusal)


def test_a_hostile_log_beside_a_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "opencode.db"
    apsw.Connection(str(path)).close()
    fifo(tmp_path / "opencode.db-wal")
    with pytest.raises(Unavailable, match=r"opencode\.db-wal is not a regular file"):
        SOURCES["opencode"].open(path, []).__enter__()


def test_no_more_than_the_limit_is_read(tmp_path: Path) -> None:
    path = tmp_path / "settings"
    path.write_bytes(b"x" * 11)
    with pytest.raises(OSError, match="more than 10 bytes"):
        untrusted_files.read_text(path, 10)
    assert untrusted_files.read_text(path, 11) == "x" * 11


@pytest.mark.parametrize("folder", ["/a" * 100_000, "/a\0b", "/half \ud83d", "a" * 140_000])
def test_an_impossible_folder_is_rejected_quickly(folder: str) -> None:
    """Quadratic work on 100,000 components takes minutes."""
    assert embed_now(lambda: repository_of(folder)) is None
    assert embed_now(lambda: IgnoreRules(["/b"], Path("/home/ada"))(folder)) is False
    assert embed_now(lambda: IgnoreRules(["/a"], Path("/home/ada"))(folder)) is folder.startswith("/a/a")


def test_a_folder_that_is_too_long_is_no_project() -> None:
    assert project_of("/a" * 100_000) is None
