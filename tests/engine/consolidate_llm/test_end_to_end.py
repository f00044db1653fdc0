"""A real small language model, served and set up as a user would: whatever it says, nothing is lost."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from lore import Filter, Query
from lore.config import load
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.engine.consolidate.backlog import TURNS
from lore.engine.spending import StoreLedger
from tests.engine.consolidate.helpers import run_phases
from tests.engine.consolidate_llm.conftest import RecordSession, fragments, is_consistent
from tests.llm.serving import small_model

CONTEXT = 1280
"""Tokens: those of the extraction, and of a short answer."""

pytestmark = pytest.mark.model

SAID = (
    "My cat is called Minka. She eats chicken, no fish.",
    "I will remember that Minka eats chicken.",
)


def test_a_weak_model_loses_no_turns_and_stores_nothing_without_sources(
    record_session: RecordSession, tmp_path: Path
) -> None:
    with small_model(CONTEXT) as url:
        (tmp_path / "config.toml").write_text(f"""
            [llm]
            backend = "openai"
            base_url = "{url}"
            extraction_model = "small"
            compression_model = "small"
            timeout_secs = 45
            max_concurrency = 1
        """)
        lore = wire(load(env={}, data_dir=tmp_path), embedder=HashEmbedder())
        try:
            session = record_session(*SAID, by=lore)
            before = {turn.id: turn.content for turn in lore.select(TURNS, 100)}
            report = run_phases(lore, "digest")
            left = lore.staged()
            assert {turn.id: turn.content for turn in lore.select(TURNS, 100)} == before
            assert is_consistent(lore)
            assert lore.search(Query(text="Minka", where=Filter(kinds=TURNS.kinds))).hits
            if left:
                assert [(one.session.id, one.turns) for one in left] == [(session.id, len(SAID))]
                assert any(one.trouble or report.remarks for one in left)
                assert fragments(lore) == []
            else:
                assert report.counts["sessions_digested"] == 1
            for memory in fragments(lore):
                sources = [link for link in lore.links([memory.id]) if link.type == "derived_from"]
                assert {link.target for link in sources} <= before.keys()
            today = StoreLedger(lore.store, lore.clock)
            assert sum(spent.calls for day in _days(lore.clock()) for spent in today.load(day)) >= 1
        finally:
            lore.close()


def _days(now: float) -> list[str]:
    """Today and yesterday: the test may run at midnight."""
    day = datetime.fromtimestamp(now, UTC)
    return [f"{day - timedelta(days=back):%Y-%m-%d}" for back in (0, 1)]
