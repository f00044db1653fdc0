"""Allowance: how many conversations a language model may still digest today."""

from lore.engine.consolidate.plan import View
from lore.store.records import DigestProgress

DAY = 86_400.0
"""Seconds; a day begins at 00:00 UTC, as that of the budget does."""


def sessions_left(view: View) -> int | None:
    """None: any number. What rules digested today counts too."""
    limit = view.settings.llm.daily_conversations
    if view.model is None or not limit:
        return None
    today = view.now - view.now % DAY
    done = sum(today <= one.digested_at < today + DAY for one in view.reader.records(DigestProgress))
    return max(0, limit - done)
