"""A consolidation that is killed in any phase loses nothing; the next one ends as if nothing had happened.

So do two that run at the same time.
"""

import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

import pytest

from lore import Lore, Tie
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.engine.consolidate.phases import PHASES
from lore.engine.consolidate.plan import Plan, apply
from lore.engine.context import Context
from lore.llm.scripted import ScriptedModel
from lore.model import Cause
from tests.engine.consolidate.helpers import converse, descriptions, fragment, run_phases, shape, view_of

NOW = "2026-06-01T00:00:00"
SCRIPT = """
import os, sys
from dataclasses import replace
from pathlib import Path
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.engine.consolidate.phases import PHASES, Run, consolidate
from lore.llm.scripted import ScriptedModel

path, phase, number, now = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
lore = wire(Config(db_path=Path(path), prune=True), embedder=HashEmbedder(), clock=Clock(now))
left = number


def waiting(phase):
    # Says that its next plan is ready, and waits for an answer.
    print(phase, flush=True)
    sys.stdin.readline()


class Halting:
    # A store whose nth transaction of the phase at hand says so before it commits, and waits.
    def __init__(self, store):
        self.store = store

    def __getattr__(self, name):
        return getattr(self.store, name)

    def transaction(self, *rest):
        return Held(self.store.transaction(*rest))


class Held:
    def __init__(self, inner):
        self.inner = inner

    def __enter__(self):
        return self.inner.__enter__()

    def __exit__(self, *error):
        global left
        left -= 1
        if left == 0:
            waiting(phase)
        return self.inner.__exit__(*error)


model = ScriptedModel(lambda prompt: {"insight": "All began with a storm.", "sources": [1, 2, 3, 4]})
for each in list(PHASES)[: list(PHASES).index(phase) + 1]:
    store = Halting(lore.store) if each == phase else lore.store
    consolidate(replace(lore, store=store, model=model if each == "reflect" else None), Run(phases=[each]))
waiting("over")
"""
TOPICS = {
    "backups": (
        "Set up nightly backups for the shop database",
        "Dumps are plain SQL. The retention is 14 days.",
        "We use the Hetzner storage box for backups.",
        "The root cause of the first failure was a missing .pgpass file.",
    ),
    "release": (
        "Plan the release of version 2 with Mira",
        "The release manager of Version Two is Mira. We'll write the changelog first.",
        "Always tag releases on Mondays.",
        "I've added docs/changes.md for the release.",
    ),
}
SAME = "The harbour office opens at eight and closes at six, and whoever comes later rings the bell"


@contextmanager
def opened(path: Path, now: str = NOW) -> Iterator[Lore]:
    lore = wire(Config(db_path=path, prune=True), embedder=HashEmbedder(), clock=Clock(now))
    try:
        yield lore
    finally:
        lore.close()


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which every phase that needs no language model has something to do."""
    path = tmp_path_factory.mktemp("prepared") / "memory.db"
    clock = Clock("2026-01-01T00:00:00")
    lore = wire(Config(db_path=path), embedder=HashEmbedder(), clock=clock)
    for text in (SAME, f"{SAME} twice"):
        top = fragment(lore, text)
        fragment(lore, f"walrus below {len(text)} letters", top)
        fragment(lore, f"trifle below {len(text)} letters", top, importance=0.1)
        clock.sleep(minutes=1)
    near = [fragment(lore, "keys lie in the vault behind the old mill by the river")]
    near.append(fragment(lore, "keys lie in the vault behind the old mill by the bridge and well"))
    storms = [fragment(lore, f"{name} of the storm") for name in ("night", "ship", "lighthouse", "widow")]
    lore.link([Tie(source=storms[0], target=other) for other in storms[1:]])
    lore.link([Tie(source=near[0], target=fragment(lore, "penguin"), weight=0.2)])
    fragment(lore, "The capital of Atlantis is Poseidonis.")
    clock.sleep(days=1)
    fragment(lore, "The capital of Atlantis is Basileia.")
    for session, texts in TOPICS.items():
        converse(lore, session, *texts)
        clock.sleep(minutes=1)
    lore.embed_pending()
    lore.close()
    return path


@pytest.fixture
def path(prepared: Path, tmp_path: Path) -> Path:
    return copy_store(prepared, tmp_path / "memory.db")


def copy_store(prepared: Path, path: Path) -> Path:
    for file in path.parent.glob("memory.db*"):
        file.unlink()
    for file in prepared.parent.glob("memory.db*"):
        shutil.copy(file, path.parent / file.name)
    return path


@pytest.fixture(scope="module")
def undisturbed(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    with opened(copy_store(prepared, tmp_path_factory.mktemp("undisturbed") / "memory.db")) as lore:
        assert {name for name in run_all_phases(lore) if not name.startswith("learnt_")} == {
            "sessions_digested", "fragments_extracted", "relevance_updated", "roots_merged", "links_created",
            "roots_resummarized", "reflections_generated", "contradictions_resolved", "edges_pruned",
            "fragments_pruned",
        }  # fmt: skip
        return shape(lore)


def run_all_phases(lore: Lore) -> dict[str, int]:
    """All phases; a language model answers only in phase reflect."""
    model = ScriptedModel(lambda prompt: {"insight": "All began with a storm.", "sources": [1, 2, 3, 4]})
    counts: Counter[str] = Counter()
    for phase in PHASES:
        counts.update(run_phases(replace(lore, model=model if phase == "reflect" else None), phase).counts)
    lore.embed_pending()
    return dict(counts)


def start_run(path: Path, phase: str, number: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(path), phase, str(number), NOW],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def killed_before(path: Path, phase: str, number: int) -> bool:
    """Kill a run before a commit of this phase; False if the phase has fewer commits."""
    child = start_run(path, phase, number)
    assert child.stdin is not None
    assert child.stdout is not None
    reached = child.stdout.readline() == f"{phase}\n"
    child.kill()
    child.wait()
    child.stdout.close()
    child.stdin.close()
    return reached


WRITING = tuple(phase for phase in PHASES if phase != "relevance")


@pytest.mark.parametrize("phase", WRITING)
def test_a_run_killed_before_a_commit_of_any_phase_loses_nothing(
    path: Path, phase: str, prepared: Path, undisturbed: dict[str, object]
) -> None:
    """Before its second commit, with the first on disk; before the first where a phase has only one."""
    if not killed_before(path, phase, 2):
        copy_store(prepared, path)
        assert killed_before(path, phase, 1)
    with opened(path) as lore:
        assert all(finding.passed for finding in lore.check())
        run_all_phases(lore)
        assert all(finding.passed for finding in lore.check())
        assert shape(lore) == undisturbed
        assert descriptions(run_phases(lore)) == []


def test_two_runs_with_the_same_plans_do_the_work_once(path: Path, undisturbed: dict[str, object]) -> None:
    """Both make the same plans before either has done anything; then both do as they have planned."""
    with opened(path) as first, opened(path, "2026-06-01T00:00:01") as second:
        views = view_of(first), view_of(second)
        for phase in PHASES:
            for plan in zip_longest(*(PHASES[phase](view) for view in views)):
                for each, lore in zip(plan, (first, second), strict=True):
                    if each is not None:
                        applied(each, lore)
        run_all_phases(first)
        assert shape(first) == undisturbed
        assert descriptions(run_phases(second)) == []


def applied(plan: Plan, lore: Lore) -> None:
    cause = Cause(verb="consolidate")
    context = Context(store=lore.store, namespace="shared", cause=cause, now=lore.clock())
    apply(plan, context, model=lore.embeddings.model)


def test_two_processes_at_once_do_the_work_once(path: Path, undisturbed: dict[str, object]) -> None:
    children = [start_run(path, "prune", 0) for _ in range(2)]
    for child in children:
        assert child.stdout is not None
        assert child.stdin is not None
        assert child.stdout.readline() == "over\n"
        child.stdin.write("\n")
        child.stdin.close()
        assert child.wait(60) == 0
        child.stdout.close()
    with opened(path) as lore:
        assert all(finding.passed for finding in lore.check())
        run_all_phases(lore)
        assert shape(lore) == undisturbed
