"""A server with the store of the story, and a real browser that looks at it."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Error, Page, expect, sync_playwright

from tests.doors.http.serving import Server, serving
from tests.explorer.explorer import Explorer
from tests.explorer.story import write_story

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
).split()
WAIT_MILLISECONDS = 10_000
"""The longest wait for a condition; a test that passes waits far less."""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium; tests skip where there is none, and fail in CI.

    Its driver runs an event loop in this thread, so it ends with the package: other tests have their own.
    """
    if not CHROMIUM.exists():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"there is no browser at {CHROMIUM}")
    expect.set_options(timeout=WAIT_MILLISECONDS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the story. All tests share it: what a test changes, it has made before."""
    folder = tmp_path_factory.mktemp("story")
    write_story(folder)
    with serving(folder) as server:
        yield server


@pytest.fixture(scope="package")
def page(browser: Browser, server: Server) -> Iterator[Page]:
    """A page of a signed-in profile. All tests share it: a new page costs more than most of them."""
    context = browser.new_context(reduced_motion="reduce")
    context.set_default_timeout(WAIT_MILLISECONDS)
    address = f"http://127.0.0.1:{server.port}/explorer/enter?code={server.served.sessions.code()}"
    assert context.request.get(address).ok
    yield context.new_page()
    context.close()


@pytest.fixture
def explorer(page: Page, server: Server) -> Iterator[Explorer]:
    """The explorer as a new visitor has it; an error in its scripts fails the test."""
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 800})
    faults: list[str] = []

    def note(error: Error) -> None:
        faults.append(str(error))

    page.on("pageerror", note)
    yield Explorer(page, server)
    page.unroute_all(behavior="ignoreErrors")
    if page.url.startswith("http"):
        page.evaluate("localStorage.clear()")
    page.remove_listener("pageerror", note)
    page.goto("about:blank")
    assert not faults
