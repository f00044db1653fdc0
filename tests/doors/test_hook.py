"""`lore-hook`: real processes that get what clients send, beside a real daemon."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from lore.actions import Action
from lore.doors import protocol
from lore.doors.endpoint import Endpoint
from lore.doors.hook import LARGEST_INPUT, LONGEST_INPUT
from lore.doors.hooks import (
    LONGEST_CONTEXT,
    LONGEST_PROMPT,
    MOST_IDS,
    MOST_SESSIONS,
    HookInput,
    Injection,
    Shown,
    output_of,
    read_input,
)
from lore.doors.starting import ping, stop
from lore.environment import variables
from lore.transcripts.sources import VARIABLES
from tests.doors.resident import SECONDS, Agent, an_endpoint, short_folder, until

HOOK = (sys.executable, "-m", "lore.doors.hook")
PATIENT = (sys.executable, "-c", "from lore.doors import hook; hook.DEADLINE_SECONDS = 60; hook.main()")
"""The same with a deadline that a busy machine can keep."""
GIVES_UP_SECONDS = 20
"""Far more than `lore-hook` allows itself, less than other clients of a daemon wait."""
HUNG_UP = "a connection was ended"
FERRY = "The ferry to Portavera leaves at noon."
QUESTION = "When does the ferry to Portavera leave?"


def hook(endpoint: Endpoint, event: str, sent: dict[str, Any] | bytes, **settings: str) -> str:
    """The text that a hook adds to the conversation; empty if it prints nothing."""
    return run(PATIENT, endpoint, event, sent, **settings)


def run(
    program: Sequence[str], endpoint: Endpoint, event: str, sent: dict[str, Any] | bytes, **settings: str
) -> str:
    done = subprocess.run(
        [*program, *([event] if event else [])],
        input=sent if isinstance(sent, bytes) else json.dumps(sent).encode(),
        capture_output=True,
        timeout=GIVES_UP_SECONDS if program is HOOK else SECONDS,
        env={**os.environ, "LORE_DATA_DIR": endpoint.home, **settings},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    if not done.stdout:
        return ""
    output = json.loads(done.stdout)["hookSpecificOutput"]
    assert output["hookEventName"] == event or not event
    return str(output["additionalContext"])


def keep(endpoint: Endpoint, text: str) -> None:
    with Agent(endpoint, LORE_SURFACES="typed") as agent:
        agent.greet().call("memory_save", content=text)


def of(session: str, **more: Any) -> dict[str, Any]:
    """The fields that every hook gets."""
    return {
        "session_id": session,
        "cwd": "/",
        "permission_mode": "default",
        "stop_hook_active": False,
        **more,
    }


# --- what a conversation gets
def test_a_session_gets_a_brief_and_no_memory_twice(shared: Endpoint) -> None:
    keep(shared, FERRY)
    assert FERRY in hook(shared, "SessionStart", of("s1", source="startup"))
    assert hook(shared, "UserPromptSubmit", of("s1", prompt=QUESTION)) == ""  # the brief had it


def test_a_client_that_lore_itself_started_gets_nothing(shared: Endpoint) -> None:
    keep(shared, FERRY)
    prompt = of("s11", prompt=QUESTION + " x" * LONGEST_INPUT)
    assert hook(shared, "UserPromptSubmit", prompt, LORE_DISABLE="1") == ""
    assert FERRY in hook(shared, "UserPromptSubmit", prompt, LORE_DISABLE="0")


def test_a_memory_may_be_shown_again_after_the_context_was_compacted(shared: Endpoint) -> None:
    keep(shared, FERRY)
    prompt = of("s0", prompt=QUESTION)
    for event, source in (("PreCompact", ""), ("SessionStart", "compact")):
        assert FERRY in hook(shared, "UserPromptSubmit", prompt)
        assert hook(shared, "UserPromptSubmit", prompt) == ""
        assert hook(shared, event, of("s0", source=source), LORE_NAMESPACE="empty") == ""
    assert FERRY in hook(shared, "UserPromptSubmit", prompt)


def test_the_use_of_a_tool_is_warned_of_once_and_only_if_the_user_wants_that(shared: Endpoint) -> None:
    keep(shared, "Never run the migrations with --force: they drop the ferry table.")
    command = {"command": "make migrations --force", "why": "x" * LONGEST_INPUT}
    use = of("s5", tool_name="Bash", tool_input=command)
    assert hook(shared, "PreToolUse", use) == ""
    assert "--force" in hook(shared, "PreToolUse", use, LORE_HOOKS_PRE_TOOL_USE="true")
    assert hook(shared, "PreToolUse", use, LORE_HOOKS_PRE_TOOL_USE="true") == ""
    assert "--force" in hook(shared, "SessionStart", of("s5")), "a warning is no brief"


def test_a_prompt_gets_the_memories_that_fit_it(shared: Endpoint) -> None:
    assert hook(shared, "SessionStart", of("s2", source="startup")) == ""  # nothing is stored yet
    keep(shared, "Rope is tarred twice a year.")
    assert "Rope" in hook(shared, "SessionStart", of("s2", source="resume"))
    assert hook(shared, "SessionStart", of("s2", source="resume")) == ""  # the conversation has its brief
    keep(shared, FERRY)
    long = f"<hook_context>{'a brief ' * LONGEST_PROMPT}</hook_context>{QUESTION}"
    assert FERRY in hook(shared, "BeforeAgent", of("s2", prompt=long))
    assert hook(shared, "", of("s2", prompt=QUESTION, hook_event_name="UserPromptSubmit")) == ""
    for prompt in ("/ferry to Portavera", f"<task-notification>{QUESTION}", " "):
        assert hook(shared, "UserPromptSubmit", of("another", prompt=prompt)) == ""


def test_the_first_prompt_brings_the_brief_that_the_start_missed(shared: Endpoint) -> None:
    keep(shared, FERRY)
    assert FERRY in hook(shared, "UserPromptSubmit", of("s3", prompt="Good morning"))
    assert hook(shared, "UserPromptSubmit", of("s3", prompt="Good morning")) == ""


def test_a_memory_that_was_not_delivered_does_not_count_as_shown(shared: Endpoint) -> None:
    """A hook that has given up hangs up before the daemon answers."""
    keep(shared, FERRY)
    prompt = of("s7", prompt=QUESTION)
    fields = {"event": "UserPromptSubmit", "input": json.dumps(prompt), **variables()}
    log = Path(shared.log)
    before = log.read_text().count(HUNG_UP)
    with socket.socket(socket.AF_UNIX) as gone:
        gone.connect(shared.socket)
        gone.sendall(protocol.encode("hook", fields))
    until(lambda: log.read_text().count(HUNG_UP) > before)
    assert FERRY in hook(shared, "UserPromptSubmit", prompt)


# --- whatever happens
@pytest.mark.parametrize(
    ("event", "sent"),
    [
        ("UserPromptSubmit", b""),
        ("UserPromptSubmit", b"no JSON \0\xff\n"),
        ("UserPromptSubmit", b"[" * 100_000),
        ("UserPromptSubmit", b'{"session_id": 1, "prompt": "\\ud83d", "cwd": ["/"]}'),
        ("UserPromptSubmit", b"x" * (LONGEST_INPUT + 1)),
        ("UserPromptSubmit", b"x" * (LARGEST_INPUT + 1)),
        ("NoSuchEvent", b"{}"),
        ("Stop", b'{"transcript_path": "/etc/passwd"}'),
    ],
    ids=["empty", "garbage", "deep", "odd", "long", "huge", "unknown", "transcript"],
)
def test_wrong_input_adds_nothing_and_is_no_failure(shared: Endpoint, event: str, sent: bytes) -> None:
    assert hook(shared, event, sent) == ""
    assert ping(shared) is not None


def test_a_long_prompt_is_cut(shared: Endpoint) -> None:
    keep(shared, FERRY)
    assert FERRY in hook(shared, "UserPromptSubmit", of("s4", prompt=QUESTION + " x" * LONGEST_INPUT))


def test_a_hook_gives_up_on_a_daemon_that_does_not_answer(shared: Endpoint) -> None:
    with short_folder() as folder, socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(folder / "daemon.sock"))
        silent.listen()
        assert run(HOOK, Endpoint({}, str(folder)), "SessionStart", of("s5")) == ""


def test_a_hook_ends_although_its_input_does_not(shared: Endpoint) -> None:
    reading, writing = os.pipe()
    try:
        os.write(writing, b"{")
        env = {**os.environ, "LORE_DATA_DIR": shared.home}
        done = subprocess.run(
            [*HOOK, "Stop"], stdin=reading, capture_output=True, env=env, timeout=GIVES_UP_SECONDS
        )
        assert (done.returncode, done.stdout) == (0, b"")
    finally:
        os.close(reading)
        os.close(writing)


def test_a_hook_ends_well_although_nobody_can_read_its_output(shared: Endpoint) -> None:
    keep(shared, FERRY)
    line = " ".join((*HOOK, "SessionStart", ">&-"))
    env = {**os.environ, "LORE_DATA_DIR": shared.home}
    done = subprocess.run(line, shell=True, input=b"{}", env=env, stderr=subprocess.PIPE, timeout=SECONDS)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no folder that root cannot write to")
def test_nothing_is_started_where_nothing_can_be_written(hashed: None) -> None:
    assert hook(Endpoint({}, "/proc/self"), "SessionStart", of("s6")) == ""


# --- transcripts
@pytest.fixture
def home(hashed: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A home whose transcripts are read."""
    with short_folder() as folder:
        monkeypatch.setenv("HOME", str(folder))
        monkeypatch.setenv("LORE_INGEST_PAUSED", "no")
        for name in VARIABLES:
            monkeypatch.delenv(name, raising=False)
        yield folder


def transcript(place: Path, text: str) -> str:
    """The path of a new transcript of Claude Code with one prompt."""
    path = place / ".claude/projects/-ferry/a-session.jsonl"
    path.parent.mkdir(parents=True)
    line = {"type": "user", "message": {"role": "user", "content": text}, "sessionId": "a-session"}
    path.write_text(json.dumps(line | {"uuid": f"{len(text):08x}-0000-4000-8000-000000000000"}) + "\n")
    return str(path)


def test_transcripts_are_read_after_a_hook_without_a_daemon_and_with_one(home: Path, tmp_path: Path) -> None:
    """The first hook starts a daemon, which reads all transcripts of the home: nothing was lost before. The
    second names one elsewhere, which no daemon would look for."""
    path = transcript(home, "The pilot boat is called Marigold.")
    elsewhere = transcript(tmp_path, "The pilot station has moved to the east mole.")
    with an_endpoint(home / ".lore") as endpoint:
        assert hook(endpoint, "SessionEnd", of("a-session", transcript_path=path)) == ""
        until(lambda: ping(endpoint))
        with Agent(endpoint, LORE_SURFACES="typed") as agent:
            agent.greet()
            until(lambda: "Marigold" in str(agent.call("memory_recall", query="pilot boat")))
            assert hook(endpoint, "Stop", of("b-session", transcript_path=elsewhere)) == ""
            until(lambda: "east mole" in str(agent.call("memory_recall", query="pilot station")))
        assert stop(endpoint)


# --- parts
def test_an_output_is_never_longer_than_clients_show() -> None:
    sent = read_input({"event": "Stop", "input": "{}"})
    context = json.loads(output_of(sent, Injection("x" * 20_000)))["hookSpecificOutput"]["additionalContext"]
    assert len(context) == LONGEST_CONTEXT
    assert output_of(sent, Injection()) == ""


def test_an_input_without_fields_is_read_as_one_with_empty_ones() -> None:
    assert read_input({"event": "Stop", "folder": "/x"}) == HookInput(
        "Stop", "", "/x", "", "", "", Action(tool="")
    )


def test_texts_that_no_path_can_have_are_cleaned() -> None:
    odd = json.dumps({"transcript_path": "/a\0b/\ud800.jsonl", "cwd": "/\0", "prompt": 5})
    sent = read_input({"event": "Stop", "input": odd})
    assert (sent.transcript, sent.folder, sent.prompt) == ("/ab/?.jsonl", "/", "")


def test_the_next_daemon_knows_the_memories_that_were_shown(tmp_path: Path) -> None:
    path = tmp_path / "shown"
    shown = Shown(path)
    shown.add("s", ["a", "b"])
    shown.add("s", ["b", "c"])
    assert Shown(path).of("s") == ("a", "b", "c")
    shown.forget("s")
    assert Shown(path).of("s") == ()
    path.write_text("[garbage")
    assert Shown(path).of("s") == ()


def test_the_list_of_shown_memories_stays_small(tmp_path: Path) -> None:
    shown = Shown(tmp_path / "shown")
    for number in range(MOST_SESSIONS + 1):
        shown.add(f"s{number}", [f"{number}-{id}" for id in range(MOST_IDS + 1)])
    assert shown.of("s0") == ()
    last = shown.of(f"s{MOST_SESSIONS}")
    assert (len(last), last[-1]) == (MOST_IDS, f"{MOST_SESSIONS}-{MOST_IDS}")
