"""install, uninstall, setup: put Lore into the settings of clients: plan → diff → question → write."""

import difflib
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from lore import lazy
from lore.clients.edit import Programs
from lore.clients.table import CLIENTS, Client, client_named
from lore.doors.cli.connect import settings as load_settings
from lore.doors.cli.group import Command, Flags, command
from lore.doors.cli.render import complain, note, plural, show_document, show_table, visible
from lore.doors.client_files import (
    Change,
    Machine,
    Plan,
    plan_install,
    plan_uninstall,
    state,
    this_machine,
    write,
)
from lore.doors.guide import own_command
from lore.environment import PREFIX
from lore.errors import Invalid, LoreError
from lore.text import listed

CACHE = "archive-v0"
"""A folder in the path of programs that `uvx` runs for once; it is cleaned up at any time."""
LONGEST_LINE = 200
"""Characters of a line in a diff."""
COLOURS = {"+": "green", "-": "red", "@": "cyan"}
PASSED_ON = {"data_dir": "--data-dir", "db_path": "--db", "namespace": "--namespace"}
"""Flags before the command -> those of `lore-mcp`."""
STATES = {"installed": "yes", "plugin": "plugin", "partly": "in part", "no": "-", "unreadable": "unreadable"}
FAILED = "failed"
SHARED = "The entry has a path of this machine; in a file that others share, let the command be `lore-mcp`."


@dataclass(frozen=True, slots=True)
class Verb:
    """Words for what is done to a client."""

    done: str
    nothing: str
    question: str


INSTALL = Verb("Installed Lore in {}.", "Lore is already installed in {}.", "Install?")
UNINSTALL = Verb("Removed Lore from {}.", "Lore is not installed in {}.", "Remove?")


# --- the commands
def complete_clients(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """The clients whose names begin so."""
    return [
        CompletionItem(name, help=client.title)
        for name, client in CLIENTS.items()
        if name.startswith(incomplete)
    ]


def writing_options(function: Command) -> Command:
    """--dry-run and --yes, for commands that write files of clients."""
    for option in (
        click.option("-y", "--yes", is_flag=True, help="Do not ask."),
        click.option("--dry-run", is_flag=True, help="Show the changes and write nothing."),
    ):
        function = option(function)
    return function


project_option = click.option(
    "--project", is_flag=True, help="Write the project's file in this folder instead of your own."
)
surfaces_option = click.option(
    "--surfaces", metavar="NAMES", help="The sets of tools to offer, comma-separated, or all (default: tree)."
)
clients_argument = click.argument("clients", nargs=-1, metavar="[CLIENT]...", shell_complete=complete_clients)


@command()
@clients_argument
@surfaces_option
@project_option
@writing_options
def install(flags: Flags, /, *, clients: Sequence[str], project: bool, **options: Any) -> int:
    """Install Lore in clients, or list them.

    CLIENT is claude-code, claude-desktop, cursor, vscode, codex, gemini, windsurf, zed or opencode. The
    changes are shown first, and on a terminal you are asked. Flags before the command, like --namespace, are
    passed on.
    """
    machine = this_machine(Path.cwd() if project else None)
    if not clients:
        return _list(machine, as_json=options["as_json"])
    programs = _programs(flags, options["surfaces"])
    plans = [plan_install(client_named(name), machine, programs) for name in dict.fromkeys(clients)]
    code = _carry_out(plans, INSTALL, options)
    if project and not options["as_json"]:
        note(SHARED)
    return code


@command()
@clients_argument
@project_option
@writing_options
def uninstall(flags: Flags, /, *, clients: Sequence[str], project: bool, **options: Any) -> int:
    """Remove Lore from the settings of clients.

    Nothing else changes in them. Memories, settings of Lore and the program stay.
    """
    if not clients:
        raise click.UsageError(f"Name the clients: {', '.join(CLIENTS)}")
    machine = this_machine(Path.cwd() if project else None)
    plans = [plan_uninstall(client_named(name), machine) for name in dict.fromkeys(clients)]
    return _carry_out(plans, UNINSTALL, options)


@command()
@surfaces_option
@click.option(
    "--model",
    type=click.Choice(["claude", "codex", "ollama", "none"]),
    help="Whose language model writes down what lasts; none turns it off.",
)
@writing_options
def setup(flags: Flags, /, *, model: str | None, **options: Any) -> int:
    """Install Lore in all clients, and ask for a language model.

    --dry-run shows each line that would change. A language model is used only after you said yes on a
    terminal, or with --model.
    """
    code = _install_everywhere(flags, options)
    lazy.cli_helper.ask(flags, model, dry_run=options["dry_run"], quiet=options["as_json"])
    return code


def _install_everywhere(flags: Flags, options: dict[str, Any]) -> int:
    machine = this_machine()
    programs = _programs(flags, options["surfaces"])
    found = [client for client in CLIENTS.values() if machine.detected(client)]
    if not found and not options["as_json"]:
        click.echo(f"No client was found. `lore install CLIENT` installs Lore anyway: {listed(CLIENTS)}")
        return 0
    plans = [plan_install(client, machine, programs) for client in found]
    code = _carry_out(plans, INSTALL, options, brief=True)
    if not options["as_json"]:
        note("`lore ingest` reads your agents' past conversations; `lore search` finds what they know.")
    return code


def _list(machine: Machine, *, as_json: bool) -> int:
    rows = [(client, machine.detected(client), state(client, machine)) for client in CLIENTS.values()]
    if as_json:
        show_document(
            {
                "clients": [
                    {
                        "client": client.name,
                        "detected": detected,
                        "state": state,
                        "files": _files(client, machine),
                    }
                    for client, detected, state in rows
                ]
            }
        )
        return 0
    head = ("client", "found here", "Lore", "file")
    show_table(
        head,
        [
            (client.name, "yes" if detected else "-", STATES[state], (_files(client, machine) or ["-"])[0])
            for client, detected, state in rows
        ],
    )
    note("`lore setup` installs Lore in all that are found, `lore install CLIENT` in one.")
    return 0


def _files(client: Client, machine: Machine) -> list[str]:
    if machine.project is not None and not client.project:
        return []
    return list(dict.fromkeys(str(path) for path, _ in machine.parts(client)))


def _programs(flags: Flags, surfaces: str | None) -> Programs:
    """The programs of this installation, with the flags that clients shall pass."""
    if surfaces is not None:
        lazy.surfaces.surfaces_named(surfaces)
    server = own_command("lore-mcp", "lore.doors.relay")
    if CACHE in Path(server[0]).parts:
        raise Invalid(
            "this Lore runs from a cache that is cleaned up; install it from its folder: uv tool install ."
        )
    arguments, settings = list[str](), dict[str, str]()
    for name, flag in PASSED_ON.items():
        if (value := getattr(flags, name)) is not None:
            text = str(value.expanduser().absolute()) if isinstance(value, Path) else value
            arguments += [flag, text]
            settings[f"{PREFIX}{name.upper()}"] = text
    arguments += [] if surfaces is None else ["--surfaces", surfaces]
    hook = own_command("lore-hook", "lore.doors.hook")
    warns = load_settings(flags).hooks_pre_tool_use
    if sys.platform == "win32":  # its shell has no `env`: hooks use the settings of the user's environment
        return Programs(server, arguments, hook, {}, warns, subprocess.list2cmdline)
    return Programs(server, arguments, hook, settings, warns)


# --- what they have in common
def _carry_out(plans: Sequence[Plan], verb: Verb, options: dict[str, Any], *, brief: bool = False) -> int:
    """Show the plans, ask, write; 1 if any of them failed. brief: name the files, show no lines."""
    as_json, dry_run = options["as_json"], options["dry_run"]
    if not as_json:
        for change in (change for plan in plans for change in plan.changes):
            _show(change, brief=brief and not dry_run)
    writes = not dry_run and any(plan.changes for plan in plans)
    if writes and not (options["yes"] or as_json) and sys.stdin.isatty():
        writes = click.confirm(verb.question, default=True, err=True)
    outcomes = [_outcome(plan, writes=writes) for plan in plans]
    if as_json:
        show_document(
            {"clients": [_document(plan, *outcome) for plan, outcome in zip(plans, outcomes, strict=True)]}
        )
    else:
        for plan, (outcome, problem) in zip(plans, outcomes, strict=True):
            _tell(plan, verb, outcome, problem)
    return 1 if any(outcome == FAILED for outcome, _ in outcomes) else 0


def _outcome(plan: Plan, *, writes: bool) -> tuple[str, str]:
    """done, unchanged, planned, plugin or failed; and the problem."""
    if plan.problem or not plan.changes:
        return (FAILED if plan.problem else "plugin" if plan.plugin else "unchanged"), plan.problem
    if not writes:
        return "planned", ""
    try:
        for change in plan.changes:
            write(change)
    except LoreError as error:
        return FAILED, str(error)
    except OSError as error:
        return FAILED, f"{error.filename}: {error.strerror}"
    return "done", ""


def _tell(plan: Plan, verb: Verb, outcome: str, problem: str) -> None:
    title = plan.client.title
    if outcome == FAILED:
        complain(f"{title}: {problem}")
    elif outcome == "plugin":
        click.echo(f"{title} has Lore's plugin, which brings everything; `{plan.client.unplug}` removes it.")
    elif outcome == "unchanged":
        click.echo(verb.nothing.format(title))
    elif outcome == "planned":
        click.echo(f"Nothing was written for {title}.")
    else:
        click.echo(verb.done.format(title) + (f" {plan.client.next}" if verb is INSTALL else ""))


def _show(change: Change, *, brief: bool) -> None:
    lines = list(_diff(change))
    if brief:
        added, removed = (sum(line[0] == sign for line in lines[2:]) for sign in "+-")
        click.echo(visible(f"{change.path}: {plural(added, 'line')} more, {removed} fewer"))
        return
    for line in lines:
        click.secho(visible(line[:LONGEST_LINE]), fg=COLOURS.get(line[0]))


def _diff(change: Change) -> Iterable[str]:
    """The lines that change, with one line around them: other entries may hold secrets."""
    before, after = ((text or "").splitlines() for text in (change.before, change.after))
    return difflib.unified_diff(before, after, str(change.path), str(change.path), n=1, lineterm="")


def _document(plan: Plan, outcome: str, problem: str) -> dict[str, Any]:
    files = [{"path": str(change.path), "diff": "\n".join(_diff(change))} for change in plan.changes]
    document = {"client": plan.client.name, "state": outcome, "files": files, "problem": problem}
    return document | ({"next": plan.client.next} if outcome == "done" else {})
