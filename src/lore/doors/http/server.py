"""server: `lore-server`, a process that serves many callers over HTTP; also the HTTP door of a daemon."""

import logging
import socket
import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import click
import uvicorn
from typing_extensions import override

from lore.config import Config, load
from lore.connecting import wire
from lore.doors.clients import RESERVED_FILES, open_files_limit, raise_open_files_limit
from lore.doors.endpoint import HTTP_PORT
from lore.doors.http import (
    api,
    consolidation,
    events,
    explorer,
    health,
    manage,
    mcp,
    oauth,
    push,
    settings,
    sign_in,
    transfer,
)
from lore.doors.http.access import check_access, has_token
from lore.doors.http.connection import Connection
from lore.doors.http.entrance import access_options, entrance
from lore.doors.http.foreign_changes import follow_foreign_changes
from lore.doors.http.guard import is_loopback
from lore.doors.http.metrics import Counted
from lore.doors.http.routes import Route
from lore.doors.http.served import Served
from lore.doors.http.sessions import Sessions
from lore.doors.http.sign_in import PAGES, link
from lore.doors.http.transport import transport_options
from lore.doors.logbook import show_log
from lore.doors.streams import FINISH_SECONDS
from lore.doors.upkeep import Consolidation, spare_modules, stop_on_signal
from lore.engine import Lore
from lore.errors import LoreError, Unavailable
from lore.version import VERSION

PARTS: Sequence[Callable[[Served], list[Route]]] = (
    health.routes,
    api.routes,
    mcp.routes,
    oauth.routes,
    push.routes,
    sign_in.routes,
    events.routes,
    consolidation.routes,
    settings.routes,
    manage.routes,
    transfer.routes,
    explorer.routes,
)
"""The modules that answer requests; each gives its routes."""
PATH = click.Path(path_type=Path)
KEEP_ALIVE_SECONDS = 75
"""An unused connection stays open for longer than proxies keep theirs (nginx: 60), so that none sends a
request on a connection that is about to end."""
TOKENS, NO_TOKEN = "callers need a token", "no token exists yet; lore token create NAME makes one"
ONCE = "signs in once, within two minutes"

logger = logging.getLogger(__name__)


# --- the command
@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-p", "--port", type=click.IntRange(0, 65535), help="The port to listen on (default: 8080).")
@click.option("--host", help="The address to listen on (default: 127.0.0.1).")
@click.option("--db", "db_path", type=PATH, help="The database file (default: memory.db in the data folder).")
@click.option("--database-url", help="A PostgreSQL database in place of the file: postgresql://…")
@click.option(
    "--upkeep/--no-upkeep", default=None, help="Embed and consolidate here, or leave it to `lore worker`."
)
@click.option("--data-dir", type=PATH, help="The folder for data and settings (default: ~/.lore).")
@access_options
@click.version_option(VERSION, message="lore-server %(version)s")
def server(**flags: Any) -> None:
    """Serve one store to many callers over HTTP.

    Every option is also a variable (LORE_PORT, LORE_HOST, LORE_DB_PATH, LORE_DATABASE_URL, LORE_UPKEEP,
    LORE_DATA_DIR) and a setting in config.toml. An address with a password is better a variable: every user
    of the machine can see the options of a process. Ctrl-C or SIGTERM ends the server after it has finished
    the requests that have begun.
    """
    show_log()
    config = load(**flags)
    for warning in config.warnings:
        logger.warning("%s", warning)
    run(config)


def main() -> None:
    """Run the command line of this process and exit with its code."""
    try:
        sys.exit(server.main(prog_name="lore-server", standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except LoreError as error:
        click.echo(f"lore-server: {error}", err=True)
        sys.exit(1)


def run(config: Config) -> None:
    """Serve until a signal ends the process; Unavailable if the address or the store cannot be opened."""
    raise_open_files_limit()
    listener = listen(config.host, config.port)
    lore = wire(config, patient=False)
    try:
        check_access(lore.store, config, host_of(listener), lore.clock())
        lore.background.start() if config.upkeep else lore.background.leave_to_workers()
        anyio.run(_serve, lore, config, listener)
    finally:
        lore.close()
        listener.close()
    logger.info("ended")


async def _serve(lore: Lore, config: Config, listener: socket.socket) -> None:
    served = Served(lore=lore, config=config)
    consolidation = Consolidation(lore)
    async with anyio.create_task_group() as chores:
        chores.start_soon(stop_on_signal, served.stopping)
        chores.start_soon(spare_modules)
        if config.upkeep:
            chores.start_soon(consolidation.run)
        location = lore.store.report().location
        address = address_of(listener, config)
        known = TOKENS if config.oauth_issuer or has_token(lore.store, lore.clock()) else NO_TOKEN
        click.echo(f"Lore {VERSION} serves {location} at {address}; {known}")
        click.echo(f"Explorer: {_pages(served.sessions, address, host_of(listener))}")
        await serve_http(served, listener)
        consolidation.schedule.end()
        chores.cancel_scope.cancel()


def _pages(sessions: Sessions, address: str, host: str) -> str:
    """The address of the explorer; for who sits at this machine with a link, which others must not read."""
    if is_loopback(host) and sys.stdout.isatty():
        return f"{link(sessions, address)} ({ONCE})"
    return f"{address}{PAGES}"


# --- the door
def routes(served: Served) -> list[Route]:
    """Every route of a server, from all its parts."""
    return [route for part in PARTS for route in part(served)]


def listen(host: str, port: int) -> socket.socket:
    """A socket on this address; Unavailable if it cannot be had."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listener = socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise Unavailable(
            f"{host} port {port} cannot be used: {_reason(error)}; choose another with --port or --host"
        ) from error
    # connections inherit it; asyncio sets it only on sockets whose protocol was named
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def listen_anyhow(host: str) -> socket.socket:
    """A socket on the usual port of this address, or on a free one if another program has that."""
    try:
        return listen(host, HTTP_PORT)
    except Unavailable:
        return listen(host, 0)


def _reason(error: OSError) -> str:
    """What went wrong, without the address, which the standard library adds."""
    return str(error.strerror).partition(" (while")[0]


def host_of(listener: socket.socket) -> str:
    """The address on which a socket listens, without its port."""
    return str(listener.getsockname()[0])


def address_of(listener: socket.socket, config: Config) -> str:
    """The address of a socket as a browser writes it."""
    host, port = listener.getsockname()[:2]
    scheme = "http" if config.tls_cert is None else "https"
    return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"


async def serve_http(served: Served, listener: socket.socket) -> None:
    """Answer requests on this socket until `served.stopping` is set and those that have begun are done."""
    config = uvicorn.Config(
        Counted(entrance(served, routes(served)), served.metrics),
        http=Connection,
        limit_concurrency=open_files_limit() - RESERVED_FILES,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=int(FINISH_SECONDS),
        **transport_options(served.config),
    )
    door = HttpServer(config)
    async with served.running(), anyio.create_task_group() as until:
        until.start_soon(_exit_when, served.stopping, door)
        until.start_soon(follow_foreign_changes, served)
        await door.serve(sockets=[listener])
        until.cancel_scope.cancel()


class HttpServer(uvicorn.Server):
    """A server inside a process that handles its signals itself."""

    @override
    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


async def _exit_when(stopping: anyio.Event, door: HttpServer) -> None:
    await stopping.wait()
    door.should_exit = True
