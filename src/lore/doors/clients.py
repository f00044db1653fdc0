"""clients: who is connected to a daemon. Each says hello, is let in or refused, and served until it goes."""

import hmac
import json
import logging
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import anyio
import anyio.to_thread
from anyio.abc import ByteStream
from mcp_types import JSONRPCMessage, JSONRPCRequest

from lore.config import Config, load
from lore.connecting import tailored
from lore.doors import handshake
from lore.doors.handshake import END, LONGEST
from lore.doors.mcp import Offer, Workers, take_over
from lore.doors.mcp_stream import GONE, LISTENING, RelayedMcpStream, cancel_when, lines
from lore.doors.subscriptions import Audience
from lore.doors.verbs import BEGUN, answered
from lore.engine import Lore
from lore.errors import Invalid, LoreError, Unavailable
from lore.surfaces import surfaces_named
from lore.transcripts.foreign import LONGEST_PATH
from lore.version import VERSION

HELLO_SECONDS = 10.0
MANY_FILES = 10_000
MOST_DIGITS = 12
"""Of a process's number."""
RESERVED_FILES = 64
"""Descriptors that no client gets: the store, the log and the transcripts need some."""
SHARED_SETTINGS = ("embedding_model", "vector_store")
"""What all clients of a daemon have in common; everything else is a client's own."""

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class Client:
    """One that was let in. fields: what it said with its hello; the settings are for it alone."""

    want: str
    fields: Mapping[str, str]
    config: Config
    since: float
    messages: int = 0
    listens: bool = False

    def view(self) -> dict[str, object]:
        """What there is to show of it."""
        return {
            "speaks": self.want,
            "folder": self.fields.get("folder", "")[:LONGEST_PATH],
            "pid": _number(self.fields.get("pid", "")),
            "surfaces": self.config.surfaces if self.want == "mcp" else "",
            "namespace": self.config.namespace,
            "since": self.since,
            "messages": self.messages,
        }


class Clients:
    """All connections of one daemon, until `stopping` is set."""

    def __init__(
        self,
        lore: Lore,
        config: Config,
        stopping: anyio.Event,
        describe: Callable[[], Mapping[str, Any]],
        token: str = "",
    ) -> None:
        """describe: the state of the daemon. token: what a client must know, where a socket has no owner."""
        self._lore = lore
        self._config = config
        self._stopping = stopping
        self._describe = describe
        self._token = token
        self._workers = Workers()
        self._audience = Audience()
        self._present: set[Client] = set()
        self._used_at = time.monotonic()

    @property
    def idle_seconds(self) -> float:
        """Since a client last said something."""
        return time.monotonic() - self._used_at

    @property
    def listening(self) -> bool:
        """Whether anybody wants to be told of changes."""
        return any(client.listens for client in self._present)

    def used(self) -> None:
        """Something has happened that shows that agents are at work."""
        self._used_at = time.monotonic()

    def summaries(self) -> list[dict[str, object]]:
        """Who is there, the longest first."""
        return [client.view() for client in sorted(self._present, key=lambda client: client.since)]

    async def serve(self, stream: ByteStream) -> None:
        """One connection, from its hello to its end."""
        async with stream:
            try:
                await self._admit(stream)
            except (*GONE, TimeoutError) as error:
                logger.info("a connection was ended: %r", error)
            except Exception:  # one client's misfortune must not end the others
                logger.exception("a connection failed")

    async def _admit(self, stream: ByteStream) -> None:
        """Serve it, or say why not."""
        try:
            with anyio.fail_after(HELLO_SECONDS):
                message, rest = await _hello(stream)
            await self._serve(stream, message, rest)
        except LoreError as error:
            told = {"kind": type(error).__name__, "error": str(error)}
            await stream.send(handshake.encode("refused", _self() | told))

    async def _serve(self, stream: ByteStream, message: bytes, rest: bytes) -> None:
        want, fields = _understood(message)
        if not hmac.compare_digest(fields.get("token", "").encode(), self._token.encode()):
            raise Invalid("the token is wrong")
        if want == "ping":
            await stream.send(handshake.encode("welcome", _self()))
        elif want == "stop":
            await stream.send(handshake.encode("welcome", _self()))
            self._stopping.set()
        elif want == "status":
            state = await anyio.to_thread.run_sync(self._describe)
            await stream.send(handshake.encode("welcome", _self() | {"status": json.dumps(state)}))
        elif want in ("mcp", "verbs"):
            self._refuse_too_many()
            client = Client(want, fields, self._settings(fields), time.time())
            self._present.add(client)
            try:
                await (self._speak if want == "mcp" else self._obey)(client, stream, rest)
            finally:
                self._present.discard(client)
        else:
            raise Invalid(f"unknown wish {want!r}; known: mcp, verbs, ping, status, stop")

    def _refuse_too_many(self) -> None:
        """A process can have only so many files open, and each client is one."""
        most = open_files_limit() - RESERVED_FILES
        if len(self._present) >= most:
            raise Unavailable(
                f"{len(self._present)} clients are connected, and the limit of open files (ulimit -n) allows"
                " no more; end some, or raise the limit and run `lore daemon restart`"
            )

    def _settings(self, fields: Mapping[str, str]) -> Config:
        """Those of the client's own environment, on the daemon's store."""
        ours = self._config
        config = load(fields, data_dir=ours.data_dir, db_path=ours.db_path)
        for name in SHARED_SETTINGS:
            if getattr(config, name) != getattr(ours, name):
                raise Unavailable(
                    f"the daemon runs with {name} {getattr(ours, name)!r}, this client wants"
                    f" {getattr(config, name)!r}; write it into config.toml and run `lore daemon restart`"
                )
        return config

    async def _speak(self, client: Client, stream: ByteStream, rest: bytes) -> None:
        """The Model Context Protocol."""
        surfaces = surfaces_named(client.config.surfaces)
        lore = await self._lore_of(client)
        self._lore.background.sweep_also(client.config.namespace, client.config)
        await anyio.to_thread.run_sync(take_over, lore, client.config, surfaces)
        seconds = client.config.request_seconds
        with Offer(lore, surfaces, self._workers, self._audience, seconds) as offer:
            repeatable = {"repeatable": ",".join(offer.repeatable)}
            await stream.send(handshake.encode("welcome", _self() | repeatable | _warnings(client)))
            speech = RelayedMcpStream(stream, rest, lambda message: self._followed(client, message))
            await speech.run(offer.server, self._stopping)

    async def _obey(self, client: Client, stream: ByteStream, rest: bytes) -> None:
        """The verbs themselves, one after the other, for a person who waits for the best answer."""
        lore = await self._lore_of(client, patient=True)
        lore = lore.for_namespace(client.config.namespace, surface="cli")
        await stream.send(handshake.encode("welcome", _self() | _warnings(client)))
        async with anyio.create_task_group() as until:
            until.start_soon(cancel_when, self._stopping, until.cancel_scope)
            async for line in lines(stream, rest):
                self._heard(client)
                with anyio.CancelScope(shield=True):
                    await stream.send(BEGUN)
                    await stream.send(await anyio.to_thread.run_sync(answered, lore, line))
            until.cancel_scope.cancel()

    async def _lore_of(self, client: Client, patient: bool = False) -> Lore:
        """With its settings, at work where it is. A person at a terminal is in no conversation."""
        lore = replace(
            tailored(self._lore, client.config, patient=patient),
            conversation=client.fields.get("session", ""),
            connected_at=client.since if client.want == "mcp" else None,
        )
        return await anyio.to_thread.run_sync(lore.in_folder, client.fields.get("folder", ""))

    def _followed(self, client: Client, message: JSONRPCMessage) -> None:
        client.listens |= isinstance(message, JSONRPCRequest) and message.method in LISTENING
        self._heard(client)

    def _heard(self, client: Client) -> None:
        client.messages += 1
        self.used()


def _number(text: str) -> int:
    """A process's number; 0 if this is none."""
    return int(text) if text.isdecimal() and text.isascii() and len(text) < MOST_DIGITS else 0


def _self() -> dict[str, str]:
    return {"version": VERSION, "pid": str(os.getpid())}


def _warnings(client: Client) -> dict[str, str]:
    """What its user should know of the settings, one sentence a line."""
    return {"warnings": "\n".join(client.config.warnings)}


def _understood(message: bytes) -> tuple[str, dict[str, str]]:
    try:
        return handshake.decode(message)
    except ValueError as error:
        raise Invalid(str(error)) from error


def open_files_limit() -> int:
    """How many files this process may have open."""
    if os.name != "posix":
        return MANY_FILES
    resource = import_module("resource")
    allowed: int = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MANY_FILES if allowed == resource.RLIM_INFINITY else allowed


async def _hello(stream: ByteStream) -> tuple[bytes, bytes]:
    """The first message, and what came behind it."""
    received = b""
    while END not in received:
        if len(received) > LONGEST:
            raise Invalid("a hello without an end")
        received += await stream.receive()
    message, _, rest = received.partition(END)
    return message + END, rest
