"""remember: text from the command line or stdin → a memory, embedded before the command ends."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from lore.doors.cli.completing import ids, projects
from lore.doors.cli.document import plain, show_document
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.ids import resolve, shortened
from lore.doors.cli.naming import label
from lore.doors.cli.opening import opened
from lore.doors.cli.projects import key_of
from lore.doors.cli.terminal import line, width
from lore.errors import Invalid
from lore.model import Draft, Memory

if TYPE_CHECKING:
    from lore.engine import Lore


@click.command()
@click.argument("text", nargs=-1, required=True)
@click.option("--title", default="", help="What to call it.")
@click.option("--type", default="", help="Such as fact, decision, preference, event.")
@click.option("--kind", default="note", show_default=True, help="Such as note or fragment.")
@click.option("--under", metavar="ID", shell_complete=ids(), help="Keep it below this memory.")
@click.option("--importance", type=float, default=0.5, show_default=True, help="From 0 to 1.")
@click.option(
    "--project",
    metavar="NAME",
    shell_complete=projects,
    help="Of this project: its name, its key or a folder of it.",
)
@click.option("--everywhere", is_flag=True, help="Of no project, to be found in all.")
@json_option
@click.pass_obj
def remember(
    flags: Flags,
    /,
    *,
    text: Sequence[str],
    under: str | None,
    project: str | None,
    everywhere: bool,
    as_json: bool,
    **more: Any,
) -> None:
    """Keep a memory.

    TEXT is what to keep; - reads it from standard input. In a repository it belongs to that, unless it is a
    preference or says who somebody is.
    """
    content = _from_stdin() if tuple(text) == ("-",) else " ".join(text)
    with opened(flags, create=True) as lore:
        parent = None if under is None else resolve(lore, under, "--under")
        belongs = _project(lore, project, everywhere)
        memory = lore.remember(
            Draft(
                content=content,
                parent=parent,
                project=belongs,
                once=True,
                updates=True,
                **more,
            )
        )
        if as_json:
            show_document(plain(memory))
        else:
            _show(lore, memory)
        lore.embed_batch()


def _project(lore: "Lore", named: str | None, everywhere: bool) -> str | None:
    """The key of the one that was named; None leaves it to where this is run."""
    if named is not None and everywhere:
        raise Invalid("--project and --everywhere cannot both be meant")
    return key_of(lore, named) if named is not None else "" if everywhere else None


def _from_stdin() -> str:
    """Bytes that are not UTF-8 come as surrogates, which the engine refuses by name."""
    return sys.stdin.buffer.read().decode("utf-8", "surrogateescape").rstrip("\n")


def _show(lore: "Lore", memory: Memory) -> None:
    short = shortened(lore, [memory.id])[memory.id]
    called = line(label(memory), width() - len(short) - 20)
    done = "Remembered before" if memory.access_count else "Remembered"
    click.echo(f"{done} {click.style(short, fg='yellow')}  {called}")
