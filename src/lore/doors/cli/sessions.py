"""sessions, session, staged: conversations as a table, one turn by turn, and those still to be digested."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from lore import lazy
from lore.distil.account import account_id, points_of
from lore.doors.cli.complete import complete_ids, complete_sources
from lore.doors.cli.connect import open_lore
from lore.doors.cli.group import Flags, command, limit_option
from lore.doors.cli.ids import resolve, resolve_all, shortened
from lore.doors.cli.projects import Scope, project_options, scope
from lore.doors.cli.render import (
    cell,
    line,
    note,
    plain,
    plural,
    show_document,
    show_rows,
    show_table,
    visible,
    width,
    wrapped,
)
from lore.doors.cli.times import day, minute, minute_after, with_age
from lore.errors import Invalid
from lore.health import Staged
from lore.model import ACCOUNT, FULL_LENGTH, LORE_CALL, SESSION, TURN, Filter, Memory
from lore.transcripts.project import name_of

if TYPE_CHECKING:
    from lore.engine import Lore

TURNS = frozenset({TURN, LORE_CALL})
TOOL = "tool"
REFLECTION = "reflection"
COLOURS = {"user": "green", "assistant": "cyan", "summary": "magenta"}
SHOWN = 20
"""Sessions that a list shows."""
NARROW_TABLE = 72
"""With fewer columns, the project stands before the title and the time is a date."""
CLIENT_WIDTH, PROJECT_WIDTH, TOOL_WIDTH = 12, 14, 40
TOOL_LINES = 3
"""Lines that are shown of a tool's turn."""
INDENT = "  "
BATCH = 20
"""Turns whose whole texts are fetched at once: each may have megabytes."""


# --- sessions
class Conversation(NamedTuple):
    """A session, the number of its turns, the time of the last one (None: not looked up), and its account."""

    memory: Memory
    turns_count: int
    last_turn_at: float | None = None
    account: Memory | None = None

    @property
    def title(self) -> str:
        return self.account.title if self.account else self.memory.title


@command()
@limit_option(SHOWN)
@click.option(
    "--source", metavar="NAME", shell_complete=complete_sources, help="Only this client, like codex."
)
@project_options
def sessions(flags: Flags, /, *, limit: int, source: str | None, as_json: bool, **where: Any) -> None:
    """List recorded conversations, latest first.

    They are ordered by their last turn, and say how each ended. Inside a repository, this lists the
    conversations of that project and those of no project.
    """
    all_projects = Filter(kinds=frozenset({SESSION}), sources=frozenset(() if source is None else (source,)))
    with open_lore(flags) as lore:
        within = scope(lore, **where)
        covered = replace(all_projects, projects=within.keys)
        stored = _stored_only(lore, covered)
        found = sorted([*_latest(lore, covered, limit), *stored], key=_latest_first)[:limit]
        count = lore.count(covered) + len(stored)
        if as_json:
            listed = [_document(one) for one in found]
            show_document({"projects": within.document, "count": count, "sessions": listed})
            return
        _show_conversations(lore, found, [_gist(one) for one in found])
        if within.assumed:
            note(within.description("lists", lore.count(all_projects) - count))
    if not found:
        note(_nothing_found(source, within))
    elif count > limit:
        note(f"and {count - limit:,} more; --limit shows them")


def _latest(lore: "Lore", where: Filter, limit: int) -> list[Conversation]:
    """The sessions with the latest turns."""
    turns = Filter(kinds=TURNS)
    found = lore.select(where, limit, "newest below")
    counts = lore.count_below([memory.id for memory in found], turns)
    last = {memory.id: lore.select(replace(turns, under=memory.id), 1) for memory in found}
    times = {id: turn.created_at for id, latest in last.items() for turn in latest}
    accounts = {one.id: one for one in lore.select(_accounts_of(found), sys.maxsize)}
    return [
        Conversation(one, counts[one.id], times.get(one.id, one.created_at), accounts.get(account_id(one.id)))
        for one in found
    ]


def _accounts_of(sessions: Sequence[Memory]) -> Filter:
    return Filter(kinds=frozenset({ACCOUNT}), ids=tuple(account_id(one.id) for one in sessions))


def _stored_only(lore: "Lore", where: Filter) -> list[Conversation]:
    """The conversations of which an agent has stored an account, and no turn was read."""
    stored = replace(where, kinds=frozenset({REFLECTION}), types=frozenset({SESSION}))
    found = lore.select(stored, sys.maxsize)
    names = frozenset(one.session for one in found)
    named = Filter(kinds=frozenset({SESSION}), sessions=names)
    read = {one.session for one in lore.select(named, sys.maxsize)} if names else set()
    return [Conversation(one, 0, one.created_at, one) for one in found if one.session not in read]


def _latest_first(one: Conversation) -> tuple[float, str]:
    return -(one.last_turn_at or 0.0), one.memory.id


def _gist(one: Conversation) -> str:
    """How a conversation ended, and what is open, on one line; empty if nothing says so."""
    if one.account is None:
        return ""
    parts = (points_of(one.account, name)[:1] for name in ("done", "left"))
    done, left = ([str(point["text"]) for point in points] for points in parts)
    if one.account.kind == REFLECTION:
        done = [one.account.content]
    text = " — ".join([*done, *(f"open: {text}" for text in left)])
    return click.style(INDENT + line(text, width() - len(INDENT)), dim=True) if text else ""


def _document(one: Conversation) -> dict[str, Any]:
    turns = {"turns_count": one.turns_count, "last_turn_at": one.last_turn_at}
    account = plain(one.account) if one.account else None
    project = {"project_name": name_of(one.memory.project)}
    return {**plain(one.memory), "title": one.title, **project, **turns, "account": account}


def _nothing_found(source: str | None, within: Scope) -> str:
    if within.keys:
        return "No conversation of this project was read yet."
    if source is None:
        return "No conversation was read yet; `lore ingest` reads those of all known clients."
    return f"No conversation of {source!r} was read yet; `lore ingest --source {source}` reads them."


def _show_conversations(lore: "Lore", found: Sequence[Conversation], below: Sequence[str] = ()) -> None:
    """One row each. below: a line after each row."""
    if not found:
        return
    narrow = width() < NARROW_TABLE
    short = shortened(lore, [one.memory.id for one in found])
    rows = []
    for one in found:
        memory, turns, last_turn_at = one.memory, one.turns_count, one.last_turn_at
        when = (day if narrow else minute)(last_turn_at or memory.created_at)
        project = name_of(memory.project)
        start = [short[memory.id], when, cell(memory.source, CLIENT_WIDTH)]
        middle = [] if narrow else [cell(project, PROJECT_WIDTH)]
        title = f"{project}: {one.title}" if narrow and project else one.title
        rows.append([*start, *middle, f"{turns:,}", title])
    head = ["ID", "When", "Client", *([] if narrow else ["Project"]), "Turns", "Title"]
    show_table(head, rows, numbers=["Turns"], below=below)


# --- session
@command()
@click.argument("id", shell_complete=complete_ids(kinds=(SESSION,)))
@click.option("--full", is_flag=True, help="Show every turn whole, also the input and output of tools.")
def session(flags: Flags, id: str, full: bool, as_json: bool) -> None:
    """Show one conversation, turn by turn.

    `lore sessions` lists them. This does not count as use.
    """
    with open_lore(flags) as lore:
        conversation = _find_session(lore, id)
        account = next(iter(lore.select(_accounts_of([conversation]), 1)), None)
        turns = lore.select(Filter(kinds=TURNS, under=conversation.id), sys.maxsize)[::-1]
        full_texts = _full_texts(lore, turns) if full else {}
        now = lore.clock()
    if as_json:
        listed = [plain(turn) | ({"full_text": full_texts.get(turn.id)} if full else {}) for turn in turns]
        project = {"project_name": name_of(conversation.project)}
        about = {"account": plain(account) if account else None}
        show_document(plain(conversation) | project | about | {"turns": listed})
        return
    click.secho("\n".join(wrapped((account or conversation).title)), bold=True)
    show_rows(
        {
            "id": conversation.id,
            "client": conversation.source,
            "project": name_of(conversation.project),
            "folder": str(conversation.metadata.get("folder", "")),
            "branch": str(conversation.metadata.get("branch", "")),
            "when": with_age(conversation.created_at, now),
            "turns": f"{len(turns):,}",
        }
    )
    if account:
        click.echo("\n" + "\n".join(part for text in account.content.split("\n") for part in wrapped(text)))
    if _show_turns(turns, full, full_texts):
        note("Long turns are cut; --full shows every turn whole.")


def _full_texts(lore: "Lore", turns: Sequence[Memory]) -> dict[str, str]:
    """id -> whole text, for the turns that are excerpts."""
    ids = [turn.id for turn in turns if FULL_LENGTH in turn.metadata]
    batches = (ids[start : start + BATCH] for start in range(0, len(ids), BATCH))
    return {id: text for batch in batches for id, text in lore.full_texts(batch).items()}


def _find_session(lore: "Lore", part: str) -> Memory:
    """The session whose id begins or ends with `part`."""
    reading = lore.read(resolve(lore, part), use=False)
    memory = reading.memory
    if memory.kind == SESSION or (memory.kind, memory.type) == (REFLECTION, SESSION):
        return memory
    hint = "`lore sessions` lists sessions, and `lore read` shows any memory"
    if reading.parent and memory.kind in TURNS:
        hint = f"its session is {reading.parent}"
    raise Invalid(f"{memory.id} is a {memory.kind}, not a session; {hint}")


def _show_turns(turns: Sequence[Memory], full: bool, full_texts: Mapping[str, str]) -> bool:
    """Print the turns; returns whether any of them was cut."""
    any_cut = False
    for turn, before in zip(turns, (None, *turns), strict=False):
        lines, cut = _turn_lines(turn, full, full_texts.get(turn.id, turn.content))
        any_cut = any_cut or cut
        click.echo(f"\n{_turn_head(turn, before)}")
        for text in lines:
            click.echo(INDENT + click.style(text, dim=True) if turn.type == TOOL else INDENT + text)
    return any_cut


def _turn_head(turn: Memory, before: Memory | None) -> str:
    """Speaker or tool, time, agent, and whether it failed."""
    at, metadata = turn.created_at, turn.metadata
    when = minute(at) if before is None else minute_after(at, before.created_at)
    agent = f"agent {metadata['agent']}" if metadata.get("agent") else ""
    facts = ", ".join(filter(None, (when, agent, "failed" if metadata.get("failed") else "")))
    colour = COLOURS.get(turn.type)
    name = cell(str(metadata.get("tool") or turn.type) if turn.type == TOOL else turn.type, TOOL_WIDTH)
    speaker = click.style(name, fg=colour, bold=True) if colour else click.style(name, dim=True)
    return f"{speaker}  {click.style(visible(facts), dim=True)}"


def _turn_lines(turn: Memory, full: bool, text: str) -> tuple[list[str], bool]:
    """The text in lines, and whether it is cut: of a tool only the first lines, unless `full`."""
    excerpt = not full and FULL_LENGTH in turn.metadata
    if full or turn.type != TOOL:
        return wrapped(text, len(INDENT)), excerpt
    whole = [" ".join(text.split()) for text in turn.content.split("\n")]
    shown = [line(text, width() - len(INDENT)) for text in whole[:TOOL_LINES]]
    rest = len(whole) - TOOL_LINES
    more = [f"… {plural(rest, 'more line')}"] if rest > 0 else []
    shorter = any(len(a) < len(b) for a, b in zip(shown, whole, strict=False))
    return [*shown, *more], excerpt or rest > 0 or shorter


# --- staged
@command()
@click.argument("ids", metavar="[ID]...", nargs=-1, shell_complete=complete_ids(kinds=(SESSION,)))
@click.option("--retry", is_flag=True, help="Retry conversations that could not be digested: all, or these.")
@project_options
def staged(flags: Flags, /, *, ids: Sequence[str], retry: bool, as_json: bool, **where: Any) -> None:
    """Show which conversations still wait to be digested.

    If digesting a conversation fails, Lore retries it a few times. After that it waits for --retry.
    """
    if ids and not retry:
        raise Invalid("an ID needs --retry; without an ID, all waiting conversations are listed")
    with open_lore(flags) as lore:
        within = scope(lore, **where, assume=not ids)
        waiting = lore.staged()
        if retry:
            _retry(lore, ids, _within(lore, waiting, within), as_json)
        else:
            _show_staged(lore, waiting, within, as_json)


def _show_staged(lore: "Lore", waiting: Sequence[Staged], within: Scope, as_json: bool) -> None:
    found = _within(lore, waiting, within)
    count = sum(one.turns for one in found)
    if as_json:
        listed = [_staged_document(one) for one in found]
        show_document({"projects": within.document, "staged_turns": count, "sessions": listed})
        return
    if count:
        wait = "waits" if count == 1 else "wait"
        click.echo(f"{plural(count, 'turn')} of {plural(len(found), 'session')} {wait} to be digested.")
    shown, now = found[:SHOWN], lore.clock()
    failures = [_failure(one, now) if one.attempts else "" for one in shown]
    _show_conversations(lore, [Conversation(one.session, one.turns) for one in shown], failures)
    if within.assumed:
        note(within.description("counts", sum(one.turns for one in waiting) - count))
    if not count:
        note("Nothing waits to be digested; `lore ingest` reads conversations.")
    if (more := len(found) - SHOWN) > 0:
        note(f"and {plural(more, 'more session')}; --json lists all")
    if any(_given_up(one) for one in found):
        note("`lore staged --retry [ID]...` retries conversations that were given up.")


def _within(lore: "Lore", waiting: Sequence[Staged], within: Scope) -> list[Staged]:
    """The sessions with turns in these projects, latest first; one session may have turns in several."""
    latest = sorted(waiting, key=lambda one: (-one.session.created_at, one.session.id))
    if not within.keys:
        return latest
    there = Filter(kinds=TURNS, projects=within.keys)
    counts = lore.count_below([one.session.id for one in latest], there)
    found = [replace(one, turns=min(one.turns, counts[one.session.id])) for one in latest]
    return [one for one in found if one.turns]


def _retry(lore: "Lore", ids: Sequence[str], waiting: Sequence[Staged], as_json: bool) -> None:
    failed = [one.session.id for one in waiting if one.attempts]
    wanted = resolve_all(lore, ids) if ids else failed
    retried = lore.retry(wanted)
    not_failed = [id for id in wanted if id not in retried]
    if as_json:
        show_document({"retried": retried, "not_failed": not_failed})
        return
    if retried:
        click.echo(f"{plural(len(retried), 'conversation')} will be tried again.")
    elif not not_failed:
        note("No conversation has failed.")
    for id in shortened(lore, not_failed).values():
        note(f"{id} has not failed")


def _failure(one: Staged, now: float) -> str:
    """The number of tries, the time of the next one, and the last error."""
    if _given_up(one):
        head = click.style(f"given up after {plural(one.attempts, 'try', 'tries')}:", fg="red")
    else:
        again = minute_after(one.retry_at, now) if one.retry_at else "soon"
        tries = f"tried {one.attempts} of {lazy.consolidation_backlog.ATTEMPTS} times"
        head = click.style(f"{tries}, again after {again}:", fg="yellow")
    room = width() - len(INDENT) - len(click.unstyle(head)) - 1
    return f"{INDENT}{head} {line(one.trouble, room)}"


def _given_up(one: Staged) -> bool:
    return one.attempts > 0 and one.attempts >= lazy.consolidation_backlog.ATTEMPTS


def _staged_document(one: Staged) -> dict[str, Any]:
    fields = {name: getattr(one.session, name) for name in ("id", "title", "source", "project")}
    return fields | {
        "project_name": name_of(one.session.project),
        "staged_turns": one.turns,
        "attempts": one.attempts,
        "trouble": one.trouble,
        "retry_at": one.retry_at or None,
        "given_up": _given_up(one),
    }
