"""find_duplicate: a draft that repeats a memory differs from one that is merely similar to it."""

from lore import Draft, Lore

ICE = "the walrus sleeps on the cold ice all day long"


def keep(lore: Lore, content: str, title: str = "") -> str:
    return lore.remember(Draft(content=content, title=title, embed_now=True)).id


def test_an_empty_store_has_no_duplicates(lore: Lore) -> None:
    check = lore.find_duplicate(Draft(content=ICE))
    assert (check.twin, check.neighbours) == (None, ())


def test_the_same_text_under_another_title_is_a_duplicate(lore: Lore) -> None:
    id = keep(lore, ICE, title="Ice")
    check = lore.find_duplicate(Draft(content=ICE, title="Another name altogether"))
    assert check.twin is not None
    assert check.twin.id == id
    assert 0.85 <= check.twinness <= 1


def test_the_same_title_with_another_text_is_a_duplicate(lore: Lore) -> None:
    id = keep(lore, ICE, title="Ice")
    check = lore.find_duplicate(Draft(content="zebras graze quietly", title="Ice"))
    assert check.twin is not None
    assert (check.twin.id, check.twinness) == (id, 1.0)


def test_memories_of_different_kinds_may_share_a_title(lore: Lore) -> None:
    lore.remember(Draft(content="a company that makes ice", title="Ice", kind="entity", embed_now=True))
    assert lore.find_duplicate(Draft(content=ICE, title="Ice")).twin is None


def test_a_fact_that_differs_in_a_few_words_is_a_neighbour_and_no_duplicate(lore: Lore) -> None:
    id = keep(lore, ICE)
    check = lore.find_duplicate(Draft(content="the walrus sleeps on the cold ice all night"))
    assert check.twin is None
    nearest = check.nearest(0.75)
    assert nearest is not None
    assert nearest.memory.id == id
    assert nearest.words == 1.0, "the best hit by words, yet not the same words"
    assert check.nearest(0.75, besides={id}) is None
    assert check.nearest(0.999) is None


def test_a_forgotten_memory_is_no_duplicate(lore: Lore) -> None:
    lore.forget([keep(lore, ICE, title="Ice")])
    assert lore.find_duplicate(Draft(content=ICE, title="Ice")).twin is None
