"""undo, purge: take a change back, and erase forgotten memories for good."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from lore.doors.cli.complete import complete_ids
from lore.doors.cli.connect import open_lore
from lore.doors.cli.group import Flags, command
from lore.doors.cli.history import changed_fields, document_of, made_by
from lore.doors.cli.ids import resolve, resolve_all
from lore.doors.cli.remember import reason_option
from lore.doors.cli.render import line, note, plain, plural, show_document, visible, width, wrapped
from lore.doors.cli.times import with_age
from lore.errors import Invalid, NotFound
from lore.model import Entry

if TYPE_CHECKING:
    from lore.engine import Lore

SHOWN = 10
"""Changed memories and links that are listed."""
MANY = 1_000
"""Entries of the journal among which those of the last change are looked for."""


@command()
@click.argument("change", metavar="[BATCH|ID]", required=False, shell_complete=complete_ids())
@click.option("--dry-run", is_flag=True, help="Only show what would change.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before the last change is taken back.")
@reason_option
def undo(flags: Flags, /, *, change: str | None, as_json: bool, **options: Any) -> None:
    """Take a change back; without an argument, the last one.

    The ID of a memory means its last change; a BATCH any change, as `lore history` shows it. Without either,
    the last change of the store is shown, and taken back if you agree. All that was changed together is taken
    back together: fields get their earlier values, new memories are forgotten, new links end. Nothing is done
    if something was changed since. An undo is a change too: it can be undone.
    """
    dry_run: bool = options["dry_run"]
    with open_lore(flags) as lore:
        last = None if change else _last(lore)
        batch = last.batch if last else _batch(lore, str(change))
        described: dict[str, Any] = {} if last is None else {"last_change": _described(lore, last)}
        if last is not None and not as_json:
            _show_last(lore, last)
        if last is not None and not dry_run and not options["yes"] and not _agreed(batch, as_json):
            if as_json:
                show_document(described | {"undone": None, "how": f"lore undo {batch}"})
            return
        undone = lore.undo(batch, dry_run, options["reason"])
        if as_json:
            show_document(described | {"undone": batch, "dry_run": dry_run, **plain(undone)})
            return
        count = plural(len(undone.changed), "memory or link", "memories and links")
        click.echo(f"{'Would change' if dry_run else 'Changed back'} {count}{':' if undone.changed else '.'}")
        for id in undone.changed[:SHOWN]:
            click.echo(_name(lore, id))
        if len(undone.changed) > SHOWN:
            note(f"and {len(undone.changed) - SHOWN:,} more")
        if undone.batch:
            note(f"Undo: lore undo {undone.batch}", whole=True)


def _last(lore: "Lore") -> Entry:
    """The newest entry of the journal."""
    entries = lore.activity(1).entries
    if not entries:
        raise NotFound("nothing was changed yet: there is nothing to take back")
    return entries[0]


def _together(lore: "Lore", last: Entry) -> list[Entry]:
    """The first entries of the change that ended with this one, its newest first."""
    return [entry for entry in lore.activity(MANY).entries if entry.batch == last.batch]


def _described(lore: "Lore", last: Entry) -> dict[str, Any]:
    together = _together(lore, last)
    return {
        **document_of(last),
        "changed": [{"id": entry.id, "noun": entry.noun, **document_of(entry)} for entry in together],
    }


def _show_last(lore: "Lore", last: Entry) -> None:
    """What the last change did, to what, when, and by whom."""
    together = _together(lore, last)
    click.echo("\n".join(wrapped(f"The last change: {made_by(last)}, {with_age(last.at, lore.clock())}")))
    for entry in together[:SHOWN]:
        new = "new" if entry.before is None else ", ".join(changed_fields(entry))
        click.echo(f"{_name(lore, entry.id)}  {click.style(f'({entry.noun}: {new})', dim=True)}")
    if len(together) > SHOWN:
        note(f"and {len(together) - SHOWN:,} more")


def _name(lore: "Lore", id: str) -> str:
    label = lore.activity(1, "", id).labels.get(id, "")
    return f"  {click.style(id[-8:], fg='yellow')}  {line(label, width() - 40)}"


def _agreed(batch: str, as_json: bool) -> bool:
    """Whether the person at the terminal wants it; where there is none, say how it is done."""
    if as_json:
        return False
    if not sys.stdin.isatty():
        note(f"Nothing was taken back. Take it back: lore undo {batch}", whole=True)
        return False
    return click.confirm("Take it back?", abort=True, err=True)


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
