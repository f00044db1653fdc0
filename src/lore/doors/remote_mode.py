"""remote_mode: what a daemon does with a server of `[remote]`: push turns, keep namespaces equal, again and
again."""

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

import anyio
import anyio.to_thread

from lore.config import IGNORE_LIST, Config
from lore.doors.remote_http import connect, namespaces_of, remote_server
from lore.doors.sync import exchange, push
from lore.doors.sync_requests import Connection, jittered
from lore.engine import Lore
from lore.errors import Invalid
from lore.supervision import Service, async_failure_of
from lore.transcripts import ignore_rules

ANSWER_SECONDS = 20.0
"""Longest wait for the server; a daemon that ends waits for the request that has begun."""
LAST_SECONDS = 5.0
"""For the push before the daemon ends."""
SHORTEST_SECONDS = 1.0

logger = logging.getLogger(__name__)


class RemoteMode:
    """Exchanges the store with the server of the settings. doing: entered while an exchange goes on."""

    def __init__(
        self, lore: Lore, config: Config, doing: Callable[[], AbstractContextManager[object]]
    ) -> None:
        self._lore = lore
        self._config = config
        self._doing = doing
        self._alone = anyio.Lock()
        self._until: float | None = None
        self._refused: dict[str, str] = {}
        self.service = Service(f"syncing with {config.remote_url}")

    async def run(self) -> None:
        """Exchange at every interval; while the server cannot be reached, after pauses that grow."""
        while True:
            error = await async_failure_of(self._exchange)
            if error is None:
                self.service.works()
                await anyio.sleep(max(SHORTEST_SECONDS, self._config.remote_sync_seconds))
            else:
                self.service.failed(error)
                await anyio.sleep(max(SHORTEST_SECONDS, jittered(self.service.failures)))

    async def end(self) -> None:
        """Push what is left, within a few seconds; the rest waits for the next daemon."""
        self._until = time.monotonic() + LAST_SECONDS
        if (error := await async_failure_of(self._exchange)) is not None:
            logger.info("turns wait for the next daemon: %s", error)

    async def _exchange(self) -> None:
        async with self._alone:
            with self._doing():
                await anyio.to_thread.run_sync(self._exchange_now)

    def _exchange_now(self) -> None:
        """Push and exchange; what the server refuses does not keep the rest from being done."""
        config = self._config
        server = remote_server(config)
        with connect(server, ANSWER_SECONDS if self._until is None else LAST_SECONDS) as client:
            connection = Connection(server, client, until=lambda: self._until)
            work = [partial(self._push, connection)]
            if self._until is None:
                work += [partial(self._keep_equal, connection, name) for name in namespaces_of(config)]
            refusals: list[Invalid] = []
            for one in work:
                try:
                    one()
                except Invalid as refusal:
                    refusals.append(refusal)
            if refusals:
                raise refusals[0]

    def _push(self, connection: Connection) -> None:
        config, url = self._config, connection.server.url
        ignored = ignore_rules.load(config.data_dir / IGNORE_LIST, Path.home())
        pushed = push(self._lore, connection, ignored, keep_turns=config.remote_keep_turns)
        if pushed.turns:
            logger.info("pushed %d turns to %s", pushed.turns, url)
        for id, why in pushed.refused.items():
            logger.warning("%s refused turn %s: %s", url, id, why)

    def _keep_equal(self, connection: Connection, namespace: str) -> None:
        refused = exchange(self._lore, connection, namespace).refused
        for id, why in refused.items():
            if self._refused.get(id) != why:  # it is tried again at every interval
                logger.warning("%s: change %s of namespace %s: %s", connection.server.url, id, namespace, why)
        self._refused |= refused
