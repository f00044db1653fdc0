"""Surfaces: the dialects that agents speak. Each translates its tools into verbs and back."""

from lore.surfaces.base import Reply, Surface, Tool
from lore.surfaces.tree import TREE

__all__ = ["SURFACES", "Reply", "Surface", "Tool"]

SURFACES: dict[str, Surface] = {"tree": TREE}
