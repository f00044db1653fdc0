"""A fact that an agent stored is the first answer to its question, and the only one that states it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lore import Filter, Lore
from lore.surfaces import SURFACES
from lore.transcripts.sources import SOURCES

FACT = "The deploy key of Zephyr lies in the vault under kv/zephyr-prod."
MARK = "kv/zephyr-prod"
QUESTION = "Where is the deploy key of Zephyr?"
STORING, ASKING = "0d6f2f0b-0000-4000-8000-000000000001", "0d6f2f0b-0000-4000-8000-000000000002"

FINDS: list[tuple[str, str, Mapping[str, Any]]] = [
    ("tree", "search", {"query": QUESTION}),
    ("tree-first", "query_memory", {"topic": QUESTION}),
    ("typed", "memory_recall", {"query": QUESTION}),
    ("scored", "lore_search", {"query": QUESTION}),
]
BY_NAME: list[tuple[str, str, Mapping[str, Any]]] = [
    ("graph", "search_semantic", {"query": QUESTION, "limit": 50}),
    ("graph", "search_nodes", {"query": "deploy key"}),
    ("official", "search_nodes", {"query": "deploy key"}),
]
"""Searches of the graph show turns as nodes beside the fact."""


def said(session: str, number: int, role: str, *blocks: object) -> bytes:
    line = {
        "type": role,
        "uuid": f"{session[-1]}{number:07}-0000-4000-8000-000000000000",
        "sessionId": session,
        "timestamp": f"2026-11-{10 + int(session[-1])}T20:{number:02}:00Z",
        "cwd": "/gone/zephyr",
        "message": {"role": role, "id": f"m{number}", "content": list(blocks)},
    }
    return json.dumps(line).encode() + b"\n"


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


def used(session: str, number: int, tool: str, arguments: object, answer: str) -> bytes:
    """A call of one of Lore's tools, and what it answered."""
    call = {"type": "tool_use", "id": f"t{session}{number}", "name": f"mcp__lore__{tool}", "input": arguments}
    result = {"type": "tool_result", "tool_use_id": call["id"], "content": [text(answer)]}
    return said(session, number, "assistant", call) + said(session, number + 1, "user", result)


@pytest.fixture
def stored(lore: Lore, tmp_path: Path) -> str:
    """One conversation in which an agent stores the fact, and two in which it is asked for; all ingested."""
    fact = str(SURFACES["tree"].tools["store"](lore, {"content": FACT}).data["id"])
    other = "Zebras graze on the far side of the river."
    SURFACES["tree"].tools["store"](lore, {"content": other})
    storing = (
        said(STORING, 1, "user", text(f"Please remember: {FACT[:-1]}, thanks."))
        + used(STORING, 2, "store", {"content": FACT}, f'{{"id":"{fact}"}} {FACT}')
        + said(STORING, 4, "assistant", text(f"Stored. {FACT}"))
    )
    asking = said(ASKING, 1, "user", text(QUESTION))
    for number in range(2, 12, 2):
        asking += used(ASKING, number, "search", {"query": QUESTION}, f"{fact} {FACT}")
    asking += said(ASKING, 13, "assistant", text(f"{FACT} I looked it up."))
    for name, lines in ((STORING, storing), (ASKING, asking)):
        file = tmp_path / f"{name}.jsonl"
        file.write_bytes(lines)
        list(lore.ingest(file, SOURCES["claude-code"]))
    lore.embed_pending()
    return fact


@pytest.mark.parametrize("find", FINDS, ids=lambda find: f"{find[0]}.{find[1]}")
def test_a_stored_fact_is_found_first_and_once(
    find: tuple[str, str, Mapping[str, Any]], lore: Lore, stored: str
) -> None:
    surface, tool, arguments = find
    answer = SURFACES[surface].tools[tool](lore, arguments).data
    hits = next(value for value in answer.values() if isinstance(value, list) and value)
    if surface == "tree":
        hits = [lore.read(hit["id"], use=False).memory.content for hit in hits]
    stating = [place for place, hit in enumerate(hits) if MARK in str(hit)]
    assert stating == [0]


def test_calls_to_lore_are_shown_in_their_session_and_nowhere_else(lore: Lore, stored: str) -> None:
    calls = lore.select(Filter(kinds=frozenset({"lore-call"})), 100)
    assert [call.metadata["tool"] for call in calls] == ["mcp__lore__search"] * 5 + ["mcp__lore__store"]
    assert {lore.read(call.id, use=False).parent for call in calls} == {
        session.id for session in lore.select(Filter(kinds=frozenset({"session"})), 100)
    }
    assert not {call.id for call in calls} & {memory.id for memory in lore.select(Filter(), 100)}
    for surface, tool, arguments in BY_NAME:
        answer = str(SURFACES[surface].tools[tool](lore, arguments).data)
        assert MARK in answer
        assert stored not in answer.replace(f"'{stored}'", "")  # only calls speak of ids
    assert lore.store.unembedded(lore.embeddings.model, 0).total == 0
    assert not lore.store.reader("shared").vectors(lore.embeddings.model, [call.id for call in calls])
