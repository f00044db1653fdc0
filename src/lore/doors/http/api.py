"""api: one route for each verb of the table, with plain JSON; the list of verbs and their description."""

import json
from functools import cache, partial

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from lore.doors.http import plain
from lore.doors.http.body import JSON, Unsupported, read_body
from lore.doors.http.callers import Caller
from lore.doors.http.openapi import PREFIX, document, summary_of
from lore.doors.http.routes import Route
from lore.doors.http.served import Served
from lore.engine import Lore
from lore.verbs import OVER_HTTP, WHOLE_STORE, Verb


def routes(served: Served) -> list[Route]:
    """The routes of this module."""
    return [
        Route("GET", PREFIX, None, _list_verbs),
        Route("GET", f"{PREFIX}/openapi.json", None, partial(_describe, served)),
        *(
            Route("POST", f"{PREFIX}/{name}", verb.right, partial(_call, served, name, verb))
            for name, verb in OVER_HTTP.items()
        ),
    ]


async def _list_verbs(request: Request, caller: Caller) -> Response:
    verbs = {
        name: {
            "address": f"{PREFIX}/{name}",
            "summary": summary_of(name),
            "right": verb.right,
            "repeatable": verb.repeatable,
        }
        for name, verb in OVER_HTTP.items()
    }
    return JSONResponse({"verbs": verbs, "openapi": f"{PREFIX}/openapi.json"})


async def _describe(served: Served, request: Request, caller: Caller) -> Response:
    text = await served.run("the description", _description, reading=True)
    return Response(text, media_type=JSON)


@cache
def _description() -> bytes:
    """The document as it is sent; making it takes about a second."""
    return json.dumps(document(), ensure_ascii=False).encode()


async def _call(served: Served, name: str, verb: Verb, request: Request, caller: Caller) -> Response:
    """Do a verb with the arguments in the body; its result is the answer."""
    if name in WHOLE_STORE:
        caller.require_whole_store()
    lore = served.lore_of(request, caller, "api")
    body = await read_body(request, served.config.body_bytes)
    if body.strip() and request.headers.get("content-type", "").partition(";")[0].strip().lower() != JSON:
        raise Unsupported(f"the arguments are sent as JSON, with the header Content-Type: {JSON}")
    served.metrics.verb_called(name)
    work = partial(_run, lore, name, body)
    with served.figures.calling("verb", name):
        return Response(await served.run(name, work, reading=verb.right == "read"), media_type=JSON)


def _run(lore: Lore, verb: str, body: bytes) -> bytes:
    arguments = plain.decode(verb, body)
    return plain.encode(verb, getattr(lore, verb)(**arguments))
