"""Stores: where memories live. BACKENDS is the list; `base` is the contract they keep."""

from collections.abc import Callable

from lore.store.base import Bookmark, Passage, Reader, Store, Suggestion, Writer
from lore.store.sqlite import SqliteStore

__all__ = ["BACKENDS", "Bookmark", "Passage", "Reader", "Store", "Suggestion", "Writer"]

BACKENDS: dict[str, Callable[..., Store]] = {"sqlite": SqliteStore}
