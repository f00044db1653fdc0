"""worker: run a process that embeds and consolidates, and answers no requests."""

import click

from lore import lazy
from lore.doors.cli.connect import settings
from lore.doors.cli.group import Flags
from lore.doors.cli.render import warn
from lore.doors.logbook import show_log

MOST = 64


@click.command()
@click.option(
    "--processes",
    metavar="N",
    type=click.IntRange(1, MOST),
    default=1,
    show_default=True,
    help="Processes that share the work; each embeds in two threads.",
)
@click.option("--database-url", help="A PostgreSQL database in place of the file: postgresql://…")
@click.pass_obj
def worker(flags: Flags, processes: int, database_url: str | None) -> None:
    """Embed and consolidate what servers leave to workers.

    It answers no requests. Run as many as you like, on any machine that reaches the database, beside servers
    with --no-upkeep. Ctrl-C or SIGTERM ends it after the current step; one that is killed loses nothing.
    Messages go to stderr.
    """
    show_log()
    config = settings(flags, database_url=database_url)
    warn(config.warnings)
    lazy.worker.run(config, processes)
