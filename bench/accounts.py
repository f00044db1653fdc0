"""Measure accounts of conversations: which parts they have, how long they are, and what they cost.

python -m bench.accounts HOME [--json FILE]

HOME is a folder with transcripts where clients write them, such as HOME/.claude/projects. They are read into
a store of its own; nothing below HOME changes.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lore import Filter, Lore
from lore.config import Config
from lore.connecting import wire
from lore.engine.accounts import PARTS
from lore.model import ACCOUNT, TURN
from lore.transcripts.sources import SOURCES

ALL = 1_000_000


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory() as name:
        config = Config(data_dir=Path(name), db_path=Path(name) / "memory.db", embedding_model="hash")
        lore = wire(config)
        try:
            report = _measured(lore, options.home)
        finally:
            lore.close()
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    print(_shown(report))


def _measured(lore: Lore, home: Path) -> dict[str, Any]:
    began = time.process_time()
    for source in SOURCES.values():
        for path in source.files(home, {}):
            for _ in lore.ingest(path, source):
                pass
    reading = time.process_time() - began
    accounts = lore.select(Filter(kinds=frozenset({ACCOUNT})), ALL)
    turns = lore.count(Filter(kinds=frozenset({TURN})))
    ids = [one.id for one in accounts]
    lore.forget(ids)
    lore.purge(ids)
    began = time.process_time()
    again = lore.keep_accounts()
    writing = time.process_time() - began
    lengths = sorted(len(one.content) for one in accounts)
    return {
        "conversations": len(accounts),
        "written again": len(again),
        "turns": turns,
        "with": {part: sum(part in one.metadata for one in accounts) for part in PARTS},
        "characters": {"median": statistics.median(lengths), "most": lengths[-1]},
        "cpu seconds per 1,000 turns": {
            "accounts": writing * 1000 / turns,
            "the rest of reading": (reading - writing) * 1000 / turns,
        },
    }


def _shown(report: Mapping[str, Any]) -> str:
    """The report as lines."""
    parts = ", ".join(f"{part} {count}" for part, count in report["with"].items())
    cpu = report["cpu seconds per 1,000 turns"]
    share = cpu["accounts"] / max(1e-9, cpu["the rest of reading"])
    characters = report["characters"]
    return "\n".join(
        (
            f"{report['conversations']:,} accounts of {report['turns']:,} turns; with {parts}",
            f"characters: median {characters['median']:.0f}, at most {characters['most']:,}",
            f"CPU: {cpu['accounts']:.2f} s per 1,000 turns, {share:.0%} of the rest of reading",
        )
    )


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("home", type=Path, metavar="HOME")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
