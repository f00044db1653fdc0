"""scored: notes with a quality score that feedback moves, ranked by meaning, words, quality and use."""

from lore.surfaces.scored import finding, insert, rating, reflecting, suggesting
from lore.surfaces.scored.dialect import SCORED

__all__ = ["SCORED", "finding", "insert", "rating", "reflecting", "suggesting"]
