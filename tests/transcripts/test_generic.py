"""Files that no client wrote: lines of JSON, and plain text."""

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.errors import Invalid
from lore.transcripts import generic
from lore.transcripts.import_formats import format_of
from lore.transcripts.turns import Heading, Turn
from tests.transcripts.anything import anything


def lines(*records: object) -> io.BytesIO:
    return io.BytesIO("\n".join(json.dumps(record) for record in records).encode())


def told(text: str | bytes) -> list[tuple[str, str]]:
    data = text if isinstance(text, bytes) else text.encode()
    return [
        ("title", one.title) if isinstance(one, Heading) else (one.role, one.text)
        for one in generic.prose(io.BytesIO(data), "notes")
    ]


def turns(stream: io.BytesIO) -> list[Turn]:
    return [one for one in generic.json_lines(stream, "chat") if isinstance(one, Turn)]


@pytest.mark.parametrize(
    ("record", "role", "text"),
    [
        ({"role": "user", "content": "Hi"}, "user", "Hi"),
        ({"role": "Assistant", "content": [{"type": "text", "text": "Hello"}]}, "assistant", "Hello"),
        ({"speaker": "Caroline", "text": "Hi"}, "user", "Caroline: Hi"),
        ({"from": "gpt", "value": "Hello"}, "assistant", "Hello"),
        ({"author": "human", "text": "Hi"}, "user", "Hi"),
        ({"author": {"role": "assistant"}, "content": {"parts": ["Hello"]}}, "assistant", "Hello"),
        ({"type": "x", "message": {"role": "user", "content": "Hi"}}, "user", "Hi"),
        ({"type": "x", "isSidechain": True, "message": {"role": "user", "content": "Hi"}}, "assistant", "Hi"),
        ({"role": "tool", "name": "grep", "content": "found"}, "tool", "found"),
    ],
    ids="role,parts,speaker,from,author,author with a role,inside a message,to a subagent,tool".split(","),
)
def test_all_common_field_names_for_speaker_and_text_are_understood(
    record: dict[str, Any], role: str, text: str
) -> None:
    [turn] = turns(lines(record))
    assert (turn.role, turn.text, turn.session, turn.line) == (role, text, "chat", 1)
    assert turn.tool == record.get("name", "")


def test_lines_that_are_no_turns_are_left_out() -> None:
    stream = io.BytesIO(
        b'\xef\xbb\xbf{"role":"system","content":"Be kind."}\n\nnonsense\n[1]\n{"role":"user"}\n'
        b'{"role":"user","content":"caf\xff","timestamp":"2026-01-02T03:04:05Z"}\r\n{"role":"user","content'
    )
    [turn] = turns(stream)
    assert (turn.text, turn.at, turn.line) == ("caf�", 1767323045.0, 6)


def test_a_line_may_hold_a_whole_conversation() -> None:
    [one, other] = turns(
        lines({"messages": [{"role": "user", "content": "Hi"}, {"role": "ai", "content": "Hi"}]})
    )
    assert (one.role, other.role, one.line, other.line) == ("user", "assistant", 1, 1)
    assert one.uuid != other.uuid


def test_ids_are_stable_and_differ_by_session_number_and_text() -> None:
    hi = {"role": "user", "content": "Hi"}
    [first, second] = turns(lines(hi, hi))
    assert turns(lines(hi, hi)) == [first, second]
    [elsewhere] = generic.json_lines(lines(hi), "another")
    [changed] = turns(lines({"role": "user", "content": "Ho"}))
    assert isinstance(elsewhere, Turn)
    assert len({first.uuid, second.uuid, elsewhere.uuid, changed.uuid}) == 4


def test_lines_without_any_turn_are_refused() -> None:
    with pytest.raises(
        Invalid, match="none of 2 lines is a turn; right is one JSON object a line, with role and"
    ):
        turns(lines({"a": 1}, {"b": 2}))
    assert turns(io.BytesIO(b"\n\n")) == []
    assert turns(lines({"role": "system", "content": "Be kind."})) == []


def test_a_line_too_long_to_be_held_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generic, "LONGEST_LINE", 60)
    short = b'{"role": "user", "content": "short"}'
    stream = io.BytesIO(b"\n".join([short, b"x" * 60 + short, short]))
    assert [(one.text, one.line) for one in turns(stream)] == [("short", 1), ("short", 3)]


@pytest.mark.parametrize(
    "text",
    [
        "**User:** Why?\nReally?\n\n**Assistant:** Because.",
        "**User**: Why?\nReally?\n\n**Assistant**: Because.",
        "## User\n\nWhy?\nReally?\n\n## Assistant\n\nBecause.\n",
        "### User (10:30)\nWhy?\nReally?\n### Claude:\nBecause.",
        "Human: Why?\nReally?\nAssistant: Because.",
        "You said:\r\nWhy?\r\nReally?\r\nChatGPT said:\r\nBecause.\r\n",
        "_**User**_\n\nWhy?\nReally?\n\n---\n\n_**Assistant (model-1)**_\n\nBecause.",
    ],
    ids="bold,colon outside,headings,headings with asides,plain,copied from a page,bold and slanted".split(
        ","
    ),
)
def test_a_text_is_split_at_its_speakers(text: str) -> None:
    assert [(role, said.removesuffix("\n\n---")) for role, said in told(text)] == [
        ("user", "Why?\nReally?"),
        ("assistant", "Because."),
    ]


def test_a_text_has_one_style_of_speakers_and_code_has_none() -> None:
    answer = "User: a person\nAssistant: a program\n```\n**User:** in code\n# no heading\n```\nEnd"
    assert told(f"# On roles\n\n**User:** Hi\n\n**Assistant:**\n{answer}") == [
        ("title", "On roles"),
        ("user", "Hi"),
        ("assistant", answer),
    ]


def test_system_text_is_left_out_and_text_before_the_first_speaker_is_kept() -> None:
    assert told("Notes first.\n\nSystem: be kind\nUser: Hi\nAssistant: Hello") == [
        ("user", "Notes first."),
        ("user", "Hi"),
        ("assistant", "Hello"),
    ]


def test_a_text_without_speakers_has_a_turn_for_each_section() -> None:
    text = "---\ntitle: 'The plan'\n---\n# Plan\n\n## First\nDo this.\n\n## User\nMeans a person.\n"
    assert told(text) == [
        ("title", "The plan"),
        ("user", "# Plan\n\n## First\nDo this."),
        ("user", "## User\nMeans a person."),
    ]
    found = list(generic.prose(io.BytesIO(text.encode()), "notes"))
    assert [one.line for one in found if isinstance(one, Turn)] == [4, 9]


@pytest.mark.parametrize(
    ("front", "at"),
    [
        ("date: 2024-03-09", 1_709_942_400.0),
        ("title: x\ncreated: '2024-03-09T12:00:00+02:00'", 1_709_978_400.0),
        ("date: some day", None),
        ("title: 2024-03-09", None),
    ],
)
def test_turns_of_a_text_have_the_date_of_its_front_matter(front: str, at: float | None) -> None:
    dated, plain = f"---\n{front}\n---\nUser: Hi\nAssistant: Hello", "User: Hi\nAssistant: Hello"
    turns, same = (
        [one for one in generic.prose(io.BytesIO(text.encode()), "notes") if isinstance(one, Turn)]
        for text in (dated, plain)
    )
    assert [one.at for one in turns] == [at, at]
    assert [one.uuid for one in turns] == [one.uuid for one in same]


def test_a_single_speaker_in_the_middle_of_a_text_does_not_make_it_a_dialogue() -> None:
    assert told("A glossary.\n\nUser: a person.") == [("user", "A glossary.\n\nUser: a person.")]
    assert told("User: only asks.") == [("user", "only asks.")]


def paragraphs(count: int) -> list[str]:
    return [f"{number}: " + f"word{number} " * 80 + "end." for number in range(count)]


def uuids(text: str) -> list[str]:
    return [one.uuid for one in generic.prose(io.BytesIO(text.encode()), "notes") if isinstance(one, Turn)]


@pytest.mark.parametrize("between", ["\n\n", "\n"], ids=["paragraphs", "lines"])
def test_text_inserted_at_the_top_leaves_later_turns_unchanged(between: str) -> None:
    text = between.join(paragraphs(200))
    before, after = uuids(text), uuids(f"{'Only now. ' * 300}{between}{text}")
    assert len(before) > 10
    assert len(set(after) - set(before)) <= 3


@given(st.integers(0, 39), st.sampled_from(["drop", "change", "insert"]), st.booleans())
def test_unchanged_sections_keep_their_ids(at: int, change: str, dialogue: bool) -> None:
    named = ["## User", "## Assistant"] if dialogue else ["## Notes"]
    sections = [
        f"{named[n % len(named)]}\n\n{text}" for n, text in enumerate(["the same"] * 3 + paragraphs(37))
    ]
    new = f"{named[0]}\n\nnew"
    changed = {"drop": [], "change": [new], "insert": [new, sections[at]]}[change]
    before = uuids("\n\n".join(sections))
    after = uuids("\n\n".join([*sections[:at], *changed, *sections[at + 1 :]]))
    assert len(set(before)) == 40
    assert len(set(before) & set(after)) == (40 if change == "insert" else 39)
    assert len(after) == len(set(after))


@given(st.lists(st.sampled_from("abc"), max_size=12), st.integers(0, 12), st.sampled_from("abcd"))
def test_an_inserted_line_is_the_only_new_turn(said: list[str], at: int, new: str) -> None:
    def names(texts: list[str]) -> list[str]:
        return [turn.uuid for turn in turns(lines(*({"role": "user", "content": text} for text in texts)))]

    before, after = names(said), names([*said[:at], new, *said[at:]])
    assert len(set(after)) == len(after) == len(said) + 1
    assert set(before) < set(after)


def test_equal_texts_at_different_times_are_different_turns() -> None:
    yes = [{"role": "user", "content": "yes", "time": 1_780_000_000 + day} for day in range(3)]
    before, after = turns(lines(*yes[1:])), turns(lines(*yes))
    assert [turn.uuid for turn in after[1:]] == [turn.uuid for turn in before]


def test_the_role_is_part_of_the_id() -> None:
    hi = {"content": "Hi"}
    [one, other] = turns(lines({"role": "user", **hi}, {"role": "assistant", **hi}))
    [alone] = turns(lines({"role": "assistant", **hi}))
    assert one.uuid != other.uuid == alone.uuid


def test_long_sections_are_split_between_paragraphs() -> None:
    text = "\n\n".join(paragraphs(60))
    parts = [part for _, part in told(text)]
    assert "\n\n".join(parts) == text
    assert len(parts) < 15
    assert max(map(len, parts)) <= generic.LONGEST_SECTION
    assert min(map(len, parts[:-1])) >= generic.LEAST_PART
    assert "".join(text for _, text in told("ab " * 6000)).replace(" ", "") == "ab" * 6000


def test_a_binary_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Invalid, match="not text; right is Markdown"):
        told(b"\x89PNG\0")
    monkeypatch.setattr(generic, "LONGEST_PROSE", 10)
    with pytest.raises(Invalid, match="over 10 bytes; split it"):
        told("x" * 11)


def test_an_empty_text_gives_no_turns() -> None:
    assert told("") == told("\n \n") == told("---\n---\n") == []


def test_the_first_bytes_distinguish_json_lines_from_text() -> None:
    assert format_of(io.BytesIO(b'\xef\xbb\xbf \n{"role"')) == "jsonl"
    assert format_of(io.BytesIO(b"# Notes")) == format_of(io.BytesIO(b"")) == "text"


PIECES = st.sampled_from(
    [
        *"User: **User:** ## Assistant: (a) ``` ~~~ # --- title: x ** _".split(),
        "\n",
        "\n\n",
        "\r",
        "\t ",
        "\u2028",
    ]
)


@given(st.lists(PIECES, max_size=25).map("".join).map(str.encode) | st.binary(max_size=60))
def test_any_text_is_read_or_refused(data: bytes) -> None:
    try:
        found = list(generic.prose(io.BytesIO(data), "notes"))
    except Invalid:
        assert b"\0" in data
        return
    assert all(one.text for one in found if isinstance(one, Turn))


VALUES = anything("role content text author from value messages message parts time name", "user", "assistant")


@given(st.lists(VALUES.map(json.dumps).map(str.encode) | st.binary(max_size=20), max_size=5).map(b"\n".join))
def test_any_json_lines_are_read_or_refused(data: bytes) -> None:
    try:
        for one in generic.json_lines(io.BytesIO(data), "chat"):
            assert isinstance(one, Turn)
            one.text.encode()
    except Invalid:
        assert data.strip()
