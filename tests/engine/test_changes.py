"""Changes: stores that exchange memories end equal, whatever is done where, in whatever order."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lore import Draft, Filter, Lore, LoreError, Tie
from lore.clock import Clock
from lore.engine.entity_view import ENTITY, Subject
from lore.engine.file_paths import FILE
from lore.engine.relate import Relation
from lore.engine.versions import ENDS, LINK_FIELDS, MEMORY_FIELDS
from lore.model import PRIVATE, Revision
from lore.store.values import EVERY, JournalFilter

numbers = count()
EVERYTHING = Filter(forgotten=True, superseded=True)


@dataclass
class Replica:
    """A store with a clock of its own. send, pull: marks of its exchange with the server."""

    lore: Lore
    name: str
    clock: Clock
    send: str = ""
    pull: str = ""
    made: list[str] = field(default_factory=list)

    def acting_for(self, other: str) -> Lore:
        return self.lore.for_namespace(self.lore.namespace, "sync", other)

    def exchange(self, server: "Replica") -> None:
        """As `lore sync` does it."""
        more = True
        while more:
            page = self.lore.changes(self.send, 3, sent_to=server.name)
            merged = server.acting_for(self.name).merge(page.changes)
            assert not merged.refused
            self.acting_for(server.name).merge(merged.newer)
            self.send, more = page.cursor, page.more
        more = True
        while more:
            page = server.lore.changes(self.pull, 4)
            assert not self.acting_for(server.name).merge(page.changes).refused
            self.pull, more = page.cursor, page.more

    def entries(self) -> int:
        """The number of changes of the store."""
        reader = self.lore.store.reader(self.lore.namespace, self.lore.tenant)
        return len(reader.journal(JournalFilter(), EVERY))

    def state(self) -> tuple[dict[str, Any], dict[tuple[str, ...], Any]]:
        """All that must be equal: memories with their places, and links."""
        memories = self.lore.select(EVERYTHING, EVERY.limit)
        reader = self.lore.store.reader(self.lore.namespace, self.lore.tenant)
        links = reader.links(ended=True)
        parents = {link.target: link.source for link in links if link.kind == "hierarchical" and link.active}
        return (
            {
                one.id: [parents.get(one.id), *(getattr(one, name) for name in MEMORY_FIELDS[:-1])]
                for one in memories
            },
            {
                tuple(getattr(link, name) for name in ENDS): [getattr(link, name) for name in LINK_FIELDS]
                for link in links
                if link.kind != "hierarchical"
            },
        )


def replica(lore: Lore, name: str) -> Replica:
    clock = Clock()
    return Replica(replace(lore, tenant=f"{name} {next(numbers)}", clock=clock), name, clock)


@pytest.fixture
def stores(lore: Lore) -> Callable[[int], list[Replica]]:
    """A server and clients: tenants of one file, which see nothing of each other."""
    return lambda clients: [replica(lore, name) for name in ("server", *(f"c{n}" for n in range(clients)))]


WORDS = st.sampled_from("walrus penguin harbour vault".split())
PLACE = st.integers(0, 5)
STEPS = st.one_of(
    st.tuples(st.just("remember"), WORDS),
    st.tuples(st.just("below"), WORDS, PLACE),
    st.tuples(st.just("title"), PLACE, WORDS),
    st.tuples(st.just("content"), PLACE, WORDS),
    st.tuples(st.just("forget"), PLACE),
    st.tuples(st.just("restore"), PLACE),
    st.tuples(st.just("move"), PLACE, PLACE),
    st.tuples(st.just("tie"), PLACE, PLACE, st.floats(0, 1)),
    st.tuples(st.just("untie"), PLACE),
    st.tuples(st.just("observe"), WORDS, WORDS),
    st.tuples(st.just("relate"), WORDS, WORDS),
    st.tuples(st.just("file"), WORDS, WORDS),
    st.tuples(st.just("clock"), st.integers(-30, 30)),
    st.tuples(st.just("exchange")),
    st.tuples(st.just("exchange again")),
)


def act(where: Replica, server: Replica, step: Sequence[Any]) -> None:
    """Do one step; what Lore refuses is not done."""
    lore, (what, *values) = where.lore, step
    known = sorted(one.id for one in lore.select(EVERYTHING, EVERY.limit))
    pick = (lambda at: known[at % len(known)]) if known else (lambda at: "nothing")
    links = lore.links(known)
    doing: dict[str, Callable[[], object]] = {
        "remember": lambda: where.made.append(lore.remember(Draft(content=values[0])).id),
        "below": lambda: where.made.append(
            lore.remember(Draft(content=values[0], parent=pick(values[1]))).id
        ),
        "title": lambda: lore.revise(Revision(id=pick(values[0]), title=values[1])),
        "content": lambda: lore.revise(Revision(id=pick(values[0]), content=values[1])),
        "forget": lambda: lore.forget([pick(values[0])]),
        "restore": lambda: lore.restore([pick(values[0])]),
        "move": lambda: lore.link([Tie(source=pick(values[0]), target=pick(values[1]), kind="hierarchical")]),
        "tie": lambda: lore.link([Tie(source=pick(values[0]), target=pick(values[1]), weight=values[2])]),
        "untie": lambda: lore.unlink([links[values[0] % len(links)].id] if links else []),
        "observe": lambda: lore.introduce([Subject(name=values[0], observations=(values[1],))]),
        "relate": lambda: lore.relate([Relation(source=values[0], target=values[1], type="near")]),
        "file": lambda: lore.edit_file(f"/memories/{values[0]}.md", lambda text: (text or "") + values[1]),
        "clock": lambda: where.clock.sleep(seconds=values[0]),
        "exchange": lambda: where.exchange(server),
        "exchange again": lambda: repeat(where, server),
    }
    if where is server and what.startswith("exchange"):
        return
    try:
        doing[what]()
    except LoreError:
        return
    where.clock.sleep(seconds=1)


def repeat(where: Replica, server: Replica) -> None:
    where.send = where.pull = ""
    where.exchange(server)


@pytest.mark.parametrize("clients", [1, 2])
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(st.tuples(st.integers(0, 2), STEPS), max_size=25))
def test_stores_end_equal_and_nothing_is_lost(
    stores: Callable[[int], list[Replica]], clients: int, steps: Sequence[tuple[int, Sequence[Any]]]
) -> None:
    all_of_them = stores(clients)
    server, *others = all_of_them
    for where, step in steps:
        act(all_of_them[where % len(all_of_them)], server, step)
    for one in 4 * others:
        one.exchange(server)
    settled = [one.entries() for one in all_of_them]
    for one in others:
        one.exchange(server)
    assert [one.entries() for one in all_of_them] == settled
    named = Filter(kinds=frozenset({ENTITY, FILE}))
    names = [(one.kind, one.title) for one in server.lore.select(named, EVERY.limit)]
    assert len(names) == len(set(names))
    expected = server.state()
    for one in others:
        assert one.state() == expected
    assert {id for one in all_of_them for id in one.made} <= expected[0].keys()


def test_who_sends_a_change_that_loses_gets_the_one_that_wins(
    stores: Callable[[int], list[Replica]],
) -> None:
    server, client = stores(1)
    id = client.lore.remember(Draft(content="c", title="first")).id
    client.exchange(server)
    client.lore.revise(Revision(id=id, title="earlier"))
    server.clock.sleep(seconds=9)
    server.lore.revise(Revision(id=id, title="later"))
    merged = server.lore.merge(client.lore.changes(client.send, 10).changes)
    assert [one.version.fields["title"] for one in merged.newer] == ["later"]
    client.lore.merge(merged.newer)
    assert client.state() == server.state()


def test_two_moves_below_each_other_leave_the_later_one_in_every_store(
    stores: Callable[[int], list[Replica]],
) -> None:
    server, first, second = stores(2)
    one, two = (first.lore.remember(Draft(content=text)).id for text in ("one", "two"))
    first.exchange(server)
    second.exchange(server)
    first.clock.sleep(seconds=5)
    second.clock.sleep(seconds=9)
    first.lore.link([Tie(source=one, target=two, kind="hierarchical")])
    second.lore.link([Tie(source=two, target=one, kind="hierarchical")])
    for client in (first, second, first):
        client.exchange(server)
    assert [client.lore.read(one).parent for client in (server, first, second)] == [two] * 3
    assert [client.lore.read(two).parent for client in (server, first, second)] == [None] * 3


def test_private_memories_turns_and_other_namespaces_never_leave(lore: Lore) -> None:
    kept = lore.remember(Draft(content="for all")).id
    lore.remember(Draft(content="for me", flags=frozenset({PRIVATE})))
    lore.remember(Draft(content="said", kind="turn"))
    lore.for_namespace("other").remember("elsewhere")
    assert [one.id for one in lore.changes("", 100, sent_to="server").changes] == [kept]


def test_a_change_of_the_far_future_is_refused_and_changes_nothing(lore: Lore, clock: Clock) -> None:
    id = lore.remember("now").id
    clock.sleep(days=400)
    lore.revise(Revision(id=id, content="then"))
    page = lore.changes("", 100)
    clock.sleep(days=-400)
    other = replace(lore, tenant="other")
    assert "the clock of the store" in other.merge(page.changes).refused[id]
    assert other.count(Filter()) == 0


def writing(text: str) -> Callable[[str | None], str]:
    return lambda existing: text


def test_entities_of_one_name_become_one_and_files_at_one_path_are_both_kept(
    stores: Callable[[int], list[Replica]],
) -> None:
    server, first, second = stores(2)
    for client, text in ((first, "one"), (second, "two")):
        client.lore.introduce([Subject(name="Site", observations=(text,)), Subject(name="Ada")])
        client.lore.relate(
            [Relation(source="Ada", target=target, type=f"said {text}") for target in ("Ada", "Site")]
        )
        client.lore.edit_file("/memories/notes.md", writing(text))
        client.clock.sleep(seconds=5)
        second.clock.sleep(seconds=5)
    for client in 3 * (first, second):
        client.exchange(server)
    second.lore.introduce([Subject(name="Site", observations=("three",))])
    for client in (second, first):
        client.exchange(server)
    for where in (server, first, second):
        graph = where.lore.nodes()
        assert sorted(view.name for view in graph.views if view.own) == ["Ada", "Site"]
        (site,) = [view for view in graph.views if view.name == "Site"]
        assert sorted(one.content for one in site.observations) == ["one", "three", "two"]
        ties = sorted((bond.source, bond.link.type, bond.target) for bond in graph.bonds)
        assert ties == [
            ("Ada", f"said {text}", target) for text in ("one", "two") for target in ("Ada", "Site")
        ]
        files = where.lore.select(Filter(kinds=frozenset({FILE})), 9)
        assert sorted(one.content for one in files) == ["one", "two"]
        assert len({one.title for one in files}) == 2
