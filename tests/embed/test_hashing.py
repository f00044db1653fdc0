"""The double behaves like a model: shared words are alike, the rest is not."""

import pytest

from lore.embed.hashing import HashEmbedder
from lore.errors import Invalid
from lore.vectors import cosine

KNOWN = [0.44841, -0.1121, 0.44841, -0.07364, 0.0, 0.22421, -0.71905, -0.1121]


def alike(one: str, other: str) -> float:
    return cosine(*HashEmbedder().embed([one, other]))


def test_the_same_words_in_any_order_and_case_are_the_same() -> None:
    assert alike("The Cat sleeps, again!", "again the cat sleeps") == pytest.approx(1)


def test_the_more_words_are_shared_the_more_alike() -> None:
    text = "user prefers dark mode in the editor"
    three = [
        alike(text, "user prefers dark themes"),
        alike(text, "user rides a bicycle"),
        alike(text, "lake water"),
    ]
    assert three == sorted(three, reverse=True)
    assert three[0] > 0.4
    assert three[2] < 0.2


def test_forms_of_a_word_are_somewhat_alike() -> None:
    assert alike("deployment", "deployments") > 0.2
    assert alike("deployment", "aubergine") < 0.1


def test_a_known_text_has_a_known_vector() -> None:
    vector = HashEmbedder(8).embed_query("Dark, dark mode for the editor")
    assert vector == pytest.approx(KNOWN, abs=1e-5)


def test_the_dimension_is_free_and_part_of_the_id() -> None:
    embedder = HashEmbedder(16)
    assert embedder.embed(["x", "y"]).shape == (2, 16)
    assert embedder.model == "hash/words/16"
    assert HashEmbedder().dimension == 384


def test_it_is_always_ready() -> None:
    embedder = HashEmbedder()
    embedder.warm()
    embedder.release()
    assert embedder.ready


@pytest.mark.parametrize("dimension", [0, -3])
def test_a_vector_without_dimensions_is_refused(dimension: int) -> None:
    with pytest.raises(Invalid):
        HashEmbedder(dimension)
