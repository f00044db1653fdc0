"""A newer statement outdates an older one about the same thing, and leaves alone what can stand beside it."""

import random
from dataclasses import replace

import pytest

from lore.ranking.claims import (
    Outdated,
    claims,
    contradicts,
    keys,
    outdated,
    sentences,
    shares,
)
from lore.ranking.claims.values import agree, kind_of, plain
from tests.ranking.claim_pairs import (
    COMPATIBLE,
    CONFLICTS,
    LAST_COMPATIBLE,
    LAST_CONFLICTS,
    MORE_COMPATIBLE,
    MORE_CONFLICTS,
    TRAPS,
)

CONTRADICTING = CONFLICTS + MORE_CONFLICTS + LAST_CONFLICTS
STANDING_TOGETHER = COMPATIBLE + MORE_COMPATIBLE + TRAPS + LAST_COMPATIBLE
ALL = CONTRADICTING + STANDING_TOGETHER
SAID_TO_CHANGE = (
    "now",
    "no longer",
    "any more",
    "used to",
    "moved",
    "switched",
    "replaced",
    "instead",
    "renamed",
)


def pairs(*texts: str) -> list[tuple[str, str]]:
    """Older and newer text of each pair found among texts, told in this order."""
    found = outdated((text, text, at) for at, text in enumerate(texts))
    return [(pair.older, pair.newer) for pair in found]


def test_the_newer_statement_outdates_the_older() -> None:
    assert [pair for pair in CONTRADICTING if pair not in pairs(*pair)] == []


def test_statements_that_can_both_be_true_outdate_nothing() -> None:
    assert [pair for pair in STANDING_TOGETHER if pairs(*pair)] == []


def test_statements_that_can_both_be_true_outdate_nothing_in_the_other_order_either() -> None:
    reversible = [pair for pair in STANDING_TOGETHER if not pair[1].startswith(("We now", "The team now"))]
    assert [(older, newer) for older, newer in reversible if pairs(newer, older)] == []


def test_without_a_word_of_change_the_order_does_not_matter() -> None:
    plain_pairs = [pair for pair in CONTRADICTING if not any(word in pair[1] for word in SAID_TO_CHANGE)]
    assert plain_pairs
    assert [(older, newer) for older, newer in plain_pairs if not pairs(newer, older)] == []


def test_no_statement_contradicts_itself() -> None:
    for text in {text for pair in ALL for text in pair}:
        assert not any(contradicts(one, other) for one in claims(text) for other in claims(text)), text
        assert outdated([("a", text, 1), ("b", text, 2)]) == [], text


@pytest.mark.parametrize(
    "text",
    [
        "It is located in Rome.",
        "Is the port 80?",
        "If the port is 80, stop.",
        "Perhaps Anna works at Bosch.",
        "Set the port to 80!",
        "Der Port ist 80.",
        "Der Server läuft in Berlin.",
        "Anna trabaja en Bosch.",
        "安娜住在柏林。",
        "أنا أعيش في برلين.",
        "",
        " \n\t",
        "?!…",
    ],
)
def test_questions_doubts_orders_and_other_languages_claim_nothing(text: str) -> None:
    assert claims(text) == []


def test_a_claim_has_the_key_and_the_value_as_written() -> None:
    [claim] = claims("The default port of Foo is 8080.")
    assert (claim.key, claim.value) == ("default port of foo ·", "8080")


@pytest.mark.parametrize(
    "text",
    [
        "The CEO of Acme is Maria.",
        "Acme's CEO is Maria.",
        "Maria is the CEO of Acme.",
        "Maria is Acme’s CEO!",
    ],
)
def test_one_key_for_one_attribute_however_it_is_said(text: str) -> None:
    assert "ceo of acme ·" in keys(text)


def test_a_chain_outdates_one_after_the_other() -> None:
    first, second, third = (f"The default port is {port}." for port in (1, 2, 3))
    assert pairs(first, second, third) == [(first, second), (second, third)]


def test_all_who_say_the_old_value_are_outdated() -> None:
    old = [(f"old{number}", "Anna works at Siemens.", number) for number in range(100)]
    found = outdated([*old, ("new", "Anna works at Bosch.", 100)])
    assert {pair.older for pair in found} == {id for id, _, _ in old}
    assert {pair.newer for pair in found} == {"new"}


def test_time_decides_not_the_order_of_arrival() -> None:
    found = outdated([("late", "The default port is 2.", 9), ("early", "The default port is 1.", 3)])
    assert [(pair.older, pair.newer) for pair in found] == [("early", "late")]


def test_a_pair_of_claims_names_the_reason() -> None:
    def why(older: str, newer: str) -> set[str]:
        return {pair.why for pair in outdated([("a", older, 1), ("b", newer, 2)])}

    assert why("Tom lives in York.", "Tom lives in Leeds.") == {"another value"}
    assert why("Tom lives in York.", "Tom now lives in Leeds.") == {"changed"}


def test_what_used_to_be_can_come_back_without_making_the_past_untrue() -> None:
    assert pairs("Anna used to work at Siemens.", "Anna works at Siemens.") == []


def test_a_long_text_is_outdated_only_in_part() -> None:
    long = "Anna works at Siemens. " + "She told us much about the beginnings of her career. " * 9
    [share] = shares(outdated([("long", long, 1), ("new", "Anna works at Bosch.", 2)])).values()
    assert 0 < share < 0.1
    assert shares(outdated([("a", "Anna works at Bosch.", 1), ("b", "Anna works at BMW.", 2)])) == {"a": 1.0}


def test_a_sentence_that_is_outdated_twice_counts_once() -> None:
    pair = Outdated(older="old", newer="b", key="k", why="changed", part=0, share=0.5)
    assert shares([pair, replace(pair, newer="c")]) == {"old": 0.5}
    assert shares([pair, replace(pair, part=1)]) == {"old": 1.0}


def test_behind_another_sentence_a_bare_noun_means_something_else() -> None:
    assert claims("The default port is 80.")
    assert not claims("We looked at Foo. The default port is 80.")
    assert claims("We looked at Foo. The default port of Foo is 80.")


def test_code_and_labelled_lines_within_a_text_state_nothing() -> None:
    assert not claims("def port():\n    return value is None\n\nprint(port)")
    assert not claims("Plan\nDuration: 10 min\nCost: 5 euros")


def test_only_texts_with_a_common_key_can_outdate_each_other() -> None:
    for older, newer in ALL:
        if pairs(older, newer):
            assert keys(older) & keys(newer)


def test_asking_with_the_filed_ones_is_asking_with_all() -> None:
    texts = [text for pair in CONFLICTS + COMPATIBLE for text in pair]
    statements = [(str(at), text, float(at)) for at, text in enumerate(texts)]
    new = ("new", "The default port is 7.", 1e9)
    everything = [pair for pair in outdated([*statements, new]) if pair.newer == "new"]
    filed = [statement for statement in statements if keys(statement[1]) & keys(new[1])]
    assert len(filed) < 5
    assert [pair for pair in outdated([*filed, new]) if pair.newer == "new"] == everything != []


def test_sentences_end_where_they_end() -> None:
    assert sentences("Mr. Bean met Dr. No. He left.\n- One point\n2. Two") == [
        "Mr. Bean met Dr. No.",
        "He left.",
        "One point",
        "Two",
    ]


@pytest.mark.parametrize("seed", range(20))
def test_any_text_is_read_without_complaint(seed: int) -> None:
    dice = random.Random(seed)
    parts = [
        *" \n\t.,:;=?!\"'“”()[]#*-_/\\'s0123aZéß中\u0301\u200b\ud800",
        " is ",
        " of ",
        "The ",
        " was born in ",
        "my ",
    ]
    parts += [
        " no longer ",
        " used to ",
        " from ",
        " to ",
        " now",
        "In 2019 ",
        " and ",
        " listens on ",
        "I ",
        "X's ",
    ]
    for _ in range(200):
        text = "".join(dice.choices(parts, k=dice.randrange(60)))
        found = claims(text)
        assert all(claim.key and 0 < claim.share <= 1 for claim in found)
        assert keys(text) == {claim.key for claim in found}


def test_a_text_does_not_outdate_itself() -> None:
    assert outdated([("a", "Anna works at Siemens. Anna works at Bosch.", 1)]) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("New York", "New York City"),
        ("the First Bank", "First Bank"),
        ("Python 3", "Python 3.12"),
        ("1.5 hours", "90 minutes"),
        ("1 GB", "1024 MB"),
        ("twelve", "12"),
        ("red, green and blue", "blue, red and green"),
        ("Jane Austen", "J. Austen"),
        ("NYC", "New York City"),
        ("the United States of America", "USA"),
        ("Zürich", "ZURICH"),
        ("about 30", "30"),
        ("apple", "apples"),
        ("…", "apples"),
    ],
)
def test_values_that_agree(one: str, other: str) -> None:
    assert agree(one, other)
    assert agree(other, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("8080", "9090"),
        ("Python 3.11", "Python 3.12"),
        ("1 hour", "61 seconds"),
        ("jazz", "J-pop"),
        ("Jane Austen", "Jane Eyre"),
        ("https://a.example.com", "https://b.example.com"),
        ("Berlin", "Munich"),
        ("10.0.0.4", "10.0.0.9"),
        ("red and blue", "red and green"),
    ],
)
def test_values_that_differ(one: str, other: str) -> None:
    assert not agree(one, other)
    assert not agree(other, one)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("3 pm", "hour"), ("10:30", "hour"), ("Monday", "day"), ("3 May", "date"), ("1999", "date"),
        ("port 80", "port"), ("$5", "number"), ("the USA", "country"), ("Texas", "state"),
        ("Europe", "continent"),         ("Berlin", ""), ("db_1", ""), ("memory", "word"),
    ],
)  # fmt: skip
def test_the_kind_of_a_value(value: str, kind: str) -> None:
    assert kind_of(value) == kind


def test_plain_has_one_spelling() -> None:
    assert plain("The  Café's Colour!") == plain("cafe color")
