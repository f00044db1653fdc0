"""Category: what sort of knowledge a memory is, how much that sort matters, and which sort time spares."""

from collections.abc import Mapping
from types import MappingProxyType

IMPORTANCE: Mapping[str, float] = MappingProxyType(
    {
        "fact": 0.5,
        "preference": 0.7,
        "decision": 0.8,
        "identity": 1.0,
        "event": 0.5,
        "observation": 0.4,
        "goal": 0.7,
        "todo": 0.3,
    }
)
"""The categories, each with the importance of a memory that was given none."""

BY_KIND: Mapping[str, str] = MappingProxyType(
    {
        "observation": "observation",
        "reflection": "observation",
        "turn": "event",
        "session": "event",
        "lore-call": "event",
    }
)
"""What a memory counts as whose type is no category; any other kind counts as OTHERWISE."""
OTHERWISE = "fact"

LASTING = frozenset({"identity"})
"""Memories of these types do not fade."""


def category_of(type: str, kind: str) -> str:
    """A memory's own type if that is a category, else the one of its kind."""
    return type if type in IMPORTANCE else BY_KIND.get(kind, OTHERWISE)
