"""A store answers the same, whichever index proposes its neighbours."""

from pathlib import Path

import pytest

from lore import Draft, Filter, Invalid, Lore, Query
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.store.index import INDEXES, open_index

TEXTS = [
    "the deploy key lives in the vault",
    "lunch is at noon",
    "the vault is in the cellar",
    "rain tomorrow",
]


def opened(folder: Path, vector_store: str) -> Lore:
    return wire(Config(data_dir=folder, vector_store=vector_store), embedder=HashEmbedder())


@pytest.mark.parametrize("vector_store", INDEXES)
def test_what_is_near_does_not_depend_on_the_index(vector_store: str, tmp_path: Path) -> None:
    lore = opened(tmp_path, vector_store)
    for number, text in enumerate(TEXTS):
        lore.remember(Draft(content=text, session=str(number % 2), embed_now=True))
    hits = lore.search(Query(text="deploy key of the vault", policy="tree")).hits
    assert [hit.memory.content for hit in hits][:2] == [TEXTS[0], TEXTS[2]]
    narrow = lore.search(Query(text="vault", policy="tree", where=Filter(sessions=frozenset({"1"})))).hits
    assert {hit.memory.content for hit in narrow} <= {TEXTS[1], TEXTS[3]}
    lore.forget([hits[0].memory.id])
    assert TEXTS[0] not in {hit.memory.content for hit in lore.search(Query(text="deploy key")).hits}
    lore.close()


@pytest.mark.parametrize("vector_store", INDEXES)
def test_another_processs_memories_are_seen_by_every_index(vector_store: str, tmp_path: Path) -> None:
    here, there = opened(tmp_path, vector_store), opened(tmp_path, "builtin")
    assert here.similar("a lighthouse on the cliff") == []
    kept = there.remember(Draft(content="a lighthouse on the cliff", embed_now=True))
    assert [match.memory.id for match in here.similar("a lighthouse on the cliff")] == [kept.id]
    here.close()
    there.close()


def test_an_unknown_index_is_named_with_the_known_ones() -> None:
    with pytest.raises(
        Invalid, match="unknown vector store 'faiss'; known: builtin, chroma, lancedb, sqlite-vec"
    ):
        open_index("faiss", 3)
