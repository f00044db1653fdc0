"""Calls to Lore are told from other tool calls, however a client names them."""

import json
from typing import Any

import pytest

from lore.surfaces import SURFACES
from lore.transcripts import claude_code, codex, cursor_cli, cursor_ide, gemini, opencode
from lore.transcripts.tool_calls import LORE_TOOLS, is_lore_call
from lore.transcripts.turns import Turn
from tests.transcripts.reading import lines, read, turns

SESSION = "0d6f2f0b-8c11-4c55-9a5e-7b0c6b1e5d0f"
QUESTION = {"query": "when do we deploy?"}
ANSWER = [{"type": "text", "text": "On Mondays."}]


def claude(server: str) -> list[Turn]:
    use = {"type": "tool_use", "id": "t1", "name": f"mcp__{server}__search", "input": QUESTION}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": ANSWER}
    told = lines(
        {"type": "assistant", "uuid": "a", "message": {"id": "m", "role": "assistant", "content": [use]}},
        {"type": "user", "uuid": "b", "message": {"role": "user", "content": [result]}},
    )
    return turns(read(claude_code.Reader, f"/x/{SESSION}.jsonl", told))


def codex_call(server: str) -> list[Turn]:
    """As Codex keeps it for the model: the server is the namespace of the function."""
    call = {"type": "function_call", "name": "search", "namespace": f"mcp__{server}", "call_id": "c1",
            "arguments": json.dumps(QUESTION)}  # fmt: skip
    output = {"type": "function_call_output", "call_id": "c1", "output": "On Mondays."}
    told = lines(
        {"type": "session_meta", "payload": {"id": SESSION}},
        *({"type": "response_item", "payload": one} for one in (call, output)),
    )
    return turns(read(codex.Reader, f"/x/rollout-{SESSION}.jsonl", told))


def codex_item(server: str) -> list[Turn]:
    """As Codex shows it: an item that follows a function call without a server."""
    call = {"type": "function_call", "name": "search", "call_id": "c1", "arguments": json.dumps(QUESTION)}
    item = {"type": "McpToolCall", "id": "c1", "server": server, "tool": "search", "arguments": QUESTION,
            "result": {"content": ANSWER}}  # fmt: skip
    told = lines(
        {"type": "session_meta", "payload": {"id": SESSION}},
        {"type": "response_item", "payload": call},
        {"type": "event_msg", "payload": {"type": "item_completed", "item": item}},
    )
    return turns(read(codex.Reader, f"/x/rollout-{SESSION}.jsonl", told))


def gemini_call(server: str) -> list[Turn]:
    call = {"id": "1", "name": f"mcp_{server}_search", "args": QUESTION, "resultDisplay": "On Mondays."}
    told = lines({"sessionId": SESSION}, {"id": "m", "type": "gemini", "content": "", "toolCalls": [call]})
    return turns(read(gemini.Reader, "/x/chats/session-1.jsonl", told))


def opencode_call(server: str) -> list[Turn]:
    state = {"status": "completed", "input": QUESTION, "output": "On Mondays."}
    part = {"type": "tool", "tool": f"{server}_search", "state": state}
    rows: list[tuple[Any, ...]] = [
        ("message", 1, "m", SESSION, "", json.dumps({"role": "assistant"}), 1, "/x", None),
        ("part", 1, "m", SESSION, "p", json.dumps(part)),
    ]
    return turns(list(opencode.entries(rows)))


def cursor_cli_call(server: str) -> list[Turn]:
    use = {"server": server, "toolName": "search", "arguments": QUESTION}
    part = {"type": "tool_use", "name": "CallMcpTool", "input": use}
    told = lines({"role": "assistant", "message": {"content": [part]}})
    return turns(read(cursor_cli.Reader, f"/x/{SESSION}/{SESSION}.jsonl", told))


def cursor_ide_call(server: str) -> list[Turn]:
    params = {"tools": [{"name": "search", "serverName": server, "parameters": json.dumps(QUESTION)}]}
    tool = {"name": f"mcp-{server}-search", "params": json.dumps(params), "result": "On Mondays.",
            "status": "completed"}  # fmt: skip
    composer = {"fullConversationHeadersOnly": [{"bubbleId": "b", "type": 2}]}
    bubble = ("bubbleId:c:b", json.dumps({"type": 2, "toolFormerData": tool}))
    return turns(list(cursor_ide.entries(("composerData:c", json.dumps(composer)), [bubble])))


CLIENTS = [claude, codex_call, codex_item, gemini_call, opencode_call, cursor_cli_call, cursor_ide_call]


@pytest.mark.parametrize("client", CLIENTS)
@pytest.mark.parametrize(("server", "own"), [("lore", True), ("plugin_lore_memory", True), ("github", False)])
def test_a_call_to_lore_is_recognised_in_the_transcript_of_every_client(
    client: Any, server: str, own: bool
) -> None:
    [turn] = client(server)
    assert turn.role == "tool"
    assert is_lore_call(turn.tool, turn.text) == own


def test_the_list_of_tools_equals_the_tools_of_the_surfaces() -> None:
    assert {tool for surface in SURFACES.values() for tool in surface.names()} == LORE_TOOLS


@pytest.mark.parametrize(
    ("tool", "text", "own"),
    [
        ("mcp__brain__create_entities", "", True),
        ("lore_lore_search", "", True),
        ("search", "", False),
        ("Read", "Read: notes.md", False),
        ("update_memory", "", False),
        ("Bash", "Bash: lore search 'deploys; when & where?' --why 2>&1 | head -3\nOn Mondays.", True),
        ("shell", "cd /srv && LORE_NAMESPACE=me .venv/bin/lore remember x", True),
        ("Bash", "Bash: lore search deploys && make deploy\nlore search", False),
        ("Bash", "Bash: grep lore notes.md", False),
        ("Write", "Write: lore", False),
    ],
)
def test_the_tool_name_or_the_command_decides_whether_a_call_went_to_lore(
    tool: str, text: str, own: bool
) -> None:
    assert is_lore_call(tool, text) == own
