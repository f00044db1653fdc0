"""read: one memory: its text, its place in the tree, its links and its history."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from lore.doors.cli.complete import complete_ids
from lore.doors.cli.connect import open_lore
from lore.doors.cli.group import Flags, command
from lore.doors.cli.history import made_by, show_changes
from lore.doors.cli.ids import look_up, names, resolve
from lore.doors.cli.render import cell, line, note, plain, plural, show_document, show_rows, width, wrapped
from lore.doors.cli.times import with_age
from lore.doors.cli.verify import described
from lore.model import DERIVED, FULL_LENGTH, TURN, Entry, Memory, Reading

if TYPE_CHECKING:
    from lore.engine import Lore

LINK_INDENT, ROW_INDENT = 20, 14
"""Columns before the name of a linked memory, and before the value of a row."""
QUOTED = 3
"""Turns that are quoted from the conversation that a memory came from."""


@command()
@click.argument("id", shell_complete=complete_ids())
@click.option("--full", is_flag=True, help="Show the whole text of a long turn, not the searched excerpt.")
@click.option("--history", is_flag=True, help="Also show its changes, oldest first.")
def read(flags: Flags, id: str, full: bool, history: bool, as_json: bool) -> None:
    """Show one memory with its place in the tree and its links.

    This counts as use, which keeps a memory relevant.
    """
    with open_lore(flags) as lore:
        if history and (gone := _erased(lore, id)):
            _show_erased(id, gone, as_json, lore.clock())
            return
        reading = lore.read(resolve(lore, id))
        id = reading.memory.id
        entries = lore.history(id) if history else None
        full_text = lore.full_texts([id]).get(id) if full else None
        if as_json:
            more = {"full_text": full_text} if full else {}
            show_document(plain(reading) | more | {"history": entries})
            return
        _show(lore, reading, full_text)
        if entries is not None:
            show_changes(entries, reading.memory, lore.clock())


def _erased(lore: "Lore", id: str) -> Sequence[Entry]:
    """The journal of a memory that was erased for good; empty if it is there, or never was."""
    if lore.ids_like(id, 1):
        return ()
    entries = lore.history(id)
    return entries if any(entry.after is None for entry in entries) else ()


def _show_erased(id: str, entries: Sequence[Entry], as_json: bool, now: float) -> None:
    at = max(entry.at for entry in entries if entry.after is None)
    if as_json:
        show_document({"id": id, "purged_at": at, "history": entries})
        return
    click.echo(f"Memory {id} was erased for good, {with_age(at, now)}; its text is gone.")
    for entry in entries:
        click.echo("\n".join(wrapped(f"{with_age(entry.at, now)}  {made_by(entry)}")))


def _show(lore: "Lore", reading: Reading, full_text: str | None) -> None:
    memory = reading.memory
    if memory.title:
        click.secho("\n".join(wrapped(memory.title)), bold=True)
    click.echo("\n".join(wrapped(memory.content if full_text is None else full_text)))
    if full_text is None and (length := memory.metadata.get(FULL_LENGTH)):
        note(f"An excerpt of {length:,} characters; --full shows all of them.")
    click.echo()
    turns = _origins(lore, reading)
    show_rows(_superseded(lore, memory) | _facts(reading, lore.clock()) | _origin_rows(lore, turns))
    for cited in reading.citations.items():
        click.echo(f"  cites {described(*cited)}")
    if reading.standing:
        click.secho(f"  {reading.standing}", fg="yellow")
    for turn in turns[:QUOTED]:
        click.secho(f"  “{line(f'{turn.type}: {turn.content}', width() - 4)}”", dim=True)
    quoted = {turn.id for turn in turns}
    links = [
        link for link in reading.links if link.kind != "hierarchical" and link.other(memory.id) not in quoted
    ]
    linked = names(lore, [*reading.children, *(link.other(memory.id) for link in links)], LINK_INDENT)
    for child in reading.children:
        click.echo(f"  └ {linked[child]}")
    for link in links:
        arrow = "→" if link.source == memory.id else "←"
        click.echo(f"  {arrow} {cell(link.type, 40) or link.kind} {linked[link.other(memory.id)]}")


def _facts(reading: Reading, now: float) -> dict[str, str]:
    memory = reading.memory
    return {
        "id": memory.id,
        "below": " › ".join(reading.breadcrumb),
        "kind": ", ".join(filter(None, (memory.kind, memory.type, memory.status))),
        "source": ", ".join(filter(None, (memory.source, memory.session))),
        "author": memory.author,
        "project": memory.project,
        "created": with_age(memory.created_at, now),
        "changed": with_age(memory.updated_at, now) if memory.updated_at != memory.created_at else "",
        "used": plural(memory.access_count, "time"),
        "relevance": f"{reading.relevance:.2f} (importance {memory.importance:g})",
        "summary": memory.summary,
    }


def _superseded(lore: "Lore", memory: Memory) -> dict[str, str]:
    """Rows for a memory that another one has replaced."""
    if memory.superseded_by is None:
        return {}
    [newer] = names(lore, [memory.superseded_by], ROW_INDENT, colour=False).values()
    when = "" if memory.superseded_at is None else with_age(memory.superseded_at, lore.clock())
    return {"superseded": when, "replaced by": newer}


def _origins(lore: "Lore", reading: Reading) -> list[Memory]:
    """The turns that a memory was derived from, in the order of the conversation."""
    id = reading.memory.id
    origins = [link.target for link in reading.links if link.type == DERIVED and link.source == id]
    turns = [memory for memory in look_up(lore, origins).values() if memory.kind == TURN]
    return sorted(turns, key=lambda turn: (turn.created_at, turn.alias))


def _origin_rows(lore: "Lore", turns: Sequence[Memory]) -> dict[str, str]:
    """The conversation of the first of these turns, and their number if not all are quoted."""
    if not turns:
        return {}
    session = lore.read(turns[0].id, use=False).parent
    name = "" if session is None else names(lore, [session], ROW_INDENT, colour=False)[session]
    return {"said in": name, "turns": f"{len(turns):,}, of which {QUOTED}:" if len(turns) > QUOTED else ""}
