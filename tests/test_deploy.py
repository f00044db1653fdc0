"""The files in deploy/ are valid, name things that exist, and their commands do what they are for."""

import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from lore.config import VARIABLES, load
from lore.doors.cli import COMMANDS
from scripts.try_dockerfile import COMPOSE, DOCKERFILE, steps_of
from tests.doors.resident import until

ROOT = Path(__file__).parent.parent
UNIT = ROOT / "deploy" / "lore-server.service"
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
HADOLINT = shutil.which("hadolint", path=PATH) or ""
NOT_OURS = {
    "ANTHROPIC_API_KEY", "MALLOC_ARENA_MAX", "OPENBLAS_NUM_THREADS", "PGPASSWORD", "PYTHONUNBUFFERED", "PATH"
}  # fmt: skip
SECONDS = 60.0
STEPS = steps_of(DOCKERFILE.read_text())
SERVICES: dict[str, Any] = yaml.safe_load(COMPOSE.read_text())["services"]
SHARED_COMPOSE = COMPOSE.with_name("compose.postgres.yaml")
SHARED_SERVICES: dict[str, Any] = yaml.safe_load(SHARED_COMPOSE.read_text())["services"]


def run(*command: str, **more: Any) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=SECONDS, **more)


@pytest.mark.skipif(not HADOLINT, reason="there is no hadolint for this platform")
def test_the_dockerfile_passes_its_linter() -> None:
    done = run(HADOLINT, str(DOCKERFILE))
    assert (done.returncode, done.stdout) == (0, "")


def test_the_compose_files_fit_the_schema_of_compose() -> None:
    check = (sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.compose-spec")
    done = run(*check, str(COMPOSE), str(SHARED_COMPOSE))
    assert done.returncode == 0, done.stdout


def test_servers_that_share_a_database_leave_the_work_to_a_worker() -> None:
    assert SHARED_SERVICES["first-token"]["command"] == SERVICES["first-token"]["command"]
    assert "--extra postgres" in next(step.text for step in STEPS if "--no-editable" in step.text)
    given = {
        name: str(value).replace("${POSTGRES_PASSWORD:?set it in deploy/.env}", "")
        for name, value in SHARED_SERVICES["lore"]["environment"].items()
        if value and name in VARIABLES
    }
    config = load({**given, "LORE_DATA_DIR": "/data"})
    assert (config.upkeep, config.location) == (False, "postgresql://lore@postgres/lore")
    [name, command] = SHARED_SERVICES["worker"]["command"]
    assert (name, command in COMMANDS) == ("lore", True)


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="there is no systemd here")
def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/lore/bin/lore-server", sys.executable))
    done = run("systemd-analyze", "verify", str(unit))
    assert (done.returncode, done.stderr) == (0, "")


def test_everything_that_the_files_name_exists() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    scripts = project["project"]["scripts"]
    [start] = re.findall(r"^ExecStart=/opt/lore/bin/(\S+)", UNIT.read_text(), re.M)
    assert {start, command_of("CMD")[0]} <= scripts.keys()
    allowed = (ROOT / "deploy" / "Dockerfile.dockerignore").read_text().splitlines()
    copies = [step.text.split()[:-1] for step in STEPS if step.name == "COPY" and "--from" not in step.text]
    copied = {source for sources in copies for source in sources}
    for source in copied:
        assert (ROOT / source).exists()
        assert f"!{source}" in allowed
    for path in project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]:
        assert not copied.isdisjoint({path, *map(str, Path(path).parents)}), f"the wheel needs {path}"


def test_the_files_set_only_variables_that_lore_knows() -> None:
    names = {*SERVICES["lore"]["environment"], *SHARED_SERVICES["lore"]["environment"]}
    for line in [step.text for step in STEPS if step.name == "ENV"][-1:]:
        names |= {word.partition("=")[0] for word in line.split()}
    for line in re.findall(r"^Environment=(.*)", UNIT.read_text(), re.M):
        names |= {word.partition("=")[0] for word in shlex.split(line)}
    assert names - NOT_OURS <= VARIABLES.keys()


def test_a_fresh_container_makes_one_token_and_becomes_healthy(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    env = {
        "PATH": PATH,
        "LORE_DATA_DIR": str(tmp_path),
        "LORE_EMBEDDING_MODEL": "hash",
    }

    def here(command: list[str]) -> list[str]:
        """With a folder and a port of this test, which a container has to itself."""
        return [
            word.replace("$$", "$").replace("/data/", f"{tmp_path}/").replace("8080", str(port))
            for word in command
        ]

    tokens = []
    for _ in range(2):
        done = run(*here(SERVICES["first-token"]["command"]), env=env)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        tokens.append((tmp_path / "first-token").read_text())
    assert tokens[0].startswith("lore_")
    assert tokens[0] == tokens[1]
    assert (tmp_path / "first-token").stat().st_mode & 0o077 == 0
    with running(here(command_of("CMD")), env) as server:
        assert server.stdout
        assert f":{port}" in server.stdout.readline()
        until(lambda: run(*here(command_of("HEALTHCHECK")), env=env).returncode == 0)
        server.send_signal(signal.SIGTERM)
        assert server.wait(SECONDS) == 0


def command_of(name: str) -> list[str]:
    [command] = [step.command() for step in STEPS if step.name == name]
    return command


@contextmanager
def running(command: list[str], env: dict[str, str]) -> Iterator["subprocess.Popen[str]"]:
    said, log = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, env=env, stdout=said, stderr=log, text=True) as process:
        try:
            yield process
        finally:
            process.kill()
