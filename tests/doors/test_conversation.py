"""conversation: what is still open when a daemon ends, and how it goes on with the next one."""

import json
import socket
import threading
from typing import Any

from lore.doors import protocol
from lore.doors.conversation import MOST_TRIES, Conversation

CALL = {"method": "tools/call", "params": {"name": "store", "arguments": {}}}
SEARCH = {"method": "tools/call", "params": {"name": "search", "arguments": {}}}


def spoken(message: dict[str, Any]) -> bytes:
    return json.dumps({"jsonrpc": "2.0"} | message).encode() + b"\n"


def send(conversation: Conversation, id: int | str, message: dict[str, Any], begun: bool = True) -> None:
    conversation.follow(True, spoken({"id": id} | message))
    if begun:
        conversation.follow(False, protocol.encode("begun", {"id": json.dumps(id)}))


def answered(conversation: Conversation, id: int | str) -> None:
    conversation.follow(False, spoken({"id": id, "result": {}}))


def excuses(conversation: Conversation) -> dict[int | str, str]:
    messages = [json.loads(line) for line in conversation.outgoing().splitlines()]
    return {message["id"]: message["result"]["content"][0]["text"] for message in messages}


def test_an_answered_request_is_closed() -> None:
    conversation = Conversation()
    send(conversation, 1, CALL)
    assert conversation.waiting
    answered(conversation, 1)
    assert not conversation.waiting
    conversation.interrupted("search")
    assert conversation.outgoing() == b""


def test_ids_of_different_kinds_are_different() -> None:
    conversation = Conversation()
    send(conversation, 1, CALL)
    answered(conversation, "1")
    assert conversation.waiting


def test_an_unsafe_request_that_was_begun_gets_one_error_reply() -> None:
    conversation = Conversation()
    send(conversation, 1, CALL)
    send(conversation, 2, CALL, begun=False)
    send(conversation, 3, SEARCH)
    conversation.interrupted("search,read")
    assert list(excuses(conversation)) == [1]
    assert excuses(conversation) == {}
    assert conversation.waiting


def test_a_request_that_kills_daemons_is_given_up() -> None:
    conversation = Conversation()
    send(conversation, 1, SEARCH)
    for _ in range(MOST_TRIES - 1):
        conversation.interrupted("search")
        assert excuses(conversation) == {}
        conversation.follow(False, protocol.encode("begun", {"id": "1"}))
    conversation.interrupted("search")
    assert list(excuses(conversation)) == [1]


def test_a_cancelled_request_is_not_waited_for() -> None:
    conversation = Conversation()
    send(conversation, "a", CALL)
    conversation.follow(True, spoken({"method": "notifications/cancelled", "params": {"requestId": "a"}}))
    assert not conversation.waiting


def test_a_subscription_does_not_count_as_an_open_request() -> None:
    conversation = Conversation()
    send(conversation, 1, {"method": "subscriptions/listen"})
    assert conversation.listening
    assert not conversation.waiting
    conversation.interrupted("")
    conversation.give_up("no daemon")
    assert conversation.outgoing() == b""
    assert conversation.listening


def test_giving_up_answers_every_open_request() -> None:
    conversation = Conversation()
    send(conversation, 1, CALL, begun=False)
    send(conversation, 2, {"method": "tools/list"}, begun=False)
    conversation.give_up("the disk is full")
    call, listing = [json.loads(line) for line in conversation.outgoing().splitlines()]
    assert call["result"]["isError"]
    assert "the disk is full" in call["result"]["content"][0]["text"]
    assert "the disk is full" in listing["error"]["message"]
    assert not conversation.waiting


def record_and_answer(line: socket.socket, messages: list[dict[str, Any]]) -> None:
    """A daemon that says yes to everything."""
    with line.makefile("rb") as lines:
        for message in map(json.loads, lines):
            messages.append(message)
            if "id" in message:
                id = json.dumps(message["id"])
                line.sendall(
                    protocol.encode("begun", {"id": id}) + spoken({"id": message["id"], "result": {}})
                )


def test_a_new_daemon_receives_the_handshake_the_subscriptions_and_the_open_requests() -> None:
    conversation = Conversation()
    send(conversation, 0, {"method": "initialize", "params": {"protocolVersion": "2025-06-18"}})
    answered(conversation, 0)
    conversation.follow(True, spoken({"method": "notifications/initialized"}))
    for id, method, uri in ((1, "subscribe", "a:"), (2, "subscribe", "b:"), (3, "unsubscribe", "b:")):
        send(conversation, id, {"method": f"resources/{method}", "params": {"uri": uri}})
        answered(conversation, id)
    send(conversation, 4, SEARCH)
    conversation.interrupted("search")

    messages: list[dict[str, Any]] = []
    ours, theirs = socket.socketpair()
    with ours, theirs:
        daemon = threading.Thread(target=record_and_answer, args=(theirs, messages))
        daemon.start()
        assert conversation.restore(ours)
        ours.shutdown(socket.SHUT_WR)
        daemon.join()
    assert [message["method"] for message in messages] == [
        "initialize",
        "notifications/initialized",
        "resources/subscribe",
        "tools/call",
    ]
    assert [message.get("id") for message in messages] == ["lore-mcp/0", None, "lore-mcp/0", 4]
    assert messages[2]["params"] == {"uri": "a:"}
    [notice] = conversation.outgoing().splitlines()
    assert json.loads(notice)["params"] == {"uri": "a:"}


def test_a_daemon_that_hangs_up_meanwhile_restores_nothing() -> None:
    conversation = Conversation()
    send(conversation, 0, {"method": "initialize"})
    answered(conversation, 0)
    ours, theirs = socket.socketpair()
    with ours:
        theirs.close()
        assert not conversation.restore(ours)
