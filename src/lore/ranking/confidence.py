"""Confidence: does the store know anything about a question? One scale for all questions.

Ranking signals compare the candidates of one question with each other, so the best of a store that knows
nothing stands out as well. Confidence looks at absolute values instead: how similar the best hits are to the
question, how many of its words they contain, and whether the names in it occur anywhere.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lore.grams import normalized, unspaced
from lore.names import stems
from lore.patterns import regex
from lore.text import STOP_WORDS, terms, words
from lore.wordlists import word_lists

BEST = 5
"""Hits that are looked at; the best of them counts."""
WORDS_WEIGHT = 0.5
"""What all words of the question are worth, next to a similarity of 1."""
UNKNOWN_NAME = 0.25
"""What it costs when none of the names in the question occurs in any candidate."""
MIDDLE, STEEPNESS = 0.45, 8.0
"""The logistic curve: where confidence is one half, and how fast it changes."""
LEAST = 0.12
"""Below this confidence nothing that was found is relevant (see docs/recall.md for how it was chosen)."""
CERTAIN = 0.95
"""Confidence where a candidate contains an identifier of the question to the letter."""
WITHOUT_MODEL = 0.3
"""Stands for the similarity of a hit that has no vector yet but a word of the question."""
SAME_TOPIC = 0.5
"""From this confidence on, hits without a common word and without similarity are noise."""
UNDECIDED = 0.3
"""Least confidence where absolute values say little: for a request for advice, to which any preference of the
user may matter, where hits have no vectors yet, and for a question without a word worth looking up."""
_ADVICE = regex(
    r"\b(?:recommend\w*|suggest\w*|advice|advise|ideas?|options?|tips?|ways? to|what are some|help me"
    r"|plan(?:ning)?|(?:should|where can|how can) i|for me|considering|looking (?:for|to)"
    r"|what['’]?s (?:a|the) (?:good|best))\b",
    re.IGNORECASE,
)
_NAME = regex(r"(?<![.!?] )(?<!\A)\b[A-Z][\w-]+")
"""A capitalised word inside a sentence."""
_GERMAN = word_lists("lore.ranking", "words.txt")["german words"]
"""Words of German, where a capital tells a noun and not a name. None of them is an English word."""


@dataclass(frozen=True, slots=True)
class Support:
    """What one hit says for a question: its similarity (None: it has no vector) and its text."""

    similarity: float | None
    text: str


def confidence(question: str, hits: Sequence[Support], certain: bool = False) -> float:
    """How likely the store knows something about the question, 0 to 1. hits: all candidates, best first.

    certain: a candidate contains an identifier of the question to the letter.
    """
    if not hits:
        return 0.0
    wanted = stems(terms(question))
    best = max(_support(hit, wanted) for hit in hits[:BEST])
    value = _logistic(best - UNKNOWN_NAME * _unknown(question, (hit.text for hit in hits)))
    unmeasured = not wanted or any(hit.similarity is None for hit in hits[:BEST])
    undecided = unmeasured or _ADVICE.search(question)
    return max(value, CERTAIN if certain else UNDECIDED if undecided else 0.0)


def _support(hit: Support, wanted: frozenset[str]) -> float:
    shared = _shared(wanted, hit.text) / len(wanted) if wanted else 0.0
    similarity = hit.similarity
    if similarity is None:
        similarity = WITHOUT_MODEL if shared else 0.0
    return similarity + WORDS_WEIGHT * shared


def _shared(wanted: frozenset[str], text: str) -> int:
    """How many of the stems begin a word of the text, and how many grams it has; linear in its length."""
    lower = normalized(text)
    grams = {stem for stem in wanted if unspaced(stem)}
    beginnings = re.compile(rf"(?<![^\W_])(?:{'|'.join(map(re.escape, sorted(wanted - grams)))})")
    stems = set(beginnings.findall(lower)) if grams < wanted else set()
    return len(stems) + sum(gram in lower for gram in grams)


def _unknown(question: str, texts: Iterable[str]) -> float:
    """The share of the names in a question that occur in none of the texts."""
    if not _GERMAN.isdisjoint(words(question)):
        return 0.0
    names = {name.lower() for name in _NAME.findall(question)} - STOP_WORDS
    missing = set(names)
    for text in texts:
        if not missing:
            break
        lower = text.lower()
        missing = {name for name in missing if name not in lower}
    return len(missing) / len(names) if names else 0.0


def _logistic(value: float) -> float:
    return 1 / (1 + math.exp(-STEEPNESS * (value - MIDDLE)))
