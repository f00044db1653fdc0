"""Ignore rules: conversations in these folders are not kept."""

from pathlib import Path

import pytest

from lore.transcripts.ignore_rules import IgnoreRules, load

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
def test_patterns_of_the_global_list_match_folders_and_their_subfolders(
    pattern: str, folder: str, left_out: bool
) -> None:
    assert IgnoreRules([pattern], HOME)(folder) == left_out


def test_an_empty_loreignore_file_leaves_out_its_folder(tmp_path: Path) -> None:
    inner = tmp_path / "ferry" / "src"
    inner.mkdir(parents=True)
    assert not IgnoreRules([], HOME)(str(inner))
    (tmp_path / "ferry" / ".loreignore").touch()
    assert IgnoreRules([], HOME)(str(inner))
    assert not IgnoreRules([], HOME)(str(tmp_path))


def test_a_loreignore_file_may_leave_out_a_part_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / ".loreignore").write_text("# what is not for others\nnotes\n*.private\n")
    left_out = IgnoreRules([], HOME)
    assert left_out(str(tmp_path / "notes" / "2026"))
    assert left_out(str(tmp_path / "ada.private"))
    assert not left_out(str(tmp_path / "src"))
    assert not left_out(str(tmp_path))


def test_without_rules_nothing_is_left_out(tmp_path: Path) -> None:
    assert not load(tmp_path / "ignore", HOME)("/projects")
    assert not IgnoreRules(["*"], HOME)("")


def test_the_global_list_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "ignore").write_text("/projects/secret\n")
    assert load(tmp_path / "ignore", HOME)("/projects/secret/src")
