"""A file of an older Lore: what it holds is there after the upgrade, in its new form."""

from pathlib import Path

import apsw
import numpy as np
import pytest

from lore.model import SHARED, Cause, Filter
from lore.store.sqlite import opening
from lore.store.sqlite.connections import Connections
from lore.store.sqlite.opening import MIGRATIONS
from lore.store.sqlite.store import SqliteStore
from lore.vectors import unit

MODEL = "exact/test/4"
WITHOUT_COMPACT_VECTORS = 2
TEXTS = (
    "namespace", "kind", "type", "project", "status", "source", "source_type", "session", "channel",
    "forgotten_reason", "flags", "metadata", "title", "summary", "context", "content",
)  # fmt: skip
NUMBERS = (
    "tenant", "depth", "importance", "score", "confidence_count", "trust", "created_at", "updated_at",
)  # fmt: skip


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
