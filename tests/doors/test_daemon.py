"""The daemon: who may speak to it, that it is fair to all, and that its end loses nothing."""

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lore.doors.place import Place
from lore.doors.starting import asked, start, stop
from tests.doors.resident import SETTINGS, Agent, a_place, kill, pid_of, short_folder, until, writers_waiting


@pytest.fixture(autouse=True)
def hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def place() -> Iterator[Place]:
    with short_folder() as folder, a_place(folder) as place:
        start(place)
        yield place


def status(place: Place) -> dict[str, Any]:
    told = asked(place, "status")
    assert told is not None
    document: dict[str, Any] = json.loads(told["status"])
    return document


def messages(place: Place) -> list[int]:
    return [client["messages"] for client in status(place)["clients"]]


def refusal(place: Place, want: str, **fields: str) -> str:
    line, word, told = place.dial(want, fields)
    line.close()
    assert word == "refused"
    return f"{told['kind']}: {told['error']}"


def entity(name: str) -> dict[str, Any]:
    return {"entities": [{"name": name, "entityType": "thing", "observations": []}]}


def test_it_tells_what_it_is(place: Place) -> None:
    with Agent(place, "--namespace", "ann") as agent:
        agent.greet().call("create_entities", **entity("a thing"))
        told = status(place)
    assert told["state"] == "idle"
    assert told["mode"] == "local"
    assert told["pid"] == pid_of(place)
    assert told["store"] == os.path.join(place.home, "memory.db")
    assert told["socket"] == place.socket
    [client] = told["clients"]
    assert client["speaks"] == "mcp"
    assert client["surfaces"] == "official"
    assert client["namespace"] == "ann"
    assert client["folder"] == os.getcwd()
    assert client["pid"] == agent.process.pid
    assert client["messages"] == 3
    until(lambda: status(place)["clients"] == [])


def test_the_file_for_other_programs(place: Place) -> None:
    told = json.loads(Path(place.status).read_text())
    assert told.keys() == {"state", "pid", "updated_at", "mode"}
    assert (told["state"], told["pid"], told["mode"]) == ("idle", pid_of(place), "local")


def test_its_files_are_its_owners_alone(place: Place) -> None:
    modes = {path.name: path.stat().st_mode & 0o777 for path in Path(place.home).iterdir()}
    assert {name: mode for name, mode in modes.items() if mode & 0o077} == {}
    assert "daemon.sock" in modes


def test_a_wish_that_it_does_not_know(place: Place) -> None:
    assert "unknown wish 'dance'; known: mcp" in refusal(place, "dance")


def test_settings_that_all_clients_share_cannot_differ(place: Place) -> None:
    said = refusal(place, "mcp", LORE_EMBEDDING_MODEL="gte-small")
    assert "runs with embedding_model 'hash', this client wants 'gte-small'" in said
    assert "lore daemon restart" in said


def test_a_stranger_does_not_disturb_it(place: Place) -> None:
    for noise in (b"GET / HTTP/1.1\r\n\r\n", b"lore/9 mcp\0\n", b"\0\n", b"\xff" * 100_000):
        line, _ = place._line()
        line.sendall(noise)
        line.close()
    assert asked(place) is not None


def test_parallel_calls_are_all_kept(place: Place) -> None:
    with Agent(place) as agent:
        agent.greet()
        calls = {agent.begin_call("create_entities", **entity(f"thing {n}")) for n in range(50)}
        answers = {message["id"]: message for message in (agent.hear() for _ in calls)}
        assert answers.keys() == calls
        assert not [answer for answer in answers.values() if answer["result"].get("isError")]
        assert len(agent.call("read_graph")["entities"]) == 50


def test_one_that_floods_it_does_not_keep_the_others_waiting(place: Place) -> None:
    with Agent(place) as busy, Agent(place) as other:
        busy.greet()
        other.greet()
        with writers_waiting(place):
            calls = [busy.begin_call("create_entities", **entity(f"thing {n}")) for n in range(100)]
            until(lambda: max(messages(place)) == 2 + len(calls))
            assert other.call("search_nodes", query="nothing")["entities"] == []
        assert {busy.hear()["id"] for _ in calls} == set(calls)


@pytest.mark.parametrize("how", ["signal", "request"])
def test_what_has_begun_is_finished_before_the_end(place: Place, how: str) -> None:
    with Agent(place) as agent:
        agent.greet()
        daemon = pid_of(place)
        with writers_waiting(place):
            call = agent.begin_call("create_entities", **entity("a thing"))
            until(lambda: messages(place) == [3])
            if how == "signal":
                kill(daemon, signal.SIGTERM)
            else:
                assert asked(place, "stop") is not None
            until(lambda: asked(place) is None)
        answer = agent.hear()
        assert answer["id"] == call
        assert not answer["result"].get("isError")
        until(lambda: not Path(place.pid).exists())
        left = {path.name for path in Path(place.home).iterdir()}
        assert not left & {"daemon.sock", "daemon.pid", "daemon.status"}
        until(lambda: not Path(place.home, "memory.db-wal").exists())
        assert [entity["name"] for entity in agent.call("read_graph")["entities"]] == ["a thing"]


def test_it_gives_memory_back_when_idle_and_warms_up_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LORE_IDLE_MINUTES", "0.001")
    monkeypatch.setenv("LORE_EMBEDDING_MODEL", "gte-small")
    with (
        short_folder() as folder,
        a_place(folder) as place,
        Agent(place, LORE_SURFACES="typed", LORE_EMBEDDING_MODEL="gte-small") as agent,
    ):
        agent.greet().call("memory_save", content="The ferry leaves at noon")
        until(lambda: status(place)["model"] != "ready")
        assert agent.call("memory_recall", query="when does the ferry leave")["total_found"] == 1
        assert "released" in Path(place.log).read_text()
    assert not stop(Place({}, str(folder)))
