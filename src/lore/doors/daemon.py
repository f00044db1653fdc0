"""daemon: the one resident process of a store. It keeps store, model and index warm and lets clients in."""

import json
import logging
import os
import secrets
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import SocketStream, TaskGroup

from lore.config import IGNORE_LIST, Config
from lore.connecting import wire
from lore.doors.clients import MANY_FILES, Clients
from lore.doors.consolidation_run import language_models
from lore.doors.consolidation_schedule import ConsolidationSchedule
from lore.doors.door import Door, let_in
from lore.doors.endpoint import LOOPBACK, Endpoint
from lore.doors.idle import go_idle
from lore.doors.mcp_stream import FINISH_SECONDS
from lore.doors.residence import Residence, residing
from lore.doors.state import State
from lore.doors.transcript_watcher import TranscriptWatcher
from lore.engine import Lore
from lore.environment import of_clients
from lore.supervision import Service, async_failure_of, failure_of
from lore.transcripts.sources import VARIABLES, chosen
from lore.version import VERSION

WAIT_SECONDS = 20.0
"""For the one before us to end."""
LAST_SECONDS = FINISH_SECONDS + 2
"""After which a connection that does not end is cut."""
LOOK_EVERY_SECONDS = 1.0
LISTEN_EVERY_SECONDS = 2.0
"""How often it is looked whether a consolidation is due."""
SPARED = 50
"""So many times as long as a look took passes before the next."""
SHOWN = 20
"""Of how many files that are passed over the status says the reason."""
MORE = "more files"
LONGEST = 300
"""Characters of a path or a reason in the status."""
CAN_DOZE = os.name == "posix"
"""Elsewhere a process cannot become another program and stay the same."""
SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name))

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Handed:
    """Descriptors that a dozing daemon hands to itself when it wakes: two locks, the socket, clients."""

    locks: tuple[int, int]
    listener: int
    clients: tuple[int, ...]

    @classmethod
    def of(cls, numbers: str) -> "Handed":
        """From their numbers in this order, with commas."""
        lock, serving, listener, *clients = map(int, numbers.split(","))
        return cls((lock, serving), listener, tuple(clients))


def run(config: Config, endpoint: Endpoint, handed: Handed | None = None) -> None:
    """Be the daemon of this place until told to stop; Unavailable if there is one already."""
    locks = handed.locks if handed else None
    with residing(endpoint, config.database, WAIT_SECONDS, locks) as residence:
        _open_many_files()
        lore = wire(config, patient=False)
        daemon = Daemon(lore, config, residence, handed)
        try:
            lore.background.start()
            anyio.run(daemon.serve)
        finally:
            lore.close()
        if daemon.kept is not None:
            logger.info("nobody has asked for anything: dozing")
            go_idle(endpoint, residence.locks, *daemon.kept)
        logger.info("ended")


class Daemon:
    """Serves whoever connects; ends when a signal or a client says so, after answering what has begun."""

    def __init__(self, lore: Lore, config: Config, residence: Residence, handed: Handed | None) -> None:
        self._lore = lore
        self._config = config
        self._residence = residence
        self._endpoint = endpoint = residence.endpoint
        self._handed = handed
        self._about = ""
        self.kept: tuple[int, str] | None = None
        """The socket and what there is to say, if it is to doze after the end."""
        self._state = State(endpoint.status)
        self._started_at = time.time()
        wanted = chosen(config.ingest_sources)
        ignore_list = config.data_dir / IGNORE_LIST
        self._gathering = TranscriptWatcher(lore, wanted, Path.home(), of_clients(VARIABLES), ignore_list)
        self._nights = ConsolidationSchedule(lore)
        self._watcher = Service("reading transcripts")
        self._consolidation = Service("consolidation")
        self._looking = not config.ingest_paused
        """Whether transcripts are being looked at, or were not yet."""

    async def serve(self) -> None:
        stopping = anyio.Event()
        fresh = self._handed is None and not self._endpoint.unix
        token = secrets.token_urlsafe() if fresh else self._endpoint.token()
        self._clients = Clients(self._lore, self._config, stopping, self.describe, token)
        async with anyio.create_task_group() as chores:
            chores.start_soon(_stop_on_signal, stopping)
            chores.start_soon(self._supervised, Service("resting"), partial(self._rest, stopping))
            chores.start_soon(self._supervised, self._watcher, self._gather)
            chores.start_soon(self._supervised, self._consolidation, self._consolidate)
            self._state.begin()
            chores.start_soon(self._supervised, Service("the status file"), self._tell_state)
            async with anyio.create_task_group() as connections:
                await self._accept(connections, token, stopping)
                logger.info("stopping: what has begun is finished")
                self._nights.end()
                connections.cancel_scope.deadline = anyio.current_time() + LAST_SECONDS
            self._gathering.end()
            chores.cancel_scope.cancel()

    async def _accept(self, connections: TaskGroup, token: str, stopping: anyio.Event) -> None:
        """Let clients in until it is time to stop; where the socket was removed, by a new one."""
        for file in self._handed.clients if self._handed else ():
            connections.start_soon(self._clients.serve, await SocketStream.from_socket(file))
        handed = self._handed.listener if self._handed else None
        while not stopping.is_set():
            door = Door(self._endpoint, token, handed)
            async with door.listening() as listener, anyio.create_task_group() as accepting:
                accepting.start_soon(let_in, listener, self._clients.serve, connections)
                logger.info("lore %s serves %s at %s", VERSION, self._lore.store.location, self._address)
                await self._watch_files(door, stopping)
                accepting.cancel_scope.cancel()
                if self._about:
                    self.kept = door.kept(listener), self._about
            handed = None

    async def _watch_files(self, door: Door, stopping: anyio.Event) -> None:
        """Until it is time to stop, or the door was removed. Other files that were removed are put back."""
        keeping = Service("keeping the files of the daemon")
        while not stopping.is_set():
            if not self._residence.regain():
                logger.warning(
                    "%s was removed, and another daemon begins: this one ends", self._endpoint.lock
                )
                stopping.set()
            elif not door.in_place:
                logger.warning("the address of this daemon was removed: it is put back")
                return
            elif (error := failure_of(self._residence.write_pid)) is not None:
                keeping.failed(error)
            with anyio.move_on_after(LOOK_EVERY_SECONDS):
                await stopping.wait()

    async def _supervised(self, service: Service, work: Callable[[], Awaitable[None]]) -> None:
        """Begin the work again whenever it fails, after a pause; none of it ends the daemon."""
        while (error := await async_failure_of(work)) is not None:
            self._looking &= service is not self._watcher
            await anyio.sleep(service.failed(error))

    async def _gather(self) -> None:
        """Read on in the transcripts of agents, whenever they have written."""
        if self._config.ingest_paused:
            return
        async for _ in self._gathering.changes(self._config.ingest_poll_seconds):
            self._looking = True
            await self._read_on()
            self._looking = False
            self._watcher.works()

    async def _read_on(self) -> None:
        if changed := await anyio.to_thread.run_sync(self._gathering.changed):
            with self._state.doing("ingesting"):
                done = await anyio.to_thread.run_sync(self._gathering.read, changed)
            if done.turns:
                self._clients.used()
                logger.info("read %d new turns, %d new sessions", done.turns, done.sessions)

    async def _consolidate(self) -> None:
        """Digest what was read and put the trees in order, whenever that is due."""
        while self._nights.wanted:
            began = anyio.current_time()
            if await anyio.to_thread.run_sync(self._nights.due):
                with self._state.doing("consolidating"):
                    await anyio.to_thread.run_sync(self._nights.sleep)
                began = anyio.current_time()
            self._consolidation.works()
            await anyio.sleep(max(LISTEN_EVERY_SECONDS, SPARED * (anyio.current_time() - began)))

    async def _tell_state(self) -> None:
        """Say in the status file how far the background is with a backlog, and what is in trouble."""
        while True:
            if not os.path.exists(self._endpoint.status):
                self._state.begin()
            self._state.embeds(self._lore.background.embedding)
            self._state.suffers(self._troubles())
            await anyio.sleep(LOOK_EVERY_SECONDS)

    def _troubles(self) -> dict[str, str]:
        """What does not work at present, and why: services of the daemon, then files that it passes over."""
        services = (self._watcher, self._lore.background.service)
        failing = {service.name: service.trouble for service in services if service.trouble}
        if trouble := self._consolidation.trouble or self._nights.trouble:
            failing[self._consolidation.name] = trouble
        files = sorted((dict(self._gathering.unseen) | dict(self._gathering.failed)).items())
        more = {MORE: f"{len(files) - SHOWN:,}; the log has them"} if len(files) > SHOWN else {}
        shown = failing | dict(files[:SHOWN]) | more
        return {what[-LONGEST:]: why[:LONGEST] for what, why in shown.items()}

    async def _rest(self, stopping: anyio.Event) -> None:
        """When nobody has asked for anything for a while, doze, or at least give memory back."""
        limit = self._config.idle_minutes * 60
        while True:
            await anyio.sleep(max(limit - self._clients.idle_seconds, LOOK_EVERY_SECONDS))
            if self._clients.idle_seconds < limit:
                continue
            began = anyio.current_time()
            if CAN_DOZE and not self._clients.listening and await anyio.to_thread.run_sync(self._tired):
                about = await anyio.to_thread.run_sync(self.describe)
                if self._looking or self._clients.idle_seconds < limit:
                    continue
                self._about = json.dumps({**about, "clients": []})
                stopping.set()
                return
            if self._lore.sense.state == "ready" and not self._nights.at_work:
                await anyio.to_thread.run_sync(self._lore.release)
                logger.info("idle: the model and the index are released")
            await anyio.sleep(SPARED * (anyio.current_time() - began))

    def _tired(self) -> bool:
        """Whether nothing is left to do: what was said is read, embedded, digested as far as it can be."""
        store, sense = self._lore.store, self._lore.sense
        return not self._looking and not store.pending(sense.model) and not self._nights.keeps_awake()

    def describe(self) -> Mapping[str, Any]:
        """All that there is to know about this daemon."""
        status = self._lore.status()
        return {
            "running": True,
            "state": self._state.now,
            "mode": self._state.mode,
            "pid": os.getpid(),
            "version": VERSION,
            "started_at": self._started_at,
            "uptime_seconds": time.time() - self._started_at,
            "memories": status.counts.memories,
            "pending": status.pending,
            "embedding": self._state.embedding,
            "staged_turns": status.staged_turns,
            "last_consolidation_at": status.last_run["began_at"] if status.last_run else None,
            "store": status.location,
            "socket": self._address,
            "http": None,
            "model": self._lore.sense.state,
            "language_model": language_models(self._lore),
            "troubles": self._troubles(),
            "clients": self._clients.summaries(),
        }

    @property
    def _address(self) -> str:
        return self._endpoint.socket if self._endpoint.unix else f"{LOOPBACK}:{self._endpoint.door()[0]}"


def _open_many_files() -> None:
    """Each client is one; systems allow a process few of them until it asks for more."""
    if os.name == "posix":
        resource = import_module("resource")
        allowed, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = MANY_FILES if most == resource.RLIM_INFINITY else min(most, MANY_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(allowed, wanted), most))


async def _stop_on_signal(stopping: anyio.Event) -> None:
    with anyio.open_signal_receiver(*SIGNALS) as signals:
        async for _ in signals:
            stopping.set()
