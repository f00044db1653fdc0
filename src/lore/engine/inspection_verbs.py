"""The part of the menu that is about the store as a whole and its past; `Lore` inherits it."""

from collections.abc import Sequence

from lore.engine.browse import activity, browse
from lore.engine.forget_where import forget_where
from lore.engine.growth import growth
from lore.engine.inbox import Inbox, inbox, judge
from lore.engine.knowledge_map import knowledge_map
from lore.engine.known_at import known_at
from lore.engine.learnt import learnt
from lore.engine.parts import Parts
from lore.engine.purge import purge
from lore.engine.relevance_curve import relevance_curve
from lore.engine.undo import undo
from lore.inspection import (
    Activity,
    Browsed,
    Curve,
    Forgotten,
    Growth,
    Judged,
    KnowledgeMap,
    Known,
    Learnt,
    Purged,
    Selection,
    Undone,
)
from lore.model import Filter, Order
from lore.store.values import Page

EVERYTHING = Filter()


class InspectionVerbs(Parts):
    """Verbs by which a person looks through the store and corrects it; none of them counts as use."""

    def browse(self, where: Filter = EVERYTHING, limit: int = 50, cursor: str = "",
               order: Order = "newest", total: bool = False) -> Browsed:  # fmt: skip
        """Memories that pass a filter, page by page, each with its relevance. total: also count all."""
        page = Page(limit=limit, cursor=cursor, order=order, total=total)
        return browse(where, page, self._context("browse"))

    def activity(self, limit: int = 50, cursor: str = "", id: str = "") -> Activity:
        """The journal of all changes page by page, newest first; with an id, that of one memory or link."""
        return activity(id, Page(limit=limit, cursor=cursor), self._reader)

    def growth(self, days: int = 90, offset_minutes: int = 0) -> Growth:
        """Counts of each of the last days, and of memories by relevance.

        offset_minutes: of the caller's time zone, ahead of UTC.
        """
        return growth(days, offset_minutes, self._context("growth"))

    def knowledge_map(self, limit: int = 10_000, where: Filter = EVERYTHING) -> KnowledgeMap:
        """The most important memories that pass a filter, the links between them, and their clusters."""
        return knowledge_map(limit, where, self._context("knowledge_map"))

    def relevance_curve(self, id: str, days_back: int = 90, days_ahead: int = 180) -> Curve:
        """The relevance of a memory day by day: reconstructed for the past, foretold without further use."""
        return relevance_curve(id, days_back, days_ahead, self._context("relevance_curve"))

    def known_at(self, at: float, text: str = "", limit: int = 50, cursor: str = "") -> Known:
        """The memories as they were at a past time, page by page. text: only matches, the best first."""
        return known_at(at, text, Page(limit=limit, cursor=cursor), self._reader)

    def learnt(self, session: str, limit: int = 50, cursor: str = "") -> Learnt:
        """The turns of a conversation page by page, oldest first, each with what was learnt from it."""
        return learnt(session, Page(limit=limit, cursor=cursor), self._reader)

    def undo(self, batch: str, dry_run: bool = False, reason: str = "") -> Undone:
        """Take back all changes of one transaction; `activity` and `history` name the batch of each."""
        return self._saved(undo(batch, self._context("undo", reason), dry_run=dry_run), embed_now=False)

    def forget_where(self, where: Selection, dry_run: bool = False, reason: str = "") -> Forgotten:
        """Hide all memories of projects, sessions, kinds or a time at once. dry_run: only name them."""
        return forget_where(where, self._context("forget_where", reason), dry_run=dry_run)

    def inbox(self, limit: int = 50) -> Inbox:
        """What waits for a person: suggested links, replaced memories, memories that are held back."""
        return inbox(limit, self._context("inbox"))

    def judge(self, keys: Sequence[str], accepted: bool, reason: str = "") -> list[Judged]:
        """Accept or reject contradictions, merges and memories of the inbox; `review` is for suggestions."""
        return judge(keys, accepted, self._context("judge", reason))

    def purge(self, ids: Sequence[str], reason: str = "") -> Purged:
        """Erase forgotten memories for good, from the journal and every page of the store too."""
        return purge(ids, self._context("purge", reason))
