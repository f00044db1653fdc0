"""serving: a `lore-server` on a store, with a token for each client."""

import os
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from urllib.error import URLError
from urllib.request import urlopen

from bench.clients.scene import Scene
from lore.config import load
from lore.connecting import wire
from lore.doors.http.tokens import Grant, create

READY_SECONDS = 120.0
STOP_SECONDS = 60.0
LOOK_EVERY_SECONDS = 0.05
SPOKEN = " at http://127.0.0.1:"
"""Before the port in the first line that a server prints."""


SETTINGS = {
    "LORE_INGEST_PAUSED": "yes",
    "LORE_CONSOLIDATION_INTERVAL": "0",
    "LORE_IDLE_SESSIONS": "0",
    "LORE_RATE_LIMIT": "0",
}
"""No work of its own during the load, and no limit of requests."""


def quiet() -> None:
    """Set these for this process and all that it starts, and no others of Lore."""
    for name in [name for name in os.environ if name.startswith("LORE_")]:
        del os.environ[name]
    os.environ |= SETTINGS


class Server:
    """Starts on a free port on entering and waits until it is ready; ends on leaving."""

    def __init__(self, scene: Scene, clients: int = 1) -> None:
        """clients: how many have a token of their own."""
        self._scene, self._clients = scene, clients

    def __enter__(self) -> "Server":
        self.tokens = self._tokens()
        command = [str(Path(sys.executable).with_name("lore-server")), "--data-dir", str(self._scene.data)]
        with open(self._scene.log, "ab") as log:
            self._process = subprocess.Popen(
                [*command, "--port", "0"], stdout=subprocess.PIPE, stderr=log, text=True
            )
        assert self._process.stdout
        line = self._process.stdout.readline()
        if SPOKEN not in line:
            raise RuntimeError(f"the server did not start: {self._scene.log.read_text()}")
        self.port = int("".join(char for char in line.partition(SPOKEN)[2][:5] if char.isdigit()))
        self._wait()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        """Let it end in peace; it is killed if it does not."""
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        assert self._process.stdout
        self._process.stdout.close()

    def _tokens(self) -> list[str]:
        lore = wire(load(data_dir=self._scene.data))
        grants = [Grant(name=f"client-{number}") for number in range(self._clients)]
        tokens = [create(lore.store, grant, time.time())[0] for grant in grants]
        lore.close()
        return tokens

    def _wait(self) -> None:
        until = time.monotonic() + READY_SECONDS
        while True:
            try:
                urlopen(f"http://127.0.0.1:{self.port}/readyz", timeout=5).close()
                return
            except URLError:
                if time.monotonic() > until:
                    raise
                time.sleep(LOOK_EVERY_SECONDS)
