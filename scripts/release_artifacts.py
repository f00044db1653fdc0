"""Write the bundle for Claude Desktop and the entry for the MCP registry beside a wheel:
python -m scripts.release_artifacts FOLDER (`make release-artifacts` builds the wheel first)
"""

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from lore.surfaces import SURFACES
from lore.version import VERSION

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TITLE = "Lore"
SURFACE = "tree"
"""The surface that agents get unless they choose."""
SERVER_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
DATE = (1980, 1, 1, 0, 0, 0)
"""Of every file in the bundle, so that the same wheel gives the same bundle."""
LIBRARIES = "lore/doors/http/explorer_static/vendor"
"""Where a wheel has the libraries of the explorer."""
ENTRY_POINT = "server.py"
SERVER = (
    '"""Serve an agent over MCP."""\n\nimport sys\n\nfrom lore.doors.relay import main\n\nsys.exit(main())\n'
)


def main() -> None:
    folder = Path(sys.argv[1])
    [wheel] = folder.glob("*.whl")
    check_wheel(wheel)
    write_bundle(folder / f"lore-{VERSION}.mcpb", wheel)
    (folder / "server.json").write_text(_json(registry_entry()), encoding="utf-8")
    for path in sorted(folder.iterdir()):
        print(f"{path}  {path.stat().st_size:,} bytes")


def check_wheel(wheel: Path) -> None:
    """SystemExit if the wheel lacks a library of the explorer, or their licences."""
    with ZipFile(wheel) as archive:
        names = set(archive.namelist())
        imports = (
            json.loads(archive.read(f"{LIBRARIES}/imports.json"))
            if f"{LIBRARIES}/imports.json" in names
            else {}
        )
    wanted = {f"{LIBRARIES}/{name}" for name in (*imports.values(), "LICENSES.txt")}
    if not imports or wanted - names:
        raise SystemExit(f"{wheel.name} lacks libraries of the explorer: run scripts/vendor/bring first")


def registry_name() -> str:
    """Lore's name in the MCP registry; the README proves that the package is meant by it."""
    [name] = re.findall(r"<!-- mcp-name: (\S+) -->", (ROOT / "README.md").read_text(encoding="utf-8"))
    return str(name)


def registry_entry() -> dict[str, Any]:
    """server.json of the MCP registry: the package, whose script of the same name is the server."""
    package = {
        "registryType": "pypi",
        "identifier": PROJECT["name"],
        "version": VERSION,
        "runtimeHint": "uvx",
        "transport": {"type": "stdio"},
    }
    return {
        "$schema": SERVER_SCHEMA,
        "name": registry_name(),
        "title": TITLE,
        "description": PROJECT["description"],
        "version": VERSION,
        "packages": [package],
    }


def manifest() -> dict[str, Any]:
    """manifest.json of the bundle: uv sets up an environment and runs `lore-mcp` in it."""
    run = {"command": "uv", "args": ["run", "--directory", "${__dirname}", "lore-mcp"], "env": {}}
    tools = SURFACES[SURFACE].tools.values()
    return {
        "manifest_version": "0.4",
        "name": "lore",
        "display_name": TITLE,
        "version": VERSION,
        "description": PROJECT["description"],
        "author": {"name": "The Lore authors"},
        "license": PROJECT["license"],
        "keywords": PROJECT["keywords"],
        "server": {"type": "uv", "entry_point": ENTRY_POINT, "mcp_config": run},
        "tools": [{"name": tool.name, "description": tool.title} for tool in tools],
        "compatibility": {
            "platforms": ["darwin", "linux", "win32"],
            "runtimes": {"python": PROJECT["requires-python"]},
        },
    }


def bundle_project(wheel: str) -> str:
    """pyproject.toml of the bundle: the wheel in it, and nothing else."""
    return (
        f'[project]\nname = "lore-bundle"\nversion = "{VERSION}"\n'
        f'requires-python = "{PROJECT["requires-python"]}"\ndependencies = ["{PROJECT["name"]}"]\n\n'
        f'[tool.uv]\npackage = false\n\n[tool.uv.sources]\n{PROJECT["name"]} = {{ path = "{wheel}" }}\n'
    )


def write_bundle(path: Path, wheel: Path) -> None:
    """The bundle: an archive of the manifest and all that uv needs."""
    files = {
        "manifest.json": _json(manifest()).encode(),
        "pyproject.toml": bundle_project(wheel.name).encode(),
        ENTRY_POINT: SERVER.encode(),
        wheel.name: wheel.read_bytes(),
    }
    with ZipFile(path, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(ZipInfo(name, DATE), content, ZIP_DEFLATED)


def _json(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    main()
