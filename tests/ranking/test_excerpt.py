"""The excerpt: what a reader sees of a long memory is the passage that the query asks about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.ranking.excerpt import excerpt

FILLER = "The meeting went on for a while and nobody decided anything. " * 30
PLAN = f"{FILLER}Ines moved the nightly backup to Frankfurt on Tuesday. It takes nine minutes now. {FILLER}"


def test_a_short_text_comes_back_whole_with_its_lines() -> None:
    assert excerpt("Two  words\t here.\r\n\r\n  - a point\n", "unrelated") == "Two words here.\n  - a point"


def test_the_passage_holds_the_sentence_that_answers_and_its_neighbours() -> None:
    found = excerpt(PLAN, "where do we back up at night? nightly backups", width=160)
    assert "Ines moved the nightly backup to Frankfurt on Tuesday. It takes nine minutes now." in found
    assert found.startswith("… The meeting")
    assert found.endswith("now. …")
    assert len(found) <= 160


def test_words_match_in_other_forms() -> None:
    text = f"{FILLER}She directs the archive. {FILLER}"
    assert "She directs the archive." in excerpt(text, "who was the director", width=80)


@pytest.mark.parametrize(
    ("identifier", "twin"),
    [
        ("INC-4711", "INC-47110"),
        ("src/lore/names.py", "src/lore/names.pyi"),
        ("read_again", "read_again2"),
        ("EPIPE", "EPIPELINE"),
    ],
)
def test_an_exact_identifier_outweighs_many_common_words(identifier: str, twin: str) -> None:
    incidents = "The incident in the payment queue was closed after a restart. "
    text = f"{incidents}{twin} is another. {FILLER}Then {identifier} came up. {FILLER}{incidents}"
    found = excerpt(text, f"incident {identifier} payment queue closed restart", width=100)
    assert f"Then {identifier} came up." in found


def test_rare_words_outweigh_frequent_ones() -> None:
    text = (
        "The server answers requests. " * 40
        + "The server has a walrus. "
        + "The server answers requests. " * 40
    )
    assert "walrus" in excerpt(text, "which requests does the server answer to the walrus", width=60)


def test_without_a_match_it_is_the_beginning() -> None:
    assert excerpt(PLAN, "zebra", width=130).startswith("The meeting went on")
    assert excerpt(PLAN, "zebra", width=130).endswith("anything. …")


def test_code_keeps_its_lines_and_their_relative_indentation() -> None:
    before = "".join(f"def step_{number}():\n    return {number}\n\n" for number in range(60))
    code = "        def retry(call):\n            for wait in WAITS:\n                return call(wait)\n"
    found = excerpt(before + "class Caller:\n" + code + before, "def retry wait", width=95)
    assert "def retry(call):\n    for wait in WAITS:\n        return call(wait) …" in found


def test_text_without_spaces_is_found_by_its_characters() -> None:
    text = "今天天气很好我们去散步" * 60 + "数据库保存在法兰克福" + "今天天气很好我们去散步" * 60
    assert "数据库" in excerpt(text, "数据库在哪里", width=60)


@pytest.mark.parametrize("text", ["." * 400_000, "a. " * 100_000, "a" * 400_000, "a\n" * 100_000])
def test_hostile_texts_take_linear_time(text: str) -> None:
    """A quadratic step would run for minutes here."""
    assert len(excerpt(text, "a " + "x-" * 10_000)) <= 300


@given(text=st.text(max_size=400), query=st.text(max_size=40), width=st.integers(0, 200))
def test_it_is_never_wider_than_the_width(text: str, query: str, width: int) -> None:
    assert len(excerpt(text, query, width)) <= width
