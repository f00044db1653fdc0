"""OpenCode's own database, read with the module's own statements."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.transcripts import fields, opencode
from lore.transcripts.turns import Heading, Turn, TurnOrHeading
from tests.transcripts.anything import anything

REAL = Path(__file__).parent / "fixtures" / "opencode-1.18.33.sql"
SESSION = "ses_e1eed40a0ffeXGwoNUlHhHTWHW"
FOLDER = "/home/dev/proj-oc"


@pytest.fixture
def db() -> apsw.Connection:
    connection = apsw.Connection(":memory:")
    connection.execute(REAL.read_text())
    return connection


def rows(
    db: apsw.Connection, statement: str, mark: opencode.Position = opencode.BEGINNING, limit: int = 100
) -> list[Sequence[object]]:
    return list(db.execute(statement, {"since": mark[0], "after": mark[1], "limit": limit}))


def said(db: apsw.Connection) -> list[TurnOrHeading]:
    return [one for statement in opencode.STATEMENTS for one in opencode.entries(rows(db, statement))]


def turns_of(db: apsw.Connection) -> list[Turn]:
    return [one for one in said(db) if isinstance(one, Turn)]


def put(db: apsw.Connection, message: str, at: int, data: dict[str, Any], *parts: dict[str, Any]) -> None:
    db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", (message, SESSION, at, at, json.dumps(data)))
    for number, part in enumerate(parts):
        row = (f"prt_{message}_{number:02}", message, SESSION, at, at, json.dumps(part))
        db.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", row)


def test_a_real_session_becomes_its_heading_and_its_turns(db: apsw.Connection) -> None:
    assert said(db) == [
        Heading(session=SESSION, title="All done, OpenCode.", folder=FOLDER, at=1794777464.676),
        Turn(
            uuid="prt_1e112c22d001kNH1N2AflRFLAW",
            session=SESSION,
            role="user",
            text='"OPENCODE-PROMPT say hi"',
            at=1794777465.355,
            folder=FOLDER,
        ),
        Turn(
            uuid="prt_1e112e5d20011d3xXw3mFGX8kf",
            session=SESSION,
            role="assistant",
            text="Running.",
            at=1794777474.514,
            folder=FOLDER,
            model="mock-1",
        ),
        Turn(
            uuid="prt_1e112e5ec001fNtAZ3P3lCbK0F",
            session=SESSION,
            role="tool",
            text="echo hi-opencode\nhi-opencode",
            full="echo hi-opencode\ndescription: say hi\nhi-opencode",
            at=1794777474.601,
            tool="bash",
            folder=FOLDER,
            model="mock-1",
        ),
        Turn(
            uuid="prt_1e112ea8c0019FePeDJa9XDChd",
            session=SESSION,
            role="assistant",
            text="All done, OpenCode.",
            at=1794777475.724,
            folder=FOLDER,
            model="mock-1",
        ),
    ]


def test_small_pages_give_the_same_turns_as_one_large_page(db: apsw.Connection) -> None:
    found, mark = list[TurnOrHeading](), opencode.BEGINNING
    while batch := rows(db, opencode.MESSAGES, mark, limit=1):
        assert len({row[2] for row in batch}) == 1
        found += opencode.entries(batch)
        mark = opencode.reached(batch, mark)
    assert mark == (1794777476205, "msg_1e112e9540012ZH5tQrnWm5enc")
    assert len(found) == 4
    assert set(found) == set(turns_of(db))


def test_only_messages_that_changed_since_are_read_again(db: apsw.Connection) -> None:
    first = rows(db, opencode.MESSAGES)
    since = (opencode.reached(first)[0] + 1, "")
    assert rows(db, opencode.MESSAGES, since) == []
    assert rows(db, opencode.SESSIONS, (1794777476218, "")) == []
    db.execute(
        "UPDATE part SET data = ?, time_updated = ? WHERE id = 'prt_1e112e5d20011d3xXw3mFGX8kf'",
        (json.dumps({"type": "text", "text": "Running it."}), since[0]),
    )
    again = list(opencode.entries(rows(db, opencode.MESSAGES, since)))
    assert [(one.uuid, one.text) for one in again if isinstance(one, Turn)] == [
        ("prt_1e112e5d20011d3xXw3mFGX8kf", "Running it."),
        ("prt_1e112e5ec001fNtAZ3P3lCbK0F", "echo hi-opencode\nhi-opencode"),
    ]


def test_changes_of_the_same_millisecond_are_all_found(db: apsw.Connection) -> None:
    for name in "abc":
        put(db, f"msg_{name}", 1794777476205, {"role": "user"}, {"type": "text", "text": name})
    mark, texts = (1794777476205, ""), []
    while batch := rows(db, opencode.MESSAGES, mark, limit=1):
        texts += [one.text for one in opencode.entries(batch) if isinstance(one, Turn)]
        mark = opencode.reached(batch, mark)
    assert texts == ["All done, OpenCode.", "a", "b", "c"]


def test_the_statements_read_no_other_table(db: apsw.Connection) -> None:
    read = set()

    def authorizer(action: int, one: str | None, *_: object) -> int:
        if action == apsw.SQLITE_READ and one and db.table_exists(None, one):
            read.add(one)
        return apsw.SQLITE_OK

    db.authorizer = authorizer
    said(db)
    db.authorizer = None
    assert read == {"session", "message", "part"}


def test_every_kind_of_part_becomes_its_turn(db: apsw.Connection) -> None:
    assistant = {"role": "assistant", "modelID": "m", "path": {"cwd": "/elsewhere"}}
    put(
        db, "msg_z1", 1794777490000, assistant,
        {"type": "reasoning", "text": "First I think,"},
        {"type": "reasoning", "text": "then I speak."},
        {"type": "text", "text": "not mine", "synthetic": True},
        {"type": "text", "text": "not shown", "ignored": True},
        {"type": "text", "text": "Spoken."},
        {"type": "tool", "tool": "read", "state": {"status": "running", "input": {"filePath": "/a"}}},
        {"type": "tool", "tool": "read", "state": {"status": "error", "input": {"filePath": "/a"},
                                                   "error": "no"}},
        {"type": "tool", "tool": "bash", "state": {"status": "completed", "input": {}, "output": "x " * 4500,
                                                   "metadata": {"exit": 2}}},
        {"type": "file", "url": "data:…"},
        {"type": "text", "text": "Said too."},
        {"type": "reasoning", "text": "nothing follows"},
    )  # fmt: skip
    put(db, "msg_z2", 1794777491000, assistant | {"summary": True}, {"type": "text", "text": "In short."})
    put(db, "msg_z3", 1794777492000, {"role": "user"}, {"type": "compaction", "auto": True})
    put(db, "msg_z4", 1794777493000, assistant, {"type": "text", "text": "Going on."})
    found = turns_of(db)[4:]
    assert [(one.role, one.text[:12], one.reasoning, one.tool, one.failed, one.folder) for one in found] == [
        ("assistant", "Spoken.", "First I think,\n\nthen I speak.", "", False, "/elsewhere"),
        ("tool", "/a\nno", "", "read", True, "/elsewhere"),
        ("tool", "x x x x x x ", "", "bash", True, "/elsewhere"),
        ("assistant", "Said too.", "", "", False, "/elsewhere"),
        ("summary", "In short.", "", "", False, "/elsewhere"),
        ("assistant", "Going on.", "", "", False, "/elsewhere"),
    ]
    assert len(found[2].text) < fields.RESULT_LIMIT + 100 < len(found[2].full)
    assert found[0].at == 1794777490.0


def test_answers_and_todos(db: apsw.Connection) -> None:
    todos = [{"content": "Write it", "status": "completed"}, {"content": "Test it", "status": "in_progress"}]
    told = (
        'User has answered your questions: "Which port?"="5433", "Why?"="Unanswered". You can now continue.'
    )
    put(
        db, "msg_z1", 1794777490000, {"role": "assistant"},
        {"type": "tool", "tool": "todowrite", "state": {"status": "completed", "input": {"todos": todos}}},
        {"type": "tool", "tool": "question", "state": {"status": "completed", "output": told}},
        {"type": "tool", "tool": "bash", "state": {"status": "completed", "output": told}},
    )  # fmt: skip
    found = [(one.role, one.tool, one.text) for one in turns_of(db)[4:]]
    assert found == [
        ("tool", "todowrite", "[x] Write it\n[~] Test it"),
        ("tool", "question", told),
        ("user", "question", "Which port? → 5433"),
        ("tool", "bash", told),
    ]


def sent(db: apsw.Connection, **senders: str) -> None:
    """Copies of the real session, each sent by another, with one message."""
    names = [row[1] for row in db.execute("PRAGMA table_info(session)")]
    for number, (id, sender) in enumerate(senders.items()):
        given = ", ".join({"id": "?1", "parent_id": "?2", "title": "'subtask'"}.get(n, n) for n in names)
        copy = f"INSERT INTO session SELECT {given} FROM session WHERE id = ?3"
        db.execute(copy, (id, sender, SESSION))
        message = ("msg_" + id, id, number, number, json.dumps({"role": "user", "agent": "explore"}))
        db.execute("INSERT INTO message VALUES (?, ?, ?, ?, ?)", message)
        part = ("prt_" + id, "msg_" + id, id, number, number, json.dumps({"type": "text", "text": id}))
        db.execute("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)", part)


def test_a_subagents_turns_belong_to_the_session_that_a_person_began(db: apsw.Connection) -> None:
    sent(db, child=SESSION, grandchild="child", great="grandchild")
    found = said(db)
    assert [(one.session, one.title) for one in found if isinstance(one, Heading)] == [
        (SESSION, "All done, OpenCode.")
    ]
    turns = [(one.session, one.agent, one.text) for one in found if isinstance(one, Turn)]
    assert turns[:3] == [(SESSION, "explore", text) for text in ("child", "grandchild", "great")]
    assert {agent for _, agent, _ in turns[3:]} == {""}
    roles = [one.role for one in found if isinstance(one, Turn)]
    assert set(roles[:3]) == {"assistant"}
    assert "user" in roles[3:]


def test_subagents_with_a_missing_sender_or_a_cycle_of_senders_are_read(db: apsw.Connection) -> None:
    sent(db, orphan="gone", child="orphan", one="other", other="one", own="own")
    turns = [(one.session, one.text) for one in turns_of(db)[:5]]
    assert turns == [
        ("gone", "orphan"),
        ("gone", "child"),
        ("one", "one"),
        ("other", "other"),
        ("own", "own"),
    ]


def test_a_subagent_without_a_name_is_named_after_its_session(db: apsw.Connection) -> None:
    db.execute("UPDATE session SET parent_id = 'ses_parent'")
    put(db, "msg_z", 1794777490000, {"role": "user"}, {"type": "text", "text": "look"})
    assert [(one.session, one.agent) for one in turns_of(db)][-2:] == [
        ("ses_parent", "build"),
        ("ses_parent", SESSION),
    ]


def test_invalid_utf_8_is_replaced(db: apsw.Connection) -> None:
    db.execute("UPDATE session SET title = CAST(x'6100FF62' AS TEXT)")
    db.execute(
        "UPDATE part SET data = CAST(? AS TEXT) WHERE id = 'prt_1e112ea8c0019FePeDJa9XDChd'",
        (b'{"type":"text","text":"a\xffb\\u0000c\\ud800d"}',),
    )
    found = said(db)
    assert isinstance(found[0], Heading)
    assert isinstance(found[-1], Turn)
    assert (found[0].title, found[-1].text) == ("a�b", "a�bc�d")


def test_data_that_is_too_deep_counts_as_missing(db: apsw.Connection) -> None:
    db.execute("UPDATE part SET data = ?", ("[" * 100_000,))
    assert turns_of(db) == []


ANYTHING = anything(
    "type text state status input output error metadata exit time start created role path cwd summary",
    *"text tool reasoning compaction completed error user assistant".split(),
)
DATA = ANYTHING.map(json.dumps).map(str.encode) | st.binary(max_size=20) | ANYTHING
KINDS = st.sampled_from(["session", "message", "part", "other"]) | st.none()
COLUMN = st.sampled_from(["a", "b", b"a", "", None, 5]) | DATA
ROW = st.tuples(KINDS, COLUMN, COLUMN, COLUMN, COLUMN, DATA, COLUMN, COLUMN, COLUMN)
RUN = st.lists(ROW, max_size=6)


@given(RUN)
def test_no_row_can_stop_the_reading(rows: list[Sequence[object]]) -> None:
    for one in opencode.entries(rows):
        assert one.session
        assert isinstance(one, Heading) or (one.uuid and one.text)
    opencode.reached(rows)


@given(DATA, st.lists(DATA, max_size=4))
def test_no_data_can_stop_the_reading(message: object, parts: list[object]) -> None:
    rows: list[Sequence[object]] = [("message", 1, "m", "s", "", message, 1, None, None)]
    rows += [("part", 1, "m", "s", f"p{number}", part) for number, part in enumerate(parts)]
    for one in opencode.entries(rows):
        assert isinstance(one, Turn)
        one.text.encode()
