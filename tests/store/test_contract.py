"""What every store promises: one test or more for each sentence of `lore.store`."""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from threading import Event
from typing import Any, Literal

import numpy as np
import pytest

from lore.errors import Invalid, NotFound, Unavailable
from lore.model import SHARED, Cause, Entry, Filter, Link, LinkKind, Memory, Order, Successor
from lore.ranking.decay import DAY_SECONDS
from lore.store import DEFAULT_TENANT, Page, Passage, Reader, Store, Suggestion, Writer
from lore.store.records import (
    KEYS,
    AccessToken,
    Bookmark,
    ConsolidationRun,
    DigestProgress,
    FieldStamps,
    Job,
    Judgement,
    PhaseMark,
    Record,
    SessionAnswers,
    Spending,
    SyncMark,
    key_of,
)
from lore.store.values import COUNT, EVERY, DayCount, JournalFilter, Place, SuggestionFilter, Use
from lore.vectors import Vector, cosines_to, unit
from tests.store.conftest import OpenStore

NOW = 1_800_000_000.0
MEMORY: Literal["memory"] = "memory"
LINK: Literal["link"] = "link"
MODEL = "exact/test/4"
CAUSE = Cause(verb="test", surface="pytest", actor="me", reason="why not")
ANY = Filter()


def memory(id: str, content: str = "", **fields: Any) -> Memory:
    given: dict[str, Any] = {"content": content or f"text of {id}", "created_at": NOW, "updated_at": NOW}
    return Memory(id=id, **(given | fields))


def link(source: str, target: str, kind: LinkKind = "associative", **fields: Any) -> Link:
    given: dict[str, Any] = {"id": f"{source}-{target}", "created_at": NOW, "updated_at": NOW}
    return Link(source=source, target=target, kind=kind, **(given | fields))


def below(parent: str, child: str, **fields: Any) -> Link:
    return link(parent, child, "hierarchical", **fields)


def keep(store: Store, *nouns: Memory | Link, namespace: str = SHARED, now: float = NOW) -> None:
    with store.transaction(namespace, CAUSE, now) as writer:
        writer.put([noun for noun in nouns if isinstance(noun, Memory)])
        writer.put_links([noun for noun in nouns if isinstance(noun, Link)])


def vector(*numbers: float) -> Vector:
    return unit(np.array(numbers, np.float32))


EAST, NORTH, UP, NORTHEAST = vector(1, 0, 0, 0), vector(0, 1, 0, 0), vector(0, 0, 1, 0), vector(1, 1, 0, 0)


def place(store: Store, vectors: dict[str, Vector], namespace: str = SHARED, model: str = MODEL) -> None:
    with store.transaction(namespace, CAUSE, NOW) as writer:
        writer.put_vectors(model, vectors)


def shared(store: Store) -> Reader:
    return store.reader(SHARED)


def matching(reader: Reader, terms: list[str], limit: int, where: Filter) -> dict[str, float]:
    return reader.matching(terms, limit, where).strengths


def rarity(reader: Reader, terms: list[str]) -> dict[str, float]:
    return reader.matching(terms, 0, Filter()).information


def cosines(reader: Reader, ids: Iterable[str], model: str = MODEL) -> dict[str, float]:
    return cosines_to(EAST, reader.vectors(model, ids))


def selected(reader: Reader, where: Filter, limit: int = 100, **page: Any) -> list[Memory]:
    return reader.select(where, Page(limit=limit, **page))


def ids_of(reader: Reader, where: Filter) -> list[str]:
    return [trace.id for trace in reader.traces(where)]


def count(reader: Reader, where: Filter) -> int:
    return reader.traces(where, COUNT).total


def parents(reader: Reader, ids: Iterable[str]) -> dict[str, str]:
    return {id: way[-1] for id, way in reader.ancestors(ids).items() if way}


def resolved(reader: Reader, part: str, limit: int) -> list[str]:
    return reader.resolve([part], limit)[part]


def roots(reader: Reader, where: Filter) -> set[str]:
    return set(ids_of(reader, replace(where, roots=True)))


def history(store: Store, id: str, namespace: str = SHARED) -> list[Entry]:
    return store.reader(namespace).journal(JournalFilter(id=id, newest_first=False), EVERY)


def put_record(writer: Writer, record: Record) -> None:
    writer.put_records([record])


def links_of(reader: Reader, *ids: str, kinds: tuple[LinkKind, ...] = (), ended: bool = False) -> list[Link]:
    return reader.links(ids, kinds, ended)


def following(reader: Reader, ids: Iterable[str]) -> list[tuple[str, str]]:
    return [(link.source, link.target) for link in reader.links(between=ids, kinds=("temporal",))]


def touch(store: Store, *ids: str, now: float = NOW, **use: Any) -> None:
    store.touch(Use(ids=ids, **use), now)


def unembedded(store: Store, limit: int = 10) -> list[Passage]:
    return store.unembedded(MODEL, limit).passages


def embedded(store: Store, model: str = MODEL, namespace: str = SHARED) -> tuple[int, int]:
    """The number of memories with a vector of the model, and without."""
    reader, none = store.reader(namespace), Filter(ids=())
    counts = reader.counts(model)
    assert counts.pending == reader.near(EAST, model, 1, none).pending
    return counts.embedded, counts.pending


def one(store: Store, id: str) -> Memory:
    return shared(store).get([id], forgotten=True)[id]


# --- memories


def test_a_memory_comes_back_as_it_was_put(store: Store) -> None:
    given = memory(
        "a",
        "Grüße 👋🏽\n\twith 'quotes' and \"more\"",
        kind="fragment",
        type="fact",
        title="Title",
        summary="Summary",
        context="Context",
        status="open",
        importance=0.7,
        score=6.5,
        confidence=0.25,
        confidence_count=3,
        source="chat",
        source_type="inferred",
        session="s1",
        channel="c1",
        project="example.org/harbour/ferry",
        trust=0.9,
        superseded_by="b",
        superseded_at=NOW + 1,
        flags=frozenset({"pinned", "ü"}),
        metadata={"k": [1, {"ü": None}], "empty": ""},
        access_count=4,
        access_days=2,
        last_accessed_at=NOW + 2,
        last_reinforced_at=NOW + 3,
        activation=0.5,
        activated_at=NOW + 4,
    )
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        [stored] = writer.put([given])
    assert stored == replace(given, alias=stored.alias)
    assert stored.alias > 0
    assert shared(store).get(["a"]) == {"a": stored}


def test_forgotten_memories_come_only_on_request_and_unknown_ones_never(store: Store) -> None:
    keep(store, memory("here"), memory("gone", forgotten_at=NOW))
    ids = ["here", "gone", "nowhere"]
    assert set(shared(store).get(ids)) == {"here"}
    assert set(shared(store).get(ids, forgotten=True)) == {"here", "gone"}


@pytest.mark.parametrize("id", ["", "a\0", "\0", "ü", "\ud800", "a" * 100_000, "%", "a' OR 1=1 --", '"]'])
def test_an_impossible_id_is_simply_unknown(id: str, store: Store) -> None:
    keep(store, memory("a"))
    reader = shared(store)
    assert reader.get([id]) == {}
    assert reader.links(ids=[id], ended=True) == []
    assert links_of(reader, id, ended=True) == []
    assert history(store, id) == []
    assert reader.ancestors([id]) == {}
    assert parents(reader, [id]) == {}
    assert reader.children([id]) == {id: []}
    assert links_of(reader, id) == []
    assert reader.vectors(MODEL, [id]) == {}
    assert selected(reader, Filter(ids=(id,)), 10) == []
    assert selected(reader, Filter(under=id), 10) == []
    assert reader.about([id], Filter(), 10) == {}
    assert resolved(reader, id or "b", 10) == []


def test_ids_are_completed_in_order_forgotten_ones_included(store: Store) -> None:
    keep(store, *(memory(id) for id in ("ab3", "ab1", "b", "aa")), memory("ab2", forgotten_at=NOW))
    assert resolved(shared(store), "ab", 10) == ["ab1", "ab2", "ab3"]
    assert resolved(shared(store), "ab", 2) == ["ab1", "ab2"]
    assert resolved(shared(store), "", 10) == ["aa", "ab1", "ab2", "ab3", "b"]
    assert resolved(shared(store), "a_", 10) == []


def test_ids_are_completed_by_their_end_if_it_is_long_enough(store: Store) -> None:
    keep(store, *(memory(id) for id in ("x-12345678", "y-12345678", "1234567-z", "12345678-z")))
    assert resolved(shared(store), "12345678", 10) == ["12345678-z", "x-12345678", "y-12345678"]
    assert resolved(shared(store), "y-12345678", 10) == ["y-12345678"]
    assert resolved(shared(store), "2345678", 10) == []
    assert resolved(shared(store), "_2345678", 10) == []


def test_memories_are_selected_newest_first(store: Store) -> None:
    keep(store, memory("old", created_at=NOW - 5), memory("first"), memory("second"))
    assert [m.id for m in selected(shared(store), Filter(), 10)] == ["second", "first", "old"]
    assert [m.id for m in selected(shared(store), Filter(), 2)] == ["second", "first"]


def test_a_status_page_gets_its_totals(store: Store) -> None:
    keep(
        store,
        memory("root", kind="topic"),
        memory("leaf"),
        memory("loner"),
        memory("old", superseded_by="leaf"),
        memory("gone", forgotten_at=NOW),
        memory("both", superseded_by="leaf", forgotten_at=NOW),
        below("root", "leaf"),
        link("leaf", "loner"),
        link("leaf", "gone"),
        link("root", "loner", active=False),
    )
    counts = shared(store).counts()
    assert (counts.memories, counts.roots, counts.links) == (3, 2, 2)
    assert (counts.forgotten, counts.superseded) == (2, 1)
    assert counts.kinds == {"note": 2, "topic": 1}


# --- finding: every way of finding passes the same filters

FILTERS: dict[str, tuple[Filter, set[str]]] = {
    "anything": (Filter(), {"root", "child", "grandchild", "other", "own"}),
    "namespaces": (Filter(namespaces=frozenset({"mine"})), {"own"}),
    "foreign namespaces": (Filter(namespaces=frozenset({"theirs"})), set()),
    "kinds": (Filter(kinds=frozenset({"turn", "session"})), {"other"}),
    "types": (Filter(types=frozenset({"fact"})), {"other"}),
    "sources": (Filter(sources=frozenset({"chat"})), {"other"}),
    "source types": (Filter(source_types=frozenset({"inferred"})), {"other"}),
    "authors": (Filter(authors=frozenset({"alice"})), {"other"}),
    "sessions": (Filter(sessions=frozenset({"s1"})), {"other"}),
    "other sessions": (Filter(other_sessions=frozenset({"s1"})), {"root", "child", "grandchild", "own"}),
    "projects": (Filter(projects=frozenset({"ferry"})), {"root", "child", "other", "own"}),
    "some projects": (
        Filter(projects=frozenset({"ferry", "tug"})),
        {"root", "child", "grandchild", "other", "own"},
    ),
    "unknown projects": (Filter(projects=frozenset({"nowhere"})), {"root", "child", "own"}),
    "no project": (Filter(projects=frozenset({""})), {"root", "child", "own"}),
    "of a project, by ids": (
        Filter(projects=frozenset({"ferry"}), ids=("other", "grandchild", "root")),
        {"other", "root"},
    ),
    "of a project, in a subtree": (Filter(projects=frozenset({"ferry"}), under="root"), {"child"}),
    "of a project, superseded and forgotten too": (
        Filter(projects=frozenset({"ferry"}), superseded=True, forgotten=True),
        {"root", "child", "other", "own", "gone"},
    ),
    "from a moment on": (Filter(created_after=NOW + 100), {"other"}),
    "before a moment": (Filter(created_before=NOW + 100), {"root", "child", "grandchild", "own"}),
    "roots": (Filter(roots=True), {"root", "other", "own"}),
    "under: the whole subtree": (Filter(under="root"), {"child", "grandchild"}),
    "under a leaf": (Filter(under="grandchild"), set()),
    "under the unknown": (Filter(under="nowhere"), set()),
    "ids": (Filter(ids=("own", "root", "gone", "old", "nowhere")), {"own", "root"}),
    "no ids": (Filter(ids=()), set()),
    "beside: nothing without temporal links": (Filter(ids=("own",), beside=("own", "other")), {"own"}),
    "superseded too": (Filter(superseded=True), {"root", "child", "grandchild", "other", "own", "old"}),
    "forgotten too": (Filter(forgotten=True), {"root", "child", "grandchild", "other", "own", "gone"}),
    "all at once": (
        Filter(kinds=frozenset({"turn"}), roots=True, ids=("other", "root"), created_after=NOW),
        {"other"},
    ),
}


def lighthouse(id: str, **fields: Any) -> Memory:
    return memory(id, "lighthouse", title="Eddystone", **fields)


def world(store: Store) -> None:
    """A tree, a memory that differs in every field, an outdated, a forgotten and a private one."""
    keep(
        store,
        *(lighthouse(id) for id in ("root", "child")),
        lighthouse("grandchild", project="tug"),
        lighthouse(
            "other",
            kind="turn",
            type="fact",
            source="chat",
            source_type="inferred",
            session="s1",
            author="alice",
            project="ferry",
            created_at=NOW + 100,
        ),
        lighthouse("old", superseded_by="other", project="tug"),
        lighthouse("gone", forgotten_at=NOW, project="ferry"),
        below("root", "child"),
        below("child", "grandchild"),
    )
    keep(store, lighthouse("own", namespace="mine"), namespace="mine")
    keep(store, lighthouse("alien", namespace="theirs"), namespace="theirs")
    place(store, dict.fromkeys(("root", "child", "grandchild", "other", "old", "gone"), EAST))
    place(store, {"own": EAST}, "mine")
    place(store, {"alien": EAST}, "theirs")
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        writer.put([], {"child": "The whole story of the lighthouse"})


def test_calls_to_lore_pass_only_if_their_kind_is_named_and_are_never_embedded(store: Store) -> None:
    keep(store, lighthouse("call", kind="lore-call"), lighthouse("turn", kind="turn"))
    reader = shared(store)
    for where, passing in {Filter(): ["turn"], Filter(kinds=frozenset({"lore-call"})): ["call"]}.items():
        assert ids_of(reader, where) == list(matching(reader, ["lighthouse"], 10, where)) == passing
        assert reader.containing("lighthouse", where) == passing
    assert [passage.id for passage in unembedded(store, 10)] == ["turn"]
    assert embedded(store)[1] == 1
    store.check(repair=True)
    assert embedded(store)[1] == 1
    assert all(finding.passed for finding in store.check())
    assert set(reader.get(["call"])) == {"call"}


@pytest.mark.parametrize(("where", "passing"), FILTERS.values(), ids=FILTERS)
def test_every_way_of_finding_honours_the_filter(where: Filter, passing: set[str], store: Store) -> None:
    world(store)
    reader = store.reader("mine")
    assert {m.id for m in selected(reader, where, 100)} == passing
    assert count(reader, where) == len(passing)
    assert set(ids_of(reader, where)) == passing
    assert set(reader.containing("LIGHT", where)) == passing
    assert set(matching(reader, ["lighthouse"], 100, where)) == passing
    assert set(reader.about(["eddystone"], where, 100).get("eddystone", ())) == passing
    assert set(reader.near(EAST, MODEL, 100, where)) == passing
    assert roots(reader, where) == passing - {"child", "grandchild"}


def test_finding_gives_the_best_first_and_no_more_than_asked(store: Store) -> None:
    keep(store, memory("once", "fox and hound"), memory("twice", "fox fox"), memory("none", "hen"))
    place(store, {"once": NORTHEAST, "twice": EAST, "none": NORTH})
    reader = shared(store)
    assert list(matching(reader, ["fox"], 10, Filter())) == ["twice", "once"]
    assert list(matching(reader, ["fox"], 1, Filter())) == ["twice"]
    assert list(reader.near(EAST, MODEL, 10, Filter())) == ["twice", "once", "none"]
    assert list(reader.near(EAST, MODEL, 1, Filter())) == ["twice"]


def test_few_that_pass_are_found_among_many_that_are_nearer(store: Store) -> None:
    crowd = [memory(f"crowd{n}", namespace="theirs") for n in range(600)]
    keep(store, *crowd, namespace="theirs")
    place(store, {m.id: vector(1, n / 1_000, 0, 0) for n, m in enumerate(crowd)}, "theirs")
    keep(store, memory("mine", kind="rare", namespace="mine"), namespace="mine")
    place(store, {"mine": UP}, "mine")
    reader = store.reader("mine")
    assert list(reader.near(EAST, MODEL, 5, Filter())) == ["mine"]
    assert list(reader.near(EAST, MODEL, 5, Filter(kinds=frozenset({"rare"})))) == ["mine"]


@pytest.mark.parametrize("many", [0, 4_100], ids=["few", "many"])
def test_what_belongs_to_a_project_is_found_behind_more_of_another(many: int, store: Store) -> None:
    """However many of the store pass; all that do not are nearer and have the words more often."""
    ours, theirs = Filter(projects=frozenset({"ferry"})), [memory(f"t{n}", "ice ice ice") for n in range(300)]
    keep(store, *(replace(each, project="tug") for each in theirs))
    keep(store, *(memory(f"m{n}", "sea", project="ferry") for n in range(many)))
    keep(store, memory("ours", "ice and " + "filler " * 50, project="ferry"), memory("nobodys", "ice floe"))
    place(store, {each.id: EAST for each in theirs} | {"ours": NORTHEAST, "nobodys": NORTH})
    reader = shared(store)
    assert list(matching(reader, ["ice"], 3, ours)) == ["nobodys", "ours"]
    assert list(reader.near(EAST, MODEL, 3, ours)) == ["ours", "nobodys"]
    assert list(reader.near(EAST, MODEL, 1, ours)) == ["ours"]
    assert count(reader, ours) == many + 2


def test_the_projects_of_current_memories_are_known_with_their_sizes(store: Store) -> None:
    keep(store, *(memory(id, project="tug") for id in "ab"), memory("c", project="ferry"), memory("none"))
    keep(store, memory("old", project="barge", superseded_by="a"))
    keep(store, memory("gone", project="raft", forgotten_at=NOW))
    assert list(shared(store).counts().projects.items()) == [("ferry", 1), ("tug", 2)]


def test_a_memory_moves_to_another_project_and_the_journal_tells_it(store: Store) -> None:
    keep(store, memory("a", project="ferry"))
    keep(store, replace(one(store, "a"), project="tug"))
    assert count(shared(store), Filter(projects=frozenset({"ferry"}))) == 0
    *_, moved = history(store, "a")
    assert (moved.before, moved.after) == ({"project": "ferry"}, {"project": "tug"})


@pytest.mark.parametrize(("where", "passing"), FILTERS.values(), ids=FILTERS)
def test_what_hangs_below_many_is_counted_as_for_each(where: Filter, passing: set[str], store: Store) -> None:
    world(store)
    ids = ["root", "child", "grandchild", "other", "nowhere", "\ud800"]
    counted = store.reader("mine").count_below(ids, where)
    assert counted["root"] == len(passing & {"child", "grandchild"})
    assert counted["child"] == len(passing & {"grandchild"})
    assert [counted[id] for id in ids[2:]] == [0, 0, 0, 0]
    assert store.reader("mine").count_below([], where) == {}


# --- by names


def about(store: Store, *names: str, most: int = 100, where: Filter = ANY) -> dict[str, list[str]]:
    return shared(store).about(names, where, most)


def test_a_name_finds_what_it_introduces_oldest_first_and_nothing_that_only_mentions_it(store: Store) -> None:
    keep(store, memory("told", "Dublin is a town"), memory("titled", title="Dublin"))
    keep(store, memory("mentions", "Swift was born in Dublin"), memory("both", "Dublin and Cork are towns"))
    assert about(store, "dublin", "cork", "born", "nowhere") == {
        "cork": ["both"],
        "dublin": ["told", "titled", "both"],
    }
    assert about(store, "Dublin") == {}
    assert about(store) == {}


def test_a_name_of_more_memories_than_asked_for_is_left_out(store: Store) -> None:
    keep(store, *(memory(f"m{n}", title="Dublin") for n in range(3)), memory("cork", title="Cork"))
    assert about(store, "dublin", "cork", most=3) == {"cork": ["cork"], "dublin": ["m0", "m1", "m2"]}
    assert about(store, "dublin", "cork", most=2) == {"cork": ["cork"]}
    assert about(store, "dublin", "cork", most=0) == {}


def test_names_follow_a_changed_title_and_content(store: Store) -> None:
    keep(store, memory("a", "Cork is a town", title="Dublin"))
    keep(store, replace(one(store, "a"), title="Galway"))
    assert about(store, "dublin", "galway", "cork") == {"cork": ["a"], "galway": ["a"]}
    keep(store, replace(one(store, "a"), content="Sligo is a town"))
    assert about(store, "galway", "cork", "sligo") == {"galway": ["a"], "sligo": ["a"]}
    keep(store, replace(one(store, "a"), title="", content="nothing in particular"))
    assert about(store, "dublin", "galway", "cork", "sligo") == {}


def test_names_stay_when_anything_else_changes(store: Store) -> None:
    keep(store, memory("a", title="Dublin"))
    keep(store, replace(one(store, "a"), importance=0.9, summary="Cork"))
    assert about(store, "dublin", "cork") == {"dublin": ["a"]}


def test_a_name_leads_to_the_forgotten_and_outdated_only_on_request(store: Store) -> None:
    keep(store, memory("a", title="Dublin"), memory("b", title="Dublin"), memory("c", title="Dublin"))
    keep(store, replace(one(store, "a"), superseded_by="c"), replace(one(store, "b"), forgotten_at=NOW))
    assert about(store, "dublin") == {"dublin": ["c"]}
    assert about(store, "dublin", where=Filter(superseded=True)) == {"dublin": ["a", "c"]}
    assert about(store, "dublin", where=Filter(forgotten=True)) == {"dublin": ["b", "c"]}
    keep(store, replace(one(store, "b"), forgotten_at=None))
    assert about(store, "dublin") == {"dublin": ["b", "c"]}


def test_names_of_a_transaction_that_failed_are_not_known(store: Store) -> None:
    keep(store, memory("a", title="Dublin"))

    def fail() -> None:
        with store.transaction(SHARED, CAUSE, NOW) as writer:
            writer.put([memory("b", title="Cork"), replace(one(store, "a"), title="Cork")])
            assert writer.about(["dublin", "cork"], Filter(), 10) == {"cork": ["a", "b"]}
            raise NotFound("no")

    with pytest.raises(NotFound):
        fail()
    assert about(store, "dublin", "cork") == {"dublin": ["a"]}


@pytest.mark.parametrize(
    "name", ["m\u00fcnchen", "o'brien", '"', "dublin%", "dublin\0", "\ud800", "d" * 100_000]
)
def test_a_name_is_plain_text_never_syntax(name: str, store: Store) -> None:
    keep(store, memory("a", title="Dublin"), memory("b", title="München"))
    assert about(store, name, "dublin", "munchen") == {"dublin": ["a"], "munchen": ["b"]}


# --- by words


def test_any_term_counts_and_rare_ones_more(store: Store) -> None:
    common = [memory(f"common{n}", "the harbour at night") for n in range(5)]
    keep(store, *common, memory("rare", "the walrus at night"), memory("neither", "something else"))
    found = matching(shared(store), ["harbour", "walrus"], 10, Filter())
    assert next(iter(found)) == "rare"
    assert set(found) == {"rare", *(m.id for m in common)}
    assert all(strength > 0 for strength in found.values())


def test_words_are_found_in_every_part_and_count_most_in_the_title(store: Store) -> None:
    parts = ("title", "summary", "content", "context")
    keep(store, *(memory(part, **{"content": "some thing", part: "walrus thing"}) for part in parts))
    found = list(matching(shared(store), ["walrus"], 10, Filter()))
    assert set(found) == set(parts)
    assert found[0] == "title"


@pytest.mark.parametrize(
    ("term", "content"),
    [("deploy", "deploying"), ("Keys", "a key"), ("cafe", "Café"), ("GROSSE", "grosse"), ("記憶", "記憶")],
)
def test_words_match_whatever_their_ending_case_and_accent(term: str, content: str, store: Store) -> None:
    keep(store, memory("a", content))
    assert set(matching(shared(store), [term], 10, Filter())) == {"a"}


def test_a_rare_term_tells_more_than_a_common_one_and_an_unseen_one_most(store: Store) -> None:
    keep(
        store, memory("a", "the ferry leaves"), memory("b", "the ferry arrives"), memory("c", "我们的数据库")
    )
    told = rarity(shared(store), ["ferry", "leaves", "数据", "kraken"])
    assert 0 < told["ferry"] < told["leaves"] == told["数据"] < told["kraken"]


@pytest.mark.parametrize(
    ("term", "content"),
    [
        ("据库", "我们的数据库很慢"),
        ("数据库", "我们的数据库很慢"),
        ("慢", "我们的数据库很慢"),
        ("数据", "用PostgreSQL数据库"),
        ("postgres", "用Postgres做数据库"),
        ("servers", "这个server很慢"),
        ("東京", "昨日は東京タワーへ行った"),
        ("データ", "ﾃﾞｰﾀを消した"),
        ("서버", "어제 서버를 껐다"),
        ("สวัสดี", "เขาพูดว่าสวัสดีครับ"),
        ("हिन्दी", "वह हिन्दी बोलता है"),
    ],
)
def test_words_of_scripts_without_spaces_are_found_inside_a_text(
    term: str, content: str, store: Store
) -> None:
    keep(store, memory("a", content), memory("other", "这是另一件事 something else その他 다른 것 อื่น अन्य"))
    assert set(matching(shared(store), [term], 10, Filter())) == {"a"}


def test_a_run_of_characters_is_found_only_as_a_whole(store: Store) -> None:
    keep(store, memory("a", "数据很多，据说入库了"))
    assert matching(shared(store), ["数据库"], 10, Filter()) == {}


def test_a_change_of_text_takes_its_characters_away(store: Store) -> None:
    keep(store, memory("a", "我们的数据库很慢"))
    keep(store, memory("a", "我们的服务器很快"))
    assert matching(shared(store), ["数据"], 10, Filter()) == {}
    assert set(matching(shared(store), ["服务"], 10, Filter())) == {"a"}


def test_words_and_characters_count_together(store: Store) -> None:
    keep(store, memory("both", "Redis 缓存"), memory("word", "Redis 队列"), memory("character", "本地缓存"))
    found = matching(shared(store), ["redis", "缓存"], 10, Filter())
    assert next(iter(found)) == "both"
    assert set(found) == {"both", "word", "character"}
    assert len(matching(shared(store), ["redis", "缓存"], 2, Filter())) == 2


HOSTILE = [
    '"', '""', '"unbalanced', "*", "wal*", "NEAR(", "NEAR(a b, 2)", "-", "-walrus", "title:", "title: x",
    "{title}: x", "C++", "what's up?", "AND", "AND OR NOT", "OR", "NOT walrus", "^walrus", "(", ")", "a + b",
    "\\", "'; DROP TABLE", "👋🏽", "\u200d", "", " ", "walrus\0", "\0", "\ud800", "x" * 10_000, "%", "_",
    '据"库', "据*", "据 NEAR(库",
]  # fmt: skip


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_term_is_plain_text_never_syntax(hostile: str, store: Store) -> None:
    keep(store, memory("anchor", "the anchor"), memory("other", "something else"))
    assert set(matching(shared(store), [hostile, "anchor"], 10, Filter())) == {"anchor"}
    assert matching(shared(store), [hostile], 10, Filter()) == {}


@pytest.mark.parametrize(
    "term", ["C++", "what's", "NEAR(", "-walrus", "title:", "AND", '"quoted"', "wal-rus"]
)
def test_a_term_of_syntax_finds_the_text_it_stands_for(term: str, store: Store) -> None:
    keep(store, memory("a", f"here is {term} in a text"), memory("b", "nothing of that kind"))
    assert set(matching(shared(store), [term], 10, Filter())) == {"a"}


@pytest.mark.parametrize("many", [64, 65, 500, 3_000])
def test_a_question_may_have_many_terms(many: int, store: Store) -> None:
    keep(store, memory("a", "term7"), memory("b", "term63"))
    assert set(matching(shared(store), [f"term{n}" for n in range(many)], 10, Filter())) == {"a", "b"}


def test_no_terms_find_nothing(store: Store) -> None:
    keep(store, memory("a"))
    assert matching(shared(store), [], 10, Filter()) == {}


# --- by meaning


def test_cosines_are_exact(store: Store) -> None:
    keep(store, memory("east"), memory("northeast"), memory("north"), memory("west"))
    place(store, {"east": EAST, "northeast": NORTHEAST, "north": NORTH, "west": -EAST})
    expected = {"east": 1.0, "northeast": 0.5**0.5, "north": 0.0, "west": -1.0}
    assert shared(store).near(EAST, MODEL, 10, Filter()) == pytest.approx(expected, abs=1e-6)
    assert cosines(shared(store), ids=expected) == pytest.approx(expected, abs=1e-6)


def test_vectors_of_another_model_are_never_compared(store: Store) -> None:
    keep(store, memory("a"), memory("b"), memory("bare"))
    place(store, {"a": EAST})
    place(store, {"b": EAST}, model="else/test/4")
    reader = shared(store)
    for model, id in ((MODEL, "a"), ("else/test/4", "b"), (MODEL, "a")):
        assert set(reader.near(EAST, model, 10, Filter())) == {id}
        assert set(cosines(reader, ["a", "b", "bare"], model)) == {id}
    assert reader.near(EAST, "unknown/test/4", 10, Filter()) == {}


def test_a_later_vector_replaces_the_earlier(store: Store) -> None:
    keep(store, memory("a"))
    for direction in (EAST, NORTH):
        place(store, {"a": direction})
        assert shared(store).near(direction, MODEL, 10, Filter()) == pytest.approx({"a": 1.0})


def test_what_is_embedded_after_another_text_changed_is_found(store: Store) -> None:
    keep(store, memory("a"))
    place(store, {"a": EAST})
    assert set(shared(store).near(EAST, MODEL, 10, Filter())) == {"a"}
    keep(store, memory("a", "changed"), memory("b"))
    place(store, {"b": EAST})
    assert set(shared(store).near(EAST, MODEL, 10, Filter())) == {"b"}


@pytest.mark.parametrize("broken", [float("nan"), float("inf")])
def test_a_vector_that_is_no_direction_is_refused(broken: float, store: Store) -> None:
    keep(store, memory("a"))
    with pytest.raises(Invalid):
        place(store, {"a": np.array([broken, 0, 0, 0], np.float32)})
    assert embedded(store)[0] == 0


# --- trees and links


def family(store: Store) -> None:
    """root -> child -> grandchild, and a second child."""
    keep(
        store,
        *(memory(id) for id in ("root", "child", "second", "grandchild")),
        below("root", "second", created_at=NOW + 1),
        below("root", "child"),
        below("child", "grandchild"),
    )


def test_the_way_up_a_tree_leads_from_the_root_to_the_parent(store: Store) -> None:
    family(store)
    reader = shared(store)
    assert reader.ancestors(["grandchild", "root", "nowhere"]) == {
        "grandchild": ["root", "child"],
        "root": [],
    }
    assert parents(reader, ["grandchild", "root", "nowhere"]) == {"grandchild": "child"}


def test_the_place_of_a_memory_is_its_way_up_with_labels(store: Store) -> None:
    family(store)
    keep(store, replace(one(store, "child"), title="A child"))
    places = shared(store).places(["grandchild", "root", "nowhere"])
    assert places["grandchild"] == Place(("root", "child"), (one(store, "root").content, "A child"))
    assert (places["root"], places["nowhere"]) == (Place(), Place())


def test_the_successor_of_a_memory_replaced_it_or_updated_it_last(store: Store) -> None:
    keep(store, *(memory(id, title=id.upper()) for id in ("a", "b", "c", "d", "e")))
    keep(
        store,
        link("b", "a", type="updates", created_at=NOW + 2),
        link("c", "a", type="supersedes", created_at=NOW + 1),
        link("d", "a", created_at=NOW + 3),
        link("e", "a", type="updates", created_at=NOW + 4, active=False),
    )
    assert successor(store, "a") == Successor(id="b", label="B", at=NOW + 2, replaces=False)
    keep(store, replace(one(store, "b"), forgotten_at=NOW))
    assert successor(store, "a") == Successor(id="c", label="C", at=NOW + 1, replaces=False)
    keep(store, replace(one(store, "a"), superseded_by="d", superseded_at=NOW + 7))
    assert successor(store, "a") == Successor(id="d", label="D", at=NOW + 7, replaces=True)
    keep(store, replace(one(store, "d"), forgotten_at=NOW))
    assert successor(store, "a") == Successor(id="d", label="", at=NOW + 7, replaces=True)
    assert successor(store, "c") is None


def successor(store: Store, id: str) -> Successor | None:
    return shared(store).places([id])[id].successor


def test_ids_come_with_the_turns_directly_beside_them(store: Store) -> None:
    keep(store, *(memory(id) for id in "abcde"))
    keep(store, *(link(first, second, kind="temporal") for first, second in zip("abcd", "bcde", strict=True)))
    reader = shared(store)
    assert set(ids_of(reader, Filter(ids=("c", "e"), beside=("c",)))) == {"b", "c", "d", "e"}
    keep(store, replace(one(store, "b"), superseded_by="e"))
    assert set(ids_of(reader, Filter(ids=("c",), beside=("c",), superseded=True))) == {"c", "d"}
    assert ids_of(reader, Filter(ids=("c",), beside=("c",), kinds=frozenset({"session"}))) == []


def test_children_come_oldest_first_with_an_entry_for_each_that_was_asked(store: Store) -> None:
    family(store)
    found = shared(store).children(["root", "grandchild", "nowhere"])
    assert found == {"root": ["child", "second"], "grandchild": [], "nowhere": []}


def test_the_memories_without_a_parent_are_roots(store: Store) -> None:
    family(store)
    keep(store, memory("loner", importance=0.8, access_count=2, activation=0.3, activated_at=NOW))
    traces = {trace.id: trace for trace in shared(store).traces(Filter(roots=True))}
    assert set(traces) == {"root", "loner"}
    loner = traces["loner"]
    assert (loner.importance, loner.created_at, loner.access_count) == (0.8, NOW, 2)
    assert (loner.activation, loner.activated_at, loner.last_reinforced_at) == (0.3, NOW, None)


def test_superseded_memories_take_no_part_in_trees_but_stay_on_the_way_up(store: Store) -> None:
    family(store)
    keep(store, replace(one(store, "child"), superseded_by="second"), link("second", "child"))
    reader = shared(store)
    assert reader.children(["root"]) == {"root": ["second"]}
    assert reader.ancestors(["grandchild"]) == {"grandchild": ["root", "child"]}
    assert roots(reader, Filter()) == {"root"}
    assert [tie.id for tie in links_of(reader, "second")] == ["root-second"]


def test_forgotten_memories_take_no_part_in_trees_and_links(store: Store) -> None:
    family(store)
    keep(store, link("second", "child"), replace(one(store, "child"), forgotten_at=NOW))
    reader = shared(store)
    assert reader.children(["root", "child"]) == {"root": ["second"], "child": []}
    assert reader.ancestors(["grandchild"]) == {"grandchild": []}
    assert parents(reader, ["grandchild"]) == {}
    assert roots(reader, Filter()) == {"root", "grandchild"}
    assert [tie.id for tie in links_of(reader, "root", "child", "second")] == ["root-second"]


def test_active_links_that_touch_a_memory_come_oldest_first(store: Store) -> None:
    keep(
        store,
        *(memory(id) for id in "abcd"),
        link("b", "a", "relation", type="knows", created_at=NOW + 2),
        link("a", "c", created_at=NOW + 1),
        link("b", "c"),
        below("a", "d"),
        link("c", "d", active=False, ended_at=NOW),
    )
    reader = shared(store)
    assert [tie.id for tie in links_of(reader, "a")] == ["a-d", "a-c", "b-a"]
    assert [tie.id for tie in links_of(reader, "a", "c")] == ["b-c", "a-d", "a-c", "b-a"]
    assert [tie.id for tie in links_of(reader, "a", kinds=("relation", "associative"))] == ["a-c", "b-a"]
    assert links_of(reader) == []


def test_memories_follow_one_another_by_active_temporal_links_among_them(store: Store) -> None:
    keep(
        store,
        *(memory(id) for id in "abcde"),
        link("a", "b", "temporal"),
        link("b", "c", "temporal"),
        link("a", "c"),
        link("c", "d", "temporal", active=False, ended_at=NOW),
        link("d", "e", "temporal"),
    )
    assert sorted(following(shared(store), "abcd")) == [("a", "b"), ("b", "c")]
    assert following(shared(store), []) == []


def test_links_are_known_by_their_ids_ended_or_not(store: Store) -> None:
    ended = link(
        "a", "b", active=False, ended_at=NOW, weight=0.5, reason="r", created_by="me", confidence=0.5
    )
    keep(store, memory("a"), memory("b"), memory("gone", forgotten_at=NOW), ended, link("a", "gone"))
    links = shared(store).links(ids=["a-b", "a-gone", "nowhere"], ended=True)
    found = {link.id: link for link in links}
    assert set(found) == {"a-b", "a-gone"}
    assert shared(store).links(ids=["a-b", "a-gone"]) == []
    assert replace(found["a-b"], alias=0) == ended


def test_all_links_of_a_memory_include_the_ended_and_those_to_the_forgotten(store: Store) -> None:
    keep(
        store,
        *(memory(id) for id in ("a", "b")),
        memory("gone", forgotten_at=NOW),
        link("a", "b", active=False, ended_at=NOW, created_at=NOW + 1),
        link("gone", "a"),
    )
    assert [tie.id for tie in links_of(shared(store), "a", ended=True)] == ["gone-a", "a-b"]


# --- the past


def test_the_journal_tells_who_changed_what_and_why(store: Store) -> None:
    keep(store, memory("a", "first"), memory("b"))
    keep(store, replace(one(store, "a"), content="second", importance=0.9, updated_at=NOW + 5), now=NOW + 5)
    born, changed = history(store, "a")
    assert (born.noun, born.id, born.at, born.cause) == ("memory", "a", NOW, CAUSE)
    assert (born.before, born.after) == (None, {})
    assert changed.at == NOW + 5
    assert changed.before == {"content": "first", "importance": 0.5, "updated_at": NOW}
    assert changed.after == {"content": "second", "importance": 0.9, "updated_at": NOW + 5}
    assert born.seq < changed.seq
    assert born.batch != changed.batch


def test_one_transaction_is_one_batch_of_the_journal(store: Store) -> None:
    keep(store, memory("a"), memory("b"), link("a", "b"))
    batches = {entry.batch for id in ("a", "b", "a-b") for entry in history(store, id)}
    assert len(batches) == 1


def test_a_link_has_a_history_of_its_own(store: Store) -> None:
    keep(store, memory("a"), memory("b"), link("a", "b"))
    keep(store, link("a", "b", weight=0.5), now=NOW + 1)
    born, changed = history(store, "a-b")
    assert (born.noun, born.before, born.after) == ("link", None, {})
    assert (changed.before, changed.after) == ({"weight": 1.0}, {"weight": 0.5})


def test_a_memory_without_a_past_has_no_history(store: Store) -> None:
    assert history(store, "nowhere") == []


def test_putting_the_same_again_leaves_no_trace(store: Store) -> None:
    keep(store, memory("a"), memory("b"), link("a", "b"))
    keep(store, memory("a"), memory("b"), link("a", "b"))
    assert [len(history(store, id)) for id in ("a", "b", "a-b")] == [1, 1, 1]


# --- writing memories


def test_a_change_keeps_the_use_and_the_depth(store: Store) -> None:
    family(store)
    touch(store, "child", activation={"child": 0.4})
    before = one(store, "child")
    keep(store, memory("child", "changed", depth=7, access_count=99, activation=0.0))
    assert one(store, "child") == replace(before, content="changed")


def test_depth_is_never_taken_over_from_a_new_memory(store: Store) -> None:
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        [stored] = writer.put([memory("a", depth=7)])
    assert stored.depth == 0


def test_a_change_of_text_takes_the_old_words_and_the_vector_away(store: Store) -> None:
    keep(store, memory("a", "walrus", title="sea"))
    place(store, {"a": EAST})
    keep(store, memory("a", "penguin", title="sea"))
    reader = shared(store)
    assert matching(reader, ["walrus"], 10, Filter()) == {}
    assert set(matching(reader, ["penguin"], 10, Filter())) == {"a"}
    assert reader.near(EAST, MODEL, 10, Filter()) == {}
    assert cosines(reader, ids=["a"]) == {}
    assert embedded(store) == (0, 1)


def test_a_change_of_anything_else_keeps_the_vector(store: Store) -> None:
    keep(store, memory("a"))
    place(store, {"a": EAST})
    keep(store, memory("a", importance=0.9, type="fact"))
    assert set(shared(store).near(EAST, MODEL, 10, Filter())) == {"a"}


def test_memories_are_returned_in_the_order_they_were_put(store: Store) -> None:
    keep(store, memory("b"))
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        assert [m.id for m in writer.put([memory("c"), memory("b", "changed"), memory("a")])] == [
            "c",
            "b",
            "a",
        ]


# --- writing links


def test_a_link_is_kept_once_for_each_pair_kind_and_type(store: Store) -> None:
    keep(store, memory("a"), memory("b"))
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        [first] = writer.put_links([link("a", "b", id="first")])
        [again] = writer.put_links([link("a", "b", id="again", weight=0.5, created_at=NOW + 9)])
        writer.put_links([link("a", "b", "relation", id="kind"), link("a", "b", type="t", id="type")])
        writer.put_links([link("b", "a", id="turned")])
    assert (again.id, again.alias, again.weight, again.created_at) == ("first", first.alias, 0.5, NOW)
    assert {tie.id for tie in links_of(shared(store), "a")} == {"first", "kind", "type", "turned"}


@pytest.mark.parametrize(("source", "target"), [("a", "nowhere"), ("nowhere", "a"), ("a", "\ud800")])
def test_a_link_needs_two_known_ends(source: str, target: str, store: Store) -> None:
    keep(store, memory("a"))
    with pytest.raises(NotFound, match="unknown memory"):
        keep(store, link(source, target, id="l"))
    assert links_of(shared(store), "a", ended=True) == []


def test_a_second_active_parent_is_refused(store: Store) -> None:
    family(store)
    for link_ in (below("second", "grandchild"), below("child", "grandchild", id="l", type="adopted")):
        with pytest.raises(Invalid, match="already has a parent"):
            keep(store, link_)
    assert parents(shared(store), ["grandchild"]) == {"grandchild": "child"}
    keep(store, below("child", "grandchild", active=False, ended_at=NOW), below("second", "grandchild"))
    assert parents(shared(store), ["grandchild"]) == {"grandchild": "second"}


def test_a_tree_never_bites_its_tail(store: Store) -> None:
    family(store)
    with pytest.raises(Invalid, match="above"):
        keep(store, below("grandchild", "root"))
    with pytest.raises(Invalid, match="above"):
        keep(store, memory("a"), below("a", "a"))
    assert parents(shared(store), ["root"]) == {}


def depths(store: Store) -> dict[str, int]:
    return {memory.id: memory.depth for memory in selected(shared(store), Filter(), 10)}


def test_the_depths_of_a_whole_subtree_follow_its_links(store: Store) -> None:
    family(store)
    assert depths(store) == {"root": 0, "child": 1, "second": 1, "grandchild": 2}
    keep(store, below("root", "child", active=False, ended_at=NOW))
    assert depths(store) == {"root": 0, "child": 0, "second": 1, "grandchild": 1}
    keep(store, below("second", "child"))
    assert depths(store) == {"root": 0, "second": 1, "child": 2, "grandchild": 3}


def test_other_kinds_of_links_make_no_depth(store: Store) -> None:
    keep(store, memory("a"), memory("b"), link("a", "b"))
    assert one(store, "b").depth == 0


# --- transactions


def test_a_transaction_is_all_or_nothing(store: Store) -> None:
    def fail() -> None:
        with store.transaction(SHARED, CAUSE, NOW) as writer:
            writer.put([memory("a", "walrus"), memory("before", "new text")])
            writer.put_links([below("a", "before")])
            writer.put_vectors(MODEL, {"a": EAST})
            raise ZeroDivisionError

    keep(store, memory("before", "old text"))
    with pytest.raises(ZeroDivisionError):
        fail()
    reader = shared(store)
    assert reader.get(["a", "before"]) == {"before": one(store, "before")}
    assert (one(store, "before").content, one(store, "before").depth) == ("old text", 0)
    assert matching(reader, ["walrus"], 10, Filter()) == reader.near(EAST, MODEL, 10, Filter()) == {}
    assert len(history(store, "before")) == 1
    assert history(store, "a") == []
    assert links_of(reader, "before") == []


def test_a_writer_sees_its_own_changes_and_nobody_else_does_until_it_ends(store: Store) -> None:
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        writer.put([memory("a", "walrus"), memory("b")])
        writer.put_links([below("a", "b")])
        assert set(writer.get(["a"])) == set(matching(writer, ["walrus"], 10, Filter())) == {"a"}
        assert parents(writer, ["b"]) == {"b": "a"}
        assert shared(store).get(["a"]) == {}
        assert matching(shared(store), ["walrus"], 10, Filter()) == {}
        assert history(store, "a") == []
    assert set(shared(store).get(["a"])) == {"a"}


def test_a_failing_transaction_does_not_take_a_neighbour_along(store: Store) -> None:
    inside = Event()

    def neighbour() -> None:
        assert inside.wait(60)
        keep(store, memory("neighbour"))

    def fail(other: Future[None]) -> None:
        with store.transaction(SHARED, CAUSE, NOW) as writer:
            writer.put([memory("mine")])
            inside.set()
            wait([other], timeout=0.2)  # give it the chance to slip into our transaction
            raise ZeroDivisionError

    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(neighbour)
        with pytest.raises(ZeroDivisionError):
            fail(other)
        other.result(timeout=60)
    assert set(shared(store).get(["mine", "neighbour"])) == {"neighbour"}


def test_threads_that_write_at_once_lose_nothing(store: Store) -> None:
    def write(writer: int) -> None:
        for number in range(10):
            keep(store, memory(f"w{writer}-{number}"))
            touch(store, "counter")

    keep(store, memory("counter"))
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(8)))
    assert count(shared(store), Filter()) == 81
    assert one(store, "counter").access_count == 80


# --- use


def test_a_use_is_counted_and_nothing_else_changes(store: Store) -> None:
    keep(store, memory("a"), memory("b"))
    before = {id: one(store, id) for id in "ab"}
    touch(store, "a", "nowhere", now=NOW + 5)
    assert one(store, "a") == replace(
        before["a"], access_count=1, access_days=1, last_accessed_at=NOW + 5, last_reinforced_at=NOW + 5
    )
    assert one(store, "b") == before["b"]
    assert len(history(store, "a")) == 1
    assert len(shared(store).journal(JournalFilter(), EVERY)) == 2


def test_days_of_use_are_counted_apart(store: Store) -> None:
    keep(store, memory("a"))
    midnight = NOW - NOW % DAY_SECONDS
    for moment, days in ((0, 1), (3_600, 1), (DAY_SECONDS - 1, 1), (DAY_SECONDS, 2), (5 * DAY_SECONDS, 3)):
        touch(store, "a", now=midnight + moment)
        assert one(store, "a").access_days == days
    assert one(store, "a").access_count == 5


def test_activation_adds_up_fades_and_is_capped(store: Store) -> None:
    keep(store, memory("a"), memory("b"))
    for day, activation in ((0, 0.1), (0, 0.2), (1, 0.2)):
        touch(store, activation={"a": 0.1, "nowhere": 0.1}, now=NOW + day * DAY_SECONDS)
        assert one(store, "a").activation == pytest.approx(activation)
        assert one(store, "a").activated_at == NOW + day * DAY_SECONDS
    for _ in range(20):
        touch(store, activation={"a": 0.1}, now=NOW + DAY_SECONDS)
    assert one(store, "a").activation == 1.0
    assert (one(store, "a").access_count, one(store, "a").last_accessed_at) == (0, None)
    assert one(store, "b").activation == 0.0


def test_a_clock_that_went_backwards_does_not_raise_activation(store: Store) -> None:
    keep(store, memory("a"))
    touch(store, activation={"a": 0.1}, now=NOW)
    touch(store, activation={"a": 0.1}, now=NOW - 100 * DAY_SECONDS)
    assert one(store, "a").activation == pytest.approx(0.2)


# --- embedding


def test_memories_without_a_vector_wait_newest_first(store: Store) -> None:
    keep(store, *(memory(id) for id in ("bare", "other", "done", "late")))
    place(store, {"done": EAST})
    place(store, {"other": EAST}, model="zzz/test/4")
    assert [passage.id for passage in unembedded(store, 10)] == ["late", "other", "bare"]
    assert [passage.id for passage in unembedded(store, 2)] == ["late", "other"]
    assert embedded(store) == (1, 3)


def test_a_passage_holds_the_text_to_embed(store: Store) -> None:
    keep(store, memory("a", "content", title="title", summary="summary", context="context"))
    [passage] = unembedded(store, 10)
    assert passage.text == "title\ncontext\nsummary\ncontent"


def test_of_a_tools_output_the_beginning_is_embedded(store: Store) -> None:
    output = "Bash: make test\n" + "passed\n" * 1_000
    keep(store, memory("a", output, kind="turn", type="tool"), memory("b", output, kind="turn", type="user"))
    lengths = {passage.id: len(passage.text) for passage in unembedded(store, 9)}
    assert lengths == {"a": 600, "b": len(output)}


def test_an_embedded_passage_is_found_and_waits_no_more(store: Store) -> None:
    keep(store, memory("a"), memory("b"))
    passages = unembedded(store, 10)
    assert store.embed(MODEL, dict.fromkeys(passages, EAST)) == 2
    assert unembedded(store, 10) == []
    assert set(shared(store).near(EAST, MODEL, 10, Filter())) == {"a", "b"}
    assert embedded(store) == (2, 0)


def test_a_passage_whose_text_changed_meanwhile_is_not_embedded(store: Store) -> None:
    keep(store, memory("a"), memory("b"))
    stale = unembedded(store, 10)
    keep(store, memory("a", "changed"))
    assert store.embed(MODEL, {**dict.fromkeys(stale, EAST), Passage("nowhere", "x", 0): EAST}) == 1
    assert set(shared(store).near(EAST, MODEL, 10, Filter())) == {"b"}
    assert [passage.text for passage in unembedded(store, 10)] == ["changed"]


def test_some_work_is_done_by_one_at_a_time(open_store: OpenStore) -> None:
    store, other = open_store(), open_store()
    with store.exclusive("embedding") as first:
        assert first
        for one, work, free in ((other, "embedding", False), (store, "embedding", False), (other, "x", True)):
            with one.exclusive(work) as alone:
                assert alone == free
    with other.exclusive("embedding") as free:
        assert free


def test_embedding_leaves_no_entry_in_the_journal(store: Store) -> None:
    keep(store, memory("a"))
    store.embed(MODEL, dict.fromkeys(unembedded(store, 10), EAST))
    assert len(history(store, "a")) == 1


# --- care


def test_a_store_reports_where_it_is_how_large_and_that_nothing_is_wrong(store: Store) -> None:
    before = store.report()
    assert before.location
    assert before.warnings == ()
    keep(store, *(memory(f"m{n}", "word " * 5_000) for n in range(20)))
    assert store.report().size_bytes > before.size_bytes > 0


def test_a_healthy_store_passes_every_check(store: Store) -> None:
    world(store)
    touch(store, "root", activation={"child": 0.1})
    findings = store.check()
    assert findings
    assert [finding for finding in findings if not finding.passed] == []


def everything(store: Store) -> list[object]:
    """All that "mine" can see of the little world."""
    reader, where = store.reader("mine"), Filter(superseded=True, forgotten=True)
    return [
        selected(reader, where, 100),
        links_of(reader, "root", "child"),
        history(store, "root"),
        matching(reader, ["lighthouse"], 100, where),
        reader.about(["eddystone"], where, 100),
        reader.near(EAST, MODEL, 100, where),
        reader.full_texts(["root", "child"]),
    ]


def test_rebuilding_a_healthy_store_changes_nothing(store: Store) -> None:
    world(store)
    touch(store, "root", activation={"child": 0.1})
    before = everything(store)
    store.check(repair=True)
    assert everything(store) == before
    assert all(finding.passed for finding in store.check())


def test_a_closed_store_refuses_every_use_and_may_be_closed_again(store: Store) -> None:
    keep(store, memory("a"))
    reader = shared(store)
    store.close()
    store.close()
    uses: list[Callable[[], object]] = [
        lambda: reader.get(["a"]),
        lambda: keep(store, memory("b")),
        lambda: touch(store, "a"),
        lambda: unembedded(store, 1),
        lambda: store.check(),
    ]
    for use in uses:
        with pytest.raises(Unavailable, match="closed"):
            use()


def test_everything_written_is_there_when_the_store_is_opened_again(open_store: OpenStore) -> None:
    first = open_store()
    keep(first, memory("a", "walrus"))
    place(first, {"a": EAST})
    stored = one(first, "a")
    first.close()
    second = open_store()
    assert one(second, "a") == stored
    assert set(matching(shared(second), ["walrus"], 10, Filter())) == {"a"}
    assert set(shared(second).near(EAST, MODEL, 10, Filter())) == {"a"}


# --- namespaces: a reader sees its own and the shared, never another's

PEOPLE = ("mine", "theirs", SHARED)
KNOWN = [
    f"{who}-{what}"
    for who in PEOPLE
    for what in ("root", "leaf", "friend", "gone", "tree", "tie", "cross", "pair")
]

QUESTIONS: dict[str, Callable[[Reader], Iterable[str]]] = {
    "get": lambda reader: reader.get(KNOWN, forgotten=True),
    "resolve": lambda reader: [
        id
        for noun, references in ((MEMORY, ["", *range(100)]), (LINK, range(100)))
        for found in reader.resolve(references, 100, noun).values()
        for id in found
    ],
    "select": lambda reader: [m.id for m in selected(reader, Filter(forgotten=True))],
    "traces": lambda reader: ids_of(reader, Filter(forgotten=True)),
    "matching": lambda reader: matching(reader, ["lighthouse"], 100, Filter()),
    "near": lambda reader: reader.near(EAST, MODEL, 100, Filter()),
    "children": lambda reader: [id for found in reader.children(KNOWN).values() for id in found],
    "ancestors": lambda reader: [id for way in reader.ancestors(KNOWN).items() for id in (way[0], *way[1])],
    "places": lambda reader: [
        id
        for place in reader.places(KNOWN).values()
        for id in (*place.path, *([place.successor.id] if place.successor else []))
    ],
    "links": lambda reader: [
        *_named(reader.links(KNOWN)),
        *_named(reader.links(KNOWN, ended=True)),
        *_named(reader.links(between=KNOWN)),
        *_named(reader.links(ids=KNOWN, ended=True)),
    ],
    "containing": lambda reader: reader.containing("GHTHOU", Filter()),
    "about": lambda reader: [
        id for found in reader.about(["eddystone"], Filter(forgotten=True), 100).values() for id in found
    ],
    "vectors": lambda reader: reader.vectors(MODEL, KNOWN),
    "full_texts": lambda reader: reader.full_texts(KNOWN),
    "cooccurrences": lambda reader: [
        id for two in reader.cooccurrences(KNOWN) for id in (two.one, two.other)
    ],
    "suggestions": lambda reader: [
        *_proposed(reader.suggestions(SuggestionFilter(ids=tuple(KNOWN)))),
        *_proposed(reader.suggestions(SuggestionFilter(touching=tuple(KNOWN)))),
        *_proposed(reader.suggestions(SuggestionFilter(pending=True))),
    ],
    "records": lambda reader: [bookmark.path for bookmark in reader.records(Bookmark)],
    "journal": lambda reader: [entry.id for entry in reader.journal(JournalFilter(), EVERY)],
    "counts": lambda reader: reader.counts(MODEL).projects,
}
NUMBERS = {"count_below", "counts", "days", "purged"}
"""Tested below by themselves: they answer with numbers, or for one namespace."""


def _named(links: Iterable[Link]) -> list[str]:
    return [id for link in links for id in (link.id, link.source, link.target)]


def _proposed(suggestions: Iterable[Suggestion]) -> list[str]:
    return [id for pair in suggestions for id in (pair.id, pair.source, pair.target)]


def pair(id: str, one: str, other: str) -> Suggestion:
    return Suggestion(id=id, source=one, target=other, score=0.5, signals={}, created_at=NOW, updated_at=NOW)


def bookmark(path: str, **changes: Any) -> Bookmark:
    read = Bookmark(
        path=path,
        source="test",
        device=2**64 - 1,
        inode=2**63,
        offset=10,
        lines=1,
        first="a",
        last="b",
        state={"calls": {"1": "search"}},
        read_at=NOW,
    )
    return replace(read, **changes)


def test_a_bookmark_moves(store: Store) -> None:
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        put_record(writer, bookmark("one"))
        put_record(writer, bookmark("two"))
    moved = bookmark("one", offset=2**40, lines=7, last="c", state={})
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        put_record(writer, moved)
        assert writer.records(Bookmark) == [moved, bookmark("two")]
    assert store.reader(SHARED).records(Bookmark) == [moved, bookmark("two")]


def test_a_bookmark_stays_where_it_was_if_the_transaction_fails(store: Store) -> None:
    def fail() -> None:
        with store.transaction(SHARED, CAUSE, NOW) as writer:
            put_record(writer, bookmark("one"))
            raise NotFound("no")

    with pytest.raises(NotFound):
        fail()
    assert store.reader(SHARED).records(Bookmark) == []


def test_the_order_of_the_newest_below_follows_the_children_that_are_not_forgotten(store: Store) -> None:
    for number, id in enumerate(("early", "late", "alone"), 1):
        keep(store, memory(id, kind="session", created_at=NOW + number))
    later = memory("turn", created_at=NOW + 9)
    keep(store, later, memory("turn-2", created_at=NOW + 2), below("early", "turn"), below("late", "turn-2"))
    sessions = Filter(kinds=frozenset({"session"}))

    def listed(limit: int = 10) -> list[str]:
        return [one.id for one in selected(shared(store), sessions, limit, order="newest below")]

    assert listed() == ["early", "alone", "late"]
    assert listed(1) == ["early"]
    keep(store, replace(later, forgotten_at=NOW))
    assert listed() == ["alone", "late", "early"]


WHOLE = "Grüße 👋🏽\n\t" + "".join(f"{number} harbours\r\n" for number in range(50_000)) + "  end \u2028"


def keep_whole(store: Store, **texts: str) -> None:
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        writer.put([], texts)


def test_a_whole_text_comes_back_with_every_character(store: Store) -> None:
    keep(store, memory("a", "0 harbours […] end"), memory("b"))
    keep_whole(store, a=WHOLE)
    assert shared(store).full_texts(["a", "b", "unknown"]) == {"a": WHOLE}
    keep_whole(store, a="shorter", b=WHOLE)
    assert shared(store).full_texts(["a", "b"]) == {"a": "shorter", "b": WHOLE}
    keep_whole(store, a="")
    assert shared(store).full_texts(["a", "b"]) == {"b": WHOLE}


def test_a_whole_text_takes_part_in_no_search_and_costs_little_room(store: Store) -> None:
    keep(store, memory("a", "an excerpt"))
    before, [waiting] = store.report().size_bytes, unembedded(store, 10)
    keep_whole(store, a=WHOLE)
    assert matching(shared(store), ["harbours"], 10, ANY) == {}
    assert shared(store).containing("harbours", ANY) == []
    assert unembedded(store, 10) == [waiting]
    assert store.report().size_bytes - before < len(WHOLE) / 2


def test_a_whole_text_is_forgotten_and_restored_with_its_memory(store: Store) -> None:
    keep(store, memory("a"))
    keep_whole(store, a=WHOLE)
    keep(store, memory("a", forgotten_at=NOW))
    assert shared(store).full_texts(["a"]) == {}
    keep(store, memory("a"))
    assert shared(store).full_texts(["a"]) == {"a": WHOLE}


def test_a_whole_text_is_kept_with_its_transaction_and_beside_known_memories_only(store: Store) -> None:
    keep(store, memory("a"), memory("theirs", namespace="theirs"), namespace="theirs")
    for id in ("theirs", "unknown"):
        with pytest.raises(NotFound, match=id):
            keep_whole(store, **{"a": WHOLE, id: WHOLE})
    assert shared(store).full_texts(["a"]) == {}
    assert store.reader("theirs").full_texts(["theirs"]) == {}


def test_a_whole_text_leaves_no_copy_in_the_journal(store: Store) -> None:
    keep(store, memory("a"))
    before = history(store, "a")
    keep_whole(store, a=WHOLE)
    assert history(store, "a") == before


RECORDS: list[Record] = [
    bookmark("one"),
    Job(name="sweep", due_at=NOW, done_at=NOW - 1.5, claimed_until=NOW + 60),
    DigestProgress(
        session="s1", turns=3, until=7, digested_at=NOW, attempts=2, retry_at=NOW + 9, error="ünïcode"
    ),
    SessionAnswers(session="s1", answers={"1": {"topics": ["a", {"b": None}]}}),
    PhaseMark(phase="merge", done_at=NOW, settings="model least=0.9", seen=("x", "y")),
    ConsolidationRun(began_at=NOW, seconds=1.5, phases=("merge",), counts={"merged": 2}, remarks=("no",)),
    Spending(day="2026-01-01", model="small", calls=2, tokens_in=10, tokens_out=5, dollars=0.25, unpriced=1),
    AccessToken(
        id="t1",
        name="alice",
        digest="0" * 64,
        of_tenant="team",
        namespaces=("alice", "web"),
        rights=("read", "write"),
        created_at=NOW,
        expires_at=NOW + 1,
    ),
    SyncMark(remote="https://lore.example", direction="push", cursor="WzFd", moved_at=NOW),
    FieldStamps(id="m1", stamps={"title": NOW, "parent": NOW + 1}, seq=7),
    Judgement(key="link:1", verdict="rejected", judged_at=NOW, judged_by="alice"),
]


def test_every_kind_of_record_is_tested_here() -> None:
    assert {type(record) for record in RECORDS} == KEYS.keys()


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: type(record).__name__)
def test_a_record_comes_back_as_it_was_put_until_it_is_removed(record: Record, store: Store) -> None:
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        writer.put_records([record])
        assert writer.records(type(record)) == [record]
    assert shared(store).records(type(record), **key_of(record)) == [record]
    other = dict.fromkeys(key_of(record), "other")
    assert shared(store).records(type(record), **other) == []
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        writer.put_records([], removed=[record])
    assert shared(store).records(type(record)) == []


def test_a_record_is_replaced_by_its_key_and_records_come_in_order_of_their_keys(store: Store) -> None:
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        writer.put_records(
            [Job(name="b"), Job(name="a"), Spending(day="1", model="y"), Spending(day="1", model="x")]
        )
        writer.put_records([Job(name="b", done_at=NOW)])
    reader = shared(store)
    assert reader.records(Job) == [Job(name="a"), Job(name="b", done_at=NOW)]
    assert [each.model for each in reader.records(Spending, day="1")] == ["x", "y"]


def test_a_record_is_seen_by_its_own_namespace_only_but_a_shared_bookmark_by_all(store: Store) -> None:
    for who in PEOPLE:
        with store.transaction(who, CAUSE, NOW) as writer:
            writer.put_records([Job(name=who), bookmark(who)])
    for who in PEOPLE:
        assert [job.name for job in store.reader(who).records(Job)] == [who]
        assert {mark.path for mark in store.reader(who).records(Bookmark)} == {who, SHARED}


def test_no_record_is_kept_if_the_transaction_fails(store: Store) -> None:
    def fail() -> None:
        with store.transaction(SHARED, CAUSE, NOW) as writer:
            writer.put_records([Job(name="half")])
            raise NotFound("no")

    with pytest.raises(NotFound):
        fail()
    assert shared(store).records(Job) == []


def test_records_leave_no_entry_in_the_journal(store: Store) -> None:
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        writer.put_records(RECORDS)
    assert shared(store).journal(JournalFilter(), EVERY) == []


def society(store: Store) -> None:
    """The same little tree for each of three namespaces, and ties of "theirs" into the shared one."""
    for who in (SHARED, "mine", "theirs"):
        names = {what: f"{who}-{what}" for what in ("root", "leaf", "friend", "gone")}
        keep(
            store,
            *(
                lighthouse(id, namespace=who, project=f"{who}-project")
                for id in names.values()
                if id != names["gone"]
            ),
            lighthouse(names["gone"], namespace=who, forgotten_at=NOW),
            below(names["root"], names["leaf"], id=f"{who}-tree"),
            link(names["leaf"], names["friend"], id=f"{who}-tie"),
            link(names["leaf"], names["friend"], "temporal", id=f"{who}-next"),
            namespace=who,
        )
        place(store, dict.fromkeys(names.values(), EAST), who)
        touch(store, names["root"], names["leaf"], together=True)
        with store.transaction(who, CAUSE, NOW) as writer:
            writer.put_suggestions([pair(f"{who}-pair", names["friend"], names["root"])])
            put_record(writer, bookmark(f"{who}-file"))
            writer.put([], dict.fromkeys(names.values(), "The whole story"))
    keep(
        store,
        below("theirs-root", "shared-friend", id="theirs-cross"),
        link("shared-root", "theirs-friend", id="theirs-tied"),
        link("theirs-friend", "shared-root", type="updates", id="theirs-update"),
        namespace="theirs",
    )
    with store.transaction("theirs", CAUSE, NOW) as writer:
        writer.put_suggestions([pair("theirs-cross", "shared-root", "theirs-leaf")])


def test_every_question_of_a_reader_is_asked_here() -> None:
    assert QUESTIONS.keys() | NUMBERS == Reader.__abstractmethods__


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_a_reader_sees_its_own_and_the_shared_never_anothers(
    question: Callable[[Reader], Iterable[str]], store: Store
) -> None:
    society(store)
    owners = {
        who: {id.partition("-")[0] for id in question(store.reader(who))} for who in (*PEOPLE, "nobody")
    }
    assert owners == {
        "mine": {"mine", SHARED},
        "theirs": {"theirs", SHARED},
        SHARED: {SHARED},
        "nobody": {SHARED},
    }


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_a_reader_sees_the_namespaces_of_its_teams_too(
    question: Callable[[Reader], Iterable[str]], store: Store
) -> None:
    society(store)
    teams = {("mine", "theirs"): set(PEOPLE), (SHARED, "mine"): {"mine", SHARED}, ("nobody", "theirs"): {
        "theirs", SHARED}, ("mine", SHARED): {"mine", SHARED}}  # fmt: skip
    for (who, team), owners in teams.items():
        reader = store.reader(who, teams=(team, "nobody else"))
        assert {id.partition("-")[0] for id in question(reader)} == owners


def test_a_team_counts_with_its_reader(store: Store) -> None:
    society(store)
    counts = store.reader("mine", teams=("theirs",)).counts()
    assert (counts.memories, counts.forgotten, counts.suggestions) == (9, 3, 4)
    assert list(store.reader("mine", teams=("theirs",)).count_below(KNOWN[8:9], ANY).values()) == [2]
    assert store.reader(SHARED, teams=("mine",)).near(EAST, MODEL, 99, ANY).keys() == {
        f"{who}-{what}" for who in ("mine", SHARED) for what in ("root", "leaf", "friend")
    }


def test_a_writer_changes_the_memories_of_its_team_and_puts_new_ones_where_they_say(store: Store) -> None:
    society(store)
    with store.transaction("mine", CAUSE, NOW, teams=("theirs",)) as writer:
        [old] = writer.get(["theirs-root"]).values()
        writer.put([replace(old, content="changed"), memory("new", namespace="theirs")])
    theirs = store.reader("theirs")
    assert {id: one.content for id, one in theirs.get(["theirs-root", "new"]).items()} == {
        "theirs-root": "changed",
        "new": "text of new",
    }
    with pytest.raises(NotFound), store.transaction("mine", CAUSE, NOW, teams=("ours",)) as writer:
        writer.put([memory("newer", namespace="theirs")])


def test_a_link_between_two_namespaces_and_its_history_are_seen_by_who_sees_both(store: Store) -> None:
    society(store)
    tie = link("mine-leaf", "theirs-leaf", id="both")
    for weight in (0.5, 1.0):
        with store.transaction(SHARED, CAUSE, NOW, teams=("mine", "theirs")) as writer:
            writer.put_links([replace(tie, weight=weight)])
    readers = {
        who: store.reader(who, teams=teams)
        for who, teams in (("mine", ()), ("theirs", ()), (SHARED, ()), ("nobody", ("theirs", "mine")))
    }
    links = {who: len(reader.links(ids=["both"])) for who, reader in readers.items()}
    entries = {who: len(reader.journal(JournalFilter(id="both"), EVERY)) for who, reader in readers.items()}
    assert links == {"mine": 0, "theirs": 0, SHARED: 0, "nobody": 1}
    assert entries == {"mine": 0, "theirs": 0, SHARED: 0, "nobody": 2}


def test_a_tombstone_stays_in_its_namespace_with_or_without_a_memory(store: Store) -> None:
    keep(store, memory("kept"), memory("gone", forgotten_at=NOW))
    store.purge(["gone", "kept"], CAUSE, NOW + 1)
    with store.transaction("mine", CAUSE, NOW + 2) as writer:
        writer.put_tombstones(["never here"])
    ids = ["kept", "gone", "never here", "unknown"]
    assert shared(store).purged(ids) == {"gone": NOW + 1}
    assert store.reader("mine").purged(ids) == {"never here": NOW + 2}
    assert shared(store).purged([]) == {}


def test_the_epoch_of_a_store_stays(store: Store) -> None:
    before = store.epoch()
    keep(store, memory("a"))
    assert before
    assert store.epoch() == before


def test_the_author_is_who_wrote_the_present_text(store: Store) -> None:
    with store.transaction(SHARED, replace(CAUSE, author="alice"), NOW) as writer:
        writer.put([memory("a"), memory("b", author="bob")])
    with store.transaction(SHARED, replace(CAUSE, author="carol"), NOW) as writer:
        writer.put([memory("a", "changed"), memory("b", title="changed")])
    assert {id: one.author for id, one in shared(store).get(["a", "b"]).items()} == {"a": "carol", "b": "bob"}


def test_the_namespaces_of_all_tenants_and_of_one_are_known(store: Store) -> None:
    assert store.namespaces() == store.namespaces("acme") == []
    keep_for(store, "zoo", memory("z"))
    society(store)
    keep_for(store, "acme", memory("a"))
    own = [("", "mine"), ("", SHARED), ("", "theirs")]
    assert store.namespaces() == [*own, ("acme", SHARED), ("zoo", SHARED)]
    assert [store.namespaces(name) for name in ("", "acme", "nobody")] == [own, [("acme", SHARED)], []]


def test_a_reader_counts_its_own_and_the_shared_never_anothers(store: Store) -> None:
    society(store)
    reader = store.reader("mine")
    assert count(reader, Filter()) == 6
    counts = reader.counts()
    assert (counts.memories, counts.roots, counts.links, counts.forgotten) == (6, 4, 6, 2)
    assert store.reader(SHARED).counts().memories == 3
    assert [store.reader(who).counts().suggestions for who in PEOPLE] == [2, 3, 1]
    roots = [f"{who}-root" for who in PEOPLE]
    assert list(reader.count_below(roots, Filter()).values()) == [1, 0, 1]
    assert list(store.reader("theirs").count_below(roots, Filter()).values()) == [0, 2, 1]


def test_a_memory_whose_parent_is_out_of_sight_is_a_root(store: Store) -> None:
    society(store)
    assert "shared-friend" in roots(store.reader("mine"), Filter())
    assert store.reader("mine").ancestors(["shared-friend"]) == {"shared-friend": []}
    assert store.reader("theirs").ancestors(["shared-friend"]) == {"shared-friend": ["theirs-root"]}


def test_what_hangs_below_anothers_memory_is_out_of_reach(store: Store) -> None:
    society(store)
    assert count(store.reader("mine"), Filter(under="theirs-root")) == 0


def test_what_hangs_below_a_memory_by_way_of_anothers_is_out_of_reach(store: Store) -> None:
    keep(store, memory("a"), memory("b"))
    keep(store, memory("t", namespace="theirs"), below("a", "t"), below("t", "b"), namespace="theirs")
    for who, number in (("mine", 0), ("theirs", 2)):
        assert count(store.reader(who), Filter(under="a")) == number
        assert store.reader(who).count_below(["a"], Filter()) == {"a": number}


def test_a_writer_cannot_change_anothers_memory(store: Store) -> None:
    society(store)
    with pytest.raises(NotFound):
        keep(store, memory("theirs-root", "stolen", namespace="mine"), namespace="mine")
    place(store, {"theirs-root": NORTH}, "mine")
    theirs = store.reader("theirs")
    assert theirs.get(["theirs-root"])["theirs-root"].content == "lighthouse"
    assert cosines(theirs, ids=["theirs-root"])["theirs-root"] == pytest.approx(1.0)
    assert len(history(store, "theirs-root", "theirs")) == 1


@pytest.mark.parametrize(("source", "target"), [("mine-root", "theirs-root"), ("theirs-root", "mine-root")])
def test_a_writer_cannot_link_to_anothers_memory(source: str, target: str, store: Store) -> None:
    society(store)
    with pytest.raises(NotFound):
        keep(store, link(source, target, id="mine-bridge"), namespace="mine")
    assert links_of(store.reader("theirs"), "theirs-root", ended=True) == links_of(
        store.reader("theirs"), "theirs-root"
    )


def test_a_writer_cannot_put_into_anothers_namespace(store: Store) -> None:
    with pytest.raises(NotFound):
        keep(store, memory("gift", namespace="theirs"), namespace="mine")
    assert store.reader("theirs").get(["gift"]) == {}


def test_a_tree_cannot_bite_its_tail_through_a_namespace_out_of_sight(store: Store) -> None:
    keep(store, memory("a"), memory("b"))
    keep(store, memory("t", namespace="theirs"), below("b", "t"), below("t", "a"), namespace="theirs")
    with pytest.raises(Invalid):
        keep(store, below("a", "b"))


def test_a_rare_word_out_of_sight_does_not_hide_what_common_words_find(store: Store) -> None:
    """Common words may be left out for speed, but never when that leaves nothing."""
    with store.transaction("mine", CAUSE, NOW) as writer:
        writer.put([memory(f"m{n}", "harbour", namespace="mine") for n in range(3_100)])
    with store.transaction("theirs", CAUSE, NOW) as writer:
        writer.put([memory("t", "secretword", namespace="theirs")])
    assert len(matching(store.reader("mine"), ["harbour", "secretword"], 5, Filter())) == 5


def test_a_writer_that_outlives_its_transaction_writes_nothing(store: Store) -> None:
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        writer.put([memory("kept")])
    with pytest.raises(Unavailable, match="over"):
        writer.put([memory("late")])
    assert store.reader(SHARED).get(["kept", "late"]).keys() == {"kept"}


def test_after_a_release_everything_is_as_it_was(store: Store) -> None:
    keep(store, memory("a", "walrus"), memory("b", "penguin"))
    place(store, {"a": EAST, "b": NORTH})
    reader = store.reader(SHARED)
    before = (reader.get(["a", "b"]), reader.near(EAST, MODEL, 2, Filter()))
    for _ in range(2):
        store.release()
        assert (reader.get(["a", "b"]), reader.near(EAST, MODEL, 2, Filter())) == before
    touch(store, "a")
    keep(store, memory("c"))
    assert reader.get(["a"])["a"].access_count == 1
    assert count(reader, Filter()) == 3


def test_a_few_of_one_kind_are_found_behind_many_of_another(store: Store) -> None:
    keep(store, *(memory(f"n{at}", "walrus") for at in range(300)))
    keep(store, memory("rare", "walrus " + "filler " * 50, kind="fragment"))
    place(store, {f"n{at}": EAST for at in range(300)} | {"rare": NORTH})
    reader, rare = store.reader(SHARED), Filter(kinds=frozenset({"fragment"}))
    assert list(reader.near(EAST, MODEL, 1, rare)) == ["rare"]
    assert list(matching(reader, ["walrus"], 1, rare)) == ["rare"]


# --- pages


def pages(reader: Reader, where: Filter, size: int, order: Order = "newest") -> list[list[str]]:
    """The ids of all pages, one after the other."""
    found, cursor, more = [], "", True
    while more:
        page = reader.select(where, Page(limit=size, cursor=cursor, order=order))
        cursor, more = page.cursor, page.more
        found.append([each.id for each in page])
    return found


ORDERS: dict[Order, list[str]] = {
    "newest": ["m6", "m5", "m4", "m3", "m2", "m1", "m0"],
    "importance": ["m6", "m3", "m0", "m5", "m4", "m2", "m1"],
    "use": ["m2", "m6", "m5", "m4", "m3", "m1", "m0"],
    "newest below": ["m1", "m6", "m5", "m4", "m3", "m2", "m0"],
    "shuffled": ["m6", "m5", "m4", "m3", "m2", "m1", "m0"],
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_pages_list_every_memory_once_in_the_order_of_the_listing(
    order: Order, size: int, store: Store
) -> None:
    """Also where memories are equal in that order."""
    memories = [
        memory(f"m{n}", created_at=NOW + n // 3, importance=0.9 if n % 3 == 0 else 0.1) for n in range(7)
    ]
    child = memory("child", kind="turn", created_at=NOW + 50)
    keep(store, *memories, child, below("m1", "child"))
    touch(store, "m2")
    where = Filter(other_kinds=frozenset({"turn"}))
    expected = ORDERS[order]
    listed = pages(shared(store), where, size, order)
    assert [id for page in listed for id in page] == expected
    assert [len(page) for page in listed[:-1]] == [size] * (len(listed) - 1)
    assert ids_of(shared(store), where) == ORDERS["newest"]


def test_a_page_tells_the_total_on_request_and_whether_others_follow(store: Store) -> None:
    keep(store, *(memory(f"m{n}") for n in range(5)))
    first = shared(store).select(ANY, Page(limit=2, total=True))
    assert (len(first), first.more, first.total) == (2, True, 5)
    last = shared(store).traces(ANY, Page(limit=5))
    assert (len(last), last.more) == (5, False)
    assert (len(shared(store).traces(ANY, COUNT)), shared(store).traces(ANY, COUNT).total) == (0, 5)


def test_memories_written_between_two_pages_change_nothing_about_the_older_ones(store: Store) -> None:
    keep(store, *(memory(f"m{n}", created_at=NOW + n) for n in range(4)))
    first = shared(store).select(ANY, Page(limit=2))
    keep(store, memory("new", created_at=NOW + 9), replace(one(store, "m3"), content="changed"))
    rest = shared(store).select(ANY, Page(limit=9, cursor=first.cursor))
    assert [each.id for each in [*first, *rest]] == ["m3", "m2", "m1", "m0"]


WRONG_PLACES = [
    urlsafe_b64encode(text.encode()).decode()
    for text in ("[{}]", "[null]", '["x"]', "[1e999]", f"[{9**30}]", "[" * 20_000)
]


@pytest.mark.parametrize("cursor", ["nonsense", "W10=", "%", "é", *WRONG_PLACES])
def test_a_cursor_that_no_page_has_given_is_refused(cursor: str, store: Store) -> None:
    with pytest.raises(Invalid, match="unknown cursor"):
        shared(store).select(ANY, Page(cursor=cursor))
    with pytest.raises(Invalid, match="unknown cursor"):
        shared(store).journal(JournalFilter(), Page(cursor=cursor))


# --- the journal as a change feed


def feed(reader: Reader, cursor: str, size: int = 2) -> tuple[list[str], str]:
    """The ids of all changes behind a cursor, and the cursor behind them."""
    found: list[str] = []
    more = True
    while more:
        page = reader.journal(JournalFilter(newest_first=False), Page(limit=size, cursor=cursor))
        cursor, more = page.cursor, page.more
        found += [entry.id for entry in page]
    return found, cursor


def test_the_journal_is_listed_newest_first_page_by_page(store: Store) -> None:
    for number in range(5):
        keep(store, memory(f"m{number}"))
    first = shared(store).journal(JournalFilter(), Page(limit=2))
    rest = shared(store).journal(JournalFilter(), Page(limit=9, cursor=first.cursor))
    assert [entry.id for entry in [*first, *rest]] == ["m4", "m3", "m2", "m1", "m0"]
    assert (first.more, rest.more) == (True, False)


def test_the_journal_lists_the_entries_of_one_transaction(store: Store) -> None:
    keep(store, memory("a"), memory("b"), link("a", "b"))
    keep(store, memory("c"))
    (batch,) = {entry.batch for entry in history(store, "a")}
    reader = shared(store)
    together = reader.journal(JournalFilter(batch=batch, newest_first=False), EVERY)
    assert [entry.id for entry in together] == ["a", "b", "a-b"]
    assert [entry.id for entry in reader.journal(JournalFilter(batch=batch, id="b"), EVERY)] == ["b"]
    assert reader.journal(JournalFilter(batch="ü"), EVERY) == []
    assert store.reader(SHARED, "acme").journal(JournalFilter(batch=batch), EVERY) == []


def test_changes_are_counted_by_day_kind_and_event(store: Store) -> None:
    day = int(NOW // DAY_SECONDS)
    keep(
        store,
        memory("a"),
        memory("b"),
        memory("said", kind="turn"),
        memory("private", namespace="mine"),
        namespace="mine",
    )
    tomorrow = NOW + DAY_SECONDS
    keep(store, replace(one(store, "a"), content="other"), now=tomorrow)
    keep(store, replace(one(store, "a"), superseded_by="b", superseded_at=tomorrow), now=tomorrow)
    keep(store, replace(one(store, "b"), forgotten_at=tomorrow + 1), now=tomorrow + 1)
    keep(store, replace(one(store, "a"), forgotten_at=tomorrow + 2), now=tomorrow + 2)
    keep(store, replace(one(store, "b"), forgotten_at=None), now=tomorrow + 3)
    assert shared(store).days(NOW) == [
        DayCount(day, "note", "learnt", 2),
        DayCount(day, "turn", "learnt", 1),
        DayCount(day + 1, "note", "changed", 2),
        DayCount(day + 1, "note", "forgotten", 1),
        DayCount(day + 1, "note", "replaced", 1),
        DayCount(day + 1, "note", "restored", 1),
    ]
    assert shared(store).days(tomorrow + 3) == [DayCount(day + 1, "note", "restored", 1)]
    ahead = DAY_SECONDS - NOW % DAY_SECONDS
    assert {each.day for each in shared(store).days(NOW, ahead)} == {day + 1, day + 2}
    assert sum(each.count for each in store.reader("mine").days(0.0)) == 9
    assert store.reader(SHARED, "acme").days(0.0) == []


def test_a_purge_erases_forgotten_memories_with_all_that_belongs_to_them(store: Store) -> None:
    keep(store, memory("root"), memory("gone", "zanzibar"), memory("leaf"), memory("kept", "zanzibar too"))
    keep(store, below("root", "gone"), below("gone", "leaf"), link("kept", "gone", reason="zanzibar"))
    place(store, {"gone": EAST, "kept": EAST})
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        writer.put([], {"gone": "zanzibar whole"})
        writer.put_suggestions([pair("s", "gone", "leaf")])
        writer.put_records(
            [FieldStamps(id="gone", stamps={}, seq=1), FieldStamps(id="kept", stamps={}, seq=1)]
        )
    keep(store, replace(one(store, "root"), context="zanzibar"))
    keep(store, replace(one(store, "root"), context=""))
    keep(store, replace(one(store, "gone"), content="zanzibar again", forgotten_at=NOW), now=NOW + 1)
    purged = store.purge(["gone", "kept", "nowhere"], Cause(verb="purge", actor="me"), NOW + 2)
    assert (purged.ids, purged.rows["memory"], purged.rows["link"]) == (("gone",), 1, 3)
    reader = shared(store)
    assert reader.get(["gone"], forgotten=True) == {}
    assert reader.links(["gone", "leaf"], ended=True) == []
    assert reader.suggestions(SuggestionFilter(ids=("s",))) == []
    assert [each.id for each in reader.records(FieldStamps)] == ["kept"]
    assert list(matching(reader, ["zanzibar"], 9, Filter(forgotten=True))) == ["kept"]
    assert list(reader.near(EAST, MODEL, 9, Filter(forgotten=True))) == ["kept"]
    assert (one(store, "leaf").depth, reader.children(["root"])) == (0, {"root": []})
    entries = history(store, "gone")
    assert [(entry.cause.verb, entry.before, entry.after) for entry in entries] == [
        ("test", None, {}), ("test", {}, {}), ("purge", {}, None),
    ]  # fmt: skip
    every = reader.journal(JournalFilter(), EVERY)
    assert "zanzibar" not in str([(each.before, each.after, each.cause) for each in every])
    assert [finding for finding in store.check() if not finding.passed] == []
    assert store.purge(["gone", "kept"], CAUSE, NOW).ids == ()


def test_a_purge_touches_its_own_tenant_only(store: Store) -> None:
    for tenant in TENANTS:
        keep_for(store, tenant, memory("a", forgotten_at=NOW))
    assert store.purge(["a"], CAUSE, NOW, "acme").ids == ("a",)
    assert [len(store.reader(SHARED, tenant).get(["a"], forgotten=True)) for tenant in TENANTS] == [0, 1, 1]
    assert store.purge(["a"], CAUSE, NOW, "nobody").ids == ()


def test_a_follower_reads_every_change_once_in_the_order_of_commits(store: Store) -> None:
    assert feed(shared(store), "") == ([], "")
    keep(store, memory("a"), memory("b"), link("a", "b"))
    found, cursor = feed(shared(store), "")
    assert found == ["a", "b", "a-b"]
    assert feed(shared(store), cursor) == ([], cursor)
    keep(store, memory("a", "changed"))
    keep(store, memory("c"))
    found, cursor = feed(shared(store), cursor)
    assert found == ["a", "c"]


def test_a_follower_skips_nothing_while_many_write_at_once(store: Store) -> None:
    def write(writer: int) -> None:
        for number in range(10):
            keep(store, memory(f"w{writer}-{number}"), memory(f"x{writer}-{number}"))

    found: list[str] = []
    cursor = ""
    with ThreadPoolExecutor(6) as pool:
        writers = [pool.submit(write, number) for number in range(6)]
        while not all(each.done() for each in writers):
            new, cursor = feed(shared(store), cursor)
            found += new
        for each in writers:
            each.result()
    found += feed(shared(store), cursor)[0]
    assert len(found) == len(set(found)) == 120


# --- the write lock of a tenant


def test_two_writers_of_a_tenant_never_interleave(open_store: OpenStore) -> None:
    """Each reads a number, then writes the next one; no step of the other may come between."""
    stores = [open_store(), open_store()]
    keep(stores[0], memory("counter", importance=0.0))

    def count_on(store: Store) -> None:
        for _ in range(20):
            with store.transaction(SHARED, CAUSE, NOW) as writer:
                counter = writer.get(["counter"])["counter"]
                writer.put([replace(counter, importance=counter.importance + 1)])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(count_on, stores * 2))
    assert one(stores[0], "counter").importance == 80.0


def test_a_transaction_sees_what_was_committed_before_it_began(open_store: OpenStore) -> None:
    first, second = open_store(), open_store()
    keep(second, memory("earlier"))
    with first.transaction(SHARED, CAUSE, NOW) as writer:
        assert set(writer.get(["earlier"])) == {"earlier"}
    keep(second, memory("later"))
    with first.transaction(SHARED, CAUSE, NOW) as writer:
        assert set(writer.get(["earlier", "later"])) == {"earlier", "later"}


def test_the_lock_is_held_from_the_beginning_of_a_transaction(open_store: OpenStore) -> None:
    first, second = open_store(), open_store()
    with ThreadPoolExecutor(1) as pool:
        with first.transaction(SHARED, CAUSE, NOW) as writer:
            other = pool.submit(keep, second, memory("other"))
            wait([other], timeout=0.2)  # give it the chance to come in between
            assert writer.get(["other"]) == {}
            writer.put([memory("mine")])
        other.result(timeout=60)
    assert [entry.id for entry in shared(first).journal(JournalFilter(), EVERY)] == ["other", "mine"]


# --- tenants: nothing of one is seen or changed by another


def keep_for(store: Store, tenant: str, *nouns: Memory | Link) -> None:
    with store.transaction(SHARED, CAUSE, NOW, tenant) as writer:
        writer.put([noun for noun in nouns if isinstance(noun, Memory)])
        writer.put_links([noun for noun in nouns if isinstance(noun, Link)])
        writer.put_vectors(MODEL, {noun.id: EAST for noun in nouns if isinstance(noun, Memory)})


TENANTS = ("acme", "bolt", DEFAULT_TENANT)


def test_tenants_may_use_the_same_ids_and_each_sees_its_own_memory(store: Store) -> None:
    for tenant in TENANTS:
        keep_for(store, tenant, memory("a", f"of {tenant}"), memory("b"), below("a", "b"))
    for tenant in TENANTS:
        reader = store.reader(SHARED, tenant)
        assert reader.get(["a"])["a"].content == f"of {tenant}"
        assert reader.ancestors(["b"]) == {"b": ["a"]}
        assert len(reader.links(["a"])) == 1
        assert len(history(store, "a")) == 1
    assert store.reader(SHARED, "nobody").counts(MODEL).memories == 0


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_a_tenant_sees_nothing_of_another(question: Callable[[Reader], Iterable[str]], store: Store) -> None:
    society(store)
    assert list(question(store.reader(SHARED, "acme"))) == []
    keep_for(store, "acme", lighthouse("own-a"), lighthouse("own-b"), link("own-a", "own-b", id="own-l"))
    assert {id.partition("-")[0] for id in question(store.reader(SHARED, "acme"))} <= {"own"}
    assert "own" not in {id.partition("-")[0] for id in question(store.reader(SHARED))}


def test_the_counts_of_a_tenant_are_its_own(store: Store) -> None:
    society(store)
    keep_for(store, "acme", memory("a"), memory("b"))
    with store.transaction("private", CAUSE, NOW, "acme") as writer:
        writer.put([memory("c", namespace="private")])
    acme = store.reader("private", "acme")
    counts = acme.counts(MODEL)
    assert (counts.memories, counts.links, counts.embedded, counts.pending) == (3, 0, 2, 1)
    other = store.reader(SHARED, "acme")
    assert (acme.near(EAST, MODEL, 1, ANY).pending, other.near(EAST, MODEL, 1, ANY).pending) == (1, 0)
    assert store.reader("mine").counts(MODEL).memories == 6
    assert list(acme.count_below(KNOWN, ANY).values()) == [0] * len(KNOWN)


def test_a_tenant_cannot_link_to_the_memory_of_another(store: Store) -> None:
    keep_for(store, "acme", memory("a"))
    with pytest.raises(NotFound):
        keep_for(store, "bolt", memory("b"), link("a", "b"))


def test_a_use_counts_for_the_memory_of_its_tenant_only(store: Store) -> None:
    for tenant in TENANTS:
        keep_for(store, tenant, memory("a"), memory("b"))
    store.touch(Use(ids=("a", "b"), activation={"a": 0.1}, together=True), NOW, "acme")
    used = {tenant: store.reader(SHARED, tenant).get(["a"])["a"] for tenant in TENANTS}
    assert [used[tenant].access_count for tenant in TENANTS] == [1, 0, 0]
    assert [used[tenant].activation for tenant in TENANTS] == [0.1, 0.0, 0.0]
    assert [len(store.reader(SHARED, tenant).cooccurrences("ab")) for tenant in TENANTS] == [1, 0, 0]


def test_memories_of_all_tenants_are_embedded_each_for_its_own(store: Store) -> None:
    for tenant in TENANTS:
        with store.transaction(SHARED, CAUSE, NOW, tenant) as writer:
            writer.put([memory("a", f"of {tenant}")])
    backlog = store.unembedded(MODEL, 10)
    assert backlog.total == 3
    assert {(each.tenant, each.text) for each in backlog.passages} == {
        (name, f"of {name}") for name in TENANTS
    }
    assert store.embed(MODEL, {each: EAST for each in backlog.passages if each.tenant == "acme"}) == 1
    found = {tenant: list(store.reader(SHARED, tenant).near(EAST, MODEL, 5, ANY)) for tenant in TENANTS}
    assert found == {"acme": ["a"], "bolt": [], DEFAULT_TENANT: []}


def test_records_belong_to_their_tenant(store: Store) -> None:
    with store.transaction(SHARED, CAUSE, NOW, "acme") as writer:
        writer.put_records([Job(name="sweep")])
    with store.transaction(SHARED, CAUSE, NOW, "bolt") as writer:
        writer.put_records([], removed=[Job(name="sweep")])
    assert [len(store.reader(SHARED, tenant).records(Job)) for tenant in TENANTS] == [1, 0, 0]
