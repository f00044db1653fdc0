"""Text in scripts that no index can split into words is cut into grams."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.grams import count_words, indexed, phrase, split, unspaced


@pytest.mark.parametrize(
    ("text", "grams"),
    [
        ("数据库", "数据 据库 库"),
        ("用Postgres数据", "用 postgres 数据 据"),
        ("Redis 缓存", "缓存 存"),
        ("ﾃﾞｰﾀ", "デー ータ タ"),
        ("서버를", "서버 버를 를"),
        ("สวัส", "สวั วัส ัส ส"),
        ("a database – café", ""),
        ("", ""),
    ],
    ids=["pairs", "words beside them", "no other words", "half width", "Korean", "triples", "Latin", "empty"],
)
def test_a_text_is_indexed_by_its_grams(text: str, grams: str) -> None:
    assert indexed(text) == grams


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        ("数据库", ("数据 据库", False)),
        ("库", ("库", True)),
        ("用Postgres", ("用 postgres", False)),
        ("用Postgres库", ("用 postgres 库", True)),
        ("วั", ("วั", True)),
    ],
)
def test_a_term_is_looked_up_as_a_run_of_grams(term: str, expected: tuple[str, bool]) -> None:
    assert phrase(term) == expected


@given(st.text(st.sampled_from("数据库慢的สวัดีは서버 aB1_-é\n"), max_size=20))
def test_every_part_of_a_text_is_found_in_its_index(text: str) -> None:
    grams = f" {indexed(text)} "
    for gram in split(text):
        assert not unspaced(gram) or f" {gram} " in grams


@pytest.mark.parametrize(
    ("text", "count"), [("two words", 2), ("数据库很慢", 3), ("用Redis缓存", 3), ("สวัสดีครับ", 3), ("", 0)]
)
def test_words_are_counted_without_spaces(text: str, count: int) -> None:
    assert count_words(text, 100) == count
    assert count_words(text, 1) == min(1, count)


@pytest.mark.parametrize("text", ["数" * 50_000, "数a" * 25_000, "a" * 50_000, "_数" * 25_000, "ส" * 50_000])
def test_long_texts_are_cut_in_good_time(text: str) -> None:
    assert indexed(text) == "" or len(split(text)) > 1
