"""rate: what helped gains, what did not loses, and what is worthless is forgotten."""

from dataclasses import replace

import pytest

from lore import Draft, Lore, Tie
from lore.clock import Clock
from lore.engine.rate import Rating
from lore.model import Memory


def keep(lore: Lore, content: str = "a note") -> str:
    return lore.remember(Draft(content=content)).id


def rated(lore: Lore, id: str, *verdicts: tuple[bool, int | None]) -> Memory:
    for useful, confidence in verdicts:
        lore.rate([Rating(id=id, useful=useful, confidence=confidence)])
    return lore.read(id, use=False).memory


def test_feedback_moves_score_and_confidence_as_published(lore: Lore) -> None:
    memory = rated(lore, keep(lore), (True, 8), (True, 6), (False, 10))
    assert memory.score == pytest.approx(5 + 0.4 + 0.3 - 0.05)
    assert memory.confidence == pytest.approx(8)
    assert memory.confidence_count == 3


def test_without_a_confidence_the_score_moves_in_full_and_nothing_is_forgotten(lore: Lore) -> None:
    memory = rated(lore, keep(lore), (False, None))
    assert (memory.score, memory.confidence, memory.confidence_count) == (4.5, None, 0)


def test_bumps_and_window_are_settings(lore: Lore) -> None:
    tuning = replace(lore.tuning, score_bump_up=2.0, confidence_window_size=1)
    memory = rated(replace(lore, tuning=tuning), keep(lore), (True, 10), (True, 5))
    assert (memory.score, memory.confidence) == (8.0, 5.0)


def test_what_is_worthless_is_forgotten_and_can_be_restored(lore: Lore) -> None:
    id = keep(lore)
    result = lore.rate([Rating(id=id, useful=False, confidence=2)])
    assert result.forgotten == (id,)
    assert lore.history(id)[-1].cause.verb == "rate"
    assert lore.restore([id]) == [id]
    assert lore.read(id, use=False).memory.score == pytest.approx(4.55)


def test_links_are_rated_and_never_forgotten(lore: Lore) -> None:
    source, target = keep(lore, "one"), keep(lore, "two")
    [link] = lore.link([Tie(source=source, target=target)])
    result = lore.rate([], [Rating(id=link.id, useful=False, confidence=1)])
    [after] = lore.links([source])
    assert result.links == (link.id,)
    assert (after.score, after.confidence, after.confidence_count) == (0.5, 1, 1)


def test_unknown_ids_and_impossible_ratings_are_told_and_the_rest_counts(lore: Lore) -> None:
    id = keep(lore)
    result = lore.rate(
        [
            Rating(id="nobody", useful=True),
            Rating(id=id, useful=True, confidence=11),
            Rating(id=id, useful=True, confidence=10),
        ],
        [Rating(id=id, useful=True)],
    )
    assert result.memories == (id,)
    assert result.refused == (
        ("nobody", "not found"),
        (id, "confidence is 11; it must be between 1 and 10"),
        (id, "not found"),
    )
    assert lore.read(id, use=False).memory.score == 5.5


def test_a_note_that_was_given_up_earlier_in_the_call_is_not_found(lore: Lore) -> None:
    id = keep(lore)
    result = lore.rate([Rating(id=id, useful=False, confidence=1), Rating(id=id, useful=True)])
    assert (result.memories, result.forgotten, result.refused) == ((id,), (id,), ((id, "not found"),))


def test_nobody_rates_what_is_out_of_sight(lore: Lore) -> None:
    hers = keep(lore.for_namespace("ada"))
    assert lore.for_namespace("bob").rate([Rating(id=hers, useful=False, confidence=1)]).refused == (
        (hers, "not found"),
    )
    assert lore.for_namespace("ada").read(hers, use=False).memory.score == 5.0


def test_a_rating_is_no_use(lore: Lore, clock: Clock) -> None:
    id = keep(lore)
    clock.sleep(days=1)
    memory = rated(lore, id, (True, 5))
    assert (memory.access_count, memory.last_accessed_at) == (0, None)
    assert memory.updated_at == clock()
