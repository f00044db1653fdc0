"""lore-mcp: many light clients, one daemon, and conversations that outlive it."""

import json
import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import anyio
import pytest
from mcp import Client, StdioServerParameters

from lore import Draft
from lore.config import load
from lore.connecting import wire
from lore.doors.endpoint import Endpoint
from lore.doors.starting import ping, start, stop
from lore.version import VERSION
from tests.doors.resident import (
    RELAY,
    SECONDS,
    SETTINGS,
    Agent,
    an_endpoint,
    entity,
    kill,
    messages,
    pid_of,
    until,
    writers_waiting,
)

ERAS = ["legacy", "2026-07-28"]
each_era = pytest.mark.parametrize("era", ERAS)
OTHER_VERSION = """
import sys
import lore.version
lore.version.VERSION = sys.argv[2]
from lore.config import load
from lore.doors.daemon import run
from lore.doors.endpoint import Endpoint
run(load(data_dir=sys.argv[1]), Endpoint({}, sys.argv[1]))
"""


pytestmark = pytest.mark.usefixtures("hashed")


@pytest.fixture
def endpoint(shared: Endpoint) -> Endpoint:
    """The endpoint of the daemon that tests share."""
    return shared


def keep(agent: Agent, name: str) -> None:
    agent.call("create_entities", **entity(name))


def kept(agent: Agent) -> list[str]:
    return [entity["name"] for entity in agent.call("read_graph")["entities"]]


@each_era
def test_the_official_client_works_through_the_relay(endpoint: Endpoint, era: str) -> None:
    parameters = StdioServerParameters(
        command=RELAY[0], args=[*RELAY[1:], *endpoint.flags], env={**os.environ, **SETTINGS}
    )

    async def story() -> None:
        with anyio.fail_after(SECONDS):
            async with Client(parameters, mode=era) as client:
                assert "read_graph" in {tool.name for tool in (await client.list_tools()).tools}
                assert not (await client.call_tool("create_entities", entity("a thing"))).is_error
                found = await client.call_tool("search_nodes", {"query": "thing"})
                assert found.structured_content is not None
                assert [entity["name"] for entity in found.structured_content["entities"]] == ["a thing"]

    anyio.run(story)


def test_clients_that_start_at_once_share_one_daemon(fresh: Endpoint) -> None:
    agents = [Agent(fresh) for _ in range(8)]
    for number, agent in enumerate(agents):
        keep(agent.greet(), f"thing {number}")
    for agent in agents:
        assert len(kept(agent)) == 8
    assert [agent.close() for agent in agents] == [0] * 8
    log = Path(fresh.log).read_text()
    assert log.count(" serves ") == 1


def test_each_client_has_its_own_surfaces_and_namespace(endpoint: Endpoint) -> None:
    typed = Agent(endpoint, "--surfaces", "typed", "--namespace", "carl")
    official = Agent(endpoint, "--surfaces=official", "--namespace", "dora")
    with typed, official:
        tools = [
            {tool["name"] for tool in agent.greet().ask("tools/list")["result"]["tools"]}
            for agent in (typed, official)
        ]
        assert "memory_save" in tools[0]
        assert "create_entities" in tools[1]
        assert not tools[0] & tools[1]
        typed.call("memory_save", content="Carl keeps a thing for himself")
        assert official.call("search_nodes", query="thing")["entities"] == []
        assert typed.call("memory_recall", query="thing")["total_found"] == 1


def test_the_daemon_knows_the_conversation_that_a_client_serves(endpoint: Endpoint) -> None:
    with closing(wire(load(data_dir=endpoint.home))) as lore:
        for name in ("mine", "theirs"):
            lore.remember(Draft(content=f"the walrus {name} sleeps", kind="turn", session=name))
    with Agent(endpoint, "--surfaces", "typed", CLAUDE_CODE_SESSION_ID="mine") as agent:
        answer = agent.greet().call("memory_recall", query="walrus")
    assert "walrus theirs" in str(answer)
    assert "walrus mine" not in str(answer)


def test_a_conversation_outlives_the_daemon(endpoint: Endpoint) -> None:
    """And the files that the daemon left; test_invalid_lines_do_not_end_a_conversation has the older era."""
    with Agent(endpoint, era=ERAS[1]) as agent:
        keep(agent.greet(), "a thing from before")
        first = pid_of(endpoint)
        kill(first)
        until(lambda: ping(endpoint) is None)
        assert Path(endpoint.socket).exists()
        assert Path(endpoint.pid).exists()
        keep(agent, "a thing from after")
        assert sorted(kept(agent)) == ["a thing from after", "a thing from before"]
        assert pid_of(endpoint) != first


@each_era
def test_calls_begun_when_the_daemon_dies_are_repeated_only_where_that_is_safe(
    endpoint: Endpoint, era: str
) -> None:
    """A call that may be repeated is, without notice; any other is answered with an error that says so."""
    with Agent(endpoint, era=era) as agent:
        keep(agent.greet(), "a thing")
        before = messages(endpoint, agent)
        with writers_waiting(endpoint):
            adding = agent.begin_call("create_entities", **entity("another thing"))
            deleting = agent.begin_call("delete_entities", entityNames=["a thing"])
            until(lambda: messages(endpoint, agent) == before + 2)
            kill(pid_of(endpoint))
            excuse = agent.hear()
        assert excuse["id"] == adding
        assert excuse["result"]["isError"]
        assert "create_entities" in excuse["result"]["content"][0]["text"]
        assert "not known whether" in excuse["result"]["content"][0]["text"]
        assert ("resultType" in excuse["result"]) == (era != "legacy")
        assert agent.hear()["id"] == deleting
        assert kept(agent) == []


def test_calls_not_begun_when_the_daemon_dies_are_done_by_the_next_daemon(endpoint: Endpoint) -> None:
    """The agent sees nothing of it."""
    with Agent(endpoint) as agent:
        keep(agent.greet(), "a thing")
        daemon = pid_of(endpoint)
        kill(daemon, signal.SIGSTOP)
        call = agent.begin_call("create_entities", **entity("another thing"))
        agent.wait_until_read()
        kill(daemon)
        answer = agent.hear()
        assert answer["id"] == call
        assert not answer["result"].get("isError")
        assert kept(agent) == ["a thing", "another thing"]


def test_stopping_the_daemon_loses_and_repeats_no_call(endpoint: Endpoint) -> None:
    """The next daemon does the calls that the first had not begun when it was stopped."""
    with Agent(endpoint) as agent:
        agent.greet()
        calls = {agent.begin_call("create_entities", **entity(f"thing {n}")) for n in range(50)}
        until(lambda: stop(endpoint))
        answers = [agent.hear() for _ in calls]
        assert {answer["id"] for answer in answers} == calls
        assert not [answer for answer in answers if answer["result"].get("isError")]
        assert len(kept(agent)) == 50


def test_an_agent_may_send_many_requests_before_it_reads_replies(endpoint: Endpoint) -> None:
    """More than all the buffers in between can hold."""
    with Agent(endpoint) as agent:
        agent.greet()
        calls = [agent.begin("tools/list") for _ in range(2_500)]
        assert {agent.hear()["id"] for _ in calls} == set(calls)


def test_a_stopped_daemon_is_started_again_by_the_next_request(endpoint: Endpoint) -> None:
    with Agent(endpoint) as agent:
        keep(agent.greet(), "a thing")
        assert stop(endpoint)
        agent.wait_until_read()
        assert ping(endpoint) is None
        assert kept(agent) == ["a thing"]
        assert ping(endpoint) is not None


def started_as(version: str, endpoint: Endpoint) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen([sys.executable, "-c", OTHER_VERSION, endpoint.home, version])
    until(lambda: ping(endpoint))
    return process


def test_an_older_daemon_is_replaced_and_its_clients_go_on(fresh: Endpoint) -> None:
    old = started_as("0.0.1", fresh)
    with Agent(fresh) as agent:
        keep(agent.greet(), "a thing")
        assert old.wait(SECONDS) == 0
        reply = ping(fresh)
        assert reply is not None
        assert reply["version"] == VERSION
        assert kept(agent) == ["a thing"]


def test_a_newer_daemon_is_left_alone(fresh: Endpoint) -> None:
    newer = started_as("99.0.0", fresh)
    with Agent(fresh) as agent:
        keep(agent.greet(), "a thing")
        assert pid_of(fresh) == newer.pid
    assert stop(fresh)
    assert newer.wait(SECONDS) == 0


def assert_answered_after_the_end_of_input(agent: Agent) -> None:
    agent.greet()
    calls = [agent.begin_call("create_entities", **entity(f"thing {n}")) for n in range(10)]
    assert agent.process.stdin
    agent.process.stdin.close()
    assert sorted(agent.hear()["id"] for _ in calls) == calls
    assert agent.process.stdout
    assert agent.process.stdout.read() == b""
    assert agent.close() == 0


def test_requests_are_answered_although_the_agent_has_closed_its_input(endpoint: Endpoint) -> None:
    with Agent(endpoint) as agent:
        assert_answered_after_the_end_of_input(agent)


def test_a_standalone_server_does_so_too_and_starts_no_daemon(fresh: Endpoint) -> None:
    with Agent(fresh, "--standalone") as agent:
        assert_answered_after_the_end_of_input(agent)
    assert ping(fresh) is None
    assert not Path(fresh.log).exists()


def test_the_relay_ends_with_its_agent_and_the_daemon_stays(endpoint: Endpoint) -> None:
    start(endpoint)
    with Agent(endpoint) as agent:
        assert agent.greet().close() == 0
    assert ping(endpoint) is not None


def test_a_path_too_long_for_a_socket_uses_a_port_and_a_token(tmp_path: Path) -> None:
    folder = tmp_path / ("long" * 30)
    with an_endpoint(folder) as endpoint, Agent(endpoint) as agent:
        assert not endpoint.unix
        keep(agent.greet(), "a thing")
        assert Path(endpoint.port).stat().st_mode & 0o777 == 0o600
        port, token = Path(endpoint.port).read_text().split()
        Path(endpoint.port).write_text(f"{port} {token[::-1]}")
        line, word, reply = endpoint.dial("mcp", {})
        line.close()
        assert (word, reply["error"]) == ("refused", "the token is wrong")
        Path(endpoint.port).write_text(f"{port} {token}")
        kill(pid_of(endpoint))
        assert kept(agent) == ["a thing"]


def test_subscriptions_survive_the_death_of_the_daemon(endpoint: Endpoint) -> None:
    """And of what another client changed."""
    with Agent(endpoint) as watcher, Agent(endpoint) as writer:
        uri = watcher.greet().ask("resources/list")["result"]["resources"][0]["uri"]
        assert "result" in watcher.ask("resources/subscribe", {"uri": uri})
        ada = {"name": "Ada", "entityType": "person", "observations": []}
        writer.greet().call("create_entities", entities=[ada])
        assert watcher.hear()["method"] == "notifications/resources/updated"
        kill(pid_of(endpoint))
        assert watcher.hear()["method"] == "notifications/resources/updated"
        writer.call("create_entities", entities=[ada | {"name": "Charles"}])
        assert watcher.hear()["method"] == "notifications/resources/updated"


def test_the_agent_learns_why_no_daemon_can_start(endpoint: Endpoint) -> None:
    with Agent(endpoint) as agent:
        keep(agent.greet(), "a thing")
        settings = Path(endpoint.home, "config.toml")
        settings.write_text("idle_minutes = 'blue'\n")
        kill(pid_of(endpoint))
        refused = agent.ask("tools/call", {"name": "create_entities", "arguments": entity("another thing")})
        assert refused["result"]["isError"]
        assert "idle_minutes must be a number" in refused["result"]["content"][0]["text"]
        settings.unlink()
        assert kept(agent) == ["a thing"]


def test_invalid_lines_do_not_end_a_conversation(endpoint: Endpoint) -> None:
    with Agent(endpoint) as agent:
        agent.greet()
        assert agent.process.stdin
        agent.process.stdin.write(b"\xff\xfe not json\n\n[]\n42\n")
        keep(agent, "a thing")
        kill(pid_of(endpoint))
        assert kept(agent) == ["a thing"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--surface", "tree"], "unknown option --surface"),
        (["--surfaces"], "--surfaces needs a value"),
        (["--help=me"], "unknown option --help"),
    ],
)
def test_wrong_options_are_refused_by_name(arguments: list[str], words: str) -> None:
    done = subprocess.run([*RELAY, *arguments], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""


def test_help_and_version_are_printed() -> None:
    for option, words in (("--help", "--standalone"), ("-h", "--standalone"), ("--version", VERSION)):
        done = subprocess.run([*RELAY, option], capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == 0
        assert words in done.stdout


def test_the_relay_loads_no_slow_module() -> None:
    """Modules that would double the time it takes to start."""
    heavy = "{'json', 're', 'socket', 'typing', 'enum', 'threading', 'subprocess', 'dataclasses', 'pathlib'}"
    later = "{'lore.doors.conversation', 'lore.doors.early', 'lore.doors.starting'}"
    code = f"import sys, lore.doors.relay; print(sorted(({heavy} | {later}) & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=SECONDS)
    assert done.stdout.strip() == "[]"


def test_the_relay_imports_the_standard_library_only() -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "import lore.doors.relay, lore.doors.conversation, lore.doors.starting\n"
        "import lore.doors.early, json\n"
        "names = {name.split('.')[0] for name in set(sys.modules) - before}\n"
        "print(json.dumps(sorted(names - set(sys.stdlib_module_names) - {'lore'})))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, timeout=SECONDS)
    assert json.loads(done.stdout) == []
