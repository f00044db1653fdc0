"""similar: the memories most like a text."""

import pytest

from lore import Draft, Filter, Invalid, Lore


def keep(lore: Lore, content: str, title: str = "") -> str:
    return lore.remember(Draft(content=content, title=title, embed_now=True)).id


def test_the_most_alike_comes_first_with_both_strengths(lore: Lore) -> None:
    same = keep(lore, "the deploy key lives in the vault")
    keep(lore, "the key of the piano is out of tune")
    keep(lore, "lunch is at noon")
    best, *rest = lore.similar("the deploy key lives in the vault")
    assert best.memory.id == same
    assert best.meaning == pytest.approx(1.0, abs=1e-5)
    assert best.words == 1.0
    assert all(match.meaning < 0.9 and match.words < 1.0 for match in rest)


def test_asking_what_is_similar_counts_as_no_use(lore: Lore) -> None:
    id = keep(lore, "quiet as a mouse")
    lore.similar("quiet as a mouse")
    assert lore.read(id, use=False).memory.access_count == 0


def test_only_what_passes_the_filter_is_compared(lore: Lore) -> None:
    keep(lore, "a note about harbours")
    assert lore.similar("a note about harbours", Filter(kinds=frozenset({"entity"}))) == []


def test_what_is_forgotten_is_not_similar_to_anything(lore: Lore) -> None:
    id = keep(lore, "gone with the wind")
    lore.forget([id])
    assert lore.similar("gone with the wind") == []


def test_a_vector_of_the_model_finds_by_meaning_alone(lore: Lore) -> None:
    walrus = keep(lore, "the walrus sleeps on the ice")
    keep(lore, "keys of the vault")
    vector = lore.store.reader("shared").vectors(lore.embeddings.model, [walrus])[walrus]
    for numbers in (vector.tolist(), (vector * 3).tolist()):
        best = lore.similar(numbers, limit=1)[0]
        assert (best.memory.id, round(best.meaning, 4), best.words) == (walrus, 1.0, 0.0)


@pytest.mark.parametrize("numbers", [[1.0], [], [0.0] * 384, [float("nan")] * 384, [3.5e38] * 384])
def test_numbers_that_are_no_vector_of_the_model_are_refused(lore: Lore, numbers: list[float]) -> None:
    with pytest.raises(Invalid, match=r"vector|finite"):
        lore.similar(numbers)
