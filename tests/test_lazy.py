"""The table of modules that are imported when first used."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from lore import lazy


def test_type_checkers_and_the_running_program_see_the_same_modules() -> None:
    assert lazy.__file__
    declared = {
        alias.asname: alias.name
        for node in ast.walk(ast.parse(Path(lazy.__file__).read_text()))
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    assert declared == vars(lazy)["MODULES"]


def test_a_name_gives_its_module_and_an_unknown_name_is_an_error() -> None:
    assert lazy.config is import_module("lore.config")
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        getattr(lazy, "nonsense")  # noqa: B009 (type checkers know that it is not there)
    assert lazy.load("lore.config:Config") is lazy.config.Config


def test_a_daemon_loads_mcp_and_the_surfaces_only_when_an_agent_connects() -> None:
    """They take longer to load than everything else, and commands of a person need neither."""
    heavy = {"mcp", "mcp_types", "pydantic", "lore.surfaces", "onnxruntime", "starlette", "uvicorn"}
    code = f"import sys, lore.doors.daemon; print({heavy!r} & set(sys.modules))"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "set()"
