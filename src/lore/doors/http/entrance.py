"""entrance: everything that stands around the routes of a server: who calls, the guard, and the audit."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from starlette.types import ASGIApp

from lore.doors.http.access import Access
from lore.doors.http.app import application
from lore.doors.http.audit import Audit, Ledger
from lore.doors.http.guard import Guard
from lore.doors.http.oauth import resource_metadata
from lore.doors.http.routes import Route
from lore.doors.http.served import Served
from lore.doors.http.transport import listed

Command = TypeVar("Command", bound=Callable[..., Any])
FILE = click.Path(path_type=Path)


def entrance(served: Served, routes: Sequence[Route]) -> ASGIApp:
    """The application that answers these routes to callers who may call them."""
    config = served.config
    access = Access(served.lore.store, config, served.sessions)
    ledger = Ledger(config.data_dir)

    @asynccontextmanager
    async def closing() -> AsyncIterator[None]:
        try:
            yield
        finally:
            access.close()
            ledger.close()

    served.resources.append(closing)
    app = application(served, routes, access.identify, access.count)
    hosts, origins = listed(config.allowed_hosts), listed(config.allowed_origins)
    return Audit(Guard(app, hosts, origins, resource_metadata(config), access.rates), ledger.write)


def access_options(command: Command) -> Command:
    """The options of a server about who may call it. Each is also a setting."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def _joined(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> str | None:
    return ",".join(values) or None


OPTIONS = (
    click.option(
        "--allowed-host",
        "allowed_hosts",
        metavar="NAME",
        multiple=True,
        callback=_joined,
        help="A name of this server besides localhost; * for any. May be repeated.",
    ),
    click.option(
        "--allowed-origin",
        "allowed_origins",
        metavar="ORIGIN",
        multiple=True,
        callback=_joined,
        help="Web pages that may send requests, like https://example.org. May be repeated.",
    ),
    click.option(
        "--trusted-proxy",
        "trusted_proxies",
        metavar="ADDRESS",
        multiple=True,
        callback=_joined,
        help="A proxy whose X-Forwarded headers count. May be repeated.",
    ),
    click.option(
        "--rate-limit",
        type=click.IntRange(0),
        metavar="N",
        help="Requests of one caller in a minute (default: 6000; 0: no limit).",
    ),
    click.option("--tls-cert", type=FILE, help="Serve over TLS with this certificate, in PEM."),
    click.option("--tls-key", type=FILE, help="The key of the certificate, in PEM."),
    click.option("--oauth-issuer", metavar="URL", help="Accept tokens of this issuer."),
    click.option("--oauth-audience", metavar="URL", help="The name of this server in tokens of the issuer."),
)
