"""Exports of Claude.ai and ChatGPT: read one conversation at a time, zipped or not."""

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.errors import Invalid
from lore.transcripts import fields, import_formats
from lore.transcripts.import_formats import CHUNK_BYTES, Export, export_entries, export_of, format_of, objects
from lore.transcripts.turns import Heading, Turn, TurnOrHeading
from tests.transcripts.anything import anything

CLAUDE = {
    "uuid": "c-1",
    "name": "Sourdough",
    "created_at": "2026-01-02T03:04:05.000000Z",
    "chat_messages": [
        {
            "uuid": "m-1",
            "sender": "human",
            "text": "the duplicate",
            "content": [{"type": "text", "text": "How warm?"}],
            "created_at": "2026-01-02T03:04:06Z",
            "attachments": [{"file_name": "notes.txt", "extracted_content": "flour " * 2000}],
        },
        {
            "uuid": "m-2",
            "sender": "assistant",
            "text": "the duplicate",
            "content": [
                {"type": "thinking", "thinking": "Look it up."},
                {"type": "text", "text": "Let me see."},
                {"type": "tool_use", "id": "t-1", "name": "web_search", "input": {"query": "sourdough"}},
                {"type": "tool_result", "tool_use_id": "t-1", "name": "web_search", "is_error": True,
                 "content": [{"type": "text", "text": "offline"}]},
                {"type": "text", "text": "About 26 degrees."},
                {"type": "token_budget"},
                {"type": "text", "text": "No more."},
            ],
            "created_at": "2026-01-02T03:04:07Z",
        },
        {"uuid": "m-3", "sender": "human", "text": "Thanks.", "content": []},
        {"uuid": "m-4", "sender": "assistant", "text": "", "content": []},
    ],
}  # fmt: skip


def node(id: str, parent: str | None, role: str, content: dict[str, Any], **more: Any) -> dict[str, Any]:
    message = {
        "id": f"{id}-id",
        "author": {"role": role, **more.pop("author", {})},
        "content": content,
        **more,
    }
    return {"id": id, "parent": parent, "children": [], "message": message}


def text(*parts: object) -> dict[str, Any]:
    return {"content_type": "text", "parts": list(parts)}


NODES = [
    {"id": "root", "parent": None, "message": None},
    node("sys", "root", "system", text("Be kind.")),
    node("hidden", "sys", "user", text("Profile"), metadata={"is_visually_hidden_from_conversation": True}),
    node("ask", "hidden", "user",
         {"content_type": "multimodal_text", "parts": [{"content_type": "image_asset_pointer"}, "Sum it."]},
         create_time=1767323046.5),
    node("old", "ask", "assistant", text("A branch that was left.")),
    node("think", "ask", "assistant", {"content_type": "thoughts", "thoughts": [{"content": "Use Python."}]}),
    node("code", "think", "assistant", {"content_type": "code", "text": "sum([1, 2])"}, recipient="python"),
    node("out", "code", "tool", {"content_type": "execution_output", "text": "3"}, author={"name": "python"}),
    node("empty", "out", "assistant", text("")),
    node("say", "empty", "assistant", text("It is 3\ue200cite\ue202turn0\ue201."), recipient="all",
         metadata={"model_slug": "gpt-x"}),
    node("code2", "say", "assistant", {"content_type": "code", "text": "print(1)"}),
    node("call", "code2", "assistant", text("{}"), recipient="browser"),
]  # fmt: skip
CHATGPT = {
    "conversation_id": "g-1",
    "title": "Sums",
    "create_time": 1767323045.0,
    "current_node": "call",
    "mapping": {str(one["id"]): one for one in NODES},
}


def data(*conversations: object) -> bytes:
    return json.dumps(conversations).encode()


def zipped(**members: bytes) -> io.BytesIO:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.json", content)
    file.seek(0)
    return file


def claude_ai(data: bytes) -> Iterator[TurnOrHeading]:
    return export_entries(io.BytesIO(data), "claude-ai")


def chatgpt(data: bytes) -> Iterator[TurnOrHeading]:
    return export_entries(io.BytesIO(data), "chatgpt")


def opened(file: io.BytesIO) -> Iterator[TurnOrHeading]:
    """The entries of an export whose kind is recognised."""
    format = format_of(file)
    if format:
        yield from import_formats.entries(file, format, "export")


def chunks(file: io.BytesIO) -> Iterator[bytes]:
    return iter(lambda: file.read(CHUNK_BYTES), b"")


def told(said: Iterator[TurnOrHeading]) -> list[tuple[str, str]]:
    return [("title", one.title) if isinstance(one, Heading) else (one.uuid, one.text) for one in said]


def test_a_conversation_of_claude_ai_becomes_its_heading_and_turns() -> None:
    heading, asked, *answered, thanks = claude_ai(data(CLAUDE))
    assert heading == Heading(session="c-1", title="Sourdough", at=1767323045.0)
    assert isinstance(asked, Turn)
    assert asked.text.startswith("How warm?\n\n[notes.txt]\nflour flour")
    assert len(asked.text) < fields.RESULT_LIMIT + 100 < len(asked.full)
    assert (asked.uuid, asked.role, asked.at) == ("m-1", "user", 1767323046.0)
    at = 1767323047.0
    assert answered == [
        Turn(uuid="m-2", session="c-1", role="assistant", text="Let me see.", reasoning="Look it up.", at=at),
        Turn(
            uuid="m-2:3:tool",
            session="c-1",
            role="tool",
            text="sourdough\noffline",
            tool="web_search",
            failed=True,
            at=at,
        ),
        Turn(uuid="m-2:3", session="c-1", role="assistant", text="About 26 degrees.\n\nNo more.", at=at),
    ]
    assert thanks == Turn(uuid="m-3", session="c-1", role="user", text="Thanks.")


def test_a_conversation_of_chatgpt_is_its_current_branch() -> None:
    assert list(chatgpt(data(CHATGPT))) == [
        Heading(session="g-1", title="Sums", at=1767323045.0),
        Turn(uuid="ask-id", session="g-1", role="user", text="Sum it.", at=1767323046.5),
        Turn(uuid="out-id", session="g-1", role="tool", text="sum([1, 2])\n3", tool="python"),
        Turn(
            uuid="say-id",
            session="g-1",
            role="assistant",
            text="It is 3.",
            reasoning="Use Python.",
            model="gpt-x",
        ),
        Turn(uuid="code2-id", session="g-1", role="assistant", text="print(1)"),
        Turn(uuid="call-id", session="g-1", role="tool", text="{}", tool="browser"),
    ]


def test_without_a_current_node_the_branch_of_the_latest_message_is_read() -> None:
    nodes = [
        node("a", None, "user", text("One."), create_time=1.0),
        node("b", "a", "assistant", text("Two."), create_time=3.0),
        node("c", "a", "assistant", text("Left."), create_time=2.0),
    ]
    conversation = {"id": "g-2", "current_node": "gone", "mapping": {one["id"]: one for one in nodes}}
    assert told(chatgpt(data(conversation))) == [
        ("title", ""),
        ("a-id", "One."),
        ("b-id", "Two."),
    ]


def test_a_cycle_of_parents_does_not_loop_forever() -> None:
    nodes = {"a": node("a", "b", "user", text("One.")), "b": node("b", "a", "user", text("Two."))}
    conversation = {"id": "g-3", "current_node": "a", "mapping": nodes}
    assert told(chatgpt(data(conversation)))[1:] == [("b-id", "Two."), ("a-id", "One.")]


def test_a_failed_execution_is_a_failed_turn() -> None:
    failed = {"aggregate_result": {"status": "failed_with_in_kernel_exception"}}
    out = node("a", None, "tool", {"content_type": "execution_output", "text": "Error"}, metadata=failed)
    _, turn = chatgpt(data({"id": "g", "current_node": "a", "mapping": {"a": out}}))
    assert isinstance(turn, Turn)
    assert (turn.role, turn.failed) == ("tool", True)


def test_conversations_without_messages_are_left_out() -> None:
    assert told(claude_ai(data({"uuid": "c", "chat_messages": []}, 5, None, CLAUDE)))[0] == (
        "title",
        "Sourdough",
    )
    assert told(chatgpt(data({"id": "g", "mapping": {}}, {"id": "g"}, []))) == []


@pytest.mark.parametrize("conversation", [CLAUDE, CHATGPT], ids=["claude.ai", "chatgpt"])
def test_either_export_is_recognised_also_inside_a_zip(conversation: dict[str, Any]) -> None:
    plain = data(conversation)
    expected = told(opened(io.BytesIO(plain)))
    assert len(expected) == 6
    assert told(opened(io.BytesIO(b"\xef\xbb\xbf" + plain))) == expected
    assert told(opened(zipped(users=b"[]", conversations=plain))) == expected
    folder = {"export/conversations": plain, "__MACOSX/export/._conversations": b"\0"}
    assert told(opened(zipped(**folder))) == expected


def test_the_parts_of_a_big_export_are_read_in_order() -> None:
    parts = {f"conversations-{number:03}": data(CHATGPT | {"title": str(number)}) for number in (2, 0, 1)}
    found = told(opened(zipped(**parts, **{"conversations-003": b"[]"})))
    assert [title for kind, title in found if kind == "title"] == ["0", "1", "2"]


def test_an_empty_export_gives_no_turns() -> None:
    for file in (io.BytesIO(b" [ ]\n"), zipped(conversations=b"[]")):
        assert format_of(file) is None
        assert list(export_entries(file, "chatgpt")) == []


@pytest.mark.parametrize(
    ("first", "export"),
    [
        (b'[{"uuid": "1", "name": "\\"mapping\\": {", "chat_messages": [', "claude-ai"),
        (b'[{"old_mapping": {}, "chat_messages": [', "claude-ai"),
        (b'[{"title": "x", "mapping" : {', "chatgpt"),
        (b'[{"current_node":"x",', "chatgpt"),
    ],
)
def test_the_first_bytes_identify_the_kind_of_an_export(first: bytes, export: Export) -> None:
    assert export_of(first) == export


@pytest.mark.parametrize(
    ("file", "wrong"),
    [
        (io.BytesIO(b'[{"a": 1}]'), "recognised in this; right is the zip or the conversations.json"),
        (zipped(conversations=b"nonsense"), "recognised"),
        (zipped(conversations=b'{"mapping": 1}'), "not a JSON array; right is an array of conversations"),
        (io.BytesIO(b"PK\x03\x04 and no more"), "zip cannot be opened"),
        (zipped(users=b"[]"), "holds no conversations.json"),
        (zipped(conversations=b'[{"mapping": }]'), "conversation 1 cannot be read: Expecting value"),
        (io.BytesIO(b'[{"mapping": ' + b"[" * 100_000), "conversation 1 cannot be read: maximum recursion"),
    ],
    ids=["other JSON", "no JSON", "no array", "broken zip", "other zip", "broken JSON", "too deep"],
)
def test_a_file_that_is_no_export_is_refused(file: io.BytesIO, wrong: str) -> None:
    with pytest.raises(Invalid, match=wrong):
        list(opened(file))


def test_conversations_before_a_break_are_read() -> None:
    whole = data(CLAUDE, CLAUDE | {"uuid": "c-2"})
    for end, wrong in ((-2, "conversation 2 cannot be read"), (-1, "ends after 2 conversations without a ]")):
        said = claude_ai(whole[:end])
        assert next(said) == Heading(session="c-1", title="Sourdough", at=1767323045.0)
        with pytest.raises(Invalid, match=wrong):
            list(said)


def test_bytes_that_are_not_utf_8_do_not_stop_the_reading() -> None:
    broken = data(CLAUDE).replace(b"Thanks", b"\xff\\u0000\\ud800")
    assert told(opened(io.BytesIO(broken)))[-1] == ("m-3", "��.")


class Counting(io.BytesIO):
    """Counts what has been read of it."""

    count = 0

    def read(self, size: int | None = -1, /) -> bytes:
        found = super().read(size)
        self.count += len(found)
        return found


def test_each_conversation_is_yielded_before_the_next_is_read() -> None:
    """However long the file is, no more is held than what lies between what was read and what was told."""
    whole = data(*(CLAUDE | {"uuid": f"c-{number}", "name": "ä" * 5000} for number in range(200)))
    size, file, most = len(whole) // 200, Counting(whole), 0
    for number, conversation in enumerate(objects(chunks(file)), 1):
        assert conversation["uuid"] == f"c-{number - 1}"
        most = max(most, file.count - number * size)
    assert number == 200
    assert len(whole) > 40 * CHUNK_BYTES
    assert most <= 2 * (CHUNK_BYTES + size)


def test_a_long_conversation_is_parsed_a_few_times_only(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = list[int]()

    class Decoder(json.JSONDecoder):
        def raw_decode(self, s: str, idx: int = 0) -> tuple[Any, int]:
            tried.append(len(s))
            return super().raw_decode(s, idx)

    monkeypatch.setattr(import_formats, "_DECODER", Decoder())
    [long] = objects(bytes([byte]) for byte in data({"text": "word " * 2000}))
    assert len(long["text"]) == 10_000
    assert len(tried) < 20
    assert sum(tried) < 60_000


def test_invalid_json_is_refused_without_reading_to_the_end() -> None:
    file = Counting(b'[{"a": nonsense}, ' + b" " * 1_000_000)
    with pytest.raises(Invalid, match="conversation 1 cannot be read"):
        list(objects(chunks(file)))
    assert file.count == CHUNK_BYTES


def test_a_conversation_too_long_to_be_held_is_refused() -> None:
    file = Counting(b'[{"a": "' + b"x" * 9_000_000)
    with pytest.raises(Invalid, match="conversation 1 cannot be read: it has over 1,000 characters"):
        list(objects(chunks(file), longest=1000))
    assert file.count == CHUNK_BYTES


SHORT = st.text(max_size=3)


@given(
    st.lists(st.dictionaries(SHORT, SHORT | st.floats(allow_nan=False), max_size=3)),
    st.integers(1, 9),
    st.booleans(),
)
def test_pieces_of_any_size_give_the_same_objects(
    items: list[dict[str, Any]], size: int, plain: bool
) -> None:
    whole = json.dumps(items, ensure_ascii=plain).encode("utf-8", "replace")
    pieces = (whole[start : start + size] for start in range(0, len(whole), size))
    assert list(objects(pieces)) == json.loads(whole)


BOTH = data(CLAUDE) + data(CHATGPT)
PLACES = st.lists(st.tuples(st.integers(0, len(BOTH)), st.binary(max_size=3)), min_size=1, max_size=3)


def damaged(whole: bytes, places: list[tuple[int, bytes]]) -> io.BytesIO:
    for at, instead in places:
        at %= len(whole)
        whole = whole[:at] + instead + whole[at + 1 :]
    return io.BytesIO(whole)


@given(PLACES, st.sampled_from([CLAUDE, CHATGPT]), st.booleans())
def test_a_damaged_export_is_read_or_refused(
    places: list[tuple[int, bytes]], conversation: dict[str, Any], compressed: bool
) -> None:
    whole = data(conversation)
    try:
        for one in opened(damaged(zipped(conversations=whole).getvalue() if compressed else whole, places)):
            assert one.session
    except Invalid:
        return


VALUES = anything("a uuid id sender text type content author role parts message parent", "a", "user", "text")


def swapped(value: Any, at: int, instead: Any) -> Any:
    """The same, but for one of the values inside of it."""
    if isinstance(value, dict) and value:
        name = sorted(value)[at % len(value)]
        return value | {name: swapped(value[name], at // len(value), instead)}
    if isinstance(value, list) and value:
        place = at % len(value)
        return [*value[:place], swapped(value[place], at // len(value), instead), *value[place + 1 :]]
    return instead


@given(st.sampled_from([CLAUDE, CHATGPT]), st.lists(st.tuples(st.integers(0, 10**6), VALUES), max_size=4))
def test_no_value_of_the_wrong_kind_stops_the_reading(
    conversation: dict[str, Any], swaps: list[tuple[int, Any]]
) -> None:
    for at, instead in swaps:
        conversation = swapped(conversation, at, instead)
    for read in (claude_ai, chatgpt):
        for one in read(data(conversation)):
            assert one.session
            assert isinstance(one, Heading) or (one.uuid and one.text)
