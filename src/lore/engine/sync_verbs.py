"""The part of the menu that is about other stores; `Lore` inherits it."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from lore.engine.changes import Changes, changes, changes_of
from lore.engine.ingest import LEFT, Ingested
from lore.engine.merge import MERGE
from lore.engine.merge_changes import Merged, merge_changes
from lore.engine.parts import Parts
from lore.engine.push import SYNC, Outgoing, Sent, keep_pushed, mark_of, move_mark, outgoing
from lore.engine.unite import unite
from lore.engine.versions import Change
from lore.store.records import SyncMark


class SyncVerbs(Parts):
    """Verbs by which two stores exchange conversations and memories."""

    def keep_pushed(self, entries: Sequence[Sent]) -> Ingested:
        """Keep turns and headings that another machine pushed; a turn that is known is kept once."""
        return self._saved(keep_pushed(entries, self._context("push")), embed_now=False)

    def outgoing(self, cursor: str, ignored: Callable[[str], bool]) -> Outgoing:
        """The turns of this namespace to push next. ignored: folders whose conversations stay here."""
        return outgoing(cursor, self._context("outgoing"), ignored)

    def changes_of(self, ids: Sequence[str]) -> Sequence[Change]:
        """These memories and links of this namespace as they stand, for a store that could not take them."""
        return changes_of(ids, self._context("changes"))

    def changes(self, after: str, limit: int, sent_to: str = "") -> Changes:
        """Memories and links of this namespace that changed behind a cursor, as they stand. sent_to: leave
        out what came from there."""
        return changes(after, limit, self._context("changes"), sent_to=sent_to)

    def merge(self, arrived: Sequence[Change], may_erase: bool = True) -> Merged:
        """Merge memories and links of another store into this namespace: the later change wins.

        Entities of one name become one; of two files at one path, one moves. What another store has erased
        for good is erased here. may_erase: also what others than the caller wrote.
        """
        merged = merge_changes(arrived, self._context(MERGE), may_erase=may_erase)
        taken = set(merged.ids)
        unite([one for one in arrived if one.id in taken], self._context("unite"))
        return self._saved(merged, embed_now=False)

    def sync_mark(self, remote: str, direction: str) -> SyncMark:
        """How far this namespace has been exchanged with a server; its cursor is empty if never."""
        return mark_of(remote, direction, self._reader)

    def move_sync_mark(self, mark: SyncMark, gone: Sequence[str] = ()) -> None:
        """Remember how far the exchange is. gone: turns that are forgotten here, because the server has
        them."""
        context = self._context(SYNC, f"{LEFT}{mark.remote}" if gone else "")
        move_mark(replace(mark, moved_at=context.now), gone, context)
