"""Category: which there are, what counts as what, and that time spares identity."""

import pytest

from lore.model import Trace
from lore.ranking.decay import DAY_SECONDS, IMPORTANCE, category_of, relevance

NOW = 1_800_000_000.0


def test_the_default_importances() -> None:
    assert IMPORTANCE == {
        "identity": 1.0,
        "decision": 0.8,
        "preference": 0.7,
        "goal": 0.7,
        "fact": 0.5,
        "event": 0.5,
        "observation": 0.4,
        "todo": 0.3,
    }


@pytest.mark.parametrize(
    ("type", "kind", "category"),
    [
        ("todo", "note", "todo"),
        ("goal", "entity", "goal"),
        ("", "note", "fact"),
        ("", "fragment", "fact"),
        ("Person", "entity", "fact"),
        ("", "observation", "observation"),
        ("", "reflection", "observation"),
        ("", "turn", "event"),
        ("", "session", "event"),
        ("decision", "observation", "decision"),
    ],
)
def test_what_a_memory_counts_as(type: str, kind: str, category: str) -> None:
    assert category_of(type, kind) == category


@pytest.mark.parametrize("days", [0, 30, 3_650])
def test_identity_does_not_fade(days: float) -> None:
    def after(type: str, days: float) -> float:
        trace = Trace(
            id="a",
            importance=1.0,
            created_at=NOW - days * DAY_SECONDS,
            access_count=0,
            last_reinforced_at=None,
            activation=0.0,
            activated_at=None,
            type=type,
        )
        return relevance(trace, NOW)

    assert after("identity", days) == pytest.approx(0.6)
    assert after("decision", days) < 0.6 or days == 0
