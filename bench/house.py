"""Size and shape of the source: the figures that keep it small.

python -m bench.house [--source DIR] [--json FILE]   # the figures
python -m bench.house --limits [--reason TEXT]       # write them to tests/house_limits.toml
python -m bench.house --walk [--functions]           # the code that one search and one store run

All figures come from the syntax trees below `--source` (src/lore unless given); each file is parsed once.
SLOC counts lines that hold code: no comments, docstrings or blank lines. Import depth is the number of
modules in the longest chain of imports inside the package; imports for type checkers alone do not count,
and a cycle is an error. A hidden import is `import_module("lore…")` with the name written out; a computed
import is one of a name that is not written out, or a string "lore…:attribute". The table of lazy imports,
`lore.lazy`, holds neither.

The architecture test fails when a figure is above its limit, and when a limit is more than 2 % above its
figure. `--limits` lowers limits freely and needs a reason to raise one; the reason stays in the line.
"""

import argparse
import ast
import io
import json
import re
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import TopologicalSorter
from importlib import import_module
from pathlib import Path
from typing import TypeGuard

SOURCE = Path(__file__).parent.parent / "src" / "lore"
LIMITS = Path(__file__).parent.parent / "tests" / "house_limits.toml"
LAZY_TABLE = "lazy"
SMALL_FILE_SLOC = 40
MOST_PARAMETERS = 5
VAGUE_NAMES = frozenset({"told", "known", "said", "asked"})
CONTRACT = "store"
MENU = {"engine": "Lore", "engine.graph_verbs": "GraphVerbs", "engine.file_verbs": "FileVerbs"}

Function = ast.FunctionDef | ast.AsyncFunctionDef
_NO_CODE = frozenset({tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT})


@dataclass(frozen=True)
class Module:
    """One source file; `name` is its dotted name below the package ("" for the package itself)."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @property
    def package(self) -> str:
        """The folder or file directly below the root that holds the module."""
        return self.name.partition(".")[0] or "__init__"

    @property
    def folder(self) -> str:
        """The folder directly below the root; files of the root itself count as "lore"."""
        in_root = "." not in self.name and (self.path.stem != "__init__" or not self.name)
        return "lore" if in_root else self.package

    @property
    def sloc(self) -> int:
        return len(self.code_lines)

    @cached_property
    def code_lines(self) -> set[int]:
        """Lines with at least one token of code outside docstrings."""
        lines: set[int] = set()
        for token in tokenize.generate_tokens(io.StringIO(self.text).readline):
            if token.type not in _NO_CODE and token.string:
                lines.update(range(token.start[0], token.end[0] + 1))
        return lines - self._docstring_lines()

    @property
    def functions(self) -> Iterator[Function]:
        return (node for node in self.nodes if isinstance(node, Function))

    def methods(self, class_name: str | None = None) -> Iterator[Function]:
        """Methods of one class of the module, or of all of them."""
        for node in self.tree.body:
            if isinstance(node, ast.ClassDef) and class_name in (None, node.name):
                yield from (item for item in node.body if isinstance(item, Function))

    def _docstring_lines(self) -> set[int]:
        """Lines of all strings that stand alone as a statement."""
        return {
            line
            for node in self.nodes
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if isinstance(node.value.value, str)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }


def read_modules(source: Path) -> list[Module]:
    modules = []
    for path in sorted(source.rglob("*.py")):
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        text = path.read_text()
        modules.append(Module(name, path, text, ast.parse(text)))
    return modules


def imported_names(module: Module, package: str) -> Iterator[str]:
    """Dotted names below the package that the module imports at load: `a.b` of `from a import b`."""
    type_checking = {
        id(node)
        for branch in module.nodes
        if isinstance(branch, ast.If) and "TYPE_CHECKING" in ast.unparse(branch.test)
        for statement in branch.body
        for node in ast.walk(statement)
    }
    for node in module.nodes:
        if id(node) in type_checking:
            continue
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            found = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name.removeprefix(f"{package}.") for name in found if name.startswith(f"{package}."))


def import_depth(modules: list[Module], package: str) -> int:
    """Modules in the longest chain of imports."""
    names = {module.name for module in modules}
    imports = {
        module.name: {
            name if name in names else name.rpartition(".")[0] for name in imported_names(module, package)
        }
        & names
        for module in modules
    }
    depths: dict[str, int] = {}
    for name in TopologicalSorter(imports).static_order():
        depths[name] = 1 + max((depths[below] for below in imports[name]), default=0)
    return max(depths.values(), default=0)


def parameter_count(function: Function) -> int:
    """Parameters without `self` and `cls`; none for a tool, whose signature is its published schema."""
    if any(ast.unparse(decorator).split("(")[0].endswith(".tool") for decorator in function.decorator_list):
        return 0
    arguments = function.args
    names = [one.arg for one in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    return len(names) - (names[:1] in (["self"], ["cls"]))


def is_hidden_import(node: ast.AST, package: str) -> bool:
    """Is it `import_module` of one of our own modules, by name?"""
    if not _is_import_by_string(node):
        return False
    [name] = node.args[:1]
    return isinstance(name, ast.Constant) and str(name.value).startswith(package)


def is_computed_import(node: ast.AST, package: str) -> bool:
    """Is it `import_module` of a name that is not written out, or a string such as "lore.store:open"?"""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.fullmatch(rf"{package}(\.\w+)*:\w+", node.value) is not None
    return _is_import_by_string(node) and not isinstance(node.args[0], ast.Constant)


def _is_import_by_string(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and bool(node.args) and ast.unparse(node.func).endswith("import_module")


def named(node: ast.AST) -> str | None:
    """The name that a node reads, writes, declares or looks up."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.arg | ast.keyword):
        return node.arg
    return node.name if isinstance(node, Function) else None


def figures(source: Path) -> dict[str, int | Mapping[str, int]]:
    """All figures of the package in `source`."""
    return figures_of(read_modules(source), source.name)


def figures_of(modules: list[Module], package: str) -> dict[str, int | Mapping[str, int]]:
    """All figures of a package whose files have been read."""
    nodes = [node for module in modules for node in module.nodes]
    eager = [node for module in modules if module.name != LAZY_TABLE for node in module.nodes]
    contract = [one for module in modules if module.name == CONTRACT for one in module.methods()]
    menu = [one for module in modules if module.name in MENU for one in module.methods(MENU[module.name])]
    functions = [one for module in modules for one in module.functions]
    basenames = Counter(module.path.stem for module in modules if module.path.stem != "__init__")
    words = Counter(name for node in nodes if (name := named(node)) in VAGUE_NAMES)
    packages: Counter[str] = Counter()
    for module in modules:
        packages[module.folder] += module.sloc
    return {
        "sloc": packages.total(),
        "files": len(modules),
        "files_under_40_sloc": sum(module.sloc < SMALL_FILE_SLOC for module in modules),
        "import_depth": import_depth(modules, package),
        "contract_methods": sum("abstractmethod" in map(ast.unparse, one.decorator_list) for one in contract),
        "menu_methods": sum(not one.name.startswith("_") for one in menu),
        "functions_over_5_parameters": sum(parameter_count(one) > MOST_PARAMETERS for one in functions),
        "most_parameters": max(map(parameter_count, functions), default=0),
        "hidden_imports": sum(is_hidden_import(node, package) for node in eager),
        "computed_imports": sum(is_computed_import(node, package) for node in eager),
        **{f"names_{word}": words[word] for word in sorted(VAGUE_NAMES)},
        "repeated_basenames": {name: count for name, count in sorted(basenames.items()) if count > 1},
        "sloc_by_package": dict(sorted(packages.items())),
    }


def limited(figures: Mapping[str, int | Mapping[str, int]]) -> dict[str, int]:
    """The figures that have a limit; those of a package are called "sloc of NAME"."""
    by_package = figures["sloc_by_package"]
    assert isinstance(by_package, Mapping)
    plain = {name: value for name, value in figures.items() if isinstance(value, int)}
    return plain | {f"sloc of {name}": sloc for name, sloc in by_package.items()}


def read_limits(text: str) -> dict[str, int]:
    limits: dict[str, int] = tomllib.loads(text)
    return limits


def limits_text(found: Mapping[str, int], old_text: str, reason: str) -> str:
    """The file of limits for these figures. A limit that goes up gets the reason at the end of its line;
    reasons of limits that stay are kept."""
    old = read_limits(old_text)
    old_lines = {line.partition(" = ")[0].strip('"'): line for line in old_text.splitlines()}
    raised = [name for name, value in found.items() if value > old.get(name, value)]
    if raised and not reason:
        raise SystemExit("--reason is missing; these limits would go up: " + ", ".join(raised))
    lines = [
        "# Upper limits of the figures that `python -m bench.house` prints. They may only shrink.",
        "# `python -m bench.house --limits` lowers them; with --reason it also raises them.",
    ]
    for name, value in found.items():
        if old.get(name) == value:
            lines.append(old_lines[name])
        else:
            because = f"  # was {old[name]}: {reason}" if name in raised else ""
            lines.append(f"{json.dumps(name) if ' ' in name else name} = {value}{because}")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--source", type=Path, default=SOURCE, help="folder of the package")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here as well")
    parser.add_argument("--limits", action="store_true", help="write the figures as limits of the test")
    parser.add_argument("--reason", default="", help="why a limit goes up")
    parser.add_argument("--walk", action="store_true", help="count what one search and one store run")
    parser.add_argument("--functions", action="store_true", help="with --walk: list functions and statements")
    options = parser.parse_args()
    if options.walk:
        walk = import_module("bench.walk")  # needs lore itself, which counting does not
        walk.show(options.source.resolve(), options.functions, options.json)
        return
    shown = figures(options.source.resolve())
    if options.limits:
        old_text = LIMITS.read_text() if LIMITS.exists() else ""
        LIMITS.write_text(limits_text(limited(shown), old_text, options.reason))
    for name, value in shown.items():
        detail = ""
        if isinstance(value, Mapping):
            detail, value = ", ".join(f"{key} {count}" for key, count in value.items()), len(value)
        print(f"{name.replace('_', ' '):<28}{value:>7}  {detail}".rstrip())
    if options.json:
        options.json.write_text(json.dumps(shown, indent=2) + "\n")


if __name__ == "__main__":
    main()
