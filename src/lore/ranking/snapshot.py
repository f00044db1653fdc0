"""Snapshot: which of many observations stand for an entity in its words and its vector."""

from collections.abc import Sequence

TOKENS = 480
RESERVED_TOKENS = 25
CHARACTERS_PER_TOKEN = 3.57
HEAD, TAIL = 3, 7
SEPARATOR = " | "
LEAST_ROOM = 20


def room_for(header: str) -> int:
    """How many characters of observations fit beside the header."""
    header_tokens = max(1, int(len(header) / CHARACTERS_PER_TOKEN))
    return int((TOKENS - RESERVED_TOKENS - header_tokens) * CHARACTERS_PER_TOKEN)


def snapshot_of(header: str, observations: Sequence[str]) -> str:
    """All of a few; of many the first, the last, and from between those with the most varied words."""
    if len(observations) <= HEAD + TAIL:
        return SEPARATOR.join(observations)
    last = len(observations) - TAIL
    chosen = [*range(HEAD), *range(last, len(observations))]
    room = room_for(header) - sum(_cost(observations[at]) for at in chosen)
    for at in sorted(range(HEAD, last), key=lambda at: (-_variety(observations[at]), at)):
        if room < LEAST_ROOM:
            break
        if _cost(observations[at]) <= room:
            chosen.append(at)
            room -= _cost(observations[at])
    return SEPARATOR.join(observations[at] for at in sorted(chosen))


def _cost(text: str) -> int:
    return len(text) + len(SEPARATOR)


def _variety(text: str) -> float:
    words = text.lower().split()
    return len(set(words)) / len(words) if words else 0.0
