"""Attack Lore and count what gets through.

python -m bench.attack [--rounds 3] [--every 1] [--kills 400] [--trials 60] [--postgres URL]
                       [--texts FILE] [--parts requests,crossings,…] [--json FILE]

requests: every route with credentials that must not be accepted. crossings: valid callers reach for other
namespaces and tenants. tokens: forged tokens of an OAuth issuer. pages: hostile web pages in a browser that
is signed in. kills: a process is killed at any call of the file layer. sync: two machines and a server
that goes back to an older copy exchange memories while clocks jump and memories are erased. texts: texts
that instruct agents arrive as an agent's notes, from tools, pages and sub-agents, beside honest notes.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.attack import crossings, pages, requests, sync, texts, tokens
from bench.attack.fortress import fortress
from tests.doors.http.issuer import running_issuer

HARM = ("answered", "leaked", "failed", "changed", "harmed", "accepted", "signed_out", "lost", "resurrected",
        "refused_and_passed", "own_not_found", "good_refused", "reached", "promises_broken")  # fmt: skip
"""Counts that must be 0."""


def database(options: argparse.Namespace) -> dict[str, str]:
    return {"LORE_DATABASE_URL": options.postgres} if options.postgres else {}


def of_requests(options: argparse.Namespace) -> dict[str, Any]:
    with fortress(**database(options)) as place:
        return requests.run(place, options.rounds, options.every)


def of_crossings(options: argparse.Namespace) -> dict[str, Any]:
    with fortress(**database(options)) as place:
        return crossings.run(place, options.rounds, options.every)


def of_tokens(options: argparse.Namespace) -> dict[str, Any]:
    with running_issuer() as issuer:
        settings = {"LORE_OAUTH_ISSUER": issuer.address, "LORE_OAUTH_AUDIENCE": tokens.AUDIENCE}
        with fortress(**settings) as place:
            return tokens.run(place, issuer, options.rounds, options.every)


def of_pages(options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        return pages.run(Path(name), options.every)


def of_kills(options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as name:
        report = Path(name) / "kills.json"
        command = [sys.executable, "-m", "bench.kill", "--kills", str(options.kills), "--cuts", "0"]
        subprocess.run([*command, "--json", str(report)], check=False, stdout=subprocess.DEVNULL)
        found = json.loads(report.read_text())
    points, racing = found["points"], found["racing"]
    kills, failed = points["kills"] + racing["kills"], points["failed"] + racing["failed"]
    return {"kills": kills, "acknowledged": racing["acknowledged"], "lost": racing["lost"], "failed": failed}


def of_texts(options: argparse.Namespace) -> dict[str, Any]:
    return texts.run(options.texts)


PARTS: dict[str, Callable[[argparse.Namespace], dict[str, Any]]] = {
    "requests": of_requests,
    "crossings": of_crossings,
    "tokens": of_tokens,
    "pages": of_pages,
    "kills": of_kills,
    "sync": lambda options: sync.run(options.trials),
    "texts": of_texts,
}


def main() -> None:
    options = _options()
    report: dict[str, dict[str, Any]] = {}
    for name in options.parts:
        report[name] = PARTS[name](options)
        figures = ", ".join(f"{count} {what.replace('_', ' ')}" for what, count in report[name].items())
        print(f"{name}: {figures}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(report, indent=2) + "\n")
    harm = {(name, what) for name, counts in report.items() for what in HARM if counts.get(what)}
    sys.exit(f"got through: {sorted(harm)}" if harm else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=3, help="how often each attempt is made")
    parser.add_argument("--every", type=int, default=1, help="make only one in so many attempts")
    parser.add_argument("--postgres", default="", help="an empty database for requests and crossings")
    parser.add_argument("--kills", type=int, default=400)
    parser.add_argument("--trials", type=int, default=60, help="of three machines that exchange memories")
    parser.add_argument("--texts", type=Path, default=texts.TEXTS, help="JSON lines with texts and labels")
    parser.add_argument("--parts", type=_parts, default=list(PARTS), metavar="NAMES", help=", ".join(PARTS))
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def _parts(names: str) -> list[str]:
    chosen = names.split(",")
    if unknown := sorted(set(chosen) - set(PARTS)):
        raise argparse.ArgumentTypeError(f"unknown parts: {', '.join(unknown)}; known: {', '.join(PARTS)}")
    return chosen


if __name__ == "__main__":
    main()
