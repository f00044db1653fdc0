"""daemon: the one resident process of a store. It keeps store, model and index loaded and serves clients."""

import logging
import os
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from anyio.abc import SocketStream, TaskGroup

from lore import lazy
from lore.config import IGNORE_LIST, Config
from lore.connecting import wire
from lore.doors.agent_notes import AgentNotes
from lore.doors.clients import Clients, raise_open_files_limit
from lore.doors.daemon_http import DaemonHttp
from lore.doors.daemon_status import StatusFile
from lore.doors.endpoint import LOOPBACK, Endpoint
from lore.doors.residence import Listener, Residence, accept_clients, residing
from lore.doors.streams import FINISH_SECONDS
from lore.doors.transcript_watcher import Transcripts, TranscriptWatcher
from lore.doors.upkeep import SPARED, Consolidation, spare_modules, stop_on_signal, supervised
from lore.engine import Lore
from lore.engine.consolidation_run import models_of_today
from lore.environment import of_clients
from lore.supervision import Service, failure_of
from lore.transcripts.sources import VARIABLES, selected
from lore.transcripts.turns import Source
from lore.version import VERSION

if TYPE_CHECKING:
    from lore.doors.remote_mode import RemoteMode

PREDECESSOR_SECONDS = 20.0
"""Longest time to wait for the previous daemon to end."""
LAST_SECONDS = FINISH_SECONDS + 2
"""Seconds after a stop until connections that have not ended are cut."""
TICK_SECONDS = 1.0
SHOWN_FILES = 20
"""Files with troubles that the status names."""
LONGEST_TROUBLE = 300
"""Characters of a path or a reason in the status."""

logger = logging.getLogger(__name__)


def run(config: Config, endpoint: Endpoint, *, on_demand: bool = False) -> None:
    """Be the daemon of this endpoint until it is stopped; Unavailable if there is one already.

    on_demand: a client started it and would start the next one, so it exits when nobody uses it. With HTTP it
    stays: callers over HTTP start none.
    """
    with residing(endpoint, config.database, PREDECESSOR_SECONDS) as residence:
        raise_open_files_limit()
        if config.remote_url:  # the server consolidates
            config = replace(config, consolidation_interval=0.0)
        lore = wire(config, patient=False)
        residence.serve_file()
        try:
            lore.background.start()
            anyio.run(Daemon(lore, config, residence, on_demand).serve)
        finally:
            lore.close()
        logger.info("ended")


def serve_one(config: Config, client: int) -> None:
    """Serve the client on the socket with this descriptor as a daemon does, without any file of a daemon."""

    async def serve() -> None:
        await Clients(lore, config, anyio.Event(), dict).serve(await SocketStream.from_socket(client))

    lore = wire(config, patient=False)
    try:
        lore.background.start()
        anyio.run(serve)
    finally:
        lore.close()


class Daemon:
    """Serves clients; ends when a signal or a client says so, after answering the requests that have
    begun."""

    def __init__(self, lore: Lore, config: Config, residence: Residence, on_demand: bool) -> None:
        self._lore = lore
        self._config = config
        self._residence = residence
        self._endpoint = residence.endpoint
        self._on_demand = on_demand
        self._mode = "remote" if config.remote_url else "local"
        self._status = StatusFile(residence.endpoint.status, self._mode)
        self._remote: RemoteMode | None = None
        if config.remote_url:
            self._remote = lazy.remote_mode.RemoteMode(lore, config, partial(self._status.doing, "syncing"))
        self._started_at = time.time()
        transcripts = Transcripts(
            sources=selected(config.ingest_sources),
            home=Path.home(),
            variables=of_clients(VARIABLES),
            ignore_list=config.data_dir / IGNORE_LIST,
        )
        self._watcher = TranscriptWatcher(lore, transcripts)
        self._ingestion = Service("reading transcripts")
        self._notes = AgentNotes(lore, transcripts)
        self._noting = Service("reading the notes of agents")
        self._one_reader = anyio.Lock()
        self._consolidation = Consolidation(lore, partial(self._status.doing, "consolidating"))
        self._schedule = self._consolidation.schedule
        self._reading = not config.ingest_paused
        """Whether transcripts are being read, or have not been read yet."""

    async def serve(self) -> None:
        stopping = anyio.Event()
        token = "" if self._endpoint.unix else secrets.token_urlsafe()
        self._clients = Clients(self._lore, self._config, stopping, self.describe, token)
        self._clients.doing = self._status.doing
        self._http = DaemonHttp(self._lore, self._config, self._clients, stopping)
        self._clients.link = self._http.link
        async with anyio.create_task_group() as chores:
            chores.start_soon(stop_on_signal, stopping)
            chores.start_soon(spare_modules)
            chores.start_soon(supervised, Service("resting"), partial(self._rest, stopping))
            chores.start_soon(supervised, self._ingestion, self._ingest)
            chores.start_soon(supervised, Service("reading named transcripts"), self._ingest_named)
            chores.start_soon(self._consolidation.run)
            if self._remote:
                chores.start_soon(self._remote.run)
            self._status.write()
            chores.start_soon(supervised, Service("the status file"), self._update_status)
            async with anyio.create_task_group() as connections:
                connections.start_soon(self._http.run)
                await self._accept(connections, token, stopping)
                logger.info("stopping: what has begun is finished")
                self._schedule.end()
                connections.cancel_scope.deadline = anyio.current_time() + LAST_SECONDS
            self._watcher.end()
            if self._remote:
                await self._remote.end()
            chores.cancel_scope.cancel()

    async def _accept(self, connections: TaskGroup, token: str, stopping: anyio.Event) -> None:
        """Accept clients until it is time to stop; where the socket was removed, on a new one."""
        while not stopping.is_set():
            socket = Listener(self._endpoint, token)
            async with socket.listening() as listener, anyio.create_task_group() as accepting:
                accepting.start_soon(accept_clients, listener, self._clients.serve, connections)
                location = self._lore.store.report().location
                logger.info("lore %s serves %s at %s", VERSION, location, self._address)
                await self._watch_files(socket, stopping)
                accepting.cancel_scope.cancel()

    async def _watch_files(self, socket: Listener, stopping: anyio.Event) -> None:
        """Put back files that were removed, until it is time to stop or the socket was removed."""
        pid_file = Service("keeping the files of the daemon")
        while not stopping.is_set():
            if not self._residence.regain():
                logger.warning(
                    "%s was removed, and another daemon begins: this one ends", self._endpoint.lock
                )
                stopping.set()
            elif self._residence.is_replaced:
                logger.warning(
                    "%s was removed or replaced: this daemon ends, and the next one serves what is there",
                    self._config.database,
                )
                stopping.set()
            elif not socket.in_place:
                logger.warning("the address of this daemon was removed: it is put back")
                return
            elif (error := failure_of(self._residence.write_pid)) is not None:
                pid_file.failed(error)
            with anyio.move_on_after(TICK_SECONDS):
                await stopping.wait()

    async def _ingest(self) -> None:
        """Read new lines of transcripts whenever agents write them."""
        if self._config.ingest_paused:
            return
        notes_at = 0.0  # agents write transcripts all the time, and notes now and then
        try:
            async for _ in self._watcher.changes(self._config.ingest_poll_seconds):
                self._reading = True
                async with self._one_reader:
                    if changed := await anyio.to_thread.run_sync(self._watcher.changed):
                        await self._read(changed)
                    if self._config.ingest_agent_files and anyio.current_time() >= notes_at:
                        await anyio.to_thread.run_sync(self._read_notes)
                        notes_at = anyio.current_time() + self._config.ingest_poll_seconds / 2
                self._reading = False
                self._ingestion.works()
        finally:
            self._reading = False

    async def _ingest_named(self) -> None:
        """Read the transcripts that hooks name, at once."""
        async for path in self._clients.hooks.transcripts():
            async with self._one_reader:
                named = await anyio.to_thread.run_sync(self._watcher.named, Path(path))
                if named and not self._config.ingest_paused:
                    await self._read(named)

    async def _read(self, files: Sequence[tuple[Path, Source]]) -> None:
        with self._status.doing("ingesting"):
            done = await anyio.to_thread.run_sync(self._watcher.read, files)
        if done.turns:
            self._clients.used()
            logger.info("read %d new turns, %d new sessions", done.turns, done.sessions)

    def _read_notes(self) -> None:
        """Read what agents have noted in files of their own; no transcript waits for that."""
        if (error := failure_of(self._notes.read)) is not None:
            self._noting.failed(error)
        else:
            self._noting.works()

    async def _update_status(self) -> None:
        while True:
            self._status.update(self._lore.background.embedding, self._troubles())
            await anyio.sleep(TICK_SECONDS)

    def _troubles(self) -> dict[str, str]:
        """Services that fail and files that are passed over, with the reasons."""
        remote = [self._remote.service] if self._remote else []
        services = (self._ingestion, self._noting, self._lore.background.service, self._http.service, *remote)
        failing = {service.name: service.trouble for service in services if service.trouble}
        if trouble := self._consolidation.trouble:
            failing[self._consolidation.service.name] = trouble
        files = sorted((self._watcher.unseen | self._watcher.failed | self._notes.failed).items())
        more = (
            {"more files": f"{len(files) - SHOWN_FILES:,}; the log has them"}
            if len(files) > SHOWN_FILES
            else {}
        )
        troubles = failing | dict(files[:SHOWN_FILES]) | more
        return {name[-LONGEST_TROUBLE:]: why[:LONGEST_TROUBLE] for name, why in troubles.items()}

    async def _rest(self, stopping: anyio.Event) -> None:
        """When nobody has used the daemon for `idle_minutes`, exit, or at least free memory."""
        limit = self._config.idle_minutes * 60
        while True:
            await anyio.sleep(max(limit - self._clients.idle_seconds, TICK_SECONDS))
            if self._clients.idle_seconds < limit:
                continue
            began = anyio.current_time()
            if self._on_demand and not self._http.wanted and not self._clients.listening:
                finished = await anyio.to_thread.run_sync(self._finished)
                if finished and not self._reading and self._clients.idle_seconds >= limit:
                    logger.info("nobody has used the daemon for %g minutes", self._config.idle_minutes)
                    stopping.set()
                    return
            if self._lore.embeddings.state == "ready" and not (self._reading or self._schedule.running):
                await anyio.to_thread.run_sync(self._lore.release)
                logger.info("idle: the model and the index are released")
            await anyio.sleep(SPARED * (anyio.current_time() - began))

    def _finished(self) -> bool:
        """Whether all transcripts are read, embedded, and digested as far as possible."""
        return not self._reading and not self._lore.pending() and not self._schedule.needed_before_exit()

    def describe(self) -> Mapping[str, Any]:
        """The full status; see `daemon_status.KEYS`."""
        status = self._lore.status()
        return {
            "running": True,
            "state": self._status.state,
            "mode": self._mode,
            "pid": os.getpid(),
            "version": VERSION,
            "started_at": self._started_at,
            "uptime_seconds": time.time() - self._started_at,
            "memories": status.counts.memories,
            "pending": status.pending,
            "embedding": self._status.embedding,
            "staged_turns": status.staged_turns,
            "last_consolidation_at": status.last_run["began_at"] if status.last_run else None,
            "store": status.location,
            "socket": self._address,
            "http": self._http.address,
            "model": self._lore.embeddings.state,
            "language_model": models_of_today(self._lore),
            "troubles": self._troubles(),
            "clients": self._clients.summaries(),
        }

    @property
    def _address(self) -> str:
        return (
            self._endpoint.socket
            if self._endpoint.unix
            else f"{LOOPBACK}:{self._endpoint.port_and_token()[0]}"
        )
