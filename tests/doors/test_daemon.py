"""The daemon: who may speak to it, that it is fair to all, and that its end loses nothing."""

import json
import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lore import Draft
from lore.config import Config
from lore.connecting import wire
from lore.doors.endpoint import Endpoint
from lore.doors.locking import held
from lore.doors.starting import asked, start, stop
from lore.embed.hashing import HashEmbedder
from tests.doors.command import Command
from tests.doors.resident import (
    SETTINGS,
    Agent,
    an_endpoint,
    kill,
    pid_of,
    short_folder,
    until,
    writers_waiting,
)

NOBODY = 2**22 + 1
"""The number of no process: more than systems give."""


@pytest.fixture(autouse=True)
def hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with short_folder() as folder, an_endpoint(folder) as endpoint:
        start(endpoint)
        yield endpoint


def status(endpoint: Endpoint) -> dict[str, Any]:
    told = asked(endpoint, "status")
    assert told is not None
    document: dict[str, Any] = json.loads(told["status"])
    return document


def messages(endpoint: Endpoint) -> list[int]:
    return [client["messages"] for client in status(endpoint)["clients"]]


def refusal(endpoint: Endpoint, want: str, **fields: str) -> str:
    line, word, told = endpoint.dial(want, fields)
    line.close()
    assert word == "refused"
    return f"{told['kind']}: {told['error']}"


def entity(name: str) -> dict[str, Any]:
    return {"entities": [{"name": name, "entityType": "thing", "observations": []}]}


def test_it_tells_what_it_is(endpoint: Endpoint) -> None:
    with Agent(endpoint, "--namespace", "ann") as agent:
        agent.greet().call("create_entities", **entity("a thing"))
        told = status(endpoint)
    assert told["state"] == "idle"
    assert told["mode"] == "local"
    assert told["pid"] == pid_of(endpoint)
    assert told["store"] == os.path.join(endpoint.home, "memory.db")
    assert told["socket"] == endpoint.socket
    [client] = told["clients"]
    assert client["speaks"] == "mcp"
    assert client["surfaces"] == "official"
    assert client["namespace"] == "ann"
    assert client["folder"] == os.getcwd()
    assert client["pid"] == agent.process.pid
    assert client["messages"] == 3
    until(lambda: status(endpoint)["clients"] == [])


def test_the_file_for_other_programs(endpoint: Endpoint) -> None:
    told = json.loads(Path(endpoint.status).read_text())
    assert told.keys() == {"state", "pid", "updated_at", "mode"}
    assert (told["state"], told["pid"], told["mode"]) == ("idle", pid_of(endpoint), "local")


def test_it_says_that_it_embeds_and_how_much_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A backlog whose first batch cannot be written yet."""
    monkeypatch.setenv("LORE_EMBEDDING_MODEL", "hash")
    with short_folder() as folder, an_endpoint(folder) as endpoint:
        lore = wire(Config(data_dir=folder), embedder=HashEmbedder())
        lore.remember_all([Draft(content=f"memory {number}") for number in range(300)])
        lore.close()
        run = Command(folder)
        with writers_waiting(endpoint):
            start(endpoint)
            file = Path(endpoint.status)
            told = until(lambda: json.loads(file.read_text()).get("embedding"))
            assert told == {"left": 300, "seconds_left": None}
            assert json.loads(file.read_text())["state"] == "embedding"
            assert status(endpoint)["embedding"] == told
            assert run.document("status")["daemon"]["embedding"] == told
            assert re.search(
                r"^daemon +running \(PID: \d+, embedding: 300 left\)$", run("status").stdout, re.M
            )
            assert re.search(r"^embedding +300 left$", run("daemon", "status").stdout, re.M)
        until(lambda: status(endpoint)["state"] == "idle")
        assert json.loads(file.read_text()).keys() == {"state", "pid", "updated_at", "mode"}
        log = Path(endpoint.log).read_text()
        assert "embedding 300 memories" in log
        assert "embedded 300 memories in" in log


def test_its_files_are_its_owners_alone(endpoint: Endpoint) -> None:
    modes = {path.name: path.stat().st_mode & 0o777 for path in Path(endpoint.home).iterdir()}
    assert {name: mode for name, mode in modes.items() if mode & 0o077} == {}
    assert "daemon.sock" in modes


def test_a_wish_that_it_does_not_know(endpoint: Endpoint) -> None:
    assert "unknown wish 'dance'; known: mcp" in refusal(endpoint, "dance")


def test_settings_that_all_clients_share_cannot_differ(endpoint: Endpoint) -> None:
    said = refusal(endpoint, "mcp", LORE_EMBEDDING_MODEL="gte-small")
    assert "runs with embedding_model 'hash', this client wants 'gte-small'" in said
    assert "lore daemon restart" in said


def test_a_stranger_does_not_disturb_it(endpoint: Endpoint) -> None:
    for noise in (b"GET / HTTP/1.1\r\n\r\n", b"lore/9 mcp\0\n", b"\0\n", b"\xff" * 100_000):
        line, _ = endpoint._line()
        line.sendall(noise)
        line.close()
    assert asked(endpoint) is not None


def test_parallel_calls_are_all_kept(endpoint: Endpoint) -> None:
    with Agent(endpoint) as agent:
        agent.greet()
        calls = {agent.begin_call("create_entities", **entity(f"thing {n}")) for n in range(50)}
        answers = {message["id"]: message for message in (agent.hear() for _ in calls)}
        assert answers.keys() == calls
        assert not [answer for answer in answers.values() if answer["result"].get("isError")]
        assert len(agent.call("read_graph")["entities"]) == 50


def test_one_that_floods_it_does_not_keep_the_others_waiting(endpoint: Endpoint) -> None:
    with Agent(endpoint) as busy, Agent(endpoint) as other:
        busy.greet()
        other.greet()
        with writers_waiting(endpoint):
            calls = [busy.begin_call("create_entities", **entity(f"thing {n}")) for n in range(100)]
            until(lambda: max(messages(endpoint)) == 2 + len(calls))
            assert other.call("search_nodes", query="nothing")["entities"] == []
        assert {busy.hear()["id"] for _ in calls} == set(calls)


@pytest.mark.parametrize("how", ["signal", "request"])
def test_what_has_begun_is_finished_before_the_end(endpoint: Endpoint, how: str) -> None:
    with Agent(endpoint) as agent:
        agent.greet()
        daemon = pid_of(endpoint)
        with writers_waiting(endpoint):
            call = agent.begin_call("create_entities", **entity("a thing"))
            until(lambda: messages(endpoint) == [3])
            if how == "signal":
                kill(daemon, signal.SIGTERM)
            else:
                assert asked(endpoint, "stop") is not None
            until(lambda: asked(endpoint) is None)
        answer = agent.hear()
        assert answer["id"] == call
        assert not answer["result"].get("isError")
        until(lambda: not Path(endpoint.pid).exists())
        left = {path.name for path in Path(endpoint.home).iterdir()}
        assert not left & {"daemon.sock", "daemon.pid", "daemon.status"}
        until(lambda: not Path(endpoint.home, "memory.db-wal").exists())
        assert [entity["name"] for entity in agent.call("read_graph")["entities"]] == ["a thing"]


def test_who_stops_it_does_not_wait_for_the_one_that_follows(endpoint: Endpoint) -> None:
    """It began, because somebody needs it, before the end of the first was noticed."""
    with Agent(endpoint) as agent:
        agent.greet()
        with writers_waiting(endpoint):
            agent.begin_call("create_entities", **entity("a thing"))
            until(lambda: messages(endpoint) == [3])
            Path(endpoint.pid).write_text(str(NOBODY))
            assert stop(endpoint)
            assert held(endpoint.lock)
        until(lambda: not held(endpoint.lock))


@pytest.fixture
def drowsy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A daemon that is idle after a moment."""
    monkeypatch.setenv("LORE_IDLE_MINUTES", "0.001")


def dozes(endpoint: Endpoint) -> bool:
    """The process is the same, but it is another program."""
    told = asked(endpoint)
    return told is not None and b"lore.doors.idle" in Path(f"/proc/{told['pid']}/cmdline").read_bytes()


def rss_mb(pid: int) -> float:
    [line] = [line for line in Path(f"/proc/{pid}/status").read_text().splitlines() if "VmRSS" in line]
    return int(line.split()[1]) / 1000


@pytest.mark.usefixtures("drowsy")
@pytest.mark.parametrize("folder", ["", "long" * 30])
def test_it_dozes_when_idle_and_wakes_when_it_is_asked(folder: str) -> None:
    """The conversation goes on, the process is the same, and it takes little memory meanwhile."""
    with short_folder() as short, an_endpoint(short / folder) as endpoint, Agent(endpoint) as agent:
        agent.greet().call("create_entities", **entity("a thing"))
        process = pid_of(endpoint)
        for _ in range(2):
            until(lambda: dozes(endpoint))
            assert pid_of(endpoint) == process
            assert rss_mb(process) < 30
            told = status(endpoint)
            assert (told["pid"], told["state"], told["memories"], told["clients"]) == (process, "idle", 1, [])
            assert json.loads(Path(endpoint.status).read_text())["pid"] == process
            assert [entity["name"] for entity in agent.call("read_graph")["entities"]] == ["a thing"]
            assert pid_of(endpoint) == process


@pytest.mark.usefixtures("drowsy")
@pytest.mark.parametrize("how", ["signal", "request"])
def test_a_dozing_daemon_ends_when_it_is_told_to(how: str) -> None:
    with short_folder() as folder, an_endpoint(folder) as endpoint:
        start(endpoint)
        until(lambda: dozes(endpoint))
        if how == "signal":
            kill(pid_of(endpoint), signal.SIGTERM)
        else:
            assert stop(endpoint)
        until(lambda: asked(endpoint) is None)
        until(lambda: not Path(endpoint.pid).exists())
        assert {path.name for path in folder.iterdir()} & {"daemon.sock", "daemon.status"} == set()


@pytest.mark.usefixtures("drowsy")
def test_it_does_not_doze_while_somebody_listens_but_gives_memory_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LORE_EMBEDDING_MODEL", "gte-small")
    model = {"LORE_EMBEDDING_MODEL": "gte-small"}
    with short_folder() as folder, an_endpoint(folder) as endpoint, Agent(endpoint, **model) as agent:
        uri = agent.greet().ask("resources/list")["result"]["resources"][0]["uri"]
        assert "result" in agent.ask("resources/subscribe", {"uri": uri})
        agent.call("create_entities", **entity("a ferry"))
        until(lambda: "released" in Path(endpoint.log).read_text())
        assert not dozes(endpoint)
        assert len(agent.call("search_nodes", query="ferry")["entities"]) == 1
