"""mcp, run: processes that serve agents: one agent on stdin and stdout, or all of them as the daemon."""

import faulthandler
import logging
from contextlib import nullcontext
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lore import lazy
from lore.config import DATABASE_NAME, Config
from lore.doors.cli.connect import endpoint_of, open_lore, settings
from lore.doors.cli.group import Flags, http_option
from lore.doors.cli.render import note, plural, warn
from lore.doors.guide import guide as guide_for
from lore.doors.guide import sample_guide
from lore.doors.logbook import keep_log
from lore.doors.sample import load_sample, sample_folder
from lore.doors.starting import ping
from lore.environment import variables
from lore.errors import LoreError, Unavailable
from lore.text import without_password

if TYPE_CHECKING:
    from lore.doors.http.beside import Beside

logger = logging.getLogger(__name__)


# --- mcp
@click.command()
@click.option(
    "--surfaces", metavar="NAMES", help="The sets of tools to offer, comma-separated, or all (default: tree)."
)
@click.option("--sample", is_flag=True, help="Serve a few sample memories, separate from your own.")
@click.option("--guide", is_flag=True, help="Print the next steps on stderr.")
@click.pass_obj
def mcp(flags: Flags, surfaces: str | None, sample: bool, guide: bool) -> None:
    """Serve an agent over MCP, on stdin and stdout."""
    served = _sample_flags(flags) if sample else flags
    try:
        config, pages = _settings(served, surfaces), None
        if sample:
            pages = _open_pages(config) if guide else None
            _prepare_sample(flags, served, guide, pages.link if pages else "")
        elif guide:
            with open_lore(flags) as lore:
                click.echo(guide_for(lore.status()), err=True)
        chosen = lazy.surfaces.surfaces_named(config.surfaces)
        lazy.mcp.serve(config, chosen, pages.serving if pages else nullcontext)
    except LoreError as error:
        note(f"lore: {error}")
        try:
            wanted = lazy.surfaces.surfaces_named(surfaces or variables().get("LORE_SURFACES", ""))
        except LoreError:
            wanted = lazy.surfaces.surfaces_named(Config().surfaces)
        lazy.mcp.serve_unready(str(error), wanted, partial(_settings, served, surfaces))


def _settings(flags: Flags, surfaces: str | None) -> Config:
    config = settings(flags, surfaces=surfaces)
    warn(config.warnings)
    return config


def _sample_flags(flags: Flags) -> Flags:
    """Flags for the data folder of the sample. A database in the environment is not the sample's."""
    if flags.db_path is not None:
        raise click.UsageError("--sample has a store of its own in the data folder; leave out --db")
    data_dir = flags.data_dir or variables().get("LORE_DATA_DIR") or Config().data_dir
    folder = sample_folder(Path(data_dir).expanduser().absolute())
    named = not variables().keys().isdisjoint({"LORE_DB_PATH", "LORE_DATABASE_URL"})
    database = folder / DATABASE_NAME if named else None
    return replace(flags, data_dir=folder, db_path=database)


def _open_pages(config: Config) -> "Beside | None":
    """The explorer of the sample; None where this machine has no port for it."""
    try:
        return lazy.http_beside.Beside(config)
    except Unavailable as error:
        note(f"The explorer is not served: {error}")
        return None


def _prepare_sample(own: Flags, served: Flags, guide: bool, link: str) -> None:
    with open_lore(served, create=True) as lore:
        if count := load_sample(lore):
            click.echo(f"Loaded {plural(count, 'sample memory', 'sample memories')}.", err=True)
        if guide:
            location = without_password(str(settings(own).location))
            click.echo(sample_guide(lore.status(), location, endpoint_of(served).flags, link), err=True)


# --- run
@click.command()
@click.option("--quietly", is_flag=True, hidden=True, help="Write to the log only.")
@click.option("--on-demand", is_flag=True, hidden=True, help="A client started it: exit when nobody uses it.")
@click.option("--stay", is_flag=True, hidden=True, help="With --on-demand: do not exit when nobody uses it.")
@click.option("--alone", type=int, hidden=True, help="Serve only the client on this socket, and end with it.")
@http_option
@click.pass_context
def run(ctx: click.Context, /, *, quietly: bool, on_demand: bool, alone: int | None, **options: Any) -> None:
    """Run the daemon in the foreground.

    Ctrl-C ends it after it has finished its current work. Messages go to stderr and to the log.
    """
    flags: Flags = ctx.obj
    if alone is not None:
        lazy.daemon.serve_one(settings(flags), alone)
        return
    endpoint = endpoint_of(flags)
    if running := ping(endpoint):
        raise Unavailable(f"a daemon runs already (PID: {running['pid']}) for {endpoint.home}")
    try:
        keep_log(endpoint.log, quietly=quietly)
    except OSError as error:
        raise Unavailable(f"{endpoint.log} cannot be written: {error.strerror}") from error
    faulthandler.enable()
    try:
        env = lazy.config.of_daemon(variables()) if on_demand else variables()
        config = lazy.config.load(env, **asdict(flags), http_port=options["http_port"])
        for warning in config.warnings:
            logger.warning("%s", warning)
        lazy.daemon.run(config, endpoint, on_demand=on_demand and not options["stay"])
    except LoreError as error:
        logger.error("%s", error)
        ctx.exit(1)
