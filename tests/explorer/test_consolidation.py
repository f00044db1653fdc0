"""Consolidation: its plan changes nothing, a run shows its progress live and can be stopped."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import APIResponse, Route, expect

from lore.engine.consolidate.phases import PHASES
from lore.engine.consolidate.plan import Plan, View
from tests.doors.resident import SECONDS, until
from tests.explorer.explorer import Explorer
from tests.explorer.talk import Said, hold


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """While it is not set, the phase `link` waits in its third step of ten."""
    gate = threading.Event()
    link = PHASES["link"]

    def waiting(view: View) -> Iterator[Plan]:
        view.progress("link", 3, 10)
        gate.wait(SECONDS)
        view.progress("link", 4, 10)
        yield from link(view)

    monkeypatch.setitem(PHASES, "link", waiting)
    yield gate
    gate.set()


def waiting_sessions(explorer: Explorer) -> list[str]:
    return [one["session"]["session"] for one in explorer.call("staged")]


def test_a_plan_says_what_a_run_would_do_and_one_phase_of_it_runs(explorer: Explorer, tmp_path: Path) -> None:
    talk = [Said("user", "I prefer to read reports on paper."), Said("assistant", "I will print them.")]
    hold(explorer.server.served.lore, tmp_path, "paper", talk, time.time() - 86_400)
    page = explorer.open("consolidation")
    page.get_by_role("button", name="plan", exact=False).click()
    plan = page.get_by_role("region", name="What a run would do")
    expect(plan).to_contain_text("“prefer, read, reports, paper”: 1 thing worth knowing")
    assert "paper" in waiting_sessions(explorer)
    plan.get_by_role("button", name="Only this now: Learn from conversations").click()
    expect(page.get_by_role("region", name="Now")).to_contain_text("Done in")
    expect(page.get_by_role("region", name="Past runs").locator("li").first).to_contain_text("learn from")
    assert "paper" not in waiting_sessions(explorer)


def test_a_run_shows_how_far_it_is_and_stops(explorer: Explorer, gate: threading.Event) -> None:
    page = explorer.open("consolidation")
    page.get_by_role("button", name="Run now").click()
    step = page.locator("[aria-current=step]")
    expect(step).to_contain_text("Link what belongs together")
    expect(step).to_contain_text("3 of 10")
    expect(page.locator(".phase.done")).to_have_count(3)
    page.get_by_role("button", name="Stop").click()
    gate.set()
    expect(page.get_by_text("It was stopped at “Link what belongs together”")).to_be_visible()
    expect(page.get_by_role("button", name="Run now")).to_be_enabled()


def test_an_answer_that_its_events_have_overtaken_changes_nothing(
    explorer: Explorer, gate: threading.Event
) -> None:
    page, held = explorer.open("consolidation"), list[tuple[Route, APIResponse]]()
    page.route("**/consolidation/run", lambda route: held.append((route, route.fetch())))
    page.get_by_role("button", name="Run now").click()
    expect(page.locator("[aria-current=step]")).to_contain_text("3 of 10")
    [(route, answer)] = held
    with page.expect_response("**/consolidation/run") as response:
        route.fulfill(response=answer)
    assert response.value.json()["phase"] == ""
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    expect(page.locator("[aria-current=step]")).to_contain_text("3 of 10")


def test_a_page_that_connects_late_shows_how_far_a_run_is(explorer: Explorer, gate: threading.Event) -> None:
    held = list[Route]()
    explorer.page.route("**/api/v1/events*", lambda route: held.append(route))
    page = explorer.open("consolidation")
    page.get_by_role("button", name="Run now").click()
    until(lambda: explorer.server.client.get("/api/v1/consolidation").json()["phase"] == "link")
    held[0].continue_()
    expect(page.locator("[aria-current=step]")).to_contain_text("3 of 10")


def test_a_run_that_another_window_began_appears(explorer: Explorer, gate: threading.Event) -> None:
    page = explorer.open("consolidation")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    answer = explorer.server.client.post("/api/v1/consolidation/run")
    assert answer.status_code == 202
    expect(page.get_by_role("region", name="It is at work")).to_be_visible()
    gate.set()
    expect(page.get_by_role("region", name="Now")).to_contain_text("Done in")
