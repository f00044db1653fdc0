"""Notices: a server tells the others of its database, by LISTEN and NOTIFY, which tenant it has changed.

A notice is sent after the commit: inside of it, all writers of the database would wait for one another. One
that is lost delays what polls anyway; nothing depends on it.
"""

import logging
import time
from collections.abc import Callable, Iterator

import psycopg

from lore.errors import LoreError
from lore.model import new_id
from lore.store.postgres.connections import Connections
from lore.store.postgres.tables import EVERY_TENANT

CHANNEL = "lore_changes"
POLL_SECONDS = 1.0
"""How long a follower that was ended may go on waiting."""
SEND = """
    SELECT pg_notify(%(channel)s, %(payload)s), set_config('synchronous_commit', 'off', true)
"""
NAME = "SELECT name FROM tenant WHERE number = %(number)s"

logger = logging.getLogger(__name__)


class Notices:
    """Those of one process: it does not hear its own."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._origin = new_id(0.0)[-12:]
        self._names: dict[int, str] = {}

    def send(self, tenant: int) -> None:
        """Tell the others that a tenant has changed."""
        try:
            payload = f"{self._origin} {tenant}"
            self._connections.read(EVERY_TENANT, SEND, {"channel": CHANNEL, "payload": payload})
        except LoreError as error:
            logger.info("other servers were not told of a change: %s", error)

    def follow(self, changed: Callable[[str], None], stopped: Callable[[], bool]) -> None:
        """Call `changed` with the name of each tenant that another process has changed, until `stopped`.

        After the connection was lost, each tenant that was ever named may have changed.
        """
        lost = False
        while not stopped():
            try:
                with self._connections.aside() as connection:
                    connection.execute(f"LISTEN {CHANNEL}")
                    for tenant in list(self._names.values()) if lost else ():
                        changed(tenant)
                    lost = True
                    self._listen(connection, changed, stopped)
            except LoreError as error:
                logger.info("changes of other servers are not heard of: %s", error)
                _rest(stopped)

    def _listen(
        self,
        connection: psycopg.Connection[tuple[object, ...]],
        changed: Callable[[str], None],
        stopped: Callable[[], bool],
    ) -> None:
        while not stopped():
            for number in _numbers(connection, self._origin):
                if (name := self._name(number)) is not None:
                    changed(name)

    def _name(self, number: int) -> str | None:
        if number not in self._names:
            rows = self._connections.read(EVERY_TENANT, NAME, {"number": number})
            if not rows:
                return None
            self._names[number] = str(rows[0][0])
        return self._names[number]


def _numbers(connection: psycopg.Connection[tuple[object, ...]], own: str) -> Iterator[int]:
    """The tenants that others have changed since; each once."""
    found = [one.payload.partition(" ") for one in connection.notifies(timeout=POLL_SECONDS, stop_after=1)]
    yield from dict.fromkeys(int(number) for origin, _, number in found if origin != own and number.isdigit())


def _rest(stopped: Callable[[], bool]) -> None:
    """Wait before the next attempt."""
    until = time.monotonic() + POLL_SECONDS
    while not stopped() and time.monotonic() < until:
        time.sleep(POLL_SECONDS / 10)
