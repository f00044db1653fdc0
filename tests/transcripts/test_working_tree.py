"""Working tree: cited files are compared by content; nothing outside of the repository is read."""

import os
from dataclasses import replace
from pathlib import Path

import pytest

from lore.citations import Citation, State
from lore.transcripts.working_tree import FILE_BYTES, READ_BYTES, READ_FILES, WorkingTree, working_tree

LINES = "".join(f"line {n}\n" for n in range(1, 21))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "ferry"
    (folder / ".git").mkdir(parents=True)
    (folder / "src").mkdir()
    (folder / "src" / "app.py").write_text(LINES)
    return folder


def tree_of(folder: Path) -> WorkingTree:
    tree = working_tree(str(folder))
    assert tree is not None
    return tree


def cited(tree: WorkingTree, text: str) -> list[str]:
    return [one.label for one in tree.cite([text]).files]


def state(root: Path, citation: Citation) -> State:
    return tree_of(root).states([citation])[citation]


def aged(path: Path) -> None:
    """The file as if it was written long ago, so that its state is kept."""
    os.utime(path, (1, 1))


def test_files_that_exist_are_cited_from_the_root_whatever_the_folder_of_the_caller(root: Path) -> None:
    text = f"app.py, src/app.py:3, src/none.py, and/or, {root}/src/app.py:4-5"
    assert cited(tree_of(root), text) == ["src/app.py:3", "src/app.py:4-5"]
    assert cited(tree_of(root / "src"), "app.py") == ["src/app.py"]
    assert working_tree(str(root.parent)) is None


def test_a_folder_that_is_a_link_out_of_the_repository_still_belongs_to_it(
    root: Path, tmp_path: Path
) -> None:
    (tmp_path / "data").mkdir()
    (root / "link").symlink_to(tmp_path / "data")
    assert cited(tree_of(root / "link"), "src/app.py") == ["src/app.py"]


def test_a_name_that_is_no_text_is_not_cited(root: Path) -> None:
    target = os.path.join(os.fsencode(root), b"bad\xff.py")
    Path(os.fsdecode(target)).write_text("x")
    (root / "good.py").symlink_to(os.fsdecode(target))
    assert cited(tree_of(root), "good.py") == []


def test_a_line_behind_the_end_cites_the_whole_file(root: Path) -> None:
    assert cited(tree_of(root), "src/app.py:900") == ["src/app.py"]


def test_a_file_is_fresh_changed_or_gone(root: Path) -> None:
    [whole, lines] = tree_of(root).cite(["src/app.py src/app.py:5-6"]).files
    app = root / "src" / "app.py"
    assert (state(root, whole), state(root, lines)) == ("fresh", "fresh")
    app.write_bytes(LINES.replace("\n", "\r\n").encode())
    assert state(root, whole) == "fresh", "line ends do not count"
    app.write_text("a new first line\n" + LINES)
    assert (state(root, whole), state(root, lines)) == ("changed", "fresh"), "the lines have only moved"
    app.write_text(LINES.replace("line 6\n", "line six\n"))
    assert state(root, lines) == "changed"
    app.unlink()
    assert (state(root, whole), state(root, lines)) == ("gone", "gone")
    app.mkdir()
    assert state(root, whole) == "changed"
    app.rmdir()
    app.parent.rmdir()
    app.parent.write_text("a file in the place of its folder")
    assert state(root, whole) == "gone"


def test_a_state_that_is_kept_follows_the_file(root: Path) -> None:
    [whole] = tree_of(root).cite(["src/app.py"]).files
    app = root / "src" / "app.py"
    aged(app)
    assert state(root, whole) == state(root, whole) == "fresh"
    app.write_text(LINES + LINES)
    aged(app)
    assert state(root, whole) == "changed", "although its time is the same"


def test_a_file_that_changed_after_a_conversation_counts_as_changed(root: Path) -> None:
    written = (root / "src" / "app.py").stat().st_mtime
    tree = tree_of(root)
    [later] = tree.cite(["src/app.py"], until=written - 1).files
    [earlier] = tree.cite(["src/app.py"], until=written + 1).files
    assert (state(root, later), state(root, earlier)) == ("changed", "fresh")


def test_nothing_outside_of_the_repository_is_read(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("elsewhere")
    (root / "link.txt").symlink_to(outside)
    (root / "folder").symlink_to(tmp_path)
    (root / ".git" / "config").write_text("")
    text = f"link.txt folder/outside.txt ../outside.txt {outside} .git/config"
    assert cited(tree_of(root), text) == []
    assert state(root, Citation(path="../outside.txt", hash="ab")) == "gone"
    assert state(root, Citation(path="bad\0name", hash="ab")) == "gone"


def test_large_files_secrets_and_pipes_are_not_cited(root: Path) -> None:
    (root / "large.bin").write_bytes(b"x" * (FILE_BYTES + 1))
    for name in (".env", ".env.local", "server.pem", "id_rsa"):
        (root / name).write_text("secret")
    os.mkfifo(root / "pipe.txt")
    assert cited(tree_of(root), "large.bin .env .env.local server.pem ./id_rsa pipe.txt") == []
    [whole] = tree_of(root).cite(["src/app.py"]).files
    (root / "src" / "app.py").write_bytes(b"x" * (FILE_BYTES + 1))
    assert state(root, whole) == "changed"


def test_one_memory_cites_a_limited_number_of_bytes(root: Path) -> None:
    for name in "abc":
        (root / f"{name}.txt").write_bytes(b"x" * (READ_BYTES // 2 - 1))
    assert cited(tree_of(root), "a.txt b.txt c.txt src/app.py") == ["a.txt", "b.txt"]


def test_a_search_reads_a_limited_number_of_files(root: Path) -> None:
    many = [replace(Citation(path=f"src/{n}.py"), hash="ab") for n in range(READ_FILES + 5)]
    assert len(tree_of(root).states(many)) == READ_FILES
    assert len(tree_of(root).states(many, limited=False)) == len(many)
