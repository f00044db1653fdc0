"""`lore daemon …` as real processes: with a socket, and with a port where the folder is too deep for one."""

import json
import os
import re
import select
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest

from lore.doors.cli import cli
from lore.doors.cli.daemon import COMMANDS
from lore.doors.daemon import PREDECESSOR_SECONDS
from lore.doors.endpoint import Endpoint
from lore.doors.logbook import LARGEST_BYTES
from lore.doors.starting import stop
from lore.filelock import holding, is_held
from lore.version import VERSION
from tests.doors.command import Command
from tests.doors.resident import short_folder, until
from tests.doors.test_cli import loaded_by

LIMIT_SECONDS = 60
LINE = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}[+-]\d\d:\d\d [A-Z]+ .+"


class Output(NamedTuple):
    out: str
    error: str


class Home:
    """A data folder, and the command on it; what is left running there ends with the test."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.command = Command(folder)
        self.endpoint = Endpoint({}, str(folder))
        self.log = Path(self.endpoint.log)

    def __call__(self, *args: str, code: int = 0, env: dict[str, str] | None = None) -> Output:
        """Run the command: `daemon run` as a process, all others in this one."""
        if "run" not in args:
            result = self.command(*args, code=code, env=env)
            return Output(result.stdout, result.stderr)
        pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        with self.command.start(*args, env=env, **pipes) as process:
            out, error = process.communicate(timeout=LIMIT_SECONDS)
        assert process.returncode == code, (out, error)
        return Output(out.decode(), error.decode())

    def document(self, *args: str, code: int = 0) -> Any:
        return json.loads(self(*args, "--json", code=code).out)

    def started(self) -> int:
        """Start a daemon; its pid."""
        document = self.document("daemon", "start")
        assert document["started"] is True
        return int(document["pid"])

    def killed(self) -> int:
        """A daemon that had no time to clean up; the pid it had."""
        pid = self.started()
        os.kill(pid, signal.SIGKILL)
        until(lambda: not is_held(self.endpoint.lock))
        return pid


@pytest.fixture
def short() -> Iterator[Path]:
    """A folder in which a socket has a name that is short enough."""
    with short_folder() as folder:
        yield folder


@pytest.fixture(params=["socket", "port"])
def home(request: pytest.FixtureRequest, short: Path, tmp_path: Path) -> Iterator[Home]:
    folder = short if request.param == "socket" else tmp_path / ("long" * 25)
    yield from living(Home(folder), unix=request.param == "socket")


@pytest.fixture
def near(short: Path) -> Iterator[Home]:
    """For tests to which it makes no difference how the daemon is reached."""
    yield from living(Home(short), unix=True)


@pytest.fixture(scope="module")
def running() -> Iterator[Home]:
    """A daemon that runs: for tests that only look at it."""
    with short_folder() as folder:
        home = Home(folder)
        home.started()
        yield from living(home, unix=True)


def living(home: Home, unix: bool) -> Iterator[Home]:
    assert home.endpoint.unix is unix
    yield home
    stop(home.endpoint)
    assert not is_held(home.endpoint.lock)


def read_until(process: subprocess.Popen[bytes], text: str, stream: str = "stdout") -> str:
    """The output of a process up to this text, and a little more."""
    pipe = getattr(process, stream)
    output = b""
    while text.encode() not in output:
        ready, _, _ = select.select([pipe], [], [], LIMIT_SECONDS)
        assert ready, output
        part = os.read(pipe.fileno(), 1 << 16)
        assert part, output
        output += part
    return output.decode()


# --- start, stop, restart
def test_a_daemon_is_started_once_and_stopped_once(home: Home) -> None:
    pid = home.document("daemon", "status", code=3)["pid"]
    assert pid is None
    output = home("daemon", "start").out
    pid = home.document("daemon", "status")["pid"]
    assert output == f"Lore: started (PID: {pid})\n"
    assert home("daemon", "start").out == f"Lore: running already (PID: {pid})\n"
    assert home("daemon", "stop").out == "Lore: stopped\n"
    assert home("daemon", "stop").out == "Lore: not running\n"
    assert {path.name for path in home.folder.glob("daemon.*")} == {
        "daemon.lock",
        "daemon.log",
        "daemon.starting",
    }


def test_start_stop_and_logs_work_without_the_word_daemon(near: Home) -> None:
    assert near("start").out.startswith("Lore: started")
    assert "INFO lore" in near("logs").out
    assert near("stop").out == "Lore: stopped\n"
    lines = near("logs").out.splitlines()
    assert [line for line in lines if not re.fullmatch(LINE, line)] == [], "each has a time and a level"
    assert lines[-1].endswith(" INFO ended")
    assert near("logs", "-n", "1").out.splitlines() == lines[-1:]
    assert near("logs", "-n", "0").out == ""
    assert stat.S_IMODE(near.log.stat().st_mode) == 0o600


def test_of_many_starts_at_once_one_starts_a_daemon(near: Home) -> None:
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    processes = [near.command.start("daemon", "start", "--json", **pipes) for _ in range(4)]
    documents = [json.loads(process.communicate(timeout=LIMIT_SECONDS)[0]) for process in processes]
    assert sorted(document["started"] for document in documents) == [False, False, False, True]
    assert len({document["pid"] for document in documents}) == 1


def test_a_restart_starts_a_daemon_or_replaces_it_and_stop_reports_its_process_id(near: Home) -> None:
    output = near("daemon", "restart").out
    first = near.document("daemon", "status")["pid"]
    assert output == f"Lore: started (PID: {first})\n"
    again = near.document("daemon", "restart")
    assert (again["stopped"], again["started"], again["version"]) == (True, True, VERSION)
    assert again["pid"] == near.document("daemon", "status")["pid"] != first
    assert near.document("stop") == {"stopped": True, "pid": again["pid"]}
    assert near.document("stop") == {"stopped": False, "pid": None}


def test_files_of_a_killed_daemon_do_not_mislead_the_commands(home: Home) -> None:
    pid = home.killed()
    left = {path.name for path in home.folder.iterdir()}
    assert {"daemon.pid", "daemon.status"} < left
    assert home("daemon", "status", code=3).out == "Lore: not running\n"
    assert home("daemon", "stop").out == "Lore: not running\n"
    assert {path.name for path in home.folder.iterdir()} == left
    assert home.started() != pid


def test_a_stale_process_id_that_another_program_has_now_is_left_alone(near: Home) -> None:
    near.folder.joinpath("daemon.pid").write_text(str(os.getpid()))
    status = {"state": "idle", "pid": os.getpid(), "updated_at": 0, "mode": "local"}
    near.folder.joinpath("daemon.status").write_text(json.dumps(status))
    assert near.document("daemon", "status", code=3)["running"] is False
    assert near.document("status")["daemon"]["running"] is False
    assert near("stop").out == "Lore: not running\n"
    assert near.started() != os.getpid()


def test_a_port_file_without_a_port_is_no_obstacle(tmp_path: Path) -> None:
    home = Home(tmp_path / ("long" * 25))
    home.folder.mkdir()
    home.folder.joinpath("daemon.port").write_text("nonsense")
    home.started()
    assert home("stop").out == "Lore: stopped\n"


def test_a_daemon_that_is_still_starting_can_be_stopped(near: Home) -> None:
    """It holds its lock already, but nobody can talk to it yet."""
    with near.command.start("daemon", "run", stderr=subprocess.DEVNULL) as process:
        until(lambda: is_held(near.endpoint.lock))
        assert stop(near.endpoint) is True
        assert process.wait(LIMIT_SECONDS) in (0, -signal.SIGTERM)


def test_status_stop_and_logs_create_no_folder(short: Path) -> None:
    home = Home(short / "new")
    home("daemon", "status", code=3)
    home("daemon", "stop")
    home("daemon", "logs", code=1)
    assert not home.folder.exists()


# --- what cannot start
def test_a_restart_with_a_wrong_setting_names_it_and_keeps_the_running_daemon(near: Home) -> None:
    near.folder.joinpath("config.toml").write_text("idle_minutes = 'red'\n")
    assert "idle_minutes" in near("daemon", "start", code=1).error
    error = json.loads(near("daemon", "start", "--json", code=1).error)
    assert error["kind"] == "Invalid"
    near.folder.joinpath("config.toml").write_text("")
    pid = near.started()
    near.folder.joinpath("config.toml").write_text("idle_minutes = 'red'\n")
    assert "idle_minutes" in near("daemon", "restart", code=1).error
    assert near.document("daemon", "status")["pid"] == pid


def test_a_failed_start_reports_its_own_reason_and_removes_stale_files(near: Home) -> None:
    near.log.write_text("2020-01-01T00:00:00.000+00:00 ERROR another misfortune\n")
    near.folder.joinpath("memory.db").write_text("a diary, not a database " * 100)
    stale = [near.folder / "daemon.pid", near.folder / "daemon.status"]
    for path in stale:
        path.write_text("{}")
    error = near("daemon", "start", code=1).error
    assert re.fullmatch(r"lore: the daemon did not start: \S*memory.db: .*not a Lore database.*\n", error)
    last = near("daemon", "logs", "-n", "1").out
    assert re.fullmatch(LINE, last.strip())
    assert "ERROR" in last
    assert [path for path in stale if path.exists()] == []


def test_an_impossible_folder_is_an_error_and_not_a_traceback(near: Home) -> None:
    for where in (["--data-dir", "/dev/null/here"], ["--db", "/dev/null/here/notes.db"]):
        for command in ("start", "run", "restart"):
            assert near(*where, "daemon", command, code=1).error.startswith("lore: /dev/null/here")
        assert near(*where, "daemon", "status", code=3).out == "Lore: not running\n"


# --- in the foreground
def test_ctrl_c_ends_a_daemon_in_the_foreground_cleanly(near: Home) -> None:
    with near.command.start("daemon", "run", stderr=subprocess.PIPE) as process:
        begun = read_until(process, " serves ", "stderr")
        assert re.match(r"\d\d:\d\d:\d\d lore ", begun)
        process.send_signal(signal.SIGINT)
        assert read_until(process, " ended\n", "stderr")
        assert process.wait(LIMIT_SECONDS) == 0
    assert " INFO ended" in near("logs").out


def test_a_second_daemon_is_refused_at_once(running: Home) -> None:
    pid = running.document("daemon", "status")["pid"]
    before = time.monotonic()
    error = running("daemon", "run", code=1).error
    assert time.monotonic() - before < PREDECESSOR_SECONDS
    assert error == f"lore: a daemon runs already (PID: {pid}) for {running.folder}\n"


def test_a_daemon_in_the_foreground_names_a_wrong_setting(near: Home) -> None:
    near.folder.joinpath("config.toml").write_text("idle_minutes = 'red'\n")
    assert "config.toml: idle_minutes must be a number" in near("daemon", "run", code=1).error


# --- status
def test_the_status_has_the_same_keys_whether_it_runs_or_not(near: Home, running: Home) -> None:
    absent = near.document("daemon", "status", code=3)
    present = running.document("daemon", "status")
    assert list(absent) == list(present)
    assert absent.pop("running") is False
    assert set(absent.values()) == {None}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00", present["started_at"])
    assert present["store"] == str(running.folder / "memory.db")
    assert (present["running"], present["state"], present["mode"]) == (True, "idle", "local")


def test_the_status_shows_who_is_connected(running: Home) -> None:
    running("remember", "the deploy key is in the vault")
    fields = {"LORE_EMBEDDING_MODEL": "hash", "LORE_NAMESPACE": "anna", "folder": "/some/where", "pid": "7"}
    line, word, _ = running.endpoint.dial("mcp", {"version": VERSION, **fields})
    assert word == "welcome"
    output = running("daemon", "status").out
    document = running.document("daemon", "status")
    [client] = document["clients"]
    line.close()
    assert output.splitlines()[0] == f"Lore: running (PID: {document['pid']}, state: idle, mode: local)"
    assert re.search(r"^memories +1$", output, re.MULTILINE)
    assert re.search(r"^last consolidation +never$", output, re.MULTILINE)
    assert re.search(r"^clients +1$", output, re.MULTILINE)
    assert re.search(
        r"^  mcp tree, /some/where, namespace anna, since .+ \(just now\), 0 messages$", output, re.M
    )
    assert (client["speaks"], client["folder"], client["pid"]) == ("mcp", "/some/where", 7)
    assert client["since"].endswith("+00:00")


def test_a_daemon_that_does_not_answer_is_reported_as_busy(near: Home) -> None:
    """It holds its lock, but does not listen: it begins or ends."""
    with holding(str(near.folder / "daemon.lock"), patience=0):
        document = near.document("daemon", "status")
        assert (document["running"], document["state"], document["clients"]) == (True, "busy", None)
        assert "state: busy" in near("daemon", "status").out


def test_lore_status_reports_the_daemon(near: Home, running: Home) -> None:
    assert near.document("status")["daemon"]["running"] is False
    assert re.search(r"^daemon +not running$", near("status").out, re.MULTILINE)
    pid = running.document("daemon", "status")["pid"]
    until(lambda: running.document("status")["daemon"]["embedding"] is None)
    assert running.document("status")["daemon"] == {
        "running": True,
        "state": "idle",
        "mode": "local",
        "pid": pid,
        "embedding": None,
    }
    assert re.search(rf"^daemon +running \(PID: {pid}, idle\)$", running("status").out, re.MULTILINE)


@pytest.mark.parametrize("command", ["status", "logs", "stop"])
def test_status_logs_and_stop_load_no_slow_module(near: Home, running: Home, command: str) -> None:
    if command == "stop":
        near.started()
    home = near if command == "stop" else running
    modules = loaded_by("--data-dir", str(home.folder), "daemon", command)
    assert "lore.doors.endpoint" in modules
    assert not modules & {
        "numpy",
        "apsw",
        "mcp",
        "anyio",
        "pydantic",
        "lore.engine",
        "lore.config",
        "logging",
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_begins_with_its_line_in_the_list(name: str) -> None:
    daemon = cli.get_command(click.Context(cli), "daemon")
    assert isinstance(daemon, click.Group)
    command = daemon.get_command(click.Context(daemon), name)
    assert command is not None
    assert command.name == name
    assert (command.help or "").splitlines()[0] == COMMANDS[name][1]


# --- logs
def test_logs_reports_that_there_is_no_log(near: Home) -> None:
    for more in ([], ["--follow"]):
        error = near("daemon", "logs", *more, code=1).error
        assert error == f"lore: there is no log at {near.log}: no daemon has run there yet\n"


def test_control_characters_in_a_log_are_not_printed(near: Home) -> None:
    near.log.write_bytes(b"evil \x1b[2J \xff\n")
    assert near("logs").out == "evil \N{REPLACEMENT CHARACTER}[2J \N{REPLACEMENT CHARACTER}\n"


def test_a_full_log_is_rotated_and_two_older_ones_are_kept(near: Home) -> None:
    for name in ("daemon.log", "daemon.log.1", "daemon.log.2"):
        near.folder.joinpath(name).write_text(f"{name}\n".ljust(LARGEST_BYTES, "x") + "\n")
    near.started()
    assert " serves " in near.log.read_text()
    assert near.log.stat().st_size < 1000
    assert stat.S_IMODE(near.log.stat().st_mode) == 0o600
    assert near.folder.joinpath("daemon.log.1").read_text().startswith("daemon.log\n")
    assert near.folder.joinpath("daemon.log.2").read_text().startswith("daemon.log.1\n")
    assert not near.folder.joinpath("daemon.log.3").exists()
    lines = near("logs", "-n", "3").out.splitlines()
    assert (lines[0], lines[1][:3]) == ("daemon.log", "xxx")
    assert " serves " in lines[2]


def test_following_a_log_continues_in_the_next_file(near: Home) -> None:
    near.log.write_text("old\n" * 10 + "x" * LARGEST_BYTES + "\nnewest\n")
    with near.command.start("daemon", "logs", "-n", "1", "-f", stdout=subprocess.PIPE) as process:
        assert read_until(process, "newest\n") == "newest\n"
        near.started()
        assert re.fullmatch(LINE + "\n", read_until(process, " serves ").partition("\n")[0] + "\n")
        near("stop")
        read_until(process, " ended\n")
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT_SECONDS) == 130


BOOK = """
import logging, os, sys
from lore.doors import logbook
logbook.LARGEST_BYTES = 1000
logbook.keep_log(sys.argv[1], quietly=True)
for number in range(30):
    logging.info("%d %s", number, "x" * 90)
    os.write(2, b"from a library %d\\n" % number)
os.rename(sys.argv[1], sys.argv[1] + ".moved")
logging.info("after a move")
os.write(1, b"to stdout\\n")
logging.warning("one\\ntwo")
raise SystemError("the end")
"""


def test_output_that_bypasses_the_loggers_follows_into_the_new_log(near: Home) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BOOK, str(near.log)], capture_output=True, timeout=LIMIT_SECONDS
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
    before = near.folder.joinpath("daemon.log.moved").read_text().splitlines()
    assert before[-2:] == [before[-2], "from a library 29"]
    assert re.fullmatch(LINE, before[-2])
    assert len("\n".join(before)) < 1200
    now = near.log.read_text().splitlines()
    assert re.fullmatch(LINE, now[0])
    assert now[1] == "to stdout"
    assert now[2].endswith(" WARNING one")
    assert now[3] == "  two"
    assert now[-1] == "SystemError: the end"
    assert sorted(path.name for path in near.folder.iterdir()) == [
        "daemon.log",
        "daemon.log.1",
        "daemon.log.2",
        "daemon.log.moved",
    ]


def test_when_the_command_ends_the_daemon_serves_http_or_says_that_it_does_not(near: Home) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert (
            "It does not serve HTTP: see lore daemon status" in near("daemon", "start", "--http", port).error
        )
        reason = (
            f"trouble: serving HTTP: 127.0.0.1 port {port} cannot be used: Address already in use; choose"
        )
        assert reason in near("daemon", "status").out
    assert f"\nHTTP: http://127.0.0.1:{port}\n" in near("daemon", "restart", "--http", port).out
    assert near.document("daemon", "start", "--http", "1")["http"] == f"http://127.0.0.1:{port}"
