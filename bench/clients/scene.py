"""scene: a store in its own folder and its daemon, and their removal."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from types import TracebackType

import apsw

from bench.clients.line import Line
from lore.doors.endpoint import Endpoint
from lore.doors.starting import ping, start, stop

SHORT = "/tmp"
"""Where folders have names that are short enough for a socket."""
GONE_SECONDS = 20.0
WARM_SECONDS = 120.0
LOOK_EVERY_SECONDS = 0.02
WARMING = "still loading"


class Scene:
    """Made on entering; on leaving its daemons are killed and its files removed."""

    def __init__(self, model: str) -> None:
        self._model = model

    def __enter__(self) -> "Scene":
        self.folder = Path(
            tempfile.mkdtemp(prefix="lore-bench-", dir=SHORT if os.path.isdir(SHORT) else None)
        )
        self.data = self.folder / "data"
        self.data.mkdir(mode=0o700)
        (self.data / "config.toml").write_text(f'embedding_model = "{self._model}"\n')
        self.endpoint = Endpoint({}, str(self.data))
        self.log = self.folder / "complaints"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        for pid in self.daemons():
            killed(pid)
        shutil.rmtree(self.folder, ignore_errors=True)

    # --- who speaks to it
    def relay(self, *flags: str) -> list[str]:
        """`lore-mcp` on this store."""
        return [*_script("lore-mcp", "lore.doors.relay"), "--data-dir", str(self.data), *flags]

    def standalone(self) -> list[str]:
        """`lore mcp` on this store."""
        return [*self.lore(), "mcp"]

    def lore(self) -> list[str]:
        """The beginning of any command on this store."""
        return [*_script("lore", "lore.doors.cli"), "--data-dir", str(self.data)]

    def warm(self) -> int:
        """A daemon that runs and has its model loaded; its process."""
        start(self.endpoint)
        with Line(self.relay(), log=self.log) as line:
            line.tools()
            wait_until_warm(line)
        return self.pid()

    def pid(self) -> int:
        """The daemon that answers; 0 if none does."""
        reply = ping(self.endpoint)
        return int(reply["pid"]) if reply else 0

    def daemons(self) -> set[int]:
        """The processes that are, or would be, a daemon of this store."""
        wanted = {"daemon", "run", str(self.data)}
        return {pid for pid in _processes() if wanted <= set(_command(pid))}

    # --- what became of it
    def stop(self) -> None:
        """Let the daemon end in peace, so that the store can be looked at by itself."""
        stop(self.endpoint)

    def contents(self) -> Counter[str]:
        """Every text in the store, and how often it is there."""
        rows = apsw.Connection(str(self.data / "memory.db"), flags=apsw.SQLITE_OPEN_READONLY).execute(
            "SELECT content FROM memory WHERE forgotten_at IS NULL"
        )
        return Counter(str(content) for (content,) in rows)

    def healthy(self) -> str:
        """Empty if `lore doctor` finds nothing; what it says otherwise."""
        done = subprocess.run(
            [*self.lore(), "doctor"], capture_output=True, text=True, check=False, timeout=300
        )
        return done.stdout + done.stderr if done.returncode else ""


def wait_until_warm(line: Line) -> None:
    """Search until the model takes part."""
    line.call("store", {"content": "Something to search for while the model is loading."})
    until = time.monotonic() + WARM_SECONDS
    while WARMING in str(line.call("search", {"query": "something"})) and time.monotonic() < until:
        time.sleep(LOOK_EVERY_SECONDS)


def killed(pid: int) -> float:
    """Kill without mercy; when it was done."""
    moment = time.monotonic()
    assert pid > 0, "0 would be ourselves"
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return moment
    gone(pid)
    return moment


def gone(pid: int) -> None:
    """Wait for the end of a process, whoever its parent is."""
    until = time.monotonic() + GONE_SECONDS
    while _command(pid):
        if time.monotonic() > until:
            raise TimeoutError(f"process {pid} does not end")
        time.sleep(LOOK_EVERY_SECONDS / 10)


def _script(name: str, module: str) -> list[str]:
    """As it is installed; as a module where it is not."""
    script = Path(sys.executable).with_name(name)
    return [str(script)] if script.exists() else [sys.executable, "-m", module]


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _command(pid: int) -> list[str]:
    """Its words; none if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")[:-1]
    except OSError:
        return []
