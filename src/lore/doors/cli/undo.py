"""undo, purge: take a change back, and erase forgotten memories for good."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from lore.doors.cli.complete import complete_ids
from lore.doors.cli.connect import open_lore
from lore.doors.cli.group import Flags, command
from lore.doors.cli.ids import resolve, resolve_all
from lore.doors.cli.remember import reason_option
from lore.doors.cli.render import line, note, plain, plural, show_document, visible, width
from lore.errors import Invalid, NotFound

if TYPE_CHECKING:
    from lore.engine import Lore

SHOWN = 10
"""Changed memories and links that are listed."""


@command()
@click.argument("change", metavar="BATCH|ID", shell_complete=complete_ids())
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@reason_option
def undo(flags: Flags, change: str, dry_run: bool, reason: str, as_json: bool) -> None:
    """Take a change back.

    The ID of a memory means its last change; a BATCH any change, as `lore read --history` shows it. All that
    was changed together is taken back together: fields get their earlier values, new memories are forgotten,
    new links end. Nothing is done if something was changed since. An undo is a change too: it can be undone.
    """
    with open_lore(flags) as lore:
        batch = _batch(lore, change)
        undone = lore.undo(batch, dry_run, reason)
        if as_json:
            show_document({"undone": batch, "dry_run": dry_run, **plain(undone)})
            return
        count = plural(len(undone.changed), "memory or link", "memories and links")
        click.echo(f"{'Would change' if dry_run else 'Changed back'} {count}{':' if undone.changed else '.'}")
        for id in undone.changed[:SHOWN]:
            label = lore.activity(1, "", id).labels.get(id, "")
            click.echo(f"  {click.style(id[-8:], fg='yellow')}  {line(label, width() - 12)}")
        if len(undone.changed) > SHOWN:
            note(f"and {len(undone.changed) - SHOWN:,} more")
        if undone.batch:
            note(f"Undo: lore undo {undone.batch}", whole=True)


def _batch(lore: "Lore", change: str) -> str:
    """The batch that was named, or the last one of the memory that was named."""
    try:
        lore.undo(change, dry_run=True)
    except NotFound:
        history = lore.history(resolve(lore, change))
        return history[-1].batch
    return change


@command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=complete_ids(forgotten=True))
@click.option("-y", "--yes", is_flag=True, help="Do not ask.")
@reason_option
def purge(flags: Flags, ids: Sequence[str], yes: bool, reason: str, as_json: bool) -> None:
    """Erase forgotten memories for good.

    Their texts leave the store: rows, indexes, history, and every page of its file, which is rewritten. What
    was forgotten together with a session or an entity goes with it. This cannot be undone. Backups and
    other stores are not changed; backups beside the store are listed.
    """
    with open_lore(flags) as lore:
        wanted = resolve_all(lore, ids)
        if not yes:
            if as_json or not sys.stdin.isatty():
                raise Invalid("this erases memories for good; give --yes to confirm it")
            erased = plural(len(wanted), "memory", "memories")
            click.confirm(f"Erase {erased} for good? This cannot be undone.", abort=True, err=True)
        purged = lore.purge(wanted, reason)
    if as_json:
        show_document(plain(purged))
        return
    click.echo(f"Erased {plural(len(purged.ids), 'memory', 'memories')} for good.")
    if purged.backups:
        note("Earlier copies still hold them; delete those you do not need:")
        for path in purged.backups:
            note(visible(f"  {path}"), whole=True)
