"""sync_requests: the requests of an exchange with a server, tried again while it cannot be reached, and the
reasons for which it refuses them."""

import random
import sys
import time
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime
from typing import Any

import httpx2

from lore.doors.remote_http import RemoteServer
from lore.doors.sync_format import FORMAT, FORMAT_HEADER
from lore.errors import Invalid, LoreError, Unavailable
from lore.llm.http import LARGEST_ANSWER
from lore.supervision import pause_after
from lore.text import compact, preview

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 0.5, 60.0
"""Pause after a first failure, doubled with each further one, and the longest."""
JITTER = 0.5
"""Share of a pause that chance takes away, so that many machines do not come back at the same moment."""
LONGEST_EPOCH = 200
TEMPORARY = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Answers that mean: try again later."""


class TooLarge(LoreError):
    """The server takes no request of this size, or gave an answer that is too long."""


class Connection:
    """Requests to a server. attempts: how often one is tried while the server cannot be reached. until: the
    time (of `time.monotonic`) from which on none is made; None: no such time."""

    def __init__(
        self,
        server: RemoteServer,
        client: httpx2.Client,
        attempts: int = 1,
        until: Callable[[], float | None] = lambda: None,
    ) -> None:
        self.server = server
        self._client = client
        self._attempts = attempts
        self._until = until
        self.requests = self.bytes = 0
        self.epoch = ""
        """Of the server, by its last answer that names one."""
        self.ahead_seconds = 0.0
        """How far the clock of this machine was ahead of the server's at the last answer."""

    def get(self, path: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to a question."""
        headers = {FORMAT_HEADER: str(FORMAT)}
        return self._answer(self._client.build_request("GET", path, params=parameters, headers=headers))

    def post(self, path: str, document: Mapping[str, Any], parameters: Mapping[str, str]) -> dict[str, Any]:
        """The answer to a document. It must do no harm to send it twice: the first answer may be lost."""
        body = zstd.compress(compact(document).encode())
        headers = {
            "content-type": "application/json",
            "content-encoding": "zstd",
            FORMAT_HEADER: str(FORMAT),
        }
        request = self._client.build_request("POST", path, content=body, params=parameters, headers=headers)
        self.bytes += len(body)
        return self._answer(request)

    def _answer(self, request: httpx2.Request) -> dict[str, Any]:
        for failures in range(1, self._attempts + 1):
            self.requests += 1
            try:
                return self._exchange(request)
            except Unavailable:
                if failures == self._attempts:
                    raise
            time.sleep(jittered(failures))
        raise AssertionError("attempts is at least 1")

    def _exchange(self, request: httpx2.Request) -> dict[str, Any]:
        url, until = self.server.url, self._until()
        if until is not None and time.monotonic() > until:
            raise Unavailable("there is no time left for another request")
        try:
            response = self._client.send(request, stream=True)
            try:
                content = _limited(response)
            finally:
                response.close()
        except httpx2.RequestError as error:
            raise Unavailable(f"{url} cannot be reached: {str(error) or type(error).__name__}") from error
        if response.status_code == 200:
            self.ahead_seconds = _ahead(response)
            answer = _object(url, content)
            self.epoch = str(answer.get("epoch", self.epoch))[:LONGEST_EPOCH]
            return answer
        raise _failure(self.server, response, content)


def _ahead(response: httpx2.Response) -> float:
    """Seconds by which the clock of this machine is ahead of the server's, by its header Date, if any."""
    try:
        return time.time() - parsedate_to_datetime(response.headers.get("date", "")).timestamp()
    except ValueError:
        return 0.0


def _limited(response: httpx2.Response) -> bytes:
    content = bytearray()
    for chunk in response.iter_bytes():
        content += chunk
        if len(content) > LARGEST_ANSWER:
            raise TooLarge(f"{response.url} answered more than {LARGEST_ANSWER:,} bytes")
    return bytes(content)


def _object(url: str, content: bytes) -> dict[str, Any]:
    try:
        answer = httpx2.Response(200, content=content).json()
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        raise Unavailable(f"{url} did not answer with a JSON object; is it a Lore server?")
    return answer


def _failure(server: RemoteServer, response: httpx2.Response, content: bytes) -> LoreError:
    """The reason why a server does not do what it was asked."""
    status, url = response.status_code, server.url
    try:
        message = str(_object(url, content)["error"]["message"])
    except (LoreError, KeyError, TypeError):
        message = "no reason given"
    words = preview(message.replace(server.token, "…") if server.token else message, 300)
    if status in TEMPORARY:
        return Unavailable(f"{url} cannot answer now ({status}: {words})")
    if status == 413:
        return TooLarge(f"{url} takes no request of this size ({words})")
    if status == 401:
        held = "sent a token that it does not accept" if server.token else "sent no token"
        return Invalid(f"{url} refused this machine, which {held} ({words})")
    if 300 <= status < 400:
        return Invalid(f"{url} sends to another address; give that one, redirects are not followed")
    return Invalid(f"{url} refused the request ({status}: {words})")


def jittered(failures: int) -> float:
    """Seconds to wait after this many failures in a row, a little less by chance."""
    pause = pause_after(failures, PAUSE_SECONDS, LONGEST_PAUSE_SECONDS)
    return pause * (1 - JITTER * random.random())
