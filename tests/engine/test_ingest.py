"""ingest: every whole line of a transcript once, whatever happens to the file between two readings."""

import json
import os
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lore import Draft, Filter, Lore, Query, Unavailable
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.engine.ingest import BATCH_CHARACTERS, Ingested
from lore.model import Cause, Memory, Tie
from lore.transcripts.ignore_rules import IgnoreRules
from lore.transcripts.sources import SOURCES
from lore.transcripts.turns import Source

CLAUDE = SOURCES["claude-code"]
SESSION = "0d6f2f0b-8c11-4c55-9a5e-7b0c6b1e5d0f"


def line(number: int, text: str, role: str = "user", **more: Any) -> bytes:
    message = {"role": role, "content": text if role == "user" else [{"type": "text", "text": text}]}
    document = {
        "type": role,
        "message": message,
        "uuid": f"{number:08x}-0000-4000-8000-000000000000",
        "timestamp": f"2025-11-15T20:{number % 60:02}:00.000Z",
        "cwd": "/gone/ferry",
        "sessionId": SESSION,
        "gitBranch": "main",
        **more,
    }
    return json.dumps(document).encode() + b"\n"


def read(lore: Lore, path: Path, source: Source = CLAUDE) -> Ingested:
    return sum(lore.ingest(path, source), Ingested())


def turns(lore: Lore) -> list[Memory]:
    """All of them, in the order of the conversation."""
    return sorted(lore.select(Filter(kinds=frozenset({"turn"})), 1_000), key=lambda turn: turn.alias)


def texts(lore: Lore) -> list[str]:
    return [turn.content for turn in turns(lore)]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / f"{SESSION}.jsonl"


def test_turns_are_children_of_their_session_in_order(lore: Lore, file: Path) -> None:
    file.write_bytes(line(1, "When does the ferry leave?") + line(2, "At noon.", "assistant"))
    done = read(lore, file)
    assert (done.turns, done.sessions, done.bytes) == (2, 1, file.stat().st_size)
    asked, told = turns(lore)
    [session] = lore.select(Filter(kinds=frozenset({"session"})), 10)
    assert session.title == "When does the ferry leave?"
    assert (asked.type, told.type) == ("user", "assistant")
    assert asked.session == told.session == session.session == SESSION
    assert (asked.source, asked.project, session.project) == ("claude-code", "/gone/ferry", "/gone/ferry")
    assert asked.metadata["branch"] == "main"
    reading = lore.read(told.id, use=False)
    assert {(link.kind, link.other(told.id)) for link in reading.links} == {
        ("hierarchical", session.id),
        ("temporal", asked.id),
    }
    assert told.created_at - asked.created_at == 60


def test_a_turn_is_found_by_speaker_date_project_and_preceding_turn(lore: Lore, file: Path) -> None:
    file.write_bytes(line(1, "When does the ferry leave?") + line(2, "At noon.", "assistant"))
    read(lore, file)
    for question in ("noon", "assistant noon", "15 November 2025 noon", "ferry leave"):
        found = [hit.memory.content for hit in lore.search(Query(text=question)).hits]
        assert "At noon." in found, question


def test_the_user_is_trusted_more_than_the_assistant_and_a_tool_least(lore: Lore, file: Path) -> None:
    result = [{"type": "tool_result", "tool_use_id": "t1", "content": "no such host"}]
    tool = json.loads(line(2, "")) | {"message": {"role": "user", "content": result}}
    file.write_bytes(line(0, "one") + line(1, "two", "assistant") + json.dumps(tool).encode() + b"\n")
    read(lore, file)
    stored = lore.remember(Draft(content="kept on purpose"))
    by_role = {turn.type: turn.trust for turn in turns(lore)}
    assert stored.trust == by_role["user"] > by_role["assistant"] > by_role["tool"] > 0


def test_lines_are_read_once(lore: Lore, file: Path) -> None:
    file.write_bytes(line(1, "one"))
    read(lore, file)
    assert read(lore, file) == Ingested()
    with file.open("ab") as grown:
        grown.write(line(2, "two"))
    assert read(lore, file).turns == 1
    assert texts(lore) == ["one", "two"]


def test_an_incomplete_line_waits_for_its_end(lore: Lore, file: Path) -> None:
    whole, torn = line(1, "one"), line(2, "two")
    file.write_bytes(whole + torn[:40])
    assert read(lore, file).bytes == len(whole)
    file.write_bytes(whole + torn)
    assert read(lore, file).bytes == len(torn)
    assert texts(lore) == ["one", "two"]


def test_a_renamed_file_is_read_from_its_bookmark(lore: Lore, file: Path) -> None:
    file.write_bytes(line(1, "one"))
    read(lore, file)
    moved = file.with_name("moved.jsonl")
    os.rename(file, moved)
    with moved.open("ab") as grown:
        grown.write(line(2, "two"))
    assert read(lore, moved).bytes == len(line(2, "two"))


@pytest.mark.parametrize("anew", [[1, 2], [2, 1], [1, 2, 3], [3], []])
def test_a_rewritten_file_is_read_again_and_its_turns_are_kept_once(
    lore: Lore, file: Path, anew: Sequence[int]
) -> None:
    file.write_bytes(line(1, "one") + line(2, "two"))
    read(lore, file)
    file.write_bytes(b"".join(line(number, ["one", "two", "three"][number - 1]) for number in anew))
    read(lore, file)
    assert sorted(texts(lore)) == sorted({"one", "two"} | ({"three"} if 3 in anew else set()))


def test_turns_that_a_fork_repeats_are_kept_once(lore: Lore, file: Path) -> None:
    file.write_bytes(line(1, "one") + line(2, "two"))
    read(lore, file)
    fork = file.with_name("fork.jsonl")
    said = enumerate(("one", "two", "three"), 1)
    fork.write_bytes(b"".join(line(number, text, sessionId="fork") for number, text in said))
    assert read(lore, fork).turns == 1
    assert texts(lore) == ["one", "two", "three"]


def test_ignored_turns_are_read_and_left_out(lore: Lore, file: Path) -> None:
    file.write_bytes(line(1, "one") + line(2, "two", cwd="/gone/diary"))
    left_out = IgnoreRules(["/gone/diary"], Path("/home/ada"))
    assert sum(lore.ingest(file, CLAUDE, left_out), Ingested()).turns == 1
    assert texts(lore) == ["one"]


def test_secrets_in_turns_are_not_kept(lore: Lore, file: Path) -> None:
    key = "AKIA" + "Q7" * 8
    file.write_bytes(line(1, f"the key is {key}"))
    assert read(lore, file).redacted == {"aws key": 1}
    assert texts(lore) == ["the key is [redacted: aws key]"]
    database = Path(lore.status().location)
    assert all(key.encode() not in path.read_bytes() for path in database.parent.iterdir())


# --- whole texts
SECRET = "sk-ant-" + "Q" * 40


def ran(number: int, command: str, output: str) -> bytes:
    """A tool call and its result."""
    call = {"type": "tool_use", "id": f"t{number}", "name": "Bash", "input": {"command": command}}
    told = {"type": "tool_result", "tool_use_id": f"t{number}", "content": output}
    asked = line(number, "", "assistant", message={"role": "assistant", "content": [call]})
    return asked + line(number + 1, "", message={"role": "user", "content": [told]})


def whole(lore: Lore) -> list[str]:
    """Every turn with all of its characters."""
    kept = lore.full_texts([turn.id for turn in turns(lore)])
    return [kept.get(turn.id, turn.content) for turn in turns(lore)]


LONG = "".join(f"{number}: the walrus ate {number * 7} oysters\n" for number in range(5_000)) + "the end"


def test_long_turns_are_searched_by_an_excerpt_and_kept_whole(lore: Lore, file: Path) -> None:
    file.write_bytes(ran(1, "cat log", LONG) + line(3, LONG) + line(4, "Short.", "assistant"))
    read(lore, file)
    assert whole(lore) == [f"Bash: cat log\n{LONG}", LONG, "Short."]
    [ran_, said, short] = turns(lore)
    assert len(ran_.content) < 3_000
    assert len(said.content) < 50_000
    assert ran_.metadata["full_length"] == len(f"Bash: cat log\n{LONG}")
    assert "full_length" not in short.metadata
    assert "oysters" in ran_.content
    assert "the walrus ate 17500 oysters" not in ran_.content


def test_no_secret_is_kept_in_a_full_text(lore: Lore, file: Path) -> None:
    half = LONG[:50_000]
    file.write_bytes(ran(1, "env", f"{half} {SECRET} {half}"))
    assert read(lore, file).redacted == {"anthropic key": 1}
    [text] = whole(lore)
    assert "QQQ" not in text
    assert text == f"Bash: env\n{half} [redacted: anthropic key] {half}".strip()


def test_turns_cut_by_an_older_lore_become_whole_when_read_again(lore: Lore, file: Path) -> None:
    file.write_bytes(ran(1, "cat log", LONG) + line(3, "Thanks."))
    read(lore, file)
    kept, words_before = turns(lore), texts(lore)
    with lore.store.transaction(lore.namespace, Cause(verb="test"), 0.0) as writer:  # as it was before
        before = [replace(turn, metadata={"line": 1}) for turn in kept]
        writer.put(before, {turn.id: "" for turn in kept})
    assert sum(lore.ingest(file, CLAUDE), Ingested()) == Ingested()
    done = sum(lore.ingest(file, CLAUDE, again=True), Ingested())
    assert (done.turns, done.changed, done.sessions) == (0, 1, 0)
    assert whole(lore) == [f"Bash: cat log\n{LONG}", "Thanks."]
    assert texts(lore) == words_before
    assert sum(lore.ingest(file, CLAUDE, again=True), Ingested()).changed == 0


def test_the_full_text_changes_with_its_turn(lore: Lore, file: Path) -> None:
    file.write_bytes(ran(1, "cat log", LONG))
    read(lore, file)
    for output in (LONG.replace("oysters", "mussels"), "nothing"):
        file.write_bytes(ran(1, "cat log", output))
        assert sum(lore.ingest(file, CLAUDE, again=True), Ingested()).changed == 1
        assert whole(lore) == [f"Bash: cat log\n{output}"]
    [turn] = turns(lore)
    assert "full_length" not in turn.metadata


def test_what_an_older_lore_redacted_too_much_comes_back_when_read_again(lore: Lore, file: Path) -> None:
    """The text, the text before as context of the next turn, and the title; ids, links, derived ones stay."""
    test = "--- PASS: TestPasswordResetOfTokens (0.00s)"
    file.write_bytes(line(1, test) + line(2, "All pass.", "assistant") + line(3, "Good."))
    read(lore, file)
    first, second, third = turns(lore)
    [session] = lore.select(Filter(kinds=frozenset({"session"})), 10)
    derived = lore.remember(Draft(content="The tests of passwords pass."))
    [link] = lore.link([Tie(source=derived.id, target=first.id, type="derived_from")])
    hidden = "--- PASS: [redacted: password]"
    with lore.store.transaction(first.namespace, Cause(verb="test"), 1.0) as writer:
        context = second.context.replace(first.content, hidden)
        old = (
            replace(first, content=hidden),
            replace(second, context=context),
            replace(session, title=hidden, content=hidden),
        )
        writer.put(old)
    before = {link.id for link in lore.links([first.id])}

    done = sum(lore.ingest(file, CLAUDE, again=True), Ingested())

    [renamed] = lore.select(Filter(kinds=frozenset({"session"})), 10)
    assert (done.turns, done.changed) == (0, 2)
    assert [(one.id, one.content, one.context) for one in turns(lore)] == [
        (one.id, one.content, one.context) for one in (first, second, third)
    ]
    assert (renamed.id, renamed.title, renamed.content) == (session.id, session.title, session.content)
    assert {one.id for one in lore.links([first.id])} == before >= {link.id}
    assert sum(lore.ingest(file, CLAUDE, again=True), Ingested()).changed == 0


def test_a_session_without_a_project_gets_it_when_it_is_read_again(lore: Lore, file: Path) -> None:
    file.write_bytes(line(1, "one", cwd="") + line(2, "two", cwd=""))
    read(lore, file)
    file.write_bytes(line(1, "one") + line(2, "two"))
    done = sum(lore.ingest(file, CLAUDE, again=True), Ingested())
    assert (done.turns, done.changed) == (0, 2)
    kept = [*turns(lore), *lore.select(Filter(kinds=frozenset({"session"})), 10)]
    assert [(one.project, one.metadata["folder"]) for one in kept] == [("/gone/ferry", "/gone/ferry")] * 3


def test_many_long_turns_are_kept_in_small_batches(lore: Lore, file: Path) -> None:
    output = LONG * (1 + BATCH_CHARACTERS // 2 // len(LONG))
    file.write_bytes(b"".join(ran(number, "cat log", output) for number in range(0, 8, 2)))
    assert [done.turns for done in lore.ingest(file, CLAUDE)] == [2, 2]


def test_secrets_in_titles_are_not_kept(lore: Lore, file: Path) -> None:
    key = "AKIA" + "Q7" * 8
    title = {"type": "custom-title", "customTitle": f"use {key}", "sessionId": SESSION}
    file.write_bytes(line(1, "one") + json.dumps(title).encode() + b"\n")
    assert read(lore, file).redacted == {"aws key": 1}
    [session] = lore.select(Filter(kinds=frozenset({"session"})), 10)
    assert session.title == "use [redacted: aws key]"


def test_forgotten_turns_stay_forgotten_when_read_again(lore: Lore, file: Path) -> None:
    file.write_bytes(line(1, "one") + line(2, "two"))
    read(lore, file)
    lore.forget([turns(lore)[0].id])
    file.write_bytes(line(2, "two") + line(1, "one"))
    read(lore, file)
    assert texts(lore) == ["two"]


def test_turns_do_not_count_as_memories(lore: Lore, file: Path) -> None:
    """They are found, but they are not listed as trees."""
    file.write_bytes(line(1, "one"))
    read(lore, file)
    assert lore.roots() == []
    assert len(lore.roots(where=Filter(kinds=frozenset({"session"})))) == 1


def test_a_missing_file_is_reported(lore: Lore, file: Path) -> None:
    with pytest.raises(Unavailable, match="cannot be read"):
        read(lore, file)


def test_stopping_between_two_batches_loses_and_repeats_nothing(
    config: Config, clock: Clock, file: Path
) -> None:
    """The bookmark moves with what was read: whoever reads on begins right behind it."""
    file.write_bytes(b"".join(line(number, f"turn {number}") for number in range(450)))
    first = wire(config, embedder=HashEmbedder(), clock=clock)
    assert next(iter(first.ingest(file, CLAUDE))).turns == 200
    first.close()
    second = wire(config, embedder=HashEmbedder(), clock=clock)
    assert read(second, file).turns == 250
    assert texts(second) == [f"turn {number}" for number in range(450)]
    second.close()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_every_whole_line_of_a_changing_file_is_kept_once(
    seed: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Cut, repeated, shuffled, grown, with noise between the lines."""
    chance = random.Random(seed)
    folder = tmp_path_factory.mktemp("any")
    lore = wire(Config(data_dir=folder / "data"), embedder=HashEmbedder())
    file, seen = folder / "session.jsonl", set()
    lines = [line(number, f"turn {number}") for number in range(12)]
    noise = [
        b"\xff\xfe\n",
        b"{}\n",
        b'{"type":"user"}\n',
        b"[1,2\n",
        b"\r\n",
        b'{"type":"mode","x":1}\n',
    ]
    for _ in range(4):
        written = [chance.choice([*lines, *noise]) for _ in range(chance.randrange(1, 15))]
        data = b"".join(written)
        if chance.random() < 0.5 and file.exists():
            data = file.read_bytes() + data
        torn = data[: len(data) - chance.choice([0, 0, 5])]
        file.write_bytes(torn)
        whole = torn.split(b"\n")[:-1]
        seen |= {f"turn {number}" for number in range(12) if lines[number].strip() in whole}
        read(lore, file)
    kept = texts(lore)
    lore.close()
    assert sorted(kept) == sorted(seen)


def test_a_changed_turn_has_the_metadata_of_its_new_version(lore: Lore, file: Path) -> None:
    file.write_bytes(line(1, "The ferry leaves at", "assistant"))
    read(lore, file)
    file.write_bytes(line(1, "The ferry leaves at noon.", "assistant", gitBranch="harbour"))
    assert read(lore, file).changed == 1
    [turn] = turns(lore)
    assert (turn.content, turn.metadata["branch"]) == ("The ferry leaves at noon.", "harbour")


def test_the_latest_of_many_sessions_in_a_file_are_continued(lore: Lore, file: Path) -> None:
    sessions = [f"{chr(ord('z') - number)}-session" for number in range(25)]
    first = [line(number, f"begins {name}", sessionId=name) for number, name in enumerate(sessions)]
    file.write_bytes(b"".join(first))
    read(lore, file)
    for number, name in ((40, "another"), (41, sessions[-1]), (42, sessions[0])):
        with file.open("ab") as grown:
            grown.write(line(number, f"goes on {name}", sessionId=name))
        read(lore, file)
    ids = {turn.content: turn.id for turn in turns(lore)}
    before = {
        name: [link.source for link in lore.links([ids[f"goes on {name}"]]) if link.kind == "temporal"]
        for name in (sessions[-1], sessions[0])
    }
    assert before == {sessions[-1]: [ids[f"begins {sessions[-1]}"]], sessions[0]: []}


@pytest.mark.parametrize(
    "told",
    [
        *("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2027-06-01T00:00:00Z", "1969-12-31T00:00:00Z"),
        *(-1, 0, 9e10, 9e13, 9e14, 1e300, float("nan"), float("inf"), "yesterday", True, {"at": 1}),
    ],
)
def test_an_impossible_time_is_replaced_by_the_time_of_reading(
    lore: Lore, clock: Clock, file: Path, told: Any
) -> None:
    """Everything else of the turn, and the turns around it, are kept as they are."""
    file.write_bytes(
        line(1, "At dawn.") + line(2, "When?", timestamp=told) + line(3, "At noon.", "assistant")
    )
    assert read(lore, file).turns == 3
    before, absurd, after = turns(lore)
    assert absurd.created_at == absurd.updated_at == clock()
    assert before.created_at < after.created_at < clock()
    assert "9999" not in absurd.context
