"""install, uninstall: hand the daemon to the system's own manager of services, and take it back."""

import sys
from dataclasses import asdict

import click

from lore.doors import service
from lore.doors.cli.document import show_document
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.placing import endpoint_of
from lore.doors.cli.starting import check_settings
from lore.doors.cli.terminal import note, visible
from lore.doors.daemon_status import read_status


@click.command()
@click.option("--print", "only_print", is_flag=True, help="Print the unit and change nothing.")
@click.option("--no-start", is_flag=True, help="From the next login on, not now.")
@json_option
@click.pass_obj
def install(flags: Flags, only_print: bool, no_start: bool, as_json: bool) -> None:
    """Have the daemon started at every login.

    On Linux by systemd, on macOS by launchd. A daemon that runs is stopped first, so that the service
    takes its place.
    """
    check_settings(flags)
    endpoint = endpoint_of(flags)
    manager = service.manager_of(sys.platform, endpoint)
    if only_print:
        click.echo(manager.unit, nl=False)
        return
    done = service.install(manager, endpoint, start=not no_start)
    if as_json:
        show_document(asdict(done))
        return
    _show(done, manager.hint)


@click.command()
@json_option
@click.pass_obj
def uninstall(flags: Flags, as_json: bool) -> None:
    """Undo install.

    The service is stopped and its unit removed; memories, settings and the log stay.
    """
    endpoint = endpoint_of(flags)
    manager = service.manager_of(sys.platform, endpoint)
    removed = service.uninstall(manager)
    running = read_status(endpoint)["running"]
    if as_json:
        show_document({"unit": manager.path, "removed": removed, "running": running})
        return
    click.echo(visible(f"Removed {manager.path}" if removed else f"Nothing to remove at {manager.path}"))
    if running:
        note("A daemon runs on its own; lore daemon stop ends it.")


def _show(done: service.Installed, hint: str) -> None:
    click.echo(visible(f"{'Wrote' if done.changed else 'Unchanged:'} {done.unit}"))
    if done.left:
        click.echo(visible(f"The service could not be started from here: {done.why}. Run:"))
        for command in done.left:
            click.echo(visible(f"  {command}"))
    elif done.pid is not None:
        click.echo(f"Lore: {'started' if done.started else 'running already'} as a service (PID: {done.pid})")
    else:
        click.echo("Lore: starts at the next login")
    if hint:
        note(hint)
