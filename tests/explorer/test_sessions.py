"""Sessions: found by text, project and day; the transcript with what was learnt; forgetting many at once."""

import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest
from playwright.sync_api import expect

from lore.engine.consolidation_run import ConsolidationRun
from lore.model import Cause
from lore.store.records import DigestProgress
from tests.doors.http.serving import Server
from tests.explorer.explorer import Explorer
from tests.explorer.talk import Said, hold
from tests.explorer.test_every_page import FOREIGN, HOSTILE

DAY_SECONDS = 86_400
MIDDLE = "The line in the middle of the file."
POOL = (
    Said("user", "The connection pool runs empty at 400 orders a second. Find out why."),
    Said("Bash", "grep -rn pool_size src", "src/db.py:14: pool_size=20"),
    Said("Read", "src/db.py", "a line of code\n" * 1500 + MIDDLE + "\na line of code" * 1500),
    Said("Bash", "make load-test", "connection refused", True),
    Said("assistant", "Each order holds a connection while the mail is sent."),
    Said("user", "I prefer to see the numbers of a load test as a table."),
)


@pytest.fixture(scope="module")
def folder(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a project with a conversation that was digested."""
    folder = tmp_path_factory.mktemp("pool")
    hold(server.served.lore, folder, "pool", POOL, time.time() - DAY_SECONDS)
    ConsolidationRun(server.served.lore).run(["digest"])
    return folder


def test_a_conversation_is_found_by_what_was_said_and_shows_what_was_learnt(
    explorer: Explorer, folder: Path
) -> None:
    page = explorer.open("sessions")
    page.get_by_label("What was it about?").fill("numbers of a load test as a table")
    found = page.get_by_role("link", name="The connection pool runs empty")
    expect(found.locator("mark").first).to_be_visible()
    expect(found).to_contain_text("6 messages")
    found.click()
    chosen = page.locator(".said-turn.chosen")
    expect(chosen).to_contain_text("I prefer to see the numbers")
    turn = page.locator(".turn").filter(has=chosen)
    turn.get_by_role("complementary", name="Learnt from this").get_by_role("link").first.click()
    expect(page.get_by_role("region", name="Where it comes from")).to_contain_text(
        "I prefer to see the numbers"
    )


def test_calls_of_tools_are_folded_and_long_outputs_open(explorer: Explorer, folder: Path) -> None:
    page = explorer.open("sessions/pool")
    tools = page.locator("details")
    expect(tools).to_have_count(1)
    expect(tools.locator("summary")).to_have_text("3 tool calls: Bash, Read1 failed")
    expect(page.get_by_text("pool_size=20")).to_be_hidden()
    tools.locator("summary").click()
    expect(page.get_by_text("pool_size=20")).to_be_visible()
    expect(tools).not_to_contain_text(MIDDLE)
    page.get_by_role("button", name="Show all").click()
    expect(tools).to_contain_text(MIDDLE)


def test_filters_leave_the_sessions_of_a_project_and_a_day(explorer: Explorer, tmp_path: Path) -> None:
    at = datetime(2024, 5, 17, 12).timestamp()
    hold(explorer.server.served.lore, tmp_path, "crane", [Said("user", "Is crane 3 free on Monday?")], at)
    page = explorer.open("sessions")
    page.get_by_role("button", name="Project: Any").click()
    page.get_by_role("radio", name=f"{tmp_path.name}/project").click()
    rows = page.get_by_role("region", name="Sessions that fit").get_by_role("link")
    expect(rows).to_have_count(1)
    page.get_by_label("Day").fill("2024-05-18")
    expect(page.get_by_text("No session fits")).to_be_visible()
    page.get_by_label("Day").fill("2024-05-17")
    expect(rows).to_contain_text(["Is crane 3 free"])


def test_a_session_and_a_day_are_counted_forgotten_and_brought_back(
    explorer: Explorer, tmp_path: Path
) -> None:
    at = datetime(2023, 3, 4, 12).timestamp()
    talk = [Said("user", "The old crane is sold."), Said("assistant", "Noted.")]
    hold(explorer.server.served.lore, tmp_path, "sold", talk, at)
    page = explorer.open("sessions/sold")
    page.get_by_role("button", name="Forget…").click()
    page.get_by_role("button", name="Forget 3 memories").click()
    expect(explorer.toast("3 memories forgotten")).to_be_visible()
    where = {"kinds": ["session"], "sessions": ["sold"]}
    assert explorer.call("browse", {"where": where})["memories"] == []
    explorer.toast("3 memories forgotten").get_by_role("button", name="Undo").click()
    expect(explorer.toast("Taken back")).to_be_visible()

    page.get_by_role("button", name="Forget…").click()
    page.get_by_role("button", name="A day").click()
    page.get_by_role("dialog").get_by_label("Day").fill("2023-03-04")
    page.get_by_role("button", name="Forget 3 memories").click()
    explorer.toast("3 memories forgotten").get_by_role("button", name="Undo").click()
    expect(explorer.toast("Taken back").last).to_be_visible()
    page.goto(f"{explorer.address}sessions?day=2023-03-04")
    expect(page.get_by_role("link", name="The old crane is sold")).to_be_visible()


def test_a_conversation_that_could_not_be_digested_is_tried_again(explorer: Explorer, tmp_path: Path) -> None:
    lore = explorer.server.served.lore
    hold(lore, tmp_path, "peak", [Said("user", "Sum up the winter peak.")], time.time() - 7200)
    staged = next(one for one in lore.staged() if one.session.session == "peak")
    failure = DigestProgress(session=staged.session.id, attempts=5, error="the reply is cut off")
    with lore.store.transaction(lore.namespace, Cause(verb="test"), time.time()) as writer:
        writer.put_records([replace(failure, retry_at=time.time() + 900)])
    page = explorer.open("sessions")
    waiting = page.get_by_role("region", name="Waiting to be digested")
    expect(waiting).to_contain_text("the reply is cut off")
    expect(waiting).to_contain_text("no longer tries by itself")
    waiting.get_by_role("button", name="Try again").click()
    expect(waiting.get_by_text("the reply is cut off")).to_have_count(0)
    expect(waiting).to_contain_text("Sum up the winter peak")


def test_hostile_texts_of_a_conversation_stay_texts(explorer: Explorer, tmp_path: Path) -> None:
    talk = [Said("user", HOSTILE), Said(HOSTILE, HOSTILE, HOSTILE, True), Said("assistant", HOSTILE)]
    hold(explorer.server.served.lore, tmp_path, "hostile", talk, time.time() - DAY_SECONDS)
    page = explorer.open("sessions/hostile")
    page.locator("summary").click()
    expect(page.locator(".turn-text")).to_have_count(3)
    for text in page.locator(".turn-text").all():
        expect(text).to_contain_text(HOSTILE)
    expect(page.locator(FOREIGN)).to_have_count(0)
