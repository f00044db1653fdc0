"""Cursor's keys and values, in a small database of the described form."""

import json
from collections.abc import Sequence
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.transcripts import cursor_ide
from lore.transcripts.turns import Heading, Turn, TurnOrHeading
from tests.transcripts.anything import anything

BEGAN = 1_780_000_000_000
COMPOSER = {
    "name": "Rate limits",
    "createdAt": BEGAN,
    "lastUpdatedAt": BEGAN + 60_000,
    "modelConfig": {"modelName": "model-1"},
    "workspaceIdentifier": {"uri": {"fsPath": "/home/dev/gateway"}},
    "fullConversationHeadersOnly": [
        {"bubbleId": "z-ask", "type": 1},
        {"bubbleId": "y-think", "type": 2},
        {"bubbleId": "x-say", "type": 2},
        {"bubbleId": "gone", "type": 2},
        {"bubbleId": "w-do", "type": 2},
        {"bubbleId": "v-wait", "type": 2},
        {"bubbleId": "u-end", "type": 2},
    ],
}
BUBBLES = {
    "z-ask": {"type": 1, "text": "Add a limiter."},
    "y-think": {"type": 2, "text": "", "thinking": {"text": "A bucket will do."}},
    "x-say": {"type": 2, "text": "I will.", "createdAt": "2026-05-28T20:26:50Z"},
    "w-do": {
        "type": 2,
        "text": "",
        "toolFormerData": {
            "name": "run_terminal_cmd",
            "params": json.dumps({"command": "make test"}),
            "result": json.dumps({"output": "1 failed", "exitCode": 1}),
            "status": "error",
        },
    },
    "v-wait": {"type": 2, "toolFormerData": {"name": "read_file", "params": "{}", "status": "loading"}},
    "u-end": {"type": 2, "text": "It failed.", "createdAt": BEGAN},
    "orphan": {"type": 1, "text": "Taken back."},
}


@pytest.fixture
def db() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
    return connection


def put(db: apsw.Connection, id: str, composer: dict[str, Any], bubbles: dict[str, Any]) -> None:
    db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (f"composerData:{id}", json.dumps(composer)))
    for name, bubble in bubbles.items():
        value = json.dumps(bubble).encode()
        db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (f"bubbleId:{id}:{name}", value))


def composers(db: apsw.Connection, since: int = 0) -> list[Sequence[object]]:
    """Keys and values of the composers that changed since."""
    keys = [key for key, _ in db.execute(cursor_ide.COMPOSERS, {"since": since}).fetchall()]
    return [row for key in keys for row in db.execute(cursor_ide.COMPOSER, (key,)).fetchall()]


def said(db: apsw.Connection) -> list[TurnOrHeading]:
    found = []
    for composer in composers(db):
        bubbles = db.execute(cursor_ide.BUBBLES, {"composer": cursor_ide.composer_id(composer[0])})
        found += list(cursor_ide.entries(composer, bubbles))
    return found


def test_a_composer_becomes_turns_in_the_order_of_its_headers(db: apsw.Connection) -> None:
    put(db, "c1", COMPOSER, BUBBLES)
    like: dict[str, Any] = {"session": "c1", "folder": "/home/dev/gateway"}
    assert said(db) == [
        Heading(**like, title="Rate limits", at=1_780_000_000),
        Turn(**like, uuid="z-ask", role="user", text="Add a limiter.", at=1_780_000_000.001, line=1),
        Turn(
            **like,
            uuid="x-say",
            role="assistant",
            text="I will.",
            reasoning="A bucket will do.",
            at=1_780_000_010,
            model="model-1",
            line=3,
        ),
        Turn(
            **like,
            uuid="w-do:tool",
            role="tool",
            text="make test\n1 failed",
            tool="run_terminal_cmd",
            failed=True,
            at=1_780_000_010.001,
            model="model-1",
            line=5,
        ),
        Turn(
            **like,
            uuid="u-end",
            role="assistant",
            text="It failed.",
            at=1_780_000_010.002,
            model="model-1",
            line=7,
        ),
    ]


@pytest.mark.parametrize(
    ("summary", "place"),
    [
        ({"summary": {"summary": "A limiter.", "truncationLastBubbleIdInclusive": "x-say"}}, 2),
        ({"summary": {"summary": "A limiter."}, "lastBubbleId": "x-say"}, 2),
        ({"summary": "A limiter."}, 4),
    ],
)
def test_the_latest_summary_follows_what_it_is_about(
    db: apsw.Connection, summary: dict[str, Any], place: int
) -> None:
    put(db, "c1", COMPOSER | {"latestConversationSummary": summary}, BUBBLES)
    turns = [one for one in said(db) if isinstance(one, Turn)]
    assert (turns[place].role, turns[place].text, turns[place].tool) == ("summary", "A limiter.", "")
    assert len({turn.uuid for turn in turns}) == len(turns) == 5
    put(db, "c1", COMPOSER, BUBBLES)
    assert [one for one in said(db) if isinstance(one, Turn)] == turns[:place] + turns[place + 1 :]


def test_drafts_are_left_out(db: apsw.Connection) -> None:
    put(db, "c1", COMPOSER | {"fullConversationHeadersOnly": []}, BUBBLES)
    put(db, "c2", COMPOSER, {})
    put(db, "c3", COMPOSER, {"z-ask": {"type": 1, "text": "  "}})
    assert said(db) == []


def test_composers_with_similar_ids_are_kept_apart(db: apsw.Connection) -> None:
    for id in ("c", "c1", "c_"):
        put(db, id, COMPOSER, {"z-ask": {"type": 1, "text": id}})
    db.execute("INSERT INTO cursorDiskKV VALUES ('composerDatabase', '{}'), ('bubbleId', '{}')")
    assert len(composers(db)) == 3
    turns = [one for one in said(db) if isinstance(one, Turn)]
    assert [(one.session, one.text) for one in turns] == [("c", "c"), ("c1", "c1"), ("c_", "c_")]


def test_composers_that_changed_come_after_those_without_a_time(db: apsw.Connection) -> None:
    for number in range(5):
        put(db, f"c{number}", COMPOSER | {"lastUpdatedAt": number}, {})
    put(db, "c7", {"name": "does not tell"}, {})
    db.execute(
        "INSERT INTO cursorDiskKV VALUES ('composerData:c8', CAST(x'7BFF' AS TEXT)),"
        " ('composerData:c9', NULL)"
    )
    put(db, "c91", {"name": "tells nonsense", "lastUpdatedAt": "half an emoji \ud83d"}, {})
    keys = [str(key).removeprefix("composerData:") for key, _ in composers(db, since=3)]
    assert keys == ["c7", "c8", "c9", "c91", "c3", "c4"]


def test_both_statements_use_the_index(db: apsw.Connection) -> None:
    for statement, bound in (
        (cursor_ide.COMPOSERS, {"since": 0}),
        (cursor_ide.BUBBLES, {"composer": "c"}),
    ):
        plan = " ".join(str(row[3]) for row in db.execute(f"EXPLAIN QUERY PLAN {statement}", bound))
        assert "(key>? AND key<?)" in plan
        assert "SCAN" not in plan


def subagent(**info: str) -> dict[str, Any]:
    return COMPOSER | {"name": "Look around", "subagentInfo": info}


def test_a_subagents_turns_belong_to_the_composer_that_a_person_began(db: apsw.Connection) -> None:
    put(db, "c1", COMPOSER, BUBBLES)
    put(db, "c2", subagent(parentComposerId="c1", subagentTypeName="explore"), BUBBLES)
    put(db, "c3", subagent(parentComposerId="c2", rootParentConversationId="c1"), BUBBLES)
    found = said(db)
    assert [(one.session, one.title) for one in found if isinstance(one, Heading)] == [("c1", "Rate limits")]
    turns = [one for one in found if isinstance(one, Turn)]
    by = [(one.session, one.agent, one.role) for one in turns if one.text == BUBBLES["z-ask"]["text"]]
    assert by == [("c1", "", "user"), ("c1", "explore", "assistant"), ("c1", "c3", "assistant")]


def test_a_best_of_n_attempt_is_a_fork(db: apsw.Connection) -> None:
    put(db, "c2", subagent(parentComposerId="c1") | {"isBestOfNSubcomposer": True}, BUBBLES)
    heading, turn, *_ = said(db)
    assert isinstance(heading, Heading)
    assert isinstance(turn, Turn)
    assert (heading.session, heading.parent, turn.session, turn.agent) == ("c2", "c1", "c2", "")


def test_bubbles_inside_an_older_composer_are_read() -> None:
    told = {
        "conversation": [
            {"bubbleId": "a", "type": 1, "text": "Hi."},
            {"bubbleId": "b", "type": 2, "text": "Yes?"},
        ]
    }
    found = list(cursor_ide.entries(("composerData:c", json.dumps(told)), []))
    assert [(one.role, one.text, one.at) for one in found if isinstance(one, Turn)] == [
        ("user", "Hi.", None),
        ("assistant", "Yes?", None),
    ]


@pytest.mark.parametrize(
    ("tool", "text"),
    [
        (
            {"name": "t", "rawArgs": '{"path": "a.py"}', "result": "plain", "status": "completed"},
            "a.py\nplain",
        ),
        ({"name": "t", "params": {"a": 1}, "result": {"b": 2}}, '{"a": 1}\n{"b": 2}'),
        ({"name": "t", "params": "{", "status": "cancelled"}, "{"),
        ({"name": "t", "status": "completed"}, "t"),
    ],
    ids=["raw arguments", "not in text", "broken", "only a name"],
)
def test_every_form_of_a_tool_call_becomes_a_turn(tool: dict[str, Any], text: str) -> None:
    composer = json.dumps({"fullConversationHeadersOnly": [{"bubbleId": "b"}]})
    bubble = json.dumps({"type": 2, "toolFormerData": tool})
    _, turn = cursor_ide.entries(("composerData:c", composer), [("bubbleId:c:b", bubble)])
    assert isinstance(turn, Turn)
    assert (turn.text, turn.failed) == (text, tool.get("status") == "cancelled")


ANYTHING = anything(
    "type text bubbleId createdAt thinking toolFormerData params result status name conversation"
    " fullConversationHeadersOnly modelConfig workspaceIdentifier uri subagentInfo parentComposerId",
    *(1, 2, "b", "error"),
)
DATA = ANYTHING.map(json.dumps) | st.binary(max_size=20) | ANYTHING
HEADERS = st.just(json.dumps({"fullConversationHeadersOnly": [{"bubbleId": "b", "type": 2}]}))
KEY = st.sampled_from(["composerData:c", b"composerData:c", "", None, 5])


@given(
    st.tuples(KEY, HEADERS | DATA),
    st.lists(st.tuples(st.just("bubbleId:c:b"), DATA)),
)
def test_no_value_can_stop_the_reading(composer: Sequence[object], bubbles: list[Sequence[object]]) -> None:
    for one in cursor_ide.entries(composer, bubbles):
        assert one.session
        if isinstance(one, Turn):
            assert one.session == "c" or one.agent
            one.text.encode()
