"""Bookmarking: how far each transcript was read, as rows; they move with what was read, or not at all."""

import json
from typing import Any

from lore.store import sql
from lore.store.base import Bookmark

ROWS = """
    SELECT b.path, b.source, b.device, b.inode, b.offset, b.lines, b.first, b.last, b.state, b.read_at
    FROM bookmark b WHERE {sight} ORDER BY b.path
"""
PUT = """
    INSERT INTO bookmark (namespace, path, source, device, inode, offset, lines, first, last, state, read_at)
        VALUES (:namespace, :path, :source, :device, :inode, :offset, :lines, :first, :last, :state, :read_at)
    ON CONFLICT (namespace, path) DO UPDATE SET source = excluded.source, device = excluded.device,
        inode = excluded.inode, offset = excluded.offset, lines = excluded.lines, first = excluded.first,
        last = excluded.last, state = excluded.state, read_at = excluded.read_at
"""


def bookmark_of(row: sql.Row) -> Bookmark:
    """A row of ROWS as a Bookmark."""
    path, source, device, inode, offset, lines, first, last, state, read_at = row
    return Bookmark(
        path=path,
        source=source,
        device=int(device),
        inode=int(inode),
        offset=offset,
        lines=lines,
        first=first,
        last=last,
        state=json.loads(state),
        read_at=read_at,
    )


def columns_of(bookmark: Bookmark) -> dict[str, Any]:
    """The numbers of a file are kept as text: they may be larger than SQLite's."""
    return {
        "path": bookmark.path,
        "source": bookmark.source,
        "device": str(bookmark.device),
        "inode": str(bookmark.inode),
        "offset": bookmark.offset,
        "lines": bookmark.lines,
        "first": bookmark.first,
        "last": bookmark.last,
        "state": json.dumps(dict(bookmark.state), sort_keys=True),
        "read_at": bookmark.read_at,
    }
