"""work: run an operation on a copy of its store, and record its progress at every write."""

import argparse
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from bench.disks.contents import contents
from bench.disks.layer import Layer, Record
from bench.disks.operations import Operation, opened
from lore import Lore
from lore.store.sqlite import connections
from lore.store.sqlite.store import SqliteStore

SYNCHRONOUS = ("FULL", "NORMAL", "OFF")


def weaken(synchronous: str) -> None:
    """Have the durable connection of this process sync less than Lore ships: a bench must notice that."""
    delete, _, cache = connections.DURABLE
    connections.DURABLE = (delete, f"PRAGMA synchronous = {synchronous}", cache)


def copied(base: Path, target: Path) -> Path:
    """A copy of a store in a folder of its own."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(base, target)
    return target


@dataclass(slots=True)
class Trace:
    """One run without any fault. states: the contents before and after each transaction.

    commits: how many records there were when each transaction was acknowledged. calls: the kinds of all calls
    of the file layer.
    """

    calls: list[str] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    commits: list[int] = field(default_factory=list)
    states: list[str] = field(default_factory=list)

    def acknowledged(self, records: int) -> int:
        """How many transactions were acknowledged before so many records."""
        return sum(commit <= records for commit in self.commits)


@contextmanager
def following(lore: Lore, committed: Callable[[], None]) -> Iterator[None]:
    """committed: is called after each durable transaction of the block."""
    assert isinstance(lore.store, SqliteStore)
    turns = lore.store._connections._group_commit
    marked = turns._committed

    def told(connection: apsw.Connection) -> None:
        marked(connection)
        committed()

    turns._committed = told
    try:
        yield
    finally:
        turns._committed = marked


def run(operation: Operation, folder: Path, files: Path, committed: Callable[[], None]) -> None:
    """Open the store, do it, close the store."""
    with opened(folder) as lore, following(lore, committed):
        operation.run(lore, files)


def traced(operation: Operation, layer: Layer, bases: Path, target: Path) -> Trace:
    """Run it once, with everything recorded."""
    trace = Trace()
    copied(bases / operation.base, target)
    trace.states.append(_beginning(bases / operation.base, target.with_name("beginning")))

    def committed() -> None:
        calls, kinds = layer.calls, list(layer.kinds)
        trace.commits.append(len(layer.records))
        trace.states.append(contents(target / "memory.db"))
        layer.calls, layer.kinds = calls, kinds

    layer.watch(target)
    run(operation, target, bases / "files", committed)
    trace.records, trace.calls = layer.records, layer.kinds
    layer.watch(None)
    return trace


def _beginning(base: Path, target: Path) -> str:
    """The contents once the store was opened, and upgraded if it was old."""
    copied(base, target)
    with opened(target):
        pass
    return contents(target / "memory.db")


def among(options: Collection[str], noun: str) -> Callable[[str], list[str]]:
    """A type for argparse: some of the options, with commas between them."""

    def parse(text: str) -> list[str]:
        names = [name.strip() for name in text.split(",")]
        if unknown := [name for name in names if name not in options]:
            raise argparse.ArgumentTypeError(f"unknown {noun} {unknown[0]!r}; known: {', '.join(options)}")
        return names

    return parse
