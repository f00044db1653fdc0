"""Kill writers without mercy: is every acknowledged memory there, and the store clean?

python -m bench.kill [--kills 200] [--writers 2] [--db FILE] [--seed 1]
"""

import argparse
import random
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from lore.config import Config
from lore.connecting import wire

WRITE = """
import itertools, sys
from lore.config import Config
from lore.connecting import wire
from lore.model import Draft
from pathlib import Path
lore = wire(Config(db_path=Path(sys.argv[1]), embedding_model="hash"))
for number in itertools.count():
    memory = lore.remember(Draft(content=f"writer {sys.argv[2]} fact {number}", at_once=number % 2 == 0))
    print(memory.id, flush=True)
"""


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as folder:
        path = options.db or Path(folder) / "memory.db"
        acknowledged = terrorize(path, options.kills, options.writers, options.seed)
        report(path, acknowledged)


def terrorize(path: Path, kills: int, writers: int, seed: int) -> list[str]:
    """Keep `writers` processes writing; kill one at a random moment, start another, `kills` times."""
    fate = random.Random(seed)
    acknowledged: list[str] = []
    pumps: list[threading.Thread] = []
    running = [_start(path, f"0-{slot}", acknowledged, pumps) for slot in range(writers)]
    for kill in range(kills):
        victim = fate.randrange(writers)
        time.sleep(fate.uniform(0.3, 0.8))
        running[victim].kill()
        running[victim].wait()
        running[victim] = _start(path, f"{kill}-{victim}", acknowledged, pumps)
        if kill % 20 == 19:
            print(f"{kill + 1} kills, {len(acknowledged):,} acknowledged", file=sys.stderr, flush=True)
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


def report(path: Path, acknowledged: list[str]) -> None:
    lore = wire(Config(db_path=path, embedding_model="hash"))
    reader = lore.store.reader("shared")
    present = {
        id for at in range(0, len(acknowledged), 500) for id in reader.get(acknowledged[at : at + 500])
    }
    findings = lore.check()
    lore.close()
    print(f"acknowledged {len(acknowledged):,}, lost {len(set(acknowledged) - present):,}, "
          f"twice {len(acknowledged) - len(set(acknowledged)):,}")  # fmt: skip
    for finding in findings:
        print(f"{'ok  ' if finding.passed else 'FAIL'} {finding.check}: {finding.detail}")
    sound = present == set(acknowledged) and all(finding.passed for finding in findings)
    sys.exit(0 if sound else 1)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--writers", type=int, default=2)
    parser.add_argument("--db", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    main()
