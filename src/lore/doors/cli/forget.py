"""forget, restore: ids → what was hidden or brought back, and how to undo it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from lore.doors.cli.completing import ids as complete_ids
from lore.doors.cli.document import show_document
from lore.doors.cli.flags import Flags, json_option
from lore.doors.cli.ids import resolve_all, shortened
from lore.doors.cli.opening import opened
from lore.doors.cli.terminal import note, plural
from lore.model import LORE_CALL, TURN, Filter

if TYPE_CHECKING:
    from lore.engine import Lore

TURNS = frozenset({TURN, LORE_CALL})

reason_option = click.option("--reason", default="", help="Why; it is kept in the journal.")


@click.command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=complete_ids())
@reason_option
@json_option
@click.pass_obj
def forget(flags: Flags, ids: Sequence[str], reason: str, as_json: bool) -> None:
    """Hide memories from every answer.

    With a session go its turns, and the memories that came from these alone. Nothing is erased:
    `lore restore` brings them back.
    """
    with opened(flags) as lore:
        wanted = resolve_all(lore, ids)
        done, along = _parted(wanted, lore.forget(wanted, reason))
        if as_json:
            show_document({"forgotten": done, "along": along, "unchanged": _rest(wanted, done)})
            return
        _show(lore, done, along, "Forgot", "restore")
        _show_rest(lore, _rest(wanted, done), "already forgotten")


@click.command()
@click.argument("ids", metavar="ID...", nargs=-1, required=True, shell_complete=complete_ids(forgotten=True))
@reason_option
@json_option
@click.pass_obj
def restore(flags: Flags, ids: Sequence[str], reason: str, as_json: bool) -> None:
    """Bring forgotten memories back.

    A session comes back with all that went along with it.
    """
    with opened(flags) as lore:
        wanted = resolve_all(lore, ids)
        done, along = _parted(wanted, lore.restore(wanted, reason))
        if as_json:
            show_document({"restored": done, "along": along, "unchanged": _rest(wanted, done)})
            return
        _show(lore, done, along, "Restored", "forget")
        _show_rest(lore, _rest(wanted, done), "not forgotten")


def _rest(wanted: Sequence[str], done: Sequence[str]) -> list[str]:
    return [id for id in wanted if id not in done]


def _parted(wanted: Sequence[str], done: Sequence[str]) -> tuple[list[str], list[str]]:
    """The ids that were given, and those of what went along with a session."""
    return [id for id in done if id in wanted], [id for id in done if id not in wanted]


def _show(lore: "Lore", done: Sequence[str], along: Sequence[str], did: str, opposite: str) -> None:
    if done:
        click.echo(f"{did} {plural(len(done), 'memory', 'memories')}{_along(lore, along)}.")
        note(f"Undo: lore {opposite} {' '.join(shortened(lore, done).values())}", broken_to_fit=False)


def _along(lore: "Lore", ids: Sequence[str]) -> str:
    """What went along with a session, in words."""
    if not ids:
        return ""
    turns = lore.count(Filter(ids=tuple(ids), kinds=TURNS, superseded=True, forgotten=True))
    others = len(ids) - turns
    more = f" and {plural(others, 'memory', 'memories')} that came from them alone" if others else ""
    return f", with {plural(turns, 'turn')}{more}"


def _show_rest(lore: "Lore", rest: Sequence[str], state: str) -> None:
    for id in shortened(lore, rest).values():
        note(f"{id} is {state}.")
