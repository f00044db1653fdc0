"""A file of an older Lore: what it holds is there after the upgrade, in its new form."""

import hashlib
from pathlib import Path

import apsw
import numpy as np
import pytest

from lore.model import SHARED, Cause, Filter
from lore.store.postgres import opening as postgres
from lore.store.sqlite import first_release as release
from lore.store.sqlite import opening
from lore.store.sqlite.connections import Connections
from lore.store.sqlite.opening import MIGRATIONS
from lore.store.sqlite.store import SqliteStore
from lore.store.values import EVERY, JournalFilter
from lore.vectors import unit
from lore.version import VERSION

MODEL = "exact/test/4"
WITHOUT_COMPACT_VECTORS = 2
TEXTS = (
    "namespace", "kind", "type", "project", "status", "source", "source_type", "session", "channel",
    "forgotten_reason", "flags", "metadata", "title", "summary", "context", "content",
)  # fmt: skip
NUMBERS = (
    "tenant", "depth", "importance", "score", "confidence_count", "trust", "created_at", "updated_at",
)  # fmt: skip
TAKEN_OVER = {
    "memory": "memory", "link": "link", "trace": "usage", "journal": "journal", "full_text": "full_text",
}  # fmt: skip
RELEASED = {
    "0001 first schema": ((0, 2, 0), "5a89af432ee4e2ec"),
    "0002 several users": ((0, 2, 0), "e19d2d9ddccf5c4a"),
    "0003 looking back": ((0, 2, 0), "816666ee19cbe60f"),
    "0004 compact vectors": ((0, 2, 0), "0d643edd679e6500"),
    "0005 sync epoch": ((0, 2, 0), "c3e64007ea0b1a05"),
}
RELEASED_POSTGRES = {
    "0001 first schema": ((0, 2, 0), "a7dbbb880a00f8fe"),
    "0002 exact vectors": ((0, 2, 0), "c79d0e784a97813e"),
    "0003 sync epoch": ((0, 2, 0), "cabca7e85c6e2ac4"),
}
"""Each step of a schema: the version that brought it, and a print of its text."""


def ask(path: Path, statement: str, *values: object) -> list[tuple[object, ...]]:
    connection = apsw.Connection(str(path))
    rows = connection.execute(statement, values).fetchall()
    connection.close()
    return rows


def older_store(path: Path, vectors: dict[int, bytes], changed: int) -> None:
    """Memories with vectors of 32 bits per number; the text of one of them has changed since."""
    connections = Connections(path)
    opening.migrate(
        connections, {name: MIGRATIONS[name] for name in list(MIGRATIONS)[:WITHOUT_COMPACT_VECTORS]}
    )
    connections.close()
    columns = f"id, {', '.join((*TEXTS, *NUMBERS))}"
    values = f"?, 'shared', {', '.join(['?'] * (len(TEXTS) - 1))}, {', '.join('1' * len(NUMBERS))}"
    for alias, data in vectors.items():
        texts = ["{}" if name == "metadata" else "[]" if name == "flags" else "x" for name in TEXTS[1:]]
        ask(path, f"INSERT INTO memory ({columns}) VALUES ({values})", f"m{alias}", *texts)
        ask(path, "INSERT INTO usage VALUES (?, 0, 0, NULL, NULL, 0.0, NULL)", alias)
        row = (alias, "" if alias == changed else MODEL, alias, bytes(4))
        ask(path, "INSERT INTO embedding VALUES (?, 1, 'shared', ?, 0, ?, ?)", *row)
        ask(path, "INSERT INTO vector VALUES (?, ?, ?)", alias, MODEL, data)


def test_vectors_of_an_older_file_take_their_compact_form(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    vectors = {
        at: unit(np.random.default_rng(at).standard_normal(4).astype(np.float32)) for at in range(1, 6)
    }
    stored = {at: vector.astype("<f4").tobytes() for at, vector in vectors.items()} | {4: b"damaged"}
    older_store(path, stored, changed=5)

    store = SqliteStore(path)
    reader = store.reader(SHARED)
    kept = reader.vectors(MODEL, [f"m{at}" for at in vectors])
    assert set(kept) == {"m1", "m2", "m3"}
    for alias in (1, 2, 3):
        assert kept[f"m{alias}"] == pytest.approx(vectors[alias], abs=1e-4)
        assert list(reader.near(vectors[alias], MODEL, 1, Filter())) == [f"m{alias}"]
    assert store.unembedded(MODEL, 9).total == 2
    assert ask(path, "SELECT count(*), count(code) FROM embedding") == [(5, 0)]
    assert ask(path, "SELECT count(*) FROM vector") == [(0,)]
    with store.transaction(SHARED, Cause(verb="test"), 1.0) as writer:
        writer.put_vectors(MODEL, {"m4": vectors[4]})
    assert ask(path, "SELECT seq FROM embedding WHERE memory = 4") == [(6,)], "the feed goes on"
    store.close()


@pytest.fixture
def first_release(tmp_path: Path) -> Path:
    """A store that the first 0.1.0 wrote."""
    path = tmp_path / "memory.db"
    connection = apsw.Connection(str(path))
    connection.execute(Path(__file__).with_name("first_release.sql").read_text(encoding="utf-8"))
    connection.close()
    path.chmod(0o600)
    return path


def test_a_store_of_the_first_release_is_taken_over_with_all_it_holds(first_release: Path) -> None:
    before = {table: ask(first_release, f"SELECT count(*) FROM {table}") for table in TAKEN_OVER}
    texts = ask(first_release, "SELECT alias, id, namespace, kind, content, superseded_by FROM memory")
    links = ask(first_release, "SELECT id, source, target, kind, weight FROM link")

    store = SqliteStore(first_release)

    after = {table: ask(first_release, f"SELECT count(*) FROM {new}") for table, new in TAKEN_OVER.items()}
    anna, shared = store.reader("anna"), store.reader(SHARED)
    words = anna.matching(("vault",), 5, Filter()).strengths
    grams = anna.matching(("数据库",), 5, Filter()).strengths
    history = anna.journal(JournalFilter(id=str(texts[0][1])), EVERY)
    hidden = shared.journal(JournalFilter(id=str(texts[0][1])), EVERY)
    findings = [finding for finding in store.check() if not finding.passed]
    store.close()

    assert after == before
    assert ask(first_release, "SELECT alias, id, namespace, kind, content, superseded_by FROM memory") == (
        texts
    )
    assert ask(first_release, "SELECT id, source, target, kind, weight FROM link") == links
    assert ask(first_release, "SELECT turns, until FROM digest_progress") == [(4, 11)]
    assert ask(first_release, "SELECT memory, model FROM short_vector") == [(1, MODEL)]
    assert words
    assert grams
    assert [entry.cause.verb for entry in history] == ["revise", "remember"]
    assert not hidden
    assert findings == []


def test_the_file_of_the_first_release_is_kept_as_a_backup(first_release: Path) -> None:
    SqliteStore(first_release).close()
    (copy,) = opening.backups_of(first_release).iterdir()

    assert release.FIRST_STEP in {name for (name,) in ask(copy, "SELECT name FROM migration")}
    assert ask(copy, "SELECT count(*) FROM trace") == [(14,)]


@pytest.mark.parametrize(
    ("steps", "released"), [(MIGRATIONS, RELEASED), (postgres.MIGRATIONS, RELEASED_POSTGRES)]
)
def test_a_step_never_changes_and_the_version_rises_with_the_schema(
    steps: dict[str, str], released: dict[str, tuple[tuple[int, ...], str]]
) -> None:
    prints = {name: hashlib.sha256(text.encode()).hexdigest()[:16] for name, text in steps.items()}

    assert prints == {name: text for name, (_, text) in released.items()}, (
        "a released step never changes: add the next one here, with the version that brings it"
    )
    assert tuple(map(int, VERSION.split("."))) >= max(since for since, _ in released.values())
