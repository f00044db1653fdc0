"""Progress: files read one after another, with a bar if that takes long, and a word on what came of it."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lore.doors.cli.document import plain, show_document
from lore.doors.cli.terminal import complain, note, plural
from lore.errors import LoreError

if TYPE_CHECKING:
    from lore.engine.ingest import Ingested

MANY_BYTES = 20_000_000
"""What takes long enough to be worth a progress bar."""


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
