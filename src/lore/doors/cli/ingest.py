"""ingest: transcripts of agents → turns, with a bar for what takes long and a word on what came of it."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.opening import directly, settings
from lore.doors.cli.progress import document_read, read_all, show_read
from lore.doors.cli.terminal import plural
from lore.environment import of_clients
from lore.errors import Invalid

if TYPE_CHECKING:
    from lore.transcripts.ignoring import Ignoring
    from lore.transcripts.sources import Source


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=click.Path(path_type=Path))
@click.option("--source", "names", metavar="NAME", multiple=True, help="Only this client; may be repeated.")
@json_option
@click.pass_obj
def ingest(flags: Flags, paths: Sequence[Path], names: Sequence[str], as_json: bool) -> None:
    """Read what agents wrote down of their conversations.

    Without a PATH, all transcripts of all known clients. What was read before is not read again.
    """
    sources = import_module("lore.transcripts.sources")
    wanted = [sources.named(name) for name in names] or list(sources.SOURCES.values())
    files = _given(paths, wanted if names else None) if paths else _found(wanted)
    ignored = _ignored(flags)
    with directly(flags) as lore:
        total, failed = read_all([(path, lore.ingest(path, source, ignored)) for path, source in files])
    if as_json:
        document_read(len(files), total, failed)
    else:
        show_read(plural(len(files), "transcript"), total, failed)


def _ignored(flags: Flags) -> "Ignoring":
    config = import_module("lore.config")
    left_out: Ignoring = import_module("lore.transcripts.ignoring").ignoring(
        settings(flags).data_dir / config.IGNORE_LIST, Path.home()
    )
    return left_out


def _found(wanted: Sequence["Source"]) -> list[tuple[Path, "Source"]]:
    sources = import_module("lore.transcripts.sources")
    variables = of_clients(sources.VARIABLES)
    return [(path, source) for source in wanted for path in source.files(Path.home(), variables)]


def _given(paths: Sequence[Path], wanted: Sequence["Source"] | None) -> list[tuple[Path, "Source"]]:
    """A folder stands for the lines in it; whose they are is said, or told by where they lie."""
    sources = import_module("lore.transcripts.sources")
    if wanted and len(wanted) > 1:
        raise Invalid("a PATH is of one client; give --source once")
    files = [file for path in paths for file in (sorted(path.rglob("*.jsonl")) if path.is_dir() else [path])]
    return [(file, wanted[0] if wanted else sources.source_of(file)) for file in files]
