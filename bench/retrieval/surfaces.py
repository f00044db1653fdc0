"""Surfaces: ask a question through a surface's own search tool, as an agent would, with its default limit."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lore import Filter, Lore, Memory
from lore.surfaces import SURFACES

GRAPH_QUERY_LIMIT = 500
"""The longest query, in characters, that the graph's tool takes."""


@dataclass(frozen=True, slots=True)
class Call:
    """A search tool, its arguments for a question, and the ids in its answer, best first."""

    tool: str
    arguments: Callable[[str], dict[str, Any]]
    ids: Callable[[Mapping[str, Any]], list[Any]]


CALLS: Mapping[str, Call] = {
    "tree": Call("search", lambda text: {"query": text}, lambda data: [r["id"] for r in data["results"]]),
    "tree-first": Call(
        "query_memory", lambda text: {"topic": text}, lambda data: [r["id"] for r in data["fragments"]]
    ),
    "scored": Call(
        "lore_search", lambda text: {"query": text}, lambda data: [r["memory"]["id"] for r in data["results"]]
    ),
    "typed": Call(
        "memory_recall", lambda text: {"query": text}, lambda data: [r["id"] for r in data["memories"]]
    ),
    "graph": Call(
        "search_semantic",
        lambda text: {"query": text[:GRAPH_QUERY_LIMIT]},
        lambda data: [r["id"] for r in data["results"]],
    ),
}


def ask(surface: str, question: str, lore: Lore) -> list[Memory]:
    """The memories that the surface's search tool answers with, best first."""
    call = CALLS[surface]
    reply = SURFACES[surface].tools[call.tool](lore, call.arguments(question))
    found = [_id_of(id, lore) for id in call.ids(reply.data)]
    memories = {m.id: m for m in lore.select(Filter(ids=tuple(found), superseded=True), len(found))}
    return [memories[id] for id in found if id in memories]


def _id_of(id: str | int, lore: Lore) -> str:
    """The graph's tools answer with numbers."""
    if isinstance(id, str):
        return id
    memory = lore.by_alias("memory", id)
    return "" if memory is None else memory.id
