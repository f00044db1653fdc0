"""recall: three lists fused, or an order; and memories that come with their ties."""

from dataclasses import replace

import pytest

from lore import Draft, Filter, Invalid, Lore, NotFound, Query, Tie
from lore.clock import Clock
from lore.model import Answer
from lore.ranking.policy import REFERENCE


def keep(lore: Lore, content: str, type: str = "fact", importance: float = 0.5) -> str:
    return lore.remember(Draft(content=content, type=type, importance=importance, embed_now=True)).id


def ids_of(answer: Answer) -> list[str]:
    return [hit.memory.id for hit in answer.hits]


def asked(lore: Lore, text: str, limit: int = 10, where: Filter | None = None) -> Answer:
    """By the published formula."""
    by_formula = replace(lore, policies=REFERENCE)
    return by_formula.search(Query(text=text, limit=limit, where=where or Filter(), policy="typed"))


def uses_of(lore: Lore, id: str) -> int:
    return lore.read(id, use=False).memory.access_count


# --- by rank


def test_what_comes_first_in_every_list_has_the_score_one(lore: Lore) -> None:
    best = keep(lore, "walrus on the ice")
    keep(lore, "walrus in the zoo of the town")
    answer = asked(lore, "walrus on the ice")
    assert ids_of(answer)[0] == best
    assert answer.hits[0].score == pytest.approx(1.0)
    assert answer.hits[1].score == pytest.approx(61 / 62)


def test_what_shares_no_word_is_found_by_meaning_at_half_the_score(lore: Lore) -> None:
    heart = keep(lore, "electrocardiography")
    [hit] = asked(lore, "cardiographic").hits
    assert hit.memory.id == heart
    assert hit.score == pytest.approx(0.5)


def test_what_the_first_hits_are_linked_to_is_found_without_a_common_word(lore: Lore) -> None:
    walrus, friend, stranger = keep(lore, "walrus"), keep(lore, "xylophone"), keep(lore, "quartz")
    lore.link([Tie(source=friend, target=walrus, weight=0.5)])
    answer = asked(lore, "walrus")
    assert ids_of(answer) == [walrus, friend]
    assert stranger not in ids_of(answer)
    assert [hit.score for hit in answer.hits] == pytest.approx([2 / 3, 1 / 3])


def test_two_hits_that_are_linked_strengthen_each_other(lore: Lore) -> None:
    plain, linked = keep(lore, "walrus alpha"), keep(lore, "walrus gamma")
    other = keep(lore, "walrus omega epsilon")
    before = ids_of(asked(lore, "walrus alpha"))
    lore.link([Tie(source=linked, target=other)])
    after = ids_of(asked(lore, "walrus alpha"))
    assert before[0] == plain
    assert set(after[:2]) == {linked, other}


def test_a_link_finds_more_and_never_outranks_a_match(lore: Lore) -> None:
    plain, linked = keep(lore, "walrus alpha"), keep(lore, "walrus gamma")
    other, friend = keep(lore, "walrus omega epsilon"), keep(lore, "xylophone")
    lore.link([Tie(source=linked, target=other), Tie(source=other, target=friend)])
    query = Query(text="walrus alpha", policy="typed", counted=False)
    found = ids_of(lore.search(query))
    assert (found[0], found[-1]) == (plain, friend)
    assert set(found[1:-1]) == {linked, other}


def test_links_lead_only_to_what_the_filter_lets_pass(lore: Lore) -> None:
    walrus, goal = keep(lore, "walrus"), keep(lore, "xylophone", "goal")
    lore.link([Tie(source=walrus, target=goal)])
    assert ids_of(asked(lore, "walrus")) == [walrus, goal]
    assert ids_of(asked(lore, "walrus", where=Filter(categories=frozenset({"fact"})))) == [walrus]
    assert ids_of(asked(lore, "walrus", where=Filter(ids=(walrus,)))) == [walrus]


def test_links_to_what_is_forgotten_lead_nowhere(lore: Lore) -> None:
    walrus, friend = keep(lore, "walrus"), keep(lore, "xylophone")
    lore.link([Tie(source=walrus, target=friend)])
    lore.forget([friend])
    assert ids_of(asked(lore, "walrus")) == [walrus]


def test_what_the_limit_left_out_is_told(lore: Lore) -> None:
    for number in range(5):
        keep(lore, f"walrus number {number}")
    answer = asked(lore, "walrus", limit=2)
    assert (len(answer.hits), answer.cut) == (2, 3)


# --- by order


def test_one_order_chooses_and_another_shows(lore: Lore, clock: Clock) -> None:
    old = keep(lore, "old but vital", importance=0.9)
    clock.sleep(days=1)
    dull = keep(lore, "a trifle", importance=0.1)
    clock.sleep(days=1)
    new = keep(lore, "new and fair", importance=0.5)
    assert ids_of(lore.recall(Filter())) == [new, dull, old]
    assert ids_of(lore.recall(Filter(), 2, "importance")) == [old, new]
    assert ids_of(lore.recall(Filter(), 2, "importance", "newest")) == [new, old]
    assert ids_of(lore.recall(Filter(), 2, "newest", "importance")) == [new, dull]


def test_a_place_is_a_score_and_the_rest_is_counted(lore: Lore) -> None:
    for number in range(6):
        keep(lore, f"walrus {number}")
    answer = lore.recall(Filter(), limit=4)
    assert [hit.score for hit in answer.hits] == [1.0, 0.75, 0.5, 0.25]
    assert answer.cut == 2


def test_each_memory_that_is_shown_counts_one_use(lore: Lore, clock: Clock) -> None:
    first = keep(lore, "walrus")
    clock.sleep(days=1)
    second = keep(lore, "penguin")
    lore.recall(Filter(), limit=1)
    assert (uses_of(lore, first), uses_of(lore, second)) == (0, 1)
    assert ids_of(lore.recall(Filter(), 2, "use")) == [second, first]


def test_nothing_to_recall_is_said(lore: Lore) -> None:
    assert lore.recall(Filter()).notes() == ("Nothing is stored yet.",)


@pytest.mark.parametrize("limit", [0, -1, 1_001])
def test_a_limit_outside_the_range_is_refused(limit: int, lore: Lore) -> None:
    with pytest.raises(Invalid, match="between 1 and 1,000"):
        lore.recall(Filter(), limit)


# --- memories with ties


def test_a_memory_comes_with_its_ties_or_not_at_all(lore: Lore) -> None:
    known = keep(lore, "walrus")
    tied = lore.remember(Draft(content="b", ties=(Tie(source="", target=known, type="part_of", weight=0.0),)))
    [link] = lore.read(tied.id, use=False).links
    assert (link.source, link.target, link.type, link.weight) == (tied.id, known, "part_of", 0.0)
    wrong = (Tie(source="", target=known), Tie(source="", target="nobody"))
    with pytest.raises(NotFound, match="unknown memory nobody"):
        lore.remember(Draft(content="never kept", ties=wrong))
    assert lore.count(Filter()) == 2
    with pytest.raises(Invalid, match="weight is 2"):
        lore.remember(Draft(content="never kept", ties=(Tie(source="", target=known, weight=2.0),)))


def updates(lore: Lore, id: str) -> list[str]:
    return [
        link.target for link in lore.read(id, use=False).links if link.type == "updates" and link.source == id
    ]


def test_a_memory_updates_what_says_nearly_the_same(lore: Lore) -> None:
    old = keep(lore, "the office is on the third floor of the north tower")
    keep(lore, "the cat sleeps on the sofa")
    new = lore.remember(Draft(content="the office is on the fourth floor of the north tower", updates=True))
    assert updates(lore, new.id) == [old]
    assert old in ids_of(lore.recall(Filter())), "an update alone hides nothing"


def test_where_the_draft_says_how_it_is_tied_nothing_is_added(lore: Lore) -> None:
    old = keep(lore, "the same words")
    tie = Tie(source="", target=old, type="contradicts")
    new = lore.remember(Draft(content="the same words", ties=(tie,), updates=True))
    assert [link.type for link in lore.read(new.id, use=False).links] == ["contradicts"]


def test_what_was_forgotten_is_not_updated(lore: Lore) -> None:
    lore.forget([keep(lore, "the same words")])
    assert updates(lore, lore.remember(Draft(content="the same words", updates=True)).id) == []
