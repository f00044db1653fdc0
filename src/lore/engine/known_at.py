"""known_at: memories that were there at a past time → as the journal has them, changes since taken back."""

import base64
import json

from lore.engine.browse import check_limit
from lore.engine.growth import total_at
from lore.engine.past import as_of, created_until
from lore.errors import Invalid
from lore.inspection import Known
from lore.model import VERBATIM, Filter, Memory
from lore.store import Reader
from lore.store.values import Page
from lore.text import preview, terms

MOST_EXAMINED = 1_000
"""Memories that one call looks at; a page may hold fewer than its limit, and still more may follow."""
MOST_MATCHES = 500
"""The best matches of a text that are looked at."""


def known_at(at: float, text: str, page: Page, reader: Reader) -> Known:
    """The memories that were stored, and neither forgotten nor replaced, at a time, as they were then.

    Without a text the latest come first, and `total` counts all of them by the journal. With one, the best
    matches come first: it is looked for in the memories as they are now, since no index has their earlier
    texts, and `total` counts the matches. What was only said is left out. Depth and use are those of now.
    """
    check_limit(page.limit)
    if text.strip():
        return _matching(at, text, page, reader)
    where = _created_until(at)
    found: list[Memory] = []
    cursor, more, examined = page.cursor, True, 0
    while more and len(found) < page.limit and examined < MOST_EXAMINED:
        listing = reader.select(where, Page(limit=page.limit - len(found), cursor=cursor))
        found += as_of(at, listing, reader)
        cursor, more, examined = listing.cursor, listing.more, examined + max(1, len(listing))
    return Known(memories=tuple(found), cursor=cursor, more=more, total=total_at(at, reader))


def _matching(at: float, text: str, page: Page, reader: Reader) -> Known:
    best = list(reader.matching(terms(text), MOST_MATCHES, _created_until(at)).strengths)
    memories = reader.get(best, forgotten=True)
    found = list(as_of(at, [memories[id] for id in best if id in memories], reader))
    start = _decoded(page.cursor)
    end = start + page.limit
    return Known(
        memories=tuple(found[start:end]), cursor=_encoded(end), more=end < len(found), total=len(found)
    )


def _created_until(at: float) -> Filter:
    return created_until(at, Filter(other_kinds=VERBATIM))


def _encoded(place: int) -> str:
    return base64.urlsafe_b64encode(json.dumps([place]).encode()).decode()


def _decoded(cursor: str) -> int:
    """The place in the list of matches that a cursor names."""
    if not cursor:
        return 0
    try:
        [place] = json.loads(base64.urlsafe_b64decode(cursor))
    except ValueError:
        place = None
    if not isinstance(place, int) or place < 0:
        raise Invalid(f"unknown cursor {preview(cursor, 80)!r}; give the one of the page before")
    return place
