"""migrate: a whole store moves to another database and back, and nothing is lost, doubled or changed."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import apsw
import psycopg
import pytest

from lore import Draft, Invalid, Lore, Tie
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.errors import Unavailable
from lore.model import SHARED, Cause, Filter, Memory, Query, Revision
from lore.store import Store, open_store
from lore.store.moving import TABLES, database_of
from lore.store.postgres import moving as postgres_moving
from lore.store.records import (
    AccessToken,
    Bookmark,
    ConsolidationRun,
    DigestProgress,
    FieldStamps,
    Job,
    Judgement,
    PhaseMark,
    Record,
    SessionAnswers,
    Spending,
    SyncMark,
)
from lore.store.sqlite import moving as sqlite_moving
from lore.store.values import Suggestion, Use
from lore.transfer.migrate import count, migrate

QUESTIONS = ("walrus sleeps", "penguin", "harbour master", "東京タワー", "old pier", "nothing of this")
RECORDS: tuple[Record, ...] = (
    Bookmark(path="/a", source="codex", device=1 << 70, inode=2, state={"turn": 1}),
    Job(name="consolidate", due_at=2.5),
    DigestProgress(session="s", until=2, error="späte"),
    SessionAnswers(session="s", answers={"topics": ["a"]}),
    PhaseMark(phase="link", seen=("a", "b")),
    ConsolidationRun(began_at=1.0, seconds=0.5, counts={"merged": 2}),
    Spending(day="2026-01-01", model="m", dollars=0.25),
    AccessToken(
        id="t", name="n", digest="d", of_tenant="acme", namespaces=("x",), rights=("read",), created_at=1
    ),
    SyncMark(remote="https://lore.example.org", direction="send", cursor="WzNd", moved_at=3.0),
    FieldStamps(id="m", stamps={"title": 4.5}, seq=3),
    Judgement(key="k", verdict="accepted", judged_at=5.0),
)  # fmt: skip
KILLED = """
import os, signal, sys
from lore.store.moving import database_of
from lore.transfer.migrate import migrate

def progress(part, done, total):
    if part == "copy" and done > total / 2:
        os.kill(os.getpid(), signal.SIGKILL)

migrate(database_of(sys.argv[1]), database_of(sys.argv[2]), progress, batch=3)
"""
CAUSE = Cause(verb="test")


def quiet(part: str, done: int, total: int) -> None:
    """Progress that nobody looks at."""


def moved(source: str | Path, target: str | Path, batch: int = 3) -> Any:
    return migrate(database_of(str(source)), database_of(str(target)), quiet, batch)


def rows(location: str | Path) -> dict[str, list[Any]]:
    """All rows of a store in their neutral form, by table."""
    with database_of(str(location)).source() as tables:
        return {table.name: sorted(tables.rows(table), key=repr) for table in TABLES}


@contextmanager
def opened(location: str | Path, clock: Clock) -> Iterator[Lore]:
    folder = Path("/nowhere")
    config = (
        Config(data_dir=folder, db_path=location)
        if isinstance(location, Path)
        else Config(data_dir=folder, database_url=location)
    )
    with closing(wire(config, embedder=HashEmbedder(), clock=clock)) as lore:
        yield lore


def answers(lore: Lore) -> list[list[tuple[str, float]]]:
    """The ids and scores of the hits for every question."""
    found = [lore.search(Query(text=text, limit=20)) for text in QUESTIONS]
    return [[(hit.memory.id, hit.score) for hit in answer.hits] for answer in found]


@pytest.fixture
def story(tmp_path: Path, clock: Clock) -> Path:
    """A store with rows in every table: two tenants, forgotten, replaced and erased memories, ended links."""
    path = tmp_path / "story.db"
    with opened(path, clock) as lore:
        texts = ("the walrus sleeps", "a penguin swims", "東京タワーは高い", "the harbour master of pier 4")
        one, two, three, four = [lore.remember(Draft(content=text, title=text[:9])).id for text in texts]
        clock.sleep(days=1)
        lore.revise(Revision(id=one, content="the walrus sleeps by the old pier", importance=0.9))
        [link] = lore.link([Tie(source=one, target=two, kind="associative", type="near")])
        lore.link([Tie(source=one, target=four, kind="hierarchical")])
        lore.unlink([link.id])
        lore.supersede(two, three, "newer")
        lore.forget([four])
        lore.embed_pending()
        lore.remember(Draft(content="it waits for its vector"))
        store = lore.store
        store.touch(Use(ids=(one, three), activation={one: 0.25}, together=True), clock())
        with store.transaction(SHARED, CAUSE, clock()) as writer:
            writer.put([], {one: "whole text of the walrus"})
            writer.put_suggestions(
                [
                    Suggestion(
                        id="s", source=one, target=three, score=0.5, signals={}, created_at=1, updated_at=2
                    )
                ]
            )
            writer.put_records(RECORDS)
        other(store, "acme", "the tenant's own walrus")
        last = lore.remember(Draft(content="this is erased")).id
        lore.forget([last])
        lore.purge([last])
    return path


def other(store: Store, tenant: str, content: str) -> None:
    """Keep a memory of another tenant."""
    with store.transaction("team", CAUSE, 9.0, tenant) as writer:
        writer.put([Memory(id=f"of-{tenant}", content=content, namespace="team", created_at=9, updated_at=9)])
        writer.put_records([DigestProgress(session="s", until=1)])


def test_a_round_trip_keeps_every_row_every_answer_and_the_past(
    story: Path, postgres: str, tmp_path: Path, clock: Clock
) -> None:
    before, original, back = rows(story), story.read_bytes(), tmp_path / "back.db"
    assert [name for name, found in before.items() if not found] == []
    up = moved(story, postgres)
    down = moved(postgres, back)
    assert rows(postgres) == rows(back) == before
    assert story.read_bytes() == original
    assert up.rows == down.rows == count(database_of(str(story)))
    assert up.checksums == down.checksums
    with psycopg.connect(postgres) as server:
        options = server.execute("SELECT reloptions FROM pg_class WHERE relname = 'words_words'").fetchall()
    assert options == [(["fastupdate=off"],)]
    with opened(story, clock) as first, opened(back, clock) as last:
        assert answers(last) == answers(first)
        assert any(answers(last)[0])
    for place in (postgres, back):
        with opened(place, clock) as lore:
            assert [finding for finding in lore.store.check() if not finding.passed] == []
            [walrus] = [hit.memory.id for hit in lore.search("walrus").hits if "walrus" in hit.memory.content]
            [revision] = [one.batch for one in lore.history(walrus) if one.cause.verb == "revise"]
            lore.undo(revision)
            assert lore.read(walrus).memory.content == "the walrus sleeps"
            assert lore.remember("a new one").alias == 8  # the erased memory had the last number


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_a_killed_copy_is_refused_until_it_is_completed(
    kind: str, story: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    target = tmp_path / "copy.db" if kind == "sqlite" else request.getfixturevalue("postgres")
    killed = subprocess.run([sys.executable, "-c", KILLED, str(story), str(target)], check=False)
    assert killed.returncode == -signal.SIGKILL
    with pytest.raises(Unavailable, match="incomplete copy"):
        open_store(target)
    with pytest.raises(Unavailable, match="incomplete copy"):
        moved(target, tmp_path / "third.db")
    open_store(tmp_path / "another.db").close()
    with pytest.raises(Invalid, match=r"incomplete copy of .*story.db, not of"):
        moved(tmp_path / "another.db", target)
    report = moved(story, target)
    assert 0 < report.resumed < sum(report.rows.values())
    assert not report.restarted
    assert rows(target) == rows(story)
    open_store(target).close()


def interrupted(source: Path, target: Path) -> None:
    """Begin a copy that ends in the middle."""

    def fail(part: str, done: int, total: int) -> None:
        if part == "copy" and done > total / 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        migrate(database_of(str(source)), database_of(str(target)), fail, 3)


def test_a_source_that_has_changed_is_copied_from_the_beginning(story: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"
    interrupted(story, target)
    with closing(open_store(story)) as store:
        other(store, "second", "written between two attempts")
    report = moved(story, target)
    assert (report.restarted, report.resumed) == (True, 0)
    assert rows(target) == rows(story)


def test_a_copy_that_differs_from_its_source_is_noticed(story: Path, tmp_path: Path) -> None:
    target = tmp_path / "copy.db"

    def spoil(part: str, done: int, total: int) -> None:
        if part == "copy" and done == total:
            with closing(apsw.Connection(str(target))) as connection:
                connection.execute("UPDATE memory SET importance = importance + 0.001 WHERE alias = 1")

    with pytest.raises(Unavailable, match=r"differs from its source in memory \(6 of 6 rows\)"):
        migrate(database_of(str(story)), database_of(str(target)), spoil, 3)
    with pytest.raises(Unavailable, match="incomplete copy"):
        open_store(target)
    moved(story, target)
    assert rows(target) == rows(story)


def test_only_an_empty_database_is_filled(story: Path, tmp_path: Path) -> None:
    used = tmp_path / "used.db"
    with closing(open_store(used)) as store:
        other(store, "acme", "already here")
    before = rows(used)
    with pytest.raises(Invalid, match=r"not empty; it has .*memory \(1 rows\)"):
        moved(story, used)
    with pytest.raises(Invalid, match="the same"):
        moved(story, f"sqlite:{story}")
    assert rows(used) == before


def test_two_tenants_with_the_same_numbers_get_their_own_in_a_file(postgres: str, tmp_path: Path) -> None:
    file = tmp_path / "copy.db"
    with closing(open_store(postgres)) as store:
        for tenant in ("acme", "zeta"):
            other(store, tenant, f"about {tenant}")
    assert moved(postgres, file).renumbered == ("zeta",)
    with closing(open_store(file)) as store:
        for number, tenant in enumerate(("acme", "zeta"), 1):
            reader = store.reader("team", tenant)
            assert reader.get([f"of-{tenant}"])[f"of-{tenant}"].alias == number
            assert reader.matching(["about"], 5, Filter()).strengths.keys() == {f"of-{tenant}"}
            assert [one.until for one in reader.records(DigestProgress)] == [number]


def test_every_table_and_column_is_copied_or_left_out_for_a_reason(postgres: str, tmp_path: Path) -> None:
    file = tmp_path / "empty.db"
    for place in (file, postgres):
        open_store(place).close()
    with closing(apsw.Connection(str(file))) as connection:
        listed: list[Any] = connection.execute(
            "SELECT t.name, c.name FROM pragma_table_list t, pragma_table_info(t.name) c"
            " WHERE t.schema = 'main' AND t.type IN ('table', 'virtual') AND t.name NOT LIKE 'sqlite_%'"
        ).fetchall()
    with psycopg.connect(postgres) as server:
        tables = server.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = 'public'"
        ).fetchall()
    for found, omitted in ((listed, sqlite_moving), (tables, postgres_moving)):
        copied = {(table.name, column) for table in TABLES for column in ("tenant", *table.columns)}
        left_out = {(name, column) for name, columns in omitted.OMITTED_COLUMNS.items() for column in columns}
        assert {place for place in found if place[0] not in omitted.OMITTED} <= copied | left_out
        assert {table.name for table in TABLES} | omitted.OMITTED.keys() == {name for name, _ in found}
