"""Power cuts: check that every acknowledged change survives, as a whole, if only synced writes are sure to.

python -m bench.power [--cuts 1000] [--operations a,b] [--synchronous FULL] [--seed 1] [--json FILE]

Every operation runs once on SQLite with an observed file layer. Then the power is cut at random points of it:
writes since the last sync of a file survive whole, in part (sector by sector) or not at all. Every third
cut is followed by another one while the store recovers. `--synchronous OFF` must fail, which
shows that the bench notices lost writes.
"""

import argparse
import json
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from bench.disks.contents import Verdict, examined
from bench.disks.layer import Layer, Record
from bench.disks.operations import OPERATIONS, Operation, prepare
from bench.disks.work import SYNCHRONOUS, Trace, among, copied, traced, weaken
from bench.measuring import Bar
from lore.durable import OWNER_FILE
from lore.errors import LoreError
from lore.store.sqlite.store import SqliteStore

SECTOR = 512
RECOVERING = 3
"""Every so manieth cut is followed by one during recovery."""
SHOWN = 10


@dataclass(slots=True)
class Held:
    """One file on the disk. synced: what survives any cut (None: nothing); pending: the changes since."""

    synced: bytes | None
    pending: list[Record] = field(default_factory=list)


class Disk:
    """The files of a folder on a disk that writes when it likes, and keeps its word about syncs."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._held = {name: Held(data) for name, data in files.items()}

    def take(self, records: Sequence[Record]) -> None:
        for record in records:
            held = self._held.setdefault(record.name, Held(None))
            if record.kind == "sync":
                if any(one.kind == "create" for one in held.pending):
                    self._sync_names()  # SQLite syncs the folder of a log or journal that is new
                    held = self._held[record.name]
                held.synced = _applied(held.synced or b"", held.pending, lambda: True)
                held.pending = []
            elif record.kind == "mark":
                held.synced = record.data  # the most that it can say: it must never be ahead
            elif record.kind == "delete" and record.size:
                self._held[record.name] = Held(None)
            else:
                held.pending.append(record)

    def _sync_names(self) -> None:
        """A file that was deleted stays deleted."""
        for name, held in self._held.items():
            if (gone := _deleted(held.pending)) is not None:
                self._held[name] = Held(None, held.pending[gone + 1 :])

    def cut(self, chance: random.Random) -> dict[str, bytes]:
        """What is left after a cut at this moment."""
        left: dict[str, bytes] = {}
        for name, held in self._held.items():
            share = chance.choice((0.0, 1.0, chance.random()))
            pending = held.pending
            gone = _deleted(pending)
            if gone is not None and chance.random() < 0.5:  # the changes behind are of a new file
                held, pending = Held(None), pending[gone + 1 :]
            elif gone is not None:
                pending = pending[:gone]
            there = held.synced is not None or chance.random() < share
            if there:
                lucky = partial(_happens, chance, share)
                left[name] = _applied(held.synced or b"", pending, lucky)
        return left


def _deleted(records: Sequence[Record]) -> int | None:
    """Where among the changes of a file its last deletion is."""
    return next((at for at in reversed(range(len(records))) if records[at].kind == "delete"), None)


def _happens(chance: random.Random, share: float) -> bool:
    return chance.random() < share


def _applied(data: bytes, records: Sequence[Record], survives: Callable[[], bool]) -> bytes:
    """The bytes with those changes that survive, sector by sector."""
    file = bytearray(data)
    for record in records:
        if record.kind == "truncate" and survives():
            del file[record.size :]
        elif record.kind == "write":
            at = 0
            while at < len(record.data):
                size = min(SECTOR - (record.offset + at) % SECTOR, len(record.data) - at)
                if survives():
                    begin = record.offset + at
                    file.extend(bytes(max(0, begin + size - len(file))))
                    file[begin : begin + size] = record.data[at : at + size]
                at += size
    return bytes(file)


def files_of(folder: Path) -> dict[str, bytes]:
    """What a disk holds of a store; the index of the log does not survive."""
    return {
        file.name: file.read_bytes()
        for file in folder.iterdir()
        if file.is_file() and not file.name.endswith("-shm")
    }


def put(files: Mapping[str, bytes], folder: Path) -> None:
    """Make a folder of what survived."""
    folder.mkdir(parents=True)
    for name, data in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_bytes(data)
        (folder / name).chmod(OWNER_FILE)


class Cutting:
    """Cuts the power during one operation, again and again."""

    def __init__(self, operation: Operation, layer: Layer, folder: Path, chance: random.Random) -> None:
        self._layer, self._folder, self._chance = layer, folder, chance
        self._operation = operation
        self._base = folder / "bases" / operation.base
        self.trace: Trace = traced(operation, layer, folder / "bases", folder / "work")

    def cut(self, recovering: bool) -> Verdict:
        """One cut, and another one during recovery if wanted; what is left of the store."""
        at = self._chance.randint(0, len(self.trace.records))
        disk = Disk(files_of(self._base))
        disk.take(self.trace.records[:at])
        left = disk.cut(self._chance)
        if recovering:
            left = self._recovered(left)
        return self._verdict(left, self.trace.acknowledged(at))

    def _recovered(self, left: dict[str, bytes]) -> dict[str, bytes]:
        """What is left after a second cut while the store is opened and closed again."""
        there = self._fresh("recovering", left)
        self._layer.watch(there)
        try:
            SqliteStore(there / "memory.db").close()
        except LoreError:
            return left  # the verdict says so
        finally:
            records = self._layer.records
            self._layer.watch(None)
        disk = Disk(left)
        disk.take(records[: self._chance.randint(0, len(records))])
        return disk.cut(self._chance)

    def _verdict(self, left: Mapping[str, bytes], acknowledged: int) -> Verdict:
        there = self._fresh("left", left)
        return examined(there / "memory.db", self.trace.states, acknowledged)

    def _fresh(self, name: str, files: Mapping[str, bytes]) -> Path:
        there = self._folder / name
        copied(self._folder / "bases" / "empty", there)
        there.rmdir()
        put(files, there)
        return there


def measure(names: Sequence[str], cuts: int, seed: int, folder: Path, layer: Layer) -> dict[str, Any]:
    """All cuts, spread over the operations. folder: has the stores to begin with in `bases`."""
    chance = random.Random(seed)
    faults: Counter[str] = Counter()
    told: list[str] = []
    rows: dict[str, dict[str, int]] = {}
    bar, done = Bar("power cuts", cuts), 0
    for number, name in enumerate(names):
        share = cuts // len(names) + (number < cuts % len(names))
        cutting = Cutting(OPERATIONS[name], layer, folder, chance)
        failed = 0
        for count in range(share):
            verdict = cutting.cut(count % RECOVERING == RECOVERING - 1)
            done += 1
            bar.at(done)
            if verdict.fault:
                failed += 1
                faults[verdict.fault.split(":")[0]] += 1
                told.append(f"{name}: {verdict.fault}")
        trace = cutting.trace
        rows[name] = {
            "cuts": share,
            "failed": failed,
            "writes": len(trace.records),
            "commits": len(trace.commits),
        }
    return {
        "cuts": done,
        "failed": sum(faults.values()),
        "faults": dict(faults),
        "operations": rows,
        "told": told,
    }


def main() -> None:
    options = _options()
    weaken(options.synchronous)
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder) / "bases")
        report = measure(options.operations, options.cuts, options.seed, Path(folder), Layer())
    report |= {"synchronous": options.synchronous, "seed": options.seed}
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(f"{report['cuts']:,} power cuts in {len(report['operations'])} operations, synchronous"
          f" {options.synchronous}: {report['failed']:,} failed {report['faults'] or ''}")  # fmt: skip
    for line in report["told"][:SHOWN]:
        print(f"  {line}")
    sys.exit(1 if report["failed"] else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cuts", type=int, default=1_000)
    parser.add_argument(
        "--operations", type=among(OPERATIONS, "operation"), default=list(OPERATIONS), metavar="NAMES"
    )
    parser.add_argument("--synchronous", choices=SYNCHRONOUS, default="FULL")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
