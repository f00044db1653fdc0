"""push: the routes by which machines exchange turns and memories with a server: /push and /changes."""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from lore.doors import sync_format
from lore.doors.http.body import TooLarge, read_body
from lore.doors.http.callers import Caller
from lore.doors.http.routes import Route
from lore.doors.http.served import Served
from lore.engine import Lore
from lore.engine.versions import Change
from lore.errors import Invalid

PAGE = 200
"""Entries of the journal in one page of changes, unless the request says how many."""
LONGEST_NUMBER = 9
"""Digits of a number in an address."""


def routes(served: Served) -> list[Route]:
    """The routes of this module."""
    return [
        Route("POST", "/push", "write", partial(_push, served)),
        Route("GET", "/changes", "read", partial(_changes, served), ("after", "limit")),
        Route("POST", "/changes", "write", partial(_merge, served)),
    ]


async def _push(served: Served, request: Request, caller: Caller) -> Response:
    """Keep the turns of another machine; the answer names those that are on the disk."""
    lore = served.lore_of(request, caller, "push")
    body = await read_body(request, served.config.body_bytes)
    return _answer(await served.run("push", partial(_keep, lore, body), reading=False))


def _keep(lore: Lore, body: bytes) -> dict[str, Any]:
    try:
        push = sync_format.push_of(body)
    except sync_format.TooMany as error:
        raise TooLarge(str(error)) from error
    lore.keep_pushed(push.entries)
    return {
        "status": "ok",
        "batch_id": push.batch_id,
        "staged": len(push.ids),
        "acknowledged": list(push.ids),
        "refused": list(push.refused),
    }


async def _changes(served: Served, request: Request, caller: Caller) -> Response:
    """One page of the memories and links that changed in a namespace, as they stand."""
    lore = served.lore_of(request, caller, "sync")
    after, limit = request.query_params.get("after", ""), _limit(request)
    return _answer(await served.run("changes", partial(_page, lore, after, limit), reading=True))


def _limit(request: Request) -> int:
    text = request.query_params.get("limit", str(PAGE))
    limit = int(text) if text.isdecimal() and len(text) <= LONGEST_NUMBER else 0
    if not 1 <= limit <= sync_format.MOST_ITEMS:
        raise Invalid(f"limit must be a whole number from 1 to {sync_format.MOST_ITEMS:,}, not {text[:40]!r}")
    return limit


def _page(lore: Lore, after: str, limit: int) -> dict[str, Any]:
    page = lore.changes(after, limit)
    documents = [sync_format.change_document(change) for change in page.changes]
    return {"changes": documents, "cursor": page.cursor, "more": page.more}


async def _merge(served: Served, request: Request, caller: Caller) -> Response:
    """Merge the memories and links of another machine; the answer has those that this store knows later
    changes of."""
    lore = served.lore_of(request, caller, "sync")
    body = await read_body(request, served.config.body_bytes)
    document = await served.run("changes", partial(_take_in, lore, body), reading=False)
    return _answer(document if caller.may("read") else document | {"newer": []})


def _take_in(lore: Lore, body: bytes) -> dict[str, Any]:
    document = sync_format.parsed(body)
    sync_format.client_of(document)
    try:
        items = sync_format.items_of(document, "changes")
    except sync_format.TooMany as error:
        raise TooLarge(str(error)) from error
    arrived: list[Change] = []
    refused: dict[str, str] = {}
    for item in items:
        try:
            arrived.append(sync_format.change_of(item, authors=False))
        except Invalid as error:
            refused[sync_format.id_of(item)] = str(error)
    merged = lore.merge(arrived)
    refused |= merged.refused
    return {
        "status": "ok",
        "acknowledged": list(merged.ids),
        "merged": merged.changed,
        "newer": [sync_format.change_document(change) for change in merged.newer],
        "refused": [{"id": id, "why": why} for id, why in refused.items()],
    }


def _answer(document: Mapping[str, Any]) -> Response:
    """The document as JSON in ASCII: an id comes back as it was sent, also one with half a character."""
    return Response(json.dumps(document), media_type="application/json")
