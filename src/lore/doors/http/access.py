"""access: who sends a request: the holder of a token, a user of the issuer, or the user of this machine.

Wherever a server listens, a request without a token or a session is nobody's: every account of the machine
can reach a port of loopback.
"""

import time
from collections.abc import Callable

import anyio.to_thread
from starlette.requests import Request

from lore.config import Config
from lore.doors.http.callers import CALLER, MACHINE, REASON, Caller, Unauthenticated
from lore.doors.http.guard import is_loopback
from lore.doors.http.oauth import issuer_of
from lore.doors.http.rates import Rates
from lore.doors.http.sessions import Sessions, is_browser
from lore.doors.http.tokens import NOT_VALID, PREFIX, Tokens, state, tokens
from lore.doors.http.transport import check_names, transport_options
from lore.errors import Invalid
from lore.store import Store

FORWARDED = ("forwarded", "x-forwarded", "x-real-ip", "via", "cf-")
"""How headers of proxies begin: whoever sends a request with one of them may be anywhere."""
IN_QUERY = frozenset({"access_token", "token", "authorization"})
CHECKS = 4
"""Threads that check tokens at a time."""
MISSING = "this needs a token: send the header 'Authorization: Bearer TOKEN'; lore token create makes one"
MISPLACED = (
    "a token in the address is refused, because addresses are logged; send it in the Authorization header"
)


class Access:
    """Who calls. Close it when the server ends."""

    def __init__(
        self,
        store: Store,
        config: Config,
        sessions: Sessions,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._tokens = Tokens(store, clock)
        self._issuer = issuer_of(config)
        self._sessions = sessions
        self.rates = Rates(config.rate_limit)
        self._checks = anyio.CapacityLimiter(CHECKS)

    async def identify(self, request: Request) -> Caller:
        """The caller of a request. Unauthenticated without a valid token or session; TooMany above the limit.

        The user of this machine, who has the session of a one-time link, has no limit.
        """
        try:
            caller = await self._caller(request)
        except Unauthenticated as error:
            request.scope[REASON] = error.why
            if "authorization" in request.headers:  # the guard counts the others
                self.rates.take(f"address {address_of(request)}")
            raise
        request.scope[CALLER] = caller
        if caller.id:
            self.rates.take(f"caller {caller.id}")
        return caller

    def count(self, request: Request) -> None:
        """Count a request to a public address for its client; the guard counts those without a token."""
        if "authorization" in request.headers and not is_loopback(address := address_of(request)):
            self.rates.take(f"address {address}")

    async def _caller(self, request: Request) -> Caller:
        if IN_QUERY & {name.lower() for name in request.query_params}:
            raise Invalid(MISPLACED)
        sent = request.headers.getlist("authorization")
        if not sent and is_browser(request):
            session = self._sessions.of(request)
            return await self._of_token(session.token) if session.token else _of_machine(request)
        if not sent:
            raise Unauthenticated(MISSING, why="no token")
        scheme, _, token = sent[0].strip().partition(" ")
        if len(sent) > 1 or scheme.lower() != "bearer":
            raise Unauthenticated(MISSING, why="no bearer token")
        return await self._of_token(token.strip())

    async def _of_token(self, token: str) -> Caller:
        if token.startswith(PREFIX):
            return await anyio.to_thread.run_sync(self._tokens.caller, token, limiter=self._checks)
        if self._issuer is None:
            raise Unauthenticated(NOT_VALID, invalid=True, why="not the form of a token")
        return await self._issuer.caller(token)

    def close(self) -> None:
        """Finish the notes of last uses."""
        self._tokens.close()


def check_access(store: Store, config: Config, address: str, now: float) -> None:
    """Invalid if a setting about access cannot be right, or if no token lets anybody in from elsewhere."""
    issuer_of(config)
    check_names(config)
    transport_options(config)
    if is_loopback(address) or config.oauth_issuer:
        return
    if not has_token(store, now):
        raise Invalid(
            f"the server does not listen on {address} as long as there is no token: run"
            " lore token create NAME first, or listen on 127.0.0.1"
        )


def has_token(store: Store, now: float) -> bool:
    """Whether any token is accepted."""
    return any(state(token, now) == "active" for token in tokens(store))


def address_of(request: Request) -> str:
    """The address of the client, or of a proxy that is not trusted."""
    return request.client.host if request.client else ""


def _of_machine(request: Request) -> Caller:
    """The user of this machine, who has the session of a one-time link and sends from here."""
    if is_loopback(address_of(request)) and not _is_forwarded(request):
        return MACHINE
    raise Unauthenticated(MISSING, why="no token")


def _is_forwarded(request: Request) -> bool:
    return any(name.startswith(FORWARDED) for name in request.headers)
