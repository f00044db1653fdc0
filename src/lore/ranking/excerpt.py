"""Excerpt: the passage of a text that best matches a query.

The text is cut into units (sentences and lines; long ones into runs of words). A window slides over them and
keeps the run of units that holds the most telling words of the query in the least space. Its neighbours then
fill the width. All steps are linear in the length of the text.
"""

import re
from collections import Counter
from collections.abc import Sequence
from math import log
from textwrap import dedent
from typing import NamedTuple

from lore.names import forms, stems
from lore.patterns import regex
from lore.text import TERMS_LIMIT, terms

CUT = "…"
IDENTIFIER_WEIGHT = 10.0
"""An exact identifier counts this many times as much as a word that is equally rare."""
EXACT_WEIGHT = 0.5
"""A word in the query's own form adds this share of what its stem counts."""
LONG_UNIT_SHARE = 3
"""A sentence longer than the width is cut into pieces of the width divided by this."""

_UNIT_ENDS = regex(r"\n|(?<=[.!?…]) |(?<=[。！？])")
_PUNCTUATION = "\"'`“”‘’«»()[]{}<>,;:.!?…*"
_IDENTIFIER = regex(r"\w[_./:\\@#]+\w|[a-z0-9][A-Z]|[^\W\d_]-?\d|\d-?[^\W\d_]")
"""A sign within the word, an inner capital, or letters beside digits; a plain number is a word."""


class _Unit(NamedTuple):
    """A sentence, a line or a run of words: text[begin:end]."""

    begin: int
    end: int


class _Query(NamedTuple):
    """The features of a query: its identifiers as one pattern, the stems and the forms of its words."""

    identifiers: re.Pattern[str] | None
    stems: frozenset[str]
    forms: frozenset[str]


def excerpt(text: str, query: str, width: int = 300) -> str:
    """The passage of `text` that best matches `query`, at most `width` characters.

    Short texts come back whole. Lines stay lines, all other whitespace becomes single spaces, and "…" marks
    where the text was cut. Without a match it is the beginning.
    """
    tidy = _tidy(text)
    if len(tidy) <= width:
        return tidy
    room = width - 2 * len(f"{CUT} ")
    if room < 1:
        return tidy[: width - 1] + CUT if width > 0 else ""
    units = _units(tidy, room)
    begin, end = _grown(tidy, units, _best(tidy, units, query, room), room)
    return _marked(tidy, begin, end)


def _tidy(text: str) -> str:
    """Without empty lines and without runs of spaces, but for the indentation of lines, which is kept."""
    lines = []
    for line in text.splitlines():
        if words := line.split():
            indentation = line[: len(line) - len(line.lstrip())].expandtabs(4)
            lines.append(" " * len(indentation) + " ".join(words))
    return dedent("\n".join(lines)).strip()


def _units(text: str, room: int) -> list[_Unit]:
    """Sentences and lines in their order; none is longer than `room`."""
    units: list[_Unit] = []
    begin = 0
    for found in _UNIT_ENDS.finditer(text):
        units += _pieces(text, begin, found.start(), room)
        begin = found.end()
    return units + _pieces(text, begin, len(text), room)


def _pieces(text: str, begin: int, end: int, room: int) -> list[_Unit]:
    """One unit if it fits; otherwise several, cut between words where there are spaces."""
    if end - begin <= room:
        return [_Unit(begin, end)] if begin < end else []
    pieces = []
    length = max(1, room // LONG_UNIT_SHARE)
    while end - begin > length:
        space = text.rfind(" ", begin + 1, begin + length + 1)
        cut = space if space > 0 else begin + length
        pieces.append(_Unit(begin, cut))
        begin = cut + (space > 0)
    return [*pieces, _Unit(begin, end)]


def _best(text: str, units: Sequence[_Unit], query: str, room: int) -> tuple[int, int]:
    """First and last unit of the best window; of equal ones the shortest, then the first.

    The window grows by one unit at the right and loses those at the left that do not fit or add nothing.
    """
    wanted = _features_of_query(query)
    features = [_features(text[unit.begin : unit.end], wanted) for unit in units]
    weights = _weights(features)
    counts: Counter[str] = Counter()
    score = left = 0
    best = (0, 0)
    window = (0, 0)
    for right, unit in enumerate(units):
        score += sum(weights[feature] for feature in features[right] if not counts[feature])
        counts.update(features[right])
        while left < right and (
            unit.end - units[left].begin > room or all(counts[feature] > 1 for feature in features[left])
        ):
            counts.subtract(features[left])
            score -= sum(weights[feature] for feature in features[left] if not counts[feature])
            left += 1
        if features[right] and (score, units[left].begin - unit.end) > best:
            best, window = (score, units[left].begin - unit.end), (left, right)
    return window


def _weights(features: Sequence[frozenset[str]]) -> dict[str, int]:
    """Rarer features count more; whole numbers, so that adding and subtracting is exact."""
    occurrences = Counter(feature for unit in features for feature in unit)
    factors = {"#": IDENTIFIER_WEIGHT, "=": EXACT_WEIGHT}
    return {
        feature: round(1_000 * factors.get(feature[0], 1.0) * log(1 + len(features) / count))
        for feature, count in occurrences.items()
    }


def _features_of_query(query: str) -> _Query:
    wanted = frozenset(form for term in terms(query) for form in forms(term))
    identifiers = [name for part in query.split() if _is_identifier(name := part.strip(_PUNCTUATION))]
    pattern = "|".join(map(re.escape, sorted(set(identifiers[:TERMS_LIMIT]), key=len, reverse=True)))
    whole = rf"(?<![^\W_])(?:{pattern})(?![^\W_])"
    return _Query(re.compile(whole, re.IGNORECASE) if pattern else None, stems(wanted), wanted)


def _is_identifier(token: str) -> bool:
    """Whether this looks like a ticket number, a path, a name in code or an error code."""
    return bool(_IDENTIFIER.search(token)) or (len(token) > 2 and token.isupper())


def _features(text: str, wanted: _Query) -> frozenset[str]:
    """The query's features in this unit: "#" + identifier, "=" + word, "~" + stem."""
    found = forms(text)
    names = {f"#{name.lower()}" for name in wanted.identifiers.findall(text)} if wanted.identifiers else set()
    exact = {f"={form}" for form in wanted.forms & found}
    return frozenset(names | exact | {f"~{stem}" for stem in wanted.stems & stems(found)})


def _grown(text: str, units: Sequence[_Unit], window: tuple[int, int], room: int) -> tuple[int, int]:
    """The window with the neighbours that fit, in turn behind and before; begin and end in the text.

    A window that would fill less than half of the room takes words of the next unit.
    """
    first, last = window
    begin, end = units[first].begin, units[last].end
    grows = True
    while grows:
        grows = False
        if last + 1 < len(units) and units[last + 1].end - begin <= room:
            last, grows = last + 1, True
            end = units[last].end
        if first > 0 and end - units[first - 1].begin <= room:
            first, grows = first - 1, True
            begin = units[first].begin
    if 2 * (end - begin) < room and last + 1 < len(units):
        space = text.rfind(" ", end + 1, begin + room)
        end = space if space > 0 else end
    return begin, end


def _marked(text: str, begin: int, end: int) -> str:
    """text[begin:end] with the signs of what was cut; code keeps its shape."""
    first, newline, rest = text[begin:end].partition("\n")
    whole_line = begin == 0 or text[begin - 1] == "\n"
    passage = dedent(first + newline + rest) if whole_line else first + newline + dedent(rest)
    before = f"{CUT} " if begin else ""
    behind = f" {CUT}" if end < len(text) else ""
    return f"{before}{passage.strip()}{behind}"
