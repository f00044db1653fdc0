"""What an agent asks before its first call is answered at once, daemon or not, and as the daemon would."""

import json
import signal
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from lore.doors.early import Early
from lore.doors.endpoint import Connection, Endpoint
from lore.doors.protocol import OPENING
from lore.doors.starting import ping
from lore.filelock import holding
from lore.surfaces import SURFACES
from scripts.record_early import FILE, recorded
from tests.doors.resident import MODERN, SETTINGS, Agent, kill, pid_of

each_era = pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "1999-01-01"]
LISTS = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"]
CHOICES = [*SURFACES, "all", "typed, tree,typed", ""]
TYPED = {"memory_save", "memory_recall"}
ABOUT = {"name": "test", "version": "0"}


def tools(agent: Agent) -> set[str]:
    return {tool["name"] for tool in agent.ask("tools/list")["result"]["tools"]}


def request(method: str, **parameters: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": method, "method": method, "params": parameters}


def handshake(version: str) -> list[dict[str, Any]]:
    greeting = request("initialize", protocolVersion=version, capabilities={}, clientInfo=ABOUT)
    return [greeting, request("ping"), *map(request, LISTS)]


def answered(line: Connection, message: dict[str, Any]) -> bytes:
    """The answer of the daemon itself, byte for byte."""
    line.sendall(json.dumps(message).encode() + b"\n")
    received = b""
    while not received.endswith(b"\n") or received.splitlines()[-1].startswith(OPENING):
        received += line.recv(1 << 16)
    return received.splitlines(keepends=True)[-1]


def test_the_recorded_answers_are_up_to_date() -> None:
    assert FILE.read_text(encoding="utf-8") == recorded(), "run python -m scripts.record_early"


def test_early_answers_are_those_of_the_daemon(shared: Endpoint) -> None:
    conversations = [handshake(version) for version in VERSIONS]
    conversations.append([request(method, _meta=MODERN) for method in ("server/discover", "ping", *LISTS)])
    for surfaces, conversation in product(CHOICES, conversations):
        fields = {**SETTINGS, "LORE_SURFACES": surfaces}
        early = Early(shared.home, fields)
        line, word, _ = shared.dial("mcp", fields)
        assert word == "welcome"
        for number, message in enumerate(conversation):
            greeted = number > 0 and "_meta" not in message["params"]
            assert early.answer(message, greeted) == answered(line, message), surfaces
        line.close()


@each_era
def test_before_a_daemon_can_be_started_the_tools_are_listed_and_calls_wait_for_it(
    endpoint: Endpoint, era: str
) -> None:
    with holding(endpoint.starting, 0):
        agent = Agent(endpoint, era=era).greet()
        if era != "legacy":
            assert "result" in agent.ask("server/discover")
        assert {"create_entities", "read_graph"} <= tools(agent)
        call = agent.begin_call("create_entities", entities=[])
        agent.wait_until_read()
        assert ping(endpoint) is None
    with agent:
        answer = agent.hear()
        assert answer["id"] == call
        assert answer["result"]["structuredContent"] == {"entities": []}
        assert ping(endpoint) is not None
        assert agent.call("read_graph")["entities"] == []


@each_era
def test_a_daemon_that_is_slow_to_answer_is_not_waited_for(shared: Endpoint, era: str) -> None:
    daemon = pid_of(shared)
    kill(daemon, signal.SIGSTOP)
    with Agent(shared, era=era) as agent:
        assert "read_graph" in tools(agent.greet())
        kill(daemon, signal.SIGCONT)
        assert agent.call("read_graph")["entities"] == []
        assert pid_of(shared) == daemon


def test_the_surfaces_of_the_settings_are_listed(endpoint: Endpoint) -> None:
    Path(endpoint.home, "config.toml").write_text('surfaces = "typed"\n')
    with holding(endpoint.starting, 0):
        agent = Agent(endpoint, LORE_SURFACES="")
        assert tools(agent.greet()) >= TYPED
        other = Agent(endpoint, "--surfaces", "tree")
        assert not tools(other.greet()) & TYPED
    with agent, other:
        assert agent.call("memory_recall", query="thing")["total_found"] == 0
        assert other.call("list_roots")["roots"] == []


def test_an_agent_may_send_many_requests_before_it_reads_replies_and_before_a_daemon_runs(
    endpoint: Endpoint,
) -> None:
    """More than all the buffers in between can hold."""
    with holding(endpoint.starting, 0):
        agent = Agent(endpoint).greet()
        asked_for = [agent.begin("tools/list") for _ in range(2_500)]
        assert [agent.hear()["id"] for _ in asked_for] == asked_for
    with agent:
        assert agent.call("read_graph")["entities"] == []


def test_an_agent_that_goes_before_the_daemon_is_there_is_not_held_up(endpoint: Endpoint) -> None:
    with holding(endpoint.starting, 0), Agent(endpoint) as agent:
        agent.greet()
        assert agent.close() == 0


UNCERTAIN: dict[str, dict[str, Any]] = {
    "no version of JSON-RPC": {"jsonrpc": None},
    "an id that is none": {"id": None},
    "an id that is a number with a fraction": {"id": 1.5},
    "parameters that are a list": {"params": []},
    "meta data that are a list": {"params": {"_meta": []}},
    "a call": {"method": "tools/call", "params": {"name": "read_graph"}},
    "another version of the stateless era": {
        "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2027-01-01"}}
    },
    "a greeting without a name": {"method": "initialize", "params": {"protocolVersion": "2025-06-18"}},
}


@pytest.mark.parametrize("how", UNCERTAIN)
def test_requests_that_the_daemon_may_refuse_are_left_to_it(tmp_path: Path, how: str) -> None:
    early = Early(str(tmp_path), {})
    for greeted in (False, True):
        assert early.answer(request("tools/list") | UNCERTAIN[how], greeted) is None


def test_a_request_in_the_wrong_order_is_left_to_the_daemon(tmp_path: Path) -> None:
    early = Early(str(tmp_path), {})
    assert early.answer(request("tools/list"), initialized=False) is None
    assert early.answer(handshake(VERSIONS[0])[0], initialized=True) is None
    assert early.answer(request("tools/list", _meta=MODERN), initialized=True) is None
