"""Several processes share the consolidations of one database: each namespace, and each session, once."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from lore import Lore
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.engine.consolidate.backlog import runs
from lore.engine.consolidation_run import LEASE_SECONDS
from lore.engine.push import Sent
from lore.engine.schedule import RETRY_SECONDS
from lore.engine.shared_schedule import LONGEST_SECONDS, SharedSchedules
from lore.model import DISTILLED, Filter
from lore.store import SharedStore
from lore.store.records import UPKEEP_SECONDS
from lore.transcripts.turns import Turn

INTERVAL = 7200.0
TENANTS = [f"tenant {number}" for number in range(6)]


@pytest.fixture
def lores(postgres: str, tmp_path: Path, clock: Clock) -> Iterator[list[Lore]]:
    """Two processes' worth of Lore on one database."""
    config = Config(data_dir=tmp_path, database_url=postgres, consolidation_interval=INTERVAL)
    opened = [wire(config, embedder=HashEmbedder(), clock=clock) for _ in range(2)]
    yield opened
    for lore in opened:
        lore.close()


def schedules_of(lore: Lore) -> SharedSchedules:
    assert isinstance(lore.store, SharedStore)
    return SharedSchedules(lore, lore.store)


def talk(lore: Lore, tenant: str, clock: Clock, count: int = 1) -> Lore:
    """Conversations with something to keep, in the namespace of a tenant."""
    ours = replace(lore, tenant=tenant)
    statements = ["We decided to use Postgres for the ferry.", "I prefer short names in the ferry."]
    for session in range(count):
        turns = [
            Turn(uuid=f"{session} {number}", session=f"s{session}", role="user", text=text, at=clock())
            for number, text in enumerate(statements)
        ]
        ours.keep_pushed([Sent("codex", turn) for turn in turns])
    return ours


def run_all(schedules: SharedSchedules) -> int:
    """Consolidate until nothing is due; the number of runs."""
    count = 0
    while schedules.due():
        schedules.run()
        count += 1
    assert schedules.trouble == ""
    return count


def test_each_namespace_is_consolidated_by_one_of_two_processes(lores: list[Lore], clock: Clock) -> None:
    members = [talk(lores[0], tenant, clock) for tenant in TENANTS]
    lores[0].embed_pending()
    assert run_all(schedules_of(lores[0])) == 0, "just written"
    clock.sleep(seconds=UPKEEP_SECONDS + 1)
    with ThreadPoolExecutor(2) as pool:
        counts = list(pool.map(run_all, map(schedules_of, lores)))
    assert sum(counts) == len(TENANTS)
    assert [len(runs(one.store.reader(one.namespace, one.tenant))) for one in members] == [1] * len(TENANTS)
    for one in members:
        assert one.staged() == []
        kept = Counter(each.content for each in one.select(Filter(source_types=frozenset({DISTILLED})), 99))
        assert set(kept.values()) == {1}
    assert run_all(schedules_of(lores[1])) == 0


def test_a_namespace_that_nobody_changes_is_consolidated_less_and_less_often(
    lores: list[Lore], clock: Clock
) -> None:
    ours = talk(lores[0], "acme", clock)
    ours.embed_pending()
    schedules = schedules_of(lores[0])
    waits: list[float] = []
    waited = 0.0
    while len(waits) < 6:
        clock.sleep(seconds=INTERVAL / 2)
        waited += INTERVAL / 2
        if run_all(schedules):
            waits.append(waited)
            waited = 0.0
    assert waits[-1] > 4 * INTERVAL
    assert waits[-1] < LONGEST_SECONDS + INTERVAL
    ours.remember("The ferry leaves at noon")
    ours.embed_pending()
    clock.sleep(seconds=UPKEEP_SECONDS + 1)
    run_all(schedules)
    clock.sleep(seconds=INTERVAL)
    assert run_all(schedules), "a change moves the next run ahead"


def test_a_process_that_was_killed_delays_a_namespace_by_one_lease(lores: list[Lore], clock: Clock) -> None:
    ours = talk(lores[0], "acme", clock)
    ours.embed_pending()
    clock.sleep(seconds=UPKEEP_SECONDS + 1)
    killed, other = map(schedules_of, lores)
    assert killed.due()
    assert not other.due()
    clock.sleep(seconds=LEASE_SECONDS + 1)
    assert run_all(other) == 0, "the regular job is still claimed"
    clock.sleep(seconds=RETRY_SECONDS - LEASE_SECONDS)
    assert run_all(other) == 1
    assert ours.staged() == []


def test_memories_of_other_tenants_that_wait_for_vectors_delay_no_run(
    lores: list[Lore], clock: Clock
) -> None:
    ours = talk(lores[0], "acme", clock, count=5)
    ours.embed_pending()
    for number in range(40):
        replace(ours, tenant="busy").remember(f"Barge {number} carries sand")
    clock.sleep(seconds=UPKEEP_SECONDS + 1)
    schedules = schedules_of(lores[0])
    assert schedules.due()
    schedules.run()
    assert ours.staged() == []
    assert lores[0].pending() == 40, "it is not this run's work"
