"""What a release publishes has the shape that its readers demand."""

import json
import re
import tomllib
from pathlib import Path
from zipfile import ZipFile

from lore.version import VERSION
from scripts.release_artifacts import PROJECT, manifest, registry_entry, write_bundle


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
