"""Pushes: check that every turn reaches the server once, whatever breaks on the way.

python -m bench.push [--rounds 20] [--turns 300] [--seed 1] [--json FILE]

A real `lore-server` process, and a real store of a client. repeat: the same batch three times. cut: the
connection is cut at each stage of a request, by a proxy. server: SIGKILL for the server at a random moment of
a push. client: SIGKILL for `lore sync` at a random moment. Every round adds turns and sends them again and
again. At the end one push passes, and the turns of both stores are compared by their ids and texts. The exit
code is 1 if one is lost or there twice.
"""

import argparse
import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx2

from bench.administrator import administrator
from bench.cutting_proxy import STAGES, CuttingProxy, cutting_proxy
from bench.measuring import Bar
from lore.config import Config
from lore.connecting import wire
from lore.doors.remote_http import RemoteServer, connect
from lore.doors.sync import push
from lore.doors.sync_requests import Connection
from lore.engine import Lore
from lore.engine.push import Sent
from lore.errors import Unavailable
from lore.model import Filter
from lore.store.records import SyncMark
from lore.store.values import EVERY
from lore.transcripts.turns import Heading, Turn

TURNS = Filter(kinds=frozenset({"turn"}))
SERVER = "from lore.doors.http.server import main; main()"
CLIENT = "from lore.doors.cli import main; main()"
START_SECONDS = 60.0
CLIENT_ID = "bench"


# --- the two ends
class ServerProcess:
    """A `lore-server` on a port of its own; it can be killed and started again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        arguments = ["-p", str(self.port), "--data-dir", str(self.folder)]
        self._process = subprocess.Popen(
            [sys.executable, "-c", SERVER, *arguments],
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + START_SECONDS
        while time.monotonic() < until:
            with suppress(httpx2.RequestError):
                if httpx2.get(f"{self.url}/healthz", trust_env=False).status_code == 200:
                    return
            time.sleep(0.05)
        raise Unavailable(f"the server did not start within {START_SECONDS:g} s")

    def end(self, number: int = signal.SIGTERM) -> None:
        assert self._process is not None
        self._process.send_signal(number)
        self._process.wait()


def environment() -> dict[str, str]:
    own = {"LORE_EMBEDDING_MODEL": "hash", "LORE_LLM_BACKEND": "none", "LORE_INGEST_PAUSED": "yes"}
    return {**{name: value for name, value in os.environ.items() if not name.startswith("LORE_")}, **own}


@contextmanager
def running(folder: Path) -> Iterator[ServerProcess]:
    """A server on this folder until the block ends."""
    server = ServerProcess(folder)
    server.start()
    try:
        yield server
    finally:
        server.end()


def add_turns(lore: Lore, count: int, session: str) -> None:
    """A conversation: many turns have equal texts, some have a long text beside the excerpt."""
    turns = [
        Turn(
            uuid=f"{session}-{number}",
            session=session,
            role="user" if number % 2 == 0 else "assistant",
            text="yes" if number % 3 == 0 else f"turn {number} of {session}",
            full="a long text " * 4_000 if number % 50 == 49 else "",
            folder="/home/somebody/ferry",
            remote="git@example.org:somebody/ferry.git",
            at=1_700_000_000.0 + number,
        )
        for number in range(count)
    ]
    heading = Heading(session=session, title=session)
    lore.keep_pushed([Sent("bench", heading), *(Sent("bench", turn) for turn in turns)])


def compared(client: Path, server: Path) -> tuple[int, int, int]:
    """Turns of the client, those of them that the server lacks, and turns that it has too many."""
    sent, kept = turns_of(client), turns_of(server)
    expected = Counter((f"{CLIENT_ID}:{id}", text) for id, _, text in sent)
    found = Counter((uuid, text) for _, uuid, text in kept)
    return len(sent), (expected - found).total(), (found - expected).total()


def turns_of(folder: Path) -> list[tuple[str, str, str]]:
    """Id, uuid and text of all turns."""
    lore = wire(Config(data_dir=folder, embedding_model="hash"))
    try:
        turns = lore.select(TURNS, EVERY.limit)
        return [(one.id, str(one.metadata["uuid"]), one.content) for one in turns]
    finally:
        lore.close()


# --- what breaks
Breaking = Callable[["Scene", random.Random], None]


class Scene:
    """Both ends of the pushes, with the proxy between them. token: for the server."""

    def __init__(self, folder: Path, server: ServerProcess, proxy: CuttingProxy, token: str) -> None:
        self.folder, self.server, self.proxy, self.token = folder, server, proxy, token
        self.lore = wire(Config(data_dir=folder, embedding_model="hash"))
        self.requests = self.failures = 0
        self._mark = SyncMark(remote="", direction="push")

    def begin_round(self) -> None:
        """The rounds before this one are pushed."""
        assert self.push()
        self._mark = self.lore.sync_mark(self.proxy.url, "push")

    def push(self) -> bool:
        """One push through the proxy; whether it reached its end."""
        remote = RemoteServer(url=self.proxy.url, client_id=CLIENT_ID, token=self.token)
        with connect(remote, 20.0) as http:
            connection = Connection(remote, http)
            try:
                push(self.lore, connection, lambda folder: False, keep_turns=True)
            except Unavailable:
                self.failures += 1
                return False
            finally:
                self.requests += connection.requests
        return True

    def begin_again(self) -> None:
        """Forget what was pushed in this round: the next push sends it again."""
        self.lore.move_sync_mark(self._mark)


def repeat(scene: Scene, chance: random.Random) -> None:
    for _ in range(3):
        scene.begin_again()
        assert scene.push()


def cut(scene: Scene, chance: random.Random) -> None:
    for stage in STAGES:
        scene.begin_again()
        scene.proxy.cut = stage
        assert not scene.push(), stage


def kill_server(scene: Scene, chance: random.Random) -> None:
    scene.begin_again()
    killing = threading.Timer(chance.uniform(0.0, 0.5), scene.server.end, [signal.SIGKILL])
    killing.start()
    scene.push()
    killing.join()
    scene.server.start()


def kill_client(scene: Scene, chance: random.Random) -> None:
    scene.begin_again()
    command = [sys.executable, "-c", CLIENT, "--data-dir", str(scene.folder), "sync", scene.proxy.url]
    command += ["--client-id", CLIENT_ID]
    nowhere = subprocess.DEVNULL
    env = environment() | {"LORE_TOKEN": scene.token}
    process = subprocess.Popen(command, env=env, stdout=nowhere, stderr=nowhere)
    with suppress(subprocess.TimeoutExpired):
        process.wait(chance.uniform(0.3, 2.0))
    process.kill()
    process.wait()


BREAKING: dict[str, Breaking] = {"repeat": repeat, "cut": cut, "server": kill_server, "client": kill_client}


def run(
    rounds: int, turns: int, seed: int, kinds: tuple[str, ...] = tuple(BREAKING)
) -> tuple[dict[str, Any], bool]:
    """The counts of all rounds, and whether nothing was lost or doubled."""
    chance = random.Random(seed)
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lore-push-") as name:
        folder = Path(name)
        token = administrator(folder / "server", "hash")
        with running(folder / "server") as server, cutting_proxy(server.port) as proxy:
            scene = Scene(folder / "client", server, proxy, token)
            bar = Bar("pushes", rounds * len(kinds))
            for number in range(rounds):
                for place, kind in enumerate(kinds):
                    scene.begin_round()
                    add_turns(scene.lore, turns, f"{kind}-{number}")
                    BREAKING[kind](scene, chance)
                    bar.at(number * len(kinds) + place + 1)
            proxy.cut = None
            assert scene.push()
            counts = {"requests": scene.requests, "failed_pushes": scene.failures, "cuts": proxy.cuts}
            scene.lore.close()
        sent, lost, doubled = compared(folder / "client", folder / "server")
    report = {"turns": sent, "lost": lost, "doubled": doubled, **counts}
    return report | {"seconds": round(time.monotonic() - began, 1)}, not (lost or doubled)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    report, fine = run(options.rounds, options.turns, options.seed)
    for name, value in report.items():
        print(f"{name:<14} {value}")
    if options.json:
        options.json.write_text(json.dumps(report))
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
