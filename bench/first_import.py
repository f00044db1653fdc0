"""Measure how long a first import takes for a user, and how long a search takes during the import.

python -m bench.first_import [--turns 7000] [--dataset DIR] [--dry-run] [--model hash] [--json FILE]

Starts the daemon on an empty home with transcripts in Claude Code's form. Three times are measured from the
start of the daemon: until all turns are read, until all are embedded, until all are digested. A client of
`lore-mcp` searches during this time, in bursts, and again afterwards, when the daemon is idle.

--dataset: use the conversations of a folder with corpus.jsonl[.gz], and fill up with synthetic tool output.
--dry-run: also run `lore consolidate --dry-run` as soon as all turns are read, and time it.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from bench.clients.line import Line
from bench.measuring import Bar
from bench.retrieval.data import load
from bench.transcripts import Session, generated, of_dataset, write
from lore.doors.daemon_status import query_status
from lore.doors.endpoint import Endpoint

LORE = (sys.executable, "-m", "lore.doors.cli")
RELAY = (sys.executable, "-m", "lore.doors.relay")
PHASES = ("reading", "embedding", "digesting")
LOOK_EVERY_SECONDS = 0.25
SPARED = 30
"""The pause after a look at the daemon, in multiples of the time that the look took it."""
BURST, PAUSE_SECONDS = 5, 20.0
"""Searches of a burst, one after the other, and the pause before the next."""
AFTERWARDS = 60
"""Searches when the daemon has nothing to do."""
QUERY_WORDS = 6
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Moment:
    """The end of a phase: seconds since the daemon started, CPU seconds of the daemon, the load average."""

    seconds: float
    cpu_seconds: float
    load: float


@dataclass(slots=True)
class Import:
    """One measured import."""

    turns: int
    sessions: int
    ends: dict[str, Moment] = field(default_factory=dict)
    searches_ms: dict[str, list[float]] = field(default_factory=dict)
    run_seconds: float = 0.0
    dry_run_seconds: float | None = None
    dry_run_cpu_seconds: float | None = None

    @property
    def phase(self) -> str:
        """The phase at work now."""
        return next((name for name in PHASES if name not in self.ends), "idle")


def main() -> None:
    options = _options()
    sessions = _sessions(options.turns, options.dataset)
    with tempfile.TemporaryDirectory(prefix="lore-", dir="/tmp") as folder:
        measured = _measured(Path(folder), sessions, options)
    if options.json:
        options.json.write_text(json.dumps(asdict(measured), indent=2))
    print(_shown(measured))


def _sessions(turns: int, dataset: Path | None) -> list[Session]:
    if dataset is None:
        return generated(turns)
    return of_dataset([item for group in load(dataset) for item in group.items], turns)


def _measured(home: Path, sessions: Sequence[Session], options: argparse.Namespace) -> Import:
    write(sessions, home)
    env = _env(home, options.model, options.interval)
    endpoint = Endpoint({}, str(home / ".lore"))
    measured = Import(sum(session.turns for session in sessions), len(sessions))
    began = time.monotonic()
    _run(endpoint, env, "daemon", "start")
    try:
        with _searching(endpoint, env, sessions, measured):
            _watch(endpoint, env, began, measured, options.dry_run)
    finally:
        _run(endpoint, env, "daemon", "stop")
    return measured


def _watch(endpoint: Endpoint, env: dict[str, str], began: float, measured: Import, dry_run: bool) -> None:
    """Note the end of each phase, as the daemon tells it."""
    bars = {name: Bar(name, measured.turns) for name in PHASES}
    beside: threading.Thread | None = None
    while (phase := measured.phase) != "idle":
        looked = time.monotonic()
        status = query_status(endpoint)
        pause = max(LOOK_EVERY_SECONDS, SPARED * (time.monotonic() - looked))
        if status["memories"] is None:
            raise SystemExit(f"the daemon ended; see {endpoint.log}")
        if left := _left(phase, status, measured):
            bars[phase].at(measured.turns - min(left, measured.turns))
            time.sleep(pause)
            continue
        cpu = _cpu_seconds(int(status["pid"]))
        measured.ends[phase] = Moment(time.monotonic() - began, cpu, os.getloadavg()[0])
        bars[phase].at(measured.turns)
        if dry_run and phase == "reading":
            beside = threading.Thread(target=_dry_run, args=(endpoint, env, measured))
            beside.start()
    if beside is not None:
        beside.join()
    measured.run_seconds = json.loads(_run(endpoint, env, "status", "--json"))["last_run"]["seconds"]


def _left(phase: str, status: dict[str, Any], measured: Import) -> int:
    """Turns that this phase still has to do."""
    if phase == "reading":
        return max(0, measured.turns + measured.sessions - int(status["memories"]))
    if phase == "embedding":
        return int(status["pending"])
    return int(status["staged_turns"]) or int(status["state"] == "consolidating")


def _dry_run(endpoint: Endpoint, env: dict[str, str], measured: Import) -> None:
    began = time.monotonic()
    command = [*LORE, *endpoint.flags, "consolidate", "--dry-run", "--json"]
    with subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL) as process:
        _, code, used = os.wait4(process.pid, 0)
        process.returncode = code
    measured.dry_run_seconds = time.monotonic() - began
    measured.dry_run_cpu_seconds = used.ru_utime + used.ru_stime


@contextmanager
def _searching(
    endpoint: Endpoint, env: dict[str, str], sessions: Sequence[Session], measured: Import
) -> Iterator[None]:
    """Search in bursts during the block, and without a pause afterwards."""
    queries, ended = _queries(sessions), threading.Event()
    with Line([*RELAY, *endpoint.flags], env=env) as line:
        line.tools()

        def search(phase: str) -> None:
            began = time.perf_counter()
            line.call("search", {"query": next(queries)})
            measured.searches_ms.setdefault(phase, []).append((time.perf_counter() - began) * 1000)

        def bursts() -> None:
            while not ended.is_set():
                for _ in range(BURST):
                    search(measured.phase)
                ended.wait(PAUSE_SECONDS)

        thread = threading.Thread(target=bursts)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
        for _ in range(AFTERWARDS):
            search("idle")


def _queries(sessions: Sequence[Session]) -> Iterator[str]:
    """Some words of a random turn; hardly ever the same twice."""
    chance = random.Random(5)
    while True:
        entry = json.loads(chance.choice(chance.choice(sessions).lines))
        words = [word for word in json.dumps(entry["message"]["content"]).split() if word.isalpha()]
        if len(words) >= QUERY_WORDS:
            yield f"what about {' '.join(chance.sample(words, QUERY_WORDS))}"


def _run(endpoint: Endpoint, env: dict[str, str], *arguments: str) -> str:
    command = [*LORE, *endpoint.flags, *arguments]
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


def _env(home: Path, model: str, interval: float) -> dict[str, str]:
    others = {name: value for name, value in os.environ.items() if not name.startswith(("LORE_", "CLAUDE_"))}
    ours = {"HOME": str(home), "LORE_EMBEDDING_MODEL": model, "LORE_CONSOLIDATION_INTERVAL": f"{interval:g}"}
    return others | ours | {"LORE_SURFACES": "tree", "LORE_LLM_BACKEND": "none"}


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _shown(measured: Import) -> str:
    lines = [f"{measured.turns:,} turns in {measured.sessions:,} conversations", ""]
    before = Moment(0.0, 0.0, 0.0)
    for name, end in measured.ends.items():
        lines.append(
            f"{name:<10} {end.seconds - before.seconds:8.1f} s   until {end.seconds:8.1f} s"
            f"   CPU {end.cpu_seconds - before.cpu_seconds:8.1f} s   load {end.load:.1f}"
        )
        before = end
    lines += [f"the run that digested took {measured.run_seconds:.1f} s by itself", ""]
    idle = _percentiles(measured.searches_ms["idle"])
    for name, times in measured.searches_ms.items():
        p50, p95 = _percentiles(times)
        lines.append(
            f"search, {name:<10} {len(times):4} times  p50 {p50:7.1f} ms ({p50 / idle[0]:.1f} x idle)"
            f"  p95 {p95:7.1f} ms ({p95 / idle[1]:.1f} x idle)"
        )
    if measured.dry_run_seconds is not None:
        lines.append(
            f"consolidate --dry-run beside it: {measured.dry_run_seconds:.1f} s,"
            f" CPU {measured.dry_run_cpu_seconds:.1f} s"
        )
    return "\n".join(lines)


def _percentiles(times: Sequence[float]) -> tuple[float, float]:
    if len(times) < 2:
        return times[0], times[0]
    cuts = statistics.quantiles(times, n=20, method="inclusive")
    return cuts[9], cuts[18]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=7_000)
    parser.add_argument("--dataset", type=Path)
    parser.add_argument("--dry-run", action="store_true")
    parser.add_argument("--model", default="gte-small")
    parser.add_argument("--interval", type=float, default=7_200.0, help="seconds between consolidations")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
