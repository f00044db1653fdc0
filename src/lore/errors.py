"""Everything Lore raises on purpose.

LoreError
├── Invalid      the caller sent something we cannot act on
├── NotFound     an id is unknown, forgotten, or not for this reader
├── Duplicate    the memory already exists; `.existing` says which
└── Unavailable  a part we need (model, file, disk) is not there right now

A message names the wrong thing and the right ones. Doors turn these into their own form.
"""


class LoreError(Exception):
    """The root: catch this at an edge to catch all that Lore raises on purpose."""


class Invalid(LoreError):
    """The caller sent something we cannot act on; nothing was changed."""


class NotFound(LoreError):
    """An id is unknown, forgotten, or outside what this reader may see."""


class Duplicate(LoreError):
    """The memory already exists."""

    def __init__(self, message: str, existing: str) -> None:
        super().__init__(message)
        self.existing = existing


class Unavailable(LoreError):
    """A part we need (the model, the file, the disk) is not there right now."""
