"""import: files that somebody hands over → turns; the exit code tells whether all of them could be read."""

from collections.abc import Sequence
from pathlib import Path

import click

from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.opening import directly, embedding
from lore.doors.cli.progress import document_read, embed_pending, read_all, show_read
from lore.transcripts.imports import FORMATS, Format


@click.command("import")
@click.argument("paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--format", type=click.Choice(FORMATS), help="What the files are; else it is seen in them.")
@click.option("--session", metavar="NAME", default="", help="The session of texts (default: the file name).")
@json_option
@click.pass_context
def importing(
    ctx: click.Context, paths: Sequence[Path], format: Format | None, session: str, as_json: bool
) -> None:
    """Keep the conversations in exports and other files.

    A FILE is an export of Claude.ai or ChatGPT, zipped or not, or Markdown, plain text or JSON lines. To
    import it again adds only what is new in it. The exit code is 1 if a FILE cannot be read.
    """
    flags: Flags = ctx.obj
    with directly(flags, create=any(path.is_file() for path in paths)) as lore:
        files = [(path, lore.import_file(path, format=format, session=session)) for path in paths]
        total, failed = read_all(files)
        if not as_json:
            show_read(len(paths), "file", total, failed)
        with embedding(flags, lore) as embeds:
            embed_pending(embeds)
    if as_json:
        document_read(len(paths), total, failed)
    ctx.exit(1 if failed else 0)
