"""callers: clients that search and write over each way to Lore, and cost little processor time themselves."""

import asyncio
import json
from collections.abc import Callable, Mapping
from typing import Any

from bench.clients.line import ERAS, ME
from lore.doors import protocol
from lore.doors.endpoint import Endpoint
from lore.doors.protocol import LONGEST_LINE, OPENING
from lore.version import VERSION

INITIALIZE = {"protocolVersion": ERAS["handshake"], "capabilities": {}, "clientInfo": ME}
JSON, EVENTS = "application/json", "text/event-stream"


class Failed(Exception):
    """A call was refused, or its answer has another form than it should."""


class Caller:
    """One client with one connection. write: keep a text. search: ask a question."""

    async def open(self) -> None:
        raise NotImplementedError

    async def write(self, text: str) -> None:
        raise NotImplementedError

    async def search(self, text: str) -> None:
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError


class Http:
    """A connection of HTTP/1.1 that stays open."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._head = f"Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n"

    async def open(self) -> None:
        self._in, self._out = await asyncio.open_connection("127.0.0.1", self._port, limit=LONGEST_LINE)

    async def close(self) -> None:
        self._out.close()
        await self._out.wait_closed()

    async def send(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of the answer."""
        data = b"" if body is None else json.dumps(body).encode()
        more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
        head = f"{method} {path} HTTP/1.1\r\n{self._head}{more}Content-Type: {JSON}\r\n"
        self._out.write(f"{head}Content-Length: {len(data)}\r\n\r\n".encode() + data)
        await self._out.drain()
        first, *lines = (await self._in.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        got = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        return int(first.split()[1]), got, await self._body(got)

    async def _body(self, headers: Mapping[str, str]) -> bytes:
        if "content-length" in headers:
            return await self._in.readexactly(int(headers["content-length"]))
        parts = []
        while headers.get("transfer-encoding") == "chunked":
            size = int(await self._in.readline(), 16)
            parts.append((await self._in.readexactly(size + 2))[:-2])
            if not size:
                break
        return b"".join(parts)


class Api(Caller):
    """The routes of verbs."""

    def __init__(self, port: int, token: str) -> None:
        self._http = Http(port, token)

    async def open(self) -> None:
        await self._http.open()

    async def close(self) -> None:
        await self._http.close()

    async def write(self, text: str) -> None:
        await self._call("remember", {"draft": {"content": text}})

    async def search(self, text: str) -> None:
        answer = await self._call("search", {"query": {"text": text}})
        if not answer["hits"]:
            raise Failed(f"nothing found for {text!r}")

    async def _call(self, verb: str, arguments: Mapping[str, Any]) -> Any:
        status, _, body = await self._http.send("POST", f"/api/v1/{verb}", arguments)
        if status != 200:
            raise Failed(f"{verb}: {status} {body[:300]!r}")
        return json.loads(body)


class Mcp(Caller):
    """Tools over MCP. Who moves the messages is another matter."""

    _number = 0

    async def write(self, text: str) -> None:
        await self._call("store", {"content": text})

    async def search(self, text: str) -> None:
        await self._call("search", {"query": text})

    async def _call(self, tool: str, arguments: Mapping[str, Any]) -> None:
        result = await self._ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            raise Failed(f"{tool}: {str(result['content'])[:300]}")

    async def _greet(self) -> None:
        await self._ask("initialize", INITIALIZE)
        await self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    async def _ask(self, method: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
        self._number += 1
        request = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": parameters}
        answer = await self._send(request) or {}
        if "result" not in answer:
            raise Failed(f"{method}: {answer}")
        result: dict[str, Any] = answer["result"]
        return result

    async def _send(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """The answer to a message, if it has one."""
        raise NotImplementedError


class McpOverHttp(Mcp):
    """Streamable HTTP, with a session if the server gives one."""

    def __init__(self, port: int, token: str) -> None:
        self._http = Http(port, token)
        self._headers = {"Accept": f"{JSON}, {EVENTS}"}

    async def open(self) -> None:
        await self._http.open()
        await self._greet()

    async def close(self) -> None:
        if "Mcp-Session-Id" in self._headers:
            await self._http.send("DELETE", "/mcp", headers=self._headers)
        await self._http.close()

    async def _send(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        status, headers, body = await self._http.send("POST", "/mcp", message, self._headers)
        if status not in (200, 202):
            raise Failed(f"{message['method']}: {status} {body[:300]!r}")
        if session := headers.get("mcp-session-id"):
            self._headers |= {"Mcp-Session-Id": session, "MCP-Protocol-Version": ERAS["handshake"]}
        if headers.get("content-type", "").startswith(EVENTS):
            return _last_message(body)
        return json.loads(body) if body else None


class McpOverSocket(Mcp):
    """A daemon's socket, as `lore-mcp` uses it."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._path = endpoint.socket

    async def open(self) -> None:
        self._in, self._out = await asyncio.open_unix_connection(self._path, limit=LONGEST_LINE)
        self._out.write(protocol.encode("mcp", {"version": VERSION}))
        word, fields = protocol.decode(await self._in.readline())
        if word != "welcome":
            raise Failed(f"{word}: {fields}")
        await self._greet()

    async def close(self) -> None:
        self._out.close()
        await self._out.wait_closed()

    async def _send(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        self._out.write(json.dumps(message).encode() + b"\n")
        await self._out.drain()
        while "id" in message:
            line = await self._in.readline()
            if not line:
                raise Failed("the daemon has ended")
            if not line.startswith(OPENING) and (answer := json.loads(line)).get("id") == message["id"]:
                return dict(answer)
        return None


def _last_message(events: bytes) -> dict[str, Any]:
    """The answer at the end of a stream of events."""
    messages = [
        line[5:] for line in events.decode().splitlines() if line.startswith("data:") and line[5:].strip()
    ]
    return dict(json.loads(messages[-1]))


Make = Callable[[int], Caller]
"""Makes the client of a number."""
