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
from lore.llm.base import (
    DEFAULT_KEY_NAME,
    Limited,
    NoAnswer,
    Nonsense,
    Prompt,
    Refused,
    Reply,
    Role,
    Schema,
    Settings,
    Unreachable,
    names_unknown_model,
    unknown_model,
)
from lore.llm.structured import in_words
from lore.text import preview

CONNECT_SECONDS = 10.0
LARGEST_ANSWER = 16 * 1024 * 1024
QUOTED = 300
"""How much of a server's own words an error repeats."""
LIMITED = 429
BUSY = frozenset({408, 409, LIMITED})
SPENT_UP = frozenset({"insufficient_quota", "billing_hard_limit_reached"})
"""Codes of a 429 that waiting does not mend."""
LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
ANTHROPIC_MODELS: Mapping[Role, str] = {
    "extraction": "claude-sonnet-5-5",
    "compression": "claude-haiku-5-5",
}
UNNAMED = "default"
"""Sent to a server that speaks OpenAI's API where no model was set: one that serves a single model ignores
the name."""
ANTHROPIC_DEFAULT_URL = "https://api.anthropic.com"
ANTHROPIC_VERSION = "2023-06-01"
TOOL = "answer"
COUNTED = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
OPENAI_DEFAULT_URL = "https://api.openai.com/v1"
FORMATS = ("json_schema", "json_object", "text")
LIMITS = ("max_tokens", "max_completion_tokens")
"""Servers differ in which of these they know; the first is the older and better known."""
Response = tuple[int, httpx2.Headers, bytes]
"""Status, headers and content."""
Form = tuple[str, str]
"""One way to put the request: the name of the limit, and the format of the answer."""


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


def checked_url(url: str, name: str = "base_url", example: str = "http://localhost:11434/v1") -> str:
    """The address without a slash at its end, or Invalid. name: of the setting."""
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        fine = False
    if not fine or re.search(r"[\s\x00-\x1f]", url):
        raise Invalid(f"{name} must be an address such as {example}, not {url!r}")
    return url.rstrip("/")


def post(service: Service, body: Mapping[str, Any], timeout: float, role: Role) -> dict[str, Any]:
    """The JSON object that the service answers. role: of the question."""
    try:
        response = status, _, content = _exchange(service, json.dumps(body).encode(), timeout)
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
        raise _failure(service, response, str(body["model"]), role)
    return _object(service, content)


def _exchange(service: Service, body: bytes, timeout: float) -> Response:
    """Send and read all. A fresh connection each time: nothing to close, nothing stale, nothing shared.

    A single read may wait for all of the timeout, so that a server which drips is stopped by the clock.
    A proxy is no way to this machine itself.
    """
    until = time.monotonic() + timeout
    limits = httpx2.Timeout(timeout, connect=min(CONNECT_SECONDS, timeout))
    headers = {"content-type": "application/json", **service.headers}
    address, content = urlsplit(service.url), bytearray()
    away = address.hostname not in LOOPBACK
    verify = away or address.scheme == "https"  # certificates take 20 ms to load
    with (
        httpx2.Client(timeout=limits, verify=verify, trust_env=away, follow_redirects=False) as client,
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
        answer = service.quoted(content.decode(errors="replace")) or "nothing"
        raise Nonsense(
            f"{service.url} did not answer with a JSON object but: {answer}", retry=True, lost=True
        )
    return answer


def _failure(service: Service, response: Response, model: str, role: Role) -> NoAnswer:
    status, headers, content = response
    code, message = _error(content)
    words = f"{status}: {service.quoted(message) or 'no reason given'}"
    if (status in BUSY and code not in SPENT_UP) or status >= 500:
        after = _after(headers)
        wish = "" if after is None else f"; it asks to wait {after:g} s"
        kind = Limited if status == LIMITED else Unreachable
        return kind(f"{service.url} is busy or broken ({words}){wish}", after=after)
    if status in (401, 403):
        return Refused(f"{service.url} refused the key ({words}); {_about_the_key(service)}", general=True)
    if status in (400, 404, 422) and names_unknown_model(f"{code} {message}"):
        return unknown_model(service.url, model, role, words)
    if status == 404:
        hint = f"check base_url, and {role}_model"
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


def _error(content: bytes) -> tuple[str, str]:
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


class AnthropicModel:
    """See `LanguageModel`."""

    def __init__(self, settings: Settings, key: str = "") -> None:
        root = checked_url(settings.base_url or ANTHROPIC_DEFAULT_URL).removesuffix("/v1")
        headers = {"x-api-key": key, "anthropic-version": ANTHROPIC_VERSION}
        self._settings = settings
        self._service = Service(
            url=f"{root}/v1/messages", key=key, key_name=settings.api_key_env, headers=headers
        )

    @property
    def address(self) -> str:
        return self._service.url

    def model(self, role: Role) -> str:
        return self._settings.model(role) or ANTHROPIC_MODELS[role]

    def complete(self, prompt: Prompt) -> Reply:
        if not self._service.key:
            raise Refused(
                f"there is no API key: set the variable {self._service.key_name} (api_key_env), "
                'or backend = "none" to do without a language model',
                general=True,
            )
        name = self.model(prompt.role)
        timeout = self._settings.timeout_secs if prompt.timeout is None else prompt.timeout
        answer = post(self._service, _anthropic_body(prompt, name), timeout, prompt.role)
        return _anthropic_reply(answer, name)


def _anthropic_body(prompt: Prompt, model: str) -> dict[str, Any]:
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": prompt.max_tokens,
        "system": prompt.system,
        "messages": [{"role": "user", "content": prompt.text}],
    }
    if prompt.schema is None:
        return body
    tool = {"name": TOOL, "description": "Give your answer.", "input_schema": prompt.schema}
    return body | {"tools": [tool], "tool_choice": {"type": "tool", "name": TOOL}}


def _anthropic_reply(answer: dict[str, Any], model: str) -> Reply:
    try:
        blocks = [block for block in answer["content"] if isinstance(block, dict)]
        text = "".join(block["text"] for block in blocks if block.get("type") == "text")
        data = next((block["input"] for block in blocks if block.get("type") == "tool_use"), None)
        usage = answer.get("usage") or {}
        tokens_in = sum(int(usage.get(name) or 0) for name in COUNTED)
        tokens_out = int(usage.get("output_tokens") or 0)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Nonsense(f"the answer is not a message of the Messages API: {error!r}", lost=True) from error
    if answer.get("stop_reason") == "refusal":
        raise Refused(f"{model} declined to answer this", lost=True)
    return Reply(
        text=text or ("" if data is None else json.dumps(data, ensure_ascii=False)),
        data=data,
        model=model,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cut=answer.get("stop_reason") == "max_tokens",
    )


class OpenAIModel:
    """See `LanguageModel`. Learns which forms of a request its server accepts, and keeps to what worked."""

    def __init__(self, settings: Settings, key: str = "") -> None:
        url = checked_url(settings.base_url or OPENAI_DEFAULT_URL)
        if not urlsplit(url).path:
            url += "/v1"
        name = settings.api_key_env
        if name == DEFAULT_KEY_NAME:  # a key for one company is not shown to whoever else is asked
            key = name = ""
        self._settings = settings
        self._service = Service(
            url=f"{url}/chat/completions",
            key=key,
            key_name=name,
            headers={"authorization": f"Bearer {key}"} if key else {},
        )
        self._form = (LIMITS[0], FORMATS[0])

    @property
    def address(self) -> str:
        return self._service.url

    def model(self, role: Role) -> str:
        return self._settings.model(role) or UNNAMED

    def complete(self, prompt: Prompt) -> Reply:
        name = self.model(prompt.role)
        timeout = self._settings.timeout_secs if prompt.timeout is None else prompt.timeout
        limit, format = self._form
        form: Form | None = (limit, format if prompt.schema is not None else "text")
        while form is not None:
            try:
                answer = post(self._service, _openai_body(prompt, name, *form), timeout, prompt.role)
            except Rejected as error:
                refusal, form = error, _easier(form, str(error))
                continue
            if prompt.schema is not None:
                self._form = form  # a single assignment, so that threads need no lock
            return _openai_reply(answer, name)
        raise refusal


def _easier(form: Form, complaint: str) -> Form | None:
    """What to try when a server rejects this form of a request: the limit's other name, or less ado."""
    limit, format = form
    if limit != LIMITS[-1] and LIMITS[-1] in complaint:
        return LIMITS[-1], format
    if format == FORMATS[-1]:
        return None
    return limit, FORMATS[FORMATS.index(format) + 1]


def _openai_body(prompt: Prompt, model: str, limit: str, format: str) -> dict[str, Any]:
    schema = prompt.schema
    system = prompt.system if schema is None else f"{prompt.system}\n\n{in_words(schema)}"
    body: dict[str, Any] = {
        "model": model,
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": prompt.text}],
        limit: prompt.max_tokens,
    }
    if schema is None or format == "text":
        return body
    return body | {"response_format": _response_format(schema, format)}


def _response_format(schema: Schema, format: str) -> dict[str, Any]:
    if format == "json_object":
        return {"type": format}
    return {"type": format, "json_schema": {"name": "answer", "strict": True, "schema": schema}}


def _openai_reply(answer: Mapping[str, Any], model: str) -> Reply:
    try:
        choice = answer["choices"][0]
        message = choice["message"]
        text, refusal = message.get("content") or "", message.get("refusal")
        usage = answer.get("usage") or {}
        tokens_in, tokens_out = (int(usage.get(f"{name}_tokens") or 0) for name in ("prompt", "completion"))
        if not isinstance(text, str):
            raise TypeError(f"content is {type(text).__name__}")
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise Nonsense(f"the answer is not a chat completion: {error!r}", lost=True) from error
    if refusal:
        raise Refused(f"{model} declined to answer this", lost=True)
    return Reply(
        text=text,
        model=model,
        tokens_in=tokens_in,
        tokens_out=tokens_out,
        cut=choice.get("finish_reason") == "length",
    )
