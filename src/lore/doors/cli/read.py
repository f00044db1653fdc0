"""read: one memory as a person wants to see it, its text first, then its place, its ties and its past."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from lore.doors.cli.completing import ids
from lore.doors.cli.document import plain, show_document
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.ids import resolve
from lore.doors.cli.naming import looked_up, names
from lore.doors.cli.opening import opened
from lore.doors.cli.terminal import cell, line, note, plural, show_rows, visible, width, wrapped
from lore.doors.cli.times import told
from lore.model import DERIVED, FULL_LENGTH, TURN, Entry, Link, Memory, Reading

if TYPE_CHECKING:
    from lore.engine import Lore

NAME_INDENT = 20
FACT_INDENT = 14
QUOTED = 3
"""So many of the turns that a memory came from are quoted."""


@click.command()
@click.argument("id", shell_complete=ids())
@click.option("--full", is_flag=True, help="The whole text of a turn of which an excerpt is searched.")
@click.option("--history", is_flag=True, help="Also what happened to it, oldest first.")
@json_option
@click.pass_obj
def read(flags: Flags, id: str, full: bool, history: bool, as_json: bool) -> None:
    """Read one memory with its place and its ties.

    This counts as use: what is read stays relevant.
    """
    with opened(flags) as lore:
        reading = lore.read(resolve(lore, id))
        past = lore.history(reading.memory.id) if history else None
        whole = lore.full_texts([reading.memory.id]).get(reading.memory.id) if full else None
        if as_json:
            told = {"full_text": whole} if full else {}
            show_document(plain(reading) | told | {"history": plain(past)})
            return
        _show(lore, reading, whole)
        if past is not None:
            _show_history(past, lore.clock())


def _show(lore: "Lore", reading: Reading, whole: str | None) -> None:
    memory = reading.memory
    if memory.title:
        click.secho("\n".join(wrapped(memory.title)), bold=True)
    click.echo("\n".join(wrapped(memory.content if whole is None else whole)))
    if whole is None and (length := memory.metadata.get(FULL_LENGTH)):
        note(f"An excerpt of {length:,} characters; --full shows all of them.")
    click.echo()
    turns = _turns(lore, reading)
    show_rows(_past(lore, reading) | _facts(reading, lore.clock()) | _origin(lore, turns))
    for turn in turns[:QUOTED]:
        click.secho(f"  “{line(f'{turn.type}: {turn.content}', width() - 4)}”", dim=True)
    quoted = {turn.id for turn in turns}
    ties = [link for link in _ties(reading) if link.other(memory.id) not in quoted]
    called = names(lore, [*reading.children, *(link.other(memory.id) for link in ties)], NAME_INDENT)
    for child in reading.children:
        click.echo(f"  └ {called[child]}")
    for link in ties:
        click.echo(f"  {_tie(link, memory.id)} {called[link.other(memory.id)]}")


def _facts(reading: Reading, now: float) -> dict[str, str]:
    memory = reading.memory
    return {
        "id": memory.id,
        "below": visible(" › ".join(reading.breadcrumb)),
        "kind": visible(", ".join(part for part in (memory.kind, memory.type, memory.status) if part)),
        "source": visible(", ".join(part for part in (memory.source, memory.session) if part)),
        "project": visible(memory.project),
        "kept": told(memory.created_at, now),
        "changed": told(memory.updated_at, now) if memory.updated_at != memory.created_at else "",
        "used": plural(memory.access_count, "time"),
        "relevance": f"{reading.relevance:.2f} (importance {memory.importance:g})",
        "summary": visible(memory.summary),
    }


def _past(lore: "Lore", reading: Reading) -> dict[str, str]:
    """That it counts no more, and what counts instead."""
    memory = reading.memory
    if memory.superseded_by is None:
        return {}
    [newer] = names(lore, [memory.superseded_by], FACT_INDENT).values()
    when = "" if memory.superseded_at is None else told(memory.superseded_at, lore.clock())
    return {"superseded": when, "replaced by": newer}


def _turns(lore: "Lore", reading: Reading) -> list[Memory]:
    """What was said that it came from, in the order of the conversation."""
    id = reading.memory.id
    origins = [link.target for link in reading.links if link.type == DERIVED and link.source == id]
    turns = [memory for memory in looked_up(lore, origins).values() if memory.kind == TURN]
    return sorted(turns, key=lambda turn: (turn.created_at, turn.alias))


def _origin(lore: "Lore", turns: Sequence[Memory]) -> dict[str, str]:
    """Where that was said, and how much of it."""
    if not turns:
        return {}
    first = lore.look_at(turns[0].id).parent
    return {
        "said in": "" if first is None else names(lore, [first], FACT_INDENT)[first],
        "turns": f"{len(turns):,}, of which {QUOTED}:" if len(turns) > QUOTED else "",
    }


def _ties(reading: Reading) -> Sequence[Link]:
    """The links beside the tree's own."""
    return [link for link in reading.links if link.kind != "hierarchical"]


def _tie(link: Link, id: str) -> str:
    arrow = "→" if link.source == id else "←"
    return f"{arrow} {visible(link.type) or link.kind}"


def _show_history(entries: Sequence[Entry], now: float) -> None:
    click.echo()
    for entry in entries:
        cause = entry.cause
        through = " ".join(part for part in (cause.surface, cause.actor) if part)
        why = f": {cause.reason}" if cause.reason else ""
        head = f"{told(entry.at, now)}  {cause.verb}{f' through {through}' if through else ''}{why}"
        click.echo("\n".join(wrapped(head)))
        for name, before in (entry.before or {}).items():
            after = (entry.after or {}).get(name)
            click.secho(f"  {name}: {_value(before)} → {_value(after)}", dim=True)


def _value(value: object) -> str:
    return cell(repr(value) if isinstance(value, str) else str(value), 30)
