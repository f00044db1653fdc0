"""clients: the connections of a daemon. Each sends a handshake, is accepted or refused, and served until it
ends."""

import hmac
import json
import logging
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
from anyio.abc import ByteStream

from lore import lazy
from lore.config import Config, load
from lore.connecting import tailored
from lore.doors import protocol
from lore.doors.daemon_status import ACTIVITIES, State
from lore.doors.figures import Figures
from lore.doors.hooks import Hooks, client_of, read_input
from lore.doors.protocol import END, LONGEST_MESSAGE
from lore.doors.rpc import BEGUN, answer
from lore.doors.streams import GONE, cancel_when, lines
from lore.doors.workers import Workers
from lore.engine import Lore
from lore.errors import Invalid, LoreError, Unavailable
from lore.text import without_password
from lore.transcripts.untrusted_files import LONGEST_PATH
from lore.version import VERSION

if TYPE_CHECKING:
    from lore.doors.offer import Offer
    from lore.doors.subscriptions import Audience
    from lore.surfaces.surface import Surface

HANDSHAKE_SECONDS = 10.0
"""Longest time for a client to send its handshake."""
MANY_FILES = 10_000
PID_DIGITS = 12
RESERVED_FILES = 64
"""Descriptors that no client gets: the store, the log and the transcripts need them."""
SHOWN = ".shown"
"""Suffix of the database's name for the list of memories that conversations were shown."""
SHARED_SETTINGS = ("embedding_model", "vector_store", "database_url")
"""Settings that all clients of a daemon share; all others are each client's own."""

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class Client:
    """An accepted client. fields: of its handshake. config: its own settings. welcome: it was sent."""

    request: str
    fields: Mapping[str, str]
    config: Config
    since: float
    messages: int = 0
    listens: bool = False
    welcome: bool = False

    def view(self) -> dict[str, object]:
        """Its entry in the status."""
        return {
            "speaks": self.request,
            "folder": self.fields.get("folder", "")[:LONGEST_PATH],
            "pid": _pid(self.fields.get("pid", "")),
            "surfaces": self.config.surfaces if self.request == "mcp" else "",
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
        """describe: the status of the daemon. token: clients of a port must send it.

        `link` makes a link to the explorer, given the port to open; a daemon sets it.
        """
        self.hooks = Hooks(Path(f"{config.database}{SHOWN}"))
        self._lore = lore
        self._config = config
        self._stopping = stopping
        self._describe = describe
        self._token = token
        self.workers = Workers()
        self.doing: Callable[[State], AbstractContextManager[object]] = nullcontext
        """Entered while a client does the work that this state names."""
        self.figures = Figures()
        self.link: Callable[[int], Awaitable[str]] = _no_link
        self._present: set[Client] = set()
        self._used_at = time.monotonic()

    @cached_property
    def audience(self) -> "Audience":
        return lazy.subscriptions.Audience()

    @property
    def idle_seconds(self) -> float:
        """Seconds since the last message of a client; 0 while one waits for its welcome."""
        welcome = all(client.welcome for client in self._present)
        return time.monotonic() - self._used_at if welcome else 0.0

    @property
    def listening(self) -> bool:
        """Whether any client listens for changes."""
        return any(client.listens for client in self._present)

    def used(self) -> None:
        """Note that agents are at work."""
        self._used_at = time.monotonic()

    def summaries(self) -> list[dict[str, object]]:
        """The clients, the oldest connection first."""
        return [client.view() for client in sorted(self._present, key=lambda client: client.since)]

    async def serve(self, stream: ByteStream) -> None:
        """Serve one connection to its end."""
        async with stream:
            try:
                await self._accept(stream)
            except (*GONE, TimeoutError) as error:
                logger.info("a connection was ended: %r", error)
            except Exception:  # a failure of one client must not end the others
                logger.exception("a connection failed")

    async def _accept(self, stream: ByteStream) -> None:
        """Serve the client, or send the reason why not."""
        try:
            with anyio.fail_after(HANDSHAKE_SECONDS):
                message, rest = await _handshake(stream)
            await self._serve(stream, message, rest)
        except LoreError as error:
            refusal = {"kind": type(error).__name__, "error": str(error)}
            await stream.send(protocol.encode("refused", _self() | refusal))

    async def _serve(self, stream: ByteStream, message: bytes, rest: bytes) -> None:
        try:
            request, fields = protocol.decode(message)
        except ValueError as error:
            raise Invalid(str(error)) from error
        if not hmac.compare_digest(fields.get("token", "").encode(), self._token.encode()):
            raise Invalid("the token is wrong")
        if request == "ping":
            await stream.send(protocol.encode("welcome", _self()))
        elif request == "stop":
            await stream.send(protocol.encode("welcome", _self()))
            self._stopping.set()
        elif request == "status":
            state = await anyio.to_thread.run_sync(self._describe)
            await stream.send(protocol.encode("welcome", _self() | {"status": json.dumps(state)}))
        elif request == "explorer":
            port = fields.get("port", "")
            link = await self.link(int(port) if port.isdecimal() else 0)
            await stream.send(protocol.encode("welcome", _self() | {"link": link}))
        elif request == "hook":
            await self._serve_hook(stream, fields)
        elif serve := self._conversations.get(request):
            self._refuse_too_many()
            client = Client(request, fields, self._settings(fields), time.time())
            self._present.add(client)
            try:
                await serve(client, stream, rest)
            finally:
                self._present.discard(client)
        else:
            requests = ", ".join((*self._conversations, "hook", "explorer", "ping", "status", "stop"))
            raise Invalid(f"unknown request {request!r}; known: {requests}")

    @property
    def _conversations(self) -> Mapping[str, Callable[[Client, ByteStream, bytes], Awaitable[None]]]:
        """The requests whose clients stay connected."""
        return {"mcp": self._serve_mcp, "verbs": self._serve_verbs, "activity": self._serve_activity}

    def _refuse_too_many(self) -> None:
        """Each client is an open file, and the system limits their number."""
        most = open_files_limit() - RESERVED_FILES
        if len(self._present) >= most:
            raise Unavailable(
                f"{len(self._present)} clients are connected, and the limit of open files (ulimit -n) allows"
                " no more; end some, or raise the limit and run `lore daemon restart`"
            )

    def _settings(self, fields: Mapping[str, str]) -> Config:
        """The settings of the client's environment, on the daemon's store."""
        ours = self._config
        config = load(fields, data_dir=ours.data_dir, db_path=ours.db_path)
        for name in SHARED_SETTINGS:
            if getattr(config, name) != getattr(ours, name):
                runs, wants = (without_password(getattr(one, name)) for one in (ours, config))
                raise Unavailable(
                    f"the daemon runs with {name} {runs!r}, this client wants {wants!r};"
                    " write it into config.toml and run `lore daemon restart`"
                )
        return config

    async def _serve_mcp(self, client: Client, stream: ByteStream, rest: bytes) -> None:
        """The Model Context Protocol. Other clients are served while its library loads for the first one."""
        await anyio.to_thread.run_sync(lambda: lazy.mcp)
        surfaces = lazy.surfaces.surfaces_named(client.config.surfaces)
        lore = await self._lore_of(client)
        self._lore.background.sweep_also(client.config.namespace, client.config)
        await anyio.to_thread.run_sync(lazy.mcp.take_over, lore, client.config, surfaces)
        async with self._offer(client, lore, surfaces) as offer:
            repeatable = {"repeatable": ",".join(offer.repeatable)}
            await self._welcome(client, stream, repeatable)
            relayed = lazy.mcp_stream.RelayedMcpStream(stream, rest, partial(self._received, client))
            await relayed.run(offer.server, self._stopping)

    @asynccontextmanager
    async def _offer(
        self, client: Client, lore: Lore, surfaces: Sequence["Surface"]
    ) -> AsyncIterator["Offer"]:
        """The tools of a client: run by this machine, or by a server if the client's settings name one."""
        config = client.config
        async with AsyncExitStack() as stack:
            make: Callable[..., Offer] = lazy.offer.Offer
            if config.remote_url:
                remote = await anyio.to_thread.run_sync(lambda: lazy.remote)
                token = client.fields.get(config.remote_token_env, "")
                server = await stack.enter_async_context(remote.remote_of(config, lore, token))
                make = partial(remote.RemoteOffer, server)
            principal = lazy.principal.Principal(
                lore=lore,
                workers=self.workers,
                request_seconds=config.request_seconds,
                called=self._called,
            )
            yield stack.enter_context(make(surfaces, lazy.offer.to_one_client(principal), self.audience))

    def _called(self, tool: str, seconds: float, failed: bool) -> None:
        self.figures.called("tool", tool, seconds, failed=failed)

    async def _serve_verbs(self, client: Client, stream: ByteStream, rest: bytes) -> None:
        """Calls of verbs, one after the other, for a person who waits for the best answer."""
        lore = await self._lore_of(client, patient=True)
        lore = lore.for_namespace(client.config.namespace, surface="cli")
        await self._welcome(client, stream, {})
        async with anyio.create_task_group() as until:
            until.start_soon(cancel_when, self._stopping, until.cancel_scope)
            async for line in lines(stream, rest):
                self._count(client)
                with anyio.CancelScope(shield=True):
                    await stream.send(BEGUN)
                    await stream.send(await anyio.to_thread.run_sync(answer, lore, line))
            until.cancel_scope.cancel()

    async def _serve_activity(self, client: Client, stream: ByteStream, rest: bytes) -> None:
        """Show the work of a command on the store in the status, until the command hangs up."""
        state = next((one for one in ACTIVITIES if one == client.fields.get("state")), None)
        if state is None:
            raise Invalid(f"unknown state {client.fields.get('state')!r}; known: {', '.join(ACTIVITIES)}")
        with self.doing(state):
            await self._welcome(client, stream, {})
            async with anyio.create_task_group() as until:
                until.start_soon(cancel_when, self._stopping, until.cancel_scope)
                async for _ in lines(stream, rest):
                    self._count(client)
                until.cancel_scope.cancel()

    async def _serve_hook(self, stream: ByteStream, fields: dict[str, str]) -> None:
        """One event of a conversation; the reply has the output for the client."""
        self.used()
        hook = read_input(fields)
        caller = {**fields, "folder": hook.folder, "session": hook.session}
        client = Client("hook", caller, self._settings(fields), time.time())
        warns = client.config.hooks_pre_tool_use
        lore = replace(await self._lore_of(client), actor=client_of(hook))
        await self.hooks.serve(hook, lore, stream, warns=warns)

    async def _welcome(self, client: Client, stream: ByteStream, fields: Mapping[str, str]) -> None:
        await stream.send(protocol.encode("welcome", {**_self(), **fields, **_warnings(client)}))
        client.welcome = True
        self.used()

    async def _lore_of(self, client: Client, patient: bool = False) -> Lore:
        """A Lore with the settings and the folder of a client. A person at a terminal is in no session."""
        lore = replace(
            tailored(self._lore, client.config, patient=patient),
            conversation=client.fields.get("session", ""),
            connected_at=client.since if client.request == "mcp" else None,
            searched=self.figures.searched,
        )
        return await anyio.to_thread.run_sync(lore.in_folder, client.fields.get("folder", ""))

    def _received(self, client: Client, listens: bool) -> None:
        client.listens |= listens
        self._count(client)

    def _count(self, client: Client) -> None:
        client.messages += 1
        self.used()


async def _no_link(port: int) -> str:
    raise Unavailable("this process serves one client, and no pages")


def _pid(text: str) -> int:
    """The number of a process; 0 if the text is none."""
    return int(text) if text.isdecimal() and text.isascii() and len(text) < PID_DIGITS else 0


def _self() -> dict[str, str]:
    return {"version": VERSION, "pid": str(os.getpid())}


def _warnings(client: Client) -> dict[str, str]:
    """Warnings about the client's settings, one sentence a line."""
    return {"warnings": "\n".join(client.config.warnings)}


def open_files_limit() -> int:
    """Number of files that this process may have open."""
    if os.name != "posix":
        return MANY_FILES
    resource = import_module("resource")
    allowed: int = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return MANY_FILES if allowed == resource.RLIM_INFINITY else allowed


def raise_open_files_limit() -> None:
    """Have as many files open as the system allows, at most MANY_FILES: each client is one."""
    if os.name == "posix":
        resource = import_module("resource")
        limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = MANY_FILES if most == resource.RLIM_INFINITY else min(most, MANY_FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(limit, wanted), most))


async def _handshake(stream: ByteStream) -> tuple[bytes, bytes]:
    """The first message, and the bytes behind it."""
    received = b""
    while END not in received:
        if len(received) > LONGEST_MESSAGE:
            raise Invalid("a handshake without an end")
        received += await stream.receive()
    message, _, rest = received.partition(END)
    return message + END, rest
