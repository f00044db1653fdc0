"""import: what is in a file that somebody hands over, once, however often it is handed over."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from lore import Filter, Invalid, Lore, Unavailable
from lore.engine.ingest import BATCH, Ingested
from lore.model import Memory
from lore.transcripts.import_formats import Format, format_of

SECRET = "ghp_" + "a1B2" * 9


def claude(count: int = 2, name: str = "Sourdough", uuid: str = "c-1") -> dict[str, Any]:
    """A conversation of an export of Claude.ai."""
    messages: list[dict[str, Any]] = [
        {
            "uuid": f"{uuid}-m{number}",
            "sender": "assistant" if number % 2 else "human",
            "text": f"{name}, word {number}.",
            "content": [],
            "created_at": f"2026-01-02T03:{number // 60:02}:{number % 60:02}Z",
        }
        for number in range(count)
    ]
    return {"uuid": uuid, "name": name, "created_at": "2026-01-02T03:00:00Z", "chat_messages": messages}


CHATGPT = {
    "id": "g-1",
    "title": "Ferries",
    "create_time": 1767323045.0,
    "mapping": {
        "root": {"id": "root", "parent": None, "message": None},
        "ask": {
            "id": "ask",
            "parent": "root",
            "message": {
                "id": "ask-id",
                "author": {"role": "user"},
                "content": {"content_type": "text", "parts": ["When does the ferry leave?"]},
            },
        },
        "answer": {
            "id": "answer",
            "parent": "ask",
            "message": {
                "id": "answer-id",
                "author": {"role": "assistant"},
                "content": {"content_type": "text", "parts": ["At noon."]},
            },
        },
    },
    "current_node": "answer",
}
MARKDOWN = "# Harbour\n\nThe ferry leaves at noon.\n\n## Winter\n\nThere is no ferry in winter.\n"
LINES = '{"role": "user", "content": "Is there tea?"}\n{"role": "assistant", "content": "Only green."}\n'


def written(path: Path, *conversations: object) -> Path:
    path.write_text(json.dumps(list(conversations)))
    return path


def zipped(path: Path, *conversations: object) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("users.json", "[]")
        archive.writestr("conversations.json", json.dumps(conversations))
    return path


def read(lore: Lore, path: Path, **said: Any) -> Ingested:
    return sum(lore.import_file(path, **said), Ingested())


def kept(lore: Lore, kind: str = "turn") -> list[Memory]:
    """All of a kind, in the order in which they were kept."""
    return sorted(lore.select(Filter(kinds=frozenset({kind})), 5_000), key=lambda memory: memory.alias)


def texts(lore: Lore) -> list[str]:
    return [turn.content for turn in kept(lore)]


def before(lore: Lore, turn: Memory) -> list[str]:
    """The turns that a turn follows."""
    links = lore.read(turn.id, use=False).links
    return [link.source for link in links if link.kind == "temporal" and link.target == turn.id]


def test_an_export_of_claude_ai_becomes_turns_below_its_conversations(lore: Lore, tmp_path: Path) -> None:
    done = read(lore, written(tmp_path / "c.json", claude(), claude(3, "Ferries", "c-2")))
    assert (done.turns, done.sessions) == (5, 2)
    assert [session.title for session in kept(lore, "session")] == ["Sourdough", "Ferries"]
    first, second, *_ = kept(lore)
    assert (first.source, first.session, first.type, second.type) == ("claude-ai", "c-1", "user", "assistant")
    assert before(lore, second) == [first.id]


@pytest.mark.parametrize("hand_out", [written, zipped])
def test_an_export_is_the_same_zipped_or_not(lore: Lore, tmp_path: Path, hand_out: Any) -> None:
    read(lore, hand_out(tmp_path / "handed-out", CHATGPT))
    assert texts(lore) == ["When does the ferry leave?", "At noon."]
    assert {turn.source for turn in kept(lore)} == {"chatgpt"}


@pytest.mark.parametrize("hand_out", [written, zipped])
def test_all_bytes_of_a_file_are_counted(lore: Lore, tmp_path: Path, hand_out: Any) -> None:
    path = hand_out(tmp_path / "export", *(claude(90, "Tea", f"c-{number}") for number in range(8)))
    first, *rest = lore.import_file(path)
    assert len(rest) > 2
    assert 0 < first.bytes < path.stat().st_size
    assert sum(rest, first).bytes == path.stat().st_size
    assert all(part.bytes >= 0 for part in rest)


def test_a_text_becomes_the_turns_of_a_session_with_its_name(lore: Lore, tmp_path: Path) -> None:
    path = tmp_path / "harbour.md"
    path.write_text(MARKDOWN)
    assert (done := read(lore, path)).turns == 2
    assert done.sessions == 1
    [session] = kept(lore, "session")
    assert (session.title, session.session, session.source) == ("Harbour", "harbour.md", "import")


def test_lines_become_turns_of_the_session_that_is_said(lore: Lore, tmp_path: Path) -> None:
    path = tmp_path / "tea"
    path.write_text(LINES)
    read(lore, path, session="Tea time")
    assert [(turn.type, turn.content, turn.session) for turn in kept(lore)] == [
        ("user", "Is there tea?", "Tea time"),
        ("assistant", "Only green.", "Tea time"),
    ]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("c.json", json.dumps([claude(BATCH * 2 + 50), claude(3, "Ferries", "c-2")])),
        ("g.json", json.dumps([CHATGPT])),
        ("harbour.md", MARKDOWN),
        ("tea.jsonl", LINES),
    ],
)
def test_a_second_import_changes_nothing(lore: Lore, tmp_path: Path, name: str, content: str) -> None:
    path = tmp_path / name
    path.write_text(content)
    assert read(lore, path).turns
    turns, sessions = kept(lore), kept(lore, "session")
    links = lore.links([memory.id for memory in turns])
    (tmp_path / "elsewhere").mkdir()
    again = read(lore, path.rename(tmp_path / "elsewhere" / name))
    assert (again.turns, again.changed, again.sessions) == (0, 0, 0)
    assert (kept(lore), kept(lore, "session")) == (turns, sessions)
    assert lore.links([memory.id for memory in turns]) == links


def test_a_later_export_goes_on_behind_the_turns_that_are_known(lore: Lore, tmp_path: Path) -> None:
    read(lore, written(tmp_path / "early.json", claude(2)))
    done = read(lore, written(tmp_path / "late.json", claude(3)))
    assert (done.turns, done.sessions) == (1, 0)
    _, second, third = kept(lore)
    assert before(lore, third) == [second.id]
    assert second.content in third.context


def test_what_was_forgotten_stays_forgotten_and_the_rest_goes_on(lore: Lore, tmp_path: Path) -> None:
    read(lore, written(tmp_path / "early.json", claude(2)))
    lore.forget([kept(lore)[1].id])
    done = read(lore, written(tmp_path / "late.json", claude(3)))
    assert done.turns == 1
    assert texts(lore) == ["Sourdough, word 0.", "Sourdough, word 2."]


def test_a_forgotten_conversation_stays_forgotten_and_what_is_said_later_is_new(
    lore: Lore, tmp_path: Path
) -> None:
    read(lore, written(tmp_path / "early.json", claude(2)))
    lore.forget([kept(lore, "session")[0].id])
    done = read(lore, written(tmp_path / "late.json", claude(3)))
    assert done.turns == 1
    assert texts(lore) == ["Sourdough, word 2."]
    assert kept(lore, "session") == []


def test_a_title_holds_wherever_a_batch_ends(lore: Lore, tmp_path: Path) -> None:
    """The heading of the second conversation is the last of the first batch."""
    read(lore, written(tmp_path / "c.json", claude(BATCH - 2), claude(2, "Ferries", "c-2")))
    assert [session.title for session in kept(lore, "session")] == ["Sourdough", "Ferries"]


def test_what_comes_before_a_break_is_kept(lore: Lore, tmp_path: Path) -> None:
    path = written(tmp_path / "c.json", claude(), claude(2, "Ferries", "c-2"))
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(Invalid, match="conversation 2 cannot be read"):
        read(lore, path)
    assert texts(lore) == ["Sourdough, word 0.", "Sourdough, word 1."]


def test_secrets_are_not_kept(lore: Lore, tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text(f"The token is {SECRET}, keep it safe.")
    assert sum(read(lore, path).redacted.values()) == 1
    assert SECRET not in texts(lore)[0]


@pytest.mark.parametrize(
    ("content", "format"),
    [
        (json.dumps([claude()]), "claude-ai"),
        ("\ufeff\n " + json.dumps([CHATGPT], indent=2), "chatgpt"),
        (LINES, "jsonl"),
        (MARKDOWN, "text"),
        ("[ ] buy flour\n[x] buy salt\n", "text"),
        ("[Harbour](harbour.md) is closed.", "text"),
        ("", "text"),
        (" [\n] ", None),
    ],
)
def test_a_format_is_seen_by_how_a_file_begins(content: str, format: Format | None) -> None:
    file = io.BytesIO(content.encode())
    assert format_of(file) == format
    assert file.tell() == 0


def test_a_format_can_be_said(lore: Lore, tmp_path: Path) -> None:
    path = tmp_path / "about.txt"
    path.write_text(LINES)
    read(lore, path, format="text")
    assert len(texts(lore)) == 1


def test_an_export_without_conversations_says_nothing(lore: Lore, tmp_path: Path) -> None:
    for path in (written(tmp_path / "c.json"), zipped(tmp_path / "c.zip")):
        assert read(lore, path) == Ingested(bytes=path.stat().st_size)


def test_an_array_of_something_else_is_refused(lore: Lore, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="no conversations can be recognised"):
        read(lore, written(tmp_path / "users.json", {"uuid": "u-1", "full_name": "Ann"}))


def test_an_export_cannot_be_given_a_session(lore: Lore, tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="names its own sessions"):
        read(lore, written(tmp_path / "c.json", claude()), session="Bread")


def test_a_file_that_is_not_there_is_told(lore: Lore, tmp_path: Path) -> None:
    for path in (tmp_path / "missing.md", tmp_path):
        with pytest.raises(Unavailable, match="cannot be read"):
            read(lore, path)
