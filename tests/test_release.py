"""What a release publishes has the shape that its readers demand."""

import json
import re
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

from lore.version import VERSION
from scripts.release_artifacts import (
    LIBRARIES,
    PROJECT,
    ROOT,
    check_wheel,
    manifest,
    registry_entry,
    write_bundle,
)


def test_the_bundle_has_a_manifest_and_a_project_that_runs_the_wheel_in_it(tmp_path: Path) -> None:
    wheel = tmp_path / f"agent_lore-{VERSION}-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    write_bundle(tmp_path / "lore.mcpb", wheel)
    with ZipFile(tmp_path / "lore.mcpb") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    written = json.loads(files["manifest.json"])
    assert written == manifest()
    assert (written["manifest_version"], written["version"]) == ("0.4", VERSION)
    assert {"name", "description", "author", "server"} <= set(written)
    assert written["server"]["type"] == "uv"
    assert written["server"]["entry_point"] in files
    program = written["server"]["mcp_config"]["args"][-1]
    assert program in PROJECT["scripts"]
    assert {"search", "store"} <= {tool["name"] for tool in written["tools"]}
    sources = tomllib.loads(files["pyproject.toml"].decode())["tool"]["uv"]["sources"]
    assert files[sources[PROJECT["name"]]["path"]] == b"a wheel"


def test_the_registry_entry_names_a_package_whose_server_has_its_name() -> None:
    entry = registry_entry()
    assert re.fullmatch(r"[A-Za-z0-9.-]+/[A-Za-z0-9._-]+", entry["name"])
    assert 1 <= len(entry["description"]) <= 100
    [package] = entry["packages"]
    assert (entry["version"], package["version"]) == (VERSION, VERSION)
    assert package["transport"] == {"type": "stdio"}
    scripts = PROJECT["scripts"]
    assert scripts[package["identifier"]] == scripts["lore-mcp"]


@pytest.mark.parametrize(
    ("files", "whole"),
    [
        ({}, False),
        ({"imports.json": "{}", "LICENSES.txt": "MIT"}, False),
        ({"imports.json": '{"preact": "preact.js"}', "LICENSES.txt": "MIT"}, False),
        ({"imports.json": '{"preact": "preact.js"}', "preact.js": ""}, False),
        ({"imports.json": '{"preact": "preact.js"}', "preact.js": "", "LICENSES.txt": "MIT"}, True),
    ],
)
def test_a_wheel_without_the_libraries_of_the_explorer_is_not_published(
    tmp_path: Path, files: dict[str, str], whole: bool
) -> None:
    with ZipFile(tmp_path / "lore.whl", "w") as wheel:
        for name, content in files.items():
            wheel.writestr(f"{LIBRARIES}/{name}", content)
    if whole:
        check_wheel(tmp_path / "lore.whl")
        return
    with pytest.raises(SystemExit, match="scripts/vendor/bring"):
        check_wheel(tmp_path / "lore.whl")


def test_the_lock_of_the_libraries_names_no_registry_and_pins_every_package() -> None:
    lock = json.loads((ROOT / "scripts/vendor/package-lock.json").read_text(encoding="utf-8"))
    packages = {name: one for name, one in lock["packages"].items() if name}
    assert packages
    assert [name for name, one in packages.items() if "resolved" in one or "integrity" not in one] == []
    wanted = json.loads((ROOT / "scripts/vendor/package.json").read_text(encoding="utf-8"))
    versions = (wanted["dependencies"] | wanted["devDependencies"]).values()
    assert [version for version in versions if not re.fullmatch(r"\d+\.\d+\.\d+", version)] == []
