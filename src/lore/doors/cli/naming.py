"""Naming: memories that are only mentioned, by their short id and what they are called."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from lore.doors.cli.ids import shortened
from lore.doors.cli.terminal import line, width
from lore.model import Filter, Memory, Query
from lore.text import preview

if TYPE_CHECKING:
    from lore.engine import Lore

MANY = 1_000
LABEL_LENGTH = 300
"""Characters of a text that stand for it where a memory has no title."""


def label(memory: Memory) -> str:
    """The title of a memory, or the beginning of its text."""
    return memory.title or preview(memory.content, LABEL_LENGTH)


def names(lore: "Lore", ids: Sequence[str], indent: int) -> Mapping[str, str]:
    """What each is called, behind its short id, on what `indent` columns leave of a line."""
    found = looked_up(lore, ids)
    short = shortened(lore, ids)
    room = width() - max(map(len, short.values()), default=0) - indent
    labels = {id: line(label(memory), room) for id, memory in found.items()}
    return {id: f"{click.style(short[id], fg='yellow')}  {labels.get(id, '')}" for id in ids}


def looked_up(lore: "Lore", ids: Sequence[str]) -> Mapping[str, Memory]:
    """The memories themselves, also those that were replaced; counts as no use."""
    if not ids:
        return {}
    where = Filter(ids=tuple(ids[:MANY]), superseded=True)
    hits = lore.search(Query(text="", where=where, limit=MANY, counted=False)).hits
    return {hit.memory.id: hit.memory for hit in hits}
