"""Gemini CLI's sessions: records that are written again, patches, tools, and broken files."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.transcripts import gemini
from lore.transcripts.turns import Heading, Turn, TurnOrHeading
from tests.transcripts import reading
from tests.transcripts.reading import headings, heard, lines, turns

REAL = reading.lines_of("gemini-0.61.0-session.jsonl")
SESSION = "a783a17a-96f2-4109-8efc-51b2bc99babd"
RUNNING = "f2a5abd2-88d1-411a-98cf-33ba5ea4fb45"
MODEL = "gemini-2.5-flash"
PATH = "/home/dev/.gemini/tmp/proj-gem/chats/session-2026-11-15T21-18-a783a17a.jsonl"
HEADER = {"sessionId": SESSION, "startTime": "2026-11-15T21:18:24.368Z", "kind": "main"}

SUMMARY = {"$set": {"summary": "Saying hi"}}


def said(told: list[bytes], *splits: int, path: str = PATH) -> list[TurnOrHeading]:
    return reading.read(gemini.Reader, path, told, *splits)


def message(id: str, content: object, type: str = "user", **more: Any) -> dict[str, Any]:
    return {"id": id, "timestamp": "2026-11-15T21:18:24Z", "type": type, "content": content, **more}


def test_a_real_session_becomes_its_heading_and_its_turns() -> None:
    running = Turn(
        uuid=RUNNING,
        session=SESSION,
        role="assistant",
        text="Running.",
        at=1794777504.93,
        reasoning="Plan: I will run it",
        model=MODEL,
        line=5,
    )
    assert said(REAL[:6]) == [
        Heading(session=SESSION, at=1794777504.368),
        Turn(
            uuid="17016d9c-a834-4d9f-afba-dba49e576a65",
            session=SESSION,
            role="user",
            text="GEMINI-PROMPT2 say hi",
            at=1794777504.421,
            line=3,
        ),
        running,
    ]
    assert said(REAL)[3:] == [
        Turn(
            uuid=RUNNING,
            session=SESSION,
            role="assistant",
            text="Running.",
            at=1794777504.93,
            reasoning="Plan: I will run it",
            model=MODEL,
            line=7,
        ),
        Turn(
            uuid=f"{RUNNING}/run_shell_command__run_shell_command_1794777504575_0",
            session=SESSION,
            role="tool",
            text="echo hi-gemini\nOutput: hi-gemini\nProcess Group PGID: 3171",
            full="echo hi-gemini\ndescription: say hi\nOutput: hi-gemini\nProcess Group PGID: 3171",
            at=1794777505.098,
            tool="run_shell_command",
            model=MODEL,
            line=7,
        ),
        Turn(
            uuid="c1613f3d-b580-4492-801d-8419dccece80",
            session=SESSION,
            role="assistant",
            text="All done, Gemini.",
            at=1794777505.13,
            reasoning="Thinking hard",
            model=MODEL,
            line=10,
        ),
    ]


def test_a_message_list_that_is_set_again_keeps_the_ids_of_its_turns() -> None:
    hello, snapshot = message(RUNNING, "hello"), message("d049", [{"text": "<state_snapshot>so far"}])
    patch = {"$set": {"messages": [snapshot, hello], "lastUpdated": "2026-11-15T21:18:24.369Z"}}
    told = turns(said(lines(HEADER, hello, patch, snapshot)))
    assert [(turn.role, turn.text) for turn in told] == [
        ("user", "hello"),
        ("summary", "<state_snapshot>so far"),
        ("user", "hello"),
        ("summary", "<state_snapshot>so far"),
    ]
    assert told[0].uuid == told[2].uuid == RUNNING
    assert told[1].uuid == told[3].uuid


@pytest.mark.parametrize("id", ["d049", "d04923d38bb0f6017037e74183378ef4"])
def test_an_id_that_is_no_uuid_is_unique_in_its_session_only(id: str) -> None:
    [one] = turns(said(lines(HEADER, message(id, "hello"))))
    [other] = turns(said(lines({**HEADER, "sessionId": "other"}, message(id, "hello"))))
    assert one.uuid != other.uuid


def test_only_the_words_of_a_person_become_a_users_turns() -> None:
    told = lines(
        HEADER,
        message("1", [{"text": "<session_context>here</session_context>"}]),
        message("2", [{"functionResponse": {"response": {"output": "hi"}}}]),
        message("3", "an update is ready", "info"),
        message(
            "4", [{"text": "look at @a.py"}, {"text": "\n--- Content from referenced files ---\nimport os"}]
        ),
        message("5", "a prompt that was expanded", displayContent=[{"text": "/explain"}]),
    )
    assert heard(said(told)) == [("user", "look at @a.py"), ("user", "/explain")]


def test_texts_that_hooks_have_added_are_no_words_of_a_person() -> None:
    begin, end = gemini.HOOK_CONTEXT
    texts = [f"{begin}A brief.{end}\n\nSay hi", f"Say hi{begin}A memory.{end}", f"{begin}A memory{end}"]
    told = lines(HEADER, *(message(f"m{number}", text) for number, text in enumerate(texts)))
    assert [turn.text for turn in turns(said(told))] == ["Say hi", "Say hi"]


def test_failed_and_silent_tools_become_turns() -> None:
    answer = [{"functionResponse": {"response": {"error": "no such file"}}}]
    calls = [
        {"id": "a", "name": "read_file", "args": {"file_path": "x.py"}, "status": "error", "result": answer},
        {
            "id": "a",
            "name": "glob",
            "args": {"pattern": "*"},
            "status": "success",
            "resultDisplay": "2 found",
        },
        {"id": "b", "name": "nothing", "args": {}, "status": "success"},
    ]
    thoughts = [{"subject": "Look", "description": "around"}]
    first, second = turns(
        said(lines(HEADER, message(RUNNING, "", "gemini", toolCalls=calls, thoughts=thoughts)))
    )
    assert (first.tool, first.text, first.failed) == ("read_file", "x.py\nno such file", True)
    assert (second.tool, second.text, second.failed) == ("glob", "*\n2 found", False)
    assert (first.reasoning, second.reasoning) == ("Look: around", "")
    assert (first.uuid, second.uuid) == (f"{RUNNING}/a", f"{RUNNING}/1")


def test_a_subagents_turns_belong_to_the_session_that_sent_it() -> None:
    path = f"/home/dev/.gemini/tmp/proj-gem/chats/{SESSION}/child.jsonl"
    told = said(
        lines({**HEADER, "sessionId": "child", "kind": "subagent"}, message("1", "look around")), path=path
    )
    assert headings(told) == []
    assert [(t.session, t.agent, t.role) for t in turns(told)] == [(SESSION, "child", "assistant")]
    named = said(lines({**HEADER, "sessionId": "child", "kind": "subagent"}, SUMMARY), path=path)
    assert named == [], "a subagent's title is not its sender's"


def test_a_subagent_without_a_known_sender_is_a_session() -> None:
    told = said(lines({**HEADER, "kind": "subagent"}, message("1", "look around")))
    assert {h.session for h in headings(told)} == {SESSION}
    assert [(t.session, t.agent, t.role) for t in turns(told)] == [(SESSION, SESSION, "assistant")]


def test_fields_of_a_message_survive_a_later_version_without_them() -> None:
    call = {"id": "c", "name": "glob", "args": {"pattern": "*"}, "resultDisplay": "2 found"}
    thoughts = [{"subject": "Look", "description": "around"}]
    first = message(RUNNING, "", "gemini", toolCalls=[call], thoughts=thoughts, model=MODEL)
    again = {"id": RUNNING, "type": "gemini", "content": "Looked.", "toolCalls": [call]}
    one, _, other = turns(said(lines(HEADER, first, again)))
    assert one.uuid == other.uuid
    assert (other.at, other.model, other.reasoning) == (one.at, MODEL, "Look: around")


def test_a_summary_is_a_title() -> None:
    told = said(lines(HEADER, SUMMARY))
    assert headings(told)[-1] == Heading(session=SESSION, title="Saying hi")


@given(st.sets(st.integers(1, len(REAL))))
def test_a_file_read_in_pieces_gives_the_same_turns(splits: set[int]) -> None:
    assert said(REAL, *splits) == said(REAL)


@given(reading.mishaps(REAL))
def test_a_damaged_file_is_read_without_errors(told: list[bytes]) -> None:
    reading.check(said(told))
    assert heard(said([*told, *lines(message("9", "still there"))]))[-1] == ("user", "still there")


@given(st.lists(st.integers(0, len(REAL) - 1), max_size=30))
def test_lines_in_any_order_and_number_give_each_turn_one_id(order: list[int]) -> None:
    told = said([REAL[at] for at in order])
    named = {(turn.uuid, turn.role, turn.text) for turn in turns(told)}
    assert len({uuid for uuid, _, _ in named}) == len(named)


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"sessionId":7}', b'{"$set":[]}',
     b'{"$set":{"messages":7}}',
     b'{"id":"1","type":[],"content":"x"}', b'{"id":"1","type":"user","content":{"text":"x"}}',
     b'{"id":"1","type":"gemini","toolCalls":{"id":1},"thoughts":[1],"timestamp":{}}'],
    ids=range(11),
)  # fmt: skip
def test_lines_that_are_no_conversation_give_no_turns(line: bytes) -> None:
    assert said([line]) == []


@pytest.mark.parametrize("file", ["session-1.jsonl", f"{SESSION}/child.jsonl"])
def test_a_session_belongs_to_the_project_root_that_the_client_records(tmp_path: Path, file: str) -> None:
    path = tmp_path / "proj-gem" / "chats" / file
    path.parent.mkdir(parents=True)
    unknown = said(REAL, path=str(path))
    assert {one.folder for one in unknown} == {""}
    (tmp_path / "proj-gem" / ".project_root").write_text("/home/dev/proj-gem\n")
    told = said(REAL, path=str(path))
    assert {one.folder for one in told} == {"/home/dev/proj-gem"}
    assert len(told) == len(unknown)


def test_a_line_of_many_megabytes_is_one_whole_turn() -> None:
    text = "word <session_context> " * 300_000
    [turn] = turns(said(lines(HEADER, message("1", text))))
    assert turn.text == text.strip()
