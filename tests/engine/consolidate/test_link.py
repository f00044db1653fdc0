"""Phase link: similar trees and their similar children are linked, once."""

import pytest

from lore import Lore, Tie
from lore.clock import Clock
from lore.engine.consolidate.similar_trees import LINKS_PER_ROOT
from tests.engine.consolidate.helpers import (
    FitEmbedder,
    counts_of,
    descriptions,
    fragment,
    run_phases,
    with_embedder,
)


def lateral(lore: Lore, id: str) -> set[str]:
    return {link.other(id) for link in lore.links([id]) if link.kind == "associative"}


@pytest.mark.parametrize(("fit", "linked"), [(0.84, True), (0.81, True), (0.79, False)])
def test_the_weight_of_a_link_between_similar_roots_is_their_likeness(
    lore: Lore, fit: float, linked: bool
) -> None:
    lore = with_embedder(lore, FitEmbedder())
    one, other = fragment(lore, "fit 1"), fragment(lore, f"fit {fit}")
    report = run_phases(lore, "link")
    assert counts_of(report) == ({"links_created": 1} if linked else {})
    assert lateral(lore, one) == ({other} if linked else set())
    assert [link.weight for link in lore.links([one])] == pytest.approx([fit] if linked else [])


def test_similar_children_of_similar_roots_are_linked(lore: Lore) -> None:
    lore = with_embedder(lore, FitEmbedder())
    one, other = fragment(lore, "fit 0.9"), fragment(lore, "fit 0.95")
    ours, theirs = fragment(lore, "fit 1", one), fragment(lore, "fit 0.75", other)
    far = fragment(lore, "fit 0.6", other)
    run_phases(lore, "link")
    assert lateral(lore, ours) == {theirs}
    assert lateral(lore, far) == {theirs} - {theirs}


def test_a_link_that_was_ended_is_not_created_again(lore: Lore, clock: Clock) -> None:
    lore = with_embedder(lore, FitEmbedder())
    ids = [fragment(lore, "fit 1"), fragment(lore, "fit 0.84")]
    run_phases(lore, "link")
    [link] = lore.links(ids)
    lore.unlink([link.id])
    clock.sleep(days=1)
    fragment(lore, "fit 0.01", ids[0])
    assert descriptions(run_phases(lore, "link")) == []
    assert lore.links(ids[1:]) == []


def test_an_existing_link_of_a_user_is_not_changed(lore: Lore) -> None:
    lore = with_embedder(lore, FitEmbedder())
    one, other = fragment(lore, "fit 1"), fragment(lore, "fit 0.84")
    [link] = lore.link([Tie(source=other, target=one, weight=0.3)])
    assert descriptions(run_phases(lore, "link", dry=True)) == descriptions(run_phases(lore, "link")) == []
    assert lore.links([one]) == [link]


def test_the_number_of_links_for_likeness_of_a_root_is_limited(lore: Lore, clock: Clock) -> None:
    lore = with_embedder(lore, FitEmbedder())
    ids = [fragment(lore, f"number {n} fit 1") for n in range(2 * LINKS_PER_ROOT)]
    run_phases(lore, "link")
    clock.sleep(days=1)
    ids += [fragment(lore, f"later {n} fit 1") for n in range(2 * LINKS_PER_ROOT)]
    run_phases(lore, "link")
    degrees = [len(lateral(lore, id)) for id in ids]
    assert min(degrees) > 0
    assert max(degrees) <= LINKS_PER_ROOT


def test_a_new_root_is_compared_with_all_older_roots(lore: Lore, clock: Clock) -> None:
    lore = with_embedder(lore, FitEmbedder())
    old = fragment(lore, "fit 1")
    run_phases(lore, "link")
    clock.sleep(days=1)
    new = fragment(lore, "fit 0.84")
    run_phases(lore, "link")
    assert lateral(lore, new) == {old}


def test_without_an_embedder_no_links_are_created(without_embedder: Lore) -> None:
    fragment(without_embedder, "the same words")
    fragment(without_embedder, "the same words")
    assert descriptions(run_phases(without_embedder, "link")) == []
