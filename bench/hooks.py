"""How long does a client wait for `lore-hook`, beside a bare Python?

python -m bench.hooks [--rounds N] [--cold N] [--memories N] [--model NAME] [--json FILE]

Real processes, in turn: `python -c pass`, then each event with a daemon that holds memories. Then each event
without a daemon: the hook starts one and does not wait; the last line is the time until that one answers.
Milliseconds by the wall, and of the processor in the hook's own process.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from bench.clients.report import Cell, say, table
from bench.clients.scene import Scene
from lore.config import load
from lore.connecting import wire
from lore.doors.starting import await_answer, stop
from lore.model import Draft

EVENTS = ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd")
BARE = "python -c pass"
PROMPT = "Where does the harbour master keep the tide tables?"
Times = list[tuple[float, float]]


def main() -> None:
    options = _options()
    for name in [name for name in os.environ if name.startswith("LORE_")]:
        del os.environ[name]
    os.environ["LORE_INGEST_PAUSED"] = "yes"
    with Scene(options.model) as scene:
        os.environ["LORE_DATA_DIR"] = str(scene.data)
        say(f"{options.memories} memories")
        _fill(scene, options.memories)
        scene.warm()
        report = {"up": _up(options.rounds), **_down(scene, options.cold)}
    print(_shown(report))
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")


def _fill(scene: Scene, count: int) -> None:
    lore = wire(load({}, data_dir=scene.data))
    texts = (f"Berth {number} belongs to the pilot of watch {number % 7}; tide tables: shelf {number}."
             for number in range(count))  # fmt: skip
    lore.remember_all([Draft(content=text) for text in texts])
    lore.embed_pending()
    lore.close()


def _up(rounds: int) -> dict[str, Times]:
    times: dict[str, Times] = {BARE: [], **{event: [] for event in EVENTS}}
    for number in range(rounds):
        times[BARE].append(_timed([sys.executable, "-c", "pass"], ""))
        for event in EVENTS:
            times[event].append(_hook(event, f"session-{number}"))
    return times


def _down(scene: Scene, rounds: int) -> dict[str, Any]:
    """Each event finds no daemon; the one that it starts is stopped before the next."""
    times: dict[str, Times] = {event: [] for event in EVENTS}
    starts = []
    for number in range(rounds):
        for event in EVENTS:
            stop(scene.endpoint)
            began = time.perf_counter()
            times[event].append(_hook(event, f"cold-{number}"))
            await_answer(scene.endpoint)
            starts.append(1000 * (time.perf_counter() - began))
    stop(scene.endpoint)  # in peace: whoever has started it would replace one that is killed
    return {"down": times, "until a daemon answers": starts}


def _hook(event: str, session: str) -> tuple[float, float]:
    fields = {"session_id": session, "cwd": os.getcwd(), "hook_event_name": event, "prompt": PROMPT}
    return _timed([str(Path(sys.executable).with_name("lore-hook")), event], json.dumps(fields))


def _timed(command: list[str], sent: str) -> tuple[float, float]:
    """Milliseconds by the wall and of the processor until the process has ended and its output is read."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin
    assert process.stdout
    process.stdin.write(sent.encode())
    process.stdin.close()
    process.stdout.read()
    _, code, used = os.wait4(process.pid, 0)
    process.returncode = code
    process.stdout.close()
    return 1000 * (time.perf_counter() - began), 1000 * (used.ru_utime + used.ru_stime)


def _shown(report: dict[str, Any]) -> str:
    rows: list[list[Cell]] = [
        [state, name, *_percentiles([wall for wall, _ in times]), _percentiles([cpu for _, cpu in times])[0]]
        for state in ("up", "down")
        for name, times in report[state].items()
    ]
    starts = report["until a daemon answers"]
    rows.append(["down", "until the daemon answers", *_percentiles(starts), None])
    return table("milliseconds", ("daemon", "process", "p50", "p95", "CPU p50"), rows)


def _percentiles(figures: list[float]) -> tuple[float | None, float | None]:
    ordered = sorted(figures)
    last = len(ordered) - 1
    return (ordered[round(last * 0.5)], ordered[round(last * 0.95)]) if figures else (None, None)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=40, help="with a daemon")
    parser.add_argument("--cold", type=int, default=3, help="without one")
    parser.add_argument("--memories", type=int, default=1000)
    parser.add_argument("--model", default="gte-small", help="the embedding model; hash: a quick double")
    parser.add_argument("--json", type=Path, help="write all figures there")
    return parser.parse_args()


if __name__ == "__main__":
    main()
