"""staged: what is still to be digested, what could not be, and another try for that."""

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from lore.doors.cli.completing import ids as complete_ids
from lore.doors.cli.document import plain, show_document
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.ids import resolve_all, shortened
from lore.doors.cli.opening import opened
from lore.doors.cli.projects import Scope, project_options, scope
from lore.doors.cli.sessions import TURNS, Conversation, show_conversations
from lore.doors.cli.terminal import line, note, plural, width
from lore.doors.cli.times import minute_after
from lore.errors import Invalid
from lore.health import Staged
from lore.model import SESSION, Filter
from lore.transcripts.project import name_of

if TYPE_CHECKING:
    from lore.engine import Lore

SHOWN = 20
INDENT = "  "


@click.command()
@click.argument("ids", metavar="[ID]...", nargs=-1, shell_complete=complete_ids(kinds=(SESSION,)))
@click.option("--retry", is_flag=True, help="Try again what could not be digested: these, or all.")
@project_options
@json_option
@click.pass_obj
def staged(
    flags: Flags, ids: Sequence[str], retry: bool, projects: Sequence[str], everywhere: bool, as_json: bool
) -> None:
    """Say how much of what was read is still to be digested.

    A conversation that could not be digested is tried again some times, and then left to you: --retry.
    """
    if ids and not retry:
        raise Invalid("an ID is for --retry; without it, all that waits is listed")
    with opened(flags) as lore:
        within = scope(lore, projects, everywhere, assume=not ids)
        if retry:
            _retry(lore, ids, within, as_json)
        else:
            _list(lore, within, as_json)


def _list(lore: "Lore", within: Scope, as_json: bool) -> None:
    every = lore.staged()
    found = _within(lore, every, within)
    count = sum(one.turns for one in found)
    if as_json:
        listed = [_document(one) for one in found]
        show_document({"projects": within.document, "staged_turns": count, "sessions": listed})
        return
    if count:
        turns, of = plural(count, "turn"), plural(len(found), "session")
        click.echo(f"{turns} of {of} {'waits' if count == 1 else 'wait'} to be digested.")
    _show(lore, found[:SHOWN])
    if within.assumed:
        note(within.told("counts", sum(one.turns for one in every) - count))
    if not count:
        note("Nothing waits to be digested; `lore ingest` reads conversations.")
    if (more := len(found) - SHOWN) > 0:
        note(f"and {plural(more, 'more session')}; --json lists all")
    if any(_given_up(one) for one in found):
        note("What was given up waits for `lore staged --retry [ID]...`.")


def _within(lore: "Lore", every: Sequence[Staged], within: Scope) -> list[Staged]:
    """Those with turns there, the latest first; a conversation may go on in another project."""
    latest = sorted(every, key=lambda one: (-one.session.created_at, one.session.id))
    if not within.keys:
        return latest
    there = Filter(kinds=TURNS, projects=within.keys)
    counts = lore.count_below([one.session.id for one in latest], there)
    found = [(one, min(one.turns, counts[one.session.id])) for one in latest]
    return [Staged(session=one.session, turns=turns, noted=one.noted) for one, turns in found if turns]


def _retry(lore: "Lore", ids: Sequence[str], within: Scope, as_json: bool) -> None:
    failed = [one.session.id for one in _within(lore, lore.staged(), within) if one.attempts]
    wanted = resolve_all(lore, ids) if ids else failed
    retried = lore.retry(wanted)
    left = [id for id in wanted if id not in retried]
    if as_json:
        show_document({"retried": retried, "not_failed": left})
        return
    if retried:
        click.echo(f"{plural(len(retried), 'conversation')} will be tried again.")
    elif not left:
        note("No conversation has failed.")
    for id in left:
        note(f"{shortened(lore, [id])[id]} has not failed")


def _show(lore: "Lore", shown: Sequence[Staged]) -> None:
    now = lore.clock()
    below = {one.session.id: _trouble(one, now) for one in shown if one.attempts}
    show_conversations(lore, [Conversation(one.session, one.turns) for one in shown], below)


def _trouble(one: Staged, now: float) -> str:
    """How often it was tried, when it will be again, and why that is needed."""
    if _given_up(one):
        head = click.style(f"given up after {plural(one.attempts, 'try', 'tries')}:", fg="red")
    else:
        again = minute_after(one.noted["retry_at"], now) if "retry_at" in one.noted else "soon"
        head = click.style(f"tried {one.attempts} of {_most()} times, again after {again}:", fg="yellow")
    room = width() - len(INDENT) - len(click.unstyle(head)) - 1
    return f"{INDENT}{head} {line(one.trouble, room)}"


def _given_up(one: Staged) -> bool:
    return one.attempts > 0 and one.attempts >= _most()


def _most() -> int:
    """How often one is tried; asked only where one has failed, for it takes a moment to know."""
    return int(import_module("lore.engine.consolidation_backlog").ATTEMPTS)


def _document(one: Staged) -> dict[str, Any]:
    memory = one.session
    return {
        "id": memory.id,
        "title": memory.title,
        "source": memory.source,
        "project": memory.project,
        "project_name": name_of(memory.project),
        "staged_turns": one.turns,
        "attempts": one.attempts,
        "trouble": one.trouble,
        "retry_at": plain(one.noted.get("retry_at"), "retry_at"),
        "given_up": _given_up(one),
    }
