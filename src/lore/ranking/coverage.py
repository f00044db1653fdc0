"""Coverage: which share of a question's information the words of a memory cover.

A share keeps its meaning whatever else was found. A strength relative to the other candidates does not: where
one of them has one word of a long question, that word would decide.
"""

import re
from collections.abc import Callable, Mapping

from lore.grams import unspaced

WHOLE_WORDS_BELOW = 5
"""Letters below which a word counts only as a whole or with an ending of the plural."""
ENDING = 3
"""Letters of a longer word that may differ: interesting and interested, deploy and deploys."""


def coverage(information: Mapping[str, float], texts: Mapping[str, str]) -> dict[str, float]:
    """id -> the share of the information that its text covers, 0 to 1. information: of each term."""
    whole = sum(information.values())
    if not whole:
        return dict.fromkeys(texts, 0.0)
    tests = [(_test(term), share / whole) for term, share in information.items()]
    return {id: sum(share for has, share in tests if has(text)) for id, text in texts.items()}


def _test(term: str) -> Callable[[str], bool]:
    """Whether a text in lower case has the term; the look for its letters comes first, for it is cheap."""
    if unspaced(term):
        return lambda text: term in text
    if len(term) < WHOLE_WORDS_BELOW:
        letters, ending = term, r"(?:['’]?s|es)?(?![^\W_])"
    else:
        letters, ending = term[: max(WHOLE_WORDS_BELOW, len(term) - ENDING)], ""
    word = re.compile(rf"(?<![^\W_]){re.escape(letters)}{ending}")
    return lambda text: letters in text and word.search(text) is not None
