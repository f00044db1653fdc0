"""Progress: how far long work is, on stderr; and files read one after another, and what came of them."""

import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lore.doors.cli.document import plain, show_document
from lore.doors.cli.terminal import complain, note, plural
from lore.doors.cli.times import about
from lore.doors.embedding_progress import Embeds, settling
from lore.errors import LoreError

if TYPE_CHECKING:
    from lore.engine.ingest import Ingested

MANY_BYTES = 2_000_000
"""What takes long enough to be worth a progress bar."""
NAME_WIDTH, BAR_WIDTH = 12, 30
REDRAW_SECONDS = 0.05
LINE_SECONDS = 15.0
"""How often a line is written where stderr is no terminal; work that takes less time writes none."""
ESTIMATE_SECONDS = 5.0
"""After how long the speed of some work says how long the rest takes."""
CLEAR = "\r\x1b[K"


class Progress:
    """Tells of work: which part is at hand, how much is done of how much, and about how long the rest takes.

    On a terminal it is a line with a bar that is gone in the end. Elsewhere it is a plain line now and then.
    """

    def __init__(self) -> None:
        self._terminal = sys.stderr.isatty()
        self._part = ""
        self._began = self._shown = time.monotonic()
        self._first = 0

    def __call__(self, part: str, done: int, total: int) -> None:
        now = time.monotonic()
        fresh = part != self._part
        if fresh:
            self._part, self._began, self._first = part, now, done
        pause = LINE_SECONDS if not self._terminal else 0.0 if fresh else REDRAW_SECONDS
        if now - self._shown < pause:
            return
        self._shown = now
        rest = self._rest(done, total, now - self._began)
        if self._terminal:
            self._draw(part, done, total, rest)
        else:
            click.echo(f"{part}: {done:,} of {total:,}{rest}", err=True)

    def clear(self) -> None:
        """Take the line off the terminal."""
        if self._terminal:
            click.echo(CLEAR, nl=False, err=True)

    def _rest(self, done: int, total: int, seconds: float) -> str:
        gained = done - self._first
        if seconds < ESTIMATE_SECONDS or gained <= 0 or done >= total:
            return ""
        return f", {about((total - done) * seconds / gained)} left"

    def _draw(self, part: str, done: int, total: int, rest: str) -> None:
        count = f"{done:,} of {total:,}{rest}"
        room = shutil.get_terminal_size().columns - max(NAME_WIDTH, len(part)) - len(count) - 4
        length = max(0, min(BAR_WIDTH, room))
        full = length * done // max(total, 1)
        bar = click.style("━" * full, fg="cyan") + click.style("━" * (length - full), dim=True)
        click.echo(f"{CLEAR}{part:<{NAME_WIDTH}} {bar}  {count}", nl=False, err=True)


@contextmanager
def progress() -> Iterator[Progress]:
    """A line about long work, for the time of the block."""
    shown = Progress()
    try:
        yield shown
    finally:
        shown.clear()


def embed_pending(embeds: Embeds) -> None:
    """Have all that waits embedded, here or by another process, in sight."""
    with progress() as told:
        for work in settling(embeds):
            told("embed elsewhere" if work.elsewhere else "embed", work.done, work.done + work.left)


def read_all(
    readings: Sequence[tuple[Path, Iterator["Ingested"]]],
) -> tuple["Ingested", dict[str, str]]:
    """What came of all of them together; a file that cannot be read does not keep the others from it."""
    total: Ingested = import_module("lore.engine.ingest").Ingested()
    failed: dict[str, str] = {}
    with _bar([path for path, _ in readings]) as bar:
        for path, reading in readings:
            try:
                for done in reading:
                    total += done
                    bar.update(done.bytes)
            except LoreError as error:
                failed[str(path)] = str(error)
    return total, failed


def show_read(count: int, noun: str, total: "Ingested", failed: Mapping[str, str]) -> None:
    """The same for a person. count: how many files there were to read, each a `noun`."""
    turns, sessions = plural(total.turns, "new turn"), plural(total.sessions, "new session")
    if count > len(failed) or not count:
        click.echo(f"Read {plural(count - len(failed), noun)}: {turns}, {sessions}.")
    if total.changed:
        click.echo(f"{plural(total.changed, 'turn')} had changed.")
    if total.passed_over:
        complain(f"{plural(total.passed_over, 'line')} could not be read and nothing of it is kept")
    for kind, count in sorted(total.redacted.items()):
        note(f"not kept: {plural(count, kind)}")
    for path, why in failed.items():
        complain(why if path in why else f"{path}: {why}")


def document_read(files: int, total: "Ingested", failed: Mapping[str, str], **more: int) -> None:
    """The same for a program; more: what else there is to count."""
    show_document({"files": files, **more, "failed": failed, **plain(total)})


@contextmanager
def _bar(paths: Sequence[Path]) -> Iterator["click._termui_impl.ProgressBar[int]"]:
    size = sum(path.stat().st_size for path in paths if path.is_file())
    hidden = size < MANY_BYTES
    with click.progressbar(length=size, label="reading", file=sys.stderr, hidden=hidden) as bar:
        yield bar
