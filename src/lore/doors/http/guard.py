"""guard: what every request must pass before any route, and the headers of every answer.

A web page in a browser on this machine can send requests to a server on loopback. It cannot choose the
headers Host and Origin, so these tell its requests from those of agents. No answer allows a page of another
origin to read it: there are no headers of CORS.
"""

import ipaddress
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lore.doors.http.callers import SCOPE, Forbidden, Refused, TooMany
from lore.doors.http.rates import Rates

SECURITY = {
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}
"""Headers of every answer whose route does not set them itself."""
USUAL_SCOPES = f"{SCOPE}read {SCOPE}write"
"""Scopes that a client without a valid token is told to ask for."""
LOOPBACK_NAME = "localhost"
ANY = "*"
FROM_ELSEWHERE = ("cross-site", "same-site")
"""Values of Sec-Fetch-Site for pages of another origin."""
WRONG_HOST = (
    "the host {host!r} is not one of this server: use localhost or an address, or start it with"
    " --allowed-host {host}"
)
WRONG_ORIGIN = (
    "requests from pages of {origin!r} are refused: start the server with --allowed-origin if they may"
)


class Guard:
    """Refuses requests with a foreign Host or Origin, or too many without a token; completes the headers of
    answers.

    hosts: names of this server besides `localhost`; `*` for any. origins: of pages that may send requests.
    resource_metadata: where clients learn how to get a token from an issuer; empty for nowhere. rates: limits
    requests without a token by the address of their client, unless that is this machine.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Iterable[str] = (),
        origins: Iterable[str] = (),
        resource_metadata: str = "",
        rates: Rates | None = None,
    ) -> None:
        self._app = app
        self._hosts = {LOOPBACK_NAME, *(name.lower() for name in hosts)}
        self._origins = {origin.lower().rstrip("/") for origin in origins}
        self._resource_metadata = resource_metadata
        self._rates = rates

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def completed(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._complete(MutableHeaders(scope=message))
            await send(message)

        headers = Headers(scope=scope)
        refusal = self._wrong_host(headers) or self._wrong_origin(headers) or self._too_many(scope, headers)
        await (refusal or self._app)(scope, receive, completed)

    def _wrong_host(self, headers: Headers) -> JSONResponse | None:
        """An address is always right: only a name can be made to lead to this machine."""
        host = headers.get("host", "")
        name = host_name(host)
        if ANY in self._hosts or name in self._hosts or _is_address(name):
            return None
        return _refusal(421, WRONG_HOST.format(host=host[:200]))

    def _wrong_origin(self, headers: Headers) -> JSONResponse | None:
        origin, elsewhere = headers.get("origin"), headers.get("sec-fetch-site") in FROM_ELSEWHERE
        if origin is None:
            refused = elsewhere and headers.get("sec-fetch-mode") != "navigate"
            return _refusal(403, WRONG_ORIGIN.format(origin="another site")) if refused else None
        scheme, _, place = origin.lower().partition("://")
        own = scheme in ("http", "https") and place == headers.get("host", "").lower()
        if (own and not elsewhere) or origin.lower() in self._origins:
            return None
        return _refusal(403, WRONG_ORIGIN.format(origin=origin[:200]))

    def _too_many(self, scope: Scope, headers: Headers) -> JSONResponse | None:
        address = scope["client"][0] if scope.get("client") else ""
        if self._rates is None or "authorization" in headers or is_loopback(address):
            return None
        try:
            self._rates.take(f"address {address}")
        except TooMany as error:
            return _refusal(429, str(error), error)
        return None

    def _complete(self, headers: MutableHeaders) -> None:
        for name, value in SECURITY.items():
            headers.setdefault(name, value)
        challenge = headers.get("www-authenticate")
        if challenge is not None and self._resource_metadata:
            scheme, _, parameters = challenge.partition(" ")
            more = f'resource_metadata="{self._resource_metadata}"'
            scope = "" if "scope=" in parameters else f'scope="{USUAL_SCOPES}"'
            headers["www-authenticate"] = f"{scheme} {', '.join(filter(None, (parameters, scope, more)))}"


def host_name(host: str) -> str:
    """The name or address in a Host header, without the port and without brackets."""
    if host.startswith("["):
        return host[1:].partition("]")[0].lower()
    return host.rpartition(":")[0].lower() if host.count(":") == 1 else host.lower()


def is_loopback(address: str) -> bool:
    """Whether this is an address of the machine itself, or its name."""
    if address.lower() == LOOPBACK_NAME:
        return True
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = getattr(parsed, "ipv4_mapped", None)
    return (mapped or parsed).is_loopback


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _refusal(status: int, message: str, error: Refused | None = None) -> JSONResponse:
    kind, headers = (type(error).__name__, error.headers) if error else (Forbidden.__name__, {})
    return JSONResponse({"error": {"kind": kind, "message": message}}, status, headers)
