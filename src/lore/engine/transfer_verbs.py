"""The part of the menu that moves memories in and out; `Lore` inherits it."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import BinaryIO

from lore.engine.export import ExportScope, Report, export
from lore.engine.import_memories import Imported, Importing, import_memories
from lore.engine.parts import Parts
from lore.engine.undo_import import UndoneImport, undo_import
from lore.transfer.export_lines import Summary
from lore.transfer.items import Item


class TransferVerbs(Parts):
    """Verbs about whole stores, in all namespaces of a tenant."""

    def export(self, file: BinaryIO, scope: ExportScope, report: Report) -> Summary:
        """Write the store, or a part of it, as lines of JSON."""
        return export(file, scope, self._context("export"), report)

    def import_memories(self, items: Iterable[Item], how: Importing) -> Iterator[Imported]:
        """Keep the items of a file that are new here; yields the counts of each part kept."""
        context = self._context("import", how.reason)
        unsigned = replace(context, cause=replace(context.cause, author=""))  # who imports has not written it
        parts = import_memories(items, how, unsigned)
        return (self._saved(part, embed_now=False) for part in parts)

    def undo_import(self, id: str) -> Iterator[UndoneImport]:
        """Take an import back; yields the counts of each part."""
        return undo_import(id, self._context("undo_import"))
