"""Turns: writers that queue up share one commit; nobody hears of it before, or of a neighbour's trouble."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from threading import Event

import apsw
import pytest

from lore.errors import Unavailable
from lore.store.sqlite.group_commit import GroupCommit
from tests.doors.resident import until

MOMENT_SECONDS = 0.2
"""Long enough for a thread that could slip past to have done so."""

Block = Callable[[apsw.Connection], None]


class Desk:
    """A real file with one writing connection, its turns, and a count of its commits."""

    def __init__(self, path: Path, longest_seconds: float) -> None:
        self.turns = GroupCommit(longest_seconds, failed=self._fail)
        self.failures = 0
        self.pool = ThreadPoolExecutor(8)
        self.commits = 0
        self.writer = apsw.Connection(str(path))
        self.writer.execute("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = ON").fetchall()
        self.writer.execute(
            "CREATE TABLE fact (id TEXT PRIMARY KEY,"
            " about TEXT REFERENCES fact DEFERRABLE INITIALLY DEFERRED)"
        )
        self.writer.set_commit_hook(self._count)
        self.reader = apsw.Connection(str(path))

    def _count(self) -> bool:
        self.commits += 1
        return False

    def _fail(self) -> None:
        self.failures += 1

    def do(self, block: Block) -> None:
        with self.turns.shared(lambda: self.writer) as connection:
            block(connection)

    def queue(self, first: Block, *others: Block) -> list["Future[None]"]:
        """Begin the first block; it ends when the others are in line."""
        begun, in_line = Event(), Event()

        def hold(connection: apsw.Connection) -> None:
            begun.set()
            assert in_line.wait(30)
            first(connection)

        doing = [self.pool.submit(self.do, hold)]
        assert begun.wait(30)
        doing += [self.pool.submit(self.do, block) for block in others]
        self.await_in_line(len(others))
        in_line.set()
        return doing

    def await_in_line(self, count: int) -> None:
        until(lambda: self.turns._in_line == count)

    def facts(self) -> set[str]:
        return {str(id) for (id,) in self.reader.execute("SELECT id FROM fact").fetchall()}


def put(id: str, about: str | None = None) -> Block:
    def block(connection: apsw.Connection) -> None:
        connection.execute("INSERT INTO fact VALUES (?, ?)", (id, about))

    return block


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Callable[[float], Desk]]:
    desks: list[Desk] = []

    def open_desk(longest_seconds: float) -> Desk:
        desks.append(Desk(tmp_path / "desk.db", longest_seconds))
        return desks[-1]

    yield open_desk
    for desk in desks:
        desk.pool.shutdown()


@pytest.fixture
def desk(opened: Callable[[float], Desk]) -> Desk:
    """With groups that stay open as long as somebody is in line."""
    return opened(30.0)


def test_writers_in_line_share_one_commit(desk: Desk) -> None:
    for done in desk.queue(put("a"), put("b"), put("c"), put("d")):
        done.result(30)
    assert desk.facts() == {"a", "b", "c", "d"}
    assert desk.commits == 1


def test_a_group_does_not_stay_open_for_ever(opened: Callable[[float], Desk]) -> None:
    desk = opened(0.0)
    for done in desk.queue(put("a"), put("b"), put("c")):
        done.result(30)
    assert desk.facts() == {"a", "b", "c"}
    assert desk.commits == 3


def test_nothing_is_seen_or_acknowledged_before_the_commit(desk: Desk) -> None:
    queued, looked = Event(), Event()

    def linger(connection: apsw.Connection) -> None:
        put("b")(connection)
        queued.set()
        assert looked.wait(30)

    first, second = desk.queue(put("a"), linger)
    assert queued.wait(30)
    assert not wait([first], MOMENT_SECONDS).done
    assert desk.facts() == set()
    looked.set()
    first.result(30)
    second.result(30)
    assert desk.facts() == {"a", "b"}


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_a_block_that_raises_takes_back_only_its_own(failing: int, desk: Desk) -> None:
    def fail(connection: apsw.Connection) -> None:
        put("gone")(connection)
        raise ZeroDivisionError

    blocks = [put("a"), put("b")]
    blocks.insert(failing, fail)
    doing = desk.queue(*blocks)
    with pytest.raises(ZeroDivisionError):
        doing.pop(failing).result(30)
    for done in doing:
        done.result(30)
    assert desk.facts() == {"a", "b"}


def test_a_commit_that_fails_fails_for_all(desk: Desk) -> None:
    for done in desk.queue(put("a"), put("b", about="nothing"), put("c")):
        with pytest.raises(apsw.ConstraintError):
            done.result(30)
    assert desk.facts() == set()
    desk.do(put("later"))
    assert desk.facts() == {"later"}


def test_when_everything_was_taken_back_all_hear_why(desk: Desk) -> None:
    def full(connection: apsw.Connection) -> None:
        connection.execute("ROLLBACK")  # as SQLite does by itself when the disk is full
        raise apsw.FullError("database or disk is full")

    for done in desk.queue(put("a"), full):
        with pytest.raises(apsw.FullError):
            done.result(30)
    assert desk.facts() == set()
    desk.do(put("later"))
    assert desk.facts() == {"later"}


def test_after_an_error_of_the_disk_the_connection_is_not_trusted_with_the_rest_of_its_group(
    desk: Desk,
) -> None:
    def full(connection: apsw.Connection) -> None:
        connection.execute("PRAGMA max_page_count = 1").fetchall()
        put("long" * 10_000)(connection)

    for done in desk.queue(put("a"), full):
        with pytest.raises(apsw.FullError):
            done.result(30)
    assert desk.facts() == set()
    assert desk.failures == 1


def test_who_is_refused_leaves_the_others_committed(desk: Desk) -> None:
    def refused() -> apsw.Connection:
        raise Unavailable("closed")

    def come() -> None:
        with desk.turns.shared(refused):
            pytest.fail("there is nothing to write with")

    late: list[Future[None]] = []

    def first(connection: apsw.Connection) -> None:
        put("a")(connection)
        late.append(desk.pool.submit(come))
        desk.await_in_line(1)

    desk.do(first)
    with pytest.raises(Unavailable):
        late[0].result(30)
    assert desk.facts() == {"a"}


def test_a_member_commits_itself_when_nobody_comes(opened: Callable[[float], Desk]) -> None:
    desk = opened(0.05)
    desk.turns._in_line = 1  # somebody who was interrupted before his turn
    desk.pool.submit(desk.do, put("a")).result(30)
    assert desk.facts() == {"a"}


def test_a_turn_alone_finds_no_open_transaction(desk: Desk) -> None:
    open_inside: list[bool] = []

    def care() -> None:
        with desk.turns.alone():
            open_inside.append(desk.writer.in_transaction)

    caring: list[Future[None]] = []

    def first(connection: apsw.Connection) -> None:
        caring.append(desk.pool.submit(care))
        wait(caring, MOMENT_SECONDS)

    for done in desk.queue(first, put("b")):
        done.result(30)
    caring[0].result(30)
    assert open_inside == [False]


@pytest.mark.parametrize("kind", ["shared", "alone"])
def test_a_transaction_inside_another_is_refused(kind: str, desk: Desk) -> None:
    inner: dict[str, Callable[[], AbstractContextManager[object]]] = {
        "shared": partial(desk.turns.shared, lambda: desk.writer),
        "alone": desk.turns.alone,
    }

    def nest(connection: apsw.Connection) -> None:
        put("outer")(connection)
        with pytest.raises(Unavailable, match="inside"), inner[kind]():
            put("inner")(connection)

    desk.do(nest)
    assert desk.facts() == {"outer"}
