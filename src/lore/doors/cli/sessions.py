"""sessions: the conversations that were read, as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from lore.doors.cli.completing import sources
from lore.doors.cli.document import plain, show_document
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.ids import shortened
from lore.doors.cli.opening import opened
from lore.doors.cli.projects import Scope, project_options, scope
from lore.doors.cli.terminal import cell, columns, line, note, padded, width
from lore.doors.cli.times import day, minute
from lore.model import LORE_CALL, SESSION, TURN, Filter, Memory
from lore.transcripts.project import name_of

if TYPE_CHECKING:
    from lore.engine import Lore

SESSIONS = frozenset({SESSION})
TURNS = frozenset({TURN, LORE_CALL})
CLIENT_WIDTH = 12
PROJECT_WIDTH = 14
SHOWN = 20
NARROW_TABLE = 72
"""Fewer columns leave no room for a title beside the others."""


class Conversation(NamedTuple):
    """A session, how many turns it has, and when the last of them was (None: not looked up)."""

    memory: Memory
    turns_count: int
    last_turn_at: float | None = None

    @property
    def document(self) -> dict[str, Any]:
        name = name_of(self.memory.project)
        turns = {"turns_count": self.turns_count, "last_turn_at": self.last_turn_at}
        return {**plain(self.memory), "project_name": name, **plain(turns)}


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
@click.option("--source", metavar="NAME", shell_complete=sources, help="Only of this client, such as codex.")
@project_options
@json_option
@click.pass_obj
def sessions(
    flags: Flags, limit: int, source: str | None, projects: Sequence[str], everywhere: bool, as_json: bool
) -> None:
    """List the conversations that were read, latest first.

    The latest turn of each decides. In a repository these are its own, and those that belong to none.
    """
    all_over = Filter(kinds=SESSIONS, sources=frozenset(() if source is None else (source,)))
    with opened(flags) as lore:
        within = scope(lore, projects, everywhere)
        where = replace(all_over, projects=within.keys)
        found = _conversations(lore, where, limit, Filter(kinds=TURNS))
        count = lore.count(where)
        if as_json:
            listed = [one.document for one in found]
            show_document({"projects": within.document, "count": count, "sessions": listed})
            return
        show_conversations(lore, found)
        if within.assumed:
            note(within.told("lists", lore.count(all_over) - count))
    if not found:
        note(_nothing(source, within))
    elif count > limit:
        note(f"and {count - limit:,} more; --limit shows them")


def _conversations(lore: "Lore", where: Filter, limit: int, turns: Filter) -> list[Conversation]:
    """The sessions with the latest turns, each with how many of these turns it has."""
    found = lore.select(where, limit, "newest below")
    counts = lore.count_below([memory.id for memory in found], turns)
    last = {memory.id: lore.select(replace(turns, under=memory.id), 1) for memory in found}
    times = {id: turn.created_at for id, latest in last.items() for turn in latest}
    return [Conversation(one, counts[one.id], times.get(one.id, one.created_at)) for one in found]


def _nothing(source: str | None, within: Scope) -> str:
    if within.keys:
        return "No conversation of it was read yet."
    if source is None:
        return "No conversation was read yet; `lore ingest` reads those of all known clients."
    return f"No conversation of {source!r} was read yet; `lore ingest --source {source}` reads them."


def show_conversations(
    lore: "Lore", found: Sequence[Conversation], below: Mapping[str, str] | None = None
) -> None:
    """One line each; columns as wide as their widest, within reason. below: what else to say of them.

    On a narrow terminal the title stands below the other columns, behind its project.
    """
    if not found:
        return
    narrow = width() < NARROW_TABLE
    short = shortened(lore, [one.memory.id for one in found])
    rows = [_cells(one, short[one.memory.id], narrow) for one in found]
    head = ("ID", "When", "Client", "Turns") if narrow else ("ID", "When", "Client", "Project", "Turns")
    widths = [max(map(columns, column)) for column in zip(head, *rows, strict=True)]
    room = width() - sum(widths) - 2 * len(widths)
    click.secho(_laid(head, widths) + ("" if narrow else "  Title"), dim=True)
    for row, one in zip(rows, found, strict=True):
        start = click.style(row[0], fg="yellow") + _laid(row, widths)[len(row[0]) :]
        click.echo(start if narrow else f"{start}  {line(one.memory.title, room)}")
        if narrow:
            project = f"{name_of(one.memory.project)}: " if one.memory.project else ""
            click.echo(f"  {line(project + one.memory.title, width() - 2)}")
        if told := (below or {}).get(one.memory.id):
            click.echo(told)


def _cells(one: Conversation, id: str, narrow: bool) -> tuple[str, ...]:
    """Id, when, client, project unless narrow, number of turns."""
    memory = one.memory
    when = (day if narrow else minute)(one.last_turn_at or memory.created_at)
    project = () if narrow else (cell(name_of(memory.project), PROJECT_WIDTH),)
    return (id, when, cell(memory.source, CLIENT_WIDTH), *project, f"{one.turns_count:,}")


def _laid(cells: Sequence[str], widths: Sequence[int]) -> str:
    """In columns; the last one holds numbers."""
    *texts, number = cells
    laid = [padded(text, room) for text, room in zip(texts, widths, strict=False)]
    return "  ".join([*laid, number.rjust(widths[-1])])
