"""The conversations that were read, as a table, one by one, and as what is still to be digested."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lore.config import Config
from lore.connecting import wire
from lore.doors.cli.render import columns
from lore.doors.daemon_status import query_status
from lore.embed.hashing import HashEmbedder
from lore.engine.consolidate.backlog import ATTEMPTS
from lore.model import Cause
from lore.store.records import DigestProgress
from tests.doors.command import Command
from tests.doors.resident import short_folder
from tests.doors.test_cli_through_daemon import no_way_to_the_store, running

FIXTURES = Path(__file__).parent.parent / "transcripts" / "fixtures"
CLIENTS = {"claude-code": "claude-*", "codex": "codex-*", "gemini": "gemini-*", "cursor-cli": "cursor-*"}
TURNS = {
    "CURSOR-PROMPT say hi": 7,
    "GEMINI-PROMPT2 say hi": 4,
    "CODEX-PROMPT say hi": 5,
    "MAIN-PROMPT older": 7,
    "/compact focus on tests": 4,
    "MAIN-PROMPT please do the thing": 12,
}
"""Latest first; Cursor tells no times, so that its conversation is as old as its reading."""
ALL = sum(TURNS.values())


@pytest.fixture(scope="module")
def run() -> Iterator[Command]:
    """On a folder with a conversation or more of each client."""
    with short_folder() as folder:
        run = Command(folder / "data")
        for client, pattern in CLIENTS.items():
            run("ingest", *map(str, sorted(FIXTURES.glob(pattern))), "--source", client)
        yield run


@pytest.fixture
def empty(tmp_path: Path) -> Command:
    return Command(tmp_path / "data")


def called(run: Command, title: str) -> dict[str, Any]:
    """The session of this title."""
    listed = run.document("sessions")["sessions"]
    return next(dict(session) for session in listed if session["title"] == title)


def told(run: Command, tmp_path: Path, *blocks: dict[str, Any]) -> str:
    """Read a conversation of these blocks; the id of its session."""
    roles = {"text": "user", "tool_use": "assistant"}
    lines = [{"role": roles[block["type"]], "message": {"content": [block]}} for block in blocks]
    path = tmp_path / "told.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    run("ingest", str(path), "--source", "cursor-cli")
    [session] = run.document("sessions")["sessions"]
    return str(session["id"])


# --- the list
def test_sessions_are_listed_latest_first_with_client_project_turns_and_title(run: Command) -> None:
    listed = run.document("sessions")
    assert listed["count"] == len(TURNS)
    assert {session["title"]: session["turns_count"] for session in listed["sessions"]} == TURNS
    assert [session["title"] for session in listed["sessions"]] == list(TURNS)
    head, *lines = run("sessions").stdout.splitlines()
    assert head.split() == ["ID", "When", "Client", "Project", "Turns", "Title"]
    [codex] = [line for line in lines if "codex" in line]
    id, _, _, client, project, turns, title = codex.split(maxsplit=6)
    assert called(run, title)["id"].endswith(id)
    assert (client, project, turns, title) == ("codex", "proj-codex", "5", "CODEX-PROMPT say hi")
    told = called(run, title)
    assert (told["project"], told["project_name"]) == ("/home/dev/proj-codex", "proj-codex")


def test_a_conversation_that_went_on_comes_first_with_the_time_of_its_last_turn(
    empty: Command, tmp_path: Path
) -> None:
    def say(session: str, number: int, at: str) -> None:
        line = {
            "type": "user",
            "message": {"role": "user", "content": f"{session} {number}"},
            "uuid": f"{session}-{number}",
            "timestamp": at,
            "sessionId": session,
        }
        with (tmp_path / f"{session}.jsonl").open("a") as file:
            file.write(json.dumps(line) + "\n")
        empty("ingest", str(tmp_path / f"{session}.jsonl"), "--source", "claude-code")

    say("old", 1, "2026-11-01T10:00:00Z")
    say("new", 1, "2026-11-02T10:00:00Z")
    assert [one["title"] for one in empty.document("sessions")["sessions"]] == ["new 1", "old 1"]
    say("old", 2, "2026-11-03T10:00:00Z")
    listed = empty.document("sessions")["sessions"]
    assert [one["title"] for one in listed] == ["old 1", "new 1"]
    assert [one["last_turn_at"][:10] for one in listed] == ["2026-11-03", "2026-11-02"]
    rows = [line for line in empty("sessions").stdout.splitlines()[1:] if not line.startswith(" ")]
    assert [row.split()[1] for row in rows] == ["2026-11-03", "2026-11-02"]


def test_the_list_can_be_short_and_says_so(run: Command) -> None:
    result = run("sessions", "--limit", "2")
    assert len([line for line in result.stdout.splitlines() if not line.startswith("  ")]) == 1 + 2
    assert result.stderr == "and 4 more; --limit shows them\n"
    assert run("sessions", "--limit", str(len(TURNS))).stderr == ""


def test_the_list_can_be_of_one_client(run: Command) -> None:
    listed = run.document("sessions", "--source", "claude-code")
    assert listed["count"] == 3
    assert {session["source"] for session in listed["sessions"]} == {"claude-code"}
    assert "lore ingest --source nobody" in run("sessions", "--source", "nobody").stderr


def test_empty_lists_of_conversations_point_to_ingest(empty: Command) -> None:
    for command in ("sessions", "staged"):
        result = empty(command)
        assert result.stdout == ""
        assert "`lore ingest`" in result.stderr
    assert empty.document("sessions") == {"projects": None, "count": 0, "sessions": []}
    assert empty.document("staged") == {"projects": None, "staged_turns": 0, "sessions": []}


# --- one of them
def test_a_conversation_is_read_from_its_first_turn_to_its_last(run: Command) -> None:
    session = called(run, "CODEX-PROMPT say hi")
    turns = run.document("session", session["id"])["turns"]
    assert [(turn["type"], turn["content"]) for turn in turns] == [
        ("user", "CODEX-PROMPT say hi"),
        ("tool", "echo hi-codex\nhi-codex"),
        ("assistant", "All done, Codex."),
        ("user", "second CODEX prompt"),
        ("assistant", "All done, Codex."),
    ]
    text = run("session", session["id"][:8]).stdout
    head, body = text.split("\n\n", 1)
    title, *facts = head.splitlines()
    assert title == "CODEX-PROMPT say hi"
    assert [fact.split()[:2] for fact in facts if not fact.startswith("when")] == [
        ["id", session["id"]],
        ["client", "codex"],
        ["project", "proj-codex"],
        ["folder", "/home/dev/proj-codex"],
        ["turns", "5"],
    ]
    account, *heads = [turn.splitlines()[0] for turn in body.split("\n\n")]
    assert account.startswith("Asked: CODEX-PROMPT say hi")
    assert [head.split()[0] for head in heads] == ["user", "exec_command", "assistant", "user", "assistant"]
    assert re.fullmatch(r"user  \d{4}-\d\d-\d\d \d\d:\d\d", heads[0])
    assert re.fullmatch(r"exec_command  \d\d:\d\d", heads[1])


def test_what_an_agent_of_the_session_did_stands_where_it_happened(run: Command) -> None:
    id = called(run, "/compact focus on tests")["id"]
    account, first, *_, last = run("session", id).stdout.split("\n\n")[1:]
    assert account.startswith("Nothing was asked")
    assert first.splitlines()[0].endswith(", agent aa451357c187ed46f")
    assert last.startswith("summary  ")


def test_a_failed_tool_is_marked(run: Command) -> None:
    text = run("session", called(run, "MAIN-PROMPT older")["id"]).stdout
    heads = {head.split()[0]: head for head in text.splitlines() if head.startswith(("Bash", "Write"))}
    assert heads["Write"].endswith(", failed")
    assert not heads["Bash"].endswith("failed")


def test_what_tools_say_is_cut_unless_all_is_wanted(empty: Command, tmp_path: Path) -> None:
    lines = [f"line {number}" for number in range(10)]
    tool = {"type": "tool_use", "name": "Shell", "input": {"command": "\n".join(lines)}}
    id = told(empty, tmp_path, {"type": "text", "text": "go on\n" * 10}, tool)
    short, full = empty("session", id), empty("session", id, "--full")
    assert [line for line in lines if f"  {line}\n" in short.stdout] == lines[:3]
    assert "  … 7 more lines\n" in short.stdout
    assert short.stdout.count("  go on\n") == 10
    assert "--full" in short.stderr
    assert [line for line in lines if f"  {line}\n" in full.stdout] == lines
    assert full.stderr == ""


def test_every_character_of_a_long_turn_can_be_read(empty: Command, tmp_path: Path) -> None:
    """The conversation, the turn alone, and both for a program."""
    command = "\n".join(f"step {number}" for number in range(2_000))
    tool = {"type": "tool_use", "name": "Shell", "input": {"command": command, "timeout": 9}}
    id = told(empty, tmp_path, {"type": "text", "text": "go on"}, tool)
    whole = f"{command}\ntimeout: 9"
    assert "--full" in empty("session", id).stderr
    shown = empty("session", id, "--full").stdout
    assert "".join(f"  {line}\n" for line in whole.split("\n")) in shown
    said, done = empty.document("session", id, "--full")["turns"]
    assert (said["full_text"], done["full_text"]) == (None, whole)
    assert len(done["content"]) < 400
    assert "full_text" not in empty.document("session", id)["turns"][1]
    short, full = empty("read", done["id"]), empty("read", done["id"], "--full")
    assert f"An excerpt of {len(whole):,} characters; --full shows all of them." in short.stderr
    assert full.stdout.startswith(f"{whole}\n")
    assert empty.document("read", done["id"], "--full")["full_text"] == whole


def test_a_long_line_of_a_tool_is_cut_on_a_terminal_only(empty: Command, tmp_path: Path) -> None:
    tool = {"type": "tool_use", "name": "Shell", "input": {"command": "word " * 100}}
    id = told(empty, tmp_path, {"type": "text", "text": "go on"}, tool)
    assert max(map(columns, empty.on_a_terminal("session", id).splitlines())) <= 80
    assert "word " * 19 in empty("session", id).stdout


def test_a_call_to_lore_is_shown_in_its_session_and_found_by_no_search(
    empty: Command, tmp_path: Path
) -> None:
    tool = {"type": "tool_use", "name": "mcp__lore__search", "input": {"query": "the walrus of the bay"}}
    id = told(empty, tmp_path, {"type": "text", "text": "go on"}, tool)
    assert "the walrus of the bay" in empty("session", id).stdout
    assert [turn["kind"] for turn in empty.document("session", id)["turns"]] == ["turn", "lore-call"]
    assert "walrus" not in empty("search", "walrus", "--everywhere").stdout


def test_what_was_said_cannot_steer_the_terminal(empty: Command, tmp_path: Path) -> None:
    tool = {"type": "tool_use", "name": "Sh\aell", "input": {"command": "rm \u202e\a"}}
    id = told(empty, tmp_path, {"type": "text", "text": "ring \a the bell \u202e"}, tool)
    for args in (["sessions"], ["staged"], ["session", id], ["session", id, "--full"]):
        said = empty(*args).stdout
        assert "ring" in said
        assert not {"\a", "\u202e"} & set(said)


def test_lines_fit_a_terminal_however_long_the_titles(empty: Command, tmp_path: Path) -> None:
    told(empty, tmp_path, {"type": "text", "text": "a very long title that goes on and on " * 5})
    for command in ("sessions", "staged"):
        for room in (44, 80):
            assert max(map(columns, empty.on_a_terminal(command, columns=room).splitlines())) <= room


def test_only_a_session_can_be_read_as_one(run: Command) -> None:
    session = called(run, "CODEX-PROMPT say hi")["id"]
    turn = run.document("session", session)["turns"][0]["id"]
    assert f"is a turn, not a session; its session is {session}" in run("session", turn, code=1).stderr
    assert "unknown memory" in run("session", "nobody", code=1).stderr


def test_a_note_is_no_session(empty: Command) -> None:
    note = empty.keep("Sencha likes 70 degrees.")
    assert f"{note} is a note, not a session; `lore sessions`" in empty("session", note, code=1).stderr


def test_a_forgotten_conversation_says_what_went_along_and_comes_back(empty: Command, tmp_path: Path) -> None:
    tool = {"type": "tool_use", "name": "mcp__lore__search", "input": {"query": "ferry"}}
    id = told(empty, tmp_path, {"type": "text", "text": "go on"}, tool)
    assert empty("forget", id).stdout == "Forgot 1 memory, with 2 turns.\n"
    assert empty.document("sessions")["sessions"] == []
    assert empty.document("search", "go on")["hits"] == []
    undo = empty("forget", id)
    assert "is already forgotten" in undo.stderr
    assert empty("restore", id).stdout == "Restored 1 memory, with 2 turns.\n"
    assert len(empty.document("session", id)["turns"]) == 2
    document = empty.document("forget", id)
    assert (document["forgotten"], len(document["along"]), document["unchanged"]) == ([id], 2, [])


# --- what is to be digested
def test_every_turn_waits_to_be_digested(run: Command) -> None:
    document = run.document("staged")
    assert document["staged_turns"] == ALL
    assert {one["title"]: one["staged_turns"] for one in document["sessions"]} == TURNS
    said, _, *lines = run("staged").stdout.splitlines()
    assert said == f"{ALL} turns of {len(TURNS)} sessions wait to be digested."
    assert len(lines) == len(TURNS)


def test_a_forgotten_session_does_not_wait(empty: Command, tmp_path: Path) -> None:
    id = told(empty, tmp_path, {"type": "text", "text": "go on"})
    assert empty("staged").stdout.startswith("1 turn of 1 session waits to be digested.\n")
    empty("forget", id)
    assert empty.document("staged")["staged_turns"] == 0


def test_what_was_digested_does_not_wait_any_longer(
    empty: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = told(empty, tmp_path, {"type": "text", "text": "We decided to use Postgres for the ferry."})
    said = "1 conversation goes on: it is digested when it has been quiet for 300 s"
    assert said in empty("consolidate").stderr
    monkeypatch.setenv("LORE_IDLE_THRESHOLD", "0")
    assert "goes on" not in empty("consolidate").stderr
    assert empty.document("staged") == {"projects": None, "staged_turns": 0, "sessions": []}
    with (tmp_path / "told.jsonl").open("a") as file:
        line = {"role": "user", "message": {"content": [{"type": "text", "text": "go on"}]}}
        file.write(json.dumps(line) + "\n")
    empty("ingest", str(tmp_path / "told.jsonl"), "--source", "cursor-cli")
    [one] = empty.document("staged")["sessions"]
    assert (one["id"], one["staged_turns"]) == (id, 1)


def fail(run: Command, id: str, attempts: int) -> None:
    """As if it had been tried so often in vain."""
    lore = wire(Config(data_dir=run.data_dir), embedder=HashEmbedder())
    with lore.store.transaction(lore.namespace, Cause(verb="test"), lore.clock()) as writer:
        again = lore.clock() + 3600
        error = "no answer \a" * 20
        writer.put_records([DigestProgress(session=id, attempts=attempts, retry_at=again, error=error)])
    lore.close()


def test_what_could_not_be_digested_says_why_and_can_be_tried_again(empty: Command, tmp_path: Path) -> None:
    id = told(empty, tmp_path, {"type": "text", "text": "go on"})
    fail(empty, id, 1)
    *_, trouble = empty("staged").stdout.splitlines()
    assert re.match(rf"  tried 1 of {ATTEMPTS} times, again after [-\d :]+: no answer", trouble)
    assert max(map(columns, empty.on_a_terminal("staged").splitlines())) <= 80
    assert "\a" not in trouble
    fail(empty, id, ATTEMPTS)
    result = empty("staged")
    assert f"  given up after {ATTEMPTS} tries: no answer" in result.stdout
    assert "lore staged --retry" in result.stderr
    [one] = empty.document("staged")["sessions"]
    assert (one["attempts"], one["given_up"]) == (ATTEMPTS, True)
    assert one["trouble"].startswith("no answer")
    assert empty("staged", "--retry").stdout == "1 conversation will be tried again.\n"
    assert empty("staged", "--retry").stderr == "No conversation has failed.\n"
    assert "has not failed" in empty("staged", "--retry", id[:8]).stderr
    assert "tries" not in empty("staged").stdout
    fail(empty, id, ATTEMPTS)
    assert empty.document("staged", "--retry", id) == {"retried": [id], "not_failed": []}
    [one] = empty.document("staged")["sessions"]
    assert (one["attempts"], one["given_up"], one["retry_at"]) == (0, False, None)


def test_an_id_is_only_for_another_try(empty: Command) -> None:
    assert "an ID needs --retry" in empty("staged", "abc", code=1).stderr


# --- through a daemon
def test_a_daemon_tells_the_same_and_counts_what_waits(run: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LORE_EMBEDDING_MODEL", "hash")
    id = called(run, "CODEX-PROMPT say hi")["id"]
    questions = [["sessions"], ["staged"], ["session", id], ["sessions", "--json"], ["session", id, "--json"]]

    def told() -> list[str]:
        """All but how long ago it was, which may be another word a moment later."""
        return [re.sub(r"\([^)]* ago\)", "", run(*question).output) for question in questions]

    direct = told()
    with running(run.data_dir) as place, no_way_to_the_store():
        assert told() == direct
        assert query_status(place)["staged_turns"] == ALL
        assert re.search(rf"^staged turns +{ALL}$", run("daemon", "status").stdout, re.MULTILINE)
