"""What a text is about by name, and which known names stand in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lore.names import (
    LONGEST,
    MOST_SUBJECTS,
    Mention,
    Word,
    candidates,
    mentions,
    stems,
    subjects,
    without,
    words_of,
)

PIECES = [
    "Anna", "Tom", "Jim Kelly", "St. Paul", "The", "the", "of", "and", "is", "was", "ÉVA", "ferry", "harbour",
    "s", "7", "_", "ﷺ", "½", "ﾞ", "İ", "ß", ",", "(", ")", ".", ": ", "?", "\n", "\n\n", "'",
]  # fmt: skip
TEXTS = st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join)
"""Anything, and what is full of names, small words and the marks that end a subject."""


# --- what a memory is about

TITLES: dict[str, tuple[str, list[str]]] = {
    "a plain title": ("Jim Kelly", ["jim kelly"]),
    "an aside in parentheses": ("Hamlet (play)", ["hamlet play", "hamlet"]),
    "what follows a comma": ("Paris, Texas", ["paris texas", "paris"]),
    "both": ("Paris, Texas (film)", ["paris texas film", "paris texas", "paris"]),
    "an article": ("The Rivals", ["rivals"]),
    "a sentence is no name": ("Jim Kelly plays.", []),
    "nor what announces something": ("Jim Kelly:", []),
    "a small word alone is no name": ("The Who", []),
    "a number alone is no name": ("1984", []),
    "a number within": ("Apollo 11", ["apollo 11"]),
    "accents and case": ("ÉVA Müller", ["eva muller"]),
    "nothing but marks": ("… (?!) -- _", []),
}


@pytest.mark.parametrize(("title", "names"), TITLES.values(), ids=TITLES)
def test_a_title_names_what_a_memory_is_about(title: str, names: list[str]) -> None:
    assert subjects(title, "") == names


CONTENTS: dict[str, tuple[str, list[str]]] = {
    "before a verb": ("Dublin is crossed by a river.", ["dublin"]),
    "with a name within": ("The author of The Rivals is Sheridan.", ["author of the rivals", "rivals"]),
    "in lower case": ("wide receiver is a position", ["wide receiver"]),
    "small words within": ("Marie de la Cruz was here", ["marie de la cruz"]),
    "two names": ("Anna and Tom are friends", ["anna and tom", "anna", "tom"]),
    "a name without such a verb": ("Jim Kelly plays in Buffalo", ["jim kelly"]),
    "one capital without such a verb": ("Yesterday everybody went out", []),
    "a name further on without such a verb": ("yesterday Jim Kelly played", []),
    "a verb that is a name": ("Will Smith is an actor", ["will smith", "smith"]),
    "an aside that comes first": ("(Anna Berg is here) Tom is ill", []),
    "who speaks": ("Anna: Tom is ill", ["tom"]),
    "who speaks of himself": ("Anna: I was ill", []),
    "an abbreviation": ("St. Paul Harbour is frozen", ["st paul harbour"]),
    "only the first sentence": ("So it goes. Anna Berg is here", []),
    "an interruption": ("Jim Kelly (he was born in Pittsburgh) threw it", ["jim kelly"]),
    "a heading": ("Jim Kelly\nHe was born in Pittsburgh.", ["jim kelly"]),
    "a heading with an aside": ("Hamlet (play)\n\nIt has five acts", ["hamlet play", "hamlet"]),
    "a heading and a subject": ("Buffalo\nJim Kelly was here", ["buffalo", "jim kelly"]),
    "a line that goes on is no heading": ("Jim Kelly plays.\nBuffalo is a town", ["jim kelly"]),
    "one line is no heading": ("ferry timetable of the harbour", []),
    "a small word": ("It is raining", []),
    "a verb first": ("Is this true", []),
    "accents and case": ("ÉVA Müller is here", ["eva muller"]),
    "as long as a name may be": ("a b c d e f g h i j k is long", ["b c d e f g h i j k"]),
    "longer than a name may be": ("b c d e f g h i j k l is long", []),
    "nothing": ("", []),
    "blanks": (" \n\t\n ", []),
    "nothing but marks": ("?! -- … _ (:)", []),
}


@pytest.mark.parametrize(("content", "names"), CONTENTS.values(), ids=CONTENTS)
def test_a_text_begins_with_what_it_is_about(content: str, names: list[str]) -> None:
    assert subjects("", content) == names


def test_the_title_comes_first_and_nothing_twice() -> None:
    assert subjects("Dublin", "The Liffey of Dublin is a river") == ["dublin", "liffey of dublin"]
    assert subjects("Dublin", "Dublin is a town") == ["dublin"]


def test_a_memory_has_no_more_than_so_many_subjects() -> None:
    crowd = " and ".join(f"Name{letter}" for letter in "abcdefghijkl")
    assert subjects("Crowd", f"{crowd} are here") == [
        "crowd", "namea", "nameb", "namec", "named", "namee", "namef", "nameg",
    ]  # fmt: skip


@given(TEXTS, TEXTS)
def test_what_a_text_is_about_can_be_looked_up_from_the_text(title: str, content: str) -> None:
    assert set(subjects(title, content)) <= candidates(words_of(f"{title}\n{content}"))


@given(TEXTS, TEXTS)
def test_names_are_never_empty_too_many_or_doubled(title: str, content: str) -> None:
    names = subjects(title, content)
    assert len(names) == len(set(names)) <= MOST_SUBJECTS
    assert all(names)


# --- which runs of words could be names


def test_a_run_that_could_be_a_name_neither_begins_nor_ends_with_a_small_word() -> None:
    assert candidates(words_of("a song of the sea")) == {"song", "sea", "song of the sea"}
    assert candidates(words_of("It Is The End")) == {
        "end", "it is", "it is the", "it is the end", "is the", "is the end",
    }  # fmt: skip
    assert candidates(words_of("x 7 of")) == {"x 7"}


def test_a_run_has_no_more_than_so_many_words() -> None:
    words = words_of(" ".join(f"w{number}" for number in range(LONGEST + 1)))
    assert max(name.count(" ") + 1 for name in candidates(words)) == LONGEST == 10


# --- known names in a text


def found(text: str, *known: str) -> list[str]:
    return [mention.name for mention in mentions(words_of(text), known)]


def test_known_names_are_found_in_order_whatever_their_case_and_accents() -> None:
    assert found("In Zürich, ANNA BERG met Tom.", "tom", "anna berg", "zurich") == [
        "zurich",
        "anna berg",
        "tom",
    ]
    assert found("Tom and Tom", "tom") == ["tom", "tom"]
    assert found("Tommy", "tom") == []


def test_of_names_within_each_other_the_longest_counts() -> None:
    names = ("new", "new york", "york", "new york city")
    assert found("the new York city hall, york", *names) == ["new york city", "york"]
    assert found("York New York", *names) == ["york", "new york"]


def test_a_mention_tells_what_stands_beside_it() -> None:
    text = "long before, the directors of all harbours founded Ferry Lines of Tallinn harbour"
    assert mentions(words_of(text), {"ferry lines"}) == [
        Mention("ferry lines", 2, True, frozenset({"direc", "harbo", "found", "talli"}))
    ]
    assert not mentions(words_of("a ferry"), {"ferry"})[0].capital


def test_a_stem_stands_for_all_forms_of_a_telling_word() -> None:
    assert stems(["director", "directed", "the", "sea"]) == {"direc", "sea"}


def test_words_that_belong_to_a_name_are_left_out_wherever_it_stands() -> None:
    words = words_of("Who wrote The Rivals, and who played in The Rivals?")
    assert without(words, {"rivals"}) == ["who", "wrote", "the", "and", "who", "played", "in", "the"]
    assert without(words, {"wrote the rivals", "played"}) == ["who", "and", "who", "in", "the", "rivals"]
    assert without(words, ()) == [word.text for word in words]


WORDS = st.lists(st.builds(Word, st.sampled_from(["ann", "tom", "of", "the", "sea", "7"]), st.booleans()))
KNOWN = st.lists(st.sampled_from(["ann", "tom", "ann tom", "tom of the sea", "sea 7 ann", "sea", "7", "of"]))


def places(words: list[Word], name: str) -> list[int]:
    """Where this run of words stands, whether or not it could be a name there."""
    wanted = name.split()
    texts = [word.text for word in words]
    return [at for at in range(len(texts)) if texts[at : at + len(wanted)] == wanted]


@given(WORDS, KNOWN)
def test_mentions_are_known_names_that_stand_there_one_behind_the_other(
    words: list[Word], known: list[str]
) -> None:
    free = 0
    for mention in mentions(words, known):
        assert mention.name in known
        assert mention.words == len(mention.name.split())
        free = min(at for at in places(words, mention.name) if at >= free) + mention.words
    assert free <= len(words)


@given(st.lists(st.sampled_from(["Ann", "tom", "of", "The", "sea", "7"]), min_size=2).map(" ".join))
def test_a_text_that_is_a_name_as_a_whole_mentions_no_part_of_it(text: str) -> None:
    known = candidates(words_of(text))
    if text.lower() in known:
        assert found(text, *known) == [text.lower()]


@given(WORDS, KNOWN)
def test_a_name_that_could_be_one_is_mentioned_or_overlaps_one_that_is(
    words: list[Word], known: list[str]
) -> None:
    told = {mention.name for mention in mentions(words, known)}
    for name in candidates(words).intersection(known):
        assert any(set(name.split()) & set(each.split()) for each in told)


@given(WORDS, KNOWN)
def test_what_is_left_are_exactly_the_words_outside(words: list[Word], known: list[str]) -> None:
    possible = candidates(words)
    inside = {
        at
        for name in possible.intersection(known)
        for begin in places(words, name)
        for at in range(begin, begin + len(name.split()))
        if name in candidates(words[begin : begin + len(name.split())])
    }
    assert without(words, known) == [word.text for at, word in enumerate(words) if at not in inside]


@given(TEXTS, st.sets(TEXTS))
def test_any_text_can_be_looked_through(text: str, known: set[str]) -> None:
    words = words_of(text)
    names = candidates(words)
    assert {mention.name for mention in mentions(words, names | known)} <= names
    assert len(without(words, names | known)) <= len(words)
