"""Cursor CLI's transcripts: names for what has none, the same after the file was written anew."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.transcripts import cursor_cli
from lore.transcripts.turns import Turn, TurnOrHeading
from tests.transcripts import reading
from tests.transcripts.reading import heard, lines, turns

FIXTURE = reading.lines_of("cursor-cli-session.jsonl")
SESSION = "3f0c2b54-7b3e-4f55-9d0f-5a1f6c1d2e3f"
PROJECT = "/home/dev/.cursor/projects/home-dev-proj-cur/agent-transcripts"
PATH = f"{PROJECT}/{SESSION}/{SESSION}.jsonl"


def said(told: list[bytes], *splits: int, path: str = PATH) -> list[TurnOrHeading]:
    return reading.read(cursor_cli.Reader, path, told, *splits)


def message(role: str, text: str, **more: Any) -> dict[str, Any]:
    return {"role": role, "message": {"content": [{"type": "text", "text": text}]}, **more}


def test_a_session_becomes_its_turns() -> None:
    told = turns(said(FIXTURE))
    assert [(turn.line, turn.role, turn.tool, turn.text) for turn in told] == [
        (1, "user", "", "CURSOR-PROMPT say hi"),
        (2, "assistant", "", "Running."),
        (2, "tool", "Shell", "echo hi-cursor"),
        (3, "tool", "Shell", "echo hi-cursor"),
        (4, "assistant", "", "All done, Cursor."),
        (6, "user", "", "once more"),
        (7, "assistant", "", "All done, Cursor."),
    ]
    assert len({turn.uuid for turn in told}) == 7
    assert told[0] == Turn(
        uuid=told[0].uuid, session=SESSION, role="user", text="CURSOR-PROMPT say hi", line=1
    )


def test_a_rewritten_file_keeps_the_ids_of_its_turns() -> None:
    before = turns(said(FIXTURE))
    anew = turns(said([*lines({"type": "resumed"}), *FIXTURE[:2], *FIXTURE[3:], *FIXTURE[2:3]]))
    assert {turn.uuid for turn in anew} == {turn.uuid for turn in before}


def test_ids_differ_between_sessions() -> None:
    names = {turn.uuid for turn in turns(said(FIXTURE))}
    others = {turn.uuid for turn in turns(said(FIXTURE, path=PATH.replace(SESSION, "another")))}
    assert not names & others


def test_a_persons_words_are_read_with_and_without_tags() -> None:
    told = lines(
        message("user", "no tags"),
        message("user", "<user_query>\none\n</user_query>\n<user_query>\ntwo\n</user_query>"),
        message("user", "<user_query>never closed"),
        {"role": "user", "message": {"content": "only text"}},
        {"role": "system", "message": {"content": "be good"}},
    )
    assert heard(said(told)) == [
        ("user", "no tags"),
        ("user", "one\ntwo"),
        ("user", "<user_query>never closed"),
        ("user", "only text"),
    ]


def test_a_subagents_turns_belong_to_the_session_that_sent_it() -> None:
    [turn] = turns(said(lines(message("assistant", "hi")), path=f"{PROJECT}/{SESSION}/subagents/child.jsonl"))
    assert (turn.session, turn.agent) == (SESSION, "child")
    [turn] = turns(said(lines(message("user", "look")), path=f"{PROJECT}/{SESSION}/subagents/child.jsonl"))
    assert turn.role == "assistant"
    nested = f"{PROJECT}/{SESSION}/subagents/child/subagents/grandchild.jsonl"
    [turn] = turns(said(lines(message("assistant", "hi")), path=nested))
    assert (turn.session, turn.agent) == (SESSION, "grandchild")


@given(st.sets(st.integers(1, len(FIXTURE))))
def test_a_file_read_in_pieces_gives_the_same_turns(splits: set[int]) -> None:
    assert said(FIXTURE, *splits) == said(FIXTURE)


@given(reading.mishaps(FIXTURE))
def test_damaged_files_give_each_turn_one_id(told: list[bytes]) -> None:
    told = [*told, *lines(message("user", "still there"))]
    reading.check(said(told))
    names = [turn.uuid for turn in turns(said(told))]
    assert len(set(names)) == len(names)
    assert heard(said(told))[-1] == ("user", "still there")


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"type":"turn_ended"}', b'{"role":[],"message":{}}',
     b'{"role":"user","message":[]}', b'{"role":"user","message":{"content":[7,{"type":"text","text":7}]}}',
     b'{"role":"assistant","message":{"content":[{"type":"tool_use","name":{},"input":null}]}}'],
    ids=range(10),
)  # fmt: skip
def test_lines_that_are_no_conversation_give_no_turns(line: bytes) -> None:
    assert said([line]) == []


def test_the_state_stays_small_however_long_a_session_is() -> None:
    reader = cursor_cli.Reader(PATH, {})
    for number in range(5_000):
        reader.read(number + 1, *lines(message("assistant", f"message {number}")))
    assert len(json.dumps(reader.state)) < 100_000


def test_a_line_of_many_megabytes_is_one_whole_turn() -> None:
    text = "word <user_query> " * 300_000
    [turn] = turns(said(lines(message("user", text))))
    assert turn.text == text.strip()
