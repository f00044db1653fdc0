"""How well are cited files found in texts, and what do citations cost?

python -m bench.citations [--memories 1000] [--calls 200] [--model hash]

Precision and recall on the labelled sentences of citations.jsonl: by the text alone, and inside a repository
that has the files they name. Then the cost of marking ten hits, after a change of their files and without
one, of a search inside and outside of the repository, of a store with and without a citation, and of the
pitfalls of an action.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from bench.corpus import Corpus
from lore import Draft, Lore, Query
from lore.actions import action_of
from lore.citations import Citation, files_in
from lore.config import Config
from lore.connecting import wire
from lore.transcripts.working_tree import WorkingTree, working_tree

LABELLED = Path(__file__).with_suffix(".jsonl")
HITS = 10
FILE_LINES = 600
"""Lines of each cited file: about 20 KB."""
LONG_AGO = 1_000_000_000


class Sentence(NamedTuple):
    """cites: the labels of the files that the text cites."""

    text: str
    cites: list[str]


def main() -> None:
    options = _options()
    sentences = [Sentence(**json.loads(line)) for line in LABELLED.read_text().splitlines()]
    with tempfile.TemporaryDirectory(prefix="lore-bench-") as folder:
        tree = _repository(Path(folder) / "repository", sentences)
        print(f"{len(sentences)} sentences, {sum(len(one.cites) for one in sentences)} citations in them")
        _print_quality("by the text alone", sentences, files_in)
        _print_quality("inside the repository", sentences, lambda text: tree.cite([text]).files)
        lore = wire(Config(db_path=Path(folder) / "memory.db", embedding_model=options.model))
        corpus = Corpus()
        lore.remember_all([Draft(content=corpus.text()) for _ in range(options.memories)])
        lore.embed_pending()
        _print_costs(lore, lore.in_folder(tree.root), options.calls)
        lore.close()


def _repository(root: Path, sentences: Iterable[Sentence]) -> WorkingTree:
    """A working tree with the files that the sentences cite, and some for the measurements of cost."""
    (root / ".git").mkdir(parents=True)
    text = "".join(f"line {number} of a source file of usual length\n" for number in range(FILE_LINES))
    labels = [label for one in sentences for label in one.cites]
    for path in [*(label.partition(":")[0] for label in labels), *map(_path, range(HITS))]:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    tree = working_tree(str(root))
    assert tree is not None
    return tree


def _path(number: int) -> str:
    return f"src/walrus/part_{number}.py"


def _print_quality(
    name: str, sentences: Iterable[Sentence], find: Callable[[str], Iterable[Citation]]
) -> None:
    right = found = wanted = 0
    for one in sentences:
        labels, expected = {file.label for file in find(one.text)}, set(one.cites)
        right, found, wanted = right + len(labels & expected), found + len(labels), wanted + len(expected)
    print(f"  {name:24}precision {right / max(1, found):.3f}   recall {right / max(1, wanted):.3f}")


def _print_costs(outside: Lore, inside: Lore, calls: int) -> None:
    texts = [f"The walrus pool number {n} is set in {_path(n)}:{n + 1}-{n + 20}" for n in range(HITS)]
    for text in texts:
        inside.remember(Draft(content=text))
    inside.embed_pending()
    hits = inside.search(Query(text="walrus pool number", limit=HITS)).hits
    memories = [hit.memory for hit in hits]
    assert sum(map(len, inside.citations(memories).values())) == HITS
    root = inside.tree.root if inside.tree else ""
    files = [os.path.join(root, _path(number)) for number in range(HITS)]

    def touch() -> None:
        for place, file in enumerate(files):
            os.utime(file, (LONG_AGO + place + time.time_ns() % 10**8, LONG_AGO))

    query = Query(text="walrus pool number", limit=HITS, counted=False)
    plain, numbers = "The walrus pool number {} is set in that module", iter(range(10**9))
    cited = "The walrus pool number {} is set in src/walrus/part_1.py"
    edit = action_of({"tool_name": "Edit", "tool_input": {"file_path": files[0]}})
    command = action_of({"tool_name": "Bash", "tool_input": {"command": "git push --force origin main"}})
    inside.remember(Draft(content="src/walrus/part_0.py is generated: never edit it by hand"))
    measured: dict[str, Callable[[], object]] = {
        "mark 10 hits, files changed": lambda: inside.citations(memories),
        "store without a citation": lambda: inside.remember(Draft(content=plain.format(next(numbers)))),
        "store with a citation": lambda: inside.remember(Draft(content=cited.format(next(numbers)))),
        "pitfalls of an edit": lambda: inside.pitfalls(edit),
        "pitfalls of a command": lambda: inside.pitfalls(command),
        "search outside": lambda: outside.search(query),
        "search inside": lambda: inside.search(query),
        "mark 10 hits, files as before": lambda: inside.citations(memories),
    }
    print(f"{'milliseconds':34}CPU p50  wall p50  wall p95")
    touch()
    for name, call in measured.items():
        before = touch if name.endswith("changed") else None
        cpu, wall = _timed(call, calls, before)
        p95 = statistics.quantiles(wall, n=20)[-1]
        print(f"  {name:32}{statistics.median(cpu):7.2f}{statistics.median(wall):10.2f}{p95:10.2f}")


def _timed(
    call: Callable[[], object], calls: int, before: Callable[[], None] | None
) -> tuple[list[float], list[float]]:
    """Milliseconds of processor and of wall time of each call."""
    cpu, wall = [], []
    for _ in range(calls):
        if before is not None:
            before()
        started = time.thread_time(), time.perf_counter()
        call()
        cpu.append((time.thread_time() - started[0]) * 1000)
        wall.append((time.perf_counter() - started[1]) * 1000)
    return cpu, wall


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--memories", type=int, default=1_000)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--model", default="hash")
    return parser.parse_args()


if __name__ == "__main__":
    main()
