"""Lore: long-term memory for AI agents. These are the public names."""

from lore.environment import switch_off_telemetry
from lore.lazy import load

TYPE_CHECKING = False  # what type checkers take for true; the module that has it is not light
if TYPE_CHECKING:
    from lore.connecting import connect
    from lore.engine import Lore
    from lore.errors import Duplicate, Invalid, LoreError, NotFound, Unavailable
    from lore.model import Answer, Draft, Filter, Hit, Link, Memory, Query, Tie

_HOMES = {
    "connect": "lore.connecting",
    "Lore": "lore.engine",
    **dict.fromkeys(("Duplicate", "Invalid", "LoreError", "NotFound", "Unavailable"), "lore.errors"),
    **dict.fromkeys(("Answer", "Draft", "Filter", "Hit", "Link", "Memory", "Query", "Tie"), "lore.model"),
}

__all__ = [
    "Answer",
    "Draft",
    "Duplicate",
    "Filter",
    "Hit",
    "Invalid",
    "Link",
    "Lore",
    "LoreError",
    "Memory",
    "NotFound",
    "Query",
    "Tie",
    "Unavailable",
    "connect",
]

switch_off_telemetry()


def __getattr__(name: str) -> object:
    """Load a public name when it is first used: `import lore` alone costs nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'lore' has no attribute {name!r}")
    return load(f"{_HOMES[name]}:{name}")
