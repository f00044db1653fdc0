"""graph: entities with observations and typed relations, ranked by likeness, use, age and company."""

# clients see the tools in the order of these imports
from lore.surfaces.graph import maintenance  # isort: skip
from lore.surfaces.graph import entities, reflections, relations, searching, splitting
from lore.surfaces.graph.dialect import GRAPH

__all__ = ["GRAPH", "entities", "maintenance", "reflections", "relations", "searching", "splitting"]
