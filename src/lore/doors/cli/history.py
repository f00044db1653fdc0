"""history: the changes of one memory in their order, as the journal has them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from lore.doors.cli.complete import complete_ids
from lore.doors.cli.connect import open_lore
from lore.doors.cli.group import Flags, command
from lore.doors.cli.ids import label, resolve
from lore.doors.cli.render import cell, line, show_document, width, wrapped
from lore.doors.cli.times import with_age
from lore.model import Entry, Filter, Memory, Query

if TYPE_CHECKING:
    from lore.engine import Lore

FOLLOWING = frozenset({"updated_at"})
"""Fields that only follow from other changes."""
VALUE_COLUMNS = 30


@command()
@click.argument("id", shell_complete=complete_ids(forgotten=True))
def history(flags: Flags, id: str, as_json: bool) -> None:
    """Show the changes of one memory, oldest first.

    Each with its time, who made it and through what, its reason, and every field from its earlier to its
    later value. `lore undo BATCH` takes a change back. A forgotten memory has its history too.
    """
    with open_lore(flags) as lore:
        id = resolve(lore, id)
        entries = lore.history(id)
        memory = _memory(lore, id)
        if as_json:
            show_document({"id": id, "label": label(memory), "changes": list(map(document_of, entries))})
            return
        click.echo(f"{click.style(id[-8:], fg='yellow')}  {line(label(memory), width() - 12)}")
        show_changes(entries, memory, lore.clock())


def show_changes(entries: Sequence[Entry], memory: Memory, now: float) -> None:
    """Print the changes of a memory. memory: as it is now."""
    for entry in entries:
        click.echo()
        click.echo("\n".join(wrapped(f"{with_age(entry.at, now)}  {made_by(entry)}")))
        if entry.before is None:
            click.secho(f"  stored: {_value(_first('content', entries, memory))}", dim=True)
        for name, (before, after) in changed_fields(entry).items():
            click.secho(f"  {name}: {_value(before)} → {_value(after)}", dim=True)
        click.secho(f"  batch {entry.batch}", dim=True)


def made_by(entry: Entry) -> str:
    """The verb of a change, through what, by whom, and why."""
    cause = entry.cause
    through = " ".join(filter(None, (cause.surface, cause.actor)))
    reason = f": {cause.reason}" if cause.reason else ""
    return f"{cause.verb}{f' through {through}' if through else ''}{reason}"


def changed_fields(entry: Entry) -> dict[str, tuple[Any, Any]]:
    """field -> its value before and after, without those that only follow from others."""
    before, after = entry.before or {}, entry.after or {}
    return {name: (before[name], after.get(name)) for name in before if name not in FOLLOWING}


def document_of(entry: Entry) -> Mapping[str, Any]:
    """One change for JSON. change: stored, changed or erased."""
    change = "stored" if entry.before is None else "erased" if entry.after is None else "changed"
    fields = {name: {"from": old, "to": new} for name, (old, new) in changed_fields(entry).items()}
    cause = entry.cause
    return {
        "at": entry.at,
        "batch": entry.batch,
        "verb": cause.verb,
        "surface": cause.surface,
        "actor": cause.actor,
        "reason": cause.reason,
        "change": change,
        "fields": fields,
    }


def _memory(lore: "Lore", id: str) -> Memory:
    """The memory as it is now, in whatever state."""
    where = Filter(ids=(id,), superseded=True, forgotten=True, kinds=frozenset())
    hits = lore.search(Query(text="", where=where, counted=False)).hits
    return hits[0].memory


def _first(name: str, entries: Sequence[Entry], memory: Memory) -> Any:
    """The first value of a field: what the first change of it replaced."""
    earlier = [entry.before[name] for entry in entries if entry.before and name in entry.before]
    return earlier[0] if earlier else getattr(memory, name)


def _value(value: object) -> str:
    return cell(repr(value) if isinstance(value, str) else str(value), VALUE_COLUMNS)
