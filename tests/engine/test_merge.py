"""Merging: whatever the order and number of deliveries, all replicas end equal, with the last changes."""

from collections.abc import Sequence
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from lore.engine.merge import Version, merge, stamps_of
from lore.model import Cause, Entry

NAMES = ("title", "content", "forgotten_at")
VALUES = st.none() | st.sampled_from(["", "a", "b"]) | st.integers(0, 2)
VERSIONS = st.dictionaries(st.sampled_from(NAMES), st.tuples(st.integers(0, 3), VALUES), min_size=1).map(
    lambda fields: Version(
        fields={name: value for name, (_, value) in fields.items()},
        stamps={name: float(at) for name, (at, _) in fields.items()},
    )
)
EDITS = st.tuples(st.integers(0, 2), st.sampled_from(NAMES), st.integers(0, 9), VALUES)
DELIVERIES = st.tuples(st.integers(0, 2), st.integers(0, 2))


def edit(name: str, at: float, value: object) -> Entry:
    cause, before = Cause(verb="revise"), {name: None}
    return Entry(
        seq=1, at=at, batch="", cause=cause, noun="memory", id="m", before=before, after={name: value}
    )


@settings(max_examples=50)
@given(VERSIONS, VERSIONS, VERSIONS)
def test_to_merge_is_commutative_associative_and_idempotent(a: Version, b: Version, c: Version) -> None:
    assert merge(a, b) == merge(b, a)
    assert merge(merge(a, b), c) == merge(a, merge(b, c))
    assert merge(a, a) == a
    assert merge(merge(a, b), b) == merge(a, b)


@settings(max_examples=50)
@given(st.sampled_from([2, 3]), st.lists(EDITS | DELIVERIES, max_size=30), st.randoms(use_true_random=False))
def test_replicas_end_equal_and_the_last_change_of_each_field_stands(
    count: int, events: Sequence[tuple[Any, ...]], random: Random
) -> None:
    replicas = [Version(fields={}, stamps={}) for _ in range(count)]
    sent: list[Version] = []
    edits: dict[str, list[float]] = {}
    for event in events:
        here = event[0] % count
        if len(event) == 4:
            _, name, at, value = event
            mine = replicas[here]
            stamps = stamps_of([edit(name, at, value)], NAMES, mine.stamps)
            replicas[here] = Version(fields={**mine.fields, name: value}, stamps=stamps)
            edits.setdefault(name, []).append(stamps[name])
            sent.append(replicas[here])
        else:
            replicas[here] = merge(replicas[here], replicas[event[1] % count])
    for index in range(count):
        deliveries = [*sent, *random.choices(sent, k=5)] if sent else []
        random.shuffle(deliveries)
        for version in deliveries:
            replicas[index] = merge(replicas[index], version)
    assert all(replica == replicas[0] for replica in replicas)
    assert {name: max(times) for name, times in edits.items()} == dict(replicas[0].stamps)


def test_a_change_that_follows_another_one_wins_although_its_clock_is_behind() -> None:
    first, second = (edit("title", at, "") for at in (10.0, 5.0))
    assert stamps_of([first, second], ["title"], {})["title"] > 10.0
    assert stamps_of([first], ["title"], {"title": 12.0})["title"] > 12.0
