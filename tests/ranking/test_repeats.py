"""Each fact once: a memory stands for the turns that say it, and a question is no answer."""

import pytest

from lore.ranking.repeats import Statement, asks_again, repeats

QUESTION = "When is the release branch cut?"
TURN = "Well, I talked to Ines: the release branch is cut every second Thursday, as before. Shall we go on?"
FACT = "The release branch is cut every second Thursday."
LONG = "Ines runs the staging cluster from Hamburg and pays for it. " + TURN
OTHER_VALUE = "The release branch is cut every 3rd Thursday, and that goes for all nine teams of the house"


def turn(text: str, id: str = "turn") -> Statement:
    return Statement(id=id, text=text, verbatim=True)


def fact(text: str, id: str = "fact", distilled: bool = True) -> Statement:
    return Statement(id=id, text=text, distilled=distilled)


@pytest.mark.parametrize(
    ("memory", "said", "stands"),
    [
        (FACT, TURN, True),
        (FACT, LONG, True),
        ("The release branch is cut by Ines and reviewed by Tom", TURN, False),
        ("The release branch is not cut every second Thursday", TURN, False),
        (OTHER_VALUE, OTHER_VALUE.replace("3rd", "second"), False),
        ("Release Thursday", TURN, False),
    ],
    ids=["same", "a part of it", "says more", "denies it", "another value", "too short"],
)
@pytest.mark.parametrize("first", ["turn", "fact"])
def test_a_memory_stands_for_the_turn_that_says_the_same(
    memory: str, said: str, stands: bool, first: str
) -> None:
    ranked = [turn(said), fact(memory)] if first == "turn" else [fact(memory), turn(said)]
    assert repeats(QUESTION, ranked).stands_for == ({"fact": ["turn"]} if stands else {})


def test_a_turn_that_answers_more_of_the_question_stays_before_the_memory_made_of_it() -> None:
    asked = "Who pays for the staging cluster?"
    found = repeats(asked, [turn(LONG), fact(FACT)])
    assert (found.stands_for, found.lesser) == ({}, {"fact"})
    assert repeats(asked, [turn(LONG), fact(FACT, distilled=False)]).lesser == set()


@pytest.mark.parametrize(
    ("correction", "corrects"),
    [
        ("The rate limit of Zephyr was 100 requests, it is 250 requests.", True),
        ("The rate limit of Zephyr moved away from 100 requests.", True),
        ("OK, the rate limit of Zephyr is 100 requests.", False),
    ],
)
def test_a_newer_turn_that_may_correct_a_memory_is_not_replaced_by_it(
    correction: str, corrects: bool
) -> None:
    memory = Statement(id="fact", text="The rate limit of Zephyr is 100 requests", at=1.0)
    asked = "What is the rate limit of Zephyr?"
    newer, older = (Statement(id="turn", text=correction, verbatim=True, at=at) for at in (2.0, 0.0))
    assert repeats(asked, [newer, memory]).stands_for == ({} if corrects else {"fact": ["turn"]})
    assert repeats(asked, [older, memory]).stands_for == {"fact": ["turn"]}


def test_a_memory_stands_for_the_turn_it_is_known_to_come_from_in_other_words() -> None:
    memory = Statement(id="fact", text="Release branch cut: Thursdays, biweekly", turns=frozenset({"turn"}))
    assert repeats(QUESTION, [turn(TURN), memory]).stands_for == {"fact": ["turn"]}


def test_a_heading_that_only_repeats_memories_is_covered() -> None:
    overview = Statement(id="top", text=f"{FACT} Tom reviews it.", distilled=True, heading=True)
    reviewed = fact("Tom reviews the release.", "reviewed")
    assert repeats(QUESTION, [overview, fact(FACT), reviewed]).covered == {"top": "fact"}
    assert repeats(QUESTION, [overview, fact(FACT)]).covered == {}
    assert repeats("Who reviews the branch?", [overview, fact(FACT), reviewed]).covered == {}


@pytest.mark.parametrize(
    ("text", "again"),
    [
        ("When is the release branch cut?", True),
        ("when do we cut the release branch", True),
        ("When is the release-branch (release.yaml) cut", True),
        ("Please check your memory. When is the release branch cut?", True),
        ("When is the release branch cut? Every second Thursday.", False),
        ("The release branch cut", False),
        ("When is the winter festival, and is the release branch cut before?", False),
    ],
)
def test_a_text_that_only_asks_the_same_is_recognised(text: str, again: bool) -> None:
    assert asks_again(QUESTION, text) == again


def test_a_distilled_memory_gives_way_to_a_stored_one_that_says_the_same() -> None:
    distilled = fact(f"We decided that {FACT}", id="distilled")
    stored = fact(FACT, id="stored", distilled=False)
    assert repeats(QUESTION, [distilled, stored]).covered == {"distilled": "stored"}
    assert repeats(QUESTION, [distilled, fact(OTHER_VALUE, id="stored", distilled=False)]).covered == {}


def test_of_twins_only_the_best_hit_stays() -> None:
    twins = [Statement(id=id, text=FACT, twin_key="same") for id in ("first", "second")]
    assert repeats(QUESTION, twins).covered == {"second": "first"}
    assert repeats(QUESTION, [Statement(id=id, text=FACT) for id in ("first", "second")]).covered == {}
