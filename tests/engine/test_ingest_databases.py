"""ingest: what clients write into their databases, once, while they go on writing."""

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lore import Filter, Lore, Unavailable
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.engine.ingest import Ingested
from lore.model import Memory
from lore.store.records import Bookmark
from lore.transcripts.databases import LATE_MILLISECONDS, MOST_HASHES
from lore.transcripts.ignore_rules import IgnoreRules
from lore.transcripts.sources import SOURCES
from tests.transcripts.writing import CLIENTS, Client, Cursor, OpenCode, writing

REAL_TEXTS = [
    '"OPENCODE-PROMPT say hi"',
    "Running.",
    "echo hi-opencode\nhi-opencode",
    "All done, OpenCode.",
]


@pytest.fixture(params=CLIENTS)
def client(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Client]:
    """Of each kind, with nothing said but what the real session says."""
    with writing(request.param, tmp_path / "client") as client:
        yield client


@pytest.fixture
def opencode(tmp_path: Path) -> Iterator[OpenCode]:
    with writing("opencode", tmp_path / "client") as client:
        assert isinstance(client, OpenCode)
        yield client


@pytest.fixture
def cursor(tmp_path: Path) -> Iterator[Cursor]:
    with writing("cursor-ide", tmp_path / "client") as client:
        assert isinstance(client, Cursor)
        yield client


def read(lore: Lore, path: Path) -> Ingested:
    return sum(lore.ingest(path, SOURCES["opencode" if path.suffix == ".db" else "cursor-ide"]), Ingested())


def kept(lore: Lore, kind: str = "turn") -> list[Memory]:
    found = lore.select(Filter(kinds=frozenset({kind})), 10_000)
    return sorted(found, key=lambda turn: (turn.created_at, turn.alias))


def texts(lore: Lore) -> list[str]:
    return [turn.content for turn in kept(lore) if turn.content not in REAL_TEXTS]


def test_a_real_database_is_read_while_its_writer_has_it_open(lore: Lore, opencode: OpenCode) -> None:
    assert opencode.path.with_name("opencode.db-wal").stat().st_size
    done = read(lore, opencode.path)
    assert (done.turns, done.sessions) == (4, 1)
    assert [turn.content for turn in kept(lore)] == REAL_TEXTS
    [session] = kept(lore, "session")
    assert (session.title, session.source) == ("All done, OpenCode.", "opencode")


def test_only_new_messages_are_read(lore: Lore, client: Client) -> None:
    client.say("one", "first")
    read(lore, client.path)
    assert read(lore, client.path) == Ingested()
    client.now += 1
    client.say("two", "second")
    done = read(lore, client.path)
    assert (done.turns, done.changed, done.sessions) == (1, 0, 0)
    assert texts(lore) == ["first", "second"]
    assert read(lore, client.path) == Ingested()


def test_old_messages_are_not_read_again(lore: Lore, client: Client) -> None:
    """Its print would tell that it is known, but that costs a reading."""
    client.say("one", "first " * 10_000, "a")
    client.now += 2 * LATE_MILLISECONDS
    client.say("two", "second", "b")
    read(lore, client.path)
    other = json.dumps({"type": 1, "text": "other " * 10_000})
    if client.source == "opencode":
        client.db.execute("UPDATE part SET data = ? WHERE id = 'one'", (other,))
    else:
        client.db.execute("UPDATE cursorDiskKV SET value = ? WHERE key = 'bubbleId:a:one'", (other,))
    client.now += 1
    client.say("three", "third", "b")
    assert read(lore, client.path).bytes < 5_000


def test_messages_that_change_without_their_session_move_the_bookmark(lore: Lore, opencode: OpenCode) -> None:
    opencode.say("one", "first")
    read(lore, opencode.path)
    opencode.now += 2 * LATE_MILLISECONDS
    opencode.change("one", "changed")
    opencode.now += 2 * LATE_MILLISECONDS
    opencode.change("prt_1e112ea8c0019FePeDJa9XDChd", "changed too")
    assert read(lore, opencode.path).changed == 2
    other = json.dumps({"type": "text", "text": "other " * 10_000})
    opencode.db.execute("UPDATE part SET data = ? WHERE id = 'one'", (other,))
    opencode.say("two", "second")
    assert 0 < read(lore, opencode.path).bytes < 5_000


def test_a_changed_message_changes_its_memory(lore: Lore, client: Client) -> None:
    client.say("one", "first")
    client.say("two", "second")
    read(lore, client.path)
    [before, _] = [turn for turn in kept(lore) if turn.content in ("first", "second")]
    client.now += 1
    client.change("one", "first of all")
    done = read(lore, client.path)
    assert (done.turns, done.changed) == (0, 1)
    assert lore.read(before.id, use=False).memory.content == "first of all"
    assert sorted(texts(lore)) == ["first of all", "second"]


def test_changes_that_are_committed_late_are_read(lore: Lore, client: Client) -> None:
    """The one who wrote it down first came to the disk last."""
    client.say("one", "first", "a")
    read(lore, client.path)
    client.now -= LATE_MILLISECONDS // 2
    client.say("two", "late", "b")
    assert read(lore, client.path).turns == 1


def test_a_future_time_does_not_hide_later_changes(lore: Lore, client: Client) -> None:
    client.now += 10**12
    client.say("one", "first", "a")
    read(lore, client.path)
    client.now -= 10**12
    client.say("two", "second", "b")
    client.now = int(client.path.with_name(client.path.name + "-wal").stat().st_mtime * 1000)
    client.say("three", "third", "c")
    read(lore, client.path)
    assert "third" in texts(lore)


@pytest.mark.parametrize("sessions", [1, 9])
def test_stopping_between_two_batches_loses_and_repeats_nothing(
    client: Client, config: Config, clock: Clock, sessions: int
) -> None:
    client.now -= 451 * LATE_MILLISECONDS
    with client.db:
        for number in range(450):
            client.now += LATE_MILLISECONDS
            client.say(f"n{number:03}", f"turn {number}", f"s{number % sessions}")
    expected = sorted(f"turn {number}" for number in range(450))
    turns = 0
    for _ in range(2):
        lore = wire(config, embedder=HashEmbedder(), clock=clock)
        turns += next(iter(lore.ingest(client.path, SOURCES[client.source]))).turns
        assert 0 < turns < 450
        lore.close()
    lore = wire(config, embedder=HashEmbedder(), clock=clock)
    turns += read(lore, client.path).turns
    assert sorted(texts(lore)) == expected
    assert turns == 450 + (len(REAL_TEXTS) if client.source == "opencode" else 0)
    assert read(lore, client.path) == Ingested()
    lore.close()


def test_another_database_in_its_place_is_read_from_its_beginning(
    lore: Lore, client: Client, tmp_path: Path
) -> None:
    client.say("one", "first")
    read(lore, client.path)
    client.close()
    with writing(client.source, tmp_path / "other") as other:
        other.now -= 10 * LATE_MILLISECONDS
        other.say("one", "first")
        other.say("two", "second")
        other.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        os.replace(other.path, client.path)
    client.path.with_name(client.path.name + "-wal").unlink(missing_ok=True)
    client.path.with_name(client.path.name + "-shm").unlink(missing_ok=True)
    assert read(lore, client.path).turns == 1
    assert sorted(texts(lore)) == ["first", "second"]


def test_a_restored_older_database_is_read_from_its_beginning(
    lore: Lore, client: Client, tmp_path: Path
) -> None:
    """Even if the file is the same one: what was read last is not in it."""
    client.say("one", "first", "a")
    read(lore, client.path)
    client.now += 10 * LATE_MILLISECONDS
    client.say("two", "second", "b")
    read(lore, client.path)
    with client.db:
        if client.source == "opencode":
            client.db.execute("DELETE FROM message WHERE id = 'msg_two'")
        else:
            client.db.execute("DELETE FROM cursorDiskKV WHERE key = 'composerData:b'")
        client.now -= 9 * LATE_MILLISECONDS
        client.say("three", "third", "c")
    assert read(lore, client.path).turns == 1


def test_a_copied_database_is_read_from_its_bookmark(lore: Lore, client: Client, tmp_path: Path) -> None:
    client.say("one", "first " * 1_000)
    read(lore, client.path)
    client.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    copy = tmp_path / "copy" / client.path.name
    copy.parent.mkdir()
    shutil.copy(client.path, copy)
    assert read(lore, copy) == Ingested()


def test_the_title_of_a_session_without_turns_is_used_when_turns_arrive(
    lore: Lore, opencode: OpenCode
) -> None:
    opencode.call("new", "Look it up")
    read(lore, opencode.path)
    opencode.now += 10 * LATE_MILLISECONDS
    opencode.say("one", "first", "new")
    opencode.db.execute("UPDATE session SET time_updated = time_created WHERE id = 'new'")
    read(lore, opencode.path)
    assert ("new", "Look it up") in [(session.session, session.title) for session in kept(lore, "session")]


def test_a_changed_title_renames_the_session(lore: Lore, client: Client) -> None:
    client.say("one", "first", "a")
    read(lore, client.path)
    client.now += 1
    client.call("a", "About the ferry")
    read(lore, client.path)
    assert "About the ferry" in [session.title for session in kept(lore, "session")]
    client.now += 1
    client.change("one", "Ask about the tug")
    read(lore, client.path)
    client.now += 1
    client.say("two", "Write the timetable of the ferry", "a")
    read(lore, client.path)
    assert "About the ferry" in [session.title for session in kept(lore, "session")]


def test_composers_without_a_time_are_read_when_they_changed(lore: Lore, cursor: Cursor) -> None:
    cursor.say("one", "first", "silent")
    read(lore, cursor.path)
    assert read(lore, cursor.path) == Ingested()
    cursor.say("two", "second", "silent")
    assert read(lore, cursor.path).turns == 1
    assert read(lore, cursor.path) == Ingested()


def test_the_state_of_a_database_stays_limited(lore: Lore, cursor: Cursor) -> None:
    """More composers without a time than hashes: they are read again, and kept once."""
    with cursor.db:
        for number in range(MOST_HASHES + 1):
            told = {"conversation": [{"bubbleId": f"b{number}", "type": 1, "text": f"turn {number}"}]}
            cursor._put(f"composerData:c{number}", told)
    read(lore, cursor.path)
    [bookmark] = lore.store.reader(lore.namespace).records(Bookmark)
    assert len(bookmark.state["reader"]["hashes"]) == MOST_HASHES
    assert read(lore, cursor.path).turns == 0
    assert lore.count(Filter(kinds=frozenset({"turn"}))) == MOST_HASHES + 1


def test_turns_in_ignored_folders_are_left_out(lore: Lore, opencode: OpenCode) -> None:
    opencode.say("one", "first", "other")
    left_out = IgnoreRules(["/gone/ferry"], Path("/home/ada"))
    done = sum(lore.ingest(opencode.path, SOURCES["opencode"], left_out), Ingested())
    assert done.turns == len(REAL_TEXTS)
    assert texts(lore) == []


def test_nothing_is_written_to_a_clients_files(lore: Lore, client: Client, tmp_path: Path) -> None:
    """Not even what its log says, although nobody else has the file open."""
    client.say("one", "first")
    left = tmp_path / "left"
    left.mkdir()
    for part in (client.path.name, f"{client.path.name}-wal"):
        shutil.copy(client.path.with_name(part), left / part)
    before = {path.name: path.read_bytes() for path in left.iterdir()}
    assert read(lore, left / client.path.name).turns
    assert {name: (left / name).read_bytes() for name in before} == before


# --- what cannot be read
def test_a_locked_database_is_read_later(lore: Lore, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lore.transcripts.databases.BUSY_MILLISECONDS", 1)
    client.db.execute("PRAGMA journal_mode = DELETE").fetchall()
    client.say("one", "first")
    client.db.execute("BEGIN EXCLUSIVE")
    with pytest.raises(Unavailable, match="is locked by its program"):
        read(lore, client.path)
    client.db.execute("COMMIT")
    assert read(lore, client.path).turns


@pytest.mark.parametrize("name", ["opencode.db", "state.vscdb"])
@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "not as its program writes it today: no such table"),
        (b"no database at all, but long enough for a header" * 100, "damaged, or no SQLite database"),
    ],
    ids=["empty", "no database"],
)
def test_a_file_that_is_no_database_is_reported(
    lore: Lore, tmp_path: Path, name: str, content: bytes, why: str
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(Unavailable, match=why):
        read(lore, path)


def test_a_damaged_database_is_reported_and_earlier_turns_are_kept(lore: Lore, client: Client) -> None:
    for number in range(300):
        client.say(f"n{number}", f"turn {number}" + " and so on" * 50, f"s{number}")
    client.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    client.close()
    data = bytearray(client.path.read_bytes())
    middle = len(data) // 8192 * 4096
    data[middle : middle + 40_960] = b"\xff" * 40_960
    client.path.write_bytes(data)
    with pytest.raises(Unavailable, match="damaged"):
        read(lore, client.path)


def test_a_database_with_a_changed_schema_is_reported(lore: Lore, client: Client) -> None:
    client.say("one", "first")
    table = "part" if client.source == "opencode" else "cursorDiskKV"
    client.db.execute(f"ALTER TABLE {table} RENAME TO old_{table}")
    with pytest.raises(Unavailable, match="not as its program writes it today"):
        read(lore, client.path)
    client.db.execute(f"ALTER TABLE old_{table} RENAME TO {table}")
    assert read(lore, client.path).turns


def test_undecodable_text_in_a_database_does_not_end_the_process(lore: Lore, client: Client) -> None:
    client.say("one", "first")
    if client.source == "opencode":
        client.db.execute("UPDATE part SET id = CAST(x'FF61' AS TEXT) WHERE id = 'one'")
    else:
        client.db.execute("INSERT INTO cursorDiskKV VALUES (CAST('composerData:' || x'FF' AS TEXT), '{}')")
    with pytest.raises(Unavailable, match="cannot be read"):
        read(lore, client.path)


def test_a_missing_file_is_reported(lore: Lore, tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot be read: No such file"):
        read(lore, tmp_path / "opencode.db")
    assert not list(tmp_path.glob("opencode*"))


# --- whatever happens
STEPS = st.lists(
    st.tuples(st.just("say"), st.sampled_from(["a", "b", "silent"]))
    | st.tuples(st.just("change"), st.integers(0, 20))
    | st.tuples(st.just("call"), st.sampled_from(["a", "b", "silent"]))
    | st.tuples(st.just("pass"), st.sampled_from([0, 1, 1_000, 10 * LATE_MILLISECONDS]))
    | st.tuples(st.just("read"), st.integers(0, 3)),
    max_size=25,
)


def everything(lore: Lore) -> tuple[set[tuple[str, ...]], set[tuple[str, ...]]]:
    turns: set[tuple[str, ...]] = {
        (str(turn.metadata["uuid"]), turn.session, turn.type, turn.content) for turn in kept(lore)
    }
    return turns, {(session.session, session.title) for session in kept(lore, "session")}


@pytest.mark.parametrize("name", CLIENTS)
@settings(max_examples=20)
@given(steps=STEPS)
def test_alternating_writes_and_reads_end_like_one_reading(
    name: str, steps: list[tuple[str, object]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """A reading may also end after some of its batches."""
    folder = tmp_path_factory.mktemp("any")
    lore = wire(Config(data_dir=folder / "data"), embedder=HashEmbedder())
    fresh = wire(Config(data_dir=folder / "fresh"), embedder=HashEmbedder())
    with writing(name, folder) as client:
        said: list[str] = []
        for number, (what, which) in enumerate(steps):
            if what == "say":
                client.say(f"n{number}", f"text {number}", str(which))
                client.call(str(which), f"title {number}")
                said.append(f"n{number}")
            elif what == "change" and said and isinstance(which, int):
                client.change(said[which % len(said)], f"change {number}")
            elif what == "call":
                client.call(str(which), f"title {number}")
            elif what == "pass" and isinstance(which, int):
                client.now += which
            elif what == "read" and isinstance(which, int):
                for _, _ in zip(range(which), lore.ingest(client.path, SOURCES[name]), strict=False):
                    pass
        read(lore, client.path)
        read(fresh, client.path)
    step_by_step, embed_now = everything(lore), everything(fresh)
    lore.close()
    fresh.close()
    assert step_by_step == embed_now
    assert len(step_by_step[0]) == len(said) + (len(REAL_TEXTS) if name == "opencode" else 0)
