"""sessions: browsers that may use a server: each got a cookie for a one-time link, or for a token.

Links and sessions live in the memory of the serving process and end with it; of their secrets it keeps only
digests. A session of a token holds that token, which is checked at every request like one in a header.
"""

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from lore.doors.http.callers import Forbidden, Unauthenticated

SECRET_BYTES = 32
CODE_SECONDS = 120.0
"""Time in which a one-time link can be used."""
IDLE_SECONDS = 12 * 3600.0
"""A session without a request for this long ends."""
MOST_CODES, MOST_SESSIONS = 100, 1_000
"""Links that wait for their use, and sessions; the oldest are dropped."""
CSRF_HEADER = "X-Lore-CSRF"
BROWSER_HEADERS = ("sec-fetch-site", "origin")
"""Headers that every browser of today sends, and that no page can leave out."""
EVENT_STREAM = "text/event-stream"
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
NO_SESSION = "a browser needs a session: open a link of lore explorer, or sign in with a token at /explorer"
NO_CSRF = f"a change from a browser needs the header {CSRF_HEADER} with the value of GET /api/v1/session"


@dataclass(slots=True)
class Session:
    """csrf: proves that a change comes from a page of this server. token: whose rights it has; empty: those
    of the user of this machine. used_at: time of the last request."""

    csrf: str
    token: str
    used_at: float


class Sessions:
    """The one-time links and the sessions of one server. clock: seconds that never go back."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._codes: dict[str, float] = {}
        self._sessions: dict[str, Session] = {}

    def code(self) -> str:
        """A new code for a one-time link."""
        code = secrets.token_urlsafe(SECRET_BYTES)
        self._codes[_digest(code)] = self._clock() + CODE_SECONDS
        while len(self._codes) > MOST_CODES:
            del self._codes[next(iter(self._codes))]
        return code

    def redeem(self, code: str) -> bool:
        """Whether this code was valid; it no longer is."""
        wanted, now = _digest(code), self._clock()
        found = [one for one in self._codes if hmac.compare_digest(one, wanted)]
        return any([self._codes.pop(one) > now for one in found])

    def begin(self, token: str = "") -> str:
        """The secret of a new session, for its cookie."""
        secret, csrf = secrets.token_urlsafe(SECRET_BYTES), secrets.token_urlsafe(SECRET_BYTES)
        self._sessions[_digest(secret)] = Session(csrf, token, self._clock())
        while len(self._sessions) > MOST_SESSIONS:
            del self._sessions[min(self._sessions, key=lambda one: self._sessions[one].used_at)]
        return secret

    def find(self, secret: str, *, use: bool = True) -> Session | None:
        """The session of this secret; None if there is none or it has expired. use: count this as a use."""
        key, now = _digest(secret), self._clock()
        session = self._sessions.get(key)
        if session is None:
            return None
        if now - session.used_at > IDLE_SECONDS:
            del self._sessions[key]
            return None
        session.used_at = now if use else session.used_at
        return session

    def end(self, secret: str) -> None:
        """Forget the session of this secret, if there is one."""
        self._sessions.pop(_digest(secret), None)

    # --- requests
    def of(self, request: Request) -> Session:
        """The session of a browser's request. Unauthenticated without one; Forbidden if the request would
        change something and does not prove that it comes from a page of this server."""
        listens = request.headers.get("accept") == EVENT_STREAM  # an open page alone is no use
        session = self.find(request.cookies.get(cookie_name(request), ""), use=not listens)
        if session is None:
            raise Unauthenticated(NO_SESSION, why="no session")
        proof = request.headers.get(CSRF_HEADER, "")
        if request.method not in SAFE and not hmac.compare_digest(proof.encode(), session.csrf.encode()):
            raise Forbidden(NO_CSRF)
        return session


def is_browser(request: Request) -> bool:
    """Whether a browser sends this request, or a program that acts for its session."""
    return any(name in request.headers for name in BROWSER_HEADERS) or cookie_name(request) in request.cookies


def cookie_name(request: Request) -> str:
    """The name of the session's cookie; one per port, because servers of one host share their cookies."""
    prefix = "__Host-" if request.url.scheme == "https" else ""
    return f"{prefix}lore_session_{request.url.port or request.url.scheme}"


def set_cookie(request: Request, response: Response, secret: str) -> None:
    """Have the browser keep a session; an empty secret removes it."""
    response.set_cookie(
        cookie_name(request),
        secret,
        max_age=None if secret else 0,
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
