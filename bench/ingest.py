"""Measure how fast transcripts are read: the first time, the second time, and until search finds a new line.

python -m bench.ingest [--megabytes 1000] [--files 40] [--json FILE]

The transcripts are generated in Claude Code's form, in the proportions measured there: about 5 % of the bytes
are conversation, the rest is bookkeeping in lines of some kilobytes.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.corpus import Corpus

LORE = (sys.executable, "-m", "lore.doors.cli")
BOOKKEEPING = ("attachment", "api-request-shape", "api-request-blob", "file-history-snapshot")
SIZES = (2_000, 4_000, 20_000, 150_000)
CONVERSATION = 0.05
LATENCIES = 5


def main() -> None:
    options = _options()
    with tempfile.TemporaryDirectory(prefix="lore-", dir="/tmp") as folder:
        home = Path(folder)
        written, turns = _write(home, options.megabytes * 1_000_000, options.files)
        report = {
            "megabytes": written / 1e6,
            "turns": turns,
            "first": _read(home),
            "second": _read(home),
            "append_to_found_ms": _latencies(home),
        }
    if options.json:
        options.json.write_text(json.dumps(report, indent=2))
    print(_shown(report))


def _write(home: Path, size: int, files: int) -> tuple[int, int]:
    """The transcripts of a busy user; how many bytes and turns."""
    folder = home / ".claude" / "projects" / "-home-ada-ferry"
    folder.mkdir(parents=True)
    chance, corpus, written, turns = random.Random(1), Corpus(1), 0, 0
    for number in range(files):
        with (folder / f"{number:08d}.jsonl").open("wb") as file:
            said = total = 0
            for line, is_turn in _lines(chance, corpus, number):
                file.write(line)
                total += len(line)
                said += len(line) if is_turn else 0
                turns += is_turn
                if total > size / files:
                    break
            written += total
        print(f"\rwrote {written / 1e6:,.0f} MB", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    os.sync()  # what is still to be written would slow down who reads
    return written, turns


def _lines(chance: random.Random, corpus: Corpus, session: int) -> Iterator[tuple[bytes, bool]]:
    said = other = 1
    number = 0
    while True:
        if said < CONVERSATION * (said + other):
            number += 1
            line = _turn(session, number, corpus.text(40, 200), "user" if number % 2 else "assistant")
            said += len(line)
            yield line, True
        else:
            kind, size = chance.choice(BOOKKEEPING), chance.choice(SIZES)
            line = json.dumps({"type": kind, "uuid": "0", "content": "x" * size}).encode() + b"\n"
            other += len(line)
            yield line, False


def _turn(session: int, number: int, text: str, role: str) -> bytes:
    content: Any = text if role == "user" else [{"type": "text", "text": text}]
    document = {
        "parentUuid": None,
        "type": role,
        "message": {"role": role, "content": content},
        "uuid": f"{session:08x}-0000-4000-8000-{number:012x}",
        "timestamp": "2026-11-15T20:00:00.000Z",
        "cwd": "/home/ada/ferry",
        "sessionId": f"{session:08d}",
    }
    return json.dumps(document).encode() + b"\n"


def _read(home: Path) -> dict[str, float]:
    """One `lore ingest` in a process of its own: seconds, CPU, most memory."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [*LORE, "--data-dir", str(home / ".lore"), "ingest", "--json"], env=_env(home), stdout=subprocess.PIPE
    )
    assert process.stdout
    with process.stdout as out:
        document = json.loads(out.read())
    _, process.returncode, used = os.wait4(process.pid, 0)
    return {
        "seconds": time.perf_counter() - start,
        "cpu_seconds": used.ru_utime + used.ru_stime,
        "peak_mb": used.ru_maxrss / 1000,
        "turns": document["turns"],
        "bytes": document["bytes"],
    }


def _latencies(home: Path) -> list[float]:
    """From a line that is appended until a search through the daemon finds it, in ms."""
    env = _env(home)
    lore = [*LORE, "--data-dir", str(home / ".lore")]
    subprocess.run([*lore, "daemon", "start"], env=env, check=True, stdout=subprocess.DEVNULL)
    file = home / ".claude" / "projects" / "-home-ada-ferry" / "00000000.jsonl"
    found = []
    for number in range(LATENCIES):
        word = f"kingfisher{number}"
        with file.open("ab") as grown:
            grown.write(_turn(0, 10**9 + number, f"the {word} is back", "user"))
        start = time.perf_counter()
        while word not in subprocess.run(
            [*lore, "search", word, "--everywhere", "--json"],
            env=env,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.replace(f'"{word}"', ""):
            if time.perf_counter() - start > 60:
                raise SystemExit(f"{word} was not found")
        found.append((time.perf_counter() - start) * 1000)
    subprocess.run([*lore, "daemon", "stop"], env=env, check=True, stdout=subprocess.DEVNULL)
    return found


def _env(home: Path) -> dict[str, str]:
    ours = {"HOME": str(home), "LORE_EMBEDDING_MODEL": "hash", "LORE_INGEST_PAUSED": "no"}
    others = {name: value for name, value in os.environ.items() if not name.startswith(("LORE_", "CLAUDE_"))}
    return others | ours


def _shown(report: dict[str, Any]) -> str:
    first, second, found = report["first"], report["second"], report["append_to_found_ms"]
    return "\n".join(
        [
            f"{report['megabytes']:,.0f} MB, {report['turns']:,} turns",
            f"first  {_line(first)}, {report['megabytes'] / first['seconds']:,.0f} MB/s,"
            f" {first['turns'] / first['seconds']:,.0f} turns/s",
            f"second {_line(second)}, {second['bytes']:,} bytes read",
            f"a new line is found after {statistics.median(found):.0f} ms (p50), {max(found):.0f} ms (max)",
        ]
    )


def _line(pass_: dict[str, float]) -> str:
    times = f"{pass_['seconds']:.1f} s ({pass_['cpu_seconds']:.1f} s CPU)"
    return f"{times}, at most {pass_['peak_mb']:.0f} MB, {pass_['turns']:,} turns kept"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=int, default=1000)
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
