"""start, stop, restart: one daemon in the background, and what became of the wish for it."""

from dataclasses import asdict
from importlib import import_module

import click

from lore.doors import starting
from lore.doors.cli.document import show_document
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.placing import endpoint_of
from lore.doors.cli.terminal import note, visible, warn
from lore.doors.daemon_status import read_status
from lore.doors.endpoint import Endpoint
from lore.version import VERSION


@click.command()
@json_option
@click.pass_obj
def start(flags: Flags, as_json: bool) -> None:
    """Start the daemon, in the background."""
    endpoint = endpoint_of(flags)
    if not read_status(endpoint)["running"]:
        check_settings(flags)
    started = starting.start(endpoint)
    told = _told(endpoint)
    if as_json:
        show_document({"started": started, **told})
        return
    click.echo(visible(f"Lore: {'started' if started else 'running already'} (PID: {told['pid']})"))
    if starting.is_older(str(told["version"])):
        note(f"It is version {told['version']}; lore daemon restart puts {VERSION} in its place.")


@click.command()
@json_option
@click.pass_obj
def stop(flags: Flags, as_json: bool) -> None:
    """Stop the daemon, after what it has begun."""
    endpoint = endpoint_of(flags)
    pid = read_status(endpoint)["pid"]
    stopped = starting.stop(endpoint)
    if as_json:
        show_document({"stopped": stopped, "pid": pid})
    else:
        click.echo("Lore: stopped" if stopped else "Lore: not running")


@click.command()
@json_option
@click.pass_obj
def restart(flags: Flags, as_json: bool) -> None:
    """Stop the daemon if it runs, and start it again."""
    endpoint = endpoint_of(flags)
    check_settings(flags)
    stopped = starting.restart(endpoint)
    told = _told(endpoint)
    if as_json:
        show_document({"stopped": stopped, "started": True, **told})
    else:
        click.echo(f"Lore: {'restarted' if stopped else 'started'} (PID: {told['pid']})")


def check_settings(flags: Flags) -> None:
    """Refuse settings that a daemon could not begin with, before anything is ended for it."""
    warn(import_module("lore.config").load(**asdict(flags)).warnings)


def _told(endpoint: Endpoint) -> dict[str, int | str]:
    """Who answers now."""
    told = starting.asked(endpoint) or {"pid": "0", "version": VERSION}
    return {"pid": int(told["pid"]), "version": told["version"]}
