"""brief: what an agent should know at the start of a conversation, as it would get it."""

import click

from lore.doors.cli.complete import complete_projects
from lore.doors.cli.connect import open_lore
from lore.doors.cli.group import Flags, command
from lore.doors.cli.projects import scope
from lore.doors.cli.render import BEGIN, note, plain, show_document, wrapped

BUDGET = 1_500


@command()
@click.option(
    "--project",
    metavar="NAME",
    shell_complete=complete_projects,
    help="The brief of this project: its name, its key or a folder in it (default: the project of the "
    "current folder).",
)
@click.option(
    "--budget",
    metavar="TOKENS",
    type=int,
    default=BUDGET,
    show_default=True,
    help="The largest size of the brief, in tokens.",
)
def brief(flags: Flags, project: str | None, budget: int, as_json: bool) -> None:
    """Show what an agent should know at the start of a conversation.

    It has the memories of one project and the global ones: who the user is, what the project is, decisions,
    open goals, the last conversation and pitfalls. Texts that try to instruct the agent are left out.
    """
    with open_lore(flags) as lore:
        keys = scope(lore, [project] if project else [], everywhere=False).keys
        found = lore.brief(budget, next(iter(keys), ""))
        if as_json:
            show_document(plain(found) | {"text": found.text, "project": next(iter(keys), "")})
            return
        for text in found.lines:
            first, *rest = wrapped(text)
            click.secho(first, bold=text.startswith("#"))
            for part in rest:
                click.echo(f"  {part}")
        if not found.lines:
            note(f"There is nothing to tell an agent yet. {BEGIN}")
