"""Measure the cost of one more agent, and the load that the shared daemon withstands.

python -m bench.clients [start | cold | install | plugin | journey | url | flood | mixed | kill | all] ...

start: time from the start of a server to its first list of tools, and its memory; compared with other
       servers.
cold:  real agents start while no daemon runs: are Lore's tools in their first request? (not part of all)
install: `lore install` in real agents: do they have Lore, and is nothing left later? (not part of all)
plugin: the plugin in real agents: its tools, its brief, its memories for a prompt? (not part of all)
journey: real agents after `lore install`: are brief and recalled memories in their requests, is what was said
       in one conversation found in the next? (not part of all)
url:   real agents with the address of a server: tools, prompts, the actor in the journal? (not part of all)
flood: many clients start at once while no daemon runs.
mixed: many clients write and search; many calls are in flight on one connection.
kill:  the daemon is killed under busy clients.
The exit code is 1 if an acknowledged write was lost or a client could not work to the end.
"""

import argparse
import json
import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from bench.clients import cold, flood, install, journey, kill, mixed, plugin, start, url
from bench.clients.peers import FOLDER
from bench.clients.report import say

PARTS = {
    "start": start,
    "cold": cold,
    "install": install,
    "plugin": plugin,
    "journey": journey,
    "url": url,
    "flood": flood,
    "mixed": mixed,
    "kill": kill,
}
OF_ALL = ("start", "flood", "mixed", "kill")
"""Without the parts with real agents, which install more than a gigabyte."""
TERMINATED = 143


def main() -> None:
    options = _options()
    signal.signal(signal.SIGTERM, _leave)
    for name in [name for name in os.environ if name.startswith("LORE_") or name == "MEMORY_FILE_PATH"]:
        del os.environ[name]
    os.environ["LORE_INGEST_PAUSED"] = "yes"
    parts = list(OF_ALL) if "all" in options.parts else options.parts
    reports: dict[str, Any] = {}
    for name in parts:
        say(name)
        reports[name] = _measured(name, options)
        print(PARTS[name].shown(reports[name]), flush=True)
        if options.json:
            options.json.write_text(json.dumps(reports, indent=2) + "\n")
    sys.exit(0 if all(PARTS[name].sound(reports[name]) for name in parts) else 1)


def _measured(name: str, options: argparse.Namespace) -> dict[str, Any]:
    folder = options.peers.expanduser()
    others = not options.alone
    match name:
        case "start":
            return start.start(options.model, options.rounds, folder, others)
        case "cold":
            return cold.cold(options.model, options.runs, folder)
        case "install":
            return install.install(options.model, folder)
        case "journey":
            return journey.journey(folder)
        case "url":
            return url.url(folder)
        case "plugin":
            return plugin.plugin(options.model, folder)
        case "flood":
            return flood.flood(options.model, options.flood)
        case "mixed":
            return mixed.mixed(options.model, options.clients, options.calls, folder, others)
        case _:
            return kill.kill(options.model, options.clients, options.kills, options.seed)


def _leave(signum: int, frame: FrameType | None) -> None:
    """As if interrupted: processes and folders go first."""
    sys.exit(TERMINATED)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        prog="python -m bench.clients",
    )
    parser.add_argument("parts", nargs="*", default="all", choices=[*PARTS, "all"], help="default: all")
    parser.add_argument("--model", default="gte-small", help="the embedding model; hash: a quick double")
    parser.add_argument("--rounds", type=int, default=15, help="start: how often everyone starts")
    parser.add_argument("--runs", type=int, default=10, help="cold: how often each agent starts")
    parser.add_argument("--flood", type=int, default=20, help="flood: how many clients")
    parser.add_argument("--clients", type=int, default=8, help="mixed, kill: how many clients")
    parser.add_argument("--calls", type=int, default=500, help="mixed: of each client")
    parser.add_argument("--kills", type=int, default=50, help="kill: how often")
    parser.add_argument("--seed", type=int, default=1, help="kill: of the moments")
    parser.add_argument(
        "--peers", type=Path, default=FOLDER, help="where the servers of others are installed"
    )
    parser.add_argument("--alone", action="store_true", help="without the servers and clients of others")
    parser.add_argument("--json", type=Path, help="write all figures there")
    return parser.parse_args()


if __name__ == "__main__":
    main()
