"""audit: one line for each request that is not public, with who sent it and what came of it.

A line has no text of a caller but the name of its program: no body, no query, no secret.
"""

import json
import logging
import os
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override

from lore.doors.http.access import address_of
from lore.doors.http.callers import CALLER, REASON, Caller
from lore.doors.http.routes import ROUTE, Route
from lore.doors.logbook import Logbook
from lore.supervision import Service

FILE_NAME = "audit.log"
LARGEST_BYTES, FILES = 10_000_000, 10
LONGEST = 200
"""Characters of a text in a line."""
EXPECTED = 400
"""Public routes with a status below this are left out: they are probes."""


class Ledger(Logbook):
    """The files with the lines, for their owner only. A line that cannot be written keeps nobody waiting."""

    def __init__(self, folder: Path) -> None:
        super().__init__(str(folder / FILE_NAME), everything=False, delay=True)
        self.maxBytes, self.backupCount = LARGEST_BYTES, FILES - 1
        self.setFormatter(logging.Formatter())
        self._service = Service("writing the audit log")

    def write(self, line: str) -> None:
        """Append a line."""
        self.handle(logging.makeLogRecord({"msg": line}))

    @override
    def _open(self) -> TextIOWrapper:
        os.makedirs(os.path.dirname(self.baseFilename), mode=0o700, exist_ok=True)
        return super()._open()

    @override
    def close(self) -> None:
        try:
            super().close()
        except OSError as error:  # the last line is still in memory, and the disk is full
            self._service.failed(error)

    @override
    def handleError(self, record: logging.LogRecord) -> None:
        error = sys.exception()
        self._service.failed(error if isinstance(error, Exception) else OSError(self.baseFilename))


class Audit:
    """Writes a line when the answer to a request begins."""

    def __init__(self, app: ASGIApp, write: Callable[[str], None]) -> None:
        self._app = app
        self._write = write

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start":
                route: Route | None = scope.get(ROUTE)
                if route is None or route.right is not None or message["status"] >= EXPECTED:
                    self._write(_line(scope, message["status"], time.perf_counter() - began))
            await send(message)

        await self._app(scope, receive, noted)


def _line(scope: Scope, status: int, seconds: float) -> str:
    request = Request(scope)
    route: Route | None = scope.get(ROUTE)
    caller: Caller | None = scope.get(CALLER)
    entry: dict[str, Any] = {
        "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "caller": caller and (caller.name or "local"),
        "token": (caller and caller.id) or None,
        "tenant": (caller and caller.tenant) or None,
        "client": request.headers.get("user-agent", "")[:LONGEST],
        "address": address_of(request),
        "method": request.method[:LONGEST],
        "route": route and route.path,
        "right": route and route.right,
        "namespace": _namespace(request, caller),
        "status": status,
        "ms": round(seconds * 1000, 1),
        "reason": scope.get(REASON),
    }
    return json.dumps({name: value for name, value in entry.items() if value is not None})


def _namespace(request: Request, caller: Caller | None) -> str | None:
    """The namespace that the request names, or the one of its caller."""
    if wanted := request.query_params.get("namespace"):
        return wanted[:LONGEST]
    return caller.namespace() if caller else None
