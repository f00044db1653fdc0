"""known: a draft is told from what it repeats and from what merely lies next to it."""

from lore import Draft, Lore

ICE = "the walrus sleeps on the cold ice all day long"


def keep(lore: Lore, content: str, title: str = "") -> str:
    return lore.remember(Draft(content=content, title=title, embed_now=True)).id


def test_nothing_is_known_in_an_empty_store(lore: Lore) -> None:
    known = lore.find_duplicate(Draft(content=ICE))
    assert (known.twin, known.neighbours) == (None, ())


def test_the_same_text_is_a_twin_whatever_it_is_called(lore: Lore) -> None:
    id = keep(lore, ICE, title="Ice")
    known = lore.find_duplicate(Draft(content=ICE, title="Another name altogether"))
    assert known.twin is not None
    assert known.twin.id == id
    assert 0.85 <= known.twinness <= 1


def test_the_same_title_is_a_twin_whatever_it_says(lore: Lore) -> None:
    id = keep(lore, ICE, title="Ice")
    known = lore.find_duplicate(Draft(content="zebras graze quietly", title="Ice"))
    assert known.twin is not None
    assert (known.twin.id, known.twinness) == (id, 1.0)


def test_another_kind_of_memory_may_have_the_same_name(lore: Lore) -> None:
    lore.remember(Draft(content="a company that makes ice", title="Ice", kind="entity", embed_now=True))
    assert lore.find_duplicate(Draft(content=ICE, title="Ice")).twin is None


def test_a_fact_that_differs_in_a_few_words_is_a_neighbour_and_no_twin(lore: Lore) -> None:
    id = keep(lore, ICE)
    known = lore.find_duplicate(Draft(content="the walrus sleeps on the cold ice all night"))
    assert known.twin is None
    nearest = known.nearest(0.75)
    assert nearest is not None
    assert nearest.memory.id == id
    assert nearest.words == 1.0, "the best hit by words, yet not the same words"
    assert known.nearest(0.75, besides={id}) is None
    assert known.nearest(0.999) is None


def test_what_was_forgotten_is_not_known(lore: Lore) -> None:
    lore.forget([keep(lore, ICE, title="Ice")])
    assert lore.find_duplicate(Draft(content=ICE, title="Ice")).twin is None
