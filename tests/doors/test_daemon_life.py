"""A daemon's life: files that are removed, clients that are silent or too many, a process that is stopped."""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from lore.doors import handshake
from lore.doors.endpoint import Endpoint
from lore.doors.locking import held
from lore.doors.residence import residing
from lore.doors.starting import asked, start, stop
from lore.errors import Unavailable
from lore.version import VERSION
from tests.doors.command import Command
from tests.doors.resident import SECONDS, SETTINGS, Agent, an_endpoint, kill, pid_of, short_folder, until
from tests.doors.test_daemon import dozes, entity, status

HELLO = handshake.encode("ping", {"version": VERSION})


@pytest.fixture(autouse=True)
def hashed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    with short_folder() as folder, an_endpoint(folder) as endpoint:
        start(endpoint)
        yield endpoint


@pytest.fixture
def dozing(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    """Of a daemon that dozes as soon as nobody asks."""
    monkeypatch.setenv("LORE_IDLE_MINUTES", "0.001")
    with short_folder() as folder, an_endpoint(folder) as endpoint:
        start(endpoint)
        until(lambda: dozes(endpoint))
        yield endpoint


def connected(endpoint: Endpoint) -> socket.socket:
    line = socket.socket(socket.AF_UNIX)
    line.settimeout(SECONDS)
    line.connect(endpoint.socket)
    return line


def daemons(endpoint: Endpoint) -> list[int]:
    """The processes that are a daemon of this place, awake, dozing or beginning."""
    found = subprocess.run(["pgrep", "-f", f"lore.doors.*{endpoint.home}.*daemon run"], capture_output=True)
    return [int(pid) for pid in found.stdout.split()]


# --- its files
@pytest.mark.parametrize("state", ["endpoint", "dozing"])
def test_removed_files_are_put_back_and_there_is_one_daemon(
    request: pytest.FixtureRequest, state: str
) -> None:
    endpoint: Endpoint = request.getfixturevalue(state)
    for name in ("sock", "pid", "lock", "starting", "status"):
        Path(f"{endpoint.home}/daemon.{name}").unlink(missing_ok=True)
    with Agent(endpoint) as agent:
        agent.greet().call("create_entities", **entity("a thing"))
        until(lambda: held(endpoint.lock) and Path(endpoint.pid).exists() and Path(endpoint.socket).exists())
        until(lambda: daemons(endpoint) == [pid_of(endpoint)])
    assert Path(endpoint.pid).read_text() == str(pid_of(endpoint))


def test_one_that_lost_its_lock_ends_and_leaves_the_files_of_the_next(endpoint: Endpoint) -> None:
    """Somebody removes the lock, and another daemon is begun before the first has noticed."""
    first = pid_of(endpoint)
    kill(first, signal.SIGSTOP)
    for name in ("lock", "sock", "pid"):
        Path(f"{endpoint.home}/daemon.{name}").unlink()
    command = [sys.executable, "-m", "lore.doors.cli", *endpoint.flags, "daemon", "run", "--quietly"]
    second = subprocess.Popen(command)
    until(lambda: held(endpoint.lock))
    kill(first, signal.SIGCONT)
    until(lambda: asked(endpoint))
    assert pid_of(endpoint) == second.pid
    until(lambda: not os.path.exists(f"/proc/{first}") or b"Z" in Path(f"/proc/{first}/stat").read_bytes())
    assert pid_of(endpoint) == second.pid
    assert Path(endpoint.pid).read_text() == str(second.pid)
    stop(endpoint)
    assert second.wait(SECONDS) == 0


def test_two_places_of_one_database_have_one_daemon(tmp_path: Path) -> None:
    database = tmp_path / "memory.db"
    one, other = Endpoint({}, str(tmp_path)), Endpoint({}, str(tmp_path), str(database))
    with (
        residing(one, database, 0.0, None),
        pytest.raises(Unavailable, match="a daemon runs already"),
        residing(other, database, 0.0, None),
    ):
        pass
    with residing(other, database, 0.0, None):
        assert Path(other.pid).exists()


def test_garbage_in_its_files_misleads_nobody(endpoint: Endpoint) -> None:
    before = pid_of(endpoint)
    Path(endpoint.socket).unlink()
    until(lambda: asked(endpoint))
    assert pid_of(endpoint) == before
    Path(endpoint.status).write_text("[")
    Path(endpoint.pid).write_text("no number")
    run = Command(Path(endpoint.home))
    assert run.document("status")["daemon"]["running"]
    until(lambda: Path(endpoint.pid).read_text() == str(pid_of(endpoint)))
    assert stop(endpoint)


# --- its clients
def test_hellos_in_pieces_are_heard_and_silent_clients_keep_nobody_waiting(dozing: Endpoint) -> None:
    """Sixty that say nothing, listened to one after the other, would take two minutes."""
    before = pid_of(dozing)
    with ExitStack() as stack:
        for _ in range(60):
            stack.enter_context(connected(dozing))
        line = stack.enter_context(connected(dozing))
        line.sendall(HELLO[:9])
        assert asked(dozing), "others are answered meanwhile"
        line.sendall(HELLO[9:])
        assert line.recv(100).startswith(b"lore/1 welcome")
    assert dozes(dozing)
    hello = handshake.encode(
        "mcp", {"version": VERSION, "folder": "/" + "x" * 140_000, "LORE_EMBEDDING_MODEL": "hash"}
    )
    with connected(dozing) as line:
        for part in (hello[:20], hello[20:70_000], hello[70_000:]):
            line.sendall(part)
        assert line.recv(100).startswith(b"lore/1 welcome")
    assert pid_of(dozing) == before


def test_odd_clients_do_not_keep_it_from_dozing(dozing: Endpoint) -> None:
    """Their descriptions neither fail nor become arguments, which are public and limited in size."""
    before = pid_of(dozing)
    with ExitStack() as stack:
        for number in range(60):
            pid = ("", "x", "-1", "9" * 5000, "\u0663")[number % 5]
            folder = f"/secret/{'x' * 4000}/{number}"
            fields = {"version": VERSION, "folder": folder, "pid": pid, "LORE_EMBEDDING_MODEL": "hash"}
            line, word, _ = dozing.dial("verbs", fields)
            assert word == "welcome"
            stack.callback(line.close)
        assert len(status(dozing)["clients"]) == 60
        until(lambda: dozes(dozing))
        assert pid_of(dozing) == before
        assert b"secret" not in Path(f"/proc/{before}/cmdline").read_bytes()
        assert status(dozing)["clients"] == []


def test_more_clients_than_files_may_be_open_are_refused_and_it_goes_on(endpoint: Endpoint) -> None:
    pid = pid_of(endpoint)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (96, 96))
    fields = {"version": VERSION, "LORE_EMBEDDING_MODEL": "hash"}
    with ExitStack() as stack:
        words = []
        for _ in range(40):
            line, word, told = endpoint.dial("verbs", fields)
            stack.callback(line.close)
            words.append(word)
        assert {"welcome", "refused"} == set(words)
        assert "ulimit -n" in told["error"]
        for _ in range(100):
            stack.enter_context(connected(endpoint))
    assert until(lambda: status(endpoint)["clients"] == [])
    assert pid_of(endpoint) == pid


# --- stopped
def test_an_agent_is_told_that_the_daemon_was_stopped(endpoint: Endpoint) -> None:
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


def test_commands_do_without_a_stopped_daemon_and_can_replace_it(endpoint: Endpoint) -> None:
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
