"""Every line that is a request, or nothing at all, gets an answer, through every door of MCP."""

import json
import threading
from pathlib import Path
from typing import Any

import anyio
import pytest

from lore.doors.conversation import Conversation
from lore.doors.endpoint import Endpoint
from lore.doors.envelope import DEEPEST, Refused, read
from lore.doors.protocol import LONGEST_LINE, Lines
from lore.doors.streams import Late, within
from tests.doors.resident import Agent, entity, pid_of, writers_waiting

PARSE_ERROR, INVALID_REQUEST = -32700, -32600


def request(id: str, params: str = "{}") -> bytes:
    return f'{{"jsonrpc":"2.0","id":{id},"method":"ping","params":{params}}}'.encode()


def nested(levels: int) -> str:
    return '{"a":' * levels + "1" + "}" * levels


FRAMES: dict[str, tuple[bytes, int, object]] = {
    "not JSON": (b"hello", PARSE_ERROR, None),
    "a daemon's word": (b"lore/1 begun", PARSE_ERROR, None),
    "invalid UTF-8": (request("1", '{"a":"\xff"}').decode().encode("latin-1"), PARSE_ERROR, 1),
    "UTF-16": ('{"jsonrpc":"2.0","id":1,"method":"ping"}'.encode("utf-16-be"), PARSE_ERROR, None),
    "cut off": (b'{"jsonrpc":"2.0","id":"two","method":"ping","params":{', PARSE_ERROR, "two"),
    "250 levels": (request("3", nested(250)), PARSE_ERROR, 3),
    "5,000 levels": (request("4", nested(5_000)), PARSE_ERROR, 4),
    "5,000 levels without an id": (b"[" * 5_000, PARSE_ERROR, None),
    "a number of 5,000 digits": (request("5", '{"a":' + "9" * 5_000 + "}"), PARSE_ERROR, 5),
    "an id of 5,000 digits": (request("9" * 5_000), PARSE_ERROR, None),
    "an id that is null": (request("null"), INVALID_REQUEST, None),
    "a fractional id": (request("1.5"), INVALID_REQUEST, None),
    "a boolean id": (request("true"), INVALID_REQUEST, None),
    "an id that is a list": (request("[1]"), INVALID_REQUEST, None),
    "a batch": (b"[" + request("6") + b"," + request("7") + b"]", INVALID_REQUEST, None),
    "an empty batch": (b"[]", INVALID_REQUEST, None),
    "a number": (b"42", INVALID_REQUEST, None),
    "a string": ('"\ud83d"'.encode("utf-8", "surrogatepass"), PARSE_ERROR, None),
    "no method": (b'{"jsonrpc":"2.0","id":8}', INVALID_REQUEST, 8),
    "a method that is a number": (b'{"jsonrpc":"2.0","id":8,"method":8}', INVALID_REQUEST, 8),
    "no version": (b'{"id":9,"method":"ping"}', INVALID_REQUEST, 9),
    "params that are a list": (request("10", "[]"), INVALID_REQUEST, 10),
    "a line that is too long": (request("11", f'{{"a":"{"x" * LONGEST_LINE}"}}'), INVALID_REQUEST, 11),
    "its id comes last": (
        b'{"method":"ping","params":{"a":"' + b"x" * LONGEST_LINE + b'"},"jsonrpc":"2.0","id":12}',
        INVALID_REQUEST,
        12,
    ),
}
UNANSWERED = (
    b"",
    b"   ",
    b"\r",
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":[]}}',
    b'{"jsonrpc":"2.0","method":"notifications/initialized","params":[]}',
    b'{"jsonrpc":"2.0","id":1,"result":7}',
    b'{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"no"}}',
)


@pytest.fixture
def endpoint(shared: Endpoint) -> Endpoint:
    """The endpoint of the daemon that tests share."""
    return shared


def answer_to(agent: Agent, line: bytes) -> dict[str, Any]:
    """The next message after `line`, which follows lines that are not answered."""
    assert agent.process.stdin
    agent.process.stdin.write(b"\n".join([*UNANSWERED, line, b""]))
    agent.process.stdin.flush()
    return agent.hear()


def assert_all_are_answered(agent: Agent) -> None:
    for name, (line, code, id) in FRAMES.items():
        answer = answer_to(agent, line)
        assert (answer["id"], answer["error"]["code"]) == (id, code), name
        assert len(json.dumps(answer)) < 300, name


@pytest.mark.parametrize("options", [(), ("--standalone",)])
def test_every_invalid_line_gets_an_error_reply(endpoint: Endpoint, options: tuple[str, ...]) -> None:
    with Agent(endpoint, *options) as agent:
        agent.greet()
        agent.call("read_graph")
        daemon = None if options else pid_of(endpoint)
        assert_all_are_answered(agent)
        assert agent.call("read_graph") == {"entities": [], "relations": []}
        assert options or pid_of(endpoint) == daemon


def test_every_invalid_line_gets_an_error_reply_where_no_daemon_can_start(fresh: Endpoint) -> None:
    Path(fresh.home).mkdir(exist_ok=True)
    Path(fresh.home, "config.toml").write_text("idle_minutes = 'blue'\n")
    with Agent(fresh) as agent:
        agent.greet()
        assert_all_are_answered(agent)
        assert agent.ask("tools/call", {"name": "read_graph", "arguments": {}})["result"]["isError"]


def test_a_lone_surrogate_is_replaced_and_the_memory_kept(endpoint: Endpoint) -> None:
    with Agent(endpoint) as agent:
        agent.greet()
        name = "half an emoji \ud83d, a whole one \U0001f600"
        agent.call("create_entities", entities=[{"name": name, "entityType": "t", "observations": []}])
        [kept] = agent.call("read_graph")["entities"]
        assert kept["name"] == "half an emoji \ufffd, a whole one \U0001f600"


def test_messages_are_read_up_to_the_nesting_limit() -> None:
    assert read(request("1", nested(DEEPEST - 1)))["id"] == 1
    with pytest.raises(Refused, match="nested deeper"):
        read(request("1", nested(DEEPEST)))


def test_a_refusal_that_a_daemon_did_not_send_is_sent_by_the_relay_and_only_then() -> None:
    conversation = Conversation()
    conversation.follow(True, b"hello\n[]\n")
    conversation.follow(False, b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}\n')
    conversation.interrupted("")
    [answer] = conversation.outgoing().splitlines()
    assert json.loads(answer)["error"]["code"] == INVALID_REQUEST


@pytest.mark.parametrize("chunk", [1, 7, 64])
def test_lines_survive_being_read_in_chunks(chunk: int) -> None:
    sent = b"one\n\ntwo" + b"x" * 20 + b"\nthree\n"
    split = Lines()
    parts = [split.feed(sent[at : at + chunk])[0] for at in range(0, len(sent), chunk)]
    assert b"".join(parts) == sent
    assert not split.pending


@pytest.mark.parametrize("chunk", [1, 100, 1_999])
def test_a_line_that_is_too_long_keeps_only_its_ends_in_memory(chunk: int) -> None:
    sent = b"a\n" + b"<" + b"-" * 3_000 + b">\nb\n"
    split = Lines(longest=2_000)
    fed = [split.feed(sent[at : at + chunk]) for at in range(0, len(sent), chunk)]
    assert b"".join(whole for whole, _ in fed) == b"a\nb\n"
    [cut] = [line for _, cuts in fed for line in cuts]
    assert (cut[:2], cut[-3:]) == (b"<-", b"->\n")
    assert len(cut) < 1_100 + chunk


def test_a_request_that_takes_too_long_gets_an_error_reply_and_delays_nobody(endpoint: Endpoint) -> None:
    with Agent(endpoint, LORE_REQUEST_SECONDS="0.5") as hasty, Agent(endpoint) as patient:
        hasty.greet().call("read_graph")
        patient.greet().call("read_graph")
        with writers_waiting(endpoint):
            calls = [hasty.begin_call("create_entities", **entity(f"thing {number}")) for number in range(3)]
            answers = {answer["id"]: answer["result"] for answer in (hasty.hear() for _ in calls)}
            assert patient.call("read_graph")["entities"] == []
        assert answers.keys() == set(calls)
        assert all(result["isError"] for result in answers.values())
        told = answers[calls[0]]["content"][0]["text"]
        assert "create_entities has not ended after 0.5 seconds. It may still be done" in told
        patient.call("create_entities", **entity("afterwards"))
        assert "afterwards" in str(hasty.call("read_graph"))


def test_work_that_timed_out_in_the_queue_was_not_begun() -> None:
    began = threading.Event()

    async def story() -> None:
        turns = anyio.CapacityLimiter(1)
        await turns.acquire_on_behalf_of("another client")
        with pytest.raises(Late) as late:
            await within(0.01, turns, began.set)
        assert not late.value.begun
        turns.release_on_behalf_of("another client")
        assert await within(0, turns, lambda: "done") == "done"

    anyio.run(story)
    assert not began.is_set()
