"""Completion knows the values of options and the ids of the store, creates nothing and never complains."""

from pathlib import Path

import pytest

from lore.distil.account import account_id
from lore.engine.consolidate.phases import PHASES
from lore.ranking.policy import POLICIES
from lore.transcripts.sources import SOURCES
from tests.doors.command import Command


@pytest.fixture
def run(tmp_path: Path) -> Command:
    return Command(tmp_path / "data")


def completed(run: Command, *words: str) -> list[str]:
    """The suggestions for the last word of a command line; nothing may be written to stderr."""
    env = {
        "_LORE_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["lore", *words]),
        "COMP_CWORD": str(len(words)),
    }
    result = run(env=env)
    assert result.stderr == ""
    return [line.partition(",")[2] for line in result.stdout.split()]


def test_a_shell_asks_a_process_for_completions(run: Command) -> None:
    env = {"_LORE_COMPLETE": "bash_complete", "COMP_WORDS": "lore search --format t", "COMP_CWORD": "3"}
    assert run.output(env=env) == "plain,title\n"


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (("search", "--policy", ""), list(POLICIES)),
        (("consolidate", "--phase", ""), list(PHASES)),
        (("ingest", "--source", ""), list(SOURCES)),
        (("sessions", "--source", ""), [*SOURCES, "import", "claude-ai", "chatgpt"]),
        (("search", "--source", "co"), ["codex"]),
        (("search", "--format", "t"), ["title"]),
    ],
)
def test_the_values_of_an_option_are_completed(
    run: Command, words: tuple[str, ...], values: list[str]
) -> None:
    assert completed(run, *words) == values


def test_ids_are_completed_newest_first_by_the_end_that_lists_show(run: Command) -> None:
    older, newer = run.keep("sencha"), run.keep("matcha")
    for command in ("read", "explore", "forget"):
        assert completed(run, command, "") == [newer[-8:], older[-8:]]
    assert completed(run, "read", older[-8:-2]) == [older[-8:]]
    assert completed(run, "read", older[:30]) == [older]
    assert completed(run, "search", "--under", newer[-8:-1]) == [newer[-8:]]
    first = f"{newer[-8:]},"
    assert completed(run, "search", "--among", first + older[-8:-1]) == [first + older[-8:]]


def test_only_forgotten_memories_are_offered_to_restore(run: Command) -> None:
    kept, gone = run.keep("sencha"), run.keep("matcha")
    run("forget", gone)
    assert completed(run, "restore", "") == [gone[-8:]]
    assert completed(run, "read", "") == [kept[-8:]]


def test_sessions_are_offered_where_a_session_is_wanted(run: Command, tmp_path: Path) -> None:
    notes = tmp_path / "tea.md"
    notes.write_text("Sencha is brewed at 70 degrees.")
    run("import", str(notes))
    note = run.keep("matcha")
    [session] = run.document("sessions")["sessions"]
    assert completed(run, "session", "") == [session["id"][-8:]]
    account = account_id(session["id"])
    assert completed(run, "read", "") == [id[-8:] for id in (note, account, session["id"])]


def test_ids_of_another_namespace_are_not_offered(run: Command) -> None:
    run("--namespace", "anna", "remember", "a secret garden")
    assert completed(run, "read", "") == []
    assert len(completed(run, "--namespace", "anna", "read", "")) == 1


def test_projects_are_completed_by_their_shortest_unique_name(run: Command, tmp_path: Path) -> None:
    for folder in ("north/ferry", "south/ferry", "harbour"):
        (tmp_path / folder).mkdir(parents=True)
        run("remember", f"about {folder}", "--project", str(tmp_path / folder))
    ferries = [str(tmp_path / side / "ferry") for side in ("north", "south")]
    assert sorted(completed(run, "search", "--project", "")) == sorted([*ferries, "harbour"])
    assert completed(run, "remember", "--project", "har") == ["harbour"]


@pytest.mark.parametrize("words", [("read", ""), ("search", "--project", ""), ("rea",)])
def test_completion_creates_nothing(run: Command, words: tuple[str, ...]) -> None:
    completed(run, *words)
    assert not run.data_dir.exists()


@pytest.mark.parametrize("broken", ["config.toml", "memory.db"])
def test_completion_is_silent_where_the_store_cannot_be_read(run: Command, broken: str) -> None:
    run.data_dir.mkdir()
    (run.data_dir / broken).write_text("= no settings and no database =\n" * 100)
    assert completed(run, "read", "") == []
    assert completed(run, "search", "--project", "") == []
