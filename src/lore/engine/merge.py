"""merge: two versions of a memory or link → one, field by field: the later change wins.

Pure. Versions form a semilattice: to merge is commutative, associative and idempotent, so that stores which
exchange versions in any order, however often, end equal.
"""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lore.model import Entry

MERGE = "merge"
"""The verb of journal entries that a merge wrote: their changes are those of another store."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A memory or link as one store has it. fields: values of JSON. stamps: field -> when it last changed,
    in seconds."""

    fields: Mapping[str, Any]
    stamps: Mapping[str, float]


def merge(mine: Version, theirs: Version) -> Version:
    """Every field as it was changed last; of two changes at the same time, the greater value."""
    newer = later(mine, theirs)
    return Version(
        fields={**mine.fields, **{name: theirs.fields[name] for name in newer}},
        stamps={**mine.stamps, **{name: theirs.stamps[name] for name in newer}},
    )


def later(mine: Version, theirs: Version) -> list[str]:
    """The fields that `theirs` changed later than `mine`."""
    return [name for name in theirs.fields if name not in mine.fields or _precedes(mine, theirs, name)]


def _precedes(mine: Version, theirs: Version, name: str) -> bool:
    if mine.stamps[name] != theirs.stamps[name]:
        return mine.stamps[name] < theirs.stamps[name]
    one, other = mine.fields[name], theirs.fields[name]
    return one != other and json.dumps(one, sort_keys=True) < json.dumps(other, sort_keys=True)


def stamps_of(
    entries: Iterable[Entry], names: Iterable[str], before: Mapping[str, float]
) -> dict[str, float]:
    """When each of these fields last changed, by the journal entries behind those that `before` includes.

    entries: oldest first. A change that follows another one counts as later, also where the clock was set
    back in between.
    """
    stamps = dict(before)
    names = list(names)
    for entry in entries:
        if entry.cause.verb != MERGE:
            changed = (
                names if entry.before is None else [name for name in names if name in (entry.after or ())]
            )
            for name in changed:
                stamps[name] = following(entry.at, stamps.get(name))
    return stamps


def following(at: float, stamp: float | None) -> float:
    """The stamp of a change at this time that follows a change with another stamp."""
    return at if stamp is None or at > stamp else math.nextafter(stamp, math.inf)
