"""Projects at the door: a command looks at the one it is run in, an agent writes into the one it works in."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lore.doors.cli.render import BEGIN
from lore.doors.endpoint import Endpoint
from tests.doors.command import Command
from tests.doors.resident import SETTINGS, Agent, an_endpoint, short_folder
from tests.doors.test_cli_through_daemon import no_way_to_the_store, running
from tests.transcripts.test_project import git

REMOTE = "example.org/harbour/ferry"


@pytest.fixture
def home() -> Iterator[Path]:
    """Where a socket fits; with repositories and other folders to stand in."""
    with short_folder() as folder:
        for name in ("ferry", "tug", "play/ferry"):
            (folder / name).mkdir(parents=True)
            git(folder / name, "init")
            git(folder / name, "commit", "--allow-empty", "-m", "begin")
        git(folder / "ferry", "remote", "add", "origin", f"https://{REMOTE}.git")
        (folder / "ferry" / "src").mkdir()
        git(folder / "ferry", "worktree", "add", str(folder / "worktree"))
        (folder / "bare").mkdir()
        yield folder


@pytest.fixture
def run(home: Path) -> Command:
    return Command(home / "data")


@pytest.fixture(params=["direct", "daemon"])
def served(request: pytest.FixtureRequest, home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Command]:
    """Without a daemon, and with one that stands elsewhere."""
    monkeypatch.setenv("LORE_EMBEDDING_MODEL", "hash")
    if request.param == "direct":
        yield Command(home / "data")
        return
    with running(home / "data"), no_way_to_the_store():
        yield Command(home / "data")


def seen(run: Command, *args: str) -> set[str]:
    return {hit["memory"]["content"] for hit in run.document("search", "walrus", *args)["hits"]}


def conversation(folder: Path, words: str) -> str:
    """A transcript of Codex that took place in this folder."""
    meta = {"id": words, "timestamp": "2026-01-02T03:04:05Z", "cwd": str(folder)}
    said = {"type": "user_message", "message": words}
    lines = [{"type": "session_meta", "payload": meta}, {"type": "event_msg", "payload": said}]
    stamped = ({"timestamp": "2026-01-02T03:04:05Z"} | line for line in lines)
    return "".join(json.dumps(line) + "\n" for line in stamped)


def converse(run: Command, home: Path, *names: str) -> None:
    for name in names:
        path = home / f"{name.replace('/', '-')}.jsonl"
        path.write_text(conversation(home / name, f"a walrus in {name}"))
        run("ingest", str(path), "--source", "codex")


# --- notes
def test_a_note_of_one_repository_is_not_found_in_another_but_everywhere(
    served: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home / "ferry" / "src")
    served("remember", "a walrus on the ferry")
    served("remember", "a walrus is what I like", "--type", "preference")
    (home / "ferry" / "src" / "ice.py").write_text("ice = 4\n")
    served("remember", "seals need src/ice.py")
    [seals] = served.document("search", "seals")["hits"]
    assert seals["citations"] == {"src/ice.py": "fresh"}, "the daemon reads the client's repository"
    monkeypatch.chdir(home / "tug")
    served("remember", "a walrus on the tug")
    both, tug = {"a walrus on the ferry", "a walrus on the tug"}, {"a walrus on the tug"}
    liked = {"a walrus is what I like"}
    assert seen(served) == tug | liked
    assert seen(served, "--everywhere") == both | liked
    monkeypatch.chdir(home / "worktree")
    assert seen(served) == {"a walrus on the ferry"} | liked
    monkeypatch.chdir(home / "play" / "ferry")
    assert seen(served) == liked
    monkeypatch.chdir(home / "bare")
    assert seen(served) == both | liked


def test_where_a_note_belongs_can_be_said(
    served: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home / "tug")
    for words, flags, project in (
        ("here", [], str(home / "tug")),
        ("nowhere", ["--everywhere"], ""),
        ("by folder", ["--project", "../ferry"], REMOTE),
        ("by name", ["--project", "ferry"], REMOTE),
        ("by key", ["--project", REMOTE], REMOTE),
        ("even so", ["--project", ".", "--type", "identity"], str(home / "tug")),
    ):
        assert served.document("remember", words, *flags)["project"] == project, words
    said = served("remember", "x", "--project", "ferry", "--everywhere", code=1).stderr
    assert "--project or --everywhere, not both" in said


# --- searching
def test_a_search_says_where_it_looked_and_how_much_more_there_is(
    run: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home / "ferry")
    assert (
        run("search", "walrus").stderr
        == f"in project ferry; --everywhere searches all\nNothing is stored yet.\n{BEGIN}\n"
    )
    run("remember", "a walrus on the ferry")
    assert run("search", "walrus").stderr == "in project ferry; --everywhere searches all\n"
    assert run.document("search", "walrus")["projects"] == [REMOTE]
    assert run.document("search", "walrus", "--everywhere")["projects"] is None
    monkeypatch.chdir(home / "tug")
    assert run("search", "walrus").stderr == "in project tug; 1 more in other projects: --everywhere\n"
    for flags in (["--everywhere"], ["--project", "ferry"]):
        assert run("search", "walrus", *flags).stderr == ""
    assert run.document("search", "walrus")["in_other_projects"] == 1
    monkeypatch.chdir(home / "bare")
    assert run("search", "walrus").stderr == ""


def test_looking_elsewhere_counts_as_no_use(
    run: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home / "ferry")
    id = run.keep("a walrus on the ferry")
    monkeypatch.chdir(home / "tug")
    assert "1 more" in run("search", "walrus").stderr
    found = run.document("search", "--among", id)["hits"]
    assert found[0]["memory"]["access_count"] == 0


def test_projects_are_named_by_name_folder_or_key(
    run: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ferry", "tug", "play/ferry"):
        monkeypatch.chdir(home / name)
        run("remember", f"a walrus in {name}")
    monkeypatch.chdir(home)
    for named, found in (
        (["tug"], {"tug"}),
        (["harbour/ferry"], {"ferry"}),
        (["play/ferry"], {"play/ferry"}),
        ([REMOTE], {"ferry"}),
        (["./ferry/src"], {"ferry"}),
        ([str(home / "worktree")], {"ferry"}),
        (["tug", "./ferry"], {"tug", "ferry"}),
        (["./bare"], set()),
        (["bare"], set()),
    ):
        flags = [part for one in named for part in ("--project", one)]
        assert seen(run, *flags) == {f"a walrus in {name}" for name in found}, named


@pytest.mark.parametrize("command", [["search", "x"], ["sessions"], ["staged"], ["remember", "x"]])
def test_a_name_that_is_unknown_or_ambiguous_is_refused_with_the_known_ones(
    command: list[str], run: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "no project is known yet" in run(*command, "--project", "nobody", code=1).stderr
    for name in ("ferry", "play/ferry"):
        monkeypatch.chdir(home / name)
        run("remember", "a walrus")
    other = str(home / "play" / "ferry")
    for unknown in ("nobody", "", "./nobody", "/no/such/folder", "\udcff"):
        said = run(*command, "--project", unknown, code=1).stderr
        assert f"known: {', '.join(sorted((other, REMOTE)))}" in said, unknown
    said = run(*command, "--project", "ferry", code=1).stderr
    assert f"'ferry' matches {', '.join(sorted((other, REMOTE)))}" in said


def test_memories_that_are_named_are_found_wherever_they_belong(
    run: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(home / "ferry")
    top = run.keep("the top")
    id = run.keep("a walrus on the ferry", "--under", top)
    monkeypatch.chdir(home / "tug")
    assert seen(run, "--under", top) == seen(run, "--among", id) == {"a walrus on the ferry"}
    assert seen(run, "--among", id, "--project", ".") == set()


# --- conversations
@pytest.fixture
def conversations(run: Command, home: Path) -> set[str]:
    """What they are called."""
    converse(run, home, "ferry", "tug", "bare")
    return {f"a walrus in {name}" for name in ("ferry", "tug", "bare")}


def test_conversations_are_those_of_the_project(
    conversations: set[str], served: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def titles(command: str, *flags: str) -> set[str]:
        return {one["title"] for one in served.document(command, *flags)["sessions"]}

    for command in ("sessions", "staged"):
        assert titles(command) == conversations
        for folder, name in (("worktree", "ferry"), ("tug", "tug"), ("bare", "bare")):
            with pytest.MonkeyPatch.context() as patch:
                patch.chdir(home / folder)
                assert titles(command) == {f"a walrus in {name}"}
                assert titles(command, "--everywhere") == conversations
                assert titles(command, "--project", "ferry") == {"a walrus in ferry"}
    monkeypatch.chdir(home / "tug")
    assert served.document("sessions")["projects"] == [str(home / "tug")]
    assert served("sessions").stderr == "in project tug; 2 more in other projects: --everywhere\n"
    result = served("staged")
    assert result.stdout.startswith("1 turn of 1 session waits to be digested.\n")
    assert result.stderr == "in project tug; 2 more in other projects: --everywhere\n"
    monkeypatch.chdir(home / "play" / "ferry")
    more = "3 more in other projects: --everywhere"
    said = f"in project ferry; {more}\nNo conversation of this project was read yet.\n"
    assert served("sessions").stderr == said


def test_turns_of_a_session_that_began_elsewhere_are_staged_here(
    run: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A conversation may go on in another repository; its session is of the first."""

    def line(folder: Path, uuid: str, words: str) -> str:
        told: dict[str, Any] = {"type": "user", "uuid": uuid, "sessionId": "s", "cwd": str(folder)}
        told |= {"message": {"role": "user", "content": words}, "timestamp": "2026-01-02T03:04:05Z"}
        return json.dumps(told) + "\n"

    path = home / "s.jsonl"
    path.write_text(line(home / "ferry", "1", "begin here") + line(home / "tug", "2", "go on there"))
    run("ingest", str(path), "--source", "claude-code")
    monkeypatch.chdir(home / "tug")
    staged = run.document("staged")
    assert (staged["staged_turns"], [one["staged_turns"] for one in staged["sessions"]]) == (1, [1])
    assert "forgotten" not in run("staged").stderr
    [session] = run.document("sessions", "--everywhere")["sessions"]
    assert session["turns_count"] == 2


# --- agents
@pytest.fixture
def endpoint(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    with an_endpoint(home / "data") as endpoint:
        yield endpoint


@pytest.mark.parametrize("options", [(), ("--standalone",)], ids=["daemon", "standalone"])
def test_an_agent_writes_into_the_repository_that_it_works_in(
    options: tuple[str, ...], endpoint: Endpoint, run: Command, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "data").mkdir(exist_ok=True)
    monkeypatch.chdir(home / "ferry" / "src")
    with Agent(endpoint, "--surfaces", "typed", *options).greet() as agent:
        agent.call("memory_save", content="a walrus on the ferry", memory_type="event")
        agent.call("memory_save", content="a walrus is what I like", memory_type="preference")
    monkeypatch.chdir(home / "tug")
    with Agent(endpoint, "--surfaces", "typed", *options).greet() as agent:
        recalled = agent.call("memory_recall", query="walrus")["memories"]
    assert {memory["content"] for memory in recalled} == {"a walrus on the ferry", "a walrus is what I like"}
    assert seen(run) == {"a walrus is what I like"}
    assert seen(run, "--project", "ferry") == {"a walrus on the ferry", "a walrus is what I like"}
