"""use: a memory that was shown is counted as used; what lies next to it is lent some attention."""

import logging
from collections.abc import Mapping, Sequence

from lore.errors import Unavailable
from lore.store import Store

logger = logging.getLogger(__name__)


def count_use(
    ids: Sequence[str],
    *,
    store: Store,
    now: float,
    lent: Mapping[str, float] | None = None,
    together: bool = False,
) -> None:
    """Count it if that is possible; a full or read-only disk must not keep anybody from reading."""
    if not ids:
        return
    try:
        store.touch(ids, lent or {}, now, together)
    except Unavailable as trouble:
        logger.warning("a use could not be counted: %s", trouble)
