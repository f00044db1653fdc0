"""graph: entities with observations and typed relations, ranked by likeness, use, age and company."""

from lore.surfaces.graph import caring, entities, reflections, relations, searching, splitting
from lore.surfaces.graph.dialect import GRAPH

__all__ = ["GRAPH", "caring", "entities", "reflections", "relations", "searching", "splitting"]
