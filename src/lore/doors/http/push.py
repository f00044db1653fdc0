"""push: the routes by which machines exchange turns and memories with a server: /push and /changes."""

import json
from collections.abc import Mapping, Sequence
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
        Route("GET", "/changes", "read", partial(_changes, served), ("after", "limit", "ids")),
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
        **_named(lore),
    }


def _named(lore: Lore) -> dict[str, Any]:
    """The version of the format, and the epoch within which marks and cursors hold."""
    return {"format": sync_format.FORMAT, "epoch": f"{sync_format.FORMAT}-{lore.store.epoch()}"}


async def _changes(served: Served, request: Request, caller: Caller) -> Response:
    """One page of the memories and links that changed in a namespace, as they stand."""
    lore = served.lore_of(request, caller, "sync")
    after, limit = request.query_params.get("after", ""), _limit(request)
    ids = [id for id in request.query_params.get("ids", "").split(",") if id][: sync_format.MOST_ITEMS]
    work = partial(_some, lore, ids) if ids else partial(_page, lore, after, limit)
    return _answer(_readable(request, await served.run("changes", work, reading=True), "changes"))


def _readable(request: Request, document: dict[str, Any], name: str) -> dict[str, Any]:
    """The document without tombstones, for a machine whose Lore does not know them."""
    if request.headers.get(sync_format.FORMAT_HEADER, "").isdecimal():
        return document
    return document | {name: [one for one in document[name] if one["noun"] != "tombstone"]}


def _limit(request: Request) -> int:
    text = request.query_params.get("limit", str(PAGE))
    limit = int(text) if text.isdecimal() and len(text) <= LONGEST_NUMBER else 0
    if not 1 <= limit <= sync_format.MOST_ITEMS:
        raise Invalid(f"limit must be a whole number from 1 to {sync_format.MOST_ITEMS:,}, not {text[:40]!r}")
    return limit


def _page(lore: Lore, after: str, limit: int) -> dict[str, Any]:
    """One page. A cursor of another epoch, or of a Lore that knew none, means: from the beginning."""
    named = _named(lore)
    epoch, dot, cursor = after.rpartition(".")
    if after and not dot:
        lore.changes(after, 1)  # a text that is no cursor at all is refused
    page = lore.changes(cursor if epoch == named["epoch"] else "", limit)
    documents = [sync_format.change_document(change) for change in page.changes]
    behind = f"{named['epoch']}.{page.cursor}"
    return {"changes": documents, "cursor": behind, "more": page.more, **named}


def _some(lore: Lore, ids: Sequence[str]) -> dict[str, Any]:
    documents = [sync_format.change_document(change) for change in lore.changes_of(ids)]
    return {"changes": documents, "cursor": "", "more": False, **_named(lore)}


async def _merge(served: Served, request: Request, caller: Caller) -> Response:
    """Merge the memories and links of another machine; the answer has those that this store knows later
    changes of."""
    lore = served.lore_of(request, caller, "sync")
    body = await read_body(request, served.config.body_bytes)
    work = partial(_take_in, lore, body, may_erase=caller.may("admin"))
    document = _readable(request, await served.run("changes", work, reading=False), "newer")
    return _answer(document if caller.may("read") else document | {"newer": []})


def _take_in(lore: Lore, body: bytes, *, may_erase: bool) -> dict[str, Any]:
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
    merged = lore.merge(arrived, may_erase)
    refused |= merged.refused
    return {
        "status": "ok",
        "acknowledged": list(merged.ids),
        "merged": merged.changed,
        "newer": [sync_format.change_document(change) for change in merged.newer],
        "refused": [{"id": id, "why": why} for id, why in refused.items()],
        **_named(lore),
    }


def _answer(document: Mapping[str, Any]) -> Response:
    """The document as JSON in ASCII: an id comes back as it was sent, also one with half a character."""
    return Response(json.dumps(document), media_type="application/json")
