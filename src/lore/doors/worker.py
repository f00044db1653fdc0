"""worker: `lore worker`, processes that serve nobody: they embed and consolidate in place of servers."""

import logging
import multiprocessing
import signal
import sys
import threading
import time
from collections.abc import Sequence
from multiprocessing.connection import wait
from multiprocessing.context import SpawnProcess

import anyio
import anyio.to_thread

from lore.config import Config
from lore.connecting import wire
from lore.doors.logbook import show_log
from lore.doors.upkeep import SIGNALS, Consolidation, stop_on_signal
from lore.engine import Lore
from lore.errors import LoreError
from lore.text import without_password

REPORT_SECONDS = 60.0
"""Seconds between two lines of the log that say what a worker has done."""
RESTART_SECONDS = 5.0
"""Seconds until another process takes the place of one that has ended unasked."""
POLL_SECONDS = 1.0

logger = logging.getLogger(__name__)


def run(config: Config, processes: int) -> None:
    """Work until a signal ends this process, in it or in several others that it starts."""
    if processes == 1:
        work(config)
    else:
        _Family(config, processes).run()


def work(config: Config) -> None:
    """Embed and consolidate until a signal ends the process; Unavailable if the store cannot be opened."""
    lore = wire(config, patient=False)
    try:
        logger.info("working on %s", without_password(str(config.location)))
        lore.background.start()
        anyio.run(_work, lore)
    finally:
        lore.close()
    logger.info("ended")


async def _work(lore: Lore) -> None:
    stopping, consolidation = anyio.Event(), Consolidation(lore)
    async with anyio.create_task_group() as chores:
        chores.start_soon(stop_on_signal, stopping)
        chores.start_soon(_stop_with_parent, stopping)
        chores.start_soon(_report, lore, consolidation)
        chores.start_soon(consolidation.run)
        await stopping.wait()
        logger.info("ending after the current step")
        consolidation.schedule.end()
        chores.cancel_scope.cancel()


async def _stop_with_parent(stopping: anyio.Event) -> None:
    """Set the event when the process that started this one is gone, however it ended."""
    if (parent := multiprocessing.parent_process()) is not None:
        while parent.is_alive():
            await anyio.sleep(POLL_SECONDS)
        stopping.set()


async def _report(lore: Lore, consolidation: Consolidation) -> None:
    """Log what was done, and what waits, at intervals in which something was or does."""
    done = (0, 0)
    while True:
        await anyio.sleep(REPORT_SECONDS)
        before, done = done, (lore.background.embedded, consolidation.runs)
        embedded, runs = done[0] - before[0], done[1] - before[1]
        left = await anyio.to_thread.run_sync(lore.pending)
        if embedded or runs or left:
            text = "in %.0f s: %d memories embedded, %d namespaces consolidated; %d memories wait"
            logger.info(text, REPORT_SECONDS, embedded, runs, left)


class _Family:
    """Several processes that work, and this one, which starts another in the place of one that ended."""

    def __init__(self, config: Config, processes: int) -> None:
        self._config = config
        self._processes = [self._started() for _ in range(processes)]
        self._stopping = threading.Event()

    def run(self) -> None:
        """Return once a signal has come and all processes have ended."""
        for one in SIGNALS:
            signal.signal(one, lambda *_: self._stopping.set())
        logger.info("working in %d processes", len(self._processes))
        while not self._stopping.is_set():
            if wait(_sentinels(self._processes), POLL_SECONDS):
                self._replace_ended()
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join()
        logger.info("ended")

    def _replace_ended(self) -> None:
        until = time.monotonic() + RESTART_SECONDS
        ended = [at for at, process in enumerate(self._processes) if not process.is_alive()]
        codes = [self._processes[at].exitcode for at in ended]
        logger.warning("ended unasked, with code %s; replaced in %.0f s", codes, RESTART_SECONDS)
        while not self._stopping.is_set() and time.monotonic() < until:
            self._stopping.wait(POLL_SECONDS)
        if not self._stopping.is_set():
            for at in ended:
                self._processes[at] = self._started()

    def _started(self) -> SpawnProcess:
        process = multiprocessing.get_context("spawn").Process(target=_child, args=(self._config,))
        process.start()
        return process


def _sentinels(processes: Sequence[SpawnProcess]) -> list[int]:
    return [process.sentinel for process in processes]


def _child(config: Config) -> None:
    show_log()
    try:
        work(config)
    except LoreError as error:
        logger.error("%s", error)
        sys.exit(1)
