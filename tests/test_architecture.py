"""The house rules: imports go down, nothing hides, files and functions stay small."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SRC = ROOT / "src" / "lore"
FILES = sorted(SRC.rglob("*.py"))

FLOOR = {
    "model": 0.0, "errors": 0.0, "version": 0.0, "environment": 0.0, "filelock": 0.0, "durable": 0.0,
    "supervision": 0.5, "health": 0.5, "grams": 0.5,
    "text": 1.0, "vectors": 1.0, "clock": 1.0, "redact": 1.0, "names": 1.25, "admit": 1.25,
    "ranking": 1.5, "config": 1.5, "distil": 1.75,
    "store": 2.0, "embed": 2.0, "llm": 2.0, "transcripts": 2.0,
    "engine": 3.0,
    "surfaces": 4.0, "connecting": 4.0, "__init__": 4.5,
    "doors": 5.0,
}  # fmt: skip

LONGEST_FILE = 400
LONGEST_FUNCTION = 60
MOST_PARAMETERS = 8
MOST_PUBLIC_NAMES = 15
OUTLIVES_ITS_CLIENTS = {"doors/clients.py", "supervision.py"}


def name(path: Path) -> str:
    return str(path.relative_to(SRC))


def room(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[str, ast.stmt]]:
    """Every module that a file imports from anywhere in it, with the statement."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node
        elif isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


each_file = pytest.mark.parametrize("path", FILES, ids=name)


@each_file
def test_imports_go_down(path: Path) -> None:
    here = room(path)
    for module, node in imports(path):
        if module.split(".")[0] != "lore":
            continue
        there = [*module.split("."), "__init__"][1]
        assert there == here or FLOOR[there] < FLOOR[here], (
            f"{name(path)}:{node.lineno}: {here} (floor {FLOOR[here]}) imports {there} (floor {FLOOR[there]})"
        )


@each_file
def test_no_import_hides_inside_a_function(path: Path) -> None:
    hidden = [
        f"{name(path)}:{node.lineno}"
        for function in functions(path)
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    ]
    assert not hidden


@each_file
def test_every_file_opens_with_its_purpose(path: Path) -> None:
    docstring = ast.get_docstring(ast.parse(path.read_text()))
    assert docstring, f"{name(path)} does not say what it is for"


@each_file
def test_files_stay_small(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LONGEST_FILE


@each_file
def test_functions_stay_small(path: Path) -> None:
    for function in functions(path):
        length = (function.end_lineno or 0) - function.lineno
        arguments = function.args
        count = len(arguments.args) + len(arguments.kwonlyargs) + len(arguments.posonlyargs)
        assert length <= LONGEST_FUNCTION, f"{name(path)}: {function.name} has {length} lines"
        assert count <= MOST_PARAMETERS, f"{name(path)}: {function.name} has {count} parameters"


@each_file
def test_one_room_reads_the_environment(path: Path) -> None:
    if path.name != "environment.py":
        assert not re.search(r"\bos\.(environ|getenv)\b", path.read_text())


@each_file
def test_nothing_is_caught_wholesale(path: Path) -> None:
    if name(path) in OUTLIVES_ITS_CLIENTS:
        return
    assert not re.search(r"except( \(?(Base)?Exception\b|:)", path.read_text())


@each_file
def test_the_standard_sqlite_stays_out(path: Path) -> None:
    """Two SQLite libraries in one process cancel each other's locks."""
    assert "sqlite3" not in {module.split(".")[0] for module, _ in imports(path)}


def test_the_public_names_are_few_and_all_there() -> None:
    import lore

    assert len(lore.__all__) <= MOST_PUBLIC_NAMES
    assert [public for public in lore.__all__ if getattr(lore, public, None) is None] == []


def test_both_locks_pin_the_same_versions() -> None:
    locked = {
        (package["name"], package["version"])
        for package in tomllib.loads((ROOT / "uv.lock").read_text())["package"]
        if "version" in package
    }
    pinned = re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert pinned
    assert set(pinned) <= locked
