"""read: one memory as a person wants to see it, its text first, then its place, its ties and its past."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from lore.doors.cli.document import plain, show_document
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.ids import resolve, shortened
from lore.doors.cli.opening import opened
from lore.doors.cli.terminal import line, plural, show_rows, visible, width, wrapped
from lore.doors.cli.times import told
from lore.model import Entry, Filter, Link, Query, Reading
from lore.text import label_of

if TYPE_CHECKING:
    from lore.engine import Lore

MANY = 1_000
NAME_INDENT = 20


@click.command()
@click.argument("id")
@click.option("--history", is_flag=True, help="Also what happened to it, oldest first.")
@json_option
@click.pass_obj
def read(flags: Flags, id: str, history: bool, as_json: bool) -> None:
    """Read one memory with its place and its ties.

    This counts as use: what is read stays relevant.
    """
    with opened(flags) as lore:
        reading = lore.read(resolve(lore, id))
        past = lore.history(reading.memory.id) if history else None
        if as_json:
            show_document(plain(reading) | {"history": plain(past)})
            return
        _show(lore, reading)
        if past is not None:
            _show_history(past, lore.clock())


def _show(lore: "Lore", reading: Reading) -> None:
    memory = reading.memory
    if memory.title:
        click.secho(visible(memory.title), bold=True)
    click.echo("\n".join(wrapped(memory.content)))
    click.echo()
    show_rows(_facts(reading, lore.clock()))
    others = [*reading.children, *(link.other(memory.id) for link in _ties(reading))]
    names = _names(lore, others)
    for child in reading.children:
        click.echo(f"  └ {names[child]}")
    for link in _ties(reading):
        click.echo(f"  {_tie(link, memory.id)} {names[link.other(memory.id)]}")


def _facts(reading: Reading, now: float) -> dict[str, str]:
    memory = reading.memory
    return {
        "id": memory.id,
        "below": visible(" › ".join(reading.breadcrumb)),
        "kind": visible(", ".join(part for part in (memory.kind, memory.type, memory.status) if part)),
        "source": visible(", ".join(part for part in (memory.source, memory.session) if part)),
        "kept": told(memory.created_at, now),
        "changed": told(memory.updated_at, now) if memory.updated_at != memory.created_at else "",
        "used": plural(memory.access_count, "time"),
        "relevance": f"{reading.relevance:.2f} (importance {memory.importance:g})",
        "summary": visible(memory.summary),
    }


def _ties(reading: Reading) -> Sequence[Link]:
    """The links beside the tree's own."""
    return [link for link in reading.links if link.kind != "hierarchical"]


def _tie(link: Link, id: str) -> str:
    arrow = "→" if link.source == id else "←"
    return f"{arrow} {visible(link.type) or link.kind}"


def _names(lore: "Lore", ids: Sequence[str]) -> Mapping[str, str]:
    """What each is called, behind its short id."""
    query = Query(text="", where=Filter(ids=tuple(ids[:MANY])), limit=MANY, counted=False)
    found = {hit.memory.id: hit.memory for hit in lore.search(query).hits} if ids else {}
    short = shortened(lore, ids)
    room = width() - max(map(len, short.values()), default=0) - NAME_INDENT
    labels = {id: line(label_of(memory.title, memory.content), room) for id, memory in found.items()}
    return {id: f"{click.style(short[id], fg='yellow')}  {labels.get(id, '')}" for id in ids}


def _show_history(entries: Sequence[Entry], now: float) -> None:
    click.echo()
    for entry in entries:
        cause = entry.cause
        through = " ".join(part for part in (cause.surface, cause.actor) if part)
        why = f": {cause.reason}" if cause.reason else ""
        head = f"{told(entry.at, now)}  {cause.verb}{f' through {through}' if through else ''}{why}"
        click.echo(visible(head))
        for name, before in (entry.before or {}).items():
            after = (entry.after or {}).get(name)
            click.secho(f"  {name}: {_value(before)} → {_value(after)}", dim=True)


def _value(value: object) -> str:
    return line(repr(value) if isinstance(value, str) else str(value), 30)
