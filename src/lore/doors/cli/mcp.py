"""mcp: serve an agent on stdin and stdout; what there is to tell a person goes to stderr."""

from functools import partial

import click

from lore.config import Config
from lore.doors.cli.flags import Flags
from lore.doors.cli.opening import opened, settings
from lore.doors.cli.terminal import note, plural, warn
from lore.doors.guide import guide as guide_for
from lore.doors.mcp import serve
from lore.doors.sample import load_sample
from lore.doors.unready import serve_unready
from lore.environment import variables
from lore.errors import LoreError


@click.command()
@click.option("--surfaces", metavar="NAMES", help="The dialects to offer, comma-separated, or all.")
@click.option("--sample", is_flag=True, help="Begin with a few memories if there are none.")
@click.option("--guide", is_flag=True, help="Say what to do next, on stderr.")
@click.pass_obj
def mcp(flags: Flags, surfaces: str | None, sample: bool, guide: bool) -> None:
    """Serve an agent over MCP, on stdin and stdout."""
    try:
        if sample or guide:
            _prepare(flags, sample, guide)
        serve(_settings(flags, surfaces))
    except LoreError as error:
        note(f"lore: {error}")
        wanted = surfaces or variables().get("LORE_SURFACES", "")
        serve_unready(str(error), wanted, partial(_settings, flags, surfaces))


def _settings(flags: Flags, surfaces: str | None) -> Config:
    config = settings(flags, surfaces=surfaces)
    warn(config.warnings)
    return config


def _prepare(flags: Flags, sample: bool, guide: bool) -> None:
    with opened(flags) as lore:
        if sample and (kept := load_sample(lore)):
            click.echo(f"Loaded {plural(kept, 'sample memory', 'sample memories')}.", err=True)
        if guide:
            click.echo(guide_for(lore.status()), err=True)
