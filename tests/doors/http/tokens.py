"""Tokens of callers in tests."""

from contextlib import closing
from pathlib import Path

from lore.config import load
from lore.connecting import wire
from lore.doors.http.tokens import Grant, create
from lore.engine import Lore


def token_of(lore: Lore, name: str = "owner") -> str:
    """A token with every right for the whole store, as `lore token create` makes it for an administrator."""
    grant = Grant(name=name, namespaces=("shared", "*"), rights=("admin",))
    return create(lore.store, grant, lore.clock())[0]


def token_in(folder: Path, name: str = "ada") -> str:
    """Such a token for the store of this folder, whether a server has it open or not."""
    with closing(wire(load({}, data_dir=folder, embedding_model="hash"), patient=False)) as lore:
        return token_of(lore, name)


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}
