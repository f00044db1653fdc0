"""Stores: where memories live. BACKENDS lists the databases; `base` is the contract that they keep."""

from pathlib import Path
from typing import Any

from lore.errors import Invalid
from lore.lazy import load
from lore.store.base import DEFAULT_TENANT, FileStore, Reader, Store, Writer
from lore.store.values import Listing, Page, Passage, Suggestion
from lore.text import listed

__all__ = [
    "BACKENDS", "DEFAULT_TENANT", "FileStore", "Listing", "Page", "Passage", "Reader", "Store", "Suggestion",
    "Writer", "back_up", "open_store",
]  # fmt: skip

BACKENDS = {"sqlite": "lore.store.sqlite.store:SqliteStore"}
"""Scheme of a location -> the class of its database, imported when opened. A location without a scheme is the
file of an SQLite database."""


def open_store(location: str | Path, **options: Any) -> Store:
    """Open the database at a location: a path, or `scheme://…`."""
    scheme, separator, _ = str(location).partition("://")
    if not separator:
        scheme, location = "sqlite", Path(location)
    if scheme not in BACKENDS:
        raise Invalid(f"unknown database {scheme!r}; known: {listed(BACKENDS)}")
    store: Store = load(BACKENDS[scheme])(location, **options)
    return store


def back_up(store: Store, target: Path) -> None:
    """Write a complete copy of a store that is a file."""
    if not isinstance(store, FileStore):
        raise Invalid("this store is no file; back it up with the tools of its database")
    store.backup(target)
