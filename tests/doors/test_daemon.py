"""The daemon: who may speak to it, that it is fair to all, and that its end loses nothing."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from lore import Draft
from lore.config import Config
from lore.connecting import wire
from lore.doors.endpoint import Endpoint
from lore.doors.starting import command, ping, start, stop
from lore.embed.hashing import HashEmbedder
from lore.filelock import is_held
from tests.doors.command import Command
from tests.doors.resident import (
    SECONDS,
    SETTINGS,
    Agent,
    an_endpoint,
    entity,
    kill,
    messages,
    pid_of,
    short_folder,
    status,
    until,
    writers_waiting,
)

NOBODY = 2**22 + 1
"""The number of no process: more than systems give."""


pytestmark = pytest.mark.usefixtures("hashed")


@pytest.fixture
def endpoint(shared: Endpoint) -> Endpoint:
    """The endpoint of the daemon that tests share."""
    return shared


def refusal(endpoint: Endpoint, want: str, **fields: str) -> str:
    line, word, reply = endpoint.dial(want, fields)
    line.close()
    assert word == "refused"
    return f"{reply['kind']}: {reply['error']}"


def test_the_status_lists_the_daemon_and_its_clients(endpoint: Endpoint) -> None:
    with Agent(endpoint, "--namespace", "ann") as agent:
        agent.greet().call("create_entities", **entity("a thing"))
        document = status(endpoint)
    assert document["state"] == "idle"
    assert document["mode"] == "local"
    assert document["pid"] == pid_of(endpoint)
    assert document["store"] == os.path.join(endpoint.home, "memory.db")
    assert document["socket"] == endpoint.socket
    [client] = [client for client in document["clients"] if client["pid"] == agent.process.pid]
    assert client["speaks"] == "mcp"
    assert client["surfaces"] == "official"
    assert client["namespace"] == "ann"
    assert client["folder"] == os.getcwd()
    assert client["messages"] == 3
    until(lambda: status(endpoint)["clients"] == [])


def test_the_status_file_has_state_pid_time_and_mode(endpoint: Endpoint) -> None:
    document = json.loads(Path(endpoint.status).read_text())
    assert document.keys() == {"state", "pid", "updated_at", "mode"}
    assert (document["state"], document["pid"], document["mode"]) == ("idle", pid_of(endpoint), "local")


def test_the_status_counts_the_memories_still_to_embed() -> None:
    """A backlog whose first batch cannot be written yet."""
    with short_folder() as folder, an_endpoint(folder) as endpoint:
        lore = wire(Config(data_dir=folder), embedder=HashEmbedder())
        lore.remember_all([Draft(content=f"memory {number}") for number in range(300)])
        lore.close()
        run = Command(folder)
        with writers_waiting(endpoint):
            start(endpoint)
            file = Path(endpoint.status)
            progress = until(lambda: json.loads(file.read_text()).get("embedding"))
            assert progress == {"left": 300, "seconds_left": None}
            assert json.loads(file.read_text())["state"] == "embedding"
            assert status(endpoint)["embedding"] == progress
            assert run.document("status")["daemon"]["embedding"] == progress
            assert re.search(
                r"^daemon +running \(PID: \d+, embedding: 300 left\)$", run("status").stdout, re.M
            )
            assert re.search(r"^embedding +300 left$", run("daemon", "status").stdout, re.M)
        until(lambda: status(endpoint)["state"] == "idle")
        assert json.loads(file.read_text()).keys() == {"state", "pid", "updated_at", "mode"}
        log = Path(endpoint.log).read_text()
        assert "embedding 300 memories" in log
        assert "embedded 300 memories in" in log


@pytest.mark.parametrize(
    ("words", "state"),
    [(["consolidate"], "consolidating"), (["ingest", "chat.jsonl", "--source", "claude-code"], "ingesting")],
)
def test_the_status_shows_the_work_of_a_command_until_it_ends_even_killed(
    endpoint: Endpoint, words: list[str], state: str, tmp_path: Path
) -> None:
    (tmp_path / "chat.jsonl").write_text(
        json.dumps({"message": {"role": "user", "content": "Hello."}}) + "\n"
    )
    run = Command(Path(endpoint.home))
    with writers_waiting(endpoint):
        with run.start(*words, cwd=tmp_path, stdout=subprocess.DEVNULL) as process:
            try:
                until(lambda: json.loads(Path(endpoint.status).read_text())["state"] == state)
                assert f"state: {state}" in run("daemon", "status").stdout
                [client] = [one for one in status(endpoint)["clients"] if one["speaks"] == "activity"]
                assert (client["pid"], client["folder"]) == (process.pid, str(tmp_path))
            finally:
                process.kill()
        until(lambda: status(endpoint)["state"] == "idle")


def test_an_unknown_activity_is_refused_with_the_known_ones(endpoint: Endpoint) -> None:
    reason = refusal(endpoint, "activity", state="dancing", **SETTINGS)
    assert reason == "Invalid: unknown state 'dancing'; known: ingesting, consolidating, syncing"


def test_only_the_owner_can_read_the_daemons_files(endpoint: Endpoint) -> None:
    modes = {path.name: path.stat().st_mode & 0o777 for path in Path(endpoint.home).iterdir()}
    assert {name: mode for name, mode in modes.items() if mode & 0o077} == {}
    assert "daemon.sock" in modes


def test_an_unknown_request_is_refused_with_the_known_ones(endpoint: Endpoint) -> None:
    assert "unknown request 'dance'; known: mcp" in refusal(endpoint, "dance")


def test_a_client_with_another_embedding_model_is_refused(endpoint: Endpoint) -> None:
    reason = refusal(endpoint, "mcp", LORE_EMBEDDING_MODEL="gte-small")
    assert "runs with embedding_model 'hash', this client wants 'gte-small'" in reason
    assert "lore daemon restart" in reason


def test_bytes_of_another_protocol_do_not_disturb_the_daemon(endpoint: Endpoint) -> None:
    for noise in (b"GET / HTTP/1.1\r\n\r\n", b"lore/9 mcp\0\n", b"\0\n", b"\xff" * 100_000):
        line, _ = endpoint._connect()
        line.sendall(noise)
        line.close()
    assert ping(endpoint) is not None


def test_entities_of_parallel_calls_are_all_kept(endpoint: Endpoint) -> None:
    with Agent(endpoint) as agent:
        agent.greet()
        calls = {agent.begin_call("create_entities", **entity(f"thing {n}")) for n in range(50)}
        answers = {message["id"]: message for message in (agent.hear() for _ in calls)}
        assert answers.keys() == calls
        assert not [answer for answer in answers.values() if answer["result"].get("isError")]
        assert len(agent.call("read_graph")["entities"]) == 50


def test_a_client_that_floods_the_daemon_does_not_delay_other_clients(endpoint: Endpoint) -> None:
    with Agent(endpoint) as busy, Agent(endpoint) as other:
        busy.greet()
        other.greet()
        with writers_waiting(endpoint):
            calls = [busy.begin_call("create_entities", **entity(f"thing {n}")) for n in range(100)]
            until(lambda: messages(endpoint, busy) == 2 + len(calls))
            assert other.call("search_nodes", query="nothing")["entities"] == []
        assert {busy.hear()["id"] for _ in calls} == set(calls)


@pytest.mark.parametrize("how", ["signal", "request"])
def test_a_daemon_that_is_stopped_finishes_the_calls_it_has_begun(endpoint: Endpoint, how: str) -> None:
    with Agent(endpoint) as agent:
        agent.greet()
        daemon = pid_of(endpoint)
        with writers_waiting(endpoint):
            call = agent.begin_call("create_entities", **entity("a thing"))
            until(lambda: messages(endpoint, agent) == 3)
            if how == "signal":
                kill(daemon, signal.SIGTERM)
            else:
                assert ping(endpoint, "stop") is not None
            until(lambda: ping(endpoint) is None)
        answer = agent.hear()
        assert answer["id"] == call
        assert not answer["result"].get("isError")
        until(lambda: not Path(endpoint.pid).exists())
        left = {path.name for path in Path(endpoint.home).iterdir()}
        assert not left & {"daemon.sock", "daemon.pid", "daemon.status"}
        until(lambda: not Path(endpoint.home, "memory.db-wal").exists())
        assert [entity["name"] for entity in agent.call("read_graph")["entities"]] == ["a thing"]


def test_stopping_a_daemon_does_not_wait_for_its_successor(endpoint: Endpoint) -> None:
    """It began, because somebody needs it, before the end of the first was noticed."""
    with Agent(endpoint) as agent:
        agent.greet()
        with writers_waiting(endpoint):
            agent.begin_call("create_entities", **entity("a thing"))
            until(lambda: messages(endpoint, agent) == 3)
            Path(endpoint.pid).write_text(str(NOBODY))
            assert stop(endpoint)
            assert is_held(endpoint.lock)
        until(lambda: not is_held(endpoint.lock))


@pytest.fixture
def short_idle_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LORE_IDLE_MINUTES", "0.001")


@pytest.mark.usefixtures("short_idle_time")
def test_an_unused_daemon_exits_and_the_next_call_of_its_agent_starts_another() -> None:
    """Here one with a port instead of a socket: its file goes too."""
    with short_folder() as folder, an_endpoint(folder / ("long" * 30)) as endpoint, Agent(endpoint) as agent:
        agent.greet().call("create_entities", **entity("a thing"))
        until(lambda: not is_held(endpoint.lock))
        left = {path.name for path in Path(endpoint.home).iterdir()}
        assert left & {"daemon.port", "daemon.pid", "daemon.status"} == set()
        assert [entity["name"] for entity in agent.call("read_graph")["entities"]] == ["a thing"]
        assert "INFO nobody has used the daemon for 0.001 minutes" in Path(endpoint.log).read_text()


@pytest.mark.usefixtures("short_idle_time")
@pytest.mark.parametrize("options", [["--quietly"], ["--quietly", "--on-demand", "--stay"]])
def test_a_daemon_that_no_client_started_or_that_shall_stay_stays_when_it_is_unused(
    options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a service, in a terminal, or for a tray; nobody would start it again."""
    monkeypatch.setenv("LORE_EMBEDDING_MODEL", "gte-small")
    with short_folder() as folder, an_endpoint(folder) as endpoint:
        process = subprocess.Popen([*command(endpoint), *options])
        until(lambda: Path(endpoint.log).exists() and "released" in Path(endpoint.log).read_text())
        assert pid_of(endpoint) == process.pid
        assert stop(endpoint)
        assert process.wait(SECONDS) == 0


@pytest.mark.usefixtures("short_idle_time")
def test_a_daemon_stays_while_a_client_listens_but_gives_memory_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LORE_EMBEDDING_MODEL", "gte-small")
    model = {"LORE_EMBEDDING_MODEL": "gte-small"}
    with short_folder() as folder, an_endpoint(folder) as endpoint, Agent(endpoint, **model) as agent:
        uri = agent.greet().ask("resources/list")["result"]["resources"][0]["uri"]
        assert "result" in agent.ask("resources/subscribe", {"uri": uri})
        agent.call("create_entities", **entity("a ferry"))
        until(lambda: "released" in Path(endpoint.log).read_text())
        assert ping(endpoint)
        assert len(agent.call("search_nodes", query="ferry")["entities"]) == 1
