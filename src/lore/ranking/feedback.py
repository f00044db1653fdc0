"""Feedback: how a verdict (useful or not, how sure) moves a score and a running confidence."""

SCORE_LOWEST, SCORE_HIGHEST = 0.0, 10.0
SUREST = 10


def confidence_after(previous: float | None, count: int, rating: float, window: int) -> float:
    """A mean over the first `window` ratings; later ones move it by 1 / window of their distance."""
    if previous is None:
        return rating
    return previous + (rating - previous) / max(1, min(count + 1, window))


def score_after(score: float, useful: bool, confidence: int | None, up: float, down: float) -> float:
    """Praise counts more with a high confidence, blame with a low one; unsaid, both count in full."""
    if useful:
        moved = score + up * (1.0 if confidence is None else confidence / SUREST)
    else:
        moved = score - down * (1.0 if confidence is None else (SUREST + 1 - confidence) / SUREST)
    return min(SCORE_HIGHEST, max(SCORE_LOWEST, moved))


def given_up(useful: bool, confidence: int | None, at_most: int) -> bool:
    """Whether a verdict is so bad that the memory should be forgotten: a rating must have been given."""
    return not useful and confidence is not None and confidence <= at_most
