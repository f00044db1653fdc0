"""Words: what the text index is asked, and what is worth asking it."""

WORD_WEIGHTS = "4.0, 2.0, 1.0, 0.4"
"""How much a word counts in title, summary, content and context."""

STRENGTH = f"-bm25(words, {WORD_WEIGHTS})"
MATCHING_BEST = f"""
    SELECT m.id, best.strength FROM (
        SELECT rowid AS alias, {STRENGTH} AS strength FROM words WHERE words MATCH :words
        ORDER BY strength DESC, rowid LIMIT 4 * :limit
    ) best CROSS JOIN memory m USING (alias) WHERE {{passing}}
    ORDER BY best.strength DESC, m.alias LIMIT :limit
"""
"""For a filter that many pass: the best are scored first and looked up then."""
MATCHING_ALL = f"""
    SELECT m.id, {STRENGTH} AS strength FROM words CROSS JOIN memory m ON m.alias = words.rowid
    WHERE words MATCH :words AND {{passing}} ORDER BY strength DESC, m.alias LIMIT :limit
"""
"""For any filter: only what passes is scored."""
OF_PROJECTS = "+words.rowid IN (SELECT m.alias FROM memory m WHERE {passing})"
"""Who passes, by the index of projects alone."""

SCORED_AT_MOST = 3_000
"""Among how many occurrences of its words a question chooses."""
OCCURRENCES = f"""
    SELECT value, (SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH value
        LIMIT {SCORED_AT_MOST + 1})) FROM json_each(:terms)
"""
"""In how many memories of the whole store; beyond the bound it does not matter how many."""


def quoted(term: str) -> str:
    """A term as FTS5 reads it: plain text, whatever it holds."""
    storable = term.replace("\0", " ").encode(errors="replace").decode()
    return '"' + storable.replace('"', '""') + '"'
