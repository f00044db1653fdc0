"""upkeep: the background work of a process that serves a store: supervised, and consolidation on schedule."""

import gc
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext

import anyio
import anyio.to_thread

from lore.engine import Lore
from lore.engine.schedule import Schedules
from lore.engine.shared_schedule import SharedSchedules
from lore.store import SharedStore
from lore.supervision import Service, async_failure_of

SCHEDULE_TICK_SECONDS = 2.0
"""Shortest time between two looks at the schedule of consolidations."""
SPARED = 50
"""Wait this multiple of the last look's duration, so that looking takes less than 2 % of a core."""
SPARING_SECONDS = 5.0
"""Time between two looks for modules that were loaded."""
SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name))


async def supervised(service: Service, work: Callable[[], Awaitable[None]]) -> None:
    """Begin the work again whenever it fails, after a pause; no failure ends the process."""
    while (error := await async_failure_of(work)) is not None:
        await anyio.sleep(service.failed(error))


def spare_loaded() -> None:
    """Keep what is loaded out of all later garbage collections: modules, classes and functions.

    A full collection stops every search that runs. It comes once in about a hundred searches, and takes 40 ms
    with what is loaded, and 8 without.
    """
    gc.collect()
    gc.freeze()


async def spare_modules(seconds: float = SPARING_SECONDS) -> None:
    """Call `spare_loaded` whenever modules were loaded, for as long as the process lives."""
    spared = 0
    while True:
        await anyio.sleep(seconds)
        if len(sys.modules) > spared:
            spared = len(sys.modules)
            spare_loaded()


async def stop_on_signal(stopping: anyio.Event) -> None:
    """Set the event when a signal asks this process to end."""
    with anyio.open_signal_receiver(*SIGNALS) as signals:
        async for _ in signals:
            stopping.set()


class Consolidation:
    """Consolidates a store whenever its schedule says so. doing: entered while a run goes on. runs: their
    number so far."""

    def __init__(self, lore: Lore, doing: Callable[[], AbstractContextManager[object]] = nullcontext) -> None:
        self.schedule = schedules_of(lore)
        self.service = Service("consolidation")
        self._doing = doing
        self.runs = 0

    @property
    def trouble(self) -> str:
        """Why consolidation does not work; empty if it does."""
        return self.service.trouble or self.schedule.trouble

    async def run(self) -> None:
        """Run what is due, for as long as the process lives."""
        await supervised(self.service, self._run)

    async def _run(self) -> None:
        while self.schedule.enabled:
            began = anyio.current_time()
            if due := await anyio.to_thread.run_sync(self.schedule.due):
                with self._doing():
                    await anyio.to_thread.run_sync(self.schedule.run)
                self.runs += 1
                began = anyio.current_time()
            self.service.works()
            if isinstance(self.schedule, SharedSchedules):
                await anyio.sleep(0 if due else SCHEDULE_TICK_SECONDS)
            else:
                await anyio.sleep(max(SCHEDULE_TICK_SECONDS, SPARED * (anyio.current_time() - began)))


def schedules_of(lore: Lore) -> Schedules | SharedSchedules:
    """The schedules of a store: of this process alone, or shared with others."""
    if isinstance(lore.store, SharedStore):
        return SharedSchedules(lore, lore.store)
    return Schedules(lore)
