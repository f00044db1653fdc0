"""migrate: copy a whole store to another database, and say what was copied."""

import os
import time
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING

import click

from lore import lazy
from lore.doors.cli.connect import settings
from lore.doors.cli.group import Flags, command
from lore.doors.cli.progress import progress
from lore.doors.cli.render import note, plain, plural, show_document, show_rows, visible
from lore.doors.cli.times import stopwatch
from lore.doors.residence import SERVING
from lore.errors import Invalid
from lore.filelock import Held, holding, is_held

if TYPE_CHECKING:
    from lore.store.moving import Database
    from lore.transfer.migrate import Migrated

NOUNS = {
    "memory": ("memory", "memories"),
    "link": ("link", ""),
    "journal": ("journal entry", "journal entries"),
}
"""Tables that the summary names."""


@command()
@click.argument("source")
@click.argument("target")
@click.option("--dry-run", is_flag=True, help="Only count the rows of SOURCE.")
def migrate(flags: Flags, source: str, target: str, dry_run: bool, as_json: bool) -> None:
    """Copy a whole store to another database.

    SOURCE and TARGET are sqlite:PATH, a PATH, or postgresql://USER@HOST/DATABASE. All of SOURCE is copied:
    tenants, memories, links, vectors, the journal and Lore's own records. Indexes are built again. SOURCE
    stays as it is. TARGET must be empty. Nobody can use it until the copy is complete, and both sides have
    the same counts and checksums. The same command continues a copy that was interrupted.
    """
    settings(flags)  # they name the key of an encrypted file
    moving = lazy.store_moving
    whole, copy = moving.database_of(source), moving.database_of(target)
    if dry_run:
        _show_counts(lazy.migrate.count(whole), whole, copy, as_json)
        return
    began = time.monotonic()
    with ExitStack() as stack:
        _warn_of_writers(whole)  # before the lock of the target, which may be the source by mistake
        if copy.scheme == "sqlite":
            stack.enter_context(_alone(copy))
        shown = stack.enter_context(progress())
        report = lazy.migrate.migrate(whole, copy, shown)
    seconds = time.monotonic() - began
    if as_json:
        show_document({**plain(report), "seconds": round(seconds, 3), "verified": True})
    else:
        _show(report, copy, seconds)


def _alone(copy: "Database") -> ExitStack:
    """Keep every daemon and server from a file until the copy ends; Invalid if one runs."""
    stack = ExitStack()
    lock = _lock(copy)
    if os.path.isdir(os.path.dirname(lock)):
        try:
            stack.enter_context(holding(lock, 0.0))
        except Held:
            raise Invalid(f"a daemon or server uses {copy}; run `lore stop`, then try again") from None
    return stack


def _warn_of_writers(whole: "Database") -> None:
    if whole.scheme == "sqlite" and is_held(_lock(whole)):
        note(
            f"A daemon or server uses {whole}. Its later changes are not copied. To copy them too, end your"
            " agents and run `lore stop` first.",
            whole=True,
        )


def _lock(database: "Database") -> str:
    return f"{os.path.realpath(database.location)}{SERVING}"


def _show_counts(counts: Mapping[str, int], whole: "Database", copy: "Database", as_json: bool) -> None:
    total = sum(counts.values())
    if as_json:
        show_document({"source": str(whole), "target": str(copy), "rows": counts, "dry_run": True})
        return
    click.echo(visible(f"{plural(total, 'row')} would be copied from {whole} to {copy}:"))
    show_rows({name: f"{number:,}" for name, number in counts.items() if number} or {"rows": "none"})


def _show(report: "Migrated", copy: "Database", seconds: float) -> None:
    total = sum(report.rows.values())
    if report.restarted:
        note(f"{report.source} had changed since the copy was begun, so it was begun again.")
    elif report.resumed:
        note(f"{plural(report.resumed, 'row')} were there from an earlier attempt.")
    main = ", ".join(plural(report.rows[name], *nouns) for name, nouns in NOUNS.items())
    click.echo(
        visible(
            f"Copied {plural(total, 'row')} in {stopwatch(seconds)} from {report.source} to {report.target}:"
            f" {main}. Counts and checksums of all tables are equal."
        )
    )
    if report.renumbered:
        tenants = plural(len(report.renumbered), "tenant")
        note(f"The memories of {tenants} have new numbers; their ids are the same.")
    use = f"lore --db {copy} status" if copy.scheme == "sqlite" else f"lore-server --database-url {copy}"
    note(f"Use it: {use}", whole=True)
