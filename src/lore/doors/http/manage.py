"""manage: the tokens, namespaces and sources of a server, for the page of its settings."""

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lore.config import Config
from lore.doors.http.body import read_json
from lore.doors.http.callers import EVERY_NAMESPACE, Caller, Forbidden
from lore.doors.http.openapi import PREFIX
from lore.doors.http.routes import Route
from lore.doors.http.served import Served
from lore.doors.http.tokens import Grant, create, find, revoke, state, tokens
from lore.engine import Lore
from lore.environment import of_clients
from lore.errors import Invalid, NotFound
from lore.model import SHARED
from lore.store import DEFAULT_TENANT
from lore.store.records import AccessToken, Bookmark
from lore.supervision import reason
from lore.transcripts.sources import SOURCES, VARIABLES, selected
from lore.verbs import Right

TOKENS = f"{PREFIX}/tokens"
MADE_HERE = (
    "tokens are made by the user of the server's machine: with lore token create, or on a page that"
    " lore explorer opens"
)


class Wanted(BaseModel):
    """A token to make; see `Grant`."""

    model_config = ConfigDict(extra="forbid")

    name: str
    tenant: str = DEFAULT_TENANT
    namespaces: tuple[str, ...] = (SHARED,)
    rights: tuple[Right, ...] = ("read", "write")
    expires_at: float | None = None


def routes(served: Served) -> list[Route]:
    """The routes of this module."""
    return [
        Route("GET", TOKENS, "admin", partial(_list_tokens, served)),
        Route("POST", TOKENS, "admin", partial(_make_token, served)),
        Route("DELETE", f"{TOKENS}/{{id}}", "admin", partial(_revoke_token, served)),
        Route("GET", f"{PREFIX}/namespaces", "read", partial(_namespaces, served)),
        Route("GET", f"{PREFIX}/sources", "admin", partial(_sources, served)),
    ]


# --- tokens
async def _list_tokens(served: Served, request: Request, caller: Caller) -> Response:
    lore = served.lore_of(request, caller, "explorer")
    found = await served.run("the tokens", partial(_visible, lore, caller), reading=True)
    return JSONResponse({"tokens": [_document(one, lore.clock()) for one in found]})


async def _make_token(served: Served, request: Request, caller: Caller) -> Response:
    """Make a token; its text is in this answer and nowhere else."""
    if not caller.of_machine:
        raise Forbidden(MADE_HERE)
    lore = served.lore_of(request, caller, "explorer")
    grant = _grant(await read_json(request, served.config.body_bytes))
    work = partial(create, lore.store, grant, lore.clock())
    text, record = await served.run("the token", work, reading=False)
    return JSONResponse({"token": text, **_document(record, lore.clock())}, 201)


async def _revoke_token(served: Served, request: Request, caller: Caller) -> Response:
    lore = served.lore_of(request, caller, "explorer")
    work = partial(_revoke, lore, caller, request.path_params["id"])
    return JSONResponse(await served.run("the token", work, reading=False))


def _revoke(lore: Lore, caller: Caller, id: str) -> dict[str, Any]:
    if id not in {one.id for one in _visible(lore, caller)}:
        raise NotFound(f"there is no token {id[:40]!r}; GET {TOKENS} lists them")
    revoke(lore.store, id, lore.clock())
    return _document(find(lore.store, id, lore.clock()), lore.clock())


def _visible(lore: Lore, caller: Caller) -> list[AccessToken]:
    """The tokens that see nothing which the caller does not see."""
    own = {SHARED, *caller.namespaces}
    every = EVERY_NAMESPACE in own
    return [
        one
        for one in tokens(lore.store)
        if caller.of_machine or (one.of_tenant == caller.tenant and (every or own >= set(one.namespaces)))
    ]


def _grant(body: dict[str, Any]) -> Grant:
    try:
        return Grant(**Wanted.model_validate(body).model_dump())
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the body"
        raise Invalid(f"{where}: {first['msg']}") from error


def _document(token: AccessToken, now: float) -> dict[str, Any]:
    """A token without the digest of its secret."""
    document = {name: value for name, value in asdict(token).items() if name not in ("digest", "of_tenant")}
    return {**document, "tenant": token.of_tenant, "state": state(token, now)}


# --- namespaces
async def _namespaces(served: Served, request: Request, caller: Caller) -> Response:
    lore = served.lore_of(request, caller, "explorer")
    found = await served.run("the namespaces", partial(_names, lore, caller), reading=True)
    current = caller.namespace(request.query_params.get("namespace", ""))
    return JSONResponse({"namespaces": found, "current": current})


def _names(lore: Lore, caller: Caller) -> list[dict[str, Any]]:
    """The namespaces that the caller may act in, with the number of their own memories."""
    existing = {name for _, name in lore.store.namespaces(caller.tenant)}
    own = {SHARED, *caller.namespaces} - {EVERY_NAMESPACE}
    names = existing | own if EVERY_NAMESPACE in caller.namespaces else own
    shared = _count(lore, caller, SHARED)
    return [
        {"name": name, "memories": shared if name == SHARED else _count(lore, caller, name) - shared}
        for name in sorted(names)
    ]


def _count(lore: Lore, caller: Caller, name: str) -> int:
    return lore.store.reader(name, caller.tenant).counts().memories


# --- sources
async def _sources(served: Served, request: Request, caller: Caller) -> Response:
    caller.require_whole_store()
    lore = served.lore_of(request, caller, "explorer")
    work = partial(_found_sources, lore, served.config)
    return JSONResponse(await served.run("the sources", work, reading=True))


def _found_sources(lore: Lore, config: Config) -> dict[str, Any]:
    """The clients whose transcripts Lore can read, and how many of them it has read."""
    chosen = {source.name for source in selected(config.ingest_sources)}
    variables, read = of_clients(VARIABLES), _read(lore)
    entries = []
    for name, source in SOURCES.items():
        place = source.place(Path.home(), variables)
        problems: dict[str, str] = {}
        try:
            files = sum(1 for _ in source.files(Path.home(), variables, problems))
        except OSError as error:
            files, problems = 0, {str(place): reason(error)}
        entries.append(
            {
                "name": name,
                "folder": str(place),
                "found": place.exists(),
                "chosen": name in chosen,
                "files": files,
                "files_read": read.get(name, 0),
                "problems": problems,
            }
        )
    return {"paused": config.ingest_paused, "sources": entries}


def _read(lore: Lore) -> dict[str, int]:
    """Source -> transcripts that were read, at least in part."""
    counts: dict[str, int] = {}
    for bookmark in lore.store.reader(lore.namespace, lore.tenant, lore.teams).records(Bookmark):
        counts[bookmark.source] = counts.get(bookmark.source, 0) + 1
    return counts
