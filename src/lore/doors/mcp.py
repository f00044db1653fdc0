"""mcp: offer surfaces over the Model Context Protocol, on stdin and stdout."""

import logging
import os
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial
from types import FrameType

import anyio
import anyio.to_thread
from anyio.streams.file import FileReadStream, FileWriteStream
from anyio.streams.stapled import StapledByteStream
from mcp.server import Server, ServerRequestContext
from mcp_types import CallToolRequestParams, CallToolResult

from lore.config import Config
from lore.connecting import wire
from lore.doors.early import TROUBLED
from lore.doors.mcp_stream import McpStream
from lore.doors.offer import Offer, list_tools, to_one_client
from lore.doors.principal import Principal, refusal
from lore.doors.subscriptions import Audience
from lore.doors.workers import Workers
from lore.engine import Lore
from lore.engine.read import last_change
from lore.environment import folder, session
from lore.errors import LoreError
from lore.surfaces.surface import Surface
from lore.version import VERSION

REFUSAL = (
    "Lore cannot be opened: {trouble}. Nothing was read or stored. Tell the user; the next call tries again."
)

logger = logging.getLogger(__name__)


def serve(
    config: Config,
    surfaces: Sequence[Surface],
    beside: Callable[[Lore], AbstractContextManager[object]] = nullcontext,
) -> None:
    """Serve until the client closes stdin or a signal stops the process. beside: entered while that lasts."""
    lore = _open(config, surfaces)
    with beside(lore), _offer(lore, surfaces, config) as offer:
        _serve_stdio(offer.server, lore.close)


def serve_unready(trouble: str, surfaces: Sequence[Surface], settings: Callable[[], Config]) -> None:
    """Serve on stdin and stdout although Lore cannot be opened, until the client goes.

    settings: returns the settings, or raises the error in them.
    """
    unready = Unready(trouble, surfaces, settings)
    _serve_stdio(unready.server, unready.close)


def _open(config: Config, surfaces: Sequence[Surface]) -> Lore:
    lore = wire(config, patient=False).in_folder(folder())
    lore = replace(lore, conversation=session(), connected_at=lore.clock())
    take_over(lore, config, surfaces)
    lore.background.start()
    return lore


def _offer(lore: Lore, surfaces: Sequence[Surface], config: Config) -> Offer:
    principal = Principal(lore=lore, workers=Workers(), request_seconds=config.request_seconds)
    return Offer(surfaces, to_one_client(principal), Audience())


def _serve_stdio(server: Server, close: Callable[[], None]) -> None:
    def stop(signum: int, frame: FrameType | None) -> None:
        """Finish the current write, then exit: a thread that waits for a line on stdin cannot be woken."""
        close()
        os._exit(0)

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    try:
        anyio.run(over_stdio, server)
    finally:
        close()


def take_over(lore: Lore, config: Config, surfaces: Iterable[Surface]) -> None:
    """Import the file of the memory server that Lore replaces into an empty store."""
    path, vocabulary = config.memory_file_path, next((one.adopts for one in surfaces if one.adopts), None)
    if path is None or not path.exists() or vocabulary is None:
        return
    try:
        if last_change(lore.store.reader(lore.namespace, lore.tenant)) is None:
            imported = lore.for_namespace(lore.namespace, "mcp").import_graph(path, vocabulary=vocabulary)
            logger.warning("%s: imported %s", path, imported)
    except LoreError as trouble:
        logger.warning("%s was not imported: %s", path, trouble)


async def over_stdio(server: Server) -> None:
    """Serve on stdin and stdout, which belong to the protocol alone: libraries print to stderr."""
    incoming, outgoing = os.dup(sys.stdin.fileno()), os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with open(incoming, "rb", buffering=0) as stdin, open(outgoing, "wb", buffering=0) as stdout:
        stream = StapledByteStream(FileWriteStream(stdout), FileReadStream(stdin))
        await McpStream(stream).run(server, anyio.Event())


class Unready:
    """Lists the tools of surfaces without a Lore; answers calls with the reason until one can be opened.

    An agent shows nothing of a server that ends at its start; this one lets the agent pass the reason on.
    """

    def __init__(self, trouble: str, surfaces: Sequence[Surface], settings: Callable[[], Config]) -> None:
        self._surfaces = surfaces
        self._settings = settings
        self._lore: Lore | None = None
        self._offer: Offer | None = None
        self._opening = anyio.Lock()
        self.server = Server(
            "lore",
            version=VERSION,
            title="Lore",
            instructions=TROUBLED.format(trouble=trouble.removesuffix(".")),
            on_list_tools=partial(list_tools, surfaces),
            on_call_tool=self._call_tool,
        )

    def close(self) -> None:
        if self._lore is not None:
            self._lore.close()

    async def _call_tool(
        self, context: ServerRequestContext, params: CallToolRequestParams
    ) -> CallToolResult:
        async with self._opening:
            if self._offer is None:
                try:
                    self._offer = await anyio.to_thread.run_sync(self._open)
                except LoreError as error:
                    return refusal(REFUSAL.format(trouble=str(error).removesuffix(".")))
        return await self._offer.call_tool(context, params)

    def _open(self) -> Offer:
        config = self._settings()
        self._lore = _open(config, self._surfaces)
        return _offer(self._lore, self._surfaces, config)
