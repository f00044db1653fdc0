"""Full text: the whole of a text whose memory holds an excerpt, compressed and out of every index."""

import sys
from collections.abc import Mapping

from lore.errors import NotFound
from lore.store import sql

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PUT = """
    INSERT INTO full_text (memory, characters, data) VALUES (?, ?, ?)
        ON CONFLICT (memory) DO UPDATE SET characters = excluded.characters, data = excluded.data
"""
DROP = "DELETE FROM full_text WHERE memory = ?"
ROWS = f"""
    SELECT m.id, f.characters, f.data FROM memory m CROSS JOIN full_text f ON f.memory = m.alias
        WHERE m.id IN ({sql.IDS}) AND m.forgotten_at IS NULL AND {{sight}}
"""


def put(texts: Mapping[str, str], aliases: Mapping[str, int], rows: sql.Rows) -> None:
    """Keep each text, or drop the row of a memory whose text is empty. aliases: of the ids in sight."""
    for id, text in texts.items():
        if id not in aliases:
            raise NotFound(f"unknown memory {id}")
        if text:
            rows(PUT, packed(aliases[id], text))
        else:
            rows(DROP, (aliases[id],))


def packed(alias: int, text: str) -> tuple[int, int, bytes]:
    """The row of a text."""
    return alias, len(text), zstd.compress(text.encode())


def unpacked(characters: int, data: bytes) -> str | None:
    """The text of a row; None if the row is damaged."""
    try:
        text = zstd.decompress(data).decode()
    except (zstd.ZstdError, UnicodeDecodeError):
        return None
    return text if len(text) == characters else None
