"""Ids: short ids as people see and type them, and names of memories that are only mentioned.

An id is shown by its end, which is random. People type that end or any unique beginning.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import click

from lore.doors.cli.render import line, width
from lore.errors import Invalid, NotFound
from lore.model import ID_TAIL, Filter, Memory, Query
from lore.text import preview, require_text

if TYPE_CHECKING:
    from lore.engine import Lore

ID_LIMIT_BYTES = 200
CANDIDATES = 5
"""Ids that an error about an ambiguous one lists."""
LENGTHS = (ID_TAIL, 12)
"""Characters of the end that are shown: 32 random bits or, where those are not unique, 48."""
LABEL_LENGTH = 300
"""Characters of its text that stand for a memory without a title."""
MANY = 1_000
"""Memories that can be mentioned at once."""


def resolve(lore: "Lore", part: str, option: str = "") -> str:
    """The one id that begins or ends with `part`. option: the option with this value, for errors."""
    where = f"{option}: " if option else ""
    part = require_text(part, f"{where}id", ID_LIMIT_BYTES).strip().lower()
    found = lore.ids_like(part, CANDIDATES + 1)
    if not found:
        raise NotFound(f"{where}unknown memory {part}")
    if len(found) == 1 or part in found:
        return part if part in found else found[0]
    candidates = ", ".join(shortened(lore, found[:CANDIDATES]).values())
    more = " and more" if len(found) > CANDIDATES else ""
    raise Invalid(f"{where}{part} matches several memories: {candidates}{more}; give one of these")


def resolve_all(lore: "Lore", parts: Iterable[str], option: str = "") -> list[str]:
    """The id of each part, without repeats."""
    return list(dict.fromkeys(resolve(lore, part, option) for part in parts))


def shortened(lore: "Lore", ids: Iterable[str]) -> dict[str, str]:
    """id -> its end, all of the same length, long enough for `resolve`."""
    ids = list(ids)
    for length in LENGTHS:
        if all(len(lore.ids_like(id[-length:], 2)) == 1 for id in ids):
            return {id: id[-length:] for id in ids}
    return {id: id for id in ids}


def label(memory: Memory) -> str:
    """The title of a memory, or the beginning of its text."""
    return memory.title or preview(memory.content, LABEL_LENGTH)


def names(lore: "Lore", ids: Sequence[str], indent: int, *, colour: bool = True) -> Mapping[str, str]:
    """id -> short id and label, cut to a line of which `indent` columns are taken."""
    memories = look_up(lore, ids)
    short = shortened(lore, ids)
    room = width() - max(map(len, short.values()), default=0) - indent
    labels = {id: line(label(memory), room) for id, memory in memories.items()}
    yellow = "yellow" if colour else None
    return {id: f"{click.style(short[id], fg=yellow, reset=colour)}  {labels.get(id, '')}" for id in ids}


def look_up(lore: "Lore", ids: Sequence[str]) -> Mapping[str, Memory]:
    """The memories of these ids, superseded ones too. Does not count as use."""
    if not ids:
        return {}
    where = Filter(ids=tuple(ids[:MANY]), superseded=True)
    hits = lore.search(Query(text="", where=where, limit=MANY, counted=False)).hits
    return {hit.memory.id: hit.memory for hit in hits}
