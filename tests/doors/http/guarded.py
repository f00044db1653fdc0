"""A server in this process for tests of who may call it: its real routes, behind the real entrance."""

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from lore.config import load
from lore.connecting import wire
from lore.doors.http.entrance import entrance
from lore.doors.http.served import Served
from lore.doors.http.server import routes
from lore.doors.http.sessions import CSRF_HEADER, Sessions
from lore.doors.http.tokens import Grant, create
from tests.doors.http.tokens import bearer as bearer

LOOPBACK = "127.0.0.1"
ELSEWHERE = "203.0.113.5"
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin", "Origin": "http://localhost"}
"""What a browser sends for a page of the server."""


class Guarded:
    """The server of one folder, and its callers."""

    def __init__(self, folder: Path, **settings: Any) -> None:
        self.folder = folder
        config = load({}, data_dir=folder, embedding_model="hash", **settings)
        self.session_seconds = 0.0
        """The time, for one-time links and sessions."""
        sessions = Sessions(lambda: self.session_seconds)
        self.served = Served(lore=wire(config, patient=False), config=config, sessions=sessions)
        self.store = self.served.lore.store
        self.routes = routes(self.served)
        self.app = entrance(self.served, self.routes)
        self._entered = TestClient(self.app)

    @contextmanager
    def running(self) -> Iterator["Guarded"]:
        """The server between its start and its end."""
        with closing(self.served.lore), self._entered:
            yield self

    def token(self, name: str, *, now: float | None = None, **grant: Any) -> str:
        """A token that was made at `now`."""
        made_at = self.served.lore.clock() if now is None else now
        return create(self.store, Grant(name=name, **grant), made_at)[0]

    def client(self, address: str = LOOPBACK, host: str = "localhost") -> TestClient:
        """A caller at this address, who knows the server by this name."""
        client = TestClient(
            self.app, f"http://{host}", client=(address, 50_000), raise_server_exceptions=False
        )
        client.portal = self._entered.portal  # one event loop for all
        return client

    def owner(self) -> TestClient:
        """The user of this machine, in the session of a one-time link."""
        client, headers = self.browser()
        client.headers.update(headers)
        return client

    def browser(self, token: str = "", address: str = LOOPBACK) -> tuple[TestClient, dict[str, str]]:
        """A browser with a session, and the headers of its changes. token: that signed in; none: a link."""
        client = self.client(address)
        if token:
            client.post("/explorer/sign-in", headers=SAME_ORIGIN | bearer(token))
        else:
            client.get(f"/explorer/enter?code={self.served.sessions.code()}", follow_redirects=False)
        csrf = client.get("/api/v1/session", headers=SAME_ORIGIN).json().get("csrf", "")
        return client, SAME_ORIGIN | {CSRF_HEADER: csrf}

    def audit(self) -> list[dict[str, Any]]:
        """The lines of the audit log so far."""
        lines = (self.folder / "audit.log").read_text().splitlines()
        return [json.loads(line) for line in lines]


@contextmanager
def guarded(folder: Path, **settings: Any) -> Iterator[Guarded]:
    with Guarded(folder, **settings).running() as server:
        yield server
