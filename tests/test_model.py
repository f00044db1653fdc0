"""The nouns: ids that sort by time, links with two ends, and answers that tell the truth."""

import uuid
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.model import Answer, Hit, Link, Memory, Signal, new_id

NOW = 1_800_000_000.0
HIT = Hit(
    memory=Memory(id="a", content="x", created_at=NOW, updated_at=NOW), score=1.0, signals={}, relevance=1.0
)

NOTHING_STORED = "Nothing is stored yet."
NOTHING_MATCHED = "Nothing matched; there are 5 memories to search."
LOADING = "Searched by words only: the embedding model is still loading."
MISSING = "Searched by words only: no model."
PENDING = "There are 2 memories not embedded yet; by words they are found already."
ONE_HIDDEN = "Nothing relevant; there is 1 weak hit, not shown (best score 0.123)."
TWO_HIDDEN = "Nothing relevant; there are 2 weak hits, not shown (best score 0.123)."


@given(st.floats(0, 8_000_000_000), st.floats(0.001, 1e6))
def test_ids_made_later_sort_later(now: float, pause: float) -> None:
    assert new_id(now) < new_id(now + pause + 0.001)


@given(st.floats(-1e6, 8_000_000_000))
def test_an_id_is_a_uuid_of_version_seven(now: float) -> None:
    id = uuid.UUID(new_id(now))
    assert (id.version, id.variant) == (7, uuid.RFC_4122)
    assert id.int >> 80 == max(0, int(now * 1000))


def test_ids_of_the_same_moment_differ() -> None:
    assert len({new_id(NOW) for _ in range(1_000)}) == 1_000


def test_a_link_knows_its_other_end() -> None:
    link = Link(id="l", source="a", target="b", kind="associative", created_at=NOW, updated_at=NOW)
    assert (link.other("a"), link.other("b")) == ("b", "a")


def test_the_points_of_a_signal_are_strength_times_weight() -> None:
    assert Signal(0.5, 0.3).points == pytest.approx(0.15)


@pytest.mark.parametrize(
    ("stored", "hits", "hidden", "state", "pending", "notes"),
    [
        (None, 1, 0, "ready", 0, ()),
        (0, 0, 0, "ready", 0, (NOTHING_STORED,)),
        (5, 0, 0, "ready", 0, (NOTHING_MATCHED,)),
        (5, 0, 1, "ready", 0, (ONE_HIDDEN,)),
        (5, 0, 2, "ready", 0, (TWO_HIDDEN,)),
        (None, 1, 2, "ready", 0, ()),
        (None, 1, 0, "ready", 2, (PENDING,)),
        (5, 0, 0, "ready", 2, (NOTHING_MATCHED, PENDING)),
        (None, 1, 0, "warming", 0, (LOADING,)),
        (None, 1, 0, "warming", 2, (LOADING,)),
        (5, 0, 0, "warming", 0, (NOTHING_MATCHED, LOADING)),
        (None, 1, 0, "missing", 0, (MISSING,)),
        (None, 1, 0, "missing", 2, (MISSING,)),
        (0, 0, 0, "missing", 0, (NOTHING_STORED, MISSING)),
    ],
)
def test_an_answer_says_what_the_asker_should_know(
    stored: int | None,
    hits: int,
    hidden: int,
    state: Literal["ready", "warming", "missing"],
    pending: int,
    notes: tuple[str, ...],
) -> None:
    answer = Answer(
        hits=(HIT,) * hits,
        stored=stored,
        hidden=hidden,
        best_hidden=0.1234,
        embedding_state=state,
        pending=pending,
        error="no model" if state == "missing" else "",
    )
    assert answer.notes() == notes
