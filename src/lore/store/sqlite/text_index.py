"""Text index: find memories by words and by names, and keep both indexes and whole texts up to date.

`words` indexes all texts as they are. `grams` indexes texts in scripts that it cannot split into words (see
`lore.grams`). Both are FTS5 tables with the same columns, and a memory's strength is the sum of both.
`subject` lists the names that introduce a memory (see `lore.names`). `full_text` holds whole texts beside
excerpts, compressed and in no index.
"""

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate

from lore.errors import NotFound
from lore.grams import indexed, phrase, unspaced
from lore.model import LORE_CALL
from lore.names import subjects
from lore.store.columns import Row, Rows
from lore.store.rows import packed_text
from lore.store.sqlite.sql import IDS, Table, insert

WORDS, GRAMS = "words", "grams"
FIELDS = ("title", "summary", "content", "context")
"""The indexed fields of a memory."""

# --- queries

WORD_WEIGHTS = "4.0, 2.0, 1.0, 0.4"
"""How much a word counts in title, summary, content and context."""
STRENGTH = f"-bm25({{index}}, {WORD_WEIGHTS})"
BEST_FACTOR = 4
"""The best are looked up for this multiple of the memories that are wanted, because some do not pass."""
MATCHING_BEST = f"""
    SELECT m.id, best.strength FROM (
        SELECT rowid AS alias, {STRENGTH} AS strength FROM {{index}}
        WHERE {{index}} MATCH :words AND rowid >= :oldest
        ORDER BY strength DESC, rowid LIMIT {BEST_FACTOR} * :limit
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
"""What passes, by the index of projects alone."""

SCORED_AT_MOST = 3_000
"""Occurrences of its words among which a query chooses."""
OLDEST_SCORED = f"""
    SELECT rowid FROM {{index}} WHERE {{index}} MATCH :word
        ORDER BY rowid DESC LIMIT 1 OFFSET {SCORED_AT_MOST}
"""
"""Of a word that occurs more often, only the newest occurrences are scored."""
_COUNT = f"""
    SELECT '{{index}}', value, (SELECT count(*) FROM (SELECT 1 FROM {{index}} WHERE {{index}} MATCH value
        LIMIT {SCORED_AT_MOST + 1})) FROM json_each(:{{index}})
"""
OCCURRENCES = f"""
    {_COUNT.format(index=WORDS)} UNION ALL {_COUNT.format(index=GRAMS)}
    UNION ALL SELECT '', '', coalesce(max(alias), 0) FROM memory
"""
"""The number of memories with each term, beyond the bound inexact; at last the number of all memories."""
UNSEEN = 0.5
"""The number of memories that a term counts as occurring in if it occurs in none."""

ABOUT = """
    WITH few AS MATERIALIZED (
        SELECT j.value FROM json_each(:names) j WHERE (
            SELECT count(*) FROM (
                SELECT 1 FROM subject s CROSS JOIN memory m ON m.alias = s.memory
                WHERE s.tenant = :tenant AND s.name = j.value AND {passing} LIMIT :most + 1
            )
        ) BETWEEN 1 AND :most
    )
    SELECT s.name, m.id FROM few CROSS JOIN subject s ON s.tenant = :tenant AND s.name = few.value
        CROSS JOIN memory m ON m.alias = s.memory WHERE {passing} ORDER BY s.name, m.alias
"""
"""Memories introduced by each name, without names that introduce more than :most."""


class Terms:
    """The terms of one query, as each index reads them, and how often each occurs."""

    def __init__(self, terms: Sequence[str], rows: Callable[..., list[Row]]) -> None:
        self._terms, self._rows = terms, rows
        self.queries = {WORDS: {t: _quoted(t) for t in terms if not unspaced(t)}}
        self.queries[GRAMS] = {t: _of_grams(t) for t in terms}
        wanted = {index: json.dumps(list(queries.values())) for index, queries in self.queries.items()}
        *counted, (_, _, self._stored) = rows(OCCURRENCES, **wanted)
        self._counts = {(index, query): int(count) for index, query, count in counted}

    def information(self) -> dict[str, float]:
        """The logarithm of how rare each term is in the whole database, in nats."""
        return {
            term: math.log1p(self._stored / max(UNSEEN, self._count(term)))
            for term in dict.fromkeys(self._terms)
        }

    def _count(self, term: str) -> int:
        index = GRAMS if unspaced(term) else WORDS
        return self._counts[index, self.queries[index][term]]

    def all(self, index: str) -> list[str]:
        """All terms that occur in this index."""
        queries = dict.fromkeys(self.queries[index].values())
        return sorted((q for q in queries if self._counts[index, q]), key=lambda q: self._counts[index, q])

    def occurrences(self, queries: Sequence[str], index: str) -> int:
        """The number of texts that these terms occur in, at most."""
        return sum(self._counts[index, query] for query in queries)

    def telling(self, index: str) -> list[str]:
        """The rarest terms, as long as all they occur in can be scored in good time; at least one.

        A common word adds little to a score, and finding all that it occurs in is most of the work.
        """
        found = self.all(index)
        totals = list(accumulate(self._counts[index, query] for query in found))
        return [query for at, query in enumerate(found) if at == 0 or totals[at] <= SCORED_AT_MOST]

    def oldest(self, telling: Sequence[str], index: str) -> int:
        """The alias from which on the occurrences of these terms are scored; 0: all of them."""
        if self.occurrences(telling, index) <= SCORED_AT_MOST:
            return 0
        rows = self._rows(OLDEST_SCORED.format(index=index), word=telling[0])
        return int(rows[0][0]) if rows else 0


def _of_grams(term: str) -> str:
    if not unspaced(term):
        return _quoted(term)
    found, beginning = phrase(term)
    return _quoted(found) + (" *" if beginning else "")


def _quoted(term: str) -> str:
    """Plain text as FTS5 reads it."""
    storable = term.replace("\0", " ").encode(errors="replace").decode()
    return '"' + storable.replace('"', '""') + '"'


def summed(strengths: Mapping[str, float], others: Mapping[str, float], limit: int) -> dict[str, float]:
    """The best by both indexes together."""
    if not others:
        return dict(strengths)
    both = {id: strengths.get(id, 0.0) + others.get(id, 0.0) for id in {**strengths, **others}}
    best = sorted(both.items(), key=lambda item: -item[1])
    return dict(best[:limit])


# --- upkeep: what the writer does with every new or changed text

Texts = Mapping[str, str]
"""The FIELDS of a memory by name."""
_WORDS = Table(WORDS, ("rowid", *FIELDS))
_GRAMS = Table(GRAMS, ("rowid", *FIELDS))
_SUBJECT = Table("subject", ("tenant", "name", "memory"))
_EMBEDDING = Table("embedding", ("memory", "tenant", "namespace", "model", "version", "seq"))
DROP_WORDS = f"INSERT INTO words (words, rowid, {', '.join(FIELDS)}) VALUES ('delete', ?, ?, ?, ?, ?)"
DROP_GRAMS = "DELETE FROM grams WHERE rowid = ?"
DROP_SUBJECTS = "DELETE FROM subject WHERE memory = ?"
DROP_VECTOR = "DELETE FROM short_vector WHERE memory = ?"
UNEMBED = "UPDATE embedding SET model = '', version = version + 1 WHERE memory = ?"


def add(tenant: int, texts: Mapping[int, Texts], rows: Rows) -> None:
    """Index the texts of new memories, by alias."""
    insert(_WORDS, [(alias, *_values(fields)) for alias, fields in texts.items()], rows)
    add_grams(texts, rows)
    add_subjects(tenant, texts, rows)


def add_grams(texts: Mapping[int, Texts], rows: Rows) -> None:
    """Index the texts in scripts without spaces; most memories have none."""
    made = [(alias, *grams_of(fields)) for alias, fields in texts.items()]
    insert(_GRAMS, [row for row in made if any(row[1:])], rows)


def grams_of(texts: Texts) -> list[str]:
    """The grams of each of the FIELDS."""
    return [indexed(texts[name]) for name in FIELDS]


def add_subjects(tenant: int, texts: Mapping[int, Texts], rows: Rows) -> None:
    """List the names that introduce these memories."""
    found = [
        (tenant, name, alias)
        for alias, fields in texts.items()
        for name in subjects(fields["title"], fields["content"])
    ]
    insert(_SUBJECT, found, rows)


def add_embeddings(tenant: int, memories: Iterable[tuple[int, str, str]], rows: Rows) -> None:
    """New memories (alias, namespace, kind) wait for their vector; calls to Lore never get one."""
    waiting = [
        (alias, tenant, namespace, "", 0, 0) for alias, namespace, kind in memories if kind != LORE_CALL
    ]
    insert(_EMBEDDING, waiting, rows)


def change(tenant: int, alias: int, before: Texts, after: Texts, rows: Rows) -> None:
    """Index a changed text in place of the old one; its vector goes, to be embedded again."""
    rows(DROP_WORDS, (alias, *_values(before)))
    rows(DROP_GRAMS, (alias,))
    rows(DROP_SUBJECTS, (alias,))
    add(tenant, {alias: after}, rows)
    rows(UNEMBED, (alias,))
    rows(DROP_VECTOR, (alias,))


ALL_TEXTS = f"SELECT alias, tenant, {', '.join(FIELDS)} FROM memory"
HIGHEST_ALIAS = "SELECT coalesce(max(alias), 0) FROM memory"
BATCH = 2_000


def texts(rows: Rows, statement: str) -> Iterator[tuple[int, int, Texts]]:
    """alias, tenant and indexed texts of the memories of a statement that begins with ALL_TEXTS."""
    for alias, tenant, *values in rows(statement, ()):
        yield alias, tenant, dict(zip(FIELDS, values, strict=True))


def index_again(rows: Rows) -> None:
    """Words, grams and names of all memories, from their texts."""
    rows("INSERT INTO words (words) VALUES ('rebuild')", ())
    rows("INSERT INTO grams (grams) VALUES ('rebuild')", ())  # it may be damaged
    rows("DELETE FROM grams", ())
    rows("DELETE FROM subject", ())
    ((highest,),) = rows(HIGHEST_ALIAS, ())
    for start in range(0, highest, BATCH):
        between = f"{ALL_TEXTS} WHERE alias > {start} AND alias <= {start + BATCH}"
        for alias, tenant, fields in texts(rows, between):
            add_grams({alias: fields}, rows)
            add_subjects(tenant, {alias: fields}, rows)


def _values(texts: Texts) -> list[str]:
    return [texts[name] for name in FIELDS]


# --- whole texts

FULL_TEXTS = f"""
    SELECT m.id, f.characters, f.data FROM memory m CROSS JOIN full_text f ON f.memory = m.alias
        WHERE m.id IN ({IDS}) AND m.forgotten_at IS NULL AND {{sight}}
"""
PUT_FULL_TEXT = """
    INSERT INTO full_text (memory, characters, data) VALUES (?, ?, ?)
        ON CONFLICT (memory) DO UPDATE SET characters = excluded.characters, data = excluded.data
"""
DROP_FULL_TEXT = "DELETE FROM full_text WHERE memory = ?"


def put_full_texts(texts: Mapping[str, str], aliases: Mapping[str, int], rows: Rows) -> None:
    """Keep each text, or drop the row of a memory whose text is empty. aliases: of the ids in sight."""
    for id, text in texts.items():
        if id not in aliases:
            raise NotFound(f"unknown memory {id}")
        if text:
            rows(PUT_FULL_TEXT, packed(aliases[id], text))
        else:
            rows(DROP_FULL_TEXT, (aliases[id],))


def packed(alias: int, text: str) -> tuple[int, int, bytes]:
    """The row of a text."""
    return alias, *packed_text(text)
