"""run: the daemon itself, in this process."""

import faulthandler
import logging
from dataclasses import asdict
from importlib import import_module

import click

from lore.doors.cli.flags import Flags
from lore.doors.cli.opening import settings
from lore.doors.cli.placing import endpoint_of
from lore.doors.logbook import keep_log
from lore.doors.starting import asked
from lore.errors import LoreError, Unavailable

logger = logging.getLogger(__name__)


@click.command()
@click.option("--quietly", is_flag=True, hidden=True, help="Write to the log only.")
@click.option("--handed", hidden=True, help="What a dozing daemon hands to itself when it wakes.")
@click.option("--alone", type=int, hidden=True, help="Serve the client on this socket only, and end with it.")
@click.pass_context
def run(ctx: click.Context, quietly: bool, handed: str | None, alone: int | None) -> None:
    """Be the daemon, in the foreground.

    Ctrl-C ends it, after what it has begun. What it tells goes to stderr and to the log.
    """
    flags: Flags = ctx.obj
    if alone is not None:
        import_module("lore.doors.serving_one").serve_one(settings(flags), alone)
        return
    endpoint = endpoint_of(flags)
    if handed is None and (told := asked(endpoint)):
        raise Unavailable(f"a daemon runs already (PID: {told['pid']}) for {endpoint.home}")
    try:
        keep_log(endpoint.log, quietly=quietly)
    except OSError as error:
        raise Unavailable(f"{endpoint.log} cannot be written: {error.strerror}") from error
    faulthandler.enable()
    try:
        config = import_module("lore.config").load(**asdict(flags))
        for warning in config.warnings:
            logger.warning("%s", warning)
        daemon = import_module("lore.doors.daemon")
        daemon.run(config, endpoint, daemon.Handed.of(handed) if handed else None)
    except LoreError as error:
        logger.error("%s", error)
        ctx.exit(1)
