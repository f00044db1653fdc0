"""Compact: vectors that an older Lore stored with 32 bits per number take a form of 16 bits."""

import logging
from typing import cast

import numpy as np

from lore.errors import Invalid
from lore.store.sqlite.connections import Connections
from lore.store.sqlite.text_index import UNEMBED
from lore.vectors import packed

BATCH = 2_000
"""Vectors in one transaction: a fraction of a second, in which other writers wait."""
LOGGED_EVERY = 50
ANY = "SELECT 1 FROM vector LIMIT 1"
OLDEST = f"""
    SELECT v.memory, v.model, v.data, e.model IS v.model FROM vector v
        LEFT JOIN embedding e ON e.memory = v.memory ORDER BY v.memory LIMIT {BATCH}
"""
KEEP = "INSERT OR IGNORE INTO short_vector (memory, model, data) VALUES (?, ?, ?)"
LEFT = "SELECT count(*) FROM vector"
DROP_VECTORS = "DELETE FROM vector WHERE memory <= ?"
DROP_CODES = "UPDATE embedding SET code = NULL WHERE memory BETWEEN ? AND ? AND code IS NOT NULL"
OLD_DTYPE = np.dtype("<f4")

logger = logging.getLogger(__name__)


def compact_vectors(connections: Connections) -> None:
    """Move all vectors of 32 bits per number; a process that is killed leaves the rest to the next one."""
    with connections.reading() as reader:
        if not reader.execute(ANY).fetchall():
            return
        ((left,),) = reader.execute(LEFT).fetchall()
    logger.info("%s: %s vectors get their compact form, once", connections.path, f"{left:,}")
    batches = 0
    while _compact_batch(connections):
        batches += 1
        connections.fold_log()
        if batches % LOGGED_EVERY == 0:
            logger.info("compact vectors: %s of %s", f"{batches * BATCH:,}", f"{left:,}")


def _compact_batch(connections: Connections) -> int:
    """Move the oldest vectors; returns their number. Those of texts that have changed are dropped."""
    with connections.deriving() as connection:
        rows = connection.execute(OLDEST).fetchall()
        if not rows:
            return 0
        new = [(alias, model, _packed(cast(bytes, data))) for alias, model, data, current in rows if current]
        connection.executemany(KEEP, [row for row in new if row[2] is not None])
        connection.executemany(UNEMBED, [(alias,) for alias, _, data in new if data is None])
        first, last = rows[0][0], rows[-1][0]
        connection.execute(DROP_VECTORS, (last,))
        connection.execute(DROP_CODES, (first, last))
    return len(rows)


def _packed(data: bytes) -> bytes | None:
    """None: it is no vector."""
    try:
        return packed(np.frombuffer(data, OLD_DTYPE))
    except (Invalid, ValueError):
        return None
