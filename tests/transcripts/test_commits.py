"""commits: those of the repository's user in a time, read without running what the repository names."""

import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from lore.transcripts.commits import commits_between

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC).timestamp()


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True)


def commit(folder: Path, subject: str, at: float, author: str = "ines@example.org") -> None:
    git(
        folder, "-c", "user.name=Somebody", "-c", f"user.email={author}", "commit", "--allow-empty",
        "--message", subject, "--date", f"{at:.0f} +0000",
    )  # fmt: skip


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    git(tmp_path, "init")
    git(tmp_path, "config", "user.email", "ines@example.org")
    for subject, at, author in (
        ("Before", NOON - 3_600, "ines@example.org"),
        ("Keep the queue in a file", NOON, "ines@example.org"),
        ("A colleague's", NOON + 60, "mara@example.org"),
        ("Tell the worker", NOON + 120, "ines@example.org"),
    ):
        monkeypatch.setenv("GIT_COMMITTER_DATE", f"{at:.0f} +0000")
        commit(tmp_path, subject, at, author)
    return tmp_path


def test_the_own_commits_of_that_time_in_their_order(repository: Path) -> None:
    found = commits_between(str(repository), NOON - 60, NOON + 300)
    assert found == ["Keep the queue in a file", "Tell the worker"]


def signed(folder: Path, subject: str, at: float) -> None:
    """Add a commit with a signature, which `git log` would have the program of the repository check."""
    person = f"Ines <ines@example.org> {at:.0f} +0000"
    text = (
        "tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\nparent " + asked(folder, "rev-parse", "HEAD")
        + f"\nauthor {person}\ncommitter {person}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n"
        + f" -----END PGP SIGNATURE-----\n\n{subject}\n"
    )  # fmt: skip
    id = asked(folder, "hash-object", "-t", "commit", "-w", "--stdin", given=text)
    git(folder, "update-ref", "HEAD", id)


def asked(folder: Path, *arguments: str, given: str = "") -> str:
    command = ["git", "-C", str(folder), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True, input=given).stdout.strip()


def test_no_program_that_the_repository_names_is_run(repository: Path, tmp_path: Path) -> None:
    signed(repository, "Signed", NOON + 180)
    mark, program = tmp_path / "ran", tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {mark}\n")
    program.chmod(0o755)
    for setting in ("gpg.program", "core.fsmonitor", "core.pager", "diff.external"):
        git(repository, "config", setting, str(program))
    git(repository, "config", "log.showSignature", "true")
    assert commits_between(str(repository), NOON - 60, NOON + 300)[-1] == "Signed"
    assert not mark.exists()


def test_a_folder_without_a_repository_has_none(tmp_path: Path) -> None:
    assert commits_between(str(tmp_path), NOON, NOON) == []
    assert commits_between(str(tmp_path / "gone"), NOON, NOON) == []
