"""bridge: a deep search looks on from the best hit to what the question needs and does not name."""

import pytest

from lore import Draft, Hit, Lore, Query

STAGED = "That comedy was staged by a man, Hallam Wycliffe."
CORK = "Many winters long, Cork lodged Hallam Wycliffe."
NEARER = "The winters were warm."
QUESTION = "Where did the man who staged that comedy spend the winters?"


@pytest.fixture
def hall(lore: Lore) -> Lore:
    """What leads on, what only sounds like the question, and enough else that a name is rare."""
    for content in (STAGED, CORK, NEARER, *(f"Ledger {number} is closed." for number in range(60))):
        lore.remember(Draft(content=content))
    lore.embed_pending()
    return lore


def first(lore: Lore, question: str = QUESTION, deep: bool = True, limit: int = 3) -> dict[str, Hit]:
    hits = lore.search(Query(text=question, deep=deep, limit=limit, counted=False)).hits
    return {hit.memory.content: hit for hit in hits}


def test_a_deep_search_finds_what_the_best_hit_names_inside_another_text(hall: Lore) -> None:
    assert list(first(hall, deep=False)) == [STAGED, NEARER, CORK]
    hits = first(hall)
    assert list(hits) == [STAGED, CORK, NEARER]
    assert hits[CORK].via == STAGED
    assert hits[CORK].evidence["bridge"].strength > 0


def test_a_name_of_the_question_leads_nowhere_new(hall: Lore) -> None:
    named = "Where did Hallam Wycliffe, who staged that comedy, spend the winters?"
    assert all("bridge" not in hit.evidence for hit in first(hall, named).values())


def test_a_name_that_many_memories_have_leads_nowhere(hall: Lore) -> None:
    for number in range(10):
        hall.remember(Draft(content=f"Hallam Wycliffe signed ledger {number}."))
    hall.embed_pending()
    assert all("bridge" not in hit.evidence for hit in first(hall, limit=20).values())


def test_hits_of_a_walk_that_decides_stay_ahead(hall: Lore) -> None:
    play, oaks = "The Rivals was written by Richard Sheridan.", "Beneath oaks sat Richard Sheridan."
    author = "Richard Sheridan grew up beside a street of forty lamps with a dog, two aunts and a parrot."
    for content in (play, oaks, author):
        hall.remember(Draft(content=content))
    hall.embed_pending()
    assert list(first(hall, "By whom was The Rivals written?"))[:2] == [play, author]
