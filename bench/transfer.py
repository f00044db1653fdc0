"""Measure export, import, backup and restore of stores of several sizes: seconds and memory.

python -m bench.transfer [--sizes 10000,100000] [--suffix .jsonl] [--json FILE]

Each step runs in a process of its own, so that its peak of memory is its own. Memories have about 300
characters of random words and one link each; every tenth has a whole text of 4,000 characters. Vectors are
not part of an export: an import leaves memories to be embedded, which is not measured here.
"""

import argparse
import json
import random
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.measuring import Cost, measured
from lore.engine.context import Context
from lore.engine.export import ExportScope, export
from lore.engine.import_memories import Imported, Importing, import_memories
from lore.model import SHARED, Cause, Link, Memory, new_id
from lore.store import open_store
from lore.store.sqlite import backups
from lore.transfer import lore_export
from lore.transfer.streams import SUFFIXES, writing

AT = 1_790_000_000.0
VOCABULARY = 20_000
BATCH = 1_000


def build(path: Path, count: int) -> int:
    """A store with this many memories, each linked to an earlier one."""
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(VOCABULARY)]
    store = open_store(path)
    for start in range(0, count, BATCH):
        places = range(start, min(start + BATCH, count))
        memories = [
            Memory(
                id=f"m{place}", content=" ".join(chance.choices(words, k=43)), created_at=AT, updated_at=AT
            )
            for place in places
        ]
        links = [
            Link(
                id=f"l{place}", source=f"m{chance.randrange(place)}", target=f"m{place}", kind="relation",
                type="references", created_at=AT, updated_at=AT,
            )
            for place in places if place
        ]  # fmt: skip
        wholes = {f"m{place}": " ".join(chance.choices(words, k=570)) for place in places if place % 10 == 0}
        with store.transaction(SHARED, Cause(verb="bench"), AT) as writer:
            writer.put(memories, wholes)
            writer.put_links(links)
    store.close()
    return path.stat().st_size


def write_export(store: Path, target: Path) -> int:
    """Export a store; returns the size of the file."""
    opened = open_store(store)
    with writing(target, SUFFIXES.get(target.suffix, "")) as file:
        export(file, ExportScope(), _context(opened), lambda part, done, total: None)
    opened.close()
    return target.stat().st_size


def read_import(source: Path, store: Path) -> int:
    """Import a file after it was verified; returns the number of new memories."""
    opened = open_store(store)
    lore_export.verify(source)
    how = Importing(id=new_id(AT))
    counts = sum(import_memories(lore_export.items(source), how, _context(opened)), Imported())
    opened.close()
    return counts.new


def back_up(store: Path, target: Path) -> int:
    """Back a store up and verify the copy; returns its size."""
    opened = open_store(store)
    report = opened.backup(target)  # type: ignore[attr-defined]
    opened.close()
    return int(report.size_bytes)


def restore(backup: Path, store: Path) -> int:
    """Verify a backup and put it in the place of a store; returns the number of its memories."""
    report, _ = backups.verify(backup)
    backups.restore(backup, store)
    open_store(store).close()
    return report.counts["memory"]


def _context(store: Any) -> Context:
    return Context(store=store, namespace=SHARED, cause=Cause(verb="bench"), now=AT)


def measure(count: int, suffix: str, folder: Path, here: bool = False) -> dict[str, Any]:
    """The costs of all steps for one size. here: all in this process."""
    store, copy, file = folder / "a.db", folder / "b.db", folder / f"export{suffix}"
    size, _ = measured(build, store, count, here=here)
    steps: dict[str, tuple[int, Cost]] = {
        "export": measured(write_export, store, file, here=here),
        "import": measured(read_import, file, copy, here=here),
        "import again": measured(read_import, file, copy, here=here),
        "backup": measured(back_up, store, folder / "backup.db", here=here),
        "restore": measured(restore, folder / "backup.db", copy, here=here),
    }
    results = {name: result for name, (result, _) in steps.items()}
    if results["import"] != count or results["import again"] != 0 or results["restore"] != count:
        raise SystemExit(f"wrong results: {results}")
    print(f"{count:,} memories, store {size / 1e6:,.0f} MB, {file.name} {results['export'] / 1e6:,.0f} MB")
    for name, (_, cost) in steps.items():
        memory = f"{cost.before_mb:4.0f} -> {cost.peak_mb:4.0f} MB"
        print(f"  {name:<13}{cost.seconds:8.2f} s {cost.cpu_seconds:8.2f} s CPU   {memory}")
    return {
        "memories": count,
        "store_bytes": size,
        "file_bytes": results["export"],
        "steps": {name: asdict(cost) for name, (_, cost) in steps.items()},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--sizes", default="10000,100000")
    parser.add_argument("--suffix", default=".jsonl", help=".jsonl, .jsonl.gz or .jsonl.zst")
    parser.add_argument("--here", action="store_true", help="in one process; memory says nothing then")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    report = []
    for size in options.sizes.split(","):
        with tempfile.TemporaryDirectory(prefix="lore-transfer-") as folder:
            report.append(measure(int(size), options.suffix, Path(folder), options.here))
    if options.json:
        options.json.write_text(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
