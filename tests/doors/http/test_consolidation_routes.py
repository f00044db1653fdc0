"""A page plans, begins and stops a consolidation, and hears how far it is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lore.engine.consolidate.phases import PHASES
from lore.model import Cause
from tests.doors.http.serving import Server, serving
from tests.doors.http.test_events import listening
from tests.doors.resident import until

PATH = "/api/v1/consolidation"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with serving(tmp_path) as server:
        for content in ("Deploys happen on Mondays.", "Deploys happen on Mondays!", "Tea is at four."):
            server.call("remember", {"draft": {"content": content, "kind": "fragment"}})
        yield server


def state(server: Server) -> Any:
    return server.client.get(PATH).json()


def test_a_plan_shows_each_phase_and_changes_nothing(server: Server) -> None:
    before = server.call("status").json()["last_write_at"]
    plan = server.client.post(f"{PATH}/plan").json()
    assert (plan["state"], plan["plan"]["applied"]) == ("planned", False)
    assert [one["phase"] for one in plan["plan"]["phases"]] == list(PHASES)
    assert server.call("status").json()["last_write_at"] == before
    assert state(server)["runs"] == []


def test_a_run_reports_its_progress_and_is_listed_afterwards(server: Server) -> None:
    with listening(server) as events:
        began = server.client.post(f"{PATH}/run")
        assert (began.status_code, began.json()["state"]) == (202, "running")
        heard: list[Any] = []
        while not heard or heard[-1]["state"] == "running":
            name, data = next(events)
            heard += [data] if name == "consolidation" else []
    assert heard[-1]["state"] == "done"
    after = state(server)
    assert (after["state"], after["report"]["applied"], len(after["runs"])) == ("done", True, 1)
    assert not after["busy"]


def test_one_phase_can_be_chosen_and_unknown_ones_are_refused(server: Server) -> None:
    phase = next(iter(PHASES))
    assert server.client.post(f"{PATH}/plan", json={"phases": [phase]}).json()["phases"] == [phase]
    wrongs: tuple[Any, ...] = ({"phases": ["x"]}, {"phases": "link"}, {"phase": [phase]}, [])
    for wrong in wrongs:
        answer = server.client.post(f"{PATH}/run", json=wrong)
        assert (answer.status_code, answer.json()["error"]["kind"]) == (400, "Invalid"), wrong
    assert server.client.post(f"{PATH}/stop").status_code == 400


def test_a_run_can_be_stopped_and_a_second_one_waits_for_its_end(server: Server) -> None:
    lore = server.served.lore
    with lore.store.transaction(lore.namespace, Cause(verb="test"), lore.clock()):  # the run waits for it
        assert server.client.post(f"{PATH}/run").status_code == 202
        second = server.client.post(f"{PATH}/run")
        assert (second.status_code, second.json()["error"]["kind"]) == (503, "Unavailable")
        assert server.client.post(f"{PATH}/stop").status_code == 202
    until(lambda: state(server)["state"] != "running")
    assert state(server)["state"] == "stopped"
    assert server.client.post(f"{PATH}/plan").json()["state"] == "planned"
