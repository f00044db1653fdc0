"""What every embedder promises, whichever one it is."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
import pytest

from lore.embed import DEFAULT, MODELS, Embedder, open_embedder
from lore.errors import Invalid, Unavailable
from lore.vectors import cosine, likeness

TEXTS = [
    "The deploy failed because the disk was full.",
    "",
    " \n\t ",
    "user prefers dark mode",
    "Crème brûlée 東京 👍🏽",
    "half a pair \ud83d and a nul \x00",
    "a longer note about the weekend, the lake, the plums and the cold water. " * 12,
]

UNRELATED = [
    "Uploads larger than 25 MB go directly to the bucket.",
    "My grandmother bakes an apple cake every Sunday.",
    "Octopuses have three hearts and blue blood.",
    "We missed our night train and slept at the station.",
    "User prefers short answers without bullet points.",
    "Interest rates were held for a third time.",
]


@pytest.fixture(scope="module", params=MODELS)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    found = open_embedder(request.param)
    try:
        found.warm()
    except Unavailable as error:
        pytest.skip(str(error))
    found.release()
    return found


def test_every_text_gets_a_unit_vector_even_an_empty_one(embedder: Embedder) -> None:
    vectors = embedder.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    assert [np.linalg.norm(embedder.embed_query(text)) for text in TEXTS] == pytest.approx(
        [1] * len(TEXTS), abs=1e-5
    )


def test_unrelated_texts_lie_around_the_floor(embedder: Embedder) -> None:
    vectors = embedder.embed(UNRELATED)
    likenesses = [likeness(cosine(*pair), embedder.floor) for pair in combinations(vectors, 2)]
    assert np.mean(likenesses) == pytest.approx(0, abs=0.1)
    assert max(map(abs, likenesses)) < 0.3


def test_no_texts_give_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimension)


def test_a_vector_does_not_depend_on_its_neighbours(embedder: Embedder) -> None:
    together = embedder.embed(TEXTS)
    backwards = embedder.embed(TEXTS[::-1])[::-1]
    alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
    asked = np.stack([embedder.embed_query(text) for text in TEXTS])
    assert together.tobytes() == backwards.tobytes() == alone.tobytes() == asked.tobytes()


def test_rows_belong_to_their_texts(embedder: Embedder) -> None:
    assert len({row.tobytes() for row in embedder.embed([text for text in TEXTS if text.strip()])}) == 5


def test_another_process_gives_the_same_bits(embedder: Embedder, run: Callable[..., str]) -> None:
    name = next(name for name in MODELS if open_embedder(name).model == embedder.model)
    script = (
        "import sys; from lore.embed import open_embedder; "
        f"sys.stdout.write(open_embedder({name!r}).embed_query('dark mode').tobytes().hex())"
    )
    assert run(script) == embedder.embed_query("dark mode").tobytes().hex()


def test_a_query_vector_cannot_be_changed_by_its_reader(embedder: Embedder) -> None:
    with pytest.raises(ValueError, match="read-only"):
        embedder.embed_query("dark mode")[0] = 9


def test_the_id_names_the_dimension(embedder: Embedder) -> None:
    assert embedder.model.split("/")[2] == str(embedder.dimension)
    assert len(embedder.model.split("/")) == 3


def test_after_a_release_it_works_again(embedder: Embedder) -> None:
    before = embedder.embed_query("dark mode").tobytes()
    embedder.release()
    assert embedder.embed_query("dark mode").tobytes() == before
    assert embedder.ready


def test_threads_share_one_embedder(embedder: Embedder) -> None:
    expected = embedder.embed(TEXTS)
    embedder.release()
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: embedder.embed(TEXTS).tobytes(), range(8)))
    assert set(results) == {expected.tobytes()}


def test_an_unknown_name_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(Invalid, match=r"'word2vec'; known: gte-small, potion-multilingual, hash"):
        open_embedder("word2vec")


def test_the_default_is_the_bundled_model() -> None:
    assert open_embedder().model == open_embedder(DEFAULT).model == "gte-small/int8/384"


def test_opening_loads_nothing(run: Callable[..., str]) -> None:
    script = (
        "import sys; from lore.embed import MODELS, open_embedder; "
        "opened = open_embedder(); assert not opened.ready; "
        "assert 'onnxruntime' not in sys.modules; opened.warm(); assert opened.ready; "
        "assert 'onnxruntime' in sys.modules"
    )
    run(script)
