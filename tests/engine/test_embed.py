"""Embeddings and background: vectors follow soon after a write; without a model everything else works."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from lore import Draft, Lore, Query, Tie, Unavailable
from lore.clock import Clock
from lore.config import Config
from lore.connecting import wire
from lore.embed.hashing import HashEmbedder
from lore.engine.embeddings import CACHED_TEXTS, PIECE, QUIET_SECONDS, Embeddings, embed_batch
from lore.engine.entity_view import Subject
from lore.engine.reflect import Reflection
from lore.engine.split import Part
from lore.model import Revision
from lore.vectors import Vector, Vectors
from tests.doors.resident import until


class Missing(HashEmbedder):
    """A model that cannot be loaded."""

    ready = False

    def embed(self, texts: Sequence[str]) -> Vectors:
        raise Unavailable("the model file is gone")

    def embed_query(self, text: str) -> Vector:
        raise Unavailable("the model file is gone")


class Loading(HashEmbedder):
    """A model that is ready once it has embedded a text."""

    ready = False

    def __init__(self) -> None:
        super().__init__()
        self.embedding = Event()

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.ready = True
        if texts:
            self.embedding.set()
        return super().embed(texts)

    def embed_query(self, text: str) -> Vector:
        self.ready = True
        return super().embed_query(text)


class SlowEmbedder(HashEmbedder):
    """A model that has to be loaded, takes as long as the test wants, and counts what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.ready = False
        self.loads = 0
        self.embedded: list[str] = []
        self.gate = Event()
        self.gate.set()

    def warm(self) -> None:
        self.loads += 1
        assert self.gate.wait(30)
        self.ready = True

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not self.ready:
            self.warm()
        self.embedded += texts
        return super().embed(texts)

    def embed_query(self, text: str) -> Vector:
        if not self.ready:
            self.warm()
        return super().embed_query(text)

    def release(self) -> None:
        self.ready = False


class Broken(Missing):
    """One that says so when it is loaded."""

    def warm(self) -> None:
        raise Unavailable("the model file is gone")


class Failing(HashEmbedder):
    """A model that is loaded but answers no more: a server that went away."""

    def embed_query(self, text: str) -> Vector:
        raise Unavailable("the server does not answer")


def keep(lore: Lore, *contents: str) -> list[str]:
    return [one.memory.id for one in lore.remember_all([Draft(content=content) for content in contents])]


def test_pending_memories_are_embedded_in_batches(lore: Lore) -> None:
    keep(lore, *(f"number {n}" for n in range(5)))
    assert embed_batch(store=lore.store, embeddings=lore.embeddings, limit=2) == 2
    assert (lore.status().embedded, lore.status().pending) == (2, 3)
    lore.embed_pending()
    assert (lore.status().embedded, lore.status().pending) == (5, 0)
    assert embed_batch(store=lore.store, embeddings=lore.embeddings) == 0


def test_a_large_backlog_is_embedded_completely(lore: Lore) -> None:
    keep(lore, *(f"number {n}" for n in range(100)))
    lore.embed_pending()
    assert lore.status().pending == 0


def test_a_change_of_model_embeds_everything_again(config: Config, clock: Clock) -> None:
    before = wire(config, embedder=HashEmbedder(384), clock=clock)
    keep(before, "walrus", "penguin", "tax")
    before.embed_pending()
    before.close()

    after = wire(config, embedder=HashEmbedder(128), clock=clock)
    progress = []
    while embed_batch(store=after.store, embeddings=after.embeddings, limit=1):
        reader = after.store.reader(after.namespace)
        progress.append(tuple(reader.counts(f"hash/words/{size}").embedded for size in (128, 384)))
    assert progress == [(1, 2), (2, 1), (3, 0)]
    [hit, *_] = after.search(Query(text="walrus")).hits
    assert hit.memory.content == "walrus"
    assert hit.evidence["meaning"].strength > 0.5
    assert all(finding.passed for finding in after.check())
    after.close()


def test_a_search_during_a_change_of_model_uses_words_and_reports_the_backlog(
    config: Config, clock: Clock
) -> None:
    before = wire(config, embedder=HashEmbedder(384), clock=clock)
    keep(before, "walrus", "penguin")
    before.embed_pending()
    before.close()
    after = wire(config, embedder=HashEmbedder(128), clock=clock)
    answer = after.search(Query(text="walrus"))
    assert [hit.memory.content for hit in answer.hits] == ["walrus"]
    assert answer.pending == 2
    after.close()


def test_without_a_model_everything_else_works(config: Config, clock: Clock, tmp_path: Path) -> None:
    lore = wire(config, embedder=Missing(), clock=clock)
    walrus, penguin = keep(lore, "walrus", "penguin")
    lore.revise(Revision(id=penguin, content="penguin on ice"))
    [link] = lore.link([Tie(source=walrus, target=penguin)])
    child = lore.remember(Draft(content="tusk", auto_parent_above=0.1, embed_now=True))
    assert child.depth == 0
    assert lore.read(walrus).links == (link,)
    assert len(lore.roots()) == 3
    lore.forget([child.id])
    lore.restore([child.id])
    lore.embed_pending()
    lore.backup(tmp_path / "copy.db")
    assert all(finding.passed for finding in lore.check())
    assert (lore.status().embedding_state, lore.status().pending) == ("missing", 3)
    lore.close()


def test_without_a_model_a_search_finds_by_words_and_says_so(config: Config, clock: Clock) -> None:
    lore = wire(config, embedder=Missing(), clock=clock)
    [walrus, _] = keep(lore, "walrus", "penguin")
    answer = lore.search(Query(text="walrus"))
    assert [hit.memory.id for hit in answer.hits] == [walrus]
    assert answer.embedding_state == "missing"
    assert answer.notes() == ("Searched by words only: the model file is gone.",)
    lore.close()


def test_a_model_that_stopped_working_is_not_reported_as_ready(config: Config, clock: Clock) -> None:
    lore = wire(config, embedder=Failing(), clock=clock)
    keep(lore, "walrus")
    lore.embed_pending()
    answer = lore.search(Query(text="walrus"))
    assert len(answer.hits) == 1
    assert answer.notes() == ("Searched by words only: the server does not answer.",)
    lore.close()


def test_an_impatient_search_does_not_wait_for_the_model(config: Config, clock: Clock) -> None:
    patient = wire(config, embedder=HashEmbedder(), clock=clock)
    keep(patient, "walrus")
    patient.embed_pending()
    patient.close()
    lore = wire(config, embedder=Loading(), patient=False, clock=clock)
    answer = lore.search(Query(text="walrus"))
    assert len(answer.hits) == 1
    assert answer.notes() == ("Searched by words only: the embedding model is still loading.",)
    keep(lore, "another walrus")
    lore.embed_pending()
    assert lore.search(Query(text="walrus")).notes() == ()
    lore.close()


def lore_without_loaded_model(
    config: Config, clock: Clock, model: HashEmbedder, patience_seconds: float = 30.0
) -> Lore:
    """A server whose model is not loaded, with a memory that can only be found by its vector."""
    patient = wire(config, embedder=HashEmbedder(), clock=clock)
    keep(patient, "walrus")
    patient.embed_pending()
    patient.close()
    lore = wire(config, embedder=model, patient=False, clock=clock)
    return replace(lore, embeddings=Embeddings(model, patient=False, patience_seconds=patience_seconds))


def test_an_impatient_search_starts_loading_the_model_and_waits_a_moment(
    config: Config, clock: Clock
) -> None:
    model = SlowEmbedder()
    lore = lore_without_loaded_model(config, clock, model)
    answer = lore.search(Query(text="walrus"))
    assert (answer.embedding_state, answer.notes()) == ("ready", ())
    assert answer.hits[0].evidence["meaning"].strength > 0.5
    lore.close()


def test_an_impatient_search_waits_only_for_its_patience(config: Config, clock: Clock) -> None:
    model = SlowEmbedder()
    model.gate.clear()
    lore = lore_without_loaded_model(config, clock, model, patience_seconds=0.01)
    for _ in range(3):
        answer = lore.search(Query(text="walrus"))
        assert len(answer.hits) == 1
        assert answer.notes() == ("Searched by words only: the embedding model is still loading.",)
    until(lambda: model.loads)
    assert model.loads == 1
    model.gate.set()
    lore.close()


def test_nobody_waits_for_a_model_that_cannot_be_loaded(config: Config, clock: Clock) -> None:
    lore = lore_without_loaded_model(config, clock, Broken())
    lore.search(Query(text="walrus"))
    answer = lore.search(Query(text="walrus"))
    assert answer.notes() == ("Searched by words only: the model file is gone.",)
    lore.close()


def test_after_a_release_the_next_search_is_complete_again(config: Config, clock: Clock) -> None:
    model = SlowEmbedder()
    lore = lore_without_loaded_model(config, clock, model)
    before = lore.search(Query(text="walrus", counted=False))
    lore.release()
    assert lore.status().embedding_state == "warming"
    assert lore.search(Query(text="walrus", counted=False)) == before
    assert model.loads == 2
    lore.close()


def test_after_a_release_the_background_loads_the_model_only_for_pending_memories(
    config: Config, clock: Clock
) -> None:
    model = SlowEmbedder()
    lore = wire(config, embedder=model, patient=False, clock=clock)
    keep(lore, "walrus", "walrus too")
    lore.background.embed_all()
    lore.release()
    lore.background.embed_all()
    lore.background.sweep_on()
    assert not model.ready
    keep(lore, "penguin")
    lore.background.embed_all()
    assert model.ready
    assert lore.status().pending == 0
    lore.close()


def test_a_text_that_is_compared_and_then_stored_is_embedded_once() -> None:
    model = SlowEmbedder()
    embeddings = Embeddings(model)
    embeddings.embed_texts(["walrus"])
    both = embeddings.embed_texts(["penguin", "walrus", "penguin"])
    assert both is not None
    assert (both == HashEmbedder().embed(["penguin", "walrus", "penguin"])).all()
    assert model.embedded == ["walrus", "penguin"]
    embeddings.embed_texts([f"number {n}" for n in range(CACHED_TEXTS)])
    embeddings.embed_texts(["walrus"])
    assert model.embedded[-1] == "walrus"


WRITES: dict[str, Callable[[Lore], object]] = {
    "remember": lambda lore: lore.remember(Draft(content="tusk", embed_now=True)),
    "revise": lambda lore: lore.revise(Revision(id=lore.entities(["Walrus"])["Walrus"].id, content="x")),
    "reflect": lambda lore: lore.reflect(Reflection(session="s", title="t", account="we saw a walrus")),
    "introduce": lambda lore: lore.introduce([Subject(name="Penguin", observations=("black",))]),
    "observe": lambda lore: lore.observe([Subject(name="Walrus", observations=("old",))], judge=False),
    "retract": lambda lore: lore.retract([Subject(name="Walrus", observations=("fat",))]),
    "split": lambda lore: lore.split("Walrus", [Part(name="Tusk", type="", observations=("fat",))]),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_write_does_not_wait_for_vectors_that_its_reply_does_not_need(
    write: Callable[[Lore], object], config: Config, clock: Clock
) -> None:
    model = SlowEmbedder()
    lore = wire(config, embedder=model, patient=False, clock=clock)
    lore.introduce([Subject(name="Walrus", observations=("fat", "grey"))])
    lore.release()
    model.gate.clear()
    lore.background.start()
    write(lore)
    assert lore.status().pending > 0
    model.gate.set()
    lore.close()


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_background_embeds_pending_memories(when: str, config: Config, clock: Clock) -> None:
    model = Loading()
    lore = wire(config, embedder=model, patient=False, clock=clock)
    if when == "before":
        keep(lore, "walrus")
    lore.background.start()
    if when == "after":
        keep(lore, "walrus")
    assert model.embedding.wait(30)
    lore.close()
    again = wire(config, embedder=HashEmbedder(), clock=clock)
    assert (again.status().embedded, again.status().pending) == (1, 0)
    again.close()


def test_a_lore_whose_background_never_started_can_be_closed(config: Config, clock: Clock) -> None:
    lore = wire(config, embedder=HashEmbedder(), clock=clock)
    lore.close()
    lore.close()
    with pytest.raises(Unavailable, match="closed"):
        lore.status()


class Counting(HashEmbedder):
    """Notes how many texts it is given at once, and when it was given the last."""

    def __init__(self) -> None:
        super().__init__()
        self.sizes: list[int] = []
        self.began_at = 0.0

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.began_at = time.monotonic()
        self.sizes.append(len(texts))
        return super().embed(texts)


def test_texts_are_embedded_one_by_one_while_somebody_searches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lore.engine.embeddings.RECENT_QUERY_SECONDS", 600.0)
    embedder = Counting()
    lore = wire(Config(db_path=tmp_path / "memory.db"), embedder=embedder)
    for number in range(2 * PIECE):
        lore.remember(Draft(content=f"walrus {number}"))
    assert embed_batch(store=lore.store, embeddings=lore.embeddings, limit=PIECE) == PIECE
    lore.embeddings.patiently().embed_query("walrus")
    assert embed_batch(store=lore.store, embeddings=lore.embeddings, limit=PIECE) == PIECE
    lore.close()
    assert embedder.sizes == [PIECE, *[1] * PIECE]
    assert lore.embeddings.queried_recently


def test_embedding_pauses_during_searches_but_for_a_limited_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder = Counting()
    lore = wire(Config(db_path=tmp_path / "memory.db"), embedder=embedder)
    keep(lore, "walrus", "penguin")
    asked_at = time.monotonic()
    lore.embeddings.embed_query("walrus")
    assert embed_batch(store=lore.store, embeddings=lore.embeddings, limit=1) == 1
    assert embedder.began_at - asked_at >= QUIET_SECONDS
    monkeypatch.setattr("lore.engine.embeddings.QUIET_SECONDS", 600.0)
    monkeypatch.setattr("lore.engine.embeddings.LONGEST_PAUSE_SECONDS", 0.0)
    assert embed_batch(store=lore.store, embeddings=lore.embeddings, limit=1) == 1
    lore.close()


def test_a_backlog_is_embedded_knowledge_first_and_newest_turns_next(tmp_path: Path) -> None:
    lore = wire(Config(db_path=tmp_path / "memory.db"), embedder=HashEmbedder())
    for number, kind in enumerate(("turn", "note", "fact", "turn", "session", "turn")):
        lore.remember(Draft(content=f"walrus {number}", kind=kind))
    waiting = [passage.text[-1] for passage in lore.store.unembedded(lore.embeddings.model, 4).passages]
    lore.close()
    assert waiting == ["2", "1", "5", "4"]


class Stumbling(HashEmbedder):
    """Fails once for each text, as nobody thought it could."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def embed(self, texts: Sequence[str]) -> Vectors:
        if new := set(texts) - self.seen:
            self.seen |= new
            raise ZeroDivisionError("a mistake of ours")
        return super().embed(texts)


def test_the_background_survives_an_error_of_the_embedder(
    config: Config, caplog: pytest.LogCaptureFixture
) -> None:
    lore = wire(config, embedder=Stumbling(), patient=False)
    try:
        lore.background.start()
        lore.remember(Draft(content="The ferry leaves at noon"))
        until(lambda: lore.background.service.trouble == "ZeroDivisionError: a mistake of ours")
        until(lambda: not lore.pending())
        until(lambda: not lore.background.service.trouble)
    finally:
        lore.close()
    assert "embedding failed and is tried again" in caplog.text
