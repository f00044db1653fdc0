"""logs: the end of what the daemon wrote down, and on request what it goes on to write."""

import os
import time
from collections.abc import Iterator
from itertools import count
from typing import BinaryIO

import click

from lore.doors.cli.flags import Flags
from lore.doors.cli.placing import endpoint_of
from lore.doors.cli.terminal import visible
from lore.errors import NotFound

LOOK_EVERY_SECONDS = 0.2


@click.command()
@click.option(
    "-n",
    "--lines",
    metavar="N",
    type=click.IntRange(min=0),
    default=50,
    show_default=True,
    help="The last so many.",
)
@click.option("-f", "--follow", is_flag=True, help="Go on with what is written from now on.")
@click.pass_obj
def logs(flags: Flags, lines: int, follow: bool) -> None:
    """Show what the daemon wrote down."""
    path = endpoint_of(flags).log
    try:
        log = open(path, "rb")  # noqa: SIM115 (the file changes while it is followed)
    except FileNotFoundError:
        raise NotFound(f"there is no log at {path}: no daemon has run there yet") from None
    written = log.read()
    _show(_last(written, path, lines))
    if follow:
        for more in _following(log, path):
            _show(more)
    log.close()


def _last(written: bytes, path: str, lines: int) -> bytes:
    """The last lines; where the file has just begun, those of the one before."""
    for number in count(1):
        if written.count(b"\n") >= lines or not os.path.exists(f"{path}.{number}"):
            break
        with open(f"{path}.{number}", "rb") as older:
            written = older.read() + written
    return b"".join(written.splitlines(keepends=True)[-lines:]) if lines else b""


def _following(log: BinaryIO, path: str) -> Iterator[bytes]:
    """What comes, across the beginning of a new file."""
    while True:
        moved = _moved(log, path)  # asked first: after that, nothing more is added to the old file
        yield log.read()
        if moved:
            log.close()
            log = open(path, "rb")  # noqa: SIM115
        else:
            time.sleep(LOOK_EVERY_SECONDS)


def _moved(log: BinaryIO, path: str) -> bool:
    """Whether another file has taken the place of this one."""
    try:
        return not os.path.samestat(os.stat(path), os.fstat(log.fileno()))
    except FileNotFoundError:
        return False


def _show(written: bytes) -> None:
    if written:
        click.echo(visible(written.decode("utf-8", "replace")), nl=False)
