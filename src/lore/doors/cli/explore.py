"""explore: what hangs below a memory, drawn as a tree."""

from collections.abc import Iterator, Mapping

import click

from lore.doors.cli.completing import ids
from lore.doors.cli.document import plain, show_document
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.ids import resolve, shortened
from lore.doors.cli.naming import label
from lore.doors.cli.opening import opened
from lore.doors.cli.terminal import line, width
from lore.model import Branch

DEEPEST = 100


@click.command()
@click.argument("id", shell_complete=ids())
@click.option(
    "-d", "--depth", type=click.IntRange(0, DEEPEST), default=3, show_default=True, help="How far down."
)
@json_option
@click.pass_obj
def explore(flags: Flags, id: str, depth: int, as_json: bool) -> None:
    """Draw what hangs below a memory."""
    with opened(flags) as lore:
        branch = lore.explore(resolve(lore, id), depth)
        if as_json:
            show_document(plain(branch))
            return
        short = shortened(lore, _ids(branch))
    for text in _drawn(branch, short, "", ""):
        click.echo(text)


def _ids(branch: Branch) -> Iterator[str]:
    yield branch.memory.id
    for child in branch.children:
        yield from _ids(child)


def _drawn(branch: Branch, short: Mapping[str, str], first: str, rest: str) -> Iterator[str]:
    """One line for the memory after `first`; what is below it after `rest`."""
    memory = branch.memory
    id = short[memory.id]
    hidden = branch.children_count - len(branch.children)
    more = f"  [{hidden} below]" if hidden else ""
    room = width() - len(first) - len(id) - len(more) - 2
    called = line(label(memory), room)
    bold = click.style(called, bold=not first)
    yield f"{first}{bold}  {click.style(id, fg='yellow')}{click.style(more, dim=True)}"
    for child in branch.children:
        last = child is branch.children[-1]
        yield from _drawn(
            child, short, rest + ("└── " if last else "├── "), rest + ("    " if last else "│   ")
        )
