"""Kills: check that every acknowledged change survives and that no change is there by half.

python -m bench.kill [--kills 1000] [--racing 20] [--cuts 66] [--operations a,b] [--synchronous FULL]
                     [--seed 1] [--json FILE]

kills: a process that does one operation ends itself by SIGKILL at a call of the file layer; 0: at each call
of each operation, opening (recovery, upgrade) and closing included. racing: two processes write at once, and
one of them is killed at a random moment. cuts: power cuts (`bench.power`), because a kill alone cannot show
whether anything was synced: `--synchronous OFF` must fail.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench import power
from bench.disks.contents import Verdict, examined
from bench.disks.layer import Layer
from bench.disks.operations import OPERATIONS, Operation, prepare
from bench.disks.work import SYNCHRONOUS, Trace, among, copied, run, traced, weaken
from bench.measuring import Bar
from lore.config import Config
from lore.connecting import wire

WRITERS = 2
SHOWN = 10
WRITE = """
import itertools, sys
from lore.config import Config
from lore.connecting import wire
from lore.model import Draft
from pathlib import Path
lore = wire(Config(db_path=Path(sys.argv[1]), embedding_model="hash"))
for number in itertools.count():
    memory = lore.remember(Draft(content=f"writer {sys.argv[2]} fact {number}", embed_now=number % 2 == 0))
    print(memory.id, flush=True)
"""


# --- one process, killed at a call of the file layer


class Killing:
    """Kills processes that do one operation."""

    def __init__(self, operation: Operation, layer: Layer, folder: Path) -> None:
        self._operation, self._layer = operation, layer
        self._bases, self._target = folder / "bases", folder / "work"
        self.trace: Trace = traced(operation, layer, self._bases, self._target)

    def kill(self, number: int) -> Verdict:
        """What is left when the process ends at the call of this number."""
        copied(self._bases / self._operation.base, self._target)
        reading, writing = os.pipe()
        child = os.fork()
        if not child:
            self._end_at(number, writing)
        os.close(writing)
        with open(reading, "rb") as told:
            acknowledged = len(told.read())
        _, status = os.waitpid(child, 0)
        if not os.WIFSIGNALED(status) or os.WTERMSIG(status) != signal.SIGKILL:
            return Verdict(f"survived: call {number} of {len(self.trace.calls)} was not reached")
        return examined(self._target / "memory.db", self.trace.states, acknowledged)

    def _end_at(self, number: int, told: int) -> None:
        """In the child: one byte for each acknowledged transaction, until the end."""

        def committed() -> None:
            os.write(told, b".")

        def before(kind: str, call: int) -> None:
            if call == number:
                os.kill(os.getpid(), signal.SIGKILL)

        try:
            self._layer.watch(self._target, before)
            run(self._operation, self._target, self._bases / "files", committed)
        finally:
            os._exit(1)


def points(names: Sequence[str], kills: int, seed: int, folder: Path, layer: Layer) -> dict[str, Any]:
    """Kills at calls that are spread over all operations; 0: at every call."""
    chance = random.Random(seed)
    faults: Counter[str] = Counter()
    told: list[str] = []
    rows: dict[str, dict[str, int]] = {}
    bar, done = Bar("operations", len(names)), 0
    for place, name in enumerate(names):
        killing = Killing(OPERATIONS[name], layer, folder)
        calls = range(1, len(killing.trace.calls) + 1)
        share = kills // len(names) + (place < kills % len(names))
        numbers = list(calls) if not kills else [chance.choice(calls) for _ in range(share)]
        failed = 0
        for number in numbers:
            verdict = killing.kill(number)
            if verdict.fault:
                failed += 1
                faults[verdict.fault.split(":")[0]] += 1
                told.append(f"{name}, killed at call {number}: {verdict.fault}")
        done += len(numbers)
        rows[name] = {"calls": len(calls), "kills": len(numbers), "failed": failed}
        bar.at(place + 1)
    return {
        "kills": done,
        "failed": sum(faults.values()),
        "faults": dict(faults),
        "operations": rows,
        "told": told,
    }


# --- writers that race


def terrorize(path: Path, kills: int, seed: int) -> list[str]:
    """Keep WRITERS processes writing; kill one at a random moment, start another, `kills` times."""
    fate = random.Random(seed)
    acknowledged: list[str] = []
    pumps: list[threading.Thread] = []
    running = [_start(path, f"0-{slot}", acknowledged, pumps) for slot in range(WRITERS)]
    bar = Bar("racing writers killed", kills)
    for kill in range(kills):
        victim = fate.randrange(WRITERS)
        time.sleep(fate.uniform(0.3, 0.8))
        running[victim].kill()
        running[victim].wait()
        running[victim] = _start(path, f"{kill}-{victim}", acknowledged, pumps)
        bar.at(kill + 1)
    for process in running:
        process.kill()
        process.wait()
    for pump in pumps:
        pump.join()
    return acknowledged


def _start(
    path: Path, name: str, acknowledged: list[str], pumps: list[threading.Thread]
) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE, str(path), name], stdout=subprocess.PIPE, text=True
    )

    def pump() -> None:
        assert process.stdout is not None
        acknowledged.extend(line.strip() for line in process.stdout if line.endswith("\n"))

    thread = threading.Thread(target=pump)
    thread.start()
    pumps.append(thread)
    return process


def racing(path: Path, kills: int, seed: int) -> dict[str, Any]:
    """Whether every acknowledged memory is there once, and the store clean."""
    acknowledged = terrorize(path, kills, seed)
    lore = wire(Config(db_path=path, embedding_model="hash"))
    reader = lore.store.reader("shared")
    present = {
        id for at in range(0, len(acknowledged), 500) for id in reader.get(acknowledged[at : at + 500])
    }
    unsound = [f"{found.check}: {found.detail}" for found in lore.check() if not found.passed]
    lore.close()
    lost = len(set(acknowledged) - present)
    twice = len(acknowledged) - len(set(acknowledged))
    failed = lost + twice + len(unsound)
    return {
        "kills": kills, "acknowledged": len(acknowledged), "lost": lost, "twice": twice, "unsound": unsound,
        "failed": failed,
    }  # fmt: skip


def main() -> None:
    options = _options()
    weaken(options.synchronous)
    report: dict[str, Any] = {"synchronous": options.synchronous, "seed": options.seed}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if options.racing:
            report["racing"] = racing(folder / "racing" / "memory.db", options.racing, options.seed)
        prepare(folder / "bases")
        layer = Layer()
        report["points"] = points(options.operations, options.kills, options.seed, folder, layer)
        if options.cuts:
            report["power"] = power.measure(options.operations, options.cuts, options.seed, folder, layer)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    sys.exit(_show(report))


def _show(report: dict[str, Any]) -> int:
    if race := report.get("racing"):
        print(f"racing writers: {race['kills']:,} kills, acknowledged {race['acknowledged']:,}, lost"
              f" {race['lost']:,}, twice {race['twice']:,}, unsound {race['unsound'] or 0}")  # fmt: skip
    for name, what in (("points", "kills"), ("power", "cuts")):
        if part := report.get(name):
            print(f"{name}: {part[what]:,} {what} in {len(part['operations'])} operations:"
                  f" {part['failed']:,} failed {part['faults'] or ''}")  # fmt: skip
            for line in part["told"][:SHOWN]:
                print(f"  {line}")
    return 1 if any(report[part]["failed"] for part in ("racing", "points", "power") if part in report) else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=1_000)
    parser.add_argument("--racing", type=int, default=20)
    parser.add_argument("--cuts", type=int, default=2 * len(OPERATIONS))
    parser.add_argument(
        "--operations", type=among(OPERATIONS, "operation"), default=list(OPERATIONS), metavar="NAMES"
    )
    parser.add_argument("--synchronous", choices=SYNCHRONOUS, default="FULL")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
