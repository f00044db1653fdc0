"""A server that cannot open its store still answers, says what is wrong, and works once that is corrected."""

from pathlib import Path
from typing import Any

import pytest

from lore.doors.endpoint import Endpoint
from tests.doors.resident import Agent, until

TREE = ["search", "read", "list_roots", "store", "update", "delete"]
BROKEN = {
    "namespace = \n": "(at line 1, column 13)",
    "idle_minutes = 'long'\n": "idle_minutes must be a number of 0 or more, not 'long'",
    "embedding_model = 'x'\n": "unknown embedding model 'x'; known: gte-small",
}
"""Settings -> the complaint about them."""


def refusal_of(answer: dict[str, Any]) -> str:
    """The text of a call that was refused."""
    assert answer["result"]["isError"]
    return str(answer["result"]["content"][0]["text"])


def agent_of(endpoint: Endpoint, *options: str, **settings: str) -> Agent:
    return Agent(endpoint, *options, **{"LORE_SURFACES": "", **settings})


@pytest.mark.parametrize("options", [(), ("--standalone",)], ids=["through the daemon", "standalone"])
def test_broken_settings_are_told_to_the_agent_and_once_corrected_the_tools_work(
    endpoint: Endpoint, options: tuple[str, ...]
) -> None:
    settings = Path(endpoint.home, "config.toml")
    settings.write_text(next(iter(BROKEN)))
    with agent_of(endpoint, *options, LORE_EMBEDDING_MODEL="") as agent:
        agent.greet()
        assert [tool["name"] for tool in agent.ask("tools/list")["result"]["tools"]] == TREE
        for text, complaint in BROKEN.items():
            settings.write_text(text)
            assert complaint in refusal_of(agent.ask("tools/call", {"name": "list_roots", "arguments": {}}))
        settings.write_text("embedding_model = 'hash'\n")
        kept = agent.call("store", content="a thing", depth=0)["id"]
        assert agent.call("read", id=kept)["content"] == "a thing"


def test_the_instructions_say_what_is_wrong(endpoint: Endpoint) -> None:
    Path(endpoint.home, "config.toml").write_text("idle_minutes = 'long'\n")
    about = {"name": "test", "version": "0"}
    parameters = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": about}
    with agent_of(endpoint, "--standalone") as agent:
        instructions = agent.ask("initialize", parameters)["result"]["instructions"]
    assert "idle_minutes must be a number" in instructions


def test_once_it_is_known_the_instructions_of_the_relay_say_what_is_wrong(endpoint: Endpoint) -> None:
    Path(endpoint.home, "config.toml").write_text("idle_minutes = 'long'\n")
    with Agent(endpoint, era="modern") as agent:
        assert "idle_minutes" in refusal_of(agent.ask("tools/call", {"name": "read_graph", "arguments": {}}))
        instructions = agent.ask("server/discover")["result"]["instructions"]
    assert "idle_minutes must be a number" in instructions


def test_unknown_surfaces_are_named_to_the_agent(shared: Endpoint) -> None:
    with agent_of(shared, "--surfaces", "cube") as agent:
        refused = refusal_of(agent.greet().ask("tools/call", {"name": "list_roots", "arguments": {}}))
        assert "unknown surfaces: cube; known: files, graph, official" in refused


def test_a_client_with_another_model_is_refused_instead_of_opening_the_store(shared: Endpoint) -> None:
    """Two embedding models on one store would each embed everything again."""
    with agent_of(shared, LORE_EMBEDDING_MODEL="gte-small") as agent:
        refused = refusal_of(agent.greet().ask("tools/call", {"name": "list_roots", "arguments": {}}))
    assert "the daemon runs with embedding_model 'hash'" in refused


def test_ignored_settings_go_to_stderr_and_the_log_and_the_tools_work(endpoint: Endpoint) -> None:
    Path(endpoint.home, "config.toml").write_text("[ingestion]\nbatch_size = 20\n")
    with agent_of(endpoint, LORE_NAMSPACE="mine") as agent:
        agent.greet().call("list_roots")
        stderr = agent.process.stderr
        assert stderr
        lines = [until(stderr.readline).decode() for _ in range(2)]
    assert "ingestion.batch_size is not used" in lines[0]
    assert "unknown variable LORE_NAMSPACE is ignored; did you mean LORE_NAMESPACE?" in lines[1]
    assert "ingestion.batch_size is not used" in Path(endpoint.log).read_text()
