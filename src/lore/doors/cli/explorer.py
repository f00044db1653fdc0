"""explorer: open Lore's pages in a browser, signed in by a one-time link."""

import webbrowser

import click

from lore.doors import starting
from lore.doors.cli.connect import endpoint_of
from lore.doors.cli.daemon import check_settings
from lore.doors.cli.group import Flags, command
from lore.doors.cli.render import note, show_document, visible
from lore.doors.daemon_status import read_status
from lore.doors.endpoint import HTTP_PORT, Endpoint
from lore.errors import Unavailable
from lore.version import VERSION

IN_TERMINAL = frozenset({"www-browser", "links", "elinks", "lynx", "w3m"})
"""Browsers that would take the terminal, and cannot show the pages."""


@command()
@click.option(
    "-p",
    "--port",
    type=click.IntRange(1, 65535),
    help=f"The port to open (default: {HTTP_PORT}, or a free one).",
)
@click.option("--no-open", is_flag=True, help="Print the address and open no browser.")
def explorer(flags: Flags, port: int | None, no_open: bool, as_json: bool) -> None:
    """Open Lore's pages in a browser.

    Starts the daemon if none runs, and has it serve HTTP on this machine. The printed link signs you in; it
    works once, within two minutes.
    """
    endpoint = endpoint_of(flags)
    if not read_status(endpoint)["running"]:
        check_settings(flags)
    starting.start(endpoint)
    link = _link(endpoint, port)
    opened = not no_open and _open(link)
    if as_json:
        show_document({"link": link, "opened": opened})
        return
    click.echo(visible(link))
    if port is not None and f":{port}/" not in link:
        note("The daemon serves HTTP at this address already; lore daemon restart --http PORT changes it.")
    if not opened and not no_open:
        note("No browser was found; open the link in one, within two minutes.")


def _link(endpoint: Endpoint, port: int | None) -> str:
    fields = {"version": VERSION, "port": str(port or 0)}
    try:
        connection, word, reply = endpoint.dial("explorer", fields)
    except OSError as error:
        raise Unavailable(f"the daemon does not answer: {error}") from error
    connection.close()
    if word != "welcome" and starting.is_older(reply.get("version", "0")):
        raise Unavailable("the daemon is of an older version; lore daemon restart replaces it")
    if word != "welcome":
        raise Unavailable(reply.get("error", "the daemon refused to open the explorer"))
    return reply["link"]


def _open(link: str) -> bool:
    """Whether a browser with windows was started for this link."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return False
    return getattr(browser, "name", "") not in IN_TERMINAL and browser.open(link)
