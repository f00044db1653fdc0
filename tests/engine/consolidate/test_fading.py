"""decay, prune, relevance: what time takes, what use gives back, and what never goes."""

from dataclasses import replace

import pytest

from lore import Draft, Filter, Lore, Query, Tie
from lore.clock import Clock
from lore.config import ConsolidationSettings
from lore.model import LINK_KINDS
from lore.ranking.decay import relevance
from tests.engine.consolidate.sleeping import done, fragment, fragments, memory, night, planned, say

WORDS = ("walrus", "penguin", "harbour", "vault", "anchor")


def linked(lore: Lore, weight: float) -> tuple[str, str]:
    one, other = fragment(lore, "walrus on the ice"), fragment(lore, "keys of the vault")
    lore.link([Tie(source=one, target=other, weight=weight)])
    return one, other


def pruning(lore: Lore) -> Lore:
    return replace(lore, tuning=ConsolidationSettings(prune=True))


def test_a_link_ends_by_time_and_not_by_how_often_lore_slept(lore: Lore, clock: Clock) -> None:
    one, _ = linked(lore, 0.2)
    for _ in range(40):
        night(lore, "decay")
    assert len(lore.links([one])) == 1
    for _ in range(5):
        clock.sleep(days=7)
        night(lore, "decay")
    assert len(lore.links([one])) == 1, ".2 is .155 after five weeks"
    clock.sleep(days=7)
    assert done(night(lore, "decay")) == {"edges_pruned": 1}
    assert lore.links([one]) == []


def test_one_long_sleep_takes_as_much_as_many_short_ones(lore: Lore, clock: Clock) -> None:
    one, _ = linked(lore, 1.0)
    clock.sleep(days=7 * 36)
    night(lore, "decay")
    assert len(lore.links([one])) == 1, ".95^36 is .158"
    clock.sleep(days=7 * 2)
    night(lore, "decay")
    assert lore.links([one]) == []


def test_a_link_whose_ends_are_used_survives(lore: Lore, clock: Clock) -> None:
    used, idle = linked(lore, 0.3), linked(lore, 0.3)
    for _ in range(52):
        clock.sleep(days=7)
        lore.read(used[0])
        lore.read(used[1])
        lore.read(idle[0])
        night(lore, "decay")
    assert len(lore.links([used[0]])) == 1
    assert lore.links([idle[0]]) == [], "of a link that is used, both ends are"


def test_a_faded_link_can_be_brought_back(lore: Lore, clock: Clock) -> None:
    one, other = linked(lore, 0.2)
    clock.sleep(days=365)
    night(lore, "decay")
    [ended] = lore.store.reader("shared").all_links(one)
    assert (ended.active, ended.ended_at, ended.weight) == (False, clock(), 0.2)
    lore.link([Tie(source=one, target=other, weight=0.9)])
    assert [link.id for link in lore.links([one])] == [ended.id]


@pytest.mark.parametrize("kind", [kind for kind in LINK_KINDS if kind != "associative"])
def test_only_associations_fade(lore: Lore, clock: Clock, kind: str) -> None:
    one, other = fragment(lore, "walrus"), fragment(lore, "vault")
    lore.link([Tie(source=one, target=other, kind=kind, weight=0.1)])  # type: ignore[arg-type]
    clock.sleep(days=5_000)
    assert planned(night(lore, "decay")) == []
    assert len(lore.links([one])) == 1


def test_without_a_period_no_link_fades(lore: Lore, clock: Clock) -> None:
    linked(lore, 0.2)
    clock.sleep(days=5_000)
    assert planned(night(replace(lore, tuning=ConsolidationSettings(edge_decay_days=0)), "decay")) == []


def test_a_faint_link_that_was_made_just_now_is_the_users_wish_until_it_ends(
    lore: Lore, clock: Clock
) -> None:
    one, _ = linked(lore, 0.16)
    night(lore, "decay")
    assert len(lore.links([one])) == 1


def test_pruning_is_off_by_default_and_says_what_could_go(lore: Lore, clock: Clock) -> None:
    root = fragment(lore, "root")
    fragment(lore, "trifle", root, importance=0.1)
    clock.sleep(days=400)
    report = night(lore, "prune")
    assert (planned(report), report.remarks) == ([], ("1 faded memories could go; `prune = true` lets them",))
    assert len(fragments(lore)) == 2


def test_what_was_never_important_nor_used_goes_and_its_children_move_up(lore: Lore, clock: Clock) -> None:
    root = fragment(lore, "root")
    trifle = fragment(lore, "trifle", root, importance=0.1)
    child = fragment(lore, "child", trifle, importance=1.0)
    clock.sleep(days=61)
    assert done(night(pruning(lore), "prune")) == {"fragments_pruned": 1}
    assert memory(lore, trifle).forgotten_reason == "“trifle” has faded"
    assert lore.look_at(child).parent == root
    assert lore.restore([trifle]) == [trifle]
    assert lore.look_at(child).breadcrumb == ("root", "trifle")
    assert lore.look_at(trifle).parent == root


def test_what_was_used_stays_longer(lore: Lore, clock: Clock) -> None:
    root = fragment(lore, "root")
    used = fragment(lore, "used", root, importance=0.2)
    lore.read(used)
    clock.sleep(days=80)
    assert planned(night(pruning(lore), "prune")) == []
    clock.sleep(days=20)
    assert planned(night(pruning(lore), "prune")) == ["“used” has faded"]


@pytest.mark.parametrize(
    ("depth", "more", "days"),
    [
        (0, {"importance": 0.1}, 5_000),
        (1, {"importance": 0.01, "type": "identity"}, 5_000),
        (1, {"importance": 0.1}, 59),
        (1, {"importance": 0.5}, 5_000),
    ],
    ids=["root", "identity", "young", "important"],
)
def test_what_never_goes(lore: Lore, clock: Clock, depth: int, more: dict[str, object], days: float) -> None:
    parent = fragment(lore, "root") if depth else None
    kept = fragment(lore, "kept", parent, **more)
    clock.sleep(days=days)
    night(pruning(lore))
    assert memory(lore, kept).forgotten_at is None


def test_superseded_memories_are_not_pruned(lore: Lore, clock: Clock) -> None:
    root = fragment(lore, "root")
    old = fragment(lore, "The capital of Atlantis is Poseidonis.", root, importance=0.1)
    clock.sleep(days=1)
    fragment(lore, "The capital of Atlantis is Basileia.", importance=1.0)
    night(lore, "contradict")
    clock.sleep(days=400)
    assert planned(night(pruning(lore), "prune")) == []
    assert memory(lore, old).forgotten_at is None


def test_notes_and_turns_are_not_pruned(lore: Lore, clock: Clock) -> None:
    say(lore, "seals", "Where do seals sleep?", "Seals sleep on ice.")
    lore.remember(Draft(content="trifle", parent=fragment(lore, "root"), importance=0.1))
    count = lore.count(Filter())
    clock.sleep(days=5_000)
    assert planned(night(pruning(lore), "prune")) == []
    assert lore.count(Filter()) == count == 5


def test_the_overview_no_longer_tells_of_what_went(lore: Lore, clock: Clock) -> None:
    root = fragment(lore, "Harbour", source_type="distilled")
    fragment(lore, "The gate is green.", root, importance=0.1)
    fragment(lore, "The lamp is red.", root, importance=1.0)
    night(lore)
    assert "green" in memory(lore, root).content
    clock.sleep(days=100)
    night(pruning(lore))
    assert memory(lore, root).content == "The lamp is red."


def test_what_has_faded_from_view_is_counted_and_comes_back_when_it_is_used(lore: Lore, clock: Clock) -> None:
    ids = [fragment(lore, word, importance=0.1) for word in WORDS]
    assert night(lore, "relevance").counts == {"relevance_updated": 5}
    clock.sleep(days=30)
    assert night(lore, "relevance").remarks == ("5 of 5 memories have faded from view",)
    assert [hit.memory.id for hit in lore.search(Query(text="vault")).hits] == [ids[3]]
    lore.read(ids[3])
    assert night(lore, "relevance").remarks == ("4 of 5 memories have faded from view",)


def test_conversations_do_not_count_as_knowledge(lore: Lore) -> None:
    say(lore, "seals", "Where do seals sleep?", "Seals sleep on ice.")
    assert night(lore, "relevance").counts == {}


def test_what_is_distilled_from_an_old_conversation_is_not_born_faded(lore: Lore, clock: Clock) -> None:
    say(lore, "old", "We decided to keep the keys of the vault with the harbour master.", "Noted.")
    clock.sleep(days=400)
    assert done(night(lore, "digest"))["fragments_extracted"] > 0
    distilled = fragments(lore)
    assert all(relevance(one, clock()) >= 0.5 * one.importance for one in distilled)
    clock.sleep(days=400)
    assert all(relevance(one, clock()) < 0.5 * one.importance for one in distilled), "then it fades"
