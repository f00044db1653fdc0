"""Phrases: tables of words as one pattern each, so that rules read as lists; and the words that tell."""

import re

from lore.text import STOP_WORDS, words


def alternatives(table: str) -> str:
    """A pattern for any of the phrases, which are parted by line ends or by a bar between spaces.

    A space stands for any white space; an apostrophe for both of its forms, and for none.
    """
    phrases = (" ".join(phrase.split()) for line in table.splitlines() for phrase in line.split(" | "))
    told = (phrase.replace("'", "['’]?").replace(" ", r"\s++") for phrase in phrases if phrase)
    return "(?:" + "|".join(told) + ")"


def beginning(table: str) -> re.Pattern[str]:
    """Finds texts that begin with one of the phrases."""
    return re.compile(rf"^\W*{alternatives(table)}(?!\w)", re.IGNORECASE)


def within(table: str) -> re.Pattern[str]:
    """Finds texts that have one of the phrases anywhere."""
    return re.compile(rf"(?<!\w){alternatives(table)}(?!\w)", re.IGNORECASE)


def clause(table: str) -> re.Pattern[str]:
    """Finds texts that have one of the phrases at the beginning of a sentence or of a clause."""
    begin = r"(?:^\W*|[,;:–—]\s+|\b(?:and|but|so|since|because)\s+)"
    return re.compile(rf"{begin}{alternatives(table)}", re.IGNORECASE)


def either(*patterns: re.Pattern[str]) -> re.Pattern[str]:
    """Finds texts that any of the patterns finds."""
    return re.compile("|".join(pattern.pattern for pattern in patterns), re.IGNORECASE)


def telling_words(text: str) -> frozenset[str]:
    """The words by which two texts are compared: no stop words, no endings of the plural."""
    return frozenset(
        word.removesuffix("s") for word in words(text) if word not in STOP_WORDS and len(word) > 1
    )
