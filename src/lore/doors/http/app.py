"""app: the Starlette application of the server: routes, checks of access, and errors as answers."""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from http import HTTPStatus

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route as Mounted

from lore.doors.http.body import TooLarge, TooSlow, Unsupported, limited
from lore.doors.http.callers import Caller, Forbidden, Refused, TooMany, Unauthenticated
from lore.doors.http.routes import ROUTE, Route
from lore.doors.http.served import PARAMETERS, Overdue, Served
from lore.errors import Duplicate, Invalid, LoreError, NotFound, Unavailable

STATUS: dict[type[LoreError], int] = {
    Invalid: 400,
    Unauthenticated: 401,
    Forbidden: 403,
    NotFound: 404,
    TooSlow: 408,
    Duplicate: 409,
    TooLarge: 413,
    Unsupported: 415,
    TooMany: 429,
    Unavailable: 503,
    Overdue: 504,
}
CUT_OFF = {"Connection": "close"}
"""Headers for a client that does not send what it has announced."""
Identify = Callable[[Request], Awaitable[Caller]]
"""The caller of a request; Refused if its token is missing or wrong, or if it sends too many."""
Count = Callable[[Request], None]
"""Counts a request whose caller nobody asks for; TooMany above the limit."""


def application(
    served: Served, routes: Sequence[Route], identify: Identify, count: Count = lambda request: None
) -> Starlette:
    """The application that answers these routes, each to callers with its right."""
    mounted = [
        Mounted(one.path, _guarded(served, one, identify, count), methods=[one.method]) for one in routes
    ]
    app = Starlette(
        routes=mounted,
        exception_handlers={HTTPException: partial(_no_route, count), Exception: _failed},
        lifespan=lambda _: served.running(),
    )
    # behind a proxy that does TLS, the address of a redirection would send the token over plain HTTP
    app.router.redirect_slashes = False
    return app


def _guarded(
    served: Served, route: Route, identify: Identify, count: Count
) -> Callable[[Request], Awaitable[Response]]:
    """The route with its checks: of the caller's right, and of the body's size; errors become answers."""

    async def checked(request: Request) -> Response:
        request.scope[ROUTE] = route
        if route.right is None:
            count(request)
            caller = Caller()
        else:
            caller = await identify(request)
            caller.require(route.right)
            caller.namespace(request.query_params.get("namespace", ""))
            _check_parameters(request, (*PARAMETERS, *route.parameters))
        most = route.most_bytes or served.config.body_bytes
        return await route.answer(limited(request, most), caller)

    async def answer(request: Request) -> Response:
        served.used()
        request.scope[ROUTE] = route
        try:
            return await checked(request)
        except LoreError as error:
            return refusal(error)

    return answer


def _check_parameters(request: Request, names: Sequence[str]) -> None:
    """A mistyped name must not put a memory into another namespace."""
    for name, _ in request.query_params.multi_items():
        if name not in names:
            raise Invalid(
                f"unknown parameter {name[:40]!r} in the address; known: {', '.join(names)}."
                " Arguments of a verb are sent in the body"
            )
        if len(request.query_params.getlist(name)) > 1:
            raise Invalid(f"the parameter {name!r} may be given once")


def refusal(error: LoreError) -> JSONResponse:
    """An error as the server answers it."""
    status = next(code for kind, code in STATUS.items() if isinstance(error, kind))
    existing = {"existing": error.existing} if isinstance(error, Duplicate) else {}
    headers = error.headers if isinstance(error, Refused) else CUT_OFF if isinstance(error, TooSlow) else {}
    return JSONResponse(
        {"error": {"kind": type(error).__name__, "message": str(error), **existing}}, status, headers
    )


async def _no_route(count: Count, request: Request, error: Exception) -> Response:
    """No route has this path, or none with this method."""
    assert isinstance(error, HTTPException)
    try:
        count(request)
    except TooMany as too_many:
        return refusal(too_many)
    kind = HTTPStatus(error.status_code).phrase.title().replace(" ", "")
    message = f"{request.method} {request.url.path[:200]}: {error.detail}; GET /api/v1 lists the verbs"
    document = {"error": {"kind": kind, "message": message}}
    return JSONResponse(document, error.status_code, error.headers)


async def _failed(request: Request, error: Exception) -> Response:
    """A fault of the server; its log has the traceback."""
    message = "the server failed; its log says why. Look whether the call was done before you repeat it"
    return JSONResponse({"error": {"kind": "Failed", "message": message}}, 500)
