"""A question names a speaker also in the genitive, misspelt, or in a script without spaces."""

import pytest

from lore.ranking.evidence import NEARLY, names_speaker


@pytest.mark.parametrize(
    ("name", "speaker", "strength"),
    [
        ("Anna", "anna", 1.0),
        ("Anna's", "Anna", 1.0),
        ("Anna’s", "Anna", 1.0),
        ("Annas", "Anna", 1.0),
        ("James'", "James", 1.0),
        ("James's", "James", 1.0),
        ("Kelly", "Jim Kelly", 1.0),
        ("José", "Jose", 1.0),
        ("李娜什么时候去", "李娜", 1.0),
        ("Melany", "Melanie", NEARLY),
        ("Melnaie", "Melanie", NEARLY),
        ("Caroline", "Carolin", NEARLY),
        ("Katherine", "Catherine", NEARLY),
        ("Stephen", "Steffen", NEARLY),
        ("Jon", "Joan", 0.0),
        ("Tina", "Nina", 0.0),
        ("Marian", "Darian", 0.0),
        ("Melanie", "Melissa", 0.0),
        ("李娜什么时候去", "王强", 0.0),
        ("", "Anna", 0.0),
        ("Anna", "", 0.0),
    ],
)
def test_a_name_is_recognised(name: str, speaker: str, strength: float) -> None:
    assert names_speaker([name], speaker) == strength


def test_the_best_of_several_names_counts() -> None:
    assert names_speaker(["What", "Melany", "Melanie"], "Melanie") == 1.0
    assert names_speaker([], "Melanie") == 0.0
