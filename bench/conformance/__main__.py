"""Run the official inspector and the official conformance suite against a real `lore-server`:

python -m bench.conformance [--folder FOLDER] [--model MODEL]

The server runs on a free loopback port with a seeded store. Node and both programs are installed from npm
into FOLDER (default: ~/.cache/lore-bench), which is kept. The exit code is 1 if a command of the inspector
fails or if a check fails that `bench.conformance.reasons` does not explain.
"""

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import httpx2
from mcp import Client

from bench.clients.peers import FOLDER, Peer, conformance, inspector
from bench.clients.report import say, table
from bench.clients.scene import Scene
from bench.conformance.lending import lending
from bench.conformance.reasons import REASONS
from bench.server.serving import quiet

SPECIFICATIONS = ("2025-11-25", "2026-07-28")
ERAS = {"2025-11-25": "legacy", "2026-07-28": "modern"}
SEEDED = 200
LOAD = {"--load-requests": "500", "--load-concurrency": "10"}
SECONDS = 600
TIMESTAMP = re.compile(r"^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$")
QUERY = "?surfaces=tree,graph"
ARGUMENTS = '{"query": "who keeps the tide tables?", "detail": "preview"}'
URI = "memory://knowledge-graph"
METHODS = {
    "tools/list": ["--strict"],
    "tools/call": ["--tool-name", "search", "--tool-args-json", ARGUMENTS],
    "resources/list": [],
    "resources/templates/list": [],
    "resources/read": ["--uri", URI],
    "prompts/list": [],
    "prompts/get": ["--prompt-name", "recall", "--prompt-args", "topic=tides"],
}
"""What the inspector asks for, with its options."""


class Outcome(NamedTuple):
    """The checks of one scenario. failed: with the ids of those that failed."""

    passed: int
    failed: frozenset[str]
    remarks: int


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--folder", type=Path, default=FOLDER.expanduser())
    options.add_argument("--model", default="gte-small", help="embedding model (default: gte-small)")
    chosen = options.parse_args()
    say("installing the inspector and the conformance suite")
    tool, suite = inspector(chosen.folder), conformance(chosen.folder)
    quiet()
    with Scene(chosen.model) as scene, lending(scene.data) as (url, token):
        endpoint = f"{url}/mcp{QUERY}"
        anyio.run(_seed, endpoint)
        _wait_until_embedded(url, token)
        calls = _inspected(tool, endpoint)
        loads = [_load(tool, endpoint, era) for era in SPECIFICATIONS]
        outcomes = {one: _conformance(suite, endpoint, one, scene.folder) for one in SPECIFICATIONS}
    heads = ["method", *SPECIFICATIONS]
    print(table(f"inspector {tool.version}: exit codes", heads, calls))
    heads = ["era", "calls", "errors", "per second", "p50 ms", "p99 ms"]
    print(table("inspector --load: `search`, 10 at a time", heads, loads))
    print(_shown(suite, outcomes))
    unexpected = list(_unexpected(outcomes))
    for line in unexpected:
        print(line)
    good = all(code == 0 for _, *codes in calls for code in codes) and not any(load[2] for load in loads)
    sys.exit(0 if good and not unexpected else 1)


async def _seed(url: str) -> None:
    async with Client(url, mode=SPECIFICATIONS[-1]) as client:
        await client.call_tool("store", {"content": "The harbour master keeps the tide tables."})
        for number in range(SEEDED):
            content = f"Berth {number} of the harbour takes ships of {number + 3} metres."
            await client.call_tool("store", {"content": content})


def _wait_until_embedded(url: str, token: str) -> None:
    """Wait until nothing is left to be embedded, which would compete with the calls."""
    say("waiting for the embedding of the seeded memories")
    end = time.monotonic() + SECONDS
    headers = {"Authorization": f"Bearer {token}"}
    while httpx2.get(f"{url}/status", headers=headers).json()["pending"] and time.monotonic() < end:
        time.sleep(1)


def _asked(tool: Peer, url: str, specification: str, *options: str) -> subprocess.CompletedProcess[str]:
    era = ["--protocol-era", ERAS[specification], "--format", "json"]
    command = [*tool.command, url, *era, *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)


def _inspected(tool: Peer, url: str) -> list[list[str | int]]:
    """Method -> the exit code of each era; -1 if the answer has no result."""
    rows: list[list[str | int]] = []
    for method, options in METHODS.items():
        say(f"inspector: {method}")
        answers = [_asked(tool, url, one, "--method", method, *options) for one in SPECIFICATIONS]
        codes = [done.returncode if '"result"' in done.stdout else done.returncode or -1 for done in answers]
        rows.append([method, *codes])
    return rows


def _load(tool: Peer, url: str, specification: str) -> list[Any]:
    say(f"inspector: load, {specification}")
    bounds = [part for pair in LOAD.items() for part in pair]
    call = ["--method", "tools/call", *METHODS["tools/call"], "--load", *bounds]
    done = _asked(tool, url, specification, *call)
    if done.returncode:
        raise SystemExit(f"the inspector's load test failed: {done.stdout}{done.stderr}")
    result = json.loads(done.stdout)["result"]
    errors, latency = result["errors"] + result["toolErrors"], result["latencyMs"]
    return [specification, result["requests"], errors, result["throughput"], latency["p50"], latency["p99"]]


def _conformance(suite: Peer, url: str, specification: str, folder: Path) -> dict[str, Outcome]:
    """Scenario -> its outcome, for all scenarios of a specification."""
    say(f"conformance: {specification}")
    results = folder / specification
    command = [*suite.command, "server", "--url", url, "--requirements", specification, "-o", str(results)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False)
    outcomes: dict[str, Outcome] = {}
    for path in sorted(results.glob("*/checks.json")):
        match = TIMESTAMP.match(path.parent.name)
        assert match is not None, path
        outcomes[match[1]] = _outcome(json.loads(path.read_text()))
    if not outcomes:
        raise SystemExit(f"the conformance suite has no results: {done.stdout}{done.stderr}")
    return outcomes


def _outcome(checks: list[dict[str, Any]]) -> Outcome:
    statuses = [check["status"] for check in checks]
    failed = frozenset(check["id"] for check in checks if check["status"] == "FAILURE")
    return Outcome(statuses.count("SUCCESS"), failed, statuses.count("WARNING") + statuses.count("SKIPPED"))


def _shown(suite: Peer, outcomes: dict[str, dict[str, Outcome]]) -> str:
    """A line for each scenario, those that pass first."""
    lines: list[list[str]] = []
    for scenario in dict.fromkeys(name for one in outcomes.values() for name in one):
        found = [outcomes[one].get(scenario) for one in SPECIFICATIONS]
        failing = any(outcome.failed for outcome in found if outcome)
        why = REASONS[scenario].why if failing and scenario in REASONS else "UNEXPECTED" if failing else ""
        lines.append([scenario, *map(_counts, found), why])
    totals = [_total(outcomes[one]) for one in SPECIFICATIONS]
    rows = [*sorted(lines, key=lambda line: (bool(line[-1]), line[-1])), ["all", *totals, ""]]
    title = f"conformance {suite.version}: checks passed/failed (and with remarks)"
    return table(title, ["scenario", *SPECIFICATIONS, "why the failed ones do not apply"], rows)


def _counts(outcome: Outcome | None) -> str:
    if outcome is None:
        return "-"
    remarks = f" ({outcome.remarks})" if outcome.remarks else ""
    return f"{outcome.passed}/{len(outcome.failed)}{remarks}"


def _total(outcomes: dict[str, Outcome]) -> str:
    passed = sum(outcome.passed for outcome in outcomes.values())
    return f"{passed}/{sum(len(outcome.failed) for outcome in outcomes.values())}"


def _unexpected(outcomes: dict[str, dict[str, Outcome]]) -> Iterator[str]:
    for specification, found in outcomes.items():
        for scenario, outcome in found.items():
            explained = REASONS[scenario].checks if scenario in REASONS else frozenset()
            for check in sorted(outcome.failed - explained):
                yield f"unexpected: {specification} {scenario}: {check}"


if __name__ == "__main__":
    main()
