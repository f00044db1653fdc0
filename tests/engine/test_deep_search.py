"""deepen: from what a search finds, names and links lead on to what shares no words with the question."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from lore import Draft, Filter, Hit, Lore, Query, Tie
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.engine.deep_search import DECIDES, HUB
from lore.model import Cause, Revision
from lore.ranking.policy import POLICIES
from tests.engine.test_embed import Missing

PLAY = "The Rivals was written by Richard Sheridan."
AUTHOR = "Richard Sheridan grew up beside Dorset Street."
STREET = "Dorset Street has forty lamps."
STRANGERS = ("Zeppelin is filled with helium.", "Quartz can be cut.", "an unrelated xylophone")
ASKED = Query(text="Who made The Rivals?", deep=True, counted=False)


@pytest.fixture
def speechless(config: Config, clock: Clock) -> Iterator[Lore]:
    """A Lore without a model."""
    opened = wire(config, embedder=Missing(), clock=clock)
    yield opened
    opened.close()


def keep(lore: Lore, *contents: str) -> list[str]:
    return [lore.remember(Draft(content=content)).id for content in contents]


def found(lore: Lore, query: Query = ASKED) -> list[str]:
    return [hit.memory.content for hit in lore.search(query).hits]


def hits_of(lore: Lore, query: Query = ASKED) -> dict[str, Hit]:
    return {hit.memory.content: hit for hit in lore.search(query).hits}


def ways(lore: Lore, query: Query = ASKED) -> list[tuple[str, str]]:
    return [(hit.memory.content, hit.via) for hit in lore.search(query).hits]


# --- names


def test_names_lead_from_fact_to_fact_in_order_and_every_hit_tells_its_way(lore: Lore) -> None:
    keep(lore, STREET, *STRANGERS, AUTHOR, PLAY)
    lore.embed_pending()
    assert found(lore, replace(ASKED, deep=False)) == [PLAY]
    assert ways(lore) == [(PLAY, "rivals"), (AUTHOR, "richard sheridan"), (STREET, "dorset street")]


def test_names_lead_on_from_the_best_hits_if_the_question_has_none(lore: Lore) -> None:
    keep(lore, STREET, *STRANGERS, AUTHOR, PLAY)
    lore.embed_pending()
    told = ways(lore, replace(ASKED, text="written by whom?"))
    assert told == [(PLAY, ""), (AUTHOR, "richard sheridan"), (STREET, "dorset street")]


def test_names_lead_on_while_memories_wait_for_their_vectors(lore: Lore) -> None:
    keep(lore, PLAY, AUTHOR, STREET, *STRANGERS)
    assert lore.search(ASKED).pending == 6
    assert found(lore) == [PLAY, AUTHOR, STREET]


def test_names_lead_on_without_a_model(speechless: Lore) -> None:
    keep(speechless, PLAY, AUTHOR, STREET, *STRANGERS)
    assert speechless.search(ASKED).embedding_state == "missing"
    assert found(speechless) == [PLAY, AUTHOR, STREET]


def test_names_lead_to_what_was_given_one_later(lore: Lore) -> None:
    _, late = keep(lore, PLAY, "forty lamps")
    lore.embed_pending()
    assert found(lore) == [PLAY]
    lore.revise(Revision(id=late, title="Richard Sheridan"))
    assert ways(lore) == [(PLAY, "rivals"), ("forty lamps", "richard sheridan")]


ADA, BOB = "Ada Stone lives in Cork.", "Bob Field lives in Cork."


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [("Who was the producer of The Rivals?", ADA, BOB), ("Who was directing The Rivals?", BOB, ADA)],
)
def test_a_name_beside_a_word_of_the_question_is_preferred(
    question: str, first: str, second: str, lore: Lore
) -> None:
    play = "The Rivals was produced with much money by Ada Stone, and later the director became Bob Field."
    keep(lore, play, ADA, BOB)
    lore.embed_pending()
    assert found(lore, replace(ASKED, text=question)) == [play, first, second]


def test_a_name_counts_where_most_words_of_the_question_stand_beside_it(lore: Lore) -> None:
    play = (
        "The Rivals was seen by Ada Stone and much later by Bob Field, who was old and grey by then, as was"
        " everybody in those years, while the great producer of it all was Ada Stone."
    )
    keep(lore, play, ADA, BOB)
    lore.embed_pending()
    assert found(lore, replace(ASKED, text="Who was the producer of The Rivals?")) == [play, ADA, BOB]


def test_words_of_a_name_in_the_question_do_not_tell_which_way_to_go(lore: Lore) -> None:
    works = (
        "Lamp Works was sold by Ada Stone, and much later, after a long winter, the director was Bob Field."
    )
    keep(lore, works, ADA, BOB)
    lore.embed_pending()
    assert found(lore, replace(ASKED, text="Who was directing Lamp Works?")) == [works, BOB, ADA]


def test_of_several_with_the_same_name_one_less_like_the_question_is_left_to_few_walkers(lore: Lore) -> None:
    born, cake = "Richard Sheridan was born somewhere.", "Richard Sheridan could bake any cake on earth."
    keep(lore, cake, born)
    lore.embed_pending()
    hits = hits_of(lore, replace(ASKED, text="Where was Richard Sheridan born?"))
    assert hits[born].evidence["walk"].strength == 1.0
    assert 0 < hits[cake].evidence["walk"].strength ** 2 < 0.5


def test_a_memory_does_not_lead_to_others_about_the_same(lore: Lore) -> None:
    lantern, other = keep(lore, "Dorset Street has a lantern.", "Dorset Street is of cobbles.")
    lore.embed_pending()
    assert [hit.memory.id for hit in lore.search(Query(text="lantern", deep=True)).hits] == [lantern]
    lore.link([Tie(source=lantern, target=other)])
    assert len(found(lore, Query(text="lantern", deep=True))) == 2


def test_no_way_leads_back_to_what_the_question_names(lore: Lore) -> None:
    """Half of the walkers go on at each step: all of them to the street, or half of them back to the play."""
    author = "Richard Sheridan left The Rivals for Dorset Street."
    keep(lore, PLAY, author, STREET)
    lore.embed_pending()
    hits = hits_of(lore)
    walkers = {content: hit.evidence["walk"].strength ** 2 for content, hit in hits.items()}
    assert walkers[STREET] / walkers[author] > 1 / 3


@pytest.mark.parametrize(("crowd", "reached"), [(HUB, HUB), (HUB + 1, 0)])
def test_a_name_of_too_many_memories_leads_nowhere(crowd: int, reached: int, lore: Lore) -> None:
    drafts = [Draft(content=f"lamp {n}", title="Richard Sheridan") for n in range(crowd)]
    lore.remember_all([*drafts, Draft(content=PLAY)])
    lore.embed_pending()
    assert found(lore, replace(ASKED, limit=1_000))[0] == PLAY
    assert len(found(lore, replace(ASKED, limit=1_000))) == 1 + reached


def test_a_word_of_the_question_is_a_name_if_it_is_written_as_one(lore: Lore) -> None:
    lore.remember(Draft(content="It sleeps on the ice.", title="Walrus"))
    lore.remember(Draft(content="Ice can be cut."))
    lore.embed_pending()
    weights = {
        text: lore.search(replace(ASKED, text=text)).hits[0].evidence["walk"].weight
        for text in ("where does the Walrus sleep?", "where does the walrus sleep?")
    }
    assert list(weights.values()) == [DECIDES, POLICIES["lore"].walk]


def test_what_is_named_counts_less_than_the_plain_order_if_the_best_hit_is_about_something_else(
    lore: Lore,
) -> None:
    keep(
        lore,
        "Tallinn was the harbour where the old walrus slept that night on the ice.",
        "the old walrus slept",
        "Anna Berg is a baker.",
        "Anna Berg owns Bread Lane.",
    )
    keep(lore, "Bread Lane is narrow.")
    lore.embed_pending()
    query = replace(ASKED, text="Did Anna Berg see where the old walrus slept that night on the ice?")
    plain = found(lore, replace(query, deep=False))
    assert found(lore, query)[: len(plain)] == plain
    assert {hit.evidence["walk"].weight for hit in lore.search(query).hits} == {POLICIES["lore"].walk}
    assert found(lore, query)[-1] == "Bread Lane is narrow."


# --- links


def test_names_and_links_lead_on_from_each_other(lore: Lore) -> None:
    street, maker, lamps, play = keep(
        lore, STREET, "Lamp Works is old.", "a hundred lanterns from Lamp Works", PLAY
    )
    lit = Tie(source=play, target=lamps, kind="relation", type="lit_by")
    lore.link([lit, Tie(source=street, target=maker)])
    lore.embed_pending()
    told = dict(ways(lore))
    assert list(told)[:2] == [PLAY, "a hundred lanterns from Lamp Works"]
    del told[PLAY]
    assert told == {
        "a hundred lanterns from Lamp Works": "lit by",
        "Lamp Works is old.": "lamp works",
        STREET: "associative",
    }


@pytest.mark.parametrize(
    ("question", "first", "second"),
    [("Who was producing The Rivals?", ADA, BOB), ("Who gave the reason for The Rivals?", BOB, ADA)],
)
def test_a_link_whose_type_or_reason_has_a_word_of_the_question_is_preferred(
    question: str, first: str, second: str, lore: Lore
) -> None:
    play, ada, bob = keep(lore, "The Rivals was new.", ADA, BOB)
    produced = Tie(source=play, target=ada, kind="relation", type="produced_by")
    lore.link([produced, Tie(source=bob, target=play, reason="it was the reason")])
    lore.embed_pending()
    assert found(lore, replace(ASKED, text=question)) == ["The Rivals was new.", first, second]


@pytest.mark.parametrize(
    "tie",
    [Tie(source="", target="", weight=0.0), Tie(source="", target="", kind="hierarchical")],
    ids=["without weight", "to a child"],
)
def test_other_links_lead_nowhere(tie: Tie, lore: Lore) -> None:
    play, lamps = keep(lore, "The Rivals was new.", "forty lamps")
    lore.link([replace(tie, source=play, target=lamps)])
    lore.embed_pending()
    assert found(lore) == ["The Rivals was new."]


# --- what may be reached

PASSING: dict[str, Filter] = {
    "kind": Filter(kinds=frozenset({"note"})),
    "other kinds": Filter(other_kinds=frozenset({"turn"})),
    "project": Filter(projects=frozenset({"ferry"})),
    "type": Filter(types=frozenset({"fact"})),
}


@pytest.mark.parametrize("where", PASSING.values(), ids=PASSING)
@pytest.mark.parametrize("linked", [False, True], ids=["by name", "by link"])
def test_a_walk_reaches_only_what_passes_the_filter(where: Filter, linked: bool, lore: Lore) -> None:
    play = lore.remember(Draft(content=PLAY, type="fact", project="ferry")).id
    other = lore.remember(Draft(content=AUTHOR, kind="turn", project="tug")).id
    same = lore.remember(Draft(content="Richard Sheridan was a wit.", type="fact", project="ferry")).id
    if linked:
        lore.link([Tie(source=play, target=end) for end in (other, same)])
    lore.embed_pending()
    assert set(found(lore)) == {PLAY, AUTHOR, "Richard Sheridan was a wit."}
    assert found(lore, replace(ASKED, where=where)) == [PLAY, "Richard Sheridan was a wit."]


def test_names_do_not_lead_through_what_the_filter_leaves_out(lore: Lore) -> None:
    lore.remember(Draft(content=AUTHOR, kind="turn"))
    keep(lore, PLAY, STREET)
    lore.embed_pending()
    assert found(lore) == [PLAY, AUTHOR, STREET]
    assert found(lore, replace(ASKED, where=Filter(kinds=frozenset({"note"})))) == [PLAY]


def test_a_walk_reaches_only_the_ids_that_are_asked_for(lore: Lore) -> None:
    play, author, _ = keep(lore, PLAY, AUTHOR, STREET)
    lore.link([Tie(source=play, target=author)])
    lore.embed_pending()
    assert found(lore, replace(ASKED, where=Filter(ids=(play, author)))) == [PLAY, AUTHOR]
    assert found(lore, replace(ASKED, where=Filter(ids=(play,)))) == [PLAY]


def test_names_do_not_lead_to_the_forgotten_or_through_it(lore: Lore) -> None:
    _, author, _ = keep(lore, PLAY, AUTHOR, STREET)
    lore.embed_pending()
    lore.forget([author])
    assert found(lore) == [PLAY]
    lore.restore([author])
    assert found(lore) == [PLAY, AUTHOR, STREET]


def test_names_do_not_lead_to_the_outdated_unless_asked_for(lore: Lore) -> None:
    play, author, _ = keep(lore, PLAY, AUTHOR, STREET)
    lore.embed_pending()
    with lore.store.transaction("shared", Cause(verb="test"), lore.clock()) as writer:
        writer.put([replace(writer.get([author])[author], superseded_by=play)])
    assert found(lore) == [PLAY]
    assert found(lore, replace(ASKED, where=Filter(superseded=True))) == [PLAY, AUTHOR, STREET]


def test_names_lead_a_reader_to_its_own_and_the_shared_never_to_anothers(lore: Lore) -> None:
    mine, theirs = lore.for_namespace("mine"), lore.for_namespace("theirs")
    keep(lore, PLAY)
    keep(theirs, AUTHOR)
    keep(mine, "Richard Sheridan was a wit.")
    lore.embed_pending()
    assert found(lore) == [PLAY]
    assert found(mine) == [PLAY, "Richard Sheridan was a wit."]
    assert found(theirs) == [PLAY, AUTHOR]


def test_a_walk_from_nothing_leads_nowhere(lore: Lore) -> None:
    assert found(lore) == []
    keep(lore, AUTHOR, STREET)
    lore.embed_pending()
    assert found(lore) == []


# --- scores


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("text", ["Who made The Rivals?", "written by whom?"], ids=["named", "not named"])
def test_the_reasons_of_every_hit_add_up(policy: str, text: str, lore: Lore, clock: Clock) -> None:
    keep(lore, PLAY, AUTHOR, STREET, *STRANGERS)
    lore.embed_pending()
    clock.sleep(days=3)
    hits = hits_of(lore, replace(ASKED, text=text, policy=policy))
    assert hits.keys() >= {PLAY, AUTHOR, STREET}
    for hit in hits.values():
        points = sum(signal.points for signal in hit.signals.values())
        assert hit.score == pytest.approx(hit.fade * points)
        assert 0 <= hit.evidence["walk"].strength <= 1
    assert max(hit.evidence["walk"].strength for hit in hits.values()) == 1.0


def test_a_walk_keeps_to_the_limit_and_the_threshold(lore: Lore) -> None:
    keep(lore, PLAY, AUTHOR, STREET)
    lore.embed_pending()
    query = replace(ASKED, text="written by whom?")
    answer = lore.search(replace(query, limit=2))
    assert ([hit.memory.content for hit in answer.hits], answer.cut) == ([PLAY, AUTHOR], 1)
    _, author, street = (hit.score for hit in lore.search(query).hits)
    assert found(lore, replace(query, min_score=(author + street) / 2)) == [PLAY, AUTHOR]
    assert found(lore, replace(query, min_score=author)) == [PLAY, AUTHOR]
    assert found(lore, replace(query, min_score=street)) == [PLAY, AUTHOR, STREET]


def test_a_walk_among_the_forgotten_needs_no_vector(lore: Lore) -> None:
    _, author = keep(lore, PLAY, AUTHOR)
    lore.forget([author])
    assert found(lore, replace(ASKED, where=Filter(forgotten=True))) == [PLAY, AUTHOR]


def test_a_deep_search_does_not_bring_a_conversation_back_beside_its_turns(lore: Lore) -> None:
    lore.remember(Draft(content="walrus and ice", title="Tusk Talk", kind="session", session="s1"))
    lore.remember(Draft(content="we saw a seal in Tusk Talk", kind="turn", session="s1"))
    lore.embed_pending()
    assert found(lore, Query(text="seal", deep=True)) == ["we saw a seal in Tusk Talk"]


def test_a_threshold_is_compared_with_the_score_that_is_shown(lore: Lore) -> None:
    keep(lore, PLAY, AUTHOR)
    lore.embed_pending()
    play, author = (hit.score for hit in hits_of(lore).values())
    assert found(lore, replace(ASKED, min_score=author)) == [PLAY, AUTHOR]
    assert found(lore, replace(ASKED, min_score=play)) == [PLAY]


def test_a_name_is_no_hub_for_what_nobody_can_see(lore: Lore) -> None:
    keep(lore, PLAY, AUTHOR)
    lore.for_namespace("theirs").remember_all(
        [Draft(content=f"lamp {n}", title="Richard Sheridan") for n in range(60)]
    )
    assert found(lore) == [PLAY, AUTHOR]


def test_a_name_is_no_hub_for_what_is_forgotten(lore: Lore) -> None:
    keep(lore, PLAY, AUTHOR)
    gone = [lore.remember(Draft(content=f"lamp {n}", title="Richard Sheridan")) for n in range(60)]
    lore.forget([memory.id for memory in gone])
    assert found(lore) == [PLAY, AUTHOR]


def test_where_the_least_score_is_asked_unfaded_the_best_hit_stays(lore: Lore, clock: Clock) -> None:
    keep(lore, PLAY, AUTHOR)
    lore.embed_pending()
    clock.sleep(days=200)
    query = replace(ASKED, policy="scored", min_score=0.3)
    assert found(lore, replace(query, deep=False)) == [PLAY]
    assert found(lore, query)[0] == PLAY


def test_what_a_walk_reaches_fades_as_everything_else(lore: Lore, clock: Clock) -> None:
    keep(lore, PLAY, AUTHOR)
    lore.embed_pending()
    clock.sleep(days=200)
    assert hits_of(lore, replace(ASKED, policy="scored", min_score=0.3))[AUTHOR].fade < 1


def test_a_direct_hit_does_not_claim_to_be_reached(lore: Lore) -> None:
    play, lamps = keep(lore, "The Rivals was new.", "forty lamps")
    lore.link([Tie(source=play, target=lamps, kind="relation", type="lit_by")])
    lore.embed_pending()
    assert hits_of(lore)["The Rivals was new."].via == "rivals"
