"""Hits: what a search found, on a terminal. One line says which and when, the next ones what and why."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import click

from lore.doors.cli.ids import shortened
from lore.doors.cli.naming import label, names
from lore.doors.cli.terminal import LEAST, NARROW, broken, columns, line, width, wrapped
from lore.doors.cli.times import day, minute
from lore.doors.cli.why import reasons
from lore.model import Hit, Query
from lore.ranking.excerpt import excerpt
from lore.transcripts.project import name_of

if TYPE_CHECKING:
    from lore.engine import Lore

PASSAGE_LENGTH = 300
PASSAGE_LINES = 3
SHORTEST_PASSAGE = 160
NARROWEST_WAY = 13
ARROW = " › "
INDENT = "    "
REPLACED = "replaced by"


def show_hits(lore: "Lore", hits: Sequence[Hit], query: Query, format: str | None, why: bool) -> None:
    """ids: whole ones, one a line. title: one line each. full: the whole text. None: the matching passage."""
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
        explained = _explained(hit, hits, query.text) if why else ()
        for text in (*replaced, *_body(hit, query.text, format), *explained):
            click.echo(INDENT + text)


def _head(rank: int, hit: Hit, id: str, format: str | None) -> str:
    """Rank, score and id; then the way down to it and its title, or when and where it was kept."""
    memory = hit.memory
    start = f"{rank:>2}. {hit.score:.3f}  "
    room = width() - len(start) - len(id) - 2
    if format == "title":
        rest = _titled(hit.breadcrumb, label(memory), room)
    else:
        when = (day if width() < NARROW else minute)(memory.created_at)
        facts = [when, name_of(memory.project), memory.type]
        rest = click.style(_laid_out(filter(None, facts), room), dim=True)
    return f"{start}{click.style(id, fg='yellow')}  {rest}"


def _laid_out(facts: Iterable[str], room: int) -> str:
    """Two spaces between them; the last is cut where there is no room, those behind it are left out."""
    laid = ""
    for fact in facts:
        gap = "  " if laid else ""
        left = room - columns(laid + gap)
        if left >= LEAST or columns(fact) <= left:
            laid += gap + line(fact, left)
    return laid


def _titled(breadcrumb: Sequence[str], title: str, room: int) -> str:
    """The title, and before it as much of the way down as there is room for."""
    title = line(title, room) if title else ""
    left = room - columns(title)
    arrow = ARROW if title else ""
    way = ""
    if breadcrumb and left >= NARROWEST_WAY:
        way = line(ARROW.join(breadcrumb), left - len(arrow)) + arrow
    return click.style(way, dim=True) + click.style(title, bold=True)


def _body(hit: Hit, query: str, format: str | None) -> Iterable[str]:
    if format == "title":
        return
    memory = hit.memory
    room = width() - len(INDENT)
    text = memory.content if format == "full" else _passage(memory.content, query, room)
    if hit.breadcrumb or not text.lstrip("# ").startswith(memory.title):
        yield _titled(hit.breadcrumb, memory.title, room)
    yield from wrapped(text, len(INDENT))


def _passage(content: str, query: str, room: int) -> str:
    """About three lines; fewer characters where they are wide."""
    length = min(PASSAGE_LENGTH, max(SHORTEST_PASSAGE, PASSAGE_LINES * room))
    sample = content[:PASSAGE_LENGTH]
    return excerpt(content, query, length * len(sample) // max(1, columns(sample)))


def _explained(hit: Hit, hits: Sequence[Hit], query: str) -> Iterator[str]:
    """One reason a line, the strongest first; a long one goes on below itself."""
    for bar, words in reasons(hit, hits, query):
        room = width() - len(INDENT) - len(bar) - 2
        first, *rest = broken(line(words, room * 2), room)
        yield click.style(f"{bar}  {first}", dim=True)
        for text in rest:
            yield click.style(" " * (len(bar) + 2) + text, dim=True)
