"""I/O errors at every call of the file layer, in every operation: check that the caller gets the true result.

python -m bench.faults [--every 1] [--operations a,b] [--kinds a,b] [--json FILE]

Each run opens a store, does one operation and closes it; one call of the file layer fails, or that and all
later ones. Every acknowledged change must be in the store; a refused one must be there as a whole or not at
all. After a single error the same process must be able to write again.
"""

import argparse
import json
import logging
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw

from bench.disks.contents import Verdict, contents, examined
from bench.disks.layer import Layer
from bench.disks.operations import OPERATIONS, Operation, opened, prepare
from bench.disks.work import Trace, among, copied, following, traced
from bench.measuring import Bar
from lore.errors import LoreError
from lore.model import Draft

ERRORS = {
    "open": apsw.SQLITE_CANTOPEN,
    "read": apsw.SQLITE_IOERR_READ,
    "write": apsw.SQLITE_IOERR_WRITE,
    "truncate": apsw.SQLITE_IOERR_TRUNCATE,
    "sync": apsw.SQLITE_IOERR_FSYNC,
    "delete": apsw.SQLITE_IOERR_DELETE,
}
ONCE, EVER = "once", "from then on"
KINDS = {
    "error once": (ERRORS, ONCE),
    "error from then on": (ERRORS, EVER),
    "full once": ({"write": apsw.SQLITE_FULL}, ONCE),
    "full from then on": ({"write": apsw.SQLITE_FULL}, EVER),
}
"""Name -> the error of each call that fails, and whether all later ones do too."""
SHOWN = 10


class Failing:
    """Fails the call of a number, or also all later ones."""

    def __init__(self, kind: str, number: int) -> None:
        self._errors, self._span = KINDS[kind]
        self._number = number

    def __call__(self, kind: str, call: int) -> None:
        due = call == self._number if self._span is ONCE else call >= self._number
        if due and kind in self._errors:
            raise apsw.exception_for(self._errors[kind])


class Injecting:
    """Lets one operation fail at any of its calls."""

    def __init__(self, operation: Operation, layer: Layer, folder: Path) -> None:
        self._operation, self._layer = operation, layer
        self._bases, self._target = folder / "bases", folder / "work"
        self.trace: Trace = traced(operation, layer, self._bases, self._target)

    def fail(self, kind: str, number: int) -> Verdict:
        """What is left when this call failed."""
        copied(self._bases / self._operation.base, self._target)
        self._layer.watch(self._target, Failing(kind, number))
        run = _Run(self._operation, self._bases / "files", self.trace)
        try:
            with opened(self._target) as lore:
                run.do(lore, lambda: self._heal(kind))
        except LoreError as error:
            run.refuse(error)
        finally:
            self._layer.watch(None)
        return run.fault or self._reopened(run)

    def _heal(self, kind: str) -> bool:
        """Whether the disk is well again, and the process has to go on."""
        if KINDS[kind][1] is ONCE:
            self._layer.before = None
        return KINDS[kind][1] is ONCE

    def _reopened(self, run: "_Run") -> Verdict:
        path = self._target / "memory.db"
        if run.digest:
            return examined(path, [run.digest], 0)
        return examined(path, self.trace.states, run.acknowledged)


class _Run:
    """One attempt. digest: the contents at its end, if it came that far. fault: what was wrong before."""

    def __init__(self, operation: Operation, files: Path, trace: Trace) -> None:
        self._operation, self._files, self._trace = operation, files, trace
        self.acknowledged = 0
        self.digest = ""
        self.fault: Verdict | None = None
        self._going_on = False

    def do(self, lore: Any, heal: Callable[[], bool]) -> None:
        done = False
        with following(lore, self._count):
            try:
                self._operation.run(lore, self._files)
                done = True
            except LoreError:
                done = False
        if not heal():
            return
        digest = contents(Path(lore.store.report().location))
        states = self._trace.states
        allowed = states[-1:] if done else states[self.acknowledged : self.acknowledged + 2]
        if digest not in allowed and self._operation.repeatable:
            kind = "acknowledged but not there" if done else "half there"
            self.fault = Verdict(f"{kind}: {self.acknowledged} acknowledged of {len(states) - 1}")
        self._going_on = True
        lore.remember(Draft(content="Afterwards."))
        self.digest = contents(Path(lore.store.report().location))

    def _count(self) -> None:
        self.acknowledged += 1

    def refuse(self, error: LoreError) -> None:
        if self._going_on:
            self.fault = Verdict(f"stuck: {error}")


def measure(names: Sequence[str], kinds: Sequence[str], every: int, folder: Path) -> dict[str, Any]:
    """All errors, operation by operation; what Lore logs about them is not shown."""
    logging.disable(logging.WARNING)
    sys.unraisablehook = lambda unraisable: None  # a connection that fails while it is closed
    try:
        return _measure(names, kinds, every, folder)
    finally:
        logging.disable(logging.NOTSET)
        sys.unraisablehook = sys.__unraisablehook__


def _measure(names: Sequence[str], kinds: Sequence[str], every: int, folder: Path) -> dict[str, Any]:
    layer = Layer()
    prepare(folder / "bases")
    faults: Counter[str] = Counter()
    told: list[str] = []
    rows: dict[str, dict[str, int]] = {}
    bar = Bar("operations", len(names))
    for place, name in enumerate(names):
        injecting = Injecting(OPERATIONS[name], layer, folder)
        calls = injecting.trace.calls
        done = failed = 0
        for kind in kinds:
            numbers = [at for at, call in enumerate(calls, 1) if call in KINDS[kind][0]]
            for number in numbers[::every]:
                verdict = injecting.fail(kind, number)
                done += 1
                if verdict.fault:
                    failed += 1
                    faults[verdict.fault.split(":")[0]] += 1
                    told.append(f"{name}, {kind} at call {number}: {verdict.fault}")
        rows[name] = {"calls": len(calls), "errors": done, "failed": failed}
        bar.at(place + 1)
    total = sum(row["errors"] for row in rows.values())
    return {
        "errors": total,
        "failed": sum(faults.values()),
        "faults": dict(faults),
        "operations": rows,
        "told": told,
    }


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        report = measure(options.operations, options.kinds, options.every, Path(folder))
    if options.json:
        options.json.write_text(json.dumps(report | {"every": options.every}, indent=2) + "\n")
    print(f"{report['errors']:,} I/O errors in {len(report['operations'])} operations:"
          f" {report['failed']:,} failed {report['faults'] or ''}")  # fmt: skip
    for line in report["told"][:SHOWN]:
        print(f"  {line}")
    sys.exit(1 if report["failed"] else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--every", metavar="N", type=int, default=1, help="fail one call in N (default: each)"
    )
    parser.add_argument(
        "--operations", type=among(OPERATIONS, "operation"), default=list(OPERATIONS), metavar="NAMES"
    )
    parser.add_argument("--kinds", type=among(KINDS, "kind"), default=list(KINDS), metavar="NAMES")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
