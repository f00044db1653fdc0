"""Hits: what a search found, on a terminal. One line says which and where, the next ones what and why."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import click

from lore.doors.cli.ids import shortened
from lore.doors.cli.naming import names
from lore.doors.cli.terminal import line, width, wrapped
from lore.model import Hit
from lore.text import label_of

if TYPE_CHECKING:
    from lore.engine import Lore

PREVIEW_WIDTH = 80
NARROWEST_WAY = 13
ARROW = " › "
INDENT = "    "
REPLACED = "replaced by"
REACHED = "reached by way of"


def show_hits(lore: "Lore", hits: Sequence[Hit], format: str | None, why: bool) -> None:
    """ids: whole ones, one a line. title: one line each. full: with the whole text. None: with a preview."""
    if format == "ids":
        click.echo("".join(f"{hit.memory.id}\n" for hit in hits), nl=False)
        return
    short = shortened(lore, [hit.memory.id for hit in hits])
    newer = [hit.memory.superseded_by for hit in hits if hit.memory.superseded_by is not None]
    called = names(lore, newer, len(INDENT + REPLACED) + 3)
    replaced_by = {id: f"{click.style(REPLACED, fg='red')} {name}" for id, name in called.items()}
    for rank, hit in enumerate(hits, 1):
        click.echo(_head(rank, hit, short[hit.memory.id], format))
        replaced = [] if hit.memory.superseded_by is None else [replaced_by[hit.memory.superseded_by]]
        for text in (*replaced, *_body(hit, format), *(_reasons(hit) if why else ())):
            click.echo(INDENT + text)


def _head(rank: int, hit: Hit, id: str, format: str | None) -> str:
    """Rank, score, depth, id and the way down to it."""
    memory = hit.memory
    start = f"{rank:>2}. {hit.score:.3f} (d{memory.depth}) "
    called = label_of(memory.title, memory.content) if format == "title" else memory.title
    room = width() - len(start) - len(id) - 2
    title = line(called, room) if called else ""
    way = _way(hit.breadcrumb, room - len(title))
    return (
        f"{start}{click.style(id, fg='yellow')}  {click.style(way, dim=True)}{click.style(title, bold=True)}"
    )


def _way(breadcrumb: Sequence[str], room: int) -> str:
    """As much of the way down as there is room for beside the title."""
    if not breadcrumb or room < NARROWEST_WAY:
        return ""
    return line(ARROW.join(breadcrumb), room - len(ARROW)) + ARROW


def _body(hit: Hit, format: str | None) -> Iterable[str]:
    if format == "full":
        return wrapped(hit.memory.content, len(INDENT))
    if format == "title":
        return ()
    return (line(hit.memory.content, min(PREVIEW_WIDTH, width() - len(INDENT))),)


def _reasons(hit: Hit) -> Iterable[str]:
    """Each signal that counts: strength x weight = points; then what time has left of their sum."""
    counting = {name: signal for name, signal in hit.signals.items() if signal.points}
    longest = max(map(len, counting), default=0)
    for name, signal in counting.items():
        sum = f"{signal.strength:.3f} × {signal.weight:.2f} = {signal.points:.3f}"
        yield click.style(f"{name.ljust(longest)}  {sum}", dim=True)
    if hit.via:
        way = line(hit.via, width() - len(INDENT + REACHED) - 1)
        yield click.style(f"{REACHED} {way}", dim=True)
    if hit.fade != 1:
        yield click.style(f"all × {hit.fade:.3f}, faded with disuse", dim=True)
