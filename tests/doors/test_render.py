"""Lines on a terminal: measured in columns, broken between words."""

import pytest

from lore.doors.cli.render import broken, columns, line


@pytest.mark.parametrize(
    ("text", "width"),
    [("tea", 3), ("数据库", 6), ("🍵", 2), ("e\u0301", 1), ("\x1b[33mtea\x1b[0m", 3), ("tea\u200b", 3)],
)
def test_text_is_measured_in_columns(text: str, width: int) -> None:
    assert columns(text) == width


def test_a_cut_line_fits_in_columns_and_says_that_it_was_cut() -> None:
    assert line("数据库保存在法兰克福", 12) == "数据库保存…"
    assert line("all  of\nthis", 11) == "all of this"


def test_a_line_is_broken_between_words_and_keeps_its_indentation() -> None:
    assert broken("  - one two three four", 12) == ["  - one two", "  three four"]
    assert broken("数据库 保存在法兰克福", 10) == ["数据库 保", "存在法兰克", "福"]


def test_a_word_that_is_longer_than_the_line_stays_whole() -> None:
    address = "https://example.org/" + "a" * 40
    assert broken(f"see {address} for more", 20) == ["see", address, "for more"]
