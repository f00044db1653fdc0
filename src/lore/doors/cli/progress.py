"""Progress: how far long work is, on stderr."""

import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from lore.doors.cli.times import estimate
from lore.health import Embeds, embed_progress

NAME_WIDTH, BAR_WIDTH = 12, 30
REDRAW_SECONDS = 0.05
LINE_SECONDS = 15.0
"""How often a line is printed where stderr is no terminal; shorter work prints none."""
ESTIMATE_SECONDS = 5.0
"""Time after which the speed so far gives an estimate of the rest."""
CLEAR = "\r\x1b[K"


class Progress:
    """Reports work: its current part, how much of it is done, and about how long the rest takes.

    On a terminal it is one line with a bar, which is removed at the end; elsewhere a plain line now and then.
    """

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._part = ""
        self._began = self._shown = time.monotonic()
        self._first = 0

    def __call__(self, part: str, done: int, total: int) -> None:
        now = time.monotonic()
        new = part != self._part
        if new:
            self._part, self._began, self._first = part, now, done
        pause = LINE_SECONDS if not self._terminal else 0.0 if new else REDRAW_SECONDS
        if now - self._shown < pause:
            return
        self._shown = now
        count = f"{done:,} of {total:,}{self._rest(done, total, now - self._began)}"
        click.echo(
            self._bar(done, total, count) if self._terminal else f"{part}: {count}\n", nl=False, err=True
        )

    def clear(self) -> None:
        """Remove the line from the terminal."""
        if self._terminal:
            click.echo(CLEAR, nl=False, err=True)

    def _rest(self, done: int, total: int, seconds: float) -> str:
        gained = done - self._first
        if seconds < ESTIMATE_SECONDS or gained <= 0 or done >= total:
            return ""
        return f", {estimate((total - done) * seconds / gained)} left"

    def _bar(self, done: int, total: int, count: str) -> str:
        room = shutil.get_terminal_size().columns - max(NAME_WIDTH, len(self._part)) - len(count) - 4
        length = max(0, min(BAR_WIDTH, room))
        full = length * done // max(total, 1)
        bar = click.style("━" * full, fg="cyan") + click.style("━" * (length - full), dim=True)
        return f"{CLEAR}{self._part:<{NAME_WIDTH}} {bar}  {count}"


@contextmanager
def progress() -> Iterator[Progress]:
    """Progress that is removed from the terminal at the end of the block."""
    shown = Progress()
    try:
        yield shown
    finally:
        shown.clear()


def embed_pending(embeds: Embeds) -> None:
    """Embed all pending memories, or wait for the process that does, and show the progress."""
    with progress() as report:
        for work in embed_progress(embeds):
            report("embed elsewhere" if work.elsewhere else "embed", work.done, work.done + work.left)
