"""What may be stored, what a memory is called, and which words of a question count."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.errors import Invalid
from lore.text import (
    CONTENT_LIMIT_BYTES,
    STOP_WORDS,
    check_storable,
    label_of,
    listed,
    names_in,
    overlap,
    passage_of,
    preview,
    require_text,
    terms,
    title_of,
    tokens_in,
)

SENTENCE = "A first sentence that goes on for more than forty characters."
WORDS = "word " * 30


@pytest.mark.parametrize(
    ("content", "title"),
    [
        ("x" * 200, "x" * 120),
        ("x" * 90 + " and more words", "x" * 90),
        ("x" * 119 + " and more", "x" * 119),
        ("  short  ", "short"),
        ("y" * 80, "y" * 80),
        (f"{SENTENCE} {WORDS}", SENTENCE),
        (f"Too early. {WORDS}", f"Too early. {WORDS}"[:80].rpartition(" ")[0]),
        (f"{'w' * 45}! And then. {WORDS}", f"{'w' * 45}! And then."),
        (f"{'w' * 45}? {'z' * 60}", f"{'w' * 45}?"),
        (WORDS, WORDS[:79]),
        (f"{'数' * 45}。{'据' * 60}", f"{'数' * 45}。"),
    ],
    ids=[
        "no space",
        "a space after 90",
        "a space at the last chance",
        "stripped",
        "eighty stay whole",
        "a sentence",
        "a sentence that ends before 40",
        "a full stop goes before an exclamation",
        "a question",
        "the last whole word",
        "a sentence without spaces",
    ],
)
def test_a_title_is_the_first_sentence_or_the_first_words(content: str, title: str) -> None:
    assert title_of(content) == title


@given(st.text(min_size=1))
def test_a_title_is_never_longer_than_120_characters(content: str) -> None:
    assert len(title_of(content)) <= 120
    assert content.strip().startswith(title_of(content))


def test_the_text_itself_is_kept_untouched() -> None:
    assert require_text("  Grüße \n\t👋🏽 ", "content") == "  Grüße \n\t👋🏽 "


@pytest.mark.parametrize("text", ["", " \n\t", "\u2003"])
def test_a_text_without_a_letter_is_refused(text: str) -> None:
    with pytest.raises(Invalid, match="content is empty"):
        require_text(text, "content")
    assert check_storable("", "title") == ""


@pytest.mark.parametrize("text", [None, 3, b"bytes", ["list"]])
def test_what_is_not_text_is_refused(text: object) -> None:
    with pytest.raises(Invalid, match=f"content must be text, not {type(text).__name__}"):
        require_text(text, "content")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("ab\0c", "title contains a NUL character at position 2"),
        ("a\ud800", "title is not valid Unicode: lone surrogate at position 1"),
        ("\udfff", "lone surrogate at position 0"),
        ("a" * 50_001, r"title has 50,001 bytes; the limit is 50,000"),
        ("é" * 25_001, r"title has 50,002 bytes; the limit is 50,000"),
    ],
    ids=["NUL", "high surrogate", "low surrogate", "a byte too long", "bytes, not characters"],
)
def test_what_cannot_be_stored_is_refused_by_name(text: str, complaint: str) -> None:
    for check in (require_text, check_storable):
        with pytest.raises(Invalid, match=complaint):
            check(text, "title")


@pytest.mark.parametrize("text", ["a" * 50_000, "é" * 25_000])
def test_exactly_the_limit_may_be_stored(text: str) -> None:
    assert CONTENT_LIMIT_BYTES == 50_000
    assert require_text(text, "content") == text


@given(st.text())
def test_a_text_is_stored_as_it_is_or_refused_on_purpose(text: str) -> None:
    try:
        assert check_storable(text, "content") == text
    except Invalid:
        assert "\0" in text or any("\ud800" <= character <= "\udfff" for character in text)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Where is the deploy key?", ["deploy", "key"]),
        ("key, Key; KEY", ["key"]),
        ("to be or not to be", ["to", "be", "or", "not"]),
        ('C++ "quoted" NEAR(x) snake_case', ["c", "quoted", "near", "x", "snake", "case"]),
        ("Größe 3.14", ["größe", "3", "14"]),
        ("用Redis做缓存吗？", ["用", "redis", "做缓", "缓存", "存吗"]),
        ("?!", []),
        ("", []),
    ],
    ids=[
        "stop words go",
        "once each",
        "all stop words stay",
        "no syntax",
        "digits",
        "no spaces",
        "no words",
        "empty",
    ],
)
def test_a_question_is_looked_up_by_its_telling_words(question: str, expected: list[str]) -> None:
    assert terms(question) == expected


def test_a_very_long_question_is_looked_up_by_its_first_words() -> None:
    asked = [f"word{number}" for number in range(100)]
    assert terms(" ".join([*STOP_WORDS, *asked])) == asked[:64]


@pytest.mark.parametrize(
    ("question", "likeness"),
    [
        ("deploy key", 0.8),
        ("Deploy", 0.8),
        ("deploy banana", 0.5),
        ("key deploy", 0.7),
        ("banana", 0),
        ("", 0),
    ],
)
def test_texts_are_alike_by_the_words_they_share(question: str, likeness: float) -> None:
    assert overlap(question, "The Deploy key") == pytest.approx(likeness)


@pytest.mark.parametrize(
    ("text", "tokens"), [("", 1), ("abcd" * 10, 10), ("記憶", 2), ("abcd記", 2), ("Größe", 1), ("сервер", 3)]
)
def test_a_wide_character_costs_a_token_and_four_narrow_ones_too(text: str, tokens: int) -> None:
    assert tokens_in(text) == tokens


def test_a_question_without_spaces_is_alike_by_its_characters() -> None:
    assert overlap("数据库端口", "端口和数据库") == pytest.approx(0.3 + 0.4 * 3 / 4)


def test_a_preview_is_one_line_of_the_given_width() -> None:
    assert preview("one\n two\tthree", 20) == "one two three"
    assert preview("one two three", 8) == "one two…"


def test_a_memory_without_a_title_is_called_by_its_first_words() -> None:
    assert label_of("Title", "content") == "Title"
    assert label_of("", "word " * 40) == ("word " * 16)[:79] + "…"


def test_the_embedder_reads_each_part_once() -> None:
    assert passage_of("Title", "Summary", "Content", "Context") == "Title\nContext\nSummary\nContent"
    assert passage_of("Content", "", "Content", "") == "Content"
    assert passage_of("Content", "", "Content that goes on", "") == "Content that goes on"


def test_names_are_listed_in_order() -> None:
    assert listed({"b", "a", "c"}) == "a, b, c"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("BM25 rebuild costs ~10ms at 5k memories", {"bm25", "10ms", "5k"}),
        ("The Redis Server runs in Paris, see config.py", {"redis server", "paris", "config.py"}),
        ("call useState with LORE_W_SCORE", {"usestate", "lore_w_score"}),
        ("I met Ada Lovelace. She left", {"ada lovelace"}),
        ("Nothing to see, only words", set()),
        ("", set()),
    ],
)
def test_names_are_told_from_words(text: str, names: set[str]) -> None:
    assert names_in(text) == names


def test_names_are_found_in_good_time_whatever_the_text() -> None:
    for text in ("_" * 50_000, "a_" * 25_000, "A" * 50_000, "A " * 25_000, "1." * 25_000, "aA" * 25_000):
        names_in(text)
