"""Stores of any size for measurements: realistic words, vectors shaped like the model's, built once and kept.

python -m bench.stores FOLDER --sizes 1000 1000000

A store of a million takes some minutes. It stays in FOLDER until somebody deletes it.
"""

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bench.corpus import Corpus, like, sentences
from bench.measuring import Bar
from lore.embed import open_embedder
from lore.model import SHARED, Cause, Memory, new_id
from lore.store import Store, open_store
from lore.vectors import Vectors

MODEL = "gte-small"
BATCH = 2_000
SAMPLES, PROBES = 1_000, 100
"""Sentences that are really embedded: the vectors of memories lie between those of the samples; the probes
are no part of them, and ask for the nearest."""
SESSIONS = 100
"""A filter by one session passes one memory in a hundred."""
QUESTIONS = 400
BEGUN = 1_700_000_000.0


@dataclass(frozen=True, slots=True)
class Built:
    """A store for measurements. text_bytes: of all contents, in UTF-8. seconds: to build it.

    questions: some words of a text. probes: real sentences, to search by meaning alone.
    """

    path: Path
    size: int
    text_bytes: int
    seconds: float
    questions: tuple[str, ...]
    probes: tuple[str, ...]


def built(folder: Path, size: int, model: str = MODEL) -> Built:
    """The store of this size in a folder; made if it is not there."""
    path = folder / f"{model}-{size}" / "memory.db"
    facts = path.with_name("facts.json")
    if not facts.exists():
        if path.exists():
            raise SystemExit(f"{path} was not completed; delete {path.parent}")
        facts.parent.mkdir(parents=True, exist_ok=True)
        made = _build(path, size, model)
        facts.write_text(json.dumps(asdict(made) | {"path": path.name}))
    values = json.loads(facts.read_text())
    lists = {name: tuple(values[name]) for name in ("questions", "probes")}
    return Built(**values | lists | {"path": path})


def _build(path: Path, size: int, model: str) -> Built:
    embedder, corpus = open_embedder(model), Corpus()
    real_texts = sentences()
    probes, real = real_texts[:PROBES], embedder.embed(real_texts[PROBES : PROBES + min(size, SAMPLES)])
    store, began, bar = open_store(path), time.perf_counter(), Bar(f"{size:,} memories", size)
    text_bytes, questions = 0, list[str]()
    for start in range(0, size, BATCH):
        texts = [corpus.text() for _ in range(min(BATCH, size - start))]
        put(store, start, texts, like(real, len(texts), seed=start), embedder.model)
        text_bytes += sum(len(text.encode()) for text in texts)
        due = QUESTIONS * (start + len(texts)) // size - len(questions)
        questions += [corpus.question(texts[at * len(texts) // due]) for at in range(due)]
        bar.at(start + len(texts))
    store.close()
    return Built(path, size, text_bytes, time.perf_counter() - began, tuple(questions), tuple(probes))


def put(store: Store, start: int, texts: list[str], vectors: Vectors, model: str) -> None:
    """Keep memories with their vectors in one transaction, each a second later than the one before."""
    memories = [
        Memory(
            id=new_id(BEGUN + start + at),
            content=text,
            session=str((start + at) % SESSIONS),
            created_at=BEGUN + start + at,
            updated_at=BEGUN + start + at,
        )
        for at, text in enumerate(texts)
    ]
    with store.transaction(SHARED, Cause(verb="remember"), BEGUN + start) as writer:
        writer.put(memories)
        ids = [memory.id for memory in memories]
        writer.put_vectors(model, dict(zip(ids, np.asarray(vectors), strict=True)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--model", default=MODEL)
    options = parser.parse_args()
    for size in options.sizes:
        made = built(options.folder, size, options.model)
        print(f"{size:>9,} memories in {made.seconds:,.0f} s: {made.path}")


if __name__ == "__main__":
    main()
