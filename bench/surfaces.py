"""Measure how many tokens the description of each surface costs a model, and how long each tool takes.

python -m bench.surfaces [--memories 10000] [--calls 30] [--model NAME] [--json FILE]
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bench.corpus import Corpus
from bench.speed import MODEL, fill
from lore import Lore
from lore.config import Config
from lore.connecting import wire
from lore.doors.offer import offered
from lore.surfaces import SURFACES, Surface

CHARACTERS_PER_TOKEN = 4

Arguments = Callable[["Scene"], dict[str, Any]]


class Scene:
    """A filled store and an endless supply of fresh texts, names and ids to call tools with."""

    def __init__(self, lore: Lore, corpus: Corpus, texts: list[str]) -> None:
        self.lore = lore
        self._corpus = corpus
        self._texts = texts
        self._number = 0
        self.ids = [branch.memory.id for branch in lore.roots(1_000)]

    def text(self) -> str:
        return self._corpus.text()

    def question(self) -> str:
        self._number += 1
        return self._corpus.question(self._texts[self._number * 37 % len(self._texts)])

    def id(self) -> str:
        self._number += 1
        return self.ids[self._number % len(self.ids)]

    def fresh(self) -> str:
        """A memory that only this call will have."""
        return str(
            SURFACES["tree"].tools["store"](self.lore, {"content": self.text(), "depth": 0}).data["id"]
        )

    def name(self) -> str:
        self._number += 1
        return f"Entity {self._number % 50}"


def _entity(scene: Scene) -> dict[str, Any]:
    return {"name": scene.name(), "entityType": "Project", "observations": [scene.text()]}


def _relation(scene: Scene) -> dict[str, Any]:
    return {"from": scene.name(), "to": scene.name(), "relationType": "uses"}


CALLS: dict[str, Arguments] = {
    "search": lambda scene: {"query": scene.question()},
    "read": lambda scene: {"id": scene.id()},
    "list_roots": lambda scene: {},
    "store": lambda scene: {"content": scene.text()},
    "update": lambda scene: {"fragment_id": scene.id(), "content": scene.text()},
    "delete": lambda scene: {"fragment_id": scene.fresh()},
    "lore_search": lambda scene: {"query": scene.question()},
    "lore_insert": lambda scene: {"memories": [{"title": scene.text()[:60], "content": scene.text()}]},
    "lore_remember": lambda scene: {"thought": scene.text()},
    "lore_update": lambda scene: {"memory_feedback": [{"id": scene.id(), "useful": True, "confidence": 8}]},
    "lore_forget": lambda scene: {"memory_ids": [scene.fresh()]},
    "lore_reflect": lambda scene: {"session_id": scene.text(), "summary": scene.text()},
    "lore_processed_sessions": lambda scene: {},
    "lore_recommend_links": lambda scene: {"lore_id": scene.id()},
    "lore_get_suggestions": lambda scene: {},
    "create_entities": lambda scene: {"entities": [_entity(scene)]},
    "create_relations": lambda scene: {"relations": [_relation(scene)]},
    "add_observations": lambda scene: {"name": scene.name(), "observations": [scene.text()]},
    "search_nodes": lambda scene: {"query": scene.text().split()[1]},
    "open_nodes": lambda scene: {"names": [scene.name(), scene.name()]},
    "search_semantic": lambda scene: {"query": scene.question()},
    "read_graph": lambda scene: {},
    "analyze_entity_split": lambda scene: {"entity_name": scene.name()},
    "find_duplicate_observations": lambda scene: {"entity_name": scene.name()},
    "consolidation_report": lambda scene: {},
    "add_reflection": lambda scene: {"target_type": "global", "content": scene.text()},
    "search_reflections": lambda scene: {"query": scene.question()},
    "memory_save": lambda scene: {"content": scene.text(), "memory_type": "fact"},
    "memory_recall": lambda scene: {"query": scene.question()},
    "memory_delete": lambda scene: {"memory_id": scene.fresh()},
    "query_memory": lambda scene: {"topic": scene.question()},
    "explore_memory": lambda scene: {"topic": scene.question()},
    "traverse_memory": lambda scene: {"fragment_id": scene.id(), "direction": "children"},
    "store_memory": lambda scene: {"content": scene.text(), "summary": scene.text()[:60]},
    "list_topics": lambda scene: {},
}


def _prepared(scene: Scene) -> None:
    """Fifty entities with a dozen observations each, for the tools that speak of entities."""
    names = [f"Entity {number}" for number in range(50)]
    drafts = [
        {"name": name, "entityType": "Project", "observations": [scene.text() for _ in range(12)]}
        for name in names
    ]
    SURFACES["graph"].tools["create_entities"](scene.lore, {"entities": drafts})


def main() -> None:
    options = _options()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        lore = wire(Config(db_path=Path(folder) / "memory.db", embedding_model=options.model))
        corpus = Corpus()
        scene = Scene(lore, corpus, fill(lore, corpus, options.memories, options.model))
        _prepared(scene)
        for name, surface in SURFACES.items():
            paid, whole = tokens(surface, PAID), tokens(surface, None)
            print(f"{name}: {len(surface.tools)} tools, {paid:,} tokens ({whole:,} listed)", flush=True)
            taken = dict(timings(surface, scene, options.calls))
            rows.append({"surface": name, "tokens": paid, "listed_tokens": whole, "p50_ms": taken})
            for tool, milliseconds in taken.items():
                print(f"  {tool:28} {milliseconds:8.1f} ms", flush=True)
        lore.close()
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n")


PAID = {"name", "description", "input_schema"}
"""What clients show a model of a tool; titles, hints and output outlines stay with the client."""


def tokens(surface: Surface, shown: set[str] | None) -> int:
    """About what these parts of tools/list cost; None: the whole listing."""
    listing = [
        offered(tool).model_dump(by_alias=True, exclude_none=True, include=shown)
        for tool in surface.tools.values()
    ]
    return len(json.dumps(listing, separators=(",", ":"))) // CHARACTERS_PER_TOKEN


def timings(surface: Surface, scene: Scene, calls: int) -> Iterator[tuple[str, float]]:
    """The middle of some calls of each tool; the official profile's tools do the work of the graph's."""
    for name, tool in surface.tools.items():
        if name in CALLS and not surface.alone:
            yield name, statistics.median(_timed(tool, scene, CALLS[name]) for _ in range(calls))


def _timed(tool: Callable[[Lore, dict[str, Any]], object], scene: Scene, arguments: Arguments) -> float:
    given = arguments(scene)
    began = time.perf_counter()
    tool(scene.lore, given)
    return (time.perf_counter() - began) * 1000


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--memories", type=int, default=10_000)
    parser.add_argument("--calls", type=int, default=30)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
