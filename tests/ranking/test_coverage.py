"""Coverage: the share of a question's information in a text."""

import pytest

from lore.ranking.evidence import coverage


def test_a_text_covers_the_share_of_what_its_words_tell() -> None:
    information = {"kernel": 6.0, "panics": 3.0, "today": 1.0}
    texts = {"all": "today the kernel panics", "rare": "a kernel", "common": "today", "none": "nothing"}
    assert coverage(information, texts) == pytest.approx(
        {"all": 1.0, "rare": 0.6, "common": 0.1, "none": 0.0}
    )


@pytest.mark.parametrize(
    ("term", "text", "has"),
    [
        ("deployed", "we deploy on mondays", True),
        ("interesting", "an interest in boats", True),
        ("cat", "two cats", True),
        ("cat", "a catalogue", False),
        ("must", "mustard", False),
        ("d", "the dog", False),
        ("night", "midnight", False),
        ("部署", "服务部署在柏林", True),
    ],
)
def test_a_word_counts_in_all_its_forms_and_not_within_another(term: str, text: str, has: bool) -> None:
    assert coverage({term: 1.0}, {"one": text})["one"] == float(has)


def test_a_question_without_words_is_covered_by_nothing() -> None:
    assert coverage({}, {"one": "text"}) == {"one": 0.0}
