"""Ids: a person sees the end of an id, which is random, and types that or any unique beginning."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from lore.errors import Invalid, NotFound
from lore.model import ID_TAIL
from lore.text import require_text

if TYPE_CHECKING:
    from lore.engine import Lore

ID_LIMIT_BYTES = 200
SHOWN = 5
LENGTHS = (ID_TAIL, 12)
"""Characters of the end that are shown: 32 random bits or, where those are not unique, 48."""


def resolve(lore: "Lore", part: str, option: str = "") -> str:
    """The one id that begins or ends with `part`. option: the option that it was given to, for errors."""
    where = f"{option}: " if option else ""
    wanted = require_text(part, f"{where}id", ID_LIMIT_BYTES).strip().lower()
    found = lore.ids_like(wanted, SHOWN + 1)
    if not found:
        raise NotFound(f"{where}unknown memory {wanted}")
    if len(found) == 1 or wanted in found:
        return wanted if wanted in found else found[0]
    shown = shortened(lore, found[:SHOWN])
    more = " and more" if len(found) > SHOWN else ""
    raise Invalid(f"{where}{wanted} may be any of {', '.join(shown.values())}{more}; give one of these")


def resolve_all(lore: "Lore", parts: Iterable[str], option: str = "") -> list[str]:
    """One id for each, each once."""
    return list(dict.fromkeys(resolve(lore, part, option) for part in parts))


def shortened(lore: "Lore", ids: Iterable[str]) -> dict[str, str]:
    """id -> its end, all of one length, each of which `resolve` understands."""
    ids = list(ids)
    for length in LENGTHS:
        if all(len(lore.ids_like(id[-length:], 2)) == 1 for id in ids):
            return {id: id[-length:] for id in ids}
    return {id: id for id in ids}
