"""supersede: the newer memory stands, and the older one is history."""

import pytest

from lore import Draft, Invalid, Lore, NotFound, Query
from lore.clock import Clock
from lore.model import Filter


def keep(lore: Lore, content: str, parent: str | None = None) -> str:
    return lore.remember(Draft(content=content, parent=parent, embed_now=True)).id


def found(lore: Lore, text: str, history: bool = False) -> set[str]:
    return {hit.memory.id for hit in lore.search(Query(text=text, where=Filter(superseded=history))).hits}


def test_what_was_superseded_is_found_only_in_the_history(lore: Lore, clock: Clock) -> None:
    old, new = keep(lore, "the gate is green"), keep(lore, "the gate is blue now")
    told = lore.supersede(old, new, "painted")
    assert (told.superseded_by, told.superseded_at) == (new, clock())
    assert found(lore, "gate") == {new}
    assert found(lore, "gate", history=True) == {old, new}
    assert lore.read(old, use=False).memory.superseded_by == new
    [link] = lore.store.reader("shared").links([old], ended=True)
    assert (link.kind, link.source, link.target, link.reason) == ("supersedes", new, old, "painted")
    assert lore.history(old)[-1].cause.verb == "supersede"


def test_the_newer_one_takes_over_what_hangs_below(lore: Lore) -> None:
    old, new = keep(lore, "the gate is green"), keep(lore, "the gate is blue now")
    child = keep(lore, "the hinge is of brass", old)
    lore.supersede(old, new)
    assert lore.read(child, use=False).parent == new


def test_doing_it_again_changes_nothing(lore: Lore, clock: Clock) -> None:
    old, new = keep(lore, "the gate is green"), keep(lore, "the gate is blue now")
    first = lore.supersede(old, new)
    clock.sleep(days=1)
    assert lore.supersede(old, new) == first


def test_what_cannot_take_the_place_is_refused_and_nothing_changes(lore: Lore) -> None:
    old, new, newest = (keep(lore, f"the gate is {colour}") for colour in ("green", "blue", "red"))
    below = keep(lore, "the gate creaks", old)
    hers = keep(lore.for_namespace("ada"), "the gate is mine")
    for one, other, complaint in (
        (old, old, "cannot replace itself"),
        (old, below, "hangs below"),
    ):
        with pytest.raises(Invalid, match=complaint):
            lore.supersede(one, other)
    with pytest.raises(Invalid, match="is shared"):
        lore.for_namespace("ada").supersede(old, hers)
    with pytest.raises(NotFound, match="unknown memory nothing"):
        lore.supersede(old, "nothing")
    assert lore.read(old, use=False).memory.superseded_by is None
    lore.supersede(old, new)
    with pytest.raises(Invalid, match=f"already replaced by {new}; replace that one"):
        lore.supersede(old, newest)
    with pytest.raises(Invalid, match=f"was itself replaced by {new}; name that one"):
        lore.supersede(newest, old)
