"""Measure the time of a search and of its parts, and the cost of opening a large store.

python -m bench.speed [--sizes 1000 10000 100000] [--queries 200] [--model NAME] [--json FILE]

Times are p50, p95 and p99.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import apsw
import numpy as np

from bench.corpus import Corpus, like
from lore import Draft, Filter, Lore, Query
from lore.config import Config
from lore.connecting import wire
from lore.embed import open_embedder
from lore.ranking.policy import policy_named
from lore.store import Passage
from lore.text import terms
from lore.vectors import Vector, unpacked_rows

BATCH = 500
MODEL = "gte-small"
MODEL_TEXTS = 1_000
COLD = """
import re, sys, time
began = time.perf_counter()
from lore import Query, connect
lore = connect(sys.argv[1])
opened = time.perf_counter()
question = lore.embeddings.embed_query("warm up the model")
lore.store.reader("shared").near(question, lore.embeddings.model, 10, Query(text="x").where)
found = time.perf_counter()
lore.search(Query(text="a second question about something else"))
warm = time.perf_counter()
peak = int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
now = int(open("/proc/self/statm").read().split()[1]) * 4096 / 2**20
print(opened - began, found - opened, warm - found, peak, now)
"""


def main() -> None:
    options = _options()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in options.sizes:
            _say(f"{size:,} memories: filling")
            row = measure(Path(folder) / f"{size}.db", size, options.queries, options.model)
            rows.append(row)
            print(_line(row), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")


def measure(path: Path, size: int, queries: int, model: str) -> dict[str, Any]:
    """Fill a store of that size and time everything about it."""
    lore = wire(Config(db_path=path, embedding_model=model))
    corpus = Corpus()
    began = time.perf_counter()
    texts = fill(lore, corpus, size, model)
    filled = time.perf_counter() - began
    questions = [corpus.question(texts[at * len(texts) // queries]) for at in range(queries)]
    embedder = open_embedder(model)
    embedder.warm()
    reader = lore.store.reader("shared")
    vectors = [embedder.embed_query(question) for question in questions]
    lore.search(Query(text=questions[0]))
    row = {
        "memories": size,
        "fill_seconds": filled,
        "megabytes": lore.store.report().size_bytes / 2**20,
        "embedding": _timed(questions[::4], lambda text: embedder.embed([text])),
        "meaning": _timed(vectors, lambda vector: reader.near(vector, lore.embeddings.model, 100, Filter())),
        "words": _timed(questions, lambda text: reader.matching(terms(text), 100, Filter()).strengths),
        "search": _timed(questions, lambda text: lore.search(Query(text=text))),
        "ranking": _ranking(lore, questions, vectors),
        "scan": _timed(vectors[:5], lambda vector: _scanned(path, vector)),
        "filtered": _timed(
            questions,
            lambda text: lore.search(Query(text=text, where=Filter(sessions=frozenset({"7"})))),
        ),
        "deep": _timed(questions, lambda text: lore.search(Query(text=text, deep=True))),
    }
    lore.close()
    return row | _cold(path, model)


def fill(lore: Lore, corpus: Corpus, size: int, model: str = MODEL, samples: int = MODEL_TEXTS) -> list[str]:
    """Memories through the public verb, vectors shaped like `samples` real ones."""
    real = open_embedder(model).embed([corpus.text() for _ in range(min(size, samples))])
    texts = [corpus.text() for _ in range(size)]
    vectors = like(real, size)
    for start in range(0, size, BATCH):
        batch = [
            Draft(content=text, session=str((start + at) % 100))
            for at, text in enumerate(texts[start : start + BATCH])
        ]
        kept = [one.memory for one in lore.remember_all(batch)]
        passages = [Passage(memory.id, memory.content, 0) for memory in kept]
        part = vectors[start : start + BATCH]
        lore.store.embed(lore.embeddings.model, dict(zip(passages, part, strict=True)))
        if start % 10_000 == 0:
            _say(f"  {start:,}")
    return texts


def _scanned(path: Path, vector: Vector) -> list[int]:
    """The baseline: no index, every vector read from the file and scored."""
    rows = apsw.Connection(str(path)).execute("SELECT memory, data FROM short_vector").fetchall()
    matrix = unpacked_rows([cast(bytes, data) for _, data in rows])
    return [cast(int, rows[at][0]) for at in np.argsort(-(matrix @ vector))[:100]]


def _timed(items: Sequence[Any], call: Callable[[Any], object]) -> dict[str, float]:
    """Milliseconds: the middle, the slowest twentieth and hundredth, and the processor's share."""
    cpu = time.process_time()
    walls = [_taken(call, item) for item in items]
    cpu = (time.process_time() - cpu) * 1000 / len(items)
    return _spread(walls) | {"cpu": cpu}


def _ranking(lore: Lore, questions: Sequence[str], vectors: Sequence[Vector]) -> dict[str, float]:
    """What a search adds to finding by meaning and by words, question by question; the use is not counted."""
    reader = lore.store.reader("shared")
    many = policy_named("lore").candidates
    added = []
    for text, vector in zip(questions, vectors, strict=True):
        lore.embeddings.embed_query(text)
        finding = _taken(lambda of: reader.near(of, lore.embeddings.model, many, Filter()), vector)
        finding += _taken(lambda of: reader.matching(terms(of), many, Filter()).strengths, text)
        added.append(_taken(lambda of: lore.search(Query(text=of, counted=False)), text) - finding)
    return _spread(added)


def _taken(call: Callable[[Any], object], item: Any) -> float:
    began = time.perf_counter()
    call(item)
    return (time.perf_counter() - began) * 1000


def _spread(values: Sequence[float]) -> dict[str, float]:
    return {f"p{part}": float(np.percentile(values, part)) for part in (50, 95, 99)}


def _cold(path: Path, model: str) -> dict[str, float]:
    command, env = [sys.executable, "-c", COLD, str(path)], {**os.environ, "LORE_EMBEDDING_MODEL": model}
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=env)
    opened, first, second, peak, resident = map(float, run.stdout.split())
    return {
        "cold_open_ms": opened * 1000,
        "cold_first_ms": first * 1000,
        "cold_second_ms": second * 1000,
        "peak_mb": peak,
        "resident_mb": resident,
    }


def _line(row: dict[str, Any]) -> str:
    parts = [f"{row['memories']:>8,}"]
    parts += [
        f"{name} {row[name]['p50']:.1f}/{row[name]['p95']:.1f}/{row[name]['p99']:.1f} ms"
        f" (cpu {row[name]['cpu']:.1f})"
        for name in ("embedding", "meaning", "words", "search", "filtered", "deep")
    ]
    added = row["ranking"]
    parts.append(f"of a search, ranking: {added['p50']:.1f}/{added['p95']:.1f}/{added['p99']:.1f} ms")
    ratio = row["scan"]["p50"] / row["meaning"]["p50"]
    parts.append(f"reading and scoring every vector instead: {row['scan']['p50']:.1f} ms ({ratio:.1f} x)")
    parts.append(
        f"cold: open {row['cold_open_ms']:.0f}, first {row['cold_first_ms']:.0f},"
        f" then {row['cold_second_ms']:.0f} ms"
    )
    parts.append(
        f"RSS {row['resident_mb']:.0f} MB (peak {row['peak_mb']:.0f}); file {row['megabytes']:.0f} MB"
    )
    return "\n          ".join(parts)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
