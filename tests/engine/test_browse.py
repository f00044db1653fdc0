"""browse, activity: pages of memories and of changes, of what the caller sees and nothing else."""

from dataclasses import replace

import pytest

from lore import Draft, Filter, Invalid, Lore, Tie
from lore.clock import Clock
from lore.model import Revision


def keep(lore: Lore, clock: Clock, *texts: str) -> list[str]:
    ids = []
    for text in texts:
        clock.sleep(days=1)
        ids.append(lore.remember(Draft(content=text)).id)
    return ids


def test_pages_list_every_memory_once_with_its_relevance_and_count_no_use(lore: Lore, clock: Clock) -> None:
    ids = keep(lore, clock, *"abcde")
    first = lore.browse(limit=2, total=True)
    second = lore.browse(limit=2, cursor=first.cursor)
    third = lore.browse(limit=2, cursor=second.cursor)
    assert [[one.id for one in page.memories] for page in (first, second, third)] == [
        [ids[4], ids[3]], [ids[2], ids[1]], [ids[0]],
    ]  # fmt: skip
    assert (first.total, first.more, third.more) == (5, True, False)
    assert first.relevance == {id: lore.read(id, use=False).relevance for id in ids[3:]}
    assert {memory.access_count for memory in first.memories} == {0}


def test_a_filter_and_an_order_apply(lore: Lore) -> None:
    low = lore.remember(Draft(content="low", importance=0.1, kind="fragment")).id
    high = lore.remember(Draft(content="high", importance=0.9, kind="fragment")).id
    lore.remember(Draft(content="other"))
    page = lore.browse(Filter(kinds=frozenset({"fragment"})), order="importance", total=True)
    assert ([one.id for one in page.memories], page.total) == ([high, low], 2)


def test_the_journal_comes_newest_first_with_labels(lore: Lore, clock: Clock) -> None:
    a, b = keep(lore, clock, "walrus", "penguin")
    [link] = lore.link([Tie(source=a, target=b)])
    lore.forget([b])
    first = lore.activity(limit=2)
    assert [(entry.cause.verb, entry.id) for entry in first.entries] == [("forget", b), ("link", link.id)]
    assert first.labels == {a: "walrus", b: "penguin", link.id: "walrus → penguin"}
    rest = lore.activity(limit=9, cursor=first.cursor)
    assert ([entry.id for entry in rest.entries], first.more, rest.more) == ([b, a], True, False)
    lore.revise(Revision(id=a, content="walrus on ice"))
    assert [entry.cause.verb for entry in lore.activity(id=a).entries] == ["revise", "remember"]


def test_nothing_of_another_namespace_or_tenant_appears(lore: Lore) -> None:
    mine, theirs = lore.for_namespace("mine"), lore.for_namespace("theirs")
    elsewhere = replace(lore, tenant="acme")
    secret = [theirs.remember("secret").id, elsewhere.remember("secret").id]
    own = mine.remember("own").id
    assert [one.id for one in mine.browse(Filter(forgotten=True)).memories] == [own]
    assert [entry.id for entry in mine.activity().entries] == [own]
    assert [mine.activity(id=id).entries for id in secret] == [(), ()]
    assert mine.growth(1).days[0].learnt == 1


@pytest.mark.parametrize("limit", [0, -1, 1_001])
def test_a_limit_that_no_page_has_is_refused(lore: Lore, limit: int) -> None:
    for verb in (lore.browse, lore.activity):
        with pytest.raises(Invalid, match="limit"):
            verb(limit=limit)


def test_a_foreign_cursor_is_refused(lore: Lore) -> None:
    for verb in (lore.browse, lore.activity):
        with pytest.raises(Invalid, match="cursor"):
            verb(cursor="nonsense")
