"""remote: an agent's calls, answered by a server; where that is not reached, by the store of this machine."""

import json
import time
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import urlencode

import anyio
import anyio.to_thread
import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.server import ServerRequestContext
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    ClientRequest,
    GetPromptRequest,
    GetPromptRequestParams,
    GetPromptResult,
    Implementation,
    PromptMessage,
    ReadResourceRequest,
    ReadResourceRequestParams,
    ReadResourceResult,
    Result,
    TextContent,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from lore.config import Config
from lore.doors.offer import Offer
from lore.doors.principal import PrincipalOf, refusal
from lore.doors.remote_http import RemoteServer, options_of, remote_server, with_token
from lore.doors.subscriptions import Audience
from lore.engine import Lore
from lore.store.records import SyncMark
from lore.surfaces.surface import Surface
from lore.text import preview
from lore.verbs import Right
from lore.version import VERSION

T = TypeVar("T", bound=Result)

CONNECT_SECONDS = 3.0
READ_SECONDS, WRITE_SECONDS = 10.0, 30.0
"""Longest time for the server's answer to a call that only reads, and to any other."""
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0
"""Seconds after which a server that could not be reached is tried again; each failure doubles them."""
NOT_DONE = frozenset({301, 302, 303, 307, 308, 404, 405, 429, 503})
"""Answers by which a server, or a proxy before it, says that it did not work on the request."""
LONGEST_ANSWER = 64 << 20
"""Bytes of one answer of the server."""
REASON_WIDTH = 300

LOCAL: Mapping[Right, str] = {
    "read": "From the copy on this machine ({age}), because {url} was not reached: {reason}.",
    "write": "Done in the copy on this machine; synchronisation brings it to {url}, which was not reached:"
    " {reason}.",
}
"""Remarks on the results of tools, by their right."""
HERE_ONLY = (
    "Done on this machine only: {url} was not reached ({reason}), and namespace {namespace} was never"
    " synchronised with it. To bring it there, list the namespace under [remote] in config.toml, or run:"
    " lore sync --pull --namespace {namespace}"
)
"""The remark on a change in a namespace of which this machine has no copy."""
UNKNOWN = (
    "{url} was sent this call, but no answer came back: {reason}. It may have been done: look for the result"
    " before you try again."
)
REFUSED = "{url} refuses this call: {reason}. Nothing was read or stored. Tell the user."


class Refused(Exception):
    """The server is there and does not answer this caller, or not this request."""


class Unreached(Exception):
    """No answer came. begun: the server may have worked on the request."""

    def __init__(self, reason: str, begun: bool) -> None:
        super().__init__(reason)
        self.reason = reason
        self.begun = begun


@dataclass
class _Exchange:
    """One request over HTTP. status: of the answer; 0 if none came. sent: the server may have got it."""

    sent: bool = False
    status: int = 0
    reason: str = ""

    def trouble(self) -> Refused | Unreached:
        """The reason why there is no result."""
        if 400 <= self.status < 500 and self.status not in NOT_DONE:
            return Refused(self.reason)
        return Unreached(self.reason, begun=self.sent and self.status not in NOT_DONE)


_EXCHANGE: ContextVar[_Exchange] = ContextVar("_EXCHANGE")


class _Http(httpx2.AsyncClient):
    """Notes what becomes of each request: the client of the protocol tells only that there is no result."""

    async def send(self, request: httpx2.Request, **options: Any) -> httpx2.Response:
        exchange = _EXCHANGE.get()
        exchange.sent = True
        try:
            response = await super().send(request, **options)
        except httpx2.HTTPError as error:
            not_sent = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.ProxyError)
            exchange.sent = not isinstance(error, not_sent)
            exchange.reason = str(error) or type(error).__name__
            raise
        exchange.status = response.status_code
        if response.status_code >= 400:
            exchange.reason = _reason(await response.aread(), response.status_code)
        return response


class Remote:
    """The server of one conversation, over HTTP. While it cannot be reached, it is tried at intervals."""

    def __init__(self, server: RemoteServer, query: dict[str, str]) -> None:
        """query: where the calls act, and which tools they may name; see `doors.http.served`."""
        self.url = server.url
        self._address = f"{server.url}/mcp?{urlencode({name: one for name, one in query.items() if one})}"
        self._http = _Http(**options_of(server) | {"timeout": httpx2.Timeout(None, connect=CONNECT_SECONDS)})
        self._pause = 0.0
        self._next_at = 0.0
        self._reason = ""

    async def __aenter__(self) -> "Remote":
        await self._http.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def ask(self, request: ClientRequest, result: type[T], client: str, seconds: float) -> T:
        """The server's result of this type. client: the agent's name for itself.

        Refused, Unreached; MCPError as the server gives it.
        """
        if time.monotonic() < self._next_at:
            raise Unreached(self._reason, begun=False)
        try:
            answer = await self._ask(request, result, client, seconds)
        except Unreached as unreached:
            self._pause = min(LONGEST_PAUSE, 2 * self._pause or FIRST_PAUSE)
            self._next_at, self._reason = time.monotonic() + self._pause, unreached.reason
            raise
        self._pause = 0.0
        return answer

    async def _ask(self, request: ClientRequest, result: type[T], client: str, seconds: float) -> T:
        exchange = _Exchange(reason=f"no answer within {seconds:g} seconds")
        _EXCHANGE.set(exchange)
        transport = streamable_http_client(
            self._address, http_client=self._http, max_sse_event_size=LONGEST_ANSWER
        )
        info = Implementation(name=client or "lore-mcp", version=VERSION)
        try:
            with anyio.fail_after(seconds):
                async with Client(transport, mode=MODERN_PROTOCOL_VERSIONS[-1], client_info=info) as asking:
                    return _unsigned(await asking.session.send_request(request, result))
        except MCPError as error:
            if error.code == INVALID_PARAMS and exchange.status < 500:
                raise
            if exchange.status < 400:
                exchange.reason = str(error)
        except (ExceptionGroup, ValidationError, TimeoutError):
            pass  # the exchange has the reason
        raise exchange.trouble()


class RemoteOffer(Offer):
    """Surfaces whose requests a server answers. Where it cannot be reached, the store of this machine does,
    and the answer says so."""

    def __init__(
        self, remote: Remote, surfaces: Sequence[Surface], principal_of: PrincipalOf, audience: Audience
    ) -> None:
        super().__init__(surfaces, principal_of, audience)
        self._remote = remote

    async def call_tool(self, context: ServerRequestContext, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in self._tools:
            return await super().call_tool(context, params)
        _, tool = self._tools[params.name]
        longest = READ_SECONDS if tool.right == "read" else WRITE_SECONDS
        try:
            return await self._ask(context, CallToolRequest(params=params), CallToolResult, longest)
        except Refused as refused:
            return refusal(REFUSED.format(url=self._remote.url, reason=refused))
        except Unreached as unreached:
            if unreached.begun and not (tool.right == "read" or tool.idempotent):
                return refusal(UNKNOWN.format(url=self._remote.url, reason=unreached.reason))
            result = await super().call_tool(context, params)
            right = "read" if result.is_error else tool.right
            return _noted(result, await self._remark(context, unreached, right))

    async def read_resource(
        self, context: ServerRequestContext, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        try:
            request = ReadResourceRequest(params=params)
            return await self._ask(context, request, ReadResourceResult, READ_SECONDS)
        except Refused as refused:
            raise MCPError(INVALID_REQUEST, REFUSED.format(url=self._remote.url, reason=refused)) from refused
        except Unreached:
            return await super().read_resource(context, params)

    async def get_prompt(
        self, context: ServerRequestContext, params: GetPromptRequestParams
    ) -> GetPromptResult:
        try:
            return await self._ask(context, GetPromptRequest(params=params), GetPromptResult, READ_SECONDS)
        except Refused as refused:
            raise MCPError(INVALID_REQUEST, REFUSED.format(url=self._remote.url, reason=refused)) from refused
        except Unreached as unreached:
            remark = await self._remark(context, unreached, "read")
        message = PromptMessage(role="user", content=TextContent(text=remark))
        local = await super().get_prompt(context, params)
        return local.model_copy(update={"messages": [*local.messages, message]})

    async def _ask(
        self, context: ServerRequestContext, request: ClientRequest, result: type[T], longest: float
    ) -> T:
        client, seconds = context.session.client_params, self._principal_of(context).request_seconds
        name = client.client_info.name if client else ""
        return await self._remote.ask(request, result, name, min(longest, seconds or longest))

    async def _remark(self, context: ServerRequestContext, unreached: Unreached, right: Right) -> str:
        lore = self._principal_of(context).lore
        return await anyio.to_thread.run_sync(_remark, lore, self._remote.url, unreached.reason, right)


def remote_of(config: Config, lore: Lore, token: str) -> Remote:
    """The server of the settings, for a conversation. token: of the agent's environment, if any."""
    query = {
        "namespace": config.namespace,
        "surfaces": config.surfaces,
        "project": lore.project,
        "session": lore.conversation,
    }
    server = remote_server(config)
    return Remote(with_token(server, token) if token else server, query)


def _remark(lore: Lore, url: str, reason: str, right: Right) -> str:
    """What an agent is told of a call that the store of this machine has answered."""
    if right != "read" and not _pulled_at(lore, url, lore.namespace):
        return HERE_ONLY.format(url=url, reason=reason, namespace=lore.namespace)
    return LOCAL["read" if right == "read" else "write"].format(url=url, reason=reason, age=age_of(lore, url))


def age_of(lore: Lore, url: str) -> str:
    """Since when the copy of a server's namespaces is not newer: the oldest of those that are seen."""
    times = [at for namespace in (lore.namespace, *lore.teams) for at in _pulled_at(lore, url, namespace)]
    if not times:
        return "never pulled from the server"
    return f"of {datetime.fromtimestamp(min(times), UTC):%Y-%m-%d %H:%M} UTC"


def _pulled_at(lore: Lore, url: str, namespace: str) -> list[float]:
    """When a namespace was last pulled from a server; empty if never."""
    marks = lore.store.reader(namespace, lore.tenant).records(SyncMark, remote=url, direction="pull")
    return [mark.moved_at for mark in marks]


def _unsigned(result: T) -> T:
    """The result without the server's name, which the agent's own server does not send in every era."""
    return type(result)(**{name: getattr(result, name) for name in result.model_fields_set - {"meta"}})


def _noted(result: CallToolResult, remark: str) -> CallToolResult:
    """The result with a remark: as a block of its own, and among the notes of the data if it has any."""
    content = [*result.content, TextContent(text=remark)]
    data = result.structured_content
    if isinstance(data, dict) and isinstance(data.get("notes"), list):
        data = {**data, "notes": [*data["notes"], remark]}
    return result.model_copy(update={"content": content, "structured_content": data})


def _reason(body: bytes, status: int) -> str:
    """The message of an error as Lore's server writes it, with the status."""
    try:
        message = str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        message = "the answer is no message of Lore"
    return f"{preview(message, REASON_WIDTH)} (HTTP {status})"
