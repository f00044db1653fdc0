"""roots: the tops of the trees as a table."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from lore.doors.cli.document import plain, show_document
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.ids import shortened
from lore.doors.cli.naming import label
from lore.doors.cli.opening import opened
from lore.doors.cli.terminal import BEGIN, NARROW, line, note, plural, width
from lore.model import Branch

if TYPE_CHECKING:
    from lore.engine import Lore


@click.command()
@click.argument("keyword", required=False)
@click.option(
    "-l",
    "--limit",
    metavar="N",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="At most so many.",
)
@json_option
@click.pass_obj
def roots(flags: Flags, keyword: str | None, limit: int, as_json: bool) -> None:
    """List the tops of the trees, the most relevant first.

    KEYWORD keeps those that have it in what they are called.
    """
    with opened(flags) as lore:
        found = lore.roots(limit) if keyword is None else _called(lore, keyword)[:limit]
        if as_json:
            show_document({"roots": plain(found)})
        elif found:
            _show(lore, found)
        else:
            nothing = f"Nothing is stored yet. {BEGIN}"
            note(nothing if keyword is None else f"No root is called like {keyword!r}.")


def _called(lore: "Lore", keyword: str) -> list[Branch]:
    wanted = keyword.casefold()
    return [branch for branch in lore.roots(sys.maxsize) if wanted in label(branch.memory).casefold()]


def _show(lore: "Lore", branches: Sequence[Branch]) -> None:
    short = shortened(lore, [branch.memory.id for branch in branches])
    longest = max(map(len, short.values()))
    click.secho(f"{'ID'.ljust(longest)}   Rel  Acc  Content", dim=True)
    for branch in branches:
        below = _below(branch)
        numbers = f"{branch.relevance:>5.2f} {branch.memory.access_count:>4}"
        room = width() - longest - len(numbers) - len(below) - 3
        id = click.style(short[branch.memory.id].ljust(longest), fg="yellow")
        click.echo(f"{id} {numbers}  {line(label(branch.memory), room)}{click.style(below, dim=True)}")


def _below(branch: Branch) -> str:
    count = branch.children_count
    if not count:
        return ""
    return f"  [{count:,}]" if width() < NARROW else f"  [{plural(count, 'child', 'children')}]"
