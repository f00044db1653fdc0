"""sign_in: how a browser gets a session, learns who it is, and ends it."""

from functools import partial

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from lore.doors.http.callers import EVERY_NAMESPACE, Caller
from lore.doors.http.openapi import PREFIX
from lore.doors.http.routes import Route
from lore.doors.http.served import Served
from lore.doors.http.sessions import Sessions, cookie_name, set_cookie
from lore.version import VERSION

PAGES = "/explorer/"
ENTER = "/explorer/enter"
OLD_LINK = "/explorer/sign-in?link=old"
"""Where a browser with a link that was used or is too old goes."""


def routes(served: Served) -> list[Route]:
    """The routes of this module."""
    return [
        Route("GET", ENTER, None, partial(_enter, served)),
        Route("POST", "/explorer/sign-in", "read", partial(_sign_in, served)),
        Route("POST", "/explorer/sign-out", None, partial(_sign_out, served)),
        Route("GET", f"{PREFIX}/session", "read", partial(_session, served)),
    ]


def link(sessions: Sessions, address: str) -> str:
    """A link that signs in the user of this machine, once. address: of the server."""
    return f"{address}{ENTER}?code={sessions.code()}"


async def _enter(served: Served, request: Request, caller: Caller) -> Response:
    """Exchange the code of a one-time link for a session."""
    if request.method != "GET" or not served.sessions.redeem(request.query_params.get("code", "")):
        return RedirectResponse(OLD_LINK, 303)
    response = RedirectResponse(PAGES, 303)
    set_cookie(request, response, served.sessions.begin())
    return response


async def _sign_in(served: Served, request: Request, caller: Caller) -> Response:
    """Begin a session with the rights of the token in the header. Who is here without one has a session."""
    response = Response(status_code=204)
    token = request.headers.get("authorization", "").strip().partition(" ")[2].strip()
    if token:
        set_cookie(request, response, served.sessions.begin(token))
    return response


async def _sign_out(served: Served, request: Request, caller: Caller) -> Response:
    """End the session of the browser."""
    secret = request.cookies.get(cookie_name(request), "")
    if served.sessions.find(secret) is not None:
        served.sessions.of(request)  # refuses pages of others
        served.sessions.end(secret)
    response = Response(status_code=204)
    set_cookie(request, response, "")
    return response


async def _session(served: Served, request: Request, caller: Caller) -> Response:
    """Who the caller is, and the proof that its changes need."""
    session = served.sessions.find(request.cookies.get(cookie_name(request), ""))
    return JSONResponse(
        {
            "name": caller.name,
            "tenant": caller.tenant,
            "namespace": caller.namespace(request.query_params.get("namespace", "")),
            "namespaces": [name for name in caller.namespaces if name != EVERY_NAMESPACE],
            "every_namespace": EVERY_NAMESPACE in caller.namespaces,
            "rights": sorted(caller.rights),
            "whole_store": caller.whole_store,
            "csrf": session.csrf if session else "",
            "version": VERSION,
        }
    )
