"""session: one conversation as a person reads it, turn by turn."""

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from lore.doors.cli.completing import ids
from lore.doors.cli.document import plain, show_document
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.ids import resolve
from lore.doors.cli.opening import opened
from lore.doors.cli.terminal import cell, line, note, plural, show_rows, visible, width, wrapped
from lore.doors.cli.times import minute, minute_after, told
from lore.errors import Invalid
from lore.model import FULL_LENGTH, Filter, Memory
from lore.transcripts.project import name_of

if TYPE_CHECKING:
    from lore.engine import Lore

SESSION, TOOL = "session", "tool"
TURNS = frozenset({"turn", "lore-call"})
COLOURS = {"user": "green", "assistant": "cyan", "summary": "magenta"}
TOOL_LINES = 3
NAME_WIDTH = 40
INDENT = "  "
AT_ONCE = 20
"""Turns whose whole texts are fetched at once: each may have megabytes."""


@click.command()
@click.argument("id", shell_complete=ids(kinds=(SESSION,)))
@click.option("--full", is_flag=True, help="Every turn whole: all that tools were told and answered, too.")
@json_option
@click.pass_obj
def session(flags: Flags, id: str, full: bool, as_json: bool) -> None:
    """Read one conversation, turn by turn.

    `lore sessions` lists them. This counts as no use.
    """
    with opened(flags) as lore:
        conversation = _named(lore, id)
        latest_first = lore.select(Filter(kinds=TURNS, under=conversation.id), sys.maxsize)
        turns = latest_first[::-1]
        whole = _full_texts(lore, turns) if full else {}
        now = lore.clock()
    if as_json:
        told = {"project_name": name_of(conversation.project)}
        listed = [plain(turn) | ({"full_text": whole.get(turn.id)} if full else {}) for turn in turns]
        show_document(plain(conversation) | told | {"turns": listed})
        return
    _show_head(conversation, len(turns), now)
    cut = _show_turns(turns, full, whole)
    if cut:
        note("Long turns are cut; --full shows every turn whole.")


def _full_texts(lore: "Lore", turns: Sequence[Memory]) -> dict[str, str]:
    """The whole texts of the turns of which an excerpt is searched."""
    ids = [turn.id for turn in turns if FULL_LENGTH in turn.metadata]
    batches = (ids[start : start + AT_ONCE] for start in range(0, len(ids), AT_ONCE))
    return {id: text for batch in batches for id, text in lore.full_texts(batch).items()}


def _named(lore: "Lore", beginning: str) -> Memory:
    """The session whose id begins so."""
    reading = lore.look_at(resolve(lore, beginning))
    memory = reading.memory
    if memory.kind == SESSION:
        return memory
    where = f"its session is {reading.parent}" if reading.parent and memory.kind in TURNS else ""
    raise Invalid(
        f"{memory.id} is a {memory.kind}, not a session; "
        + (where or "`lore sessions` lists those, and `lore read` shows anything")
    )


def _show_head(conversation: Memory, count: int, now: float) -> None:
    folder, branch = (str(conversation.metadata.get(name, "")) for name in ("folder", "branch"))
    click.secho("\n".join(wrapped(conversation.title)), bold=True)
    show_rows(
        {
            "id": conversation.id,
            "client": visible(conversation.source),
            "project": visible(name_of(conversation.project)),
            "folder": visible(folder),
            "branch": visible(branch),
            "when": told(conversation.created_at, now),
            "turns": f"{count:,}",
        }
    )


def _show_turns(turns: Sequence[Memory], full: bool, whole: Mapping[str, str]) -> bool:
    """One below the other; whether anything was left out. whole: by id, for those that are excerpts."""
    cut = False
    for turn, before in zip(turns, (None, *turns), strict=False):
        lines, left = _told(turn, full, whole.get(turn.id, turn.content))
        cut = cut or left
        click.echo()
        click.echo(_head(turn, before))
        for text in lines:
            click.echo(INDENT + click.style(text, dim=True) if turn.type == TOOL else INDENT + text)
    return cut


def _head(turn: Memory, before: Memory | None) -> str:
    """Who, when, and what else there is to say about it."""
    at = turn.created_at
    when = minute(at) if before is None else minute_after(at, before.created_at)
    agent = turn.metadata.get("agent")
    named = str(turn.metadata.get("tool") or turn.type) if turn.type == TOOL else turn.type
    more = [when, f"agent {agent}" if agent else "", "failed" if turn.metadata.get("failed") else ""]
    colour, name = COLOURS.get(turn.type), cell(named, NAME_WIDTH)
    speaker = click.style(name, fg=colour, bold=True) if colour else click.style(name, dim=True)
    return f"{speaker}  {click.style(visible(', '.join(filter(None, more))), dim=True)}"


def _told(turn: Memory, full: bool, text: str) -> tuple[list[str], bool]:
    """What was said, in lines; of a tool only the first few, unless it is to be full. Whether any is cut."""
    excerpt = not full and FULL_LENGTH in turn.metadata
    if full or turn.type != TOOL:
        return wrapped(text, len(INDENT)), excerpt
    whole = [" ".join(text.split()) for text in turn.content.split("\n")]
    shown = [line(text, width() - len(INDENT)) for text in whole[:TOOL_LINES]]
    rest = len(whole) - TOOL_LINES
    more = [f"… {plural(rest, 'more line')}"] if rest > 0 else []
    narrowed = any(len(a) < len(b) for a, b in zip(shown, whole, strict=False))
    return [*shown, *more], excerpt or rest > 0 or narrowed
