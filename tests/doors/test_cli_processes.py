"""`lore` as a real process: pipes that break, Ctrl-C, colours, and several at once on one store."""

import json
import shlex
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lore.config import load
from lore.doors.cli.render import columns
from tests.doors.command import Command
from tests.doors.resident import an_endpoint, short_folder

LIMIT_SECONDS = 60


@pytest.fixture
def run(tmp_path: Path) -> Command:
    return Command(tmp_path / "data")


@pytest.fixture(scope="module")
def served() -> Iterator[Command]:
    """A folder with a daemon, so that each command is a light process."""
    with short_folder() as folder, an_endpoint(folder):
        run = Command(folder)
        run("daemon", "start")
        yield run


def test_what_one_process_remembers_another_finds(run: Command) -> None:
    id = run.output("remember", "the deploy key is in the vault").split()[1]
    assert id in run("search", "deploy", "key").stdout


def test_processes_can_write_at_the_same_time(run: Command) -> None:
    run("status")
    writers = [run.start("remember", f"thought {n}", stdout=subprocess.DEVNULL) for n in range(4)]
    assert [writer.wait(LIMIT_SECONDS) for writer in writers] == [0] * 4
    assert run.document("status")["counts"]["memories"] == 4


@pytest.mark.parametrize("args", [("search", "water"), ("search", "water", "--json"), ("roots",)])
def test_a_broken_pipe_ends_quietly(served: Command, args: tuple[str, ...]) -> None:
    served("remember", "water under the bridge " * 1_000)
    with served.start(*args, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == b""
        assert process.wait(LIMIT_SECONDS) == 1


def test_ctrl_c_ends_quietly(run: Command) -> None:
    """More than a pipe holds was taken: the command is at its work when the signal comes."""
    pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with run.start("remember", "-", **pipes) as process:
        assert process.stdin is not None
        process.stdin.write(b"x" * 1_000_000)
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=LIMIT_SECONDS)
    assert (process.returncode, out, error.strip()) == (130, b"", b"")


def test_colours_are_for_terminals_only(served: Command) -> None:
    served("remember", "a colourful thought")
    assert "\x1b[" in served.on_a_terminal("search", "thought")
    assert "\x1b[" not in served.output("search", "thought")


@pytest.mark.parametrize("value", ["1", "0", "no", "please"])
def test_no_color_is_honoured_whatever_it_says(served: Command, value: str) -> None:
    served("remember", "a colourful thought")
    assert "\x1b[" not in served.on_a_terminal("search", "thought", env={"NO_COLOR": value})


def test_long_lines_are_broken_for_eyes_and_kept_for_pipes(served: Command) -> None:
    id = served.keep("word " * 60 + "end")
    assert "word " * 60 + "end\n" in served.output("read", id)
    shown = served.on_a_terminal("read", id, env={"NO_COLOR": "1"})
    assert max(map(len, shown.splitlines())) <= 80
    assert shown.split().count("word") == 60


def test_every_list_fits_the_terminal(served: Command) -> None:
    title = "a very long title about 数据库 and ships 🚢 that goes on and on " * 4
    top = served.keep("word " * 200, "--title", title)
    served.keep("数据库在法兰克福。" * 200 + "word", "--title", f"another {title}", "--under", top)
    for length in range(20, 60, 6):
        served.keep(f"word {length}", "--title", "x" * length, "--under", top)
    for room, args in (
        (44, ("search", "word", "-l50", "--why")),
        (200, ("search", "word", "-l50", "--why")),
        (44, ("search", "--format", "title", "word", "-l50")),
        (44, ("search", "--format", "full", "数据库", "-l50")),
        (44, ("roots",)),
        (44, ("explore", top)),
        (44, ("read", top)),
    ):
        shown = served.on_a_terminal(*args, columns=room)
        assert max(map(columns, shown.splitlines())) <= room, (room, args)


def test_nothing_is_cut_in_a_pipe(served: Command) -> None:
    title = "a very long title that goes on and on " * 8 + "to its end"
    id = served.keep("word " * 50, "--title", title)
    for args in (("search", "word"), ("search", "--format", "title", "word"), ("roots",), ("explore", id)):
        assert title in served.output(*args, env={"COLUMNS": "44"})


@pytest.mark.parametrize("named", [False, True], ids=["in the data folder", "named by a variable"])
def test_the_sample_is_served_from_a_store_of_its_own(run: Command, tmp_path: Path, named: bool) -> None:
    own = tmp_path / "mine.db" if named else run.database
    env = {"LORE_DB_PATH": str(own) if named else ""}
    run("remember", "mine", env=env)
    pipes: dict[str, Any] = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    }
    with run.start("mcp", "--sample", "--guide", env=env, **pipes) as process:
        out, error = process.communicate(timeout=LIMIT_SECONDS)
    assert (process.returncode, out) == (0, b""), "stdout belongs to the protocol"
    guide = error.decode()
    assert "sample memories" in guide
    assert f"Your data   {own}" in guide
    assert connecting(guide)[-3:] == ["--db", str(own), "setup"]
    assert json.loads(run("status", "--json", env=env).stdout)["counts"]["memories"] == 1
    [line] = [line for line in guide.splitlines() if line.endswith(" roots")]
    roots = subprocess.run([*shlex.split(line), "--json"], capture_output=True, check=True, env=run.env(env))
    assert "Teahouse" in roots.stdout.decode()
    assert load({}, data_dir=run.data_dir / "sample").ingest_paused


def connecting(guide: str) -> list[str]:
    """How the guide connects a client."""
    [line] = [line for line in guide.splitlines() if line.endswith(" setup")]
    return shlex.split(line)


def test_the_sample_refuses_a_database_that_is_named(run: Command) -> None:
    assert "leave out --db" in run("--db", str(run.database), "mcp", "--sample", code=2).stderr
    assert not run.database.exists()
