"""crowd: agents that work at the same time; each is a process with its own server process."""

import multiprocessing as processes
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import Any, NamedTuple

from bench.clients.report import say

GATE_SECONDS = 600.0
END_SECONDS = 30.0
FORKING = processes.get_context("fork")


class Agent(NamedTuple):
    """gate: where all of them wait for each other, and the one who watches for them."""

    number: int
    gate: Barrier

    def wait(self) -> None:
        self.gate.wait(GATE_SECONDS)


class Crowd:
    """The watcher's view of them."""

    def __init__(self, gate: Barrier, ears: list[Connection]) -> None:
        self._gate = gate
        self._ears = ears

    def wait(self) -> None:
        """Until all are at the gate, then let them through."""
        self._gate.wait(GATE_SECONDS)

    def told(self) -> list[Any]:
        """What each has brought back, in the order of their numbers."""
        told = []
        for ear in self._ears:
            if not ear.poll(GATE_SECONDS):
                raise TimeoutError("an agent says nothing")
            told.append(ear.recv())
        if failures := [failure for failure in told if isinstance(failure, Failure)]:
            raise RuntimeError(failures[0].text)
        return told


class Failure(NamedTuple):
    """What an agent says that cannot go on."""

    text: str


@contextmanager
def crowd(count: int, life: Callable[[Agent], Iterator[Any]]) -> Iterator[Crowd]:
    """Let `count` agents live; each of them yields what it tells the watcher."""
    gate = FORKING.Barrier(count + 1)
    pipes = [FORKING.Pipe(duplex=False) for _ in range(count)]
    agents = [
        FORKING.Process(target=_live, args=(life, Agent(number, gate), mouth), daemon=True)
        for number, (_, mouth) in enumerate(pipes)
    ]
    for agent in agents:
        agent.start()
    try:
        yield Crowd(gate, [ear for ear, _ in pipes])
        for agent in agents:
            agent.join(END_SECONDS)
    finally:
        for agent in agents:
            if agent.is_alive():
                say(f"agent {agent.pid} is made to end")
                agent.kill()
            agent.join()


def _live(life: Callable[[Agent], Iterator[Any]], agent: Agent, mouth: Connection) -> None:
    try:
        for told in life(agent):
            mouth.send(told)
    except Exception:  # whatever it is, the watcher wants to know
        mouth.send(Failure(f"agent {agent.number}: {traceback.format_exc()}"))
        agent.gate.abort()
