"""known_at: memories as they were, with those that were forgotten or replaced since, without later ones."""

import pytest

from lore import Draft, Invalid, Lore
from lore.clock import Clock
from lore.model import TURN, Revision
from tests.engine.consolidate.helpers import memory


def texts(lore: Lore, at: float, text: str = "") -> list[str]:
    return [one.content for one in lore.known_at(at, text).memories]


def test_each_time_has_the_texts_that_were_there(lore: Lore, clock: Clock) -> None:
    times = []

    def day() -> None:
        times.append(clock())
        clock.sleep(days=1)

    day()
    walrus = lore.remember("the walrus sleeps").id
    gone = lore.remember("the gull cries").id
    lore.remember(Draft(content="said", kind=TURN))
    day()
    lore.revise(Revision(id=walrus, content="the walrus swims", importance=0.9))
    penguin = lore.remember("the penguin dives").id
    day()
    lore.forget([gone])
    lore.supersede(walrus, penguin)
    day()
    lore.restore([gone])
    day()
    assert [set(texts(lore, at)) for at in times] == [
        set(),
        {"the walrus sleeps", "the gull cries"},
        {"the walrus swims", "the gull cries", "the penguin dives"},
        {"the penguin dives"},
        {"the gull cries", "the penguin dives"},
    ]
    assert [lore.known_at(at).total for at in times] == [0, 2, 3, 1, 2]
    [then] = [one for one in lore.known_at(times[1]).memories if one.id == walrus]
    assert (then.importance, then.superseded_by, then.updated_at) == (0.5, None, times[1])
    assert memory(lore, walrus).superseded_by == penguin


def test_a_text_finds_what_it_matches_now_and_shows_it_as_it_was(lore: Lore, clock: Clock) -> None:
    id = lore.remember("the walrus sleeps").id
    lore.remember("the penguin dives")
    then = clock()
    clock.sleep(days=1)
    lore.revise(Revision(id=id, content="the walrus swims"))
    lore.remember("the walrus sings")
    assert texts(lore, then, "walrus") == ["the walrus sleeps"]
    assert (lore.known_at(then, "walrus").total, texts(lore, clock(), "sleeps")) == (1, [])


def test_pages_list_every_memory_once(lore: Lore, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lore.engine.known_at.MOST_EXAMINED", 3)
    made = []
    for number in range(8):
        made.append(lore.remember(f"walrus {number}").id)
        clock.sleep(days=1)
    lore.forget(made[3:7])
    now = clock()
    clock.sleep(days=1)
    lore.remember("walrus later")
    for text in ("", "walrus"):
        found, cursor, more = [], "", True
        while more:
            page = lore.known_at(now, text, limit=2, cursor=cursor)
            found += [one.id for one in page.memories]
            cursor, more = page.cursor, page.more
        assert sorted(found) == sorted([*made[:3], made[7]])
        assert page.total == 4


def test_nothing_of_another_namespace_appears(lore: Lore, clock: Clock) -> None:
    lore.for_namespace("theirs").remember("walrus")
    page = lore.for_namespace("mine").known_at(clock(), "walrus")
    assert (page.memories, lore.for_namespace("mine").known_at(clock()).total) == ((), 0)


def test_a_foreign_cursor_is_refused(lore: Lore) -> None:
    for text in ("", "walrus"):
        for cursor in ("nonsense", "WyJhIl0="):
            with pytest.raises(Invalid, match="cursor"):
                lore.known_at(0.0, text, cursor=cursor)
