"""browse, activity: a page of memories with their relevance → a page of the journal with labels."""

from collections.abc import Iterable

from lore.engine.context import Context
from lore.errors import Invalid
from lore.inspection import Activity, Browsed
from lore.model import Entry, Filter
from lore.ranking.decay import relevance
from lore.store import Reader
from lore.store.values import JournalFilter, Page
from lore.text import label_of

MOST_ON_PAGE = 1_000


def check_limit(limit: int, most: int = MOST_ON_PAGE) -> int:
    """The limit of a page; Invalid if it is too small or too large."""
    if not 1 <= limit <= most:
        raise Invalid(f"limit is {limit}; it must be between 1 and {most:,}")
    return limit


def browse(where: Filter, page: Page, context: Context) -> Browsed:
    """One page of the memories that pass; counts as no use."""
    check_limit(page.limit)
    listing = context.reader.select(where, page)
    return Browsed(
        memories=tuple(listing),
        cursor=listing.cursor,
        more=listing.more,
        total=listing.total,
        relevance={memory.id: relevance(memory, context.now) for memory in listing},
    )


def activity(id: str, page: Page, reader: Reader) -> Activity:
    """One page of the changes in sight, newest first; with an id, those of one memory or link."""
    check_limit(page.limit)
    listing = reader.journal(JournalFilter(id=id or None), page)
    return Activity(
        entries=tuple(listing), labels=labels_of(listing, reader), cursor=listing.cursor, more=listing.more
    )


def labels_of(entries: Iterable[Entry], reader: Reader) -> dict[str, str]:
    """What to call the memories and links of these entries, as they are now; none for what is gone."""
    ids: dict[str, list[str]] = {"memory": [], "link": []}
    for entry in entries:
        ids[entry.noun].append(entry.id)
    links = reader.links(ids=ids["link"], ended=True) if ids["link"] else []
    ends = {end for link in links for end in (link.source, link.target)}
    memories = reader.get({*ids["memory"], *ends}, forgotten=True)
    labels = {id: label_of(memory.title, memory.content) for id, memory in memories.items()}
    return labels | {link.id: f"{labels[link.source]} → {labels[link.target]}" for link in links}
