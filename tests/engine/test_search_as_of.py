"""search as of a time: what was known then, in the words of that time."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lore import Invalid, Lore
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.model import Filter, Query, Revision
from tests.engine.consolidate.helpers import memory


@pytest.fixture(params=["sqlite", "postgres"])
def lore(request: pytest.FixtureRequest, tmp_path: Path, clock: Clock) -> Iterator[Lore]:
    url = request.getfixturevalue("postgres") if request.param == "postgres" else ""
    opened = wire(Config(data_dir=tmp_path, database_url=url), embedder=HashEmbedder(), clock=clock)
    yield opened
    opened.close()


def found(lore: Lore, text: str, at: float | None) -> list[str]:
    return [hit.memory.content for hit in lore.search(Query(text=text, as_of=at)).hits]


def test_a_search_finds_what_was_current_then_and_nothing_later(lore: Lore, clock: Clock) -> None:
    gone = lore.remember("the walrus sleeps on the pier").id
    old = lore.remember("the ferry leaves at seven from the harbour").id
    lore.forget([lore.remember("the walrus was forgotten early").id])
    then = clock()
    clock.sleep(days=1)
    lore.forget([gone])
    lore.supersede(old, lore.remember("the ferry leaves at nine from the harbour").id)
    lore.remember("the walrus sings since yesterday")

    assert found(lore, "walrus", then) == ["the walrus sleeps on the pier"]
    assert found(lore, "ferry harbour", then) == ["the ferry leaves at seven from the harbour"]
    assert found(lore, "ferry harbour", clock()) == ["the ferry leaves at nine from the harbour"]
    assert found(lore, "walrus", clock()) == found(lore, "walrus", None)


def test_a_rewritten_memory_is_found_by_its_earlier_words_alone(lore: Lore, clock: Clock) -> None:
    id = lore.remember("the lighthouse keeper paints his boat").id
    then = clock()
    clock.sleep(days=1)
    lore.revise(Revision(id=id, content="the submarine captain reads a map"))

    assert found(lore, "lighthouse boat", then) == ["the lighthouse keeper paints his boat"]
    assert found(lore, "submarine captain", then) == []
    assert found(lore, "submarine captain", clock()) == ["the submarine captain reads a map"]
    assert memory(lore, id).access_count == 0, "looking back is no use"


def test_a_look_up_shows_the_earlier_text(lore: Lore, clock: Clock) -> None:
    id = lore.remember("the gull cries").id
    then = clock()
    clock.sleep(days=1)
    lore.revise(Revision(id=id, content="the gull is silent"))
    [hit] = lore.search(Query(text="", where=Filter(ids=(id,)), as_of=then)).hits
    assert hit.memory.content == "the gull cries"


@pytest.mark.parametrize("query", [Query(text="x", as_of=float("nan")), Query(text="x", as_of=1, deep=True)])
def test_no_time_and_a_deep_search_are_refused(lore: Lore, query: Query) -> None:
    with pytest.raises(Invalid, match="time"):
        lore.search(query)
