"""roots, explore: the memories at the top of trees as a table, and one tree as a drawing."""

import sys
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import click

from lore.doors.cli.complete import complete_ids
from lore.doors.cli.connect import open_lore
from lore.doors.cli.group import Flags, command, limit_option
from lore.doors.cli.ids import label, resolve, shortened
from lore.doors.cli.render import BEGIN, line, note, plain, show_document, show_table, width
from lore.model import Branch

if TYPE_CHECKING:
    from lore.engine import Lore

DEEPEST = 100


@command()
@click.argument("keyword", required=False)
@limit_option(20)
def roots(flags: Flags, keyword: str | None, limit: int, as_json: bool) -> None:
    """List the memories at the top of trees, most relevant first.

    With a KEYWORD, only those with it in their title, or in the first words of an untitled one.
    """
    with open_lore(flags) as lore:
        found = lore.roots(limit) if keyword is None else _with_keyword(lore, keyword)[:limit]
        if as_json:
            show_document({"roots": found})
        elif found:
            short = shortened(lore, [branch.memory.id for branch in found])
            head = ("ID", "Relevance", "Uses", "Children", "Title")
            show_table(head, [_row(branch, short) for branch in found], numbers=head[1:4])
        else:
            nothing = f"Nothing is stored yet. {BEGIN}"
            note(nothing if keyword is None else f"No top-level memory has {keyword!r} in its title.")


def _with_keyword(lore: "Lore", keyword: str) -> list[Branch]:
    folded = keyword.casefold()
    return [branch for branch in lore.roots(sys.maxsize) if folded in label(branch.memory).casefold()]


def _row(branch: Branch, short: Mapping[str, str]) -> list[str]:
    memory = branch.memory
    children = f"{branch.children_count:,}" if branch.children_count else ""
    return [short[memory.id], f"{branch.relevance:.2f}", f"{memory.access_count:,}", children, label(memory)]


@command()
@click.argument("id", shell_complete=complete_ids())
@click.option(
    "-d", "--depth", type=click.IntRange(0, DEEPEST), default=3, show_default=True, help="Levels to show."
)
def explore(flags: Flags, id: str, depth: int, as_json: bool) -> None:
    """Draw the tree below a memory."""
    with open_lore(flags) as lore:
        branch = lore.explore(resolve(lore, id), depth)
        if as_json:
            show_document(plain(branch))
            return
        short = shortened(lore, _ids(branch))
    for text in _drawing(branch, short, "", ""):
        click.echo(text)


def _ids(branch: Branch) -> Iterator[str]:
    yield branch.memory.id
    for child in branch.children:
        yield from _ids(child)


def _drawing(branch: Branch, short: Mapping[str, str], first: str, rest: str) -> Iterator[str]:
    """The line of the memory after `first`, and the lines of its children after `rest`."""
    id = short[branch.memory.id]
    hidden = branch.children_count - len(branch.children)
    more = f"  [{hidden} below]" if hidden else ""
    title = line(label(branch.memory), width() - len(first) - len(id) - len(more) - 2)
    styled = click.style(title, bold=not first)
    yield f"{first}{styled}  {click.style(id, fg='yellow')}{click.style(more, dim=True)}"
    for child in branch.children:
        fork, stem = ("└── ", "    ") if child is branch.children[-1] else ("├── ", "│   ")
        yield from _drawing(child, short, rest + fork, rest + stem)
