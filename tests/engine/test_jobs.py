"""Jobs: one process at a time does them, and a claim ends by itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lore.engine.jobs import SKEW_SECONDS, Jobs, is_due
from lore.model import SHARED
from lore.store import open_store
from lore.store.records import Job

NOW = 1_800_000_000.0


@pytest.fixture
def jobs(tmp_path: Path) -> Iterator[Jobs]:
    store = open_store(tmp_path / "memory.db")
    yield Jobs(store, SHARED)
    store.close()


def test_a_job_is_given_to_one_at_a_time(jobs: Jobs) -> None:
    assert jobs.claim("sweep", NOW, NOW + 60) == 0.0
    assert jobs.claim("sweep", NOW, NOW + 60) is None
    assert jobs.claim("other", NOW, NOW + 60) == 0.0
    assert jobs.claim("sweep", NOW + 60, NOW + 120) == 0.0, "it was never finished, so it is due again"


def test_a_finished_job_is_due_at_the_time_it_was_scheduled_for(jobs: Jobs) -> None:
    jobs.claim("sweep", NOW, NOW + 60)
    jobs.schedule("sweep", done_at=NOW, due_at=NOW + 1_000)
    assert jobs.claim("sweep", NOW + 999, NOW + 2_000) is None
    assert jobs.claim("sweep", NOW + 1_000, NOW + 2_000) == NOW


def test_the_jobs_of_two_namespaces_or_tenants_do_not_meet(jobs: Jobs) -> None:
    for others in (jobs, Jobs(jobs.store, "ada"), Jobs(jobs.store, SHARED, "acme")):
        assert others.claim("sweep", NOW, NOW + 60) == 0.0
        others.schedule("sweep", done_at=NOW, due_at=NOW + 1_000)
        assert others.claim("sweep", NOW + 100, NOW + 200) is None


@pytest.mark.parametrize(
    ("job", "due"),
    [
        (Job(name="new"), True),
        (Job(name="scheduled", due_at=NOW + 1), False),
        (Job(name="over", due_at=NOW - 1, claimed_until=NOW), True),
        (Job(name="claimed", claimed_until=NOW + 1), False),
        (Job(name="by a clock that was ahead", due_at=NOW + 200 + SKEW_SECONDS), True),
        (Job(name="by a clock a little ahead", due_at=NOW + 100 + SKEW_SECONDS), False),
    ],
)
def test_a_job_is_due_when_its_time_has_come_and_nobody_has_it(job: Job, due: bool) -> None:
    assert is_due(job, NOW, longest=100) == due


def test_a_job_claimed_again_after_a_wrong_clock_belongs_to_the_new_claim(jobs: Jobs) -> None:
    jobs.schedule("sweep", done_at=NOW + 1e6, due_at=NOW + 2e6)
    assert jobs.claim("sweep", NOW, NOW + 60, longest=100) == 0.0, "a last run in the future counts as none"
    assert jobs.claim("sweep", NOW, NOW + 60, longest=100) is None
