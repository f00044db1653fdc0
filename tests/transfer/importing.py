"""Import a file whose format is detected, into a Lore."""

from pathlib import Path

from lore import Lore
from lore.engine.import_memories import Imported, Importing
from lore.model import new_id
from lore.transfer.formats import format_of, opened


def import_into(lore: Lore, path: Path, *, damaged: bool = False, **how: bool | str) -> Imported:
    """The counts of an import; its id is new unless it is given."""
    format = format_of(path)
    assert format is not None
    importing = Importing(**{"id": new_id(lore.clock()), **how})  # type: ignore[arg-type]
    with opened(path, format, damaged) as source:
        return sum(lore.import_memories(source.items, importing), Imported())
