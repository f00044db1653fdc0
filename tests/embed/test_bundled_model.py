"""The shipped model is the built one, means what it should, and fails politely."""

import hashlib
import shutil
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from lore.embed import Embedder
from lore.embed.onnx import OnnxEmbedder
from lore.errors import Unavailable
from lore.vectors import cosine, likeness

FOLDER = Path(str(files("lore.embed") / "models"))
SHA256 = {
    "gte-small.onnx": "1cc1bd0da2581afa93e47f7d4759a02f8f2311cdfceaa49a3fe8864b755c0022",
    "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
}


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    return OnnxEmbedder()


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(FOLDER, tmp_path / "models")
    return tmp_path / "models"


@pytest.mark.parametrize("name", SHA256)
def test_the_shipped_files_are_the_built_ones(name: str) -> None:
    assert hashlib.sha256((FOLDER / name).read_bytes()).hexdigest() == SHA256[name]


@pytest.mark.parametrize("name", SHA256)
def test_the_notice_names_the_shipped_files(name: str) -> None:
    notice = (FOLDER / "NOTICE").read_text(encoding="utf-8")
    assert name in notice
    assert SHA256[name] in notice


# Other processors round 8-bit sums a little differently, hence the tolerance.
@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("User prefers dark mode.", "The user likes a dark theme.", 0.71),
        ("We chose PostgreSQL for the analytics.", "Postgres was picked as the analytics database.", 0.91),
        ("She grew up in a village in Norway.", "Her childhood was in a Norwegian village.", 0.93),
        ("The deploy failed: the disk was full.", "The deploy failed: a test was flaky.", 0.65),
        ("My daughter is allergic to peanuts.", "My daughter started school this year.", 0.32),
        ("API requests are limited to 100 per minute.", "The cat sleeps on the sofa all day.", -0.10),
        ("User prefers dark mode.", "Water boils at 100 degrees Celsius.", 0.08),
        ("He plays guitar in a punk band.", "The meeting was moved to Thursday at 3 pm.", -0.04),
    ],
)
def test_golden_likenesses(embedder: Embedder, one: str, other: str, expected: float) -> None:
    assert likeness(cosine(*embedder.embed([one, other])), embedder.floor) == pytest.approx(
        expected, abs=0.05
    )


def test_the_fitting_note_is_the_nearest(embedder: Embedder) -> None:
    notes = [
        "The staging server runs out of disk every Friday because of the nightly dumps.",
        "Anna is allergic to shellfish and does not drink coffee.",
        "We keep one branch per release and cherry-pick fixes from main.",
        "The night train from Vienna to Venice leaves at 21:27.",
    ]
    questions = [
        "why is there no space left on staging?",
        "What can I cook for Anna?",
        "how do bug fixes get into a release",
        "When do we depart to Italy?",
    ]
    near = embedder.embed(notes) @ np.stack([embedder.embed_query(question) for question in questions]).T
    assert near.argmax(axis=0).tolist() == [0, 1, 2, 3]


def test_a_huge_text_counts_by_its_beginning(embedder: Embedder) -> None:
    beginning = "The lighthouse at the northern tip was built from granite. " * 200
    assert len(beginning) > 10_000
    huge = beginning + "Something else entirely, about soup. " * 3_000
    assert len(huge) > 100_000
    assert embedder.embed([huge]).tobytes() == embedder.embed([beginning]).tobytes()


def test_words_far_behind_the_first_sentence_still_count(embedder: Embedder) -> None:
    filler = "The committee met and adjourned. " * 40
    plain, spiced = embedder.embed([filler, filler + "Saffron grows in Iran."])
    assert plain.tobytes() != spiced.tobytes()


def test_a_missing_folder_is_unavailable_until_it_is_there(tmp_path: Path) -> None:
    embedder = OnnxEmbedder(tmp_path / "models")
    for use in (embedder.warm, lambda: embedder.embed(["x"]), lambda: embedder.embed_query("x")):
        with pytest.raises(Unavailable, match="cannot be read"):
            use()
    assert not embedder.ready
    shutil.copytree(FOLDER, tmp_path / "models")
    embedder.warm()
    assert embedder.ready


@pytest.mark.parametrize("name", SHA256)
def test_a_missing_file_is_unavailable(copy: Path, name: str) -> None:
    (copy / name).unlink()
    with pytest.raises(Unavailable, match=name):
        OnnxEmbedder(copy).warm()


@pytest.mark.parametrize(
    "content", [b"", b"not a model", (FOLDER / "gte-small.onnx").read_bytes()[:1_000_000]]
)
def test_a_damaged_model_is_unavailable(copy: Path, content: bytes) -> None:
    (copy / "gte-small.onnx").write_bytes(content)
    with pytest.raises(Unavailable, match=r"gte-small\.onnx cannot be loaded"):
        OnnxEmbedder(copy).warm()


@pytest.mark.parametrize("content", [b"", b"just\nwords\n", b"\xff\xfe\x00"])
def test_a_damaged_vocabulary_is_unavailable(copy: Path, content: bytes) -> None:
    (copy / "vocab.txt").write_bytes(content)
    with pytest.raises(Unavailable, match="cannot be read"):
        OnnxEmbedder(copy).warm()


def test_without_onnxruntime_it_is_unavailable_and_says_so(tmp_path: Path, run: Callable[..., str]) -> None:
    (tmp_path / "onnxruntime.py").write_text("raise ImportError('no such library')")
    script = (
        "from lore.embed import open_embedder; from lore.errors import Unavailable\n"
        "try: open_embedder().warm()\n"
        "except Unavailable as error: print(error)"
    )
    assert run(script, first=str(tmp_path)).startswith("onnxruntime cannot be imported")


def test_a_repeated_query_is_not_computed_again(embedder: Embedder) -> None:
    assert embedder.embed_query("asked twice") is embedder.embed_query("asked twice")


def test_a_loaded_model_is_not_loaded_again(copy: Path) -> None:
    embedder = OnnxEmbedder(copy)
    embedder.warm()
    shutil.rmtree(copy)
    embedder.warm()
    assert embedder.embed(["still here"]).shape == (1, 384)


def test_release_gives_the_model_back() -> None:
    embedder = OnnxEmbedder()
    embedder.warm()
    embedder.release()
    assert not embedder.ready


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux to see the resident memory")
def test_release_gives_the_memory_back_to_the_system(run: Callable[..., str]) -> None:
    script = (
        "from lore.embed import open_embedder\n"
        "def pages(): return int(open('/proc/self/statm').read().split()[1])\n"
        "opened = open_embedder(); opened.embed_query('x'); loaded = pages()\n"
        "opened.release(); print((loaded - pages()) * 4096)"
    )
    assert int(run(script)) > 30_000_000
