"""Perform the steps of deploy/Dockerfile without Docker, then run the image's command as a container would.

python -m scripts.try_dockerfile [--python /opt/python3.13/bin/python3.13]

The base image is this machine as seen through an overlay: every step writes to a folder of its own, and the
machine does not change. Then, as deploy/compose.yaml says, the first token is made and the server runs as the
image's user, without capabilities, on a read-only root with /data as the only place to write. It must become
healthy, keep a memory over a kill, and end on SIGTERM. Needs Linux and root. --python: the interpreter that
stands for the base image's.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import yaml

ROOT = Path(__file__).parent.parent
DOCKERFILE = ROOT / "deploy" / "Dockerfile"
COMPOSE = ROOT / "deploy" / "compose.yaml"
PASSED_ON = ("PIP_", "SSL_", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")
"""Variables of this machine that steps need to reach the package index."""
HEALTHY_SECONDS = 120.0
STOP_SECONDS = 60.0
LOOK_EVERY_SECONDS = 0.2
MEMORY = "The harbour office opens at seven."


class Step(NamedTuple):
    """One instruction of a Dockerfile, its continued lines joined."""

    name: str
    text: str

    def command(self) -> list[str]:
        """The JSON list at its end."""
        words = json.loads(self.text[self.text.index("[") :])
        return [str(word) for word in words]


def steps_of(dockerfile: str) -> list[Step]:
    """The instructions of a Dockerfile, in order."""
    lines = [line for line in dockerfile.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [Step(*line.split(maxsplit=1)) for line in joined.splitlines()]


@dataclass
class Stage:
    """A file system that begins as this machine's, and the settings of an image. changes: what it wrote."""

    folder: Path
    env: dict[str, str]
    user: str = "0:0"
    workdir: str = "/"
    healthcheck: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.root, self.changes, work = (self.folder / name for name in ("root", "changes", "work"))
        for one in (self.root, self.changes, work):
            one.mkdir(parents=True)
        layers = f"lowerdir=/,upperdir={self.changes},workdir={work}"
        _mount("-t", "overlay", "overlay", "-o", layers, str(self.root))
        for name in ("proc", "dev"):
            _mount("--bind", f"/{name}", str(self.root / name))
        _mount("-t", "tmpfs", "tmpfs", str(self.root / "tmp"))

    def inside(self, path: str) -> Path:
        """Where a path of this file system is on this machine."""
        return self.root / os.path.normpath(os.path.join(self.workdir, path)).lstrip("/")

    def argv(self, command: list[str]) -> list[str]:
        """What runs a command in it, as its user and without privileges if that is not root."""
        user, group = self.user.split(":")
        drop = ["setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups"]
        if user != "0":
            drop += ["--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]
        return ["chroot", str(self.root), *drop, "env", "-C", self.workdir, *command]

    def run(self, command: list[str]) -> str:
        """The output of a command that must succeed."""
        done = subprocess.run(self.argv(command), env=self.env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def lock(self, data: Path) -> None:
        """From here on only /data and /tmp can be written. data: the folder that is mounted there."""
        user, group = map(int, self.user.split(":"))
        data.mkdir()
        shutil.copystat(self.inside("/data"), data)
        os.chown(data, user, group)
        _mount("--bind", str(data), str(self.inside("/data")))
        _mount("-o", "remount,ro", str(self.root))


class Build:
    """Performs the steps of a Dockerfile."""

    def __init__(self, folder: Path, python: Path) -> None:
        self._folder, self._python = folder, python
        self._arguments: dict[str, str] = {}
        self._stages: dict[str, Stage] = {}
        self.stage: Stage

    def perform(self, step: Step) -> None:
        """Do one step."""
        getattr(self, f"_{step.name.lower()}")(step)

    def _arg(self, step: Step) -> None:
        name, _, value = step.text.partition("=")
        self._arguments[name] = value

    def _from(self, step: Step) -> None:
        _, _, name = step.text.partition(" AS ")
        passed = {key: value for key, value in os.environ.items() if key.upper().startswith(PASSED_ON)}
        path = f"{self._python.parent}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        self.stage = Stage(self._folder / (name or "image"), {**passed, "PATH": path, "HOME": "/root"})
        self._stages[name] = self.stage
        for parent in self._python.resolve().parents:  # the base image's Python is everybody's
            self.stage.inside(str(parent)).chmod(0o755)

    def _env(self, step: Step) -> None:
        for name, value in re.findall(r"(\w+)=(\S+)", step.text):
            self.stage.env[name] = re.sub(r"\$(\w+)", lambda found: self.stage.env[found[1]], value)

    def _run(self, step: Step) -> None:
        self.stage.run(["sh", "-c", step.text])

    def _copy(self, step: Step) -> None:
        *sources, target = step.text.split()
        origin: Context | Stage = Context()
        left_out = [line.rpartition("/")[2] for line in _ignored() if line.startswith("**/")]
        if sources[0].startswith("--from="):
            origin, left_out = self._stages[sources.pop(0).removeprefix("--from=")], []
        for source in sources:
            where = self.stage.inside(target)
            _copied(origin.inside(source), where / source if target.endswith("/") else where, left_out)

    def _workdir(self, step: Step) -> None:
        self.stage.workdir = step.text
        self.stage.inside(".").mkdir(parents=True, exist_ok=True)

    def _user(self, step: Step) -> None:
        self.stage.user = step.text

    def _healthcheck(self, step: Step) -> None:
        self.stage.healthcheck = step.command()

    def _cmd(self, step: Step) -> None:
        self.stage.command = step.command()

    def _label(self, step: Step) -> None:
        """Says nothing about the file system."""

    _expose = _volume = _label


class Context:
    """The folder that a build may copy from: what .dockerignore lets through."""

    def inside(self, name: str) -> Path:
        if f"!{name}" not in _ignored():
            raise SystemExit(f"COPY {name}: .dockerignore leaves it out")
        return ROOT / name


def main() -> None:
    options = _options()
    if options.inside:
        tried(built(options.inside, options.python), options.inside / "data")
        return
    with tempfile.TemporaryDirectory(prefix="lore-image-") as folder:
        # mounts end with the process that made them, before the folder is removed
        again = [
            sys.executable,
            "-m",
            "scripts.try_dockerfile",
            "--python",
            options.python,
            "--inside",
            folder,
        ]
        sys.exit(subprocess.run(["unshare", "--mount", *again], cwd=ROOT, check=False).returncode)


def built(folder: Path, python: Path) -> Stage:
    """The last stage of the Dockerfile."""
    build = Build(folder, python)
    for step in steps_of(DOCKERFILE.read_text()):
        began = time.monotonic()
        build.perform(step)
        print(f"{time.monotonic() - began:6.1f} s  {step.name} {step.text[:90]}", flush=True)
    size = sum(path.lstat().st_size for path in build.stage.changes.rglob("*"))
    print(f"the image adds {size / 1e6:,.0f} MB to its base")
    return build.stage


def tried(image: Stage, data: Path) -> None:
    """Run the image as the compose file does."""
    image.lock(data)
    compose: Mapping[str, Any] = yaml.safe_load(COMPOSE.read_text())
    first = [word.replace("$$", "$") for word in compose["services"]["first-token"]["command"]]
    tokens = [_first_token(image, first, data / "first-token") for _ in range(2)]
    assert tokens[0] == tokens[1], "the second start has made another token"
    image.run(["lore", "remember", MEMORY])
    for kind in (signal.SIGKILL, signal.SIGTERM):
        for server in with_server(image):
            assert (_status(), _status(tokens[0])) == (401, 200)
            answer = image.run(["lore", "search", "when does the harbour office open?"])
            assert MEMORY in answer, answer
            server.send_signal(kind)
            print(f"{kind.name}: exit code {server.wait(STOP_SECONDS)}")


def _first_token(image: Stage, command: list[str], file: Path) -> str:
    """What the compose file's first step leaves behind."""
    image.run(command)
    assert file.stat().st_mode & 0o077 == 0, "others can read the first token"
    return file.read_text().strip()


def _status(token: str = "") -> int:
    """The server's answer to the holder of a token."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    try:
        with urlopen(Request("http://127.0.0.1:8080/status", headers=headers)) as answer:
            return int(answer.status)
    except HTTPError as error:
        error.close()
        return error.code


def with_server(image: Stage) -> Iterator[subprocess.Popen[bytes]]:
    """The server, when it is healthy."""
    began = time.monotonic()
    with subprocess.Popen(image.argv(image.command), env=image.env) as server:
        try:
            while subprocess.run(
                image.argv(image.healthcheck), env=image.env, capture_output=True, check=False
            ).returncode:
                if server.poll() is not None or time.monotonic() - began > HEALTHY_SECONDS:
                    raise SystemExit(f"the server is not healthy; exit code {server.returncode}")
                time.sleep(LOOK_EVERY_SECONDS)
            print(f"healthy after {time.monotonic() - began:.1f} s")
            yield server
        finally:
            server.kill()


def _ignored() -> list[str]:
    """The lines of .dockerignore."""
    return (DOCKERFILE.parent / "Dockerfile.dockerignore").read_text().splitlines()


def _copied(source: Path, target: Path, left_out: list[str]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        ignore = shutil.ignore_patterns("__pycache__", *left_out)
        shutil.copytree(source, target, symlinks=True, ignore=ignore, dirs_exist_ok=True)
    else:
        shutil.copy2(source, target)


def _mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--python", type=Path, default=Path(sys.executable), help="default: this one")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    main()
