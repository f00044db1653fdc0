"""verify: inside its repository a memory shows whether its files are as they were, and ranks lower if not."""

from dataclasses import replace
from pathlib import Path

import pytest

from lore import Draft, Invalid, Lore, Query
from lore.ranking.policy import REFERENCE, STALE


def no_report(part: str, done: int, total: int) -> None:
    """Progress that nobody sees."""


@pytest.fixture
def twins(inside: Lore, checkout: Path) -> tuple[str, str]:
    """Two memories that match alike; the file of the first has changed, that of the second has not."""
    (checkout / "src" / "db.py").write_text("pool = 4\n")
    (checkout / "src" / "ui.py").write_text("pool = 4\n")
    first = inside.remember(Draft(content="the walrus pool is set in src/db.py", embed_now=True)).id
    second = inside.remember(Draft(content="the walrus pool is set in src/ui.py", embed_now=True)).id
    (checkout / "src" / "db.py").write_text("pool = 8\n")
    return first, second


def test_a_hit_whose_file_changed_comes_later_and_says_so(inside: Lore, twins: tuple[str, str]) -> None:
    changed, fresh = twins
    hits = inside.search(Query(text="walrus pool")).hits
    assert [hit.memory.id for hit in hits] == [fresh, changed]
    assert "stale" in hits[1].signals
    assert hits[1].score == pytest.approx(
        sum(signal.points for signal in hits[1].signals.values()) * hits[1].fade
    )
    assert inside.citations([hit.memory for hit in hits]) == {
        fresh: {"src/ui.py": "fresh"},
        changed: {"src/db.py": "changed"},
    }


def test_no_hit_is_hidden_because_its_file_is_gone(
    inside: Lore, twins: tuple[str, str], checkout: Path
) -> None:
    changed, fresh = twins
    (checkout / "src" / "db.py").unlink()
    before = inside.in_folder("").search(Query(text="walrus pool")).hits
    least = min(hit.score for hit in before)
    after = {
        hit.memory.id: hit.score for hit in inside.search(Query(text="walrus pool", min_score=least)).hits
    }
    assert after.keys() == {changed, fresh}
    assert after[changed] < least


def test_outside_of_the_repository_nothing_is_checked(
    lore: Lore, twins: tuple[str, str], tmp_path: Path
) -> None:
    (tmp_path / "tug" / ".git").mkdir(parents=True)
    for elsewhere in (lore, lore.in_folder(str(tmp_path / "tug"))):
        hits = elsewhere.search(Query(text="walrus pool")).hits
        assert len(hits) == 2
        assert elsewhere.citations([hit.memory for hit in hits]) == {}
        assert not [hit for hit in hits if "stale" in hit.signals]


def test_a_published_formula_is_taken_to_the_letter(inside: Lore, twins: tuple[str, str]) -> None:
    published = replace(inside, policies=REFERENCE)
    hits = published.search(Query(text="walrus pool", policy="typed")).hits
    assert not [hit for hit in hits if "stale" in hit.signals]


def test_worse_states_lower_more_and_all_of_them_little() -> None:
    assert 1.0 == STALE["fresh"] > STALE["changed"] > STALE["gone"] >= 0.8


def test_verify_lists_every_citation_of_the_repository(inside: Lore, twins: tuple[str, str]) -> None:
    changed, fresh = twins
    everything = {changed: {"src/db.py": "changed"}, fresh: {"src/ui.py": "fresh"}}
    assert inside.verify([], no_report) == inside.verify(["."], no_report) == everything
    assert inside.verify(["src"], no_report) == everything
    assert inside.verify(["src/db.py"], no_report) == {changed: everything[changed]}
    assert inside.verify(["src/d"], no_report) == {}


def test_verify_reads_page_after_page(inside: Lore) -> None:
    drafts = [Draft(content=f"src/app.py has number {n}") for n in range(600)]
    inside.remember_all(drafts)
    steps: list[tuple[int, int]] = []
    found = inside.verify([], lambda part, done, total: steps.append((done, total)))
    assert len(found) == 600
    assert steps == [(0, 600), (500, 600)]


def test_verify_needs_a_repository(inside: Lore, lore: Lore) -> None:
    with pytest.raises(Invalid, match="in no repository"):
        lore.verify([], no_report)
    with pytest.raises(Invalid, match=r"\.\. is not inside the repository"):
        inside.verify([".."], no_report)
