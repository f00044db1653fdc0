"""Word indexes in PostgreSQL: tenants earn and lose them by size, and no answer depends on one."""

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import psycopg
import pytest

from lore.model import SHARED, Cause, Filter, Memory
from lore.store import Store, TendedStore, open_store
from lore.store.postgres import word_indexes
from lore.store.values import TextMatches
from scripts.postgres_server import QUICK, Server
from tests.doors.resident import until
from tests.postgres import empty, new_database, require_textsearch
from tests.store import test_contract as contract

NOW = 1_800_000_000.0
CAUSE = Cause(verb="test")
MANY = 1_500
Admin = psycopg.Connection[tuple[object, ...]]
SETUP = """
    CREATE EXTENSION pg_textsearch;
    ALTER FUNCTION pg_catalog.ts_match_vq(tsvector, tsquery) LEAKPROOF
"""
UNDO = """
    DROP EXTENSION pg_textsearch CASCADE; DROP FUNCTION IF EXISTS words_text(tsvector);
    ALTER FUNCTION pg_catalog.ts_match_vq(tsvector, tsquery) NOT LEAKPROOF
"""


@pytest.fixture
def admin(postgres: str) -> Iterator[Admin]:
    """A connection of the superuser; the database has what `lore postgres plan` says."""
    require_textsearch()
    with psycopg.connect(postgres, user="postgres", autocommit=True) as connection:
        connection.execute(SETUP)
        yield connection
        connection.execute(UNDO)


@pytest.fixture
def store(postgres: str, admin: Admin, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store whose tenants earn an index with their first memory; that of the default tenant is built."""
    monkeypatch.setattr(word_indexes, "EARNED_AT", 1)
    opened = open_store(postgres)
    keep(opened, Memory(id="far", content="out of sight", created_at=NOW, updated_at=NOW, namespace="far"))
    assert tend(opened).endswith("BM25 for the default tenant")
    yield opened
    empty(postgres)
    opened.close()


def tend(store: Store) -> str:
    """Tend the indexes once; what the store then says of them."""
    assert isinstance(store, TendedStore)
    store.tend()
    return store.report().index


def keep(store: Store, *memories: Memory) -> None:
    with store.transaction(memories[0].namespace, CAUSE, NOW) as writer:
        writer.put(memories)


def both(store: Store, terms: list[str], limit: int, where: Filter | None = None) -> list[TextMatches]:
    """The answers with an index and without: a transaction uses none."""
    given = terms, limit, where or Filter()
    with store.transaction(SHARED, CAUSE, NOW) as writer:
        without = writer.matching(*given)
    return [store.reader(SHARED).matching(*given), without]


def text_of(number: int) -> str:
    """Words in natural proportions: `w1` stands in every text, `w2` in every second one, and so on."""
    words = [f"w{divisor}" for divisor in range(1, 60) if not number % divisor]
    return " ".join(
        [*words, f"retry_limit_{number % 40}", "数据库" * (not number % 7), "pad " * (number % 13)]
    )


def many() -> list[Memory]:
    first = Memory(id="", content="", created_at=NOW, updated_at=NOW)
    return [
        replace(
            first,
            id=f"m{at}",
            title="w30 heading" if not at % 11 else "",
            content=text_of(at),
            session=str(at % 50),
            project=str(at % 3),
        )
        for at in range(1, MANY)
    ]


# --- the same answers

WORDS: list[Callable[[Store], None]] = [
    contract.test_any_term_counts_and_rare_ones_more,
    contract.test_words_are_found_in_every_part_and_count_most_in_the_title,
    contract.test_a_rare_term_tells_more_than_a_common_one_and_an_unseen_one_most,
    contract.test_a_run_of_characters_is_found_only_as_a_whole,
    contract.test_a_change_of_text_takes_its_characters_away,
    contract.test_a_change_of_text_takes_the_old_words_and_the_vector_away,
    contract.test_words_and_characters_count_together,
    contract.test_a_few_of_one_kind_are_found_behind_many_of_another,
    contract.test_a_rare_word_out_of_sight_does_not_hide_what_common_words_find,
    partial(contract.test_what_belongs_to_a_project_is_found_behind_more_of_another, 0),
    partial(contract.test_words_match_whatever_their_ending_case_and_accent, "cafe", "Café"),
    partial(contract.test_words_of_scripts_without_spaces_are_found_inside_a_text, "データ", "ﾃﾞｰﾀを消した"),
    partial(contract.test_a_term_is_plain_text_never_syntax, "NEAR(a b, 2)"),
    partial(contract.test_a_term_of_syntax_finds_the_text_it_stands_for, "wal-rus"),
    partial(contract.test_a_question_may_have_many_terms, 500),
]


@pytest.mark.parametrize("promise", WORDS)
def test_what_a_store_promises_of_words_holds_with_an_index(
    promise: Callable[[Store], None], store: Store
) -> None:
    promise(store)


def test_answers_are_the_same_with_an_index_and_without(store: Store) -> None:
    keep(store, *many())
    keep(store, *(replace(one, forgotten_at=NOW) for one in many()[29::90]))
    filters = (Filter(), Filter(projects=frozenset({"1"})), Filter(sessions=frozenset({"7"})))
    for question in ("w7 w20", "w2 w3 w55", "w30 retry_limit_7", "w50 数据", "w1", "unseen"):
        for where in filters:
            with_index, without = both(store, question.split(), 20, where)
            assert with_index == without
            assert list(with_index.strengths) == list(without.strengths)


def test_a_text_that_changes_under_an_index_is_found_by_its_new_words_only(store: Store) -> None:
    keep(store, *many())
    keep(store, *(replace(one, content="walrus w2") for one in many()[:3]))
    for terms in (["walrus"], ["w59"], ["w2", "walrus"]):
        with_index, without = both(store, terms, 20)
        assert list(with_index.strengths) == list(without.strengths)


# --- the indexes


def test_a_search_uses_the_index_of_its_tenant(store: Store, postgres: str, admin: Admin) -> None:
    keep(store, *many())
    assert "BM25 for the default tenant" in str(store.check())
    assert len(store.reader(SHARED).matching(["w2"], 10, Filter()).strengths) == 10
    store.close()
    scans = "SELECT sum(idx_scan) > 0 FROM pg_stat_user_indexes WHERE indexrelname LIKE 'words_bm25_%'"
    until(lambda: admin.execute(scans).fetchall() == [(True,)])  # a connection reports its scans when it ends


def test_an_index_that_is_invalid_is_not_used_and_built_again(store: Store, admin: Admin) -> None:
    keep(store, *many())
    admin.execute(
        "UPDATE pg_index SET indisvalid = false, indisready = false"
        " WHERE indexrelid IN (SELECT oid FROM pg_class WHERE relname LIKE 'words_bm25_%')"
    )
    keep(store, replace(many()[0], id="new", content="walrus"))  # an index that is not ready misses it
    other = open_store(store.report().location)
    assert "BM25" not in other.report().index
    assert "not built yet: the default tenant" in str(other.check())
    assert list(other.reader(SHARED).matching(["walrus"], 10, Filter()).strengths) == ["new"]
    assert tend(other).endswith("BM25 for the default tenant")
    assert list(other.reader(SHARED).matching(["walrus"], 10, Filter()).strengths) == ["new"]
    other.close()


def test_a_search_goes_on_without_an_index_that_the_server_refuses(
    store: Store, admin: Admin, caplog: pytest.LogCaptureFixture
) -> None:
    keep(store, *many())
    admin.execute(f"DROP INDEX {one_index(admin)}")
    with_index, without = both(store, ["w2"], 10)
    assert with_index == without
    assert "cannot be used" in caplog.text


def one_index(admin: Admin) -> str:
    ((name,),) = admin.execute("SELECT relname FROM pg_class WHERE relname LIKE 'words_bm25_%'").fetchall()
    return str(name)


def test_the_words_of_a_purged_memory_leave_the_index(store: Store) -> None:
    keep(store, *many()[:50], replace(many()[0], id="secret", content="walrus", forgotten_at=NOW))
    reader = store.reader(SHARED)
    assert reader.matching(["walrus"], 10, Filter(forgotten=True)).strengths
    assert store.purge(["secret"], CAUSE, NOW).ids == ("secret",)
    found = reader.matching(["walrus", "unseen"], 10, Filter(forgotten=True))
    assert found.strengths == {}
    assert found.information["walrus"] == found.information["unseen"]
    assert "BM25" in store.report().index


def test_an_index_goes_when_its_tenant_is_small(
    store: Store, admin: Admin, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep(store, *many())
    monkeypatch.setattr(word_indexes, "EARNED_AT", MANY)
    for left, described in ((MANY * 2 // 3, True), (MANY // 3, False)):
        admin.execute("DELETE FROM memory WHERE alias > %s", (left,))
        assert ("BM25" in tend(store)) == described
        assert store.reader(SHARED).matching(["w2"], 10, Filter()).strengths


# --- servers without the extension


def test_without_the_extension_words_are_counted(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(word_indexes, "EARNED_AT", 1)
    store = open_store(postgres)
    keep(store, *many()[:50])
    assert "BM25" not in tend(store)
    assert "pg_textsearch is not there" in str(store.check())
    assert store.reader(SHARED).matching(["w2"], 10, Filter()).strengths
    store.close()


def test_an_extension_that_the_server_has_not_preloaded_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    require_textsearch()
    monkeypatch.setattr(word_indexes, "EARNED_AT", 1)
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), QUICK)
        server.create()
        server.start()
        url = new_database(server, "lore")
        with psycopg.connect(server.url("lore"), autocommit=True) as connection:
            connection.execute(SETUP)
        server.stop()
        server = Server(Path(folder), QUICK)
        server.start()
        try:
            store = open_store(url)
            keep(store, *many()[:50])
            assert "BM25" not in tend(store)
            assert "not in shared_preload_libraries" in str(store.check())
            assert store.reader(SHARED).matching(["w2"], 10, Filter()).strengths
            store.close()
        finally:
            server.stop()
