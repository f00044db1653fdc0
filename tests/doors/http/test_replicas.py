"""Several servers in front of one PostgreSQL database: each sees at once what the others have written."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import Queue
from threading import Event, Thread
from typing import Any

import httpx2
import pytest

from bench.postgres import remember, replica
from lore.embed.hashing import HashEmbedder
from lore.model import ACCOUNT, SESSION, SHARED, TURN, Cause, Memory
from lore.store import SharedStore, open_store
from tests.doors.command import Command
from tests.doors.resident import SECONDS


def search(client: httpx2.Client, text: str) -> list[str]:
    answer = client.post("/api/v1/search", json={"query": {"text": text, "limit": 50}})
    answer.raise_for_status()
    return [str(hit["memory"]["id"]) for hit in answer.json()["hits"]]


def test_two_servers_keep_a_batch_once_find_each_others_writes_and_survive_a_kill(
    postgres: str, tmp_path: Path
) -> None:
    turns = [
        {"id": str(number), "session": f"s{number % 3}", "role": "user", "text": f"Buoy {number} is red"}
        for number in range(30)
    ]
    with ExitStack() as stack:
        (process, one), (_, other) = (
            stack.enter_context(replica(tmp_path / name, postgres, LORE_UPKEEP="false"))
            for name in ("one", "other")
        )
        other.headers["Authorization"] = one.headers["Authorization"]  # one caller, through both
        store = open_store(postgres)
        stack.callback(store.close)
        with ThreadPoolExecutor(6) as pool:
            body = {"client_id": "laptop", "batch_id": "b", "turns": turns}
            pushes = [pool.submit(client.post, "/push", json=body) for client in [one, other] * 3]
            answers = [each.result().json() for each in pushes]
        assert {len(answer["acknowledged"]) for answer in answers} == {30}
        kinds = store.reader(SHARED).counts().kinds
        assert (kinds[TURN], kinds[SESSION], kinds[ACCOUNT]) == (30, 3, 3)
        for number in range(3):
            kept = remember(one, f"Ferry {number} leaves at dawn")
            assert kept in search(other, f"ferry {number} dawn")
            answered = remember(other, f"Tug {number} waits for the tide")
            assert answered in search(one, f"tug {number} tide")
        assert store.unembedded(HashEmbedder().model, 0).total == 42, "no worker runs"
        with ThreadPoolExecutor(4) as pool:
            work = [pool.submit(remember, one, f"Barge {number} carries sand") for number in range(40)]
            acknowledged = [work[0].result()]
            process.kill()
            acknowledged += [each.result() for each in work[1:] if each.exception() is None]
        found = search(other, "barge carries sand")
        assert set(acknowledged) <= set(found)
        assert len(found) == len(set(found))


def test_the_command_line_works_on_the_same_database(postgres: str, tmp_path: Path) -> None:
    lore, env = Command(tmp_path), {"LORE_DATABASE_URL": postgres.replace("lore@", "lore:s3cret@")}
    lore("remember", "The harbour office opens at nine", env=env)
    assert "harbour office" in lore("search", "harbour", env=env).stdout
    status = lore("status", env=env).stdout
    assert "postgresql://lore@/" in status
    assert "tenants" in lore("doctor", env=env).stdout
    assert "repaired" not in lore("doctor", "--fix", env=env).stdout
    for command in (["backup"], ["restore-backup", "x.db", "--yes"]):
        refused = lore(*command, env=env, code=1)
        assert "pg_dump" in refused.stderr
        assert "s3cret" not in refused.output
    assert "s3cret" not in status
    assert not lore.database.exists()


@pytest.mark.parametrize("url", ["mysql://me:s3cret@host/db", "s3cret"])
def test_an_address_of_another_kind_is_refused_without_showing_it(url: str, tmp_path: Path) -> None:
    refused = Command(tmp_path)("status", env={"LORE_DATABASE_URL": url}, code=1)
    assert "LORE_DATABASE_URL must be an address like postgresql://" in refused.stderr
    assert "s3cret" not in refused.output


def test_the_administrator_gets_the_statements_that_distribute_the_tables(tmp_path: Path) -> None:
    plan = Command(tmp_path)("postgres", "plan", "--citus").stdout
    assert "create_distributed_table('memory', 'tenant'" in plan
    assert "citus" not in Command(tmp_path)("postgres", "plan").stdout


def test_a_store_hears_which_tenants_others_change(postgres: str) -> None:
    store, other, ended = open_store(postgres), open_store(postgres), Event()
    assert isinstance(store, SharedStore)
    heard: Queue[str] = Queue()
    follower = Thread(target=store.follow, args=(heard.put, ended.is_set))

    def keep(by: Any, id: str, tenant: str) -> None:
        with by.transaction(SHARED, Cause(verb="test"), 1.0, tenant) as writer:
            writer.put([Memory(id=id, content="text", created_at=1, updated_at=1)])

    follower.start()
    try:
        for number in range(1_000):  # it may not listen yet
            keep(other, f"m{number}", "acme")
            if not heard.empty():
                break
        assert heard.get(timeout=SECONDS) == "acme"
        while not heard.empty():
            heard.get()
        keep(store, "own", "bolt")
        keep(other, "foreign", "cask")
        assert "bolt" not in iter(lambda: heard.get(timeout=SECONDS), "cask")
    finally:
        ended.set()
        follower.join(SECONDS)
        store.close()
        other.close()
