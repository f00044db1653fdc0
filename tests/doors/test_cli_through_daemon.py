"""A command that finds a daemon uses it, one that finds none opens the store; the answers are the same."""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest
from click.testing import Result

from lore import Draft, Lore, Tie
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.doors import starting
from lore.doors.cli.connect import open_lore
from lore.doors.cli.group import Flags
from lore.doors.endpoint import Endpoint
from lore.embed.hashing import HashEmbedder
from lore.filelock import is_held
from lore.version import VERSION
from tests.doors.command import Command
from tests.doors.resident import pid_of, short_folder

DEEP = 105
LIMIT_SECONDS = 60
HEAVY = (
    "numpy",
    "apsw",
    "onnxruntime",
    "anyio",
    "mcp",
    "pydantic",
    "lore.engine",
    "lore.store",
    "lore.config",
)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder with a name that leaves room for a socket."""
    with short_folder() as folder:
        yield folder


@pytest.fixture(scope="module", autouse=True)
def hashed_words() -> Iterator[None]:
    """For the daemons that are started here, as `Command` sees to it for the commands."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LORE_EMBEDDING_MODEL", "hash")
        yield


@contextmanager
def running(data_dir: Path) -> Iterator[Endpoint]:
    """A daemon of its own."""
    endpoint = Endpoint({}, str(data_dir))
    with starting.spawn(endpoint):
        starting.await_answer(endpoint)
        try:
            yield endpoint
        finally:
            starting.stop(endpoint)


@contextmanager
def no_way_to_the_store() -> Iterator[None]:
    """In this process: whoever wants to open a store by himself fails."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "lore.connecting", None)
        yield


def prepare(data_dir: Path) -> dict[str, str]:
    """A few memories, the ids of some by name."""
    lore = wire(Config(data_dir=data_dir), embedder=HashEmbedder(), clock=Clock())
    tea = lore.remember(Draft(content="All about tea.", title="tea", kind="fragment", type="topic"))
    green = lore.remember(Draft(content="Green tea is not oxidised.\n  茶 \x1b[31m", parent=tea.id))
    sencha = lore.remember(Draft(content="Sencha likes 70 degrees.", title="sencha", parent=green.id))
    water = lore.remember(Draft(content="Soft water is best.", title="water", source="kettle"))
    lore.link([Tie(source=sencha.id, target=water.id, reason="brewing")])
    lore.remember(Draft(content="long " * 9_000, metadata={"": None, "a": [1, 2.5, {"b": "\u2028"}]}))
    deep = lore.remember(Draft(content="the first of many", title="deep"))
    below = deep
    for number in range(DEEP):
        below = lore.remember(Draft(content=f"level {number}", parent=below.id))
    lore.embed_pending()
    lore.close()
    return {"tea": tea.id, "green": green.id, "sencha": sencha.id, "water": water.id, "deep": deep.id}


class Both(NamedTuple):
    """Two stores of the same content: with a daemon, and without."""

    ids: dict[str, str]
    through: Command
    direct: Command

    def same(self, *args: str, code: int = 0, input: bytes | None = None) -> str:
        """Run it on both: exit code, stdout and stderr are alike but for ids and times. Returns its output.

        Scores fade with time, and one of the two runs a little later.
        """
        filled = [arg.format(**self.ids) for arg in args]
        with no_way_to_the_store():
            output = _masked(self.through, self.through(*filled, code=code, input=input))
        other = _masked(self.direct, self.direct(*filled, code=code, input=input))
        assert SCORE.sub("<score>", output) == SCORE.sub("<score>", other)
        scores = [[float(score[0]) for score in SCORE.finditer(text)] for text in (output, other)]
        assert scores[0] == pytest.approx(scores[1], abs=0.0011)
        return output


MASKS = (
    (r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}", "<id>"),
    (r"\b[0-9a-f]{8}\b", "<short>"),
    (r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00", "<time>"),
    (r"\d{4}-\d\d-\d\d \d\d:\d\d \([^)]*\)", "<time>"),
    (r"\b\d{10}\.\d+", "<time>"),
    (r"\([\d.]+ [KM]B\)", "<size>"),
    (r'"size_bytes": \d+', "<size>"),
    (r"daemon +(not running|running .*)", "<daemon>"),
    (r'"daemon": \{[^}]*\}', "<daemon>"),
)

SCORE = re.compile(r"\b\d\.\d{3,}(e-\d+)?")


def _masked(run: Command, result: Result) -> str:
    text = f"{result.stdout}--- stderr\n{result.stderr}".replace(str(run.data_dir), "<folder>")
    for pattern, mask in MASKS:
        text = re.sub(pattern, mask, text)
    return text


@pytest.fixture(scope="module")
def both(folder: Path) -> Iterator[Both]:
    ids = prepare(folder / "with")
    shutil.copytree(folder / "with", folder / "without")
    with running(folder / "with") as endpoint:
        assert endpoint.unix
        yield Both(ids, Command(folder / "with"), Command(folder / "without"))


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["plain", "json"])
@pytest.mark.parametrize(
    ("code", "args"),
    [
        (0, ["search", "how hot for sencha"]),
        (0, ["search", "--why", "--deep", "sencha"]),
        (0, ["search", "--format", "ids", "tea"]),
        (0, ["search", "--format", "title", "tea"]),
        (0, ["search", "--format", "full", "green", "-l3"]),
        (0, ["search", "long", "--budget", "50", "--min-score", "0.2"]),
        (0, ["search", "--under", "{tea}", "--kind", "note", "--since", "2025-01-01", "degrees"]),
        (0, ["search", "--among", "{water},{tea}"]),
        (0, ["search", "--policy", "scored", "--source", "kettle", "water"]),
        (0, ["search", "--type", "nothing", "zzz"]),
        (0, ["--namespace", "anna", "search", "tea"]),
        (0, ["read", "{sencha}"]),
        (0, ["read", "{green}", "--history"]),
        (0, ["roots"]),
        (0, ["roots", "WAT", "-l1"]),
        (0, ["roots", "zzz"]),
        (0, ["explore", "{tea}"]),
        (0, ["explore", "{deep}", "--depth", "100"]),
        (0, ["status"]),
        (0, ["doctor"]),
        (0, ["doctor", "--fix"]),
        (0, ["search", "level", "-l50"]),
        (1, ["read", "ffff"]),
        (1, ["read", ""]),
        (1, ["read", "\udcff"]),
        (1, ["read", "0"]),
        (1, ["search"]),
        (1, ["search", "--limit", "100000", "x"]),
        (1, ["search", "--policy", "best", "x"]),
        (1, ["search", "--since", "soon", "x"]),
        (1, ["search", "\udcff"]),
        (1, ["remember", "  "]),
        (1, ["remember", "x", "--importance", "7"]),
        (1, ["remember", "x", "--importance", "nan"]),
        (1, ["remember", "x", "--type", "\udcff"]),
        (1, ["forget", "{tea}", "ffff"]),
        (1, ["forget", "{tea}", "--reason", "\udcff"]),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else str(value),
)
def test_a_command_prints_the_same_with_and_without_a_daemon(
    both: Both, code: int, args: list[str], form: tuple[str, ...]
) -> None:
    both.same(*args, *form, code=code)


@pytest.mark.parametrize("name", ["", " ", "x" * 101, "\udcff"])
def test_an_invalid_namespace_is_refused_the_same_with_and_without_a_daemon(both: Both, name: str) -> None:
    """The store says why."""
    errors = [run("--namespace", name, "status", code=1).stderr for run in (both.through, both.direct)]
    assert errors[0] == errors[1]
    assert errors[0].startswith("lore: namespace must be ")


@pytest.mark.parametrize("form", [(), ("--json",)], ids=["plain", "json"])
def test_a_sequence_of_changes_prints_the_same_with_and_without_a_daemon(
    both: Both, form: tuple[str, ...]
) -> None:
    for code, args in (
        (0, ["remember", "oolong is half oxidised", "--title", "oolong", "--under", "{tea}"]),
        (0, ["remember", "-", "--kind", "fragment"]),
        (0, ["search", "oolong"]),
        (0, ["forget", "{tea}", "{water}", "--reason", "cold"]),
        (0, ["forget", "{tea}"]),
        (1, ["read", "{tea}"]),
        (1, ["explore", "{tea}"]),
        (0, ["restore", "{tea}", "{water}"]),
        (0, ["restore", "{tea}"]),
        (0, ["--namespace", "anna", "remember", "a secret"]),
        (0, ["search", "secret"]),
        (0, ["--namespace", "anna", "search", "secret"]),
        (0, ["read", "{tea}", "--history"]),
        (0, ["status"]),
        (0, ["doctor", "--fix"]),
    ):
        both.same(*args, *form, code=code, input=b"from a\npipe \xe8\x8c\xb6")
    assert "forget through cli: cold" in both.same("read", "{tea}", "--history")


def test_damage_is_found_and_repaired_by_the_daemon_too(both: Both) -> None:
    for run in (both.through, both.direct):
        connection = apsw.Connection(str(run.database))
        connection.set_busy_timeout(30_000)
        connection.execute("INSERT INTO words (words) VALUES ('delete-all')")
        connection.close()
        with no_way_to_the_store() if run is both.through else nullcontext():
            assert "✗ words" in run("doctor", code=1).stdout
            assert "✓ words         repaired: " in run("doctor", "--fix").stdout
    both.same("doctor")


def light(data_dir: Path, *args: str) -> str:
    """What a command prints that has to do without all that is heavy."""
    code = (
        f"import sys; sys.modules.update(dict.fromkeys({HEAVY!r})); from lore.doors.cli import main; main()"
    )
    call = [sys.executable, "-c", code, "--data-dir", str(data_dir), *args]
    done = subprocess.run(call, capture_output=True, text=True, timeout=LIMIT_SECONDS)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


@pytest.mark.parametrize("args", ["search tea", "remember light", "doctor --fix", "read {tea}", "status"])
def test_a_command_that_finds_a_daemon_loads_nothing_heavy(both: Both, args: str) -> None:
    assert light(both.through.data_dir, *args.format(**both.ids).split())


def test_every_spelling_of_a_folder_finds_its_daemon(both: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a flag, by another spelling, from inside the folder: it is the same daemon."""
    monkeypatch.chdir(both.through.data_dir)
    monkeypatch.setenv("LORE_DATA_DIR", "/nowhere")
    for named in (both.through.data_dir, Path("../with")):
        with no_way_to_the_store(), open_lore(Flags(data_dir=named)) as lore:
            assert lore.status().location == str(both.through.database)


def test_status_shows_the_full_path_of_a_relative_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_lore(Flags(data_dir=Path("here")), create=True) as lore:
        assert lore.status().location == str(tmp_path / "here" / "memory.db")
    with open_lore(Flags(data_dir=Path("here"), db_path=Path("here/../other.db")), create=True) as lore:
        assert lore.status().location == str(tmp_path / "other.db")


def test_a_database_named_by_itself_has_a_daemon_of_its_own(tmp_path: Path) -> None:
    database = tmp_path / "one.db"
    endpoint = Endpoint({}, None, str(database))
    with starting.spawn(endpoint):
        starting.await_answer(endpoint)
        with no_way_to_the_store(), open_lore(Flags(db_path=database)) as lore:
            assert lore.status().location == str(database)
        starting.stop(endpoint)


def test_a_command_with_another_model_opens_the_store_itself(
    both: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_lore(Flags(data_dir=both.through.data_dir)) as lore:
        assert lore.status().model.startswith("hash/")
    monkeypatch.setenv("LORE_EMBEDDING_MODEL", "gte-small")
    with open_lore(Flags(data_dir=both.through.data_dir)) as lore:
        assert isinstance(lore, Lore)
        assert lore.status().model.startswith("gte-small/")


# --- the end of a daemon
@pytest.fixture
def home(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=folder))


def kill(endpoint: Endpoint) -> None:
    """No last words, and its files stay behind."""
    pid = pid_of(endpoint)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert not is_held(endpoint.lock)
    assert Path(endpoint.socket if endpoint.unix else endpoint.port).exists()


@pytest.mark.parametrize("way", ["socket", "port"])
def test_after_a_daemon_was_killed_commands_open_the_store(home: Path, way: str) -> None:
    """A daemon is reached by a port where the name of the folder leaves no room for a socket."""
    home = home if way == "socket" else home / ("long" * 25)
    run = Command(home)
    with running(home) as endpoint:
        assert endpoint.unix == (way == "socket")
        with no_way_to_the_store():
            id = run.keep("tea is served")
        kill(endpoint)
        assert run.document("search", "tea")["hits"][0]["memory"]["id"] == id
        run("remember", "nobody serves now")
    with running(home), no_way_to_the_store():
        assert run.document("status")["counts"]["memories"] == 2


@pytest.mark.parametrize("way", ["socket", "port"])
def test_files_that_a_daemon_left_behind_do_not_matter(home: Path, way: str) -> None:
    home = home if way == "socket" else home / ("long" * 25)
    home.mkdir(exist_ok=True)
    endpoint = Endpoint({}, str(home))
    Path(endpoint.pid).write_text("1")
    for left in ("", "12 ab", "99999 ab", "not a port"):
        Path(endpoint.socket if way == "socket" else endpoint.port).write_text(left)
        assert Command(home).document("status")["counts"]["memories"] == 0


def test_a_command_continues_when_its_daemon_is_stopped(home: Path) -> None:
    with running(home) as endpoint, open_lore(Flags(data_dir=home)) as lore:
        kept = [lore.remember(Draft(content="while it ran"))]
        starting.stop(endpoint)
        kept += [lore.remember(Draft(content="after it ended")), lore.remember(Draft(content="and on"))]
        assert {branch.memory.id for branch in lore.roots()} == {memory.id for memory in kept}


def test_a_question_is_answered_though_the_daemon_is_killed(home: Path) -> None:
    with running(home) as endpoint, open_lore(Flags(data_dir=home)) as lore:
        memory = lore.remember(Draft(content="while it ran"))
        kill(endpoint)
        assert lore.read(memory.id).memory.content == "while it ran"


# --- other versions
@contextmanager
def running_as(version: str, home: Path) -> Iterator[Endpoint]:
    """A daemon that is this one in everything but the version it tells."""
    endpoint = Endpoint({}, str(home))
    code = f"import lore.version; lore.version.VERSION = {version!r}; from lore.doors.cli import main; main()"
    call = [sys.executable, "-c", code, *endpoint.flags, "daemon", "run"]
    with subprocess.Popen(call, stderr=subprocess.DEVNULL):
        try:
            assert starting.await_answer(endpoint)["version"] == version
            yield endpoint
        finally:
            starting.stop(endpoint)


def test_a_command_replaces_an_older_daemon(home: Path) -> None:
    with running_as("0.0.9", home) as endpoint:
        assert light(home, "remember", "by the new one").startswith("Remembered ")
        assert starting.await_answer(endpoint)["version"] == VERSION


def test_a_newer_daemon_is_left_alone(home: Path) -> None:
    with running_as("99.0", home) as endpoint:
        Command(home)("remember", "by ourselves")
        with open_lore(Flags(data_dir=home)) as lore:
            assert isinstance(lore, Lore)
        assert is_held(endpoint.lock)
