"""search, where conversations are kept: what was found around a memory speaks for it."""

import pytest

from lore import Draft, Lore, Query, Tie
from lore.clock import Clock
from lore.model import Filter, Hit


def say(lore: Lore, content: str, session: str = "") -> str:
    return lore.remember(Draft(content=content, kind="turn", session=session)).id


def hits(lore: Lore, text: str, limit: int = 10) -> dict[str, Hit]:
    lore.embed_pending()
    return {hit.memory.id: hit for hit in lore.search(Query(text=text, limit=limit, counted=False)).hits}


def test_a_turn_beside_one_that_fits_is_found_before_its_like(lore: Lore) -> None:
    alone, beside = say(lore, "the walrus yawns", "one"), say(lore, "the walrus yawns", "two")
    fitting = say(lore, "the walrus sleeps on the ice of the northern bay", "three")
    lore.link([Tie(source=fitting, target=beside, kind="temporal")])
    found = hits(lore, "does the walrus sleep on the ice of the northern bay?")
    assert found[beside].score > found[alone].score
    assert (
        found[beside].evidence["neighbour_support"].strength
        > found[alone].evidence["neighbour_support"].strength
    )


def test_a_search_among_given_ids_finds_no_turns_beside_them(lore: Lore) -> None:
    question, answer = say(lore, "where does the walrus sleep?"), say(lore, "on the ice")
    lore.link([Tie(source=question, target=answer, kind="temporal")])
    among = lore.search(Query(text="walrus", where=Filter(ids=(question,))))
    assert [hit.memory.id for hit in among.hits] == [question]


def test_a_turn_of_a_conversation_that_fits_is_found_before_its_like(lore: Lore) -> None:
    elsewhere, among = say(lore, "the walrus yawns", "one"), say(lore, "the walrus yawns", "two")
    say(lore, "the walrus sleeps on the ice of the northern bay", "two")
    found = hits(lore, "does the walrus sleep on the ice of the northern bay?")
    assert found[among].score > found[elsewhere].score


def test_who_goes_on_with_something_finds_several_conversations(lore: Lore) -> None:
    plan = [say(lore, f"the plan for the walrus, step {number}", "one") for number in range(3)]
    other = say(lore, "a plan for the penguin and the walrus", "two")
    asking = hits(lore, "What is the plan for the walrus?")
    assert list(asking)[-1] == other
    going_on = hits(lore, "I have read the plan for the walrus. Tell me what is next.")
    assert list(going_on).index(other) == 1
    assert sum("breadth" in going_on[id].signals for id in plan) == 2
    for hit in going_on.values():
        assert hit.score == pytest.approx(sum(signal.points for signal in hit.signals.values()))


def test_who_goes_on_with_something_finds_the_last_conversation_first(lore: Lore, clock: Clock) -> None:
    old = say(lore, "the plan for the walrus", "one")
    clock.sleep(days=1)
    new = say(lore, "the plan for the walrus", "two")
    going_on = hits(lore, "I have read the plan for the walrus. What is next?")
    assert list(going_on) == [new, old]
    assert going_on[old].evidence["recent"].strength < going_on[new].evidence["recent"].strength == 1.0
    asking = hits(lore, "What is the plan for the walrus?")
    assert asking[new].evidence["recent"].strength == asking[old].evidence["recent"].strength == 0.0


def test_the_turn_after_one_that_fits_is_found_though_others_are_more_like_the_question(lore: Lore) -> None:
    asked = say(lore, "where does the walrus sleep in winter?", "one")
    answer = say(lore, "in winter mostly beneath that jetty", "one")
    lore.link([Tie(source=asked, target=answer, kind="temporal")])
    for number in range(80):
        say(lore, f"the walrus counts fish in winter {number}", f"other {number}")
    assert answer in hits(lore, "where does the walrus sleep in winter?", limit=64)
