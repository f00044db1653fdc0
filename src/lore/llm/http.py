"""One question over HTTP: send JSON, get JSON, and say in plain words why there is none."""

import json
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

import httpx2

from lore.errors import Invalid
from lore.llm.base import NoAnswer, Nonsense, Refused, Unreachable
from lore.text import preview

CONNECT_SECONDS = 10.0
LARGEST_ANSWER = 16 * 1024 * 1024
QUOTED = 300
"""How much of a server's own words an error repeats."""
BUSY = frozenset({408, 409, 429})
SPENT_UP = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Codes of a 429 that waiting does not mend."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Service:
    """Where questions go, with whose key, and what the user calls these things."""

    url: str
    key: str = field(default="", repr=False)
    key_name: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    def quoted(self, text: str) -> str:
        """A server's words on one line, without the key."""
        return preview(text.replace(self.key, "…") if self.key else text, QUOTED)


class Rejected(Refused):
    """The server understood nothing of the request as it stands: another form of it may do."""


def checked_url(url: str) -> str:
    """The address without a slash at its end, or Invalid."""
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fine = False
    if not fine or re.search(r"[\s\x00-\x1f]", url):
        raise Invalid(f"base_url must be an address such as http://localhost:11434/v1, not {url!r}")
    return url.rstrip("/")


def asked(service: Service, body: Mapping[str, Any], timeout: float, model: str) -> dict[str, Any]:
    """The JSON object that the service answers."""
    try:
        status, headers, content = _exchange(service, json.dumps(body).encode(), timeout)
    except httpx2.ConnectTimeout as error:
        raise Unreachable(f"{service.url} took too long to accept a connection", general=True) from error
    except httpx2.TimeoutException as error:
        message = f"{service.url} did not answer within {round(timeout, 1):g} s (timeout_secs)"
        raise Unreachable(message, lost=True) from error
    except httpx2.ConnectError as error:
        message = f"{service.url} cannot be reached ({error}); is it running?"
        raise Unreachable(message, general=True) from error
    except httpx2.RequestError as error:
        raise Unreachable(f"the connection to {service.url} broke off: {error}", lost=True) from error
    if not 200 <= status < 300:
        raise _failure(service, status, headers, content, model)
    return _object(service, content)


def _exchange(service: Service, body: bytes, timeout: float) -> tuple[int, httpx2.Headers, bytes]:
    """Send and read all. A fresh connection each time: nothing to close, nothing stale, nothing shared.

    A single read may wait for all of the timeout, so that a server which drips is stopped by the clock.
    A proxy is no way to this machine itself.
    """
    until = time.monotonic() + timeout
    limits = httpx2.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout))
    headers = {"content-type": "application/json", **service.headers}
    away = urlsplit(service.url).hostname not in LOOPBACK
    content = bytearray()
    with (
        httpx2.Client(timeout=limits, trust_env=away, follow_redirects=False) as client,
        client.stream("POST", service.url, content=body, headers=headers) as response,
    ):
        for chunk in response.iter_bytes():
            content += chunk
            if time.monotonic() > until:
                raise httpx2.ReadTimeout("the answer came too slowly")
            if len(content) > LARGEST_ANSWER:
                raise Nonsense(f"{service.url} answered more than {LARGEST_ANSWER:,} bytes", lost=True)
        return response.status_code, response.headers, bytes(content)


def _object(service: Service, content: bytes) -> dict[str, Any]:
    try:
        answer = json.loads(content)
    except (ValueError, RecursionError):
        answer = None
    if not isinstance(answer, dict):
        told = service.quoted(content.decode(errors="replace")) or "nothing"
        raise Nonsense(f"{service.url} did not answer with a JSON object but: {told}", retry=True, lost=True)
    return answer


def _failure(service: Service, status: int, headers: httpx2.Headers, content: bytes, model: str) -> NoAnswer:
    code, told = _told(content)
    words = f"{status}: {service.quoted(told) or 'no reason given'}"
    if (status in BUSY and code not in SPENT_UP) or status >= 500:
        after = _after(headers)
        wish = "" if after is None else f"; it asks to wait {after:g} s"
        return Unreachable(f"{service.url} is busy or broken ({words}){wish}", after=after)
    if status in (401, 403):
        return Refused(f"{service.url} refused the key ({words}); {_about_the_key(service)}", general=True)
    if status == 404:
        hint = "check base_url, and extraction_model and compression_model"
        message = f"{service.url} knows no such address or model {model!r} ({words}); {hint}"
        return Refused(message, general=True)
    if 300 <= status < 400:
        where = service.quoted(headers.get("location", "nowhere"))
        message = f"{service.url} sends to {where} instead of answering; check base_url"
        return Refused(message, general=True)
    if status in (400, 422):
        return Rejected(f"{service.url} rejected the request to {model!r} ({words})")
    return Refused(f"{service.url} refused the request to {model!r} ({words})", general=code in SPENT_UP)


def _about_the_key(service: Service) -> str:
    if not service.key_name:
        return "no key was sent: name the variable that holds one in api_key_env"
    held = "holds a wrong one" if service.key else "is not set"
    return f"the variable {service.key_name} (api_key_env) {held}"


def _told(content: bytes) -> tuple[str, str]:
    """The code and the words of an error, in whichever of the usual forms it comes."""
    text = content.decode(errors="replace")
    try:
        body = json.loads(content)
    except (ValueError, RecursionError):
        return "", text
    error = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(error, dict):
        return "", str(error)
    words = error.get("message") or error.get("detail") or text
    return str(error.get("code") or error.get("type") or ""), str(words)


def _after(headers: httpx2.Headers) -> float | None:
    """How long the server asks to wait, in seconds; a date counts from the server's own."""
    wish = headers.get("retry-after", "").strip()
    milliseconds = headers.get("retry-after-ms", "").strip()
    try:
        if re.fullmatch(r"\d{1,9}(\.\d*)?", milliseconds):
            return float(milliseconds) / 1000
        if re.fullmatch(r"\d{1,9}(\.\d*)?", wish):
            return float(wish)
        until, now = parsedate_to_datetime(wish), parsedate_to_datetime(headers.get("date", ""))
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError):
        return None
