"""mcp: serve an agent on stdin and stdout; what there is to tell a person goes to stderr."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from lore.config import DATABASE_NAME, Config
from lore.doors.cli.flags import Flags
from lore.doors.cli.opening import opened, settings
from lore.doors.cli.placing import endpoint_of
from lore.doors.cli.terminal import note, plural, warn
from lore.doors.guide import guide as guide_for
from lore.doors.guide import sample_guide
from lore.doors.mcp import serve
from lore.doors.sample import load_sample, sample_folder
from lore.doors.unready import serve_unready
from lore.environment import variables
from lore.errors import LoreError


@click.command()
@click.option("--surfaces", metavar="NAMES", help="The dialects to offer, comma-separated, or all.")
@click.option("--sample", is_flag=True, help="Serve a few sample memories, kept apart from your own.")
@click.option("--guide", is_flag=True, help="Say what to do next, on stderr.")
@click.pass_obj
def mcp(flags: Flags, surfaces: str | None, sample: bool, guide: bool) -> None:
    """Serve an agent over MCP, on stdin and stdout."""
    served = _for_the_sample(flags) if sample else flags
    try:
        if sample:
            _prepare_sample(flags, served, guide)
        elif guide:
            with opened(flags) as lore:
                click.echo(guide_for(lore.status()), err=True)
        serve(_settings(served, surfaces))
    except LoreError as error:
        note(f"lore: {error}")
        wanted = surfaces or variables().get("LORE_SURFACES", "")
        serve_unready(str(error), wanted, partial(_settings, served, surfaces))


def _settings(flags: Flags, surfaces: str | None) -> Config:
    config = settings(flags, surfaces=surfaces)
    warn(config.warnings)
    return config


def _for_the_sample(flags: Flags) -> Flags:
    """Flags for the data folder of the sample. A database that the environment names is not the sample's."""
    if flags.db_path is not None:
        raise click.UsageError("--sample has a store of its own in the data folder; leave out --db")
    data_dir = flags.data_dir or variables().get("LORE_DATA_DIR") or Config().data_dir
    folder = sample_folder(Path(data_dir).expanduser().absolute())
    database = folder / DATABASE_NAME if "LORE_DB_PATH" in variables() else None
    return replace(flags, data_dir=folder, db_path=database)


def _prepare_sample(own: Flags, served: Flags, guide: bool) -> None:
    with opened(served, create=True) as lore:
        if kept := load_sample(lore):
            click.echo(f"Loaded {plural(kept, 'sample memory', 'sample memories')}.", err=True)
        if guide:
            location = str(settings(own).database)
            click.echo(sample_guide(lore.status(), location, endpoint_of(served).flags), err=True)
