"""The house rules: imports go down, nothing hides, files and functions stay small, figures only shrink."""

import ast
import math
import re
import subprocess
import tomllib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

import lore
from bench.house import LIMITS, SOURCE, Module, figures_of, limited, limits_text, read_limits, read_modules

ROOT = Path(__file__).parent.parent

FLOOR = {
    "model": 0.0, "errors": 0.0, "version": 0.0, "environment": 0.0, "durable": 0.0,
    "lazy": 0.0, "patterns": 0.0, "verbs": 0.0, "bookmark": 0.0, "filelock": 0.5,
    "supervision": 0.5, "health": 0.5, "grams": 0.5, "injection": 0.0, "inspection": 0.25, "quarantine": 1.0,
    "wordlists": 0.5, "text": 1.0, "vectors": 1.0, "clock": 1.0, "redact": 1.0, "citations": 1.0,
    "settings": 1.0, "keys": 1.0,
    "lineage": 1.25, "names": 1.25, "admit": 1.25, "actions": 1.5, "ranking": 1.5, "config": 1.5,
    "distil": 1.75,
    "store": 2.0, "embed": 2.0, "llm": 2.0, "transcripts": 2.0, "clients": 2.0, "transfer": 2.5,
    "engine": 3.0,
    "surfaces": 4.0, "connecting": 4.0, "__init__": 4.5,
    "doors": 5.0,
}  # fmt: skip

LONGEST_FILE = 600
LONGEST_FUNCTION = 58
MOST_PUBLIC_NAMES = 15
SLACK = 0.02
"""A limit may be this much above its figure, as a share of the figure."""
OUTLIVES_ITS_CLIENTS = {"doors/clients.py", "supervision.py"}


@cache
def modules() -> list[Module]:
    """Every file of the source, parsed once for all rules."""
    return read_modules(SOURCE)


@cache
def house_figures() -> dict[str, int]:
    return limited(figures_of(modules(), SOURCE.name))


def place(module: Module, node: ast.AST | None = None) -> str:
    path = module.path.relative_to(SOURCE).as_posix()
    return path if node is None else f"{path}:{getattr(node, 'lineno', 0)}"


def imports(module: Module) -> Iterator[tuple[str, ast.stmt]]:
    """Every module that a file imports from anywhere in it, with the statement."""
    for node in module.nodes:
        if isinstance(node, ast.ImportFrom) and node.module:
            yield node.module, node
        elif isinstance(node, ast.Import):
            yield from ((alias.name, node) for alias in node.names)


def assert_none(offenders: Iterable[str]) -> None:
    found = list(offenders)
    assert not found, "\n" + "\n".join(found)


def test_imports_go_down() -> None:
    assert_none(
        f"{place(module, node)}: {here} (floor {FLOOR[here]}) imports {there} (floor {FLOOR[there]})"
        for module in modules()
        for name, node in imports(module)
        if name.split(".")[0] == "lore"
        for here, there in [(module.package, [*name.split("."), "__init__"][1])]
        if there != here and FLOOR[there] >= FLOOR[here] and here != "lazy"  # for type checkers alone
    )


def test_no_import_hides_inside_a_function() -> None:
    assert_none(
        place(module, node)
        for module in modules()
        for function in module.functions
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    )


def test_every_file_opens_with_its_purpose() -> None:
    assert_none(place(module) for module in modules() if not ast.get_docstring(module.tree))


def test_files_stay_small() -> None:
    lengths = {place(module): len(module.text.splitlines()) for module in modules()}
    assert_none(f"{name} has {length} lines" for name, length in lengths.items() if length > LONGEST_FILE)


def test_functions_stay_small() -> None:
    assert_none(
        f"{place(module, function)}: {function.name} has {length} lines"
        for module in modules()
        for function in module.functions
        if (length := (function.end_lineno or 0) - function.lineno) > LONGEST_FUNCTION
    )


def test_only_one_file_reads_the_environment() -> None:
    reads = re.compile(r"\bos\.(environ|getenv)\b")
    assert [place(module) for module in modules() if reads.search(module.text)] == ["environment.py"]


def test_no_except_clause_catches_every_exception() -> None:
    broad = re.compile(r"except( \(?(Base)?Exception\b|:)")
    assert_none({place(module) for module in modules() if broad.search(module.text)} - OUTLIVES_ITS_CLIENTS)


def test_nothing_imports_the_sqlite_of_the_standard_library() -> None:
    """Two SQLite libraries in one process cancel each other's locks."""
    assert_none(
        place(module, node)
        for module in modules()
        for name, node in imports(module)
        if name.split(".")[0] == "sqlite3"
    )


def test_the_public_names_are_few_and_all_exist() -> None:
    assert len(lore.__all__) <= MOST_PUBLIC_NAMES
    assert [public for public in lore.__all__ if getattr(lore, public, None) is None] == []


def test_both_lock_files_pin_the_same_versions() -> None:
    locked = {
        (package["name"], package["version"])
        for package in tomllib.loads((ROOT / "uv.lock").read_text())["package"]
        if "version" in package
    }
    pinned = re.findall(r"^([\w.-]+)==([^\s;]+)", (ROOT / "requirements.txt").read_text(), re.MULTILINE)
    assert pinned
    assert set(pinned) <= locked


# --- figures that may only shrink (tests/house_limits.toml)
def test_no_figure_of_the_house_is_above_its_limit() -> None:
    limits = read_limits(LIMITS.read_text())
    assert_none(
        f"{name} is {figure}, the limit {limits.get(name, 'is missing')}; make it smaller, or run "
        "`python -m bench.house --limits --reason '...'`"
        for name, figure in house_figures().items()
        if figure > limits.get(name, -1)
    )


def test_every_limit_of_the_house_is_close_to_its_figure() -> None:
    found = house_figures()
    assert_none(
        f"the limit of {name} is {limit}, but the figure is {found.get(name, 'gone')}; lower it by "
        "`python -m bench.house --limits`"
        for name, limit in read_limits(LIMITS.read_text()).items()
        if limit > math.ceil(found.get(name, -1) * (1 + SLACK))
    )


@pytest.mark.parametrize("revision", ["HEAD", "HEAD^"])
def test_a_limit_that_went_up_says_why_in_its_line(revision: str) -> None:
    """Compared with the last commit, and, where nothing is left to commit, with the one before."""
    relative = LIMITS.relative_to(ROOT).as_posix()
    command = ["git", "-C", str(ROOT), "show", f"{revision}:{relative}"]
    shown = subprocess.run(command, capture_output=True, text=True, check=False)
    if shown.returncode:
        pytest.skip(f"there is no {relative} at {revision}")
    text = LIMITS.read_text()
    before, now = read_limits(shown.stdout), read_limits(text)
    lines = {line.partition(" = ")[0].strip('"'): line for line in text.splitlines()}
    assert_none(
        f"{name} went from {before[name]} to {limit} without a reason (# ...) in its line"
        for name, limit in now.items()
        if limit > before.get(name, limit) and "#" not in lines[name]
    )


def test_limits_go_down_freely_and_up_with_a_reason_only() -> None:
    old = 'files = 10\n"sloc of store" = 50  # was 40: a second database\n'
    assert read_limits(limits_text({"files": 9, "sloc of store": 50}, old, "")) == {
        "files": 9,
        "sloc of store": 50,
    }
    assert "# was 40: a second database" in limits_text({"files": 9, "sloc of store": 50}, old, "")
    with pytest.raises(SystemExit, match="--reason is missing; these limits would go up: files"):
        limits_text({"files": 11}, old, "")
    assert "files = 11  # was 10: a codec" in limits_text({"files": 11}, old, "a codec")
