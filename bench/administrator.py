"""administrator: a token with every right for a whole store, for benches that call its server."""

from contextlib import closing
from pathlib import Path

from lore.config import load
from lore.connecting import wire
from lore.doors.http.tokens import Grant, create
from lore.model import SHARED
from lore.store import Store


def administrator(folder: Path, model: str, name: str = "bench") -> str:
    """Make the token; the store is opened for that, and closed again."""
    with closing(wire(load({}, data_dir=folder, embedding_model=model), patient=False)) as lore:
        return of_store(lore.store, name, lore.clock())


def of_store(store: Store, name: str, now: float) -> str:
    """Make the token in an open store."""
    return create(store, Grant(name=name, namespaces=(SHARED, "*"), rights=("admin",)), now)[0]
