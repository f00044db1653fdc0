"""Check that no input ends Lore, blocks it, or stays without an answer.

python -m bench.fuzz [--calls 100000] [--lines 1000000] [--seed 1] [--surfaces tree,typed] [--json FILE]

Calls of every tool with hostile arguments, and damaged frames, go through `lore-mcp` to a daemon; damaged
lines go through the ingestion of every client and the formats of `lore import`. The same seed gives the same
inputs.
"""

import argparse
import json
import sys
import time
from collections import Counter
from dataclasses import asdict
from pathlib import Path

from bench.fuzz.calls import fuzz_calls
from bench.fuzz.lines import fuzz_lines
from lore.surfaces import SURFACES


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    arguments.add_argument("--calls", type=int, default=100_000, help="calls of tools; frames come on top")
    arguments.add_argument("--lines", type=int, default=1_000_000, help="lines of transcripts")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--surfaces", default=",".join(SURFACES), help="comma-separated")
    arguments.add_argument("--json", type=Path, help="write the figures to this file")
    given = arguments.parse_args()
    print(f"seed {given.seed}", flush=True)
    bad = 0
    figures: dict[str, object] = {"seed": given.seed}
    if given.calls:
        bad += _calls(given.calls, given.seed, tuple(given.surfaces.split(",")), figures)
    if given.lines:
        bad += _lines(given.lines, given.seed, figures)
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1))
    return 1 if bad else 0


def _calls(count: int, seed: int, surfaces: tuple[str, ...], figures: dict[str, object]) -> int:
    began = time.monotonic()
    found = fuzz_calls(count, seed, surfaces)
    figures["calls"] = {name: asdict(one) for name, one in found.items()}
    outcomes = sum((Counter(one.outcomes) for one in found.values()), Counter[str]())
    unanswered = [line for one in found.values() for line in one.unanswered]
    exceptions = [line for one in found.values() for line in one.exceptions]
    relays = sum(one.relay_ends for one in found.values())
    daemons = sum(one.daemon_ends for one in found.values())
    calls, frames = sum(one.calls for one in found.values()), sum(one.frames for one in found.values())
    slowest = max(one.slowest for one in found.values())
    print(
        f"{calls:,} calls and {frames:,} damaged frames in {time.monotonic() - began:.0f} s:"
        f" {len(unanswered)} unanswered, {len(exceptions)} unforeseen errors, {relays} ends of the relay,"
        f" {daemons} of the daemon; slowest {slowest:.1f} s"
    )
    print("  " + ", ".join(f"{name}: {number:,}" for name, number in sorted(outcomes.items())), flush=True)
    for line in unanswered[:20]:
        print(f"  unanswered: {line}")
    for line in exceptions[:20]:
        print(f"  unforeseen: {line}")
    return len(unanswered) + len(exceptions) + relays + daemons


def _lines(count: int, seed: int, figures: dict[str, object]) -> int:
    began = time.monotonic()
    found = fuzz_lines(count, seed)
    figures["lines"] = {name: asdict(one) for name, one in found.items()}
    crashes = [line for one in found.values() for line in one.crashes]
    hangs = [line for one in found.values() for line in one.hangs]
    print(
        f"{sum(one.lines for one in found.values()):,} lines in {time.monotonic() - began:.0f} s:"
        f" {len(crashes)} crashes, {len(hangs)} hangs"
    )
    for name, one in found.items():
        refused = f", {len(one.refused)} files refused, first: {one.refused[0]}" if one.refused else ""
        print(f"  {name}: {one.lines:,} lines, {one.turns:,} turns{refused}")
    for line in [*crashes, *hangs][:20]:
        print(f"  {line}")
    return len(crashes) + len(hangs)


if __name__ == "__main__":
    sys.exit(main())
