"""Citations: paths and lines are found in texts, near misses are not, and odd metadata harms nobody."""

import pytest

from lore.citations import CITATIONS, FILES_LIMIT, LONGEST_TEXT, NOTHING, Citation, Cited, cited_by, files_in

LABELS = [
    ("The cache is set up in src/app.py.", ["src/app.py"]),
    ("see `src/app.py:12-30`, then src/db.py:7", ["src/app.py:12-30", "src/db.py:7"]),
    ("an error at src/app.py:12:5", ["src/app.py:12"]),
    ("line 40 of src/app.py is wrong", ["src/app.py:40"]),
    ("lines 3 to 9 in `src/app.py` are dead", ["src/app.py:3-9"]),
    ("src/app.py (lines 12-30) and src/db.py, line 4", ["src/app.py:12-30", "src/db.py:4"]),
    ("src/app.py#L10-L12", ["src/app.py:10-12"]),
    ("src/app.py on line 8", ["src/app.py:8"]),
    ("./scripts/run.sh and /srv/app/main.go", ["scripts/run.sh", "/srv/app/main.go"]),
    ("the Makefile, .gitignore and pyproject.toml", ["Makefile", ".gitignore", "pyproject.toml"]),
    ("bin/deploy has no extension", ["bin/deploy"]),
    ("https://example.org/src/app.py and ssh://git@host/x/y.git", []),
    ("version 1.2.3, v2.0.1, 2026/11/17, 3/4 of them", []),
    ("the folder src/lore/ and ada@example.org", []),
    ("src/app.py 30 times, 12 lines", ["src/app.py"]),
]


@pytest.mark.parametrize(("text", "labels"), LABELS)
def test_paths_are_found_with_their_lines(text: str, labels: list[str]) -> None:
    assert [one.label for one in files_in(text)] == labels


def test_a_text_of_many_paths_cites_the_first_ones() -> None:
    assert len(files_in(" ".join(f"src/{n}.py" for n in range(100)))) == FILES_LIMIT
    assert files_in(" " * LONGEST_TEXT + "src/app.py") == []


def test_metadata_give_back_what_was_cited() -> None:
    files = (Citation(path="src/app.py", first=2, last=3, hash="ab"), Citation(path="Makefile", hash="cd"))
    cited = Cited(repository="example.org/ferry", files=files)
    assert cited_by(cited.metadata()) == cited
    assert cited_by({**cited.metadata(), "tool": "Edit"}) == cited
    assert NOTHING.metadata() == {}


@pytest.mark.parametrize(
    "entry",
    [None, 1, "x", [], {}, {"repository": 1, "files": []}, {"repository": "x"},
     {"repository": "x", "files": "y"},
     {"repository": "x", "files": [None, 3, {}, {"path": 1, "hash": ""}, {"path": "a", "hash": 2}]}],
)  # fmt: skip
def test_metadata_of_another_form_cite_nothing(entry: object) -> None:
    assert cited_by({CITATIONS: entry}).files == ()
