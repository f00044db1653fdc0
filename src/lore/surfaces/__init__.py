"""Surfaces: sets of tools that agents know. Each translates tool calls into verbs, and results back."""

from lore.errors import Invalid
from lore.surfaces.files import FILES
from lore.surfaces.graph import GRAPH
from lore.surfaces.official import OFFICIAL
from lore.surfaces.scored import SCORED
from lore.surfaces.surface import Reply, Surface, Tool, instructions_of
from lore.surfaces.tree import TREE
from lore.surfaces.tree_first import TREE_FIRST
from lore.surfaces.typed import TYPED
from lore.text import listed

# the other modules of graph and scored register their tools; clients see the tools in this order
from lore.surfaces import graph_maintenance, graph_entities, graph_relations, graph_nodes, graph_split  # isort: skip # noqa
from lore.surfaces import scored_notes, scored_review  # isort: skip # noqa: F401

__all__ = ["SURFACES", "Reply", "Surface", "Tool", "instructions_of", "surfaces_named"]

SURFACES: dict[str, Surface] = {
    "tree": TREE,
    "tree-first": TREE_FIRST,
    "scored": SCORED,
    "typed": TYPED,
    "graph": GRAPH,
    "official": OFFICIAL,
    "files": FILES,
}
ALL = "all"


def surfaces_named(names: str) -> list[Surface]:
    """The surfaces of a comma-separated list, or `all` that can stand side by side."""
    wanted = [name.strip() for name in names.split(",") if name.strip()]
    if wanted == [ALL]:
        return [surface for surface in SURFACES.values() if not surface.alone]
    if unknown := [name for name in wanted if name not in SURFACES]:
        raise Invalid(f"unknown surfaces: {listed(unknown)}; known: {listed(SURFACES)}, or {ALL}")
    chosen = [SURFACES[name] for name in dict.fromkeys(wanted)]
    if not chosen:
        raise Invalid(f"no surface is named; known: {listed(SURFACES)}, or {ALL}")
    _refuse_clash(chosen)
    return chosen


def _refuse_clash(surfaces: list[Surface]) -> None:
    names: dict[str, str] = {}
    for surface in surfaces:
        for tool in surface.names():
            if tool in names:
                raise Invalid(
                    f"surfaces {names[tool]} and {surface.name} both have a tool {tool!r}; choose one"
                )
            names[tool] = surface.name
