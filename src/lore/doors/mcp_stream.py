"""mcp_stream: MCP over a stream of bytes. Requests that have begun are answered before the end of the
stream."""

import json
import logging
from collections.abc import Callable
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

from lore.doors import protocol
from lore.doors.envelope import Refused, read
from lore.doors.streams import FINISH_SECONDS, GONE, cancel_when, lines

ENDLESS = "subscriptions/listen"
"""A request that is answered only when the client ends it, so nobody waits for it."""
LISTENING = (ENDLESS, "resources/subscribe")
logger = logging.getLogger(__name__)


class McpStream:
    """One connection of one client to one server."""

    def __init__(self, stream: ByteStream, data: bytes = b"") -> None:
        """data: bytes that were received before."""
        self._stream = stream
        self._data = data
        self._open: set[str | int] = set()
        self._settled = anyio.Event()
        self._sending = anyio.Lock()

    async def run(self, server: Server, stopping: anyio.Event) -> None:
        """Serve until the client goes or `stopping` is set."""
        inward, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, outward = anyio.create_memory_object_stream[SessionMessage](0)

        async def listen() -> None:
            async with inward:
                async with anyio.create_task_group() as until:
                    until.start_soon(cancel_when, stopping, until.cancel_scope)
                    async for line in lines(self._stream, self._data):
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
        """The message in a line; None if the line is not valid. An invalid request is answered."""
        try:
            message = jsonrpc_message_adapter.validate_python(read(line), by_name=False)
        except Refused as refused:
            await self.send(refused.answer)
            return None
        except ValidationError as error:
            logger.info("an invalid notification or answer: %s", error)
            return None
        self.received(message)
        if isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._close((message.params or {}).get("requestId"))
        return SessionMessage(message)

    async def _take_on(self, message: SessionMessage) -> None:
        """Note that the client waits for an answer."""
        if isinstance(message.message, JSONRPCRequest):
            if message.message.method != ENDLESS:
                self._open.add(message.message.id)
            await self.begin(message.message.id)

    def received(self, message: JSONRPCMessage) -> None:
        """Called for each message."""

    async def begin(self, id: str | int) -> None:
        """Called before work on a request begins."""

    async def _say(self, message: JSONRPCMessage) -> None:
        await self.send(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._close(message.id)

    async def send(self, data: bytes) -> None:
        """Send to the client, if it is still there."""
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
    """The stream of a relay, which is told which requests have begun."""

    def __init__(self, stream: ByteStream, data: bytes, on_message: Callable[[bool], None]) -> None:
        """on_message: called for each message; whether the client listens for changes from now on."""
        super().__init__(stream, data)
        self._on_message = on_message

    def received(self, message: JSONRPCMessage) -> None:
        self._on_message(isinstance(message, JSONRPCRequest) and message.method in LISTENING)

    async def begin(self, id: str | int) -> None:
        await self.send(protocol.encode("begun", {"id": json.dumps(id)}))
