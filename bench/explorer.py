"""Measure how long the pages of the explorer take to open, and the calls behind them, by the size of a store.

python -m bench.explorer [--sizes 1000 100000] [--loads 10] [--calls 40] [--model NAME] [--json FILE]

For each size a store is filled, and a `lore-server` on it is asked by a client (`calls`) and opened in a real
Chromium (`pages`). cold: with an empty cache. warm: with the files in the cache. A page is open when its
content is there: no part of it is still loading. Milliseconds by the wall; `cpu` is the server's processor
time for one of them, which other work on the machine does not change. The last column compares the processor
time of the largest store with that of the smallest.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import httpx2
from playwright.sync_api import Browser, BrowserContext, sync_playwright

from bench.clients.report import Cell, say, table
from bench.clients.scene import Scene
from bench.clients.usage import spent
from bench.corpus import Corpus
from bench.server.serving import Server, quiet
from bench.speed import fill
from lore.config import Config
from lore.connecting import wire

CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
).split()
WAIT_MILLISECONDS = 60_000
P50, P95 = 9, 18
"""Places of the cuts among 19 that part the times into twentieths."""


class Times(NamedTuple):
    """Milliseconds of each call or page, and the mean processor time of the server for one."""

    wall: list[float]
    cpu: float


Measured = dict[str, Times]


def main() -> None:
    options = _options()
    quiet()
    results = {size: measured(size, options) for size in options.sizes}
    if options.json:
        options.json.write_text(json.dumps(results, indent=2) + "\n")
    for part in ("calls", "pages"):
        print(_table(part, {size: result[part] for size, result in results.items()}))


def measured(size: int, options: argparse.Namespace) -> dict[str, Measured]:
    """The times of all calls and pages with a store of this size."""
    say(f"{size:,} memories")
    with Scene(options.model) as scene:
        corpus = Corpus()
        lore = wire(Config(data_dir=scene.data, embedding_model=options.model))
        texts = fill(lore, corpus, size, options.model)
        lore.close()
        questions = [corpus.question(text) for text in texts[:: max(1, size // options.calls)]]
        with Server(scene) as server:
            return {
                "calls": calls(server, questions[: options.calls]),
                "pages": pages(server, questions[0], options.loads),
            }


def calls(server: Server, questions: Sequence[str]) -> Measured:
    """Milliseconds of the calls that the pages make, by verb after one that is not counted."""
    headers = {"Authorization": f"Bearer {server.tokens[0]}"}
    with httpx2.Client(
        base_url=f"http://127.0.0.1:{server.port}/api/v1/", headers=headers, timeout=60
    ) as client:
        memory = client.post("browse", json={"where": {}, "limit": 1}).json()["memories"][0]["id"]
        asked: dict[str, Callable[[str], object]] = {
            "search": lambda text: {"query": {"text": text, "limit": 20, "counted": False}},
            "browse": lambda _: {"where": {}, "limit": 20, "order": "newest"},
            "status": lambda _: {},
            "activity": lambda _: {"limit": 60},
            "growth": lambda _: {"days": 90},
            "inbox": lambda _: {"limit": 50},
            "read": lambda _: {"id": memory, "use": False},
            "relevance_curve": lambda _: {"id": memory},
        }
        for verb, of in asked.items():
            _call(client, verb, of(questions[0]))
        return {
            verb: timed(server, [partial(_call, client, verb, of(text)) for text in questions])
            for verb, of in asked.items()
        }


def timed(server: Server, works: Sequence[Callable[[], float]]) -> Times:
    """The times that these works return, and what they cost the server."""
    before = spent(server.pid)
    wall = [work() for work in works]
    return Times(wall, 1000 * (spent(server.pid) - before) / len(works))


def _call(client: httpx2.Client, verb: str, arguments: object) -> float:
    began = time.perf_counter()
    answer = client.post(verb, json=arguments)
    assert answer.status_code == 200, answer.text
    return 1000 * (time.perf_counter() - began)


def pages(server: Server, question: str, loads: int) -> Measured:
    """Milliseconds until each page is open, with an empty and with a filled cache."""
    times: Measured = {}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for name, path in _paths(server, question).items():
            times[f"{name}, cold"] = timed(server, [partial(_cold, browser, server, path)] * loads)
            with signed_in(browser, server) as context:
                _opened(context, server, path)
                times[f"{name}, warm"] = timed(server, [partial(_opened, context, server, path)] * loads)
        browser.close()
    return times


def _paths(server: Server, question: str) -> dict[str, str]:
    headers = {"Authorization": f"Bearer {server.tokens[0]}"}
    address = f"http://127.0.0.1:{server.port}/api/v1/browse"
    found = httpx2.post(address, json={"where": {}, "limit": 1}, headers=headers).json()
    memory = found["memories"][0]["id"]
    query = "+".join(question.split())
    return {"home": "", "search": f"search?q={query}", "memory": f"memory/{memory}", "review": "review"}


@contextmanager
def signed_in(browser: Browser, server: Server) -> Iterator[BrowserContext]:
    """A profile of the browser with a session and an empty cache."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(WAIT_MILLISECONDS)
    address = f"http://127.0.0.1:{server.port}/explorer/sign-in"
    answer = context.request.post(address, headers={"Authorization": f"Bearer {server.tokens[0]}"})
    assert answer.ok, answer.text()
    yield context
    context.close()


def _cold(browser: Browser, server: Server, path: str) -> float:
    with signed_in(browser, server) as context:
        return _opened(context, server, path)


def _opened(context: BrowserContext, server: Server, path: str) -> float:
    page = context.new_page()
    began = time.perf_counter()
    page.goto(f"http://127.0.0.1:{server.port}/explorer/{path}", wait_until="commit")
    page.locator("h1").first.wait_for(state="attached")
    page.locator(".bones").first.wait_for(state="detached")
    taken = 1000 * (time.perf_counter() - began)
    page.close()
    return taken


def _table(part: str, results: dict[int, Measured]) -> str:
    sizes = list(results)
    heads = ["", *(f"{size:,} {name}" for size in sizes for name in ("p50", "p95", "cpu")), "ratio of cpu"]
    rows: list[list[Cell]] = []
    for name in results[sizes[0]]:
        figures: list[Cell] = [figure for size in sizes for figure in _figures(results[size][name])]
        rows.append([name, *figures, results[sizes[-1]][name].cpu / results[sizes[0]][name].cpu])
    return table(part, heads, rows)


def _figures(times: Times) -> tuple[float, float, float]:
    cuts = statistics.quantiles(times.wall, n=20, method="inclusive")
    return cuts[P50], cuts[P95], times.cpu


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 100_000])
    parser.add_argument("--loads", type=int, default=10)
    parser.add_argument("--calls", type=int, default=40)
    parser.add_argument("--model", default="gte-small")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
