"""sessions: the conversations that were read, as a table; and how much of them is still to be digested."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from lore.doors.cli.document import plain, show_document
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.ids import shortened
from lore.doors.cli.opening import opened
from lore.doors.cli.terminal import line, note, plural, width
from lore.doors.cli.times import minute
from lore.model import SESSION, TURN, Filter, Memory
from lore.transcripts.project import name_of

if TYPE_CHECKING:
    from lore.engine import Lore

SESSIONS = frozenset({SESSION})
TURNS = frozenset({TURN})
CLIENT_WIDTH = 12
PROJECT_WIDTH = 14
SHOWN = 20


class Conversation(NamedTuple):
    """A session and how many turns it has."""

    memory: Memory
    turns_count: int

    @property
    def document(self) -> dict[str, Any]:
        project = name_of(self.memory.channel)
        return {**plain(self.memory), "project": project, "turns_count": self.turns_count}


@click.command()
@click.option(
    "-l",
    "--limit",
    metavar="N",
    type=click.IntRange(min=1),
    default=SHOWN,
    show_default=True,
    help="At most so many.",
)
@click.option("--source", metavar="NAME", help="Only of this client, such as codex.")
@json_option
@click.pass_obj
def sessions(flags: Flags, limit: int, source: str | None, as_json: bool) -> None:
    """List the conversations that were read, latest first."""
    where = Filter(kinds=SESSIONS, sources=frozenset(() if source is None else (source,)))
    with opened(flags) as lore:
        found = _conversations(lore, where, limit)
        count = lore.count(where)
        if as_json:
            show_document({"count": count, "sessions": [one.document for one in found]})
            return
        _show(lore, found)
    if not found:
        note(_nothing(source))
    elif count > limit:
        note(f"and {count - limit:,} more; --limit shows them")


@click.command()
@json_option
@click.pass_obj
def staged(flags: Flags, as_json: bool) -> None:
    """Say how much of what was read is still to be digested."""
    with opened(flags) as lore:
        count = lore.count(Filter(kinds=TURNS))
        found = [one for one in _conversations(lore, Filter(kinds=SESSIONS), sys.maxsize) if one.turns_count]
        if as_json:
            show_document({"staged_turns": count, "sessions": [_staged_document(one) for one in found]})
            return
        if count:
            turns, of = plural(count, "turn"), plural(len(found), "session")
            click.echo(f"{turns} of {of} {'waits' if count == 1 else 'wait'} to be digested.")
        _show(lore, found[:SHOWN])
    if not count:
        note("Nothing waits to be digested; `lore ingest` reads conversations.")
    if (more := len(found) - SHOWN) > 0:
        note(f"and {plural(more, 'more session')}; --json lists all")
    if homeless := count - sum(one.turns_count for one in found):
        note(f"with {plural(homeless, 'turn')} whose session was forgotten")


def _conversations(lore: "Lore", where: Filter, limit: int) -> list[Conversation]:
    return [
        Conversation(memory, lore.count(Filter(kinds=TURNS, under=memory.id)))
        for memory in lore.select(where, limit)
    ]


def _staged_document(one: Conversation) -> dict[str, Any]:
    memory = one.memory
    return {
        "id": memory.id,
        "title": memory.title,
        "source": memory.source,
        "project": name_of(memory.channel),
        "staged_turns": one.turns_count,
    }


def _nothing(source: str | None) -> str:
    if source is None:
        return "No conversation was read yet; `lore ingest` reads those of all known clients."
    return f"No conversation of {source!r} was read yet; `lore ingest --source {source}` reads them."


def _show(lore: "Lore", found: Sequence[Conversation]) -> None:
    """One line each; columns as wide as their widest, within reason."""
    if not found:
        return
    short = shortened(lore, [one.memory.id for one in found])
    rows = [
        (
            short[one.memory.id],
            minute(one.memory.created_at),
            line(one.memory.source, CLIENT_WIDTH),
            line(name_of(one.memory.channel), PROJECT_WIDTH),
            f"{one.turns_count:,}",
        )
        for one in found
    ]
    head = ("ID", "When", "Client", "Project", "Turns")
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    room = width() - sum(widths) - 2 * len(widths)
    click.secho(f"{_laid(head, widths)}  Title", dim=True)
    for row, one in zip(rows, found, strict=True):
        id, rest = row[0], _laid(row, widths)[len(row[0]) :]
        click.echo(f"{click.style(id, fg='yellow')}{rest}  {line(one.memory.title, room)}")


def _laid(cells: Sequence[str], widths: Sequence[int]) -> str:
    """In columns; the last one holds numbers."""
    *texts, number = cells
    laid = [text.ljust(room) for text, room in zip(texts, widths, strict=False)]
    return "  ".join([*laid, number.rjust(widths[-1])])
