"""`lore worker`: processes that share the work of one database, whatever happens to one of them."""

import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import time

import psycopg
import pytest

from lore import Lore
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.engine.push import Sent
from lore.model import DISTILLED, Filter
from lore.transcripts.turns import Turn
from tests.doors.command import Command
from tests.doors.resident import SECONDS, until

SESSIONS, TURNS = 16, 9
MEMORIES = SESSIONS * (TURNS + 2)
"""The turns, and of each conversation its session and its account."""
NAMES = "heron otter badger walrus falcon marten puffin ferret lizard salmon".split()


@pytest.fixture
def lore(postgres: str, tmp_path: Path) -> Iterator[Lore]:
    """A Lore of this process on the database of the workers."""
    opened = wire(Config(data_dir=tmp_path / "own", database_url=postgres), embedder=HashEmbedder())
    yield opened
    opened.close()


@pytest.fixture
def database(postgres: str) -> Iterator["Database"]:
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("SET lore.tenant = 0")
        yield Database(connection)


class Database:
    """What the workers have done so far."""

    def __init__(self, connection: psycopg.Connection[tuple[object, ...]]) -> None:
        self._connection = connection

    def count(self, what: str) -> int:
        ((found,),) = self._connection.execute(f"SELECT count(*) FROM {what}").fetchall()
        return int(str(found))

    def change(self, statement: str) -> None:
        self._connection.execute(statement)

    def let_claims_end(self) -> None:
        """As if the time had passed for which a dead process keeps its work from others."""
        self.change("UPDATE embedding SET claimed_until = 0 WHERE vector IS NULL")
        self.change("UPDATE job SET claimed_until = 0")
        self.change("UPDATE job SET due_at = 0 WHERE name IN ('upkeep', 'consolidating')")


@contextmanager
def worker(folder: Path, postgres: str, *options: str) -> Iterator["subprocess.Popen[bytes]"]:
    """A worker that has begun."""
    env = {"LORE_DATABASE_URL": postgres, "LORE_CONSOLIDATION_INTERVAL": "3600"}
    with Command(folder).start("worker", *options, env=env, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        try:
            assert b"working" in process.stderr.readline()
            yield process
        finally:
            process.kill()


def talk(lore: Lore) -> None:
    """Quiet conversations of a day ago; each has a decision of its own."""
    yesterday = time() - 86400
    turns = [
        Turn(
            uuid=f"{session} {number}",
            session=f"s{session}",
            role="user",
            text=text_of(session) if number == 0 else f"Look at {NAMES[number]} {session * TURNS + number}.",
            at=yesterday + session * TURNS + number,
        )
        for session in range(SESSIONS)
        for number in range(TURNS)
    ]
    lore.keep_pushed([Sent("codex", turn) for turn in turns])


def text_of(session: int) -> str:
    one, other = NAMES[session % 10], NAMES[(session // 10 + session + 1) % 10]
    return f"We decided to use port {4000 + session} for the {one} {other}."


def test_workers_that_are_killed_lose_nothing_and_nothing_is_done_twice(
    lore: Lore, database: Database, postgres: str, tmp_path: Path
) -> None:
    embedded = "embedding WHERE vector IS NOT NULL"
    with worker(tmp_path / "second", postgres) as second:
        second.send_signal(signal.SIGSTOP)
        with worker(tmp_path / "first", postgres) as first:
            talk(lore)
            until(lambda: database.count(embedded) > 0)
            first.kill()
        assert database.count(embedded) < MEMORIES
        second.send_signal(signal.SIGCONT)
        database.let_claims_end()
        until(lambda: database.count(embedded) == MEMORIES)

        with worker(tmp_path / "third", postgres) as third:
            third.send_signal(signal.SIGSTOP)
            database.change("UPDATE job SET due_at = 0")
            until(lambda: database.count("digest_progress") > 0)
            second.kill()
            second.wait(SECONDS)
            assert database.count("digest_progress") < SESSIONS
            third.send_signal(signal.SIGCONT)
            database.let_claims_end()
            until(lambda: database.count("digest_progress") == SESSIONS)
            until(lambda: database.count("consolidation_run") == 1)
            third.send_signal(signal.SIGTERM)
            assert third.wait(SECONDS) == 0
    assert lore.staged() == []
    distilled = lore.select(Filter(source_types=frozenset({DISTILLED})), 999)
    findings = Counter(one.content for one in distilled if one.type)
    assert findings == Counter(map(text_of, range(SESSIONS)))
    assert database.count("embedding WHERE vector IS NULL") == 0


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux")
def test_the_processes_of_a_worker_end_after_it_was_killed(postgres: str, tmp_path: Path) -> None:
    with worker(tmp_path, postgres, "--processes", "2") as parent:
        begun = iter(parent.stderr or ())
        for _ in range(2):
            until(lambda: b"working on" in next(begun))
        tree = Path(f"/proc/{parent.pid}/task/{parent.pid}/children")
        children = [Path("/proc", pid) for pid in tree.read_text().split()]
        working = [child for child in children if _works(child)]
        assert len(working) == 2
        parent.kill()
        until(lambda: not any(map(_works, working)))


def _works(process: Path) -> bool:
    """Whether the process runs, as one that was started to work."""
    try:
        return b"spawn_main" in (process / "cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
