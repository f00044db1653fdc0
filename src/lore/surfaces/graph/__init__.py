"""graph: entities with observations and typed relations, ranked by likeness, use, age and company."""

from lore.surfaces.graph import entities, maintenance, reflections, relations, searching, splitting
from lore.surfaces.graph.dialect import GRAPH

__all__ = ["GRAPH", "entities", "maintenance", "reflections", "relations", "searching", "splitting"]
