"""A daemon's life: files that are removed, clients that are silent or too many, a process that is stopped."""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from lore.doors import protocol
from lore.doors.endpoint import Endpoint
from lore.doors.residence import residing
from lore.doors.starting import ping, start, stop
from lore.errors import Unavailable
from lore.filelock import is_held
from lore.store.sqlite.store import SqliteStore
from lore.version import VERSION
from tests.doors.command import Command
from tests.doors.resident import (
    SECONDS,
    Agent,
    an_endpoint,
    entity,
    kill,
    pid_of,
    short_folder,
    status,
    until,
)

HELLO = protocol.encode("ping", {"version": VERSION})


pytestmark = pytest.mark.usefixtures("hashed")


@pytest.fixture
def endpoint(shared: Endpoint) -> Endpoint:
    """The endpoint of the daemon that tests share."""
    return shared


def connected(endpoint: Endpoint) -> socket.socket:
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(SECONDS)
    line.connect(endpoint.socket)
    return line


def daemons(endpoint: Endpoint) -> list[int]:
    """The processes that are a daemon of this place, running or beginning."""
    found = subprocess.run(["pgrep", "-f", f"lore.doors.*{endpoint.home}.*daemon run"], capture_output=True)
    return [int(pid) for pid in found.stdout.split()]


def has_ended(pid: int) -> bool:
    """Whether nothing of a process is left but its exit code."""
    return not os.path.exists(f"/proc/{pid}") or b"Z" in Path(f"/proc/{pid}/stat").read_bytes()


# --- its files
def test_a_daemon_restores_its_removed_files_and_stays_the_only_one(endpoint: Endpoint) -> None:
    for name in ("sock", "pid", "lock", "starting", "status"):
        Path(f"{endpoint.home}/daemon.{name}").unlink(missing_ok=True)
    with Agent(endpoint) as agent:
        agent.greet().call("create_entities", **entity("a thing"))
        until(
            lambda: is_held(endpoint.lock) and Path(endpoint.pid).exists() and Path(endpoint.socket).exists()
        )
        until(lambda: daemons(endpoint) == [pid_of(endpoint)])
    assert Path(endpoint.pid).read_text() == str(pid_of(endpoint))


def test_a_daemon_that_lost_its_lock_ends_and_leaves_the_files_of_its_successor(endpoint: Endpoint) -> None:
    """Somebody removes the lock, and another daemon is begun before the first has noticed."""
    first = pid_of(endpoint)
    kill(first, signal.SIGSTOP)
    for name in ("lock", "sock", "pid"):
        Path(f"{endpoint.home}/daemon.{name}").unlink()
    command = [sys.executable, "-m", "lore.doors.cli", *endpoint.flags, "daemon", "run", "--quietly"]
    second = subprocess.Popen(command)
    until(lambda: is_held(endpoint.lock))
    kill(first, signal.SIGCONT)
    until(lambda: ping(endpoint))
    assert pid_of(endpoint) == second.pid
    until(lambda: has_ended(first))
    assert pid_of(endpoint) == second.pid
    assert Path(endpoint.pid).read_text() == str(second.pid)
    stop(endpoint)
    assert second.wait(SECONDS) == 0


def test_two_endpoints_of_one_database_share_one_daemon(tmp_path: Path) -> None:
    database = tmp_path / "memory.db"
    one, other = Endpoint({}, str(tmp_path)), Endpoint({}, str(tmp_path), str(database))
    with (
        residing(one, database, 0.0),
        pytest.raises(Unavailable, match="a daemon runs already"),
        residing(other, database, 0.0),
    ):
        pass
    with residing(other, database, 0.0):
        assert Path(other.pid).exists()


def test_garbage_in_the_status_and_pid_files_is_ignored(endpoint: Endpoint) -> None:
    before = pid_of(endpoint)
    Path(endpoint.socket).unlink()
    until(lambda: ping(endpoint))
    assert pid_of(endpoint) == before
    Path(endpoint.status).write_text("[")
    Path(endpoint.pid).write_text("no number")
    run = Command(Path(endpoint.home))
    assert run.document("status")["daemon"]["running"]
    until(lambda: Path(endpoint.pid).read_text() == str(pid_of(endpoint)))
    assert stop(endpoint)


# --- its clients
def test_a_handshake_in_pieces_is_accepted_while_silent_clients_delay_nobody(endpoint: Endpoint) -> None:
    """Sixty silent clients, one after the other, would take ten minutes."""
    with ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(connected(endpoint))
        line = stack.enter_context(connected(endpoint))
        line.sendall(HELLO[:9])
        assert ping(endpoint), "others are answered meanwhile"
        line.sendall(HELLO[9:])
        assert line.recv(100).startswith(b"lore/1 welcome")
    hello = protocol.encode(
        "mcp", {"version": VERSION, "folder": "/" + "x" * 140_000, "LORE_EMBEDDING_MODEL": "hash"}
    )
    with connected(endpoint) as line:
        for part in (hello[:20], hello[20:70_000], hello[70_000:]):
            line.sendall(part)
        assert line.recv(100).startswith(b"lore/1 welcome")


def test_odd_descriptions_of_clients_are_shown_and_do_not_keep_an_unused_daemon(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LORE_IDLE_MINUTES", "0.05")
    with short_folder() as folder, an_endpoint(folder) as endpoint, ExitStack() as stack:
        start(endpoint)
        for number in range(60):
            pid = ("", "x", "-1", "9" * 5000, "\u0663")[number % 5]
            fields = {"version": VERSION, "folder": f"/{'x' * 4000}/{number}", "pid": pid}
            line, word, _ = endpoint.dial("verbs", fields | {"LORE_EMBEDDING_MODEL": "hash"})
            assert word == "welcome"
            stack.callback(line.close)
        assert len(status(endpoint)["clients"]) == 60
        until(lambda: not is_held(endpoint.lock))


def test_clients_beyond_the_limit_of_open_files_are_refused_and_the_daemon_goes_on(
    endpoint: Endpoint,
) -> None:
    pid = pid_of(endpoint)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (96, 96))
    fields = {"version": VERSION, "LORE_EMBEDDING_MODEL": "hash"}
    with ExitStack() as stack:
        words = []
        for _ in range(40):
            line, word, reply = endpoint.dial("verbs", fields)
            stack.callback(line.close)
            words.append(word)
        assert {"welcome", "refused"} == set(words)
        assert "ulimit -n" in reply["error"]
        for _ in range(100):
            stack.enter_context(connected(endpoint))
        until(lambda: "a client could not be accepted: Too many open files" in Path(endpoint.log).read_text())
    assert until(lambda: status(endpoint)["clients"] == [])
    assert pid_of(endpoint) == pid
    stop(endpoint)


# --- stopped
def test_an_agent_learns_that_a_signal_has_stopped_the_daemon(endpoint: Endpoint) -> None:
    """One that waits for an answer, and one that only begins; both go on when the daemon does."""
    pid = pid_of(endpoint)
    with Agent(endpoint) as waiting, ExitStack() as stack:
        waiting.greet().call("create_entities", **entity("a thing"))
        kill(pid, signal.SIGSTOP)
        try:
            beginning = stack.enter_context(Agent(endpoint))
            answer = waiting.ask("tools/call", {"name": "create_entities", "arguments": entity("another")})
            text = answer["result"]["content"][0]["text"]
            assert answer["result"]["isError"]
            assert f"(PID {pid}) was stopped" in text
            assert "It is not known whether create_entities was done" in text
            beginning.greet()
            answer = beginning.ask("tools/call", {"name": "read_graph", "arguments": {}})
            assert "lore daemon restart" in answer["result"]["content"][0]["text"]
        finally:
            kill(pid, signal.SIGCONT)
        assert waiting.call("read_graph")["entities"]
        assert beginning.call("read_graph")["entities"]
    assert pid_of(endpoint) == pid


def test_commands_work_around_a_stopped_daemon_and_can_replace_it(endpoint: Endpoint) -> None:
    before = pid_of(endpoint)
    run = Command(Path(endpoint.home))
    kill(before, signal.SIGSTOP)
    try:
        assert "was stopped by a signal" in run("search", "ferry").stderr
        assert run.document("daemon", "status")["state"] == "hung"
        assert "was stopped by a signal" in run("daemon", "start", code=1).stderr
        assert json.loads(run("daemon", "restart", "--json").stdout)["stopped"]
    finally:
        kill(before, signal.SIGCONT)
    assert pid_of(endpoint) != before


def test_a_daemon_whose_database_was_replaced_ends_and_the_next_serves_the_new_one(tmp_path: Path) -> None:
    with short_folder() as folder, an_endpoint(folder) as endpoint, Agent(endpoint) as agent:
        agent.greet().call("create_entities", **entity("from before"))
        first = pid_of(endpoint)
        database = folder / "memory.db"
        SqliteStore(tmp_path / "other.db").close()
        for rest in ("-wal", "-shm"):
            Path(f"{database}{rest}").unlink()
        (tmp_path / "other.db").replace(database)
        until(lambda: has_ended(first))

        assert "from before" not in str(agent.call("read_graph"))
        assert "isError" not in agent.call("create_entities", **entity("from now on"))
        assert pid_of(endpoint) != first
        assert "removed or replaced" in Path(endpoint.log).read_text()
