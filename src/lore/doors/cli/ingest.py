"""ingest: transcripts of agents → turns, with a bar for what takes long and a word on what came of it."""

import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lore.doors.cli.completing import from_table
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.opening import directly, settings
from lore.doors.cli.placing import endpoint_of
from lore.doors.cli.progress import document_read, read_all, show_read
from lore.doors.cli.terminal import note, plural
from lore.doors.cli.times import moment
from lore.doors.daemon_status import read_status
from lore.environment import of_clients
from lore.errors import Invalid, NotFound

if TYPE_CHECKING:
    from lore.engine.ingest import Ingested
    from lore.transcripts.ignoring import Ignoring
    from lore.transcripts.sources import Source

MANY = 200
"""How many memories must wait to be embedded to be worth a word."""


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.option(
    "--source",
    "names",
    metavar="NAME",
    multiple=True,
    shell_complete=from_table("lore.transcripts.sources:SOURCES"),
    help="Only this client; may be repeated.",
)
@click.option(
    "--since", metavar="WHEN", help="Only transcripts written since 2026-01-31, or 30m, 3h, 7d, 2w ago."
)
@click.option(
    "--once/--follow", default=True, help="Read once (the default), or go on as agents write, until Ctrl-C."
)
@click.option(
    "--again", is_flag=True, help="Read from the beginning: what an older Lore has cut becomes whole."
)
@json_option
@click.pass_context
def ingest(
    ctx: click.Context,
    paths: Sequence[Path],
    names: Sequence[str],
    since: str | None,
    once: bool,
    again: bool,
    as_json: bool,
) -> None:
    """Read what agents wrote down of their conversations.

    Without a PATH, all transcripts of all known clients; a folder stands for the transcripts in it. What was
    read before is not read again, but for --again, and never kept twice. A running daemon does the same by
    itself. The exit code is 1 if something cannot be read or kept: a folder, a transcript, a line.
    """
    flags: Flags = ctx.obj
    sources = import_module("lore.transcripts.sources")
    wanted = [sources.named(name) for name in names] or list(sources.SOURCES.values())
    after = 0.0 if since is None else moment(since, time.time(), "--since")
    left_out = waiting = 0
    unseen: dict[str, str] = {}
    if once:
        found = _given(paths, wanted if names else None, unseen) if paths else _found(wanted, unseen)
        files = [(path, source) for path, source in found if not _older(path, source, after)]
        left_out = len(found) - len(files)
        total, failed, waiting = _read(flags, files, again)
        failed |= unseen
        count = len(files)
    elif paths or again:
        wrong = "a PATH can only be read once" if paths else "--again reads from the beginning, with --once"
        raise Invalid(f"--follow reads on where the clients write; {wrong}")
    else:
        count, total, failed = import_module("lore.doors.cli.following").follow(flags, wanted, after)
    if as_json:
        document_read(count, total, failed, left_out=left_out)
    else:
        show_read(count + len(unseen), "transcript", total, failed)
        if left_out:
            note(f"left out: {plural(left_out, 'transcript')} not written since {since}")
        if waiting >= MANY:
            note(f"{waiting:,} memories wait to be embedded: {_who_embeds(flags)}")
    ctx.exit(1 if failed or total.passed_over else 0)


def _read(
    flags: Flags, files: Sequence[tuple[Path, "Source"]], again: bool
) -> tuple["Ingested", dict[str, str], int]:
    """Read the files: what came of them, which failed and why, and how many memories wait to be embedded."""
    ignored = _ignored(flags)
    with directly(flags, create=bool(files)) as lore:
        found = [(path, lore.ingest(path, source, ignored, again)) for path, source in files]
        total, failed = read_all(found)
        return total, failed, lore.pending()


def _who_embeds(flags: Flags) -> str:
    """Who does it, and what can be found until then."""
    who = (
        "the daemon does that"
        if read_status(endpoint_of(flags))["running"]
        else "`lore start` has a daemon do that"
    )
    return f"{who}; until then they are found by their words"


def _ignored(flags: Flags) -> "Ignoring":
    config = import_module("lore.config")
    left_out: Ignoring = import_module("lore.transcripts.ignoring").ignoring(
        settings(flags).data_dir / config.IGNORE_LIST, Path.home()
    )
    return left_out


def _older(path: Path, source: "Source", after: float) -> bool:
    """Whether it was not written since; one that is not there has to say so when it is read."""
    return 0 < source.written_at(path) < after


def _found(wanted: Sequence["Source"], unseen: dict[str, str]) -> list[tuple[Path, "Source"]]:
    """unseen: gets the files and folders that cannot be looked at, and why."""
    sources = import_module("lore.transcripts.sources")
    variables = of_clients(sources.VARIABLES)
    return [(path, source) for source in wanted for path in source.files(Path.home(), variables, unseen)]


def _given(
    paths: Sequence[Path], wanted: Sequence["Source"] | None, unseen: dict[str, str]
) -> list[tuple[Path, "Source"]]:
    """A folder stands for the transcripts in it; whose they are is said, or told by where they lie."""
    sources = import_module("lore.transcripts.sources")
    if wanted and len(wanted) > 1:
        raise Invalid("a PATH is of one client; give --source once")
    called = {name for source in wanted or sources.SOURCES.values() for name in source.called}
    files = [file for path in paths for file in (_inside(path, called, unseen) if path.is_dir() else [path])]
    return [(file, wanted[0] if wanted else _client_of(file)) for file in files]


def _client_of(file: Path) -> "Source":
    """The client whose file this is, by its name or by where it lies."""
    sources = import_module("lore.transcripts.sources")
    try:
        client: Source = sources.source_of(file)
    except Invalid:
        if not file.exists():
            raise NotFound(f"there is no file or folder {file}") from None
        raise
    return client


def _inside(folder: Path, called: set[str], unseen: dict[str, str]) -> list[Path]:
    matching = import_module("lore.transcripts.finding").matching
    return sorted(path for name in called for path in matching(folder, f"**/{name}", unseen))
