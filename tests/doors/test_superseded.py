"""What is outdated is found on request, and says what replaced it; what was distilled says who said it."""

from dataclasses import replace
from pathlib import Path

import pytest

from lore import Draft, Lore
from lore.model import SESSION, TURN, Cause, Filter, Tie
from tests.doors.command import Command
from tests.doors.test_consolidation_schedule import written


@pytest.fixture
def run(tmp_path: Path) -> Command:
    return Command(tmp_path / "data")


@pytest.fixture
def ports(lore: Lore) -> tuple[str, str]:
    """Two statements of which the newer has replaced the older; in the folder that `run` uses."""
    old = lore.remember(Draft(content="The ferry service listens on port 4000."))
    new = lore.remember(Draft(content="The ferry service listens on port 5000."))
    with lore.store.transaction(lore.namespace, Cause(verb="test"), lore.clock()) as writer:
        writer.put([replace(old, superseded_by=new.id, superseded_at=lore.clock())])
    return old.id, new.id


def test_the_past_is_searched_on_request_and_marked(run: Command, ports: tuple[str, str]) -> None:
    old, new = ports
    assert "port 4000" not in run("search", "ferry", "port").stdout
    shown = run("search", "ferry", "port", "--history").stdout.splitlines()
    [marked] = [number for number, line in enumerate(shown) if "replaced by" in line]
    assert shown[marked].split()[2] in new
    assert shown[marked].endswith("The ferry service listens on port 5000.")
    assert shown[marked - 1].split()[2] in old
    assert shown[marked + 1].strip() == "The ferry service listens on port 4000."


@pytest.mark.parametrize("format", ["ids", "title", "full"])
def test_a_program_is_told_what_replaced_it(run: Command, ports: tuple[str, str], format: str) -> None:
    old, new = ports
    hits = run.document("search", "ferry", "port", "--history", "--format", format)["hits"]
    told = {hit["memory"]["id"]: hit["memory"].get("superseded_by") for hit in hits}
    assert told == {old: new, new: None}


def test_reading_what_is_outdated_says_so(run: Command, ports: tuple[str, str]) -> None:
    old, new = ports
    text = run("read", old).stdout
    [said] = [line for line in text.splitlines() if line.startswith("replaced by")]
    assert said.split()[2] in new
    assert said.endswith("The ferry service listens on port 5000.")
    assert "\nsuperseded " in text
    assert "superseded" not in run("read", new).stdout
    assert run.document("read", old)["memory"]["superseded_by"] == new


def test_what_was_distilled_tells_what_was_said(run: Command, lore: Lore, tmp_path: Path) -> None:
    run("ingest", str(written(tmp_path, "ferry", 5)), "--source", "claude-code")
    turns = lore.select(Filter(kinds=frozenset({TURN})), 9)
    [session] = lore.select(Filter(kinds=frozenset({SESSION})), 9)
    known = lore.remember(Draft(content="The ferry service uses Postgres.", kind="fragment"))
    lore.link([Tie(source=known.id, target=turns[0].id, kind="relation", type="derived_from")])
    text = run("read", known.id).stdout
    [said_in] = [line for line in text.splitlines() if line.startswith("said in")]
    assert said_in.split()[2] in session.id
    assert f"  “user: {turns[0].content[:40]}" in text
    assert "derived_from" not in text
    lore.link([Tie(source=known.id, target=turn.id, kind="relation", type="derived_from") for turn in turns])
    text = run("read", known.id).stdout
    assert "\nturns      5, of which 3:\n" in text
    assert text.count("  “user: ") == 3
    assert "← derived_from" in run("read", turns[0].id).stdout
