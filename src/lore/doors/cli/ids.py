"""Ids: a person types and sees as much of an id as tells it apart from all others."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lore.errors import Invalid, NotFound
from lore.text import clean

if TYPE_CHECKING:
    from lore.engine import Lore

ID_LIMIT_BYTES = 200
SHOWN = 5
LENGTHS = (8, 13, 18, 23)
"""Where an id may be cut: within its minute, after its millisecond, after some and more of its chance."""


def resolve(lore: "Lore", beginning: str) -> str:
    """The one id that begins so."""
    wanted = clean(beginning, "id", ID_LIMIT_BYTES).strip().lower()
    found = lore.ids_like(wanted, SHOWN + 1)
    if not found:
        raise NotFound(f"unknown memory {wanted}")
    if len(found) == 1 or wanted in found:
        return wanted if wanted in found else found[0]
    shown = shortened(lore, found[:SHOWN])
    more = " and more" if len(found) > SHOWN else ""
    raise Invalid(f"{wanted} is the beginning of {', '.join(shown.values())}{more}; give a longer one")


def resolve_all(lore: "Lore", beginnings: Iterable[str]) -> list[str]:
    """One id for each, each once."""
    return list(dict.fromkeys(resolve(lore, beginning) for beginning in beginnings))


def shortened(lore: "Lore", ids: Iterable[str]) -> dict[str, str]:
    """id -> its beginning, all of one length, each of which `resolve` would understand."""
    ids = list(ids)
    for length in LENGTHS:
        if all(len(lore.ids_like(id[:length], 2)) == 1 for id in ids):
            return {id: id[:length] for id in ids}
    return {id: id for id in ids}
