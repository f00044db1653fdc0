"""mcp_stream: MCP over a line of bytes. What has begun is answered before the end, whichever side ends it."""

import json
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import suppress

import anyio
from anyio.abc import ByteStream
from mcp.server import Server
from mcp.shared.message import SessionMessage
from mcp_types import (
    JSONRPCError,
    JSONRPCMessage,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from lore.doors import handshake
from lore.doors.envelope import Refused, read
from lore.doors.framing import LONGEST_LINE, Lines

FINISH_SECONDS = 10.0
"""How long what has begun may take when the end has come."""
ENDLESS = "subscriptions/listen"
"""The request that is answered when it ends: nothing to wait for."""
LISTENING = (ENDLESS, "resources/subscribe")
logger = logging.getLogger(__name__)

GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream)


async def lines(stream: ByteStream, data: bytes = b"") -> AsyncIterator[bytes]:
    """The lines of a stream, as long as it lasts; a line that is too long comes as a `Cut`.

    data: the bytes that were received already. Empty lines are left out, and a last one without an end.
    """
    split = Lines(LONGEST_LINE)
    while True:
        whole, cut = split.feed(data)
        for line in [*cut, *whole.split(b"\n")]:
            if line.strip():
                yield line
        try:
            data = await stream.receive()
        except GONE:
            return


class McpStream:
    """One connection of one client to one server; ends with the client, or in peace when it is told to."""

    def __init__(self, stream: ByteStream, read: bytes = b"") -> None:
        """read: what has come already."""
        self._stream = stream
        self._read = read
        self._open: set[str | int] = set()
        self._settled = anyio.Event()
        self._sending = anyio.Lock()

    async def run(self, server: Server, stopping: anyio.Event) -> None:
        """Until the client goes or `stopping` is set."""
        inward, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, outward = anyio.create_memory_object_stream[SessionMessage](0)

        async def listen() -> None:
            async with inward:
                async with anyio.create_task_group() as until:
                    until.start_soon(cancel_when, stopping, until.cancel_scope)
                    async for line in lines(self._stream, self._read):
                        with anyio.CancelScope(shield=True):
                            if message := await self._message(line):
                                await self._take_on(message)
                                await inward.send(message)
                    until.cancel_scope.cancel()
                with anyio.move_on_after(FINISH_SECONDS):
                    await self._answered()

        async def talk() -> None:
            async with outward:
                async for message in outward:
                    await self._say(message.message)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(listen)
            tasks.start_soon(talk)
            await server.run(incoming, outgoing, server.create_initialization_options())

    async def _message(self, line: bytes) -> SessionMessage | None:
        """The message in a line; None if it is none, which is answered unless it is no request either."""
        try:
            message = jsonrpc_message_adapter.validate_python(read(line), by_name=False)
        except Refused as refused:
            await self.send(refused.answer)
            return None
        except ValidationError as error:
            logger.info("a wrong notification or answer: %s", error)
            return None
        self.hear(message)
        if isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._close((message.params or {}).get("requestId"))
        return SessionMessage(message)

    async def _take_on(self, message: SessionMessage) -> None:
        """From now on we owe an answer."""
        if isinstance(message.message, JSONRPCRequest):
            if message.message.method != ENDLESS:
                self._open.add(message.message.id)
            await self.begin(message.message.id)

    def hear(self, message: JSONRPCMessage) -> None:
        """A message has come."""

    async def begin(self, id: str | int) -> None:
        """A request is about to be touched."""

    async def _say(self, message: JSONRPCMessage) -> None:
        await self.send(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._close(message.id)

    async def send(self, data: bytes) -> None:
        """A client that has gone does not keep the others from being answered."""
        with suppress(*GONE):
            async with self._sending:
                await self._stream.send(data)

    def _close(self, id: object) -> None:
        if isinstance(id, str | int):
            self._open.discard(id)
        if not self._open:
            self._settled.set()

    async def _answered(self) -> None:
        while self._open:
            self._settled = anyio.Event()
            await self._settled.wait()


class RelayedMcpStream(McpStream):
    """With a relay at the other end, which wants to know what has begun. on_message: called for each."""

    def __init__(self, stream: ByteStream, read: bytes, on_message: Callable[[JSONRPCMessage], None]) -> None:
        super().__init__(stream, read)
        self._on_message = on_message

    def hear(self, message: JSONRPCMessage) -> None:
        self._on_message(message)

    async def begin(self, id: str | int) -> None:
        await self.send(handshake.encode("begun", {"id": json.dumps(id)}))


async def cancel_when(event: anyio.Event, scope: anyio.CancelScope) -> None:
    await event.wait()
    scope.cancel()
