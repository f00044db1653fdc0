"""daemon: the commands for the resident process."""

import click

from lore.doors.cli.table import LazyGroup

COMMANDS = {  # name -> where the command is, and its help in one line
    "start": ("lore.doors.cli.starting:start", "Start the daemon, in the background."),
    "stop": ("lore.doors.cli.starting:stop", "Stop the daemon, after what it has begun."),
    "restart": ("lore.doors.cli.starting:restart", "Stop the daemon if it runs, and start it again."),
    "status": ("lore.doors.cli.daemon_status:status", "Say whether the daemon runs, and what it does."),
    "logs": ("lore.doors.cli.logs:logs", "Show what the daemon wrote down."),
    "run": ("lore.doors.cli.running:run", "Be the daemon, in the foreground."),
    "install": ("lore.doors.cli.service:install", "Have the daemon started at every login."),
    "uninstall": ("lore.doors.cli.service:uninstall", "Undo install."),
}


@click.group(cls=LazyGroup, table=COMMANDS)
def daemon() -> None:
    """Start, stop and look at the process that keeps Lore warm.

    Agents start it when they need it. All who use the same data folder share it.
    """
