"""remember, forget, restore: store a memory, hide memories, and bring them back."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from lore import lazy
from lore.doors.cli.complete import complete_clients, complete_ids, complete_projects
from lore.doors.cli.connect import open_lore
from lore.doors.cli.group import Flags, command
from lore.doors.cli.ids import label, resolve, resolve_all, shortened
from lore.doors.cli.projects import key_of
from lore.doors.cli.render import line, note, plain, plural, show_document, width
from lore.doors.cli.times import moment
from lore.errors import Invalid
from lore.inspection import Selection
from lore.model import AGENT_FILE, LORE_CALL, PRIVATE, SESSION, TURN, Draft, Filter

if TYPE_CHECKING:
    from lore.engine import Lore

ALL = "all"
TURNS = frozenset({TURN, LORE_CALL})


@command()
@click.argument("text", nargs=-1, required=True)
@click.option("--title", default="", help="Its title.")
@click.option("--type", default="", help="Such as fact, decision, preference, event.")
@click.option("--kind", default="note", show_default=True, help="Such as note or fragment.")
@click.option("--under", metavar="ID", shell_complete=complete_ids(), help="Store it below this memory.")
@click.option("--importance", type=float, default=0.5, show_default=True, help="From 0 to 1.")
@click.option(
    "--project",
    metavar="NAME",
    shell_complete=complete_projects,
    help="The project it belongs to: its name, its key or a folder in it.",
)
@click.option("--everywhere", is_flag=True, help="It belongs to no project and is found in all.")
@click.option("--private", is_flag=True, help="It never leaves this store, whatever is synchronised.")
def remember(flags: Flags, /, *, text: Sequence[str], as_json: bool, **options: Any) -> None:
    """Store a memory.

    TEXT is its content; - reads it from standard input. Inside a repository, the memory belongs to that
    project, unless it is a preference or an identity.
    """
    content = _stdin() if tuple(text) == ("-",) else " ".join(text)
    under, project, everywhere = (options.pop(name) for name in ("under", "project", "everywhere"))
    options["flags"] = frozenset({PRIVATE} if options.pop("private") else ())
    with open_lore(flags, create=True) as lore:
        parent = None if under is None else resolve(lore, under, "--under")
        if project is not None and everywhere:
            raise Invalid("give --project or --everywhere, not both")
        key = key_of(lore, project) if project is not None else "" if everywhere else None
        draft = Draft(content=content, parent=parent, project=key, once=True, updates=True, **options)
        memory = lore.remember(draft)
        if as_json:
            show_document(plain(memory))
        else:
            short = shortened(lore, [memory.id])[memory.id]
            done = "Remembered before" if memory.access_count else "Remembered"
            name = line(label(memory), width() - len(short) - 20)
            click.echo(f"{done} {click.style(short, fg='yellow')}  {name}")
        lore.embed_batch()


def _stdin() -> str:
    """Standard input. Bytes that are not UTF-8 become surrogates, which the engine refuses."""
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape").rstrip("\n")


reason_option = click.option("--reason", default="", help="The reason, for the journal.")


@command()
@click.argument("ids", metavar="[ID...]", nargs=-1, shell_complete=complete_ids())
@click.option(
    "--project", "projects", metavar="NAME", multiple=True, shell_complete=complete_projects,
    help="All memories of this project: its name, its key or a folder in it; repeatable.",
)  # fmt: skip
@click.option(
    "--session", "sessions", metavar="ID", multiple=True, shell_complete=complete_ids(kinds=(SESSION,)),
    help="All memories of this session; repeatable.",
)  # fmt: skip
@click.option("--day", metavar="DATE", help="All memories that were created on this day, like 2026-01-31.")
@click.option("--kind", "kinds", metavar="KIND", multiple=True, help="Only this kind, like turn; repeatable.")
@click.option(
    "--agent-files", metavar="[CLIENT]", is_flag=False, flag_value=ALL, shell_complete=complete_clients,
    help="What agents have noted in files of their own: those of all clients, or of this one.",
)  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only count them.")
@reason_option
def forget(flags: Flags, /, *, ids: Sequence[str], reason: str, as_json: bool, **where: Any) -> None:
    """Hide memories from all results.

    Give their IDs, or options that choose them; of several options, all must fit. With a session, its turns
    are hidden, and the memories derived from these turns alone. Nothing is erased: `lore restore` brings them
    back, and `lore undo` brings all back that an option chose.
    """
    chosen, dry_run = any(value for name, value in where.items() if name != "dry_run"), where["dry_run"]
    if chosen == bool(ids) or (ids and dry_run):
        raise Invalid("give the IDs of memories, or options like --project that choose them (and --dry-run)")
    with open_lore(flags) as lore:
        if chosen:
            _forget_where(lore, _selection(lore, where), dry_run, reason, as_json)
            return
        wanted = resolve_all(lore, ids)
        _show_change(lore, wanted, lore.forget(wanted, reason), FORGET, as_json)


def _selection(lore: "Lore", where: dict[str, Any]) -> Selection:
    begin = end = None
    if day := where["day"]:
        now = lore.clock()
        begin, end = moment(day, now, "--day"), moment(day, now, "--day", whole_day=True)
        if begin == end:
            raise Invalid(f"--day: {day!r} is no day; give a date like 2026-01-31")
    client = where["agent_files"]
    return Selection(
        sources=frozenset() if client in (None, ALL) else frozenset({lazy.sources.source_named(client).name}),
        source_types=frozenset() if client is None else frozenset({AGENT_FILE}),
        projects=frozenset(key_of(lore, name) for name in where["projects"]),
        sessions=frozenset(resolve_all(lore, where["sessions"], "--session")),
        kinds=frozenset(where["kinds"]),
        created_after=begin,
        created_before=end,
    )


def _forget_where(lore: "Lore", where: Selection, dry_run: bool, reason: str, as_json: bool) -> None:
    forgotten = lore.forget_where(where, dry_run, reason)
    if as_json:
        show_document({"dry_run": dry_run, **plain(forgotten)})
        return
    count = plural(forgotten.count, "memory", "memories")
    click.echo(f"{'Would forget' if dry_run else 'Forgot'} {count}.")
    if forgotten.batch:
        note(f"Undo: lore undo {forgotten.batch}", whole=True)


@command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=complete_ids(forgotten=True))
@reason_option
def restore(flags: Flags, ids: Sequence[str], reason: str, as_json: bool) -> None:
    """Bring forgotten memories back.

    A session comes back with everything that was hidden with it.
    """
    with open_lore(flags) as lore:
        wanted = resolve_all(lore, ids)
        _show_change(lore, wanted, lore.restore(wanted, reason), RESTORE, as_json)


FORGET = {"key": "forgotten", "done": "Forgot", "undo": "restore", "unchanged": "is already forgotten"}
RESTORE = {"key": "restored", "done": "Restored", "undo": "forget", "unchanged": "is not forgotten"}


def _show_change(
    lore: "Lore", wanted: Sequence[str], changed: Sequence[str], words: dict[str, str], as_json: bool
) -> None:
    """wanted: the ids that were given. changed: those that were hidden or restored, with their turns."""
    done = [id for id in changed if id in wanted]
    along = [id for id in changed if id not in wanted]
    unchanged = [id for id in wanted if id not in done]
    if as_json:
        show_document({words["key"]: done, "along": along, "unchanged": unchanged})
        return
    if done:
        click.echo(f"{words['done']} {plural(len(done), 'memory', 'memories')}{_along(lore, along)}.")
        note(f"Undo: lore {words['undo']} {' '.join(shortened(lore, done).values())}", whole=True)
    for id in shortened(lore, unchanged).values():
        note(f"{id} {words['unchanged']}.")


def _along(lore: "Lore", ids: Sequence[str]) -> str:
    """The memories that changed together with their session, in words."""
    if not ids:
        return ""
    turns = lore.count(Filter(ids=tuple(ids), kinds=TURNS, superseded=True, forgotten=True))
    others = len(ids) - turns
    more = f" and {plural(others, 'memory', 'memories')} derived from them alone" if others else ""
    return f", with {plural(turns, 'turn')}{more}"
