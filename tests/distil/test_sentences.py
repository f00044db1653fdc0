"""Prose out of Markdown, one statement at a time."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.distil.sentences import LONGEST, sentences_of


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("The port is 8080. The host is a proxy.", ["The port is 8080.", "The host is a proxy."]),
        ("We run 3.12.1 on staging. See docs/a.md now.", ["We run 3.12.1 on staging.", "See docs/a.md now."]),
        (
            "Call `a.b. c()` before that. All is well then.",
            ["Call `a.b. c()` before that.", "All is well then."],
        ),
        ("Use a cache, e.g. Redis, for that.", ["Use a cache, e.g. Redis, for that."]),
        ("Das gilt z.B. für Exporte am 3. März 2026.", ["Das gilt z.B. für Exporte am 3. März 2026."]),
        ("It polls every 500 ms. It never sleeps.", ["It polls every 500 ms.", "It never sleeps."]),
        (
            "Look at https://a.example/b.c?d=e. It is down.",
            ["Look at https://a.example/b.c?d=e.", "It is down."],
        ),
        ("部署在东京的服务器上。端口是八千零八十！", ["部署在东京的服务器上。", "端口是八千零八十！"]),
        ("it is lower case. and goes on here", ["it is lower case.", "and goes on here"]),
        ("The **queue** is [here](http://a.b) for __now__.", ["The queue is here for now."]),
        ("It is under services/<name>/sql <br> for now.", ["It is under services/<name>/sql for now."]),
        ("snake_case_name stays whole here.", ["snake_case_name stays whole here."]),
    ],
)
def test_sentences_end_where_they_end(text: str, sentences: list[str]) -> None:
    assert sentences_of(text) == sentences


def test_code_tables_and_quotes_are_left_out() -> None:
    code = "```python\nx = 1. Not a sentence.\n```"
    text = f"Before the code.\n{code}\n| a | b |\n> quoted words of others\nAfter the code."
    assert sentences_of(text) == ["Before the code.", "After the code."]


def test_a_fence_that_is_never_closed_hides_the_rest() -> None:
    assert sentences_of("Before the code.\n~~~\nx is one and y is two.") == ["Before the code."]


def test_a_short_list_stays_with_its_introduction() -> None:
    assert sentences_of("We need three parts:\n\n- a queue\n- a worker.\n1. a clock") == [
        "We need three parts: a queue; a worker; a clock."
    ]


def test_a_paragraph_after_an_introduction_stands_alone() -> None:
    text = "I would propose this:\n```\nsrc/\n```\n\nOrders import invoices already."
    assert sentences_of(text) == ["Orders import invoices already."]


def test_a_long_list_is_a_statement_per_item() -> None:
    items = [f"Part {number} is new." for number in range(8)]
    assert sentences_of("\n".join(["The parts are:", *(f"- {item}" for item in items)])) == items


@pytest.mark.parametrize(
    "text",
    [
        "Sure!",
        "Great question!",
        "ok",
        "",
        "word " * (LONGEST // 5 + 1),
    ],
)
def test_what_is_only_polite_or_too_short_or_too_long_is_no_sentence(text: str) -> None:
    assert sentences_of(text) == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Sure, the port is 8080.", "The port is 8080."),
        ("You're right, sorry about that! The port is 8443.", "The port is 8443."),
        ("Perfect. btw never use sleep there", "Never use sleep there"),
        ("My friend, the port is 8080.", "The port is 8080."),
        ("Alright, the port is 8080.", "The port is 8080."),
        ("Super. Wir haben das entschieden.", "Wir haben das entschieden."),
    ],
)
def test_polite_words_before_a_statement_are_taken_off(text: str, left: str) -> None:
    assert sentences_of(text) == [left]


def test_short_lines_without_an_end_are_not_joined_to_one_sentence() -> None:
    assert sentences_of("About our company\nThe shop opens at nine.") == [
        "About our company",
        "The shop opens at nine.",
    ]
    wrapped = "This line was wrapped by an editor because it is longer than the\nRhine bridge."
    assert sentences_of(wrapped) == [wrapped.replace("\n", " ")]


@given(st.text(alphabet=st.characters() | st.sampled_from("`*#-|>.!?\n 。"), max_size=400))
def test_any_text_has_sentences_that_are_short_and_different(text: str) -> None:
    found = sentences_of(text)
    assert len(set(found)) == len(found)
    assert all(one.strip() and len(one) <= LONGEST for one in found)
