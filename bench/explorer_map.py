"""Measure how smoothly the map of the explorer moves: frames per second at 10,000 memories and 20,000 links.

python -m bench.explorer_map [--memories N] [--links N] [--seconds N] [--gpu] [--json FILE]

A store with groups, trees and links is filled, and its map is opened in a real Chromium, which is then driven
with the mouse. Frames are the intervals between calls of requestAnimationFrame. Without --gpu, Chromium draws
WebGL on the processor (SwiftShader), beside the page itself and the worker that arranges the map: a machine
with a graphics card does better. The first row is an empty page in the same browser, moved over by the same
mouse: no page can be faster, and `p50 / empty page` compares with it. `page ms` is the time of the processor
that the page itself takes for each frame, without the drawing: it is the same with a graphics card.
"""

import argparse
import json
import math
import random
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import CDPSession, Page, sync_playwright

from bench.clients.report import Cell, say, table
from bench.clients.scene import Scene
from bench.corpus import Corpus
from bench.server.serving import Server, quiet
from lore.config import Config
from lore.connecting import wire
from lore.engine import Lore
from lore.model import Draft, Tie

CHROMIUM = "/usr/bin/chromium"
FLAGS = "--headless --no-sandbox --no-first-run --disable-background-networking --disable-sync".split()
SOFTWARE = "--use-gl=angle --use-angle=swiftshader --enable-unsafe-swiftshader --ignore-gpu-blocklist".split()
WIDTH, HEIGHT = 1280, 800
WAIT_MILLISECONDS = 120_000
GROUPS, BATCH, LONE_SHARE, TREE_SHARE, WITHIN_SHARE = 60, 500, 0.06, 0.5, 0.93
WHEEL, WHEEL_SECONDS, WHEEL_TURNS = 120, 0.12, 4
P50, P95 = 9, 18
"""Places of the cuts among 19 that part the times into twentieths."""
BEGIN = """() => {
  const frames = (globalThis.benchFrames = { times: [], on: true });
  let last = performance.now();
  const next = (now) => {
    frames.times.push(now - last);
    last = now;
    if (frames.on) requestAnimationFrame(next);
  };
  requestAnimationFrame(next);
}"""
PAINTED = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
END = "() => { globalThis.benchFrames.on = false; return globalThis.benchFrames.times.slice(1); }"
Act = Callable[[Page, float], None]


class Frames(NamedTuple):
    """Milliseconds between frames, and of the processor for each: by the page, without the drawing."""

    times: list[float]
    page: float


def main() -> None:
    options = _options()
    quiet()
    frames = measured(options)
    if options.json:
        options.json.write_text(json.dumps({name: one._asdict() for name, one in frames.items()}) + "\n")
    drawn = "by the graphics card, if there is one" if options.gpu else "by SwiftShader, on the processor"
    title = f"map of {options.memories:,} memories and {options.links:,} links, drawn {drawn}"
    print(_table(title, frames))


def measured(options: argparse.Namespace) -> dict[str, Frames]:
    """Milliseconds between frames, by what is done meanwhile."""
    with Scene("hash") as scene:
        say("filling the store")
        lore = wire(Config(data_dir=scene.data, embedding_model="hash"))
        fill(lore, options.memories, options.links)
        lore.close()
        with Server(scene) as server, window(options.gpu) as page:
            say("empty page")
            frames = {"empty page": _frames(page, _pan, options.seconds)}
            address = f"http://127.0.0.1:{server.port}/explorer"
            headers = {"Authorization": f"Bearer {server.tokens[0]}"}
            assert page.context.request.post(f"{address}/sign-in", headers=headers).ok
            page.goto(f"{address}/map")
            page.locator("[data-state=arranging]").wait_for()
            frames["while it arranges itself"] = _frames(page, _wait, options.seconds)
            frames["panned while it arranges itself"] = _frames(page, _pan, options.seconds)
            still = page.locator("[data-state=still]").count()
            say("it arranged itself before all was measured" if still else "arranging")
            page.locator("[data-state=still]").wait_for()
            page.get_by_role("button", name="Show everything").click()
            for name, act in (("panned", _pan), ("zoomed", _zoom), ("dots under the mouse lit", _hover)):
                frames[name] = _frames(page, act, options.seconds)
            return frames


def fill(lore: Lore, memories: int, links: int) -> None:
    """Memories in groups of different sizes, half of them in trees, most links inside a group."""
    corpus, chance = Corpus(), random.Random(7)
    members: list[list[str]] = [[] for _ in range(GROUPS)]
    weights = [1 / (place + 1) ** 0.7 for place in range(GROUPS)]
    links -= _plant(lore, memories, members, (corpus, chance, weights))
    linked = [id for group in members for id in group]
    ties: set[tuple[str, str]] = set()
    while len(ties) < links:
        group = chance.choices(members, weights)[0]
        within = chance.random() < WITHIN_SHARE
        one, other = sorted(chance.sample(group if within and len(group) > 1 else linked, 2))
        ties.add((one, other))
    ordered = sorted(ties)
    for start in range(0, len(ordered), BATCH):
        lore.link([Tie(source=one, target=other) for one, other in ordered[start : start + BATCH]])


def _plant(
    lore: Lore, memories: int, members: list[list[str]], tools: tuple[Corpus, random.Random, list[float]]
) -> int:
    """Store the memories; returns the number of links that their trees have."""
    corpus, chance, weights = tools
    below = 0
    for start in range(0, memories, BATCH):
        drafts, groups = [], []
        for at in range(start, min(start + BATCH, memories)):
            lone = chance.random() < LONE_SHARE
            group = None if lone else chance.choices(members, weights)[0]
            parent = chance.choice(group) if group and chance.random() < TREE_SHARE else None
            kind = "fragment" if parent else "note"
            drafts.append(Draft(content=f"{at} {corpus.text()}", kind=kind, parent=parent, embed_now=False))
            groups.append(group)
            below += parent is not None
        for kept, group in zip(lore.remember_all(drafts), groups, strict=True):
            if group is not None:
                group.append(kept.memory.id)
    return below


@contextmanager
def window(gpu: bool) -> Iterator[Page]:
    """An empty page of a new browser."""
    with sync_playwright() as playwright:
        flags = FLAGS if gpu else [*FLAGS, *SOFTWARE]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        page.set_default_timeout(WAIT_MILLISECONDS)
        yield page
        browser.close()


def _frames(page: Page, act: Act, seconds: float) -> Frames:
    page.evaluate(PAINTED)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.evaluate(BEGIN)
    before = _busy(session)
    act(page, time.perf_counter() + seconds)
    times = page.evaluate(END)
    used = _busy(session) - before
    session.detach()
    return Frames(times, 1000 * used / max(1, len(times)))


def _busy(session: CDPSession) -> float:
    """Seconds of the processor that the page itself has used."""
    metrics = session.send("Performance.getMetrics")["metrics"]
    return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))


def _wait(page: Page, end: float) -> None:
    page.wait_for_timeout(1000 * (end - time.perf_counter()))


def _pan(page: Page, end: float) -> None:
    """Drag in circles."""
    page.mouse.move(WIDTH * 0.6, HEIGHT * 0.5)
    page.mouse.down()
    _circle(page, end, 180)
    page.mouse.up()


def _hover(page: Page, end: float) -> None:
    _circle(page, end, 120)


def _circle(page: Page, end: float, radius: float) -> None:
    turn = 0.0
    while time.perf_counter() < end:
        turn += 0.3
        page.mouse.move(
            WIDTH * 0.6 + radius * math.cos(turn), HEIGHT * 0.5 + radius * math.sin(turn), steps=4
        )


def _zoom(page: Page, end: float) -> None:
    """Turn the wheel there and back."""
    page.mouse.move(WIDTH * 0.6, HEIGHT * 0.5)
    turns = 0
    while time.perf_counter() < end:
        page.mouse.wheel(0, WHEEL if turns // WHEEL_TURNS % 2 else -WHEEL)
        page.wait_for_timeout(1000 * WHEEL_SECONDS)
        turns += 1


def _table(title: str, frames: dict[str, Frames]) -> str:
    rows: list[list[Cell]] = []
    base = statistics.median(next(iter(frames.values())).times)
    for name, (times, page) in frames.items():
        if len(times) < 2:
            rows.append([name, 0.0, None, None, None, page])
            continue
        cuts = statistics.quantiles(times, n=20, method="inclusive")
        rows.append([name, 1000 * len(times) / sum(times), cuts[P50], cuts[P95], cuts[P50] / base, page])
    return table(title, ["", "frames/s", "p50 ms", "p95 ms", "p50 / empty page", "page ms"], rows)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--links", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each measurement")
    parser.add_argument("--gpu", action="store_true", help="let Chromium use the graphics card")
    parser.add_argument("--json", type=Path, help="write all intervals to this file")
    return parser.parse_args()


if __name__ == "__main__":
    main()
