"""The README works as it is written: every command and every snippet, in order, from an empty home."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest

from lore.clients.table import CLIENTS as TABLE
from lore.doors.cli import cli
from lore.doors.guide import INSTALLERS

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
CLIENTS = ROOT / "docs" / "clients.md"
OPERATIONS = ROOT / "docs" / "operations.md"
AGENT_LOOP = ROOT / "docs" / "agent-loop.md"
SECONDS = 180
SET_UP = ["make run", "make test", INSTALLERS["uv"]]
"""The first block, which is not run as it stands: `make test` runs this test, tests/doors/test_sample.py has
what `make run` serves, and the fixture `home` installs the same wheel by pip without its dependencies, which
the environment of the tests has already."""
CONNECTS = {"claude": "--", "codex": "--", "gemini": "lore"}
"""Program with a command of its own for servers -> the last word before the server's command."""
SAYS = {  # command -> a part of what it prints
    'lore remember "Deploys happen on Mondays" --type decision': "Remembered",
    'lore search "when do we release?"': "Deploys happen on Mondays",
    "lore status": "memories",
    'lore search "where does the lead of the payments team sit?" --deep': "Porto",
    'lore search "when do we release?" --why': "similar meaning",
    "lore setup": "",
    "lore install claude-code": "Claude Code",
    "lore roots": "Ines leads the payments team",
    "lore brief": "Deploys happen on Mondays",
    "lore ingest": "Read 0 transcripts",
    "lore sessions": "No conversation was read yet",
    "lore backup": "Copied",
    "lore consolidate --dry-run": "Nothing was changed",
    "lore consolidate": "Consolidated",
    "lore staged": "Nothing waits",
}


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """Its lines without comments."""
        return [re.sub(r"\s+#.*", "", line) for line in self.text.splitlines() if line.strip()]


class Home(NamedTuple):
    """An empty home with Lore on its path."""

    folder: Path
    env: dict[str, str]

    def run(self, command: str, **more: Any) -> subprocess.CompletedProcess[str]:
        """Run a line in a shell, as a person would."""
        call = ["bash", "-c", command]
        return subprocess.run(
            call, env=self.env, cwd=self.folder, capture_output=True, text=True, timeout=SECONDS, **more
        )

    def read(self, name: str) -> str:
        """The text of a file in this home."""
        return (self.folder / name).read_text()

    def which(self, program: str) -> str | None:
        """Where a program is on the path of this home."""
        return shutil.which(program, path=self.env["PATH"])


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in re.findall(r"^```(\w+)\n(.*?)^```", page.read_text(), re.M | re.S)]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    """A home in which only Lore was installed, as a wheel in an environment of its own."""
    environment = tmp_path_factory.mktemp("tool")
    venv = [sys.executable, "-m", "venv", "--without-pip", str(environment)]
    subprocess.run(venv, check=True, timeout=SECONDS)
    python = environment / "bin" / "python"
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    packages = subprocess.run([python, "-c", ask], check=True, capture_output=True, text=True).stdout.strip()
    ours = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    Path(packages, "dependencies.pth").write_text("\n".join(sorted(ours)))
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    options = ["--disable-pip-version-check", "--no-deps", str(ROOT)]
    subprocess.run([*pip, *options], check=True, timeout=SECONDS, env={**os.environ, "PYTHONPATH": ""})
    folder = tmp_path_factory.mktemp("home")
    path = os.pathsep.join([str(environment / "bin"), os.environ["PATH"]])
    home = Home(folder, {"HOME": str(folder), "PATH": path, "LANG": "C.UTF-8"})
    yield home
    home.run("lore stop")


def test_everything_in_the_readme_works_from_an_empty_home(home: Home) -> None:
    assert blocks(README)[0].commands == SET_UP
    for block in blocks(README)[1:]:
        if block.language == "console":
            for command in block.commands:
                assert SAYS.get(command, "") in succeeded(home.run(command)), command
        elif block.language == "python":
            assert "The deploy key lives in the vault." in succeeded(home.run("python -", input=block.text))
    settings = Block("json", json.dumps({"mcpServers": json.loads(home.read(".claude.json"))["mcpServers"]}))
    assert {"search", "store"} <= tools_of(home, server_of(settings))
    assert str(ROOT) not in succeeded(home.run("python -c 'import lore; print(lore.__file__)'"))


def test_the_agent_of_the_page_answers_from_its_memory(tmp_path: Path) -> None:
    [code] = [block.text for block in blocks(AGENT_LOOP) if block.language == "python"]
    env = {**os.environ, "LORE_EMBEDDING_MODEL": "hash", "LORE_DATA_DIR": str(tmp_path)}
    call = [sys.executable, "-c", code]
    done = subprocess.run(call, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=SECONDS)
    assert succeeded(done) == "['I do not know.']\n['In Porto.']\n"


def test_the_readme_has_every_command_that_its_test_knows() -> None:
    commands = {line for block in blocks(README) if block.language == "console" for line in block.commands}
    assert set(SAYS) <= commands


def test_the_page_on_clients_has_every_client_and_how_to_do_it_by_hand() -> None:
    assert [shlex.split(line)[0] for line in connecting_commands(CLIENTS)] == list(CONNECTS)
    servers = [server_of(block) for block in blocks(CLIENTS) if block.language in ("json", "toml")]
    servers += map(server_of_command, connecting_commands(CLIENTS))
    assert all(server == ["lore-mcp"] for server in servers)
    keys = {key for block in blocks(CLIENTS) if block.language == "json" for key in json.loads(block.text)}
    assert keys == {str(client.key[0]) for client in TABLE.values() if client.name != "codex"}
    [codex] = [block.text for block in blocks(CLIENTS) if block.language == "toml"]
    assert tomllib.loads(codex) == {"mcp_servers": {"lore": {"command": "lore-mcp"}}}
    rows = re.findall(r"^\| ([^|]+) \| `([\w-]+)` \| (.*)$", CLIENTS.read_text(), re.M)
    assert {(title, name) for title, name, _ in rows} == {
        (client.title, client.name) for client in TABLE.values()
    }
    assert all(TABLE[name].servers[0].rpartition("/")[2] in files for _, name, files in rows)


@pytest.mark.parametrize(
    "page",
    [README, CLIENTS, ROOT / "docs" / "operations.md", ROOT / "docs" / "access.md"],
    ids=lambda page: page.name,
)
def test_every_command_in_running_text_exists_with_its_options(page: Path) -> None:
    spans = re.findall(r"`(lore [^`]+)`", re.sub(r"^```.*?^```", "", page.read_text(), flags=re.M | re.S))
    assert len(spans) >= 1
    for span in spans:
        check(span.replace("[", " ").replace("]", " "))


# --- helpers
def succeeded(done: subprocess.CompletedProcess[str]) -> str:
    """What a command printed; it must have ended well."""
    assert done.returncode == 0, f"{done.args}\n{done.stdout}{done.stderr}"
    return done.stdout + done.stderr


def connecting_commands(page: Path) -> list[str]:
    """The lines that tell a client of Lore by the client's own command."""
    return re.findall(rf"^(?:{'|'.join(CONNECTS)}) mcp add .*$", page.read_text(), re.M)


def server_of_command(line: str) -> list[str]:
    words = shlex.split(line)
    return words[words.index(CONNECTS[words[0]]) + 1 :]


def server_of(block: Block) -> list[str]:
    """The call that a configuration describes, whatever its key is."""
    document = json.loads(block.text) if block.language == "json" else tomllib.loads(block.text)
    [servers] = document.values()
    command = servers["lore"]["command"]
    return command if isinstance(command, list) else [command, *servers["lore"].get("args", [])]


def tools_of(home: Home, server: list[str]) -> set[str]:
    """The names of the tools that a server lists to a client which has just connected."""
    program = home.which(server[0])
    assert program is not None, f"{server[0]} is not on the path"
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}}
    messages: list[dict[str, object]] = [
        {"id": 1, "method": "initialize", "params": hello | {"clientInfo": {"name": "test", "version": "0"}}},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/list"},
    ]
    pipe = subprocess.PIPE
    call = [program, *server[1:]]
    with subprocess.Popen(call, env=home.env, cwd=home.folder, text=True, stdin=pipe, stdout=pipe) as process:
        assert process.stdin
        assert process.stdout
        for message in messages:
            process.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
        process.stdin.flush()
        replies = (json.loads(line) for line in process.stdout)
        listed = next(reply for reply in replies if reply.get("id") == 2)
        process.stdin.close()
    return {tool["name"] for tool in listed["result"]["tools"]}


def check(span: str) -> None:
    """Fail unless the command of a span exists and has the options that the span names."""
    command: click.Command = cli
    known = {name for param in cli.params for name in param.opts} | {"--help", "--version"}
    for word in span.split()[1:]:
        if isinstance(command, click.Group) and not word.startswith("-"):
            found = command.get_command(click.Context(command), word.rstrip(",;."))
            if found is None:
                assert command is cli, f"`{span}`: no command {word}"
                continue
            command = found
            known |= {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
        elif word.startswith("-") and len(word) > 1:
            assert word.rstrip(",;.") in known, f"`{span}`: no option {word}"
