"""health: the routes by which people and programs see whether a server works: /status, /healthz,
/readyz and /metrics."""

import logging
from functools import partial

from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lore.doors.http.callers import Caller
from lore.doors.http.openapi import PREFIX
from lore.doors.http.routes import Route
from lore.doors.http.served import Served
from lore.engine import Lore
from lore.errors import Unavailable
from lore.supervision import failure_of, reason
from lore.version import VERSION

logger = logging.getLogger(__name__)


def routes(served: Served) -> list[Route]:
    """The routes of this module."""
    return [
        Route("GET", "/status", "read", partial(_status, served)),
        Route("GET", "/healthz", None, _healthz),
        Route("GET", "/readyz", None, partial(_readyz, served)),
        Route("GET", "/metrics", "read", partial(_metrics, served)),
        Route("GET", f"{PREFIX}/metrics", "read", partial(_figures, served)),
    ]


async def _status(served: Served, request: Request, caller: Caller) -> Response:
    lore = served.lore_of(request, caller, "http")
    return JSONResponse(await served.run("status", partial(_counts, lore), reading=True))


def _counts(lore: Lore) -> dict[str, object]:
    """The seed's three fields, and what an administrator asks next."""
    status = lore.status()
    return {
        "status": "ok",
        "staged_sessions": len(lore.staged()),
        "staged_turns": status.staged_turns,
        "version": VERSION,
        "namespace": status.namespace,
        "memories": status.counts.memories,
        "pending": status.pending,
        "embedding_state": status.embedding_state,
        "last_write_at": status.last_write_at,
        "warnings": list(status.warnings),
    }


async def _figures(served: Served, request: Request, caller: Caller) -> Response:
    """Calls, their times and the quality of searches, for the explorer."""
    caller.require_default_tenant()
    return JSONResponse(served.figures.view())


async def _healthz(request: Request, caller: Caller) -> Response:
    """The process lives."""
    return JSONResponse({"status": "ok"})


async def _readyz(served: Served, request: Request, caller: Caller) -> Response:
    """The store can be read and the model is loaded."""
    if trouble := await served.run("the check", partial(_trouble, served.lore), reading=True):
        raise Unavailable(trouble)
    return JSONResponse({"status": "ok"})


def _trouble(lore: Lore) -> str:
    """Why requests cannot be answered in full; empty if they can. Public, so without file names."""
    if (error := failure_of(lore.pending)) is not None:
        logger.warning("the store cannot be read: %s", reason(error))
        return "the store cannot be read; the log of the server says why"
    return {
        "ready": "",
        "warming": "the embedding model is still loading",
        "missing": "the embedding model cannot be loaded; the log of the server says why",
    }[lore.embeddings.state]


async def _metrics(served: Served, request: Request, caller: Caller) -> Response:
    caller.require_default_tenant()
    text = await served.run("metrics", served.metrics.text, reading=True)
    return Response(text, media_type=CONTENT_TYPE_LATEST)
