"""Count the files, functions, lines and SQL statements that one search and one store run.

python -m bench.house --walk [--functions] [--json FILE]

A small store is filled through the default surface; one search and one store warm it up; then one of each
is traced. The bench counts the functions of the package that run in the calling thread, the code lines of
these functions, and the SQL statements that the thread executes. The "core" is the way from the surface's
tool to the ranking and back: surfaces, engine and store, without the pure rules that they call.
"""

import json
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import apsw

from bench.house import Function, Module, read_modules
from lore import Lore
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.surfaces import SURFACES

SURFACE = "tree"
CORE = {"surfaces", "engine", "store"}
TOPICS = ("The ferry", "The lighthouse", "The harbour office", "The tide table", "The weather station")
COLUMNS = ("files", "functions", "lines", "statements")
FACTS = ("opens at {} in the morning.", "is painted every {} years.", "has {} windows to the west.")
WALKS: dict[str, dict[str, Any]] = {
    "search": {"query": "When does the lighthouse open?"},
    "store": {"content": "The lighthouse has closed its doors to visitors since the storm."},
}
WARM_UP: dict[str, dict[str, Any]] = {
    "search": {"query": "How many windows has the ferry?"},
    "store": {"content": "The ferry has a new captain from the north."},
}


@dataclass
class Walk:
    """What one call ran."""

    functions: set[CodeType] = field(default_factory=set)
    statements: list[str] = field(default_factory=list)


def walks() -> dict[str, Walk]:
    """One search and one store on a small store that is warm."""
    with tempfile.TemporaryDirectory() as folder, _statements() as watch:
        config = Config(data_dir=Path(folder), embedding_model="hash")
        with closing(wire(config, embedder=HashEmbedder())) as lore:
            for topic in TOPICS:
                for number, fact in enumerate(FACTS):
                    _call(lore, "store", {"content": f"{topic} {fact.format(number + 2)}"})
            for tool, arguments in WARM_UP.items():
                _call(lore, tool, arguments)
            found = {}
            for tool, arguments in WALKS.items():
                walk = found[tool] = Walk()
                watch(walk.statements)
                sys.setprofile(_profile_into(walk.functions))
                try:
                    _call(lore, tool, arguments)
                finally:
                    sys.setprofile(None)
                    watch([])
    return found


def _call(lore: Lore, tool: str, arguments: dict[str, Any]) -> None:
    SURFACES[SURFACE].tools[tool](lore, arguments)


def _profile_into(functions: set[CodeType]) -> Callable[[FrameType, str, object], None]:
    def profile(frame: FrameType, event: str, argument: object) -> None:
        if event == "call":
            functions.add(frame.f_code)

    return profile


@contextmanager
def _statements() -> Iterator[Callable[[list[str]], None]]:
    """Statements of this thread, on every connection that is opened meanwhile, go to the list that the
    yielded function was last called with."""
    here, current = threading.get_ident(), [list[str]()]

    def trace(cursor: apsw.Cursor, statement: str, bindings: object) -> bool:
        if threading.get_ident() == here:
            current[0].append(statement)
        return True

    def hook(connection: apsw.Connection) -> None:
        connection.exec_trace = trace

    def watch(statements: list[str]) -> None:
        current[0] = statements

    apsw.connection_hooks.append(hook)
    try:
        yield watch
    finally:
        apsw.connection_hooks.remove(hook)


def counted(walk: Walk, modules: list[Module]) -> dict[str, int]:
    """Files, functions, lines and statements of a walk. Lambdas and comprehensions are part of the function
    around them."""
    starts = {
        (str(module.path), _first_line(function)): (module, function)
        for module in modules
        for function in module.functions
    }
    places = {(code.co_filename, code.co_firstlineno) for code in walk.functions}
    ran = [starts[place] for place in places & starts.keys()]
    lines = {
        (module.path, line)
        for module, function in ran
        for line in module.code_lines
        if function.lineno <= line <= (function.end_lineno or 0)
    }
    return {
        "files": len({module.path for module, _ in ran}),
        "functions": len(ran),
        "lines": len(lines),
        "statements": len(walk.statements),
    }


def _first_line(function: Function) -> int:
    """The line at which the compiler sees the function begin: that of its first decorator."""
    return min([function.lineno, *(one.lineno for one in function.decorator_list)])


def show(source: Path, detailed: bool, report: Path | None) -> None:
    """Print the table, and with `detailed` each function and statement."""
    modules = read_modules(source)
    core = [module for module in modules if module.package in CORE]
    found, figures = walks(), {}
    for name, walk in found.items():
        figures[f"{name}, core"] = counted(walk, core)
        figures[f"{name}, all"] = counted(walk, modules)
    print(f"{'':<14}" + "".join(f"{column:>12}" for column in COLUMNS))
    for name, row in figures.items():
        print(f"{name:<14}" + "".join(f"{row[column]:>12}" for column in COLUMNS))
    if detailed:
        for name, walk in found.items():
            _show_details(name, walk, source)
    if report:
        report.write_text(json.dumps(figures, indent=2) + "\n")


def _show_details(name: str, walk: Walk, source: Path) -> None:
    functions: dict[str, list[str]] = {}
    for code in walk.functions:
        if code.co_filename.startswith(str(source)) and not code.co_name.startswith("<"):
            path = str(Path(code.co_filename).relative_to(source))
            functions.setdefault(path, []).append(code.co_qualname)
    print(f"\n{name}")
    for path, names in sorted(functions.items()):
        print(f"  {path}: {', '.join(sorted(names))}")
    for statement in walk.statements:
        print("   ", " ".join(statement.split())[:150])
