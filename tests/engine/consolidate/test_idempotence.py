"""Whatever is stored, a dry run changes nothing, and after one run a second one has nothing to do."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from lore import Draft, Invalid, Lore, Tie
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.engine.consolidate.phases import PHASES
from lore.model import LINK_KINDS
from tests.engine.consolidate.helpers import converse, descriptions, dump, run_phases

TEXTS = st.one_of(
    st.lists(st.sampled_from("walrus penguin harbour vault key ice".split()), min_size=1, max_size=5).map(
        " ".join
    ),
    st.builds("The {} of the harbour is {}.".format, st.sampled_from(["port", "owner"]), st.integers(1, 3)),
    st.sampled_from(["We use Postgres 15.", "We use Postgres 16 now.", "Ana lives in Rome."]),
)
MEMORIES = st.lists(
    st.fixed_dictionaries(
        {
            "content": TEXTS,
            "kind": st.sampled_from(["fragment", "fragment", "fragment", "note"]),
            "type": st.sampled_from(["", "", "identity", "reflection"]),
            "source_type": st.sampled_from(["observed", "distilled"]),
            "importance": st.sampled_from([0.1, 0.5, 1.0]),
            "project": st.sampled_from(["", "ferry"]),
        }
    ),
    min_size=1,
    max_size=14,
)
PLACES = st.integers(0, 13)
TIES = st.lists(st.tuples(PLACES, PLACES, st.sampled_from(LINK_KINDS), st.floats(0, 1)), max_size=16)
AGES = st.lists(st.sampled_from([0, 0, 1, 40, 100, 400]), min_size=14, max_size=14)
SESSIONS = st.lists(st.lists(TEXTS, min_size=1, max_size=5), max_size=2)


@contextmanager
def opened(prune: bool) -> Iterator[tuple[Lore, Clock]]:
    folder, clock = Path(tempfile.mkdtemp()), Clock()
    lore = wire(Config(data_dir=folder, prune=prune), embedder=HashEmbedder(), clock=clock)
    try:
        yield lore, clock
    finally:
        lore.close()
        shutil.rmtree(folder)


@settings(max_examples=12)
@given(MEMORIES, TIES, AGES, SESSIONS, st.lists(PLACES, max_size=4), st.booleans())
def test_a_dry_run_changes_nothing_and_a_second_run_has_nothing_to_do(
    memories: list[dict[str, object]],
    ties: list[tuple[int, int, str, float]],
    ages: list[int],
    sessions: list[list[str]],
    read: list[int],
    prune: bool,
) -> None:
    with opened(prune) as (lore, clock):
        ids = []
        for draft, age in zip(memories, ages, strict=False):
            ids.append(lore.remember(Draft(**draft)).id)  # type: ignore[arg-type]
            clock.sleep(days=age)
        for source, target, kind, weight in ties:
            tie = Tie(source=ids[source % len(ids)], target=ids[target % len(ids)], kind=kind, weight=weight)  # type: ignore[arg-type]
            try:
                lore.link([tie])
            except Invalid:
                continue
        for number, texts in enumerate(sessions):
            converse(lore, f"session {number}", *texts)
        for place in read:
            lore.read(ids[place % len(ids)])
        clock.sleep(days=1)
        lore.embed_pending()

        before = dump(lore)
        run_phases(lore, dry=True)
        assert dump(lore) == before, "a dry run changes nothing"
        run_phases(lore)
        assert all(finding.passed for finding in lore.check())
        lore.embed_pending()
        after = dump(lore)
        for phase in PHASES:
            assert descriptions(run_phases(lore, phase, dry=True)) == []
        assert descriptions(run_phases(lore)) == []
        assert dump(lore) == after
        clock.sleep(hours=1)
        assert descriptions(run_phases(lore)) == [], "nothing has happened since"
