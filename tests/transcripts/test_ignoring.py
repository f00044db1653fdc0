"""ignoring: who does not want to be remembered is not."""

from pathlib import Path

import pytest

from lore.transcripts.ignoring import Ignoring, ignoring

HOME = Path("/home/ada")


@pytest.mark.parametrize(
    ("pattern", "folder", "left_out"),
    [
        ("/projects/secret", "/projects/secret", True),
        ("/projects/secret", "/projects/secret/src", True),
        ("/projects/secret/", "/projects/secret", True),
        ("/projects/secret", "/projects/secrets", False),
        ("/projects/secret", "/projects", False),
        ("~/diary", "/home/ada/diary/2026", True),
        ("~/diary", "/home/ben/diary", False),
        ("/projects/*-private", "/projects/ferry-private/src", True),
        ("/projects/*-private", "/projects/ferry", False),
        ("*", "/anything", True),
        ("# /projects/secret", "/projects/secret", False),
        ("", "/projects", False),
    ],
)
def test_the_list_for_all_projects(pattern: str, folder: str, left_out: bool) -> None:
    assert Ignoring([pattern], HOME)(folder) == left_out


def test_a_project_speaks_for_itself(tmp_path: Path) -> None:
    inner = tmp_path / "ferry" / "src"
    inner.mkdir(parents=True)
    assert not Ignoring([], HOME)(str(inner))
    (tmp_path / "ferry" / ".loreignore").touch()
    assert Ignoring([], HOME)(str(inner))
    assert not Ignoring([], HOME)(str(tmp_path))


def test_a_project_may_leave_out_a_part(tmp_path: Path) -> None:
    (tmp_path / ".loreignore").write_text("# what is not for others\nnotes\n*.private\n")
    left_out = Ignoring([], HOME)
    assert left_out(str(tmp_path / "notes" / "2026"))
    assert left_out(str(tmp_path / "ada.private"))
    assert not left_out(str(tmp_path / "src"))
    assert not left_out(str(tmp_path))


def test_where_nothing_is_told_nothing_is_left_out(tmp_path: Path) -> None:
    assert not ignoring(tmp_path / "ignore", HOME)("/projects")
    assert not Ignoring(["*"], HOME)("")


def test_the_list_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "ignore").write_text("/projects/secret\n")
    assert ignoring(tmp_path / "ignore", HOME)("/projects/secret/src")
