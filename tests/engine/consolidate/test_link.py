"""link: what lies in different trees and belongs together is linked, once."""

import pytest

from lore import Lore, Tie
from lore.clock import Clock
from lore.engine.consolidate.link import ROOTS_EACH
from tests.engine.consolidate.sleeping import Fitting, done, fragment, night, planned, sensing


def lateral(lore: Lore, id: str) -> set[str]:
    return {link.other(id) for link in lore.links([id]) if link.kind == "associative"}


@pytest.mark.parametrize(("fit", "linked"), [(0.84, True), (0.81, True), (0.79, False)])
def test_similar_roots_are_linked_as_strongly_as_they_are_alike(lore: Lore, fit: float, linked: bool) -> None:
    lore = sensing(lore, Fitting())
    one, other = fragment(lore, "fit 1"), fragment(lore, f"fit {fit}")
    report = night(lore, "link")
    assert done(report) == ({"links_created": 1} if linked else {})
    assert lateral(lore, one) == ({other} if linked else set())
    assert [link.weight for link in lore.links([one])] == pytest.approx([fit] if linked else [])


def test_children_of_similar_roots_that_are_alike_are_linked(lore: Lore) -> None:
    lore = sensing(lore, Fitting())
    one, other = fragment(lore, "fit 0.9"), fragment(lore, "fit 0.95")
    ours, theirs = fragment(lore, "fit 1", one), fragment(lore, "fit 0.75", other)
    far = fragment(lore, "fit 0.6", other)
    night(lore, "link")
    assert lateral(lore, ours) == {theirs}
    assert lateral(lore, far) == {theirs} - {theirs}


def test_what_was_linked_once_is_not_linked_again(lore: Lore, clock: Clock) -> None:
    lore = sensing(lore, Fitting())
    ids = [fragment(lore, "fit 1"), fragment(lore, "fit 0.84")]
    night(lore, "link")
    [link] = lore.links(ids)
    lore.unlink([link.id])
    clock.sleep(days=1)
    fragment(lore, "fit 0.01", ids[0])
    assert planned(night(lore, "link")) == []
    assert lore.links(ids[1:]) == []


def test_a_link_that_somebody_made_is_left_as_it_is(lore: Lore) -> None:
    lore = sensing(lore, Fitting())
    one, other = fragment(lore, "fit 1"), fragment(lore, "fit 0.84")
    [link] = lore.link([Tie(source=other, target=one, weight=0.3)])
    assert planned(night(lore, "link", dry=True)) == planned(night(lore, "link")) == []
    assert lore.links([one]) == [link]


def test_no_root_is_linked_with_all_the_world(lore: Lore, clock: Clock) -> None:
    lore = sensing(lore, Fitting())
    ids = [fragment(lore, f"number {n} fit 1") for n in range(2 * ROOTS_EACH)]
    night(lore, "link")
    clock.sleep(days=1)
    ids += [fragment(lore, f"later {n} fit 1") for n in range(2 * ROOTS_EACH)]
    night(lore, "link")
    degrees = [len(lateral(lore, id)) for id in ids]
    assert min(degrees) > 0
    assert max(degrees) <= ROOTS_EACH


def test_only_what_is_new_is_compared_and_all_of_it(lore: Lore, clock: Clock) -> None:
    lore = sensing(lore, Fitting())
    old = fragment(lore, "fit 1")
    night(lore, "link")
    clock.sleep(days=1)
    new = fragment(lore, "fit 0.84")
    night(lore, "link")
    assert lateral(lore, new) == {old}


def test_without_an_embedder_there_is_nothing_to_compare(blind: Lore) -> None:
    fragment(blind, "the same words")
    fragment(blind, "the same words")
    assert planned(night(blind, "link")) == []
