"""Codex's rollouts: both forms of history, forks, subagents, and files that something happened to."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.transcripts import codex, codex_tools, fields
from lore.transcripts.tool_calls import Call
from lore.transcripts.turns import WAITING_CHARACTERS, Heading, Turn, TurnOrHeading
from tests.transcripts import reading
from tests.transcripts.reading import headings, heard, lines, turns

REAL = reading.lines_of("codex-0.166.0-rollout-paginated.jsonl")
SESSION = "01a1e10f-b202-7bc2-9059-3856366a4f70"
FIRST, SECOND = "01a1e10f-b25a-7f52-a5cb-7c1a12bddb20", "01a1e10f-fcab-7e91-9488-1b9b26d612c5"
FORK, FORK_TURN = "01a1e111-0000-7000-8000-000000000001", "01a1e111-1000-7000-8000-000000000002"
FORKS_FORK, FORKS_FORK_TURN = "01a1e112-0000-7000-8000-000000000003", "01a1e112-1000-7000-8000-000000000004"
FOLDER = "/home/dev/proj-codex"
PATH = f"/home/dev/.codex/sessions/2026/11/15/rollout-2026-11-15T21-14-24-{SESSION}.jsonl"


def said(told: list[bytes], *splits: int, path: str = PATH) -> list[TurnOrHeading]:
    return reading.read(codex.Reader, path, told, *splits)


def record(type: str, second: int = 0, /, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-11-15T22:00:{second:02}.000Z", "type": type, "payload": payload}


def event(type: str, second: int = 0, /, **payload: Any) -> dict[str, Any]:
    return record("event_msg", second, type=type, **payload)


def response(type: str, /, **payload: Any) -> dict[str, Any]:
    return record("response_item", type=type, **payload)


def item(type: str, turn: str, /, **payload: Any) -> dict[str, Any]:
    return event("item_completed", turn_id=turn, item={"type": type, **payload})


def meta(id: str, second: int = 0, /, **more: Any) -> dict[str, Any]:
    git = {"branch": "main", "repository_url": "git@example.org:dev/proj.git"}
    return record(
        "session_meta", second, id=id, timestamp="2026-11-15T22:00:00Z", cwd=FOLDER, git=git, **more
    )


LEGACY = lines(
    meta("legacy"),
    record("turn_context", model="gpt-5", cwd="/home/dev/elsewhere"),
    response("message", role="user", content=[{"text": "<environment_context>here</environment_context>"}]),
    event("user_message", 1, message="list the files", kind="plain"),
    event("user_message", 1, message="# AGENTS.md", kind="user_instructions"),
    event("agent_reasoning", 2, text="**Listing**"),
    response("function_call", name="shell", arguments='{"command":["bash","-lc","ls"]}', call_id="c1"),
    response(
        "function_call_output", call_id="c1", output="Exit code: 2\nWall time: 0 seconds\nOutput:\nno such"
    ),
    response("custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="c2"),
    response(
        "custom_tool_call_output", call_id="c2", output='{"output":"Success","metadata":{"exit_code":0}}'
    ),
    event("agent_message", 4, message="There are none."),
    record("compacted", 5, message="A folder was listed.", replacement_history=[{"role": "user"}]),
    event("user_message", 6, message="list the files"),
    event("agent_reasoning", 7, text="**Looking again**"),
    event("agent_message", 7, message="There are none."),
    event("agent_message", 7, message="There are none."),
)


def test_a_real_session_becomes_its_heading_and_its_turns() -> None:
    assert said(REAL) == [
        Heading(session=SESSION, folder=FOLDER, at=1794777264.659),
        Turn(
            uuid=f"{FIRST}/01a1e10f-b2d0-7b22-8f59-8ac4734bdf4f",
            session=SESSION,
            role="user",
            text="CODEX-PROMPT say hi",
            at=1794777264.85,
            folder=FOLDER,
            line=9,
        ),
        Turn(
            uuid=f"{FIRST}/call_1",
            session=SESSION,
            role="tool",
            text="echo hi-codex\nhi-codex",
            at=1794777264.95,
            reasoning="Thinking about it",
            tool="exec_command",
            folder=FOLDER,
            model="mock-1",
            line=14,
        ),
        Turn(
            uuid=f"{FIRST}/msg_1",
            session=SESSION,
            role="assistant",
            text="All done, Codex.",
            at=1794777264.992,
            folder=FOLDER,
            model="mock-1",
            line=17,
        ),
        Turn(
            uuid=f"{SECOND}/01a1e10f-fcc3-7b32-b267-724667b4eab6",
            session=SESSION,
            role="user",
            text="second CODEX prompt",
            at=1794777283.781,
            folder=FOLDER,
            line=30,
        ),
        Turn(
            uuid=f"{SECOND}/msg_1",
            session=SESSION,
            role="assistant",
            text="All done, Codex.",
            at=1794777283.827,
            folder=FOLDER,
            model="mock-1",
            line=31,
        ),
    ]


def test_the_legacy_form_gives_the_same_turns() -> None:
    told = said(LEGACY)
    assert heard(told) == [
        ("user", "list the files"),
        ("tool", "ls\nno such"),
        ("tool", "*** Begin Patch\nSuccess"),
        ("assistant", "There are none."),
        ("summary", "A folder was listed."),
        ("user", "list the files"),
        ("assistant", "There are none."),
        ("assistant", "There are none."),
    ]
    assert len({turn.uuid for turn in turns(told)}) == 8
    command = turns(told)[1]
    assert (command.tool, command.failed, command.reasoning) == ("shell", True, "**Listing**")
    assert (command.model, command.folder) == ("gpt-5", "/home/dev/elsewhere")
    assert (command.branch, command.remote) == ("main", "git@example.org:dev/proj.git")
    assert not turns(told)[2].failed
    assert [turn.reasoning for turn in turns(told)[-2:]] == ["**Looking again**", ""]


def test_a_text_in_both_an_item_and_an_event_is_one_turn() -> None:
    told = lines(
        event("user_message", message="hello"),
        item("UserMessage", FIRST, id="u1", content=[{"type": "text", "text": "hello"}]),
        item("AgentMessage", FIRST, id="a1", content=[{"type": "Text", "text": "well"}]),
        event("agent_message", message="well"),
        item("AgentMessage", FIRST, id="a2", content=[{"type": "Text", "text": "well"}]),
        event("agent_message", message="well"),
    )
    thought = lines(
        item("Reasoning", FIRST, id="r", summary_text=["hm"]), event("agent_reasoning", text="hm")
    )
    begun = lines(meta(SESSION), event("task_started", turn_id=FIRST))
    both = turns(said(begun + told[:2] + thought + told[2:]))
    assert [(t.role, t.text, t.reasoning) for t in both] == [
        ("user", "hello", ""),
        ("assistant", "well", "hm"),
        ("assistant", "well", ""),
    ]


def test_items_belong_to_the_turn_that_they_name() -> None:
    content = [{"type": "text", "text": "hello"}]
    told = lines(
        meta(SESSION),
        item("UserMessage", FIRST, id="u", content=content),
        item("CommandExecution", SECOND, id="c", command=["ls"]),
        item("UserMessage", SECOND, id="u", content=content),
    )
    assert [turn.uuid for turn in turns(said(told))] == [f"{FIRST}/u", f"{SECOND}/c", f"{SECOND}/u"]


def test_numeric_turn_ids_are_unique_in_their_session_only() -> None:
    told = [event("task_started", turn_id="1"), event("user_message", message="hello")]
    [one], [other] = (turns(said(lines(meta(id), *told))) for id in ("one", "other"))
    assert one.uuid != other.uuid


def test_a_text_that_is_repeated_much_later_is_another_turn() -> None:
    often = [event("user_message", message=text) for text in ("hello", *map(str, range(500)), "hello")]
    assert len({turn.uuid for turn in turns(said(lines(meta("legacy"), *often)))}) == 502


def test_text_that_an_editor_adds_before_a_request_is_removed() -> None:
    message = "# Context from my IDE setup:\n\n## Open tabs:\n- a.py\n\n## My request for Codex:\nfix it\n"
    assert heard(said(lines(meta("s"), event("user_message", message=message)))) == [("user", "fix it")]


def test_a_long_running_command_is_updated_when_it_ends() -> None:
    begun = lines(
        meta(SESSION),
        record("turn_context", turn_id=FIRST),
        response("function_call", name="exec_command", arguments='{"cmd":"make"}', call_id="c1"),
        response("function_call_output", call_id="c1", output="Process running with session ID 5"),
    )
    ended = lines(
        record("turn_context", turn_id=SECOND),
        item("CommandExecution", FIRST, id="c1", command=["make"], exit_code=2, aggregated_output="no rule"),
        event("agent_message", message="it failed"),
    )
    running, failed, message = turns(said(begun + ended))
    assert (running.text, running.failed) == ("make\nProcess running with session ID 5", False)
    assert (failed.text, failed.failed) == ("make\nno rule", True)
    assert running.uuid == failed.uuid == f"{FIRST}/c1"
    assert message.uuid.startswith(SECOND)


@pytest.mark.parametrize(
    ("told", "tool", "text", "failed"),
    [
        (
            item("McpToolCall", FIRST, id="c", server="lore", tool="search", arguments={"query": "x"},
                 status="completed", result={"content": [{"type": "text", "text": "found"}]}),
            "mcp__lore__search", "x\nfound", False,
        ),
        (
            event("mcp_tool_call_end", call_id="c", result={"Err": "gone"},
                  invocation={"server": "lore", "tool": "search", "arguments": {"query": "x"}}),
            "mcp__lore__search", "x\ngone", True,
        ),
        (
            item("FileChange", FIRST, id="c", changes={"b.py": {}, "a.py": {}}, status="declined"),
            "apply_patch", "a.py\nb.py", True,
        ),
        (
            response("web_search_call", id="c", status="completed", action={"query": "lore"}),
            "web_search", "lore", False,
        ),
        (
            item("DynamicToolCall", FIRST, id="c", tool="look", arguments={"path": "a.png"},
                 content_items=[{"type": "inputText", "text": "a cat"}], success=True),
            "look", "a.png\na cat", False,
        ),
        (
            event("exec_command_end", call_id="c", command=["git", "log"], stderr="no repo", exit_code=128),
            "shell", "git log\nno repo", True,
        ),
    ],
)  # fmt: skip
def test_every_kind_of_tool_is_one_turn(told: dict[str, Any], tool: str, text: str, failed: bool) -> None:
    [turn] = turns(said(lines(meta(SESSION), told, told)))
    assert (turn.role, turn.tool, turn.text, turn.failed) == ("tool", tool, text, failed)


def test_a_call_is_taken_from_whichever_record_has_it() -> None:
    told = lines(
        meta(SESSION),
        response("custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="c"),
        event("patch_apply_end", call_id="c", changes={}, stdout="Success"),
        response("custom_tool_call_output", call_id="c", output="Success"),
    )
    assert heard(said(told)) == [("tool", "*** Begin Patch\nSuccess")]


def answered(output: object) -> tuple[str, bool]:
    finished = codex_tools.answered(Call(), {"output": output})
    return finished.result, finished.failed


def test_only_the_preamble_of_an_output_decides_whether_it_failed() -> None:
    log = "line\n" * 200 + "Exit code: 1\nOutput:\nthe end"
    assert answered(log) == (log, False)
    assert answered("Exit code: 1\nOutput:\nthe end") == ("the end", True)


def test_long_results_are_searched_by_an_excerpt_and_kept_whole() -> None:
    output = "a b" * 100_000
    long = item("CommandExecution", FIRST, id="c", command=["cat", "x" * 1_000], aggregated_output=output)
    [turn] = turns(said(lines(meta(SESSION), long)))
    assert len(turn.text) < fields.CALL_LIMIT + fields.RESULT_LIMIT + 100
    assert turn.full == f"cat {'x' * 1_000}\n{output}"


def test_a_call_is_kept_whole_whichever_of_its_two_records_comes_first() -> None:
    patch = "*** Begin Patch\n" + "+ line\n" * 500
    asked = response("custom_tool_call", name="apply_patch", input=patch, call_id="c")
    told = response("custom_tool_call_output", call_id="c", output="Done")
    [turn] = turns(said(lines(meta(SESSION), asked, told)))
    assert turn.full == f"{patch.strip()}\nDone"
    changes = {"/a.py": {"type": "update", "unified_diff": "@@ -1 +1 @@"}}
    done = item("FileChange", FIRST, id="c", changes=changes, stdout="Done")
    [turn] = turns(said(lines(meta(SESSION), done)))
    assert (turn.text, turn.full) == ("/a.py\nDone", f"/a.py\n{json.dumps(changes)}\nDone")


def fork_of(parent: list[bytes], id: str, turn: str, text: str, **more: Any) -> list[bytes]:
    """What a fork's file holds: its own beginning, the parent's lines with new times, its own turn."""
    replayed = [{**json.loads(line), "timestamp": "2026-11-15T22:00:00.100Z"} for line in parent]
    own = [event("task_started", 20, turn_id=turn), event("user_message", 20, message=text)]
    return lines(meta(id, **more), *replayed, *own)


def test_a_fork_repeats_its_parents_turns_with_the_same_ids() -> None:
    told = turns(said(fork_of(REAL, FORK, FORK_TURN, "another way", forked_from_id=SESSION)))
    before = turns(said(REAL))
    assert [(t.uuid, t.session, t.text, t.at) for t in told[:-1]] == [
        (t.uuid, t.session, t.text, t.at) for t in before
    ]
    assert (told[-1].session, told[-1].text) == (FORK, "another way")


def test_turns_in_a_fork_of_a_fork_belong_to_their_own_sessions() -> None:
    fork = fork_of(REAL, FORK, FORK_TURN, "another way", forked_from_id=SESSION)
    told = said(fork_of(fork, FORKS_FORK, FORKS_FORK_TURN, "a third way", forked_from_id=FORK))
    assert [(t.session, t.text) for t in turns(told)[-3:]] == [
        (SESSION, "All done, Codex."),
        (FORK, "another way"),
        (FORKS_FORK, "a third way"),
    ]
    assert turns(told)[-2].uuid == turns(said(fork))[-1].uuid
    assert [(h.session, h.parent) for h in headings(told)] == [
        (FORKS_FORK, FORK),
        (FORK, SESSION),
        (SESSION, ""),
    ]


def test_turns_without_ids_keep_their_generated_ids_in_a_fork() -> None:
    fork = lines(meta("fork", forked_from_id="legacy")) + [
        json.dumps({**json.loads(line), "timestamp": "2026-11-15T22:00:00.100Z"}).encode() for line in LEGACY
    ]
    own = lines(event("user_message", 30, message="list the files"))
    before, told = turns(said(LEGACY)), turns(said(fork + own))
    assert [turn.uuid for turn in told[:-1]] == [turn.uuid for turn in before]
    assert {turn.session for turn in told[:-1]} == {"legacy"}
    assert {turn.at for turn in told[:-1]} == {None}, "when a fork was begun is not when its parent spoke"
    assert told[-1].session == "fork"
    assert told[-1].uuid not in {turn.uuid for turn in before}


def test_a_subagents_turns_belong_to_the_session_that_sent_it() -> None:
    source = {"subagent": {"thread_spawn": {"parent_thread_id": SESSION}}}
    told = said(
        lines(
            meta(FORK, session_id=SESSION, parent_thread_id=SESSION, source=source, agent_nickname="Ada"),
            event("task_started", turn_id=FORK_TURN),
            event("agent_message", message="I looked."),
        )
    )
    assert headings(told) == []
    assert [(t.session, t.agent, t.text) for t in turns(told)] == [(SESSION, "Ada", "I looked.")]


SPAWNED = {"subagent": {"thread_spawn": {"parent_thread_id": SESSION, "agent_role": "explorer"}}}


@pytest.mark.parametrize(
    ("told", "session", "agent"),
    [
        ({"source": SPAWNED}, SESSION, "explorer"),
        ({"source": SPAWNED, "agent_nickname": "Ada", "agent_role": "worker"}, SESSION, "Ada"),
        ({"source": SPAWNED, "session_id": "root"}, "root", "explorer"),
        ({"source": {"subagent": "review"}, "forked_from_id": SESSION}, SESSION, "review"),
        ({"source": {"subagent": {"other": "judge"}}, "parent_thread_id": SESSION}, SESSION, "judge"),
        ({"source": "cli", "thread_source": "subagent", "forked_from_id": SESSION}, SESSION, FORK),
        ({"source": {"subagent": "review"}}, FORK, "review"),
    ],
    ids=["spawned", "nickname", "root", "review", "other", "thread", "sent by nobody"],
)
def test_all_descriptions_of_a_subagent_are_understood(
    told: dict[str, Any], session: str, agent: str
) -> None:
    prompt = event("user_message", message="Look around.")
    own = [event("task_started", turn_id=FORK_TURN), prompt, event("agent_message", message="I looked.")]
    found = said(lines(meta(FORK, **told), *own))
    assert [(t.session, t.agent, t.role) for t in turns(found)] == [(session, agent, "assistant")] * 2
    assert [h.session for h in headings(found)] == ([FORK] if session == FORK else [])


def test_a_subagents_name_does_not_rename_the_session_that_sent_it() -> None:
    renamed = lines(event("thread_name_updated", thread_id=FORK, thread_name="A look around"))
    assert headings(said(lines(meta(FORK, source=SPAWNED)) + renamed)) == []


def sent_by(parent: list[bytes], id: str, turn: str, text: str, **more: Any) -> list[bytes]:
    return fork_of(parent, id, turn, text, source={"subagent": {"thread_spawn": {}}}, **more)


def test_a_subagent_that_replays_its_sender_gives_only_its_own_turns() -> None:
    told = said(sent_by(REAL, FORK, FORK_TURN, "look", parent_thread_id=SESSION, agent_role="explorer"))
    assert [(t.uuid, t.session, t.agent) for t in turns(told)[:-1]] == [
        (t.uuid, SESSION, "") for t in turns(said(REAL))
    ]
    assert (turns(told)[-1].session, turns(told)[-1].agent) == (SESSION, "explorer")
    assert [h.session for h in headings(told)] == [SESSION]


def test_a_subagents_subagent_belongs_to_the_root() -> None:
    child = sent_by(REAL, FORK, FORK_TURN, "look", parent_thread_id=SESSION, agent_role="child")
    nested = sent_by(
        child, FORKS_FORK, FORKS_FORK_TURN, "look closer", parent_thread_id=FORK, agent_role="grandchild"
    )
    assert [(t.session, t.agent) for t in turns(said(nested))[-2:]] == [
        (SESSION, "child"),
        (SESSION, "grandchild"),
    ]
    assert {h.session for h in headings(said(nested))} == {SESSION}


def test_an_undescribed_sender_is_no_session_if_the_root_is_named() -> None:
    more = {"parent_thread_id": FORK, "session_id": SESSION, "agent_nickname": "Ada", "source": SPAWNED}
    replayed = [event("task_started", turn_id=FORK_TURN), event("agent_message", message="I sent her.")]
    own = [event("task_started", turn_id=FORKS_FORK_TURN), event("agent_message", message="I looked.")]
    told = turns(said(lines(meta(FORKS_FORK, **more), *replayed, *own)))
    assert [(t.session, t.agent) for t in told] == [(SESSION, FORK), (SESSION, "Ada")]


def test_a_fork_of_a_subagent_is_a_session_whose_parent_is_the_root() -> None:
    child = sent_by(REAL, FORK, FORK_TURN, "look", parent_thread_id=SESSION)
    told = said(fork_of(child, FORKS_FORK, FORKS_FORK_TURN, "another way", forked_from_id=FORK))
    assert {h.session: h.parent for h in headings(told)} == {FORKS_FORK: SESSION, SESSION: ""}
    assert (turns(told)[-1].session, turns(told)[-1].agent) == (FORKS_FORK, "")


def test_sessions_that_name_each_other_as_sender_are_read() -> None:
    senders = {"own": "a", "a": "b", "b": "a"}
    told = said(lines(*(meta(id, parent_thread_id=sender) for id, sender in senders.items()), *SPOKEN))
    assert heard(told) == [("assistant", "hello")]


SPOKEN = [event("user_message", message="hello")]


def test_a_compressed_file_gives_the_same_turns_as_before() -> None:
    for told in (REAL, LEGACY, REAL[1:], LEGACY[1:], ALL):
        assert said(told, path=f"{PATH}.zst") == said(told)
        archived = PATH.replace("sessions/2026/11/15", "archived_sessions")
        assert said(told, path=f"{archived}.zst") == said(told)
    assert said(LEGACY[1:], path="copy.jsonl.zst") == said(LEGACY[1:], path="copy.jsonl")


def test_a_repeated_call_keeps_its_earlier_fields() -> None:
    begun = [
        meta(SESSION),
        record("turn_context", turn_id=FIRST, model="gpt-5"),
        event("agent_reasoning", text="hm"),
        response("function_call", name="exec_command", arguments='{"cmd":"make"}', call_id="c1"),
        response("function_call_output", call_id="c1", output="Process running with session ID 5"),
    ]
    again = item("CommandExecution", FIRST, id="c1", command=["make"], exit_code=0, aggregated_output="made")
    ended = [begun[3], record("turn_context", turn_id=SECOND, model="gpt-6"), {**again, "timestamp": "?"}]
    one, other = turns(said(lines(*begun, *ended)))
    assert (one.uuid, one.text[-1:], other.text) == (other.uuid, "5", "make\nmade")
    assert (other.at, other.model, other.reasoning) == (one.at, "gpt-5", "hm")


def test_words_that_come_again_do_not_lose_what_was_thought() -> None:
    message = item("AgentMessage", FIRST, id="a1", content=[{"type": "Text", "text": "well"}])
    thought = item("Reasoning", FIRST, id="r", summary_text=["hm"])
    told = lines(meta(SESSION), thought, message, {**message, "timestamp": None})
    one, other = turns(said(told))
    assert (one.uuid, one.at, one.reasoning) == (other.uuid, other.at, other.reasoning)
    assert other.at
    assert other.reasoning == "hm"


def test_a_session_that_is_described_again_is_continued() -> None:
    changed = meta("legacy")
    changed["payload"]["git"]["branch"] = "topic"
    told = turns(said(LEGACY + lines(changed, event("user_message", 40, message="list the files"))))
    assert len({turn.uuid for turn in told}) == len(told)
    assert [turn.branch for turn in told[-2:]] == ["main", "topic"]


def test_a_fork_that_does_not_describe_its_parent_still_names_it() -> None:
    replayed = [event("task_started", turn_id=FIRST), event("agent_message", message="All done, Codex.")]
    own = [event("task_started", turn_id=FORK_TURN), event("agent_message", message="Another way.")]
    told = turns(said(lines(meta(FORK, forked_from_id=SESSION), *replayed, *own)))
    assert [(turn.session, turn.folder) for turn in told] == [(SESSION, FOLDER), (FORK, FOLDER)]


def test_the_name_of_a_thread_is_the_title_of_its_session() -> None:
    named = lines(meta(SESSION), event("thread_name_updated", thread_id=SESSION, thread_name="Greetings"))
    assert Heading(session=SESSION, title="Greetings") in said(named)


def test_without_its_first_line_a_file_is_still_its_own() -> None:
    assert {turn.session for turn in turns(said(REAL[1:]))} == {SESSION}
    fork = fork_of(REAL, FORK, FORK_TURN, "another way", forked_from_id=SESSION)
    path = PATH.replace(SESSION, FORK)
    assert turns(said([b"", *fork[1:]], path=path))[-1].session == FORK


ALL = fork_of(REAL, FORK, FORK_TURN, "another way", forked_from_id=SESSION) + LEGACY[1:]


@given(st.sets(st.integers(1, len(ALL))))
def test_a_file_read_in_pieces_gives_the_same_turns(splits: set[int]) -> None:
    assert said(ALL, *splits) == said(ALL)


@given(reading.mishaps(ALL))
def test_a_damaged_file_is_read_without_errors(told: list[bytes]) -> None:
    reading.check(said(told))
    end = lines(event("agent_message", message="still there"))
    assert heard(said(told + end))[-1] == ("assistant", "still there")


SUBAGENT = sent_by(REAL, FORK, FORK_TURN, "look", parent_thread_id=SESSION, agent_nickname="Ada") + LEGACY[1:]


@given(reading.mishaps(SUBAGENT[1:]))
def test_a_damaged_subagent_file_never_becomes_a_session(told: list[bytes]) -> None:
    found = said([SUBAGENT[0], *told])
    reading.check(found)
    assert FORK not in {one.session for one in found}


@given(st.lists(st.integers(0, len(ALL) - 1), max_size=60))
def test_lines_in_any_order_and_number_give_each_turn_one_id(order: list[int]) -> None:
    named = {(turn.uuid, turn.role, turn.text) for turn in turns(said([ALL[at] for at in order]))}
    spoken = [uuid for uuid, role, _ in named if role != "tool"]
    assert len(set(spoken)) == len(spoken)


@pytest.mark.parametrize(
    "line",
    [b"", b"{", b"[]", b"\xff\xfe", b'{"type":[]}', b"[" * 100_000, b'{"type":"event_msg","payload":"x"}',
     b'{"type":"event_msg","payload":{"type":{}}}', b'{"type":"session_meta","payload":{"id":7}}',
     b'{"type":"event_msg","payload":{"type":"user_message","message":"' + b"\\u0000" * 500_000 + b'"}}'],
    ids=range(10),
)  # fmt: skip
def test_lines_that_are_no_conversation_give_no_turns(line: bytes) -> None:
    assert said([line]) == []


def test_the_state_stays_small_however_long_a_session_is() -> None:
    reader = codex.Reader(PATH, {})
    for number in range(2_000):
        told = [
            event("agent_message", message=f"message {number} " + "x" * 100),
            event("agent_reasoning", text=f"thought {number} " + "x" * 5_000),
            response("function_call", name="shell", arguments="x" * 50_000, call_id=f"c{number}"),
            meta(f"session {number}"),
        ]
        for line in lines(*told):
            reader.read(number + 1, line)
    assert len(json.dumps(reader.state)) < WAITING_CHARACTERS + 200_000


def test_an_id_with_an_impossible_time_gives_no_time() -> None:
    """In a fork the name of its parent's turn tells when that was; no calendar has the year 10874."""
    absurd = "ffb9f83e-c9bf-7000-8000-000000000001"
    said_then = item("UserMessage", absurd, id="u", content=[{"type": "text", "text": "hello"}])
    told = lines(meta(SESSION), meta(FORKS_FORK), said_then)
    [turn] = turns(said(told))
    assert turn.at is None or datetime.fromtimestamp(turn.at, UTC)


@pytest.mark.parametrize("told", [9e14, -9e14, "9999-12-31T23:59:59-12:00", "0001-01-01T00:00:00+12:00"])
def test_a_time_outside_the_calendar_counts_as_missing(told: object) -> None:
    assert fields.timestamp(told) is None


def test_answers_and_plans() -> None:
    asked = {"questions": [{"id": "port", "question": "Which port?"}, {"id": "why", "question": "Why?"}]}
    given = {"port": {"answers": ["5433", "user_note: only here"]}, "why": {"answers": []}, "new": {}}
    plan = [{"step": "Write it", "status": "completed"}, {"step": "Test it", "status": "in_progress"}]
    plan += [{"step": "Ship it", "status": "pending"}]
    told = lines(
        meta("legacy"),
        event("user_message", 1, message="go"),
        response("function_call", name="request_user_input", arguments=json.dumps(asked), call_id="c1"),
        response("function_call_output", call_id="c1", output=json.dumps({"answers": given})),
        response("function_call", name="update_plan", arguments=json.dumps({"plan": plan}), call_id="c2"),
        response("function_call_output", call_id="c2", output="Plan updated"),
        response("function_call", name="shell", arguments=json.dumps(asked), call_id="c3"),
        response("function_call_output", call_id="c3", output=json.dumps({"answers": given})),
    )
    found = [one for one in said(told) if isinstance(one, Turn)]
    assert [(one.role, one.tool) for one in found[1:]] == [
        ("tool", "request_user_input"), ("user", "request_user_input"),
        ("tool", "update_plan"), ("tool", "shell"),
    ]  # fmt: skip
    assert (found[2].text, found[2].uuid) == ("Which port? → 5433 (only here)", f"{found[1].uuid}:user")
    assert found[3].text == "[x] Write it\n[~] Test it\n[ ] Ship it\nPlan updated"
    for split in range(len(told)):
        assert said(told, split) == said(told)
