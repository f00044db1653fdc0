"""Learnings: what consolidation has learnt from conversations, counted by type and told in one line."""

from collections.abc import Mapping

LEARNT: Mapping[str, tuple[str, str]] = {
    "decision": ("decision", "decisions"),
    "rule": ("rule", "rules"),
    "preference": ("preference", "preferences"),
    "correction": ("correction", "corrections"),
    "pitfall": ("gotcha", "gotchas"),
    "command": ("howto", "howtos"),
    "fact": ("fact", "facts"),
    "goal": ("goal", "goals"),
    "todo": ("open point", "open points"),
}
"""The type of what was learnt -> words for one, words for several."""
CLOSED_COUNT, REPEATED_COUNT = "todos_closed", "repeats_found"
"""Counters of a consolidation: goals and todos that were closed, and items that were stored already."""


def learnt_count(type: str) -> str:
    """The counter of a consolidation for new memories of this type."""
    return f"learnt_{type}"


LEARNT_COUNTS = frozenset({*map(learnt_count, LEARNT), CLOSED_COUNT, REPEATED_COUNT})


def learnt_line(counts: Mapping[str, int]) -> str:
    """What consolidation has learnt from conversations, on one line; empty if it has digested none."""
    if not (sessions := counts.get("sessions_digested", 0)):
        return ""
    found = {words: counts.get(learnt_count(type), 0) for type, words in LEARNT.items()}
    new = ", ".join(_counted(count, words) for words, count in found.items() if count) or "nothing new"
    closed = counts.get(CLOSED_COUNT, 0)
    done = f"; {_counted(closed, ('todo', 'todos'))} closed" if closed else ""
    return f"{_counted(sessions, ('conversation', 'conversations'))} → {new}{done}"


def _counted(count: int, words: tuple[str, str]) -> str:
    return f"{count:,} {words[count != 1]}"
