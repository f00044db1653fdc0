"""Words: what the text indexes are asked, and what is worth asking them.

`words` indexes all texts as they are. `grams` indexes texts in scripts that it cannot split into words (see
`lore.grams`). Both have the same columns, and a memory's strength is the sum of both.
"""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate

from lore.grams import phrase, unspaced
from lore.store.sql import Row

WORDS, GRAMS = "words", "grams"

WORD_WEIGHTS = "4.0, 2.0, 1.0, 0.4"
"""How much a word counts in title, summary, content and context."""

STRENGTH = f"-bm25({{index}}, {WORD_WEIGHTS})"
MATCHING_BEST = f"""
    SELECT m.id, best.strength FROM (
        SELECT rowid AS alias, {STRENGTH} AS strength FROM {{index}} WHERE {{index}} MATCH :words
        ORDER BY strength DESC, rowid LIMIT 4 * :limit
    ) best CROSS JOIN memory m USING (alias) WHERE {{passing}}
    ORDER BY best.strength DESC, m.alias LIMIT :limit
"""
"""For a filter that many pass: the best are scored first and looked up then."""
MATCHING_ALL = f"""
    SELECT m.id, {STRENGTH} AS strength FROM {{index}} CROSS JOIN memory m ON m.alias = {{index}}.rowid
    WHERE {{index}} MATCH :words AND {{passing}} ORDER BY strength DESC, m.alias LIMIT :limit
"""
"""For any filter: only what passes is scored."""
OF_PROJECTS = "+{index}.rowid IN (SELECT m.alias FROM memory m WHERE {passing})"
"""Who passes, by the index of projects alone."""

SCORED_AT_MOST = 3_000
"""Among how many occurrences of its words a question chooses."""
OCCURRENCES = f"""
    SELECT value, (SELECT count(*) FROM (SELECT 1 FROM {{index}} WHERE {{index}} MATCH value
        LIMIT {SCORED_AT_MOST + 1})) FROM json_each(:terms)
"""
"""In how many memories of the whole store; beyond the bound it does not matter how many."""

UNSEEN = 0.5
"""In how many memories a word counts as occurring that is in none."""


def asked(index: str, terms: Sequence[str]) -> list[str]:
    """The terms as FTS5 reads them: plain text, whatever they hold. Each index is asked for what it has."""
    if index == WORDS:
        return [_quoted(term) for term in terms if not unspaced(term)]
    return [_of_grams(term) for term in terms]


def _of_grams(term: str) -> str:
    if not unspaced(term):
        return _quoted(term)
    found, beginning = phrase(term)
    return _quoted(found) + (" *" if beginning else "")


def _quoted(term: str) -> str:
    storable = term.replace("\0", " ").encode(errors="replace").decode()
    return '"' + storable.replace('"', '""') + '"'


def information(terms: Sequence[str], rows: Callable[..., list[Row]]) -> dict[str, float]:
    """How much each term tells: the logarithm of how rare it is in the store, in nats."""
    [[stored]] = rows("SELECT coalesce(max(alias), 0) FROM memory")
    found: dict[str, float] = {}
    for index in (WORDS, GRAMS):
        own = [term for term in terms if (index == GRAMS) == unspaced(term)]
        counted = rows(OCCURRENCES.format(index=index), terms=json.dumps(asked(index, own))) if own else []
        for term, (_, count) in zip(own, counted, strict=True):
            found[term] = math.log1p(stored / max(UNSEEN, count))
    return found


def telling(index: str, terms: Sequence[str], rows: Callable[..., list[Row]]) -> list[str]:
    """The rarest terms, as long as all they occur in can be scored in good time; at least one.

    What a common word adds to a score is little, and finding all that it occurs in is most of the work.
    terms: as FTS5 reads them.
    """
    counted = rows(OCCURRENCES.format(index=index), terms=json.dumps(terms))
    counts = {term: int(count) for term, count in counted}
    known = sorted((term for term in terms if counts[term]), key=lambda term: counts[term])
    totals = list(accumulate(counts[term] for term in known))
    return [term for at, term in enumerate(known) if at == 0 or totals[at] <= SCORED_AT_MOST]


def summed(strengths: Mapping[str, float], others: Mapping[str, float], limit: int) -> dict[str, float]:
    """The best by both indexes together."""
    if not others:
        return dict(strengths)
    both = {id: strengths.get(id, 0.0) + others.get(id, 0.0) for id in {**strengths, **others}}
    best = sorted(both.items(), key=lambda item: -item[1])
    return dict(best[:limit])
