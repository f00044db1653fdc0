"""Matching: the search by words. Each term counts by how rare it is and by how often and where a text has it.

For a tenant with a word index, the index says how rare plain words are and proposes the candidates of a wide
search. All are scored by the same formula over the same words, so an answer has one ranking in either way.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from lore.store.columns import Parameters, Row
from lore.store.postgres.nearest import Scope
from lore.store.postgres.sql import looked_up
from lore.store.postgres.text_index import CONFIGURATION, letters_of, query_parts
from lore.store.postgres.word_indexes import LENGTH, SATURATION, TEXT, WordIndexes
from lore.store.values import TextMatches

WEIGHTS = "ARRAY[0.1, 0.25, 0.5, 1]::real[]"
"""How much a word counts in context, content, summary and title."""
SHORTER = 1
"""ts_rank: a long text counts less, by the logarithm of its length."""
SCORED_AT_MOST = 3_000
"""Occurrences of its words among which a query chooses."""
UNSEEN = 0.5
"""The number of memories that a term counts as occurring in if it occurs in none."""
RAREST = math.log1p(1 / UNSEEN)
"""How rare every term is where nothing is stored."""
FEWEST_CANDIDATES, OVERSAMPLING = 500, 8
"""Candidates that a word index proposes: at least, and for each wanted hit."""
BEST_SHARE = 0.25
"""Hits must be among the best share of these candidates, unless the candidates are all there are: the index
has a formula of its own, so the last that it proposes may be worse than others that it does not propose."""

OWN, ROUTED = "w.tenant + 0 = %(tenant)s", "w.tenant = %(tenant)s"
"""The texts of the tenant, found by the text index alone: words of other tenants have other letters. With a
plain equation the planner would also read the tenant's whole primary key, for each word. Citus needs that
equation, to find the node of a tenant."""

# --- how often terms occur
QUERIES = f"""
    SELECT q.at, CASE
        WHEN q.beginning = '' THEN phraseto_tsquery({CONFIGURATION}, q.phrase)
        WHEN q.phrase = '' THEN q.beginning::tsquery
        ELSE phraseto_tsquery({CONFIGURATION}, q.phrase) <-> q.beginning::tsquery END AS query
    FROM unnest(%(phrases)s::text[], %(beginnings)s::text[]) WITH ORDINALITY AS q (phrase, beginning, at)
"""
COUNT = f"""(
    SELECT count(*) FROM (SELECT 1 FROM words w
        WHERE {OWN} AND w.words @@ q.query LIMIT {SCORED_AT_MOST + 1}) w)"""
"""The number of memories with a query, beyond the bound inexact."""
STORED = "coalesce((SELECT s.memories FROM tenant_state s WHERE s.tenant = %(tenant)s), 0)"
OCCURRENCES = f"""
    SELECT q.at, q.query::text, {COUNT} FROM ({QUERIES}) q UNION ALL SELECT 0, '', {STORED}
"""
"""The number of memories with each term; at 0 the number of all memories."""
OCCURRENCES_IN_ONE_PASS = f"""
    WITH q AS MATERIALIZED ({QUERIES}), found AS (
        SELECT q.at, count(*) AS count FROM words w JOIN q ON w.words @@ q.query
        WHERE w.tenant = %(tenant)s GROUP BY q.at)
    SELECT q.at, q.query::text, coalesce(found.count, 0) FROM q LEFT JOIN found ON found.at = q.at
    UNION ALL SELECT 0, '', {STORED}
"""
"""The same where row-level security keeps the index out: each text of the tenant is read once."""
SCORED_WORDS = f"""
    WITH q AS MATERIALIZED (SELECT q.at, q.query, btrim(q.query::text, '''') AS text FROM ({QUERIES}) q),
    plain AS MATERIALIZED (SELECT q.*, CASE
        WHEN tsvector_to_array(to_tsvector('simple', q.text)) = ARRAY[q.text] THEN q.text END AS word FROM q)
    SELECT q.at, q.query::text, CASE WHEN q.word IS NULL THEN {COUNT} END, q.word,
        -(q.word <@> to_bm25query(q.word, %(index)s)),
        -((q.word || ' and') <@> to_bm25query(q.word, %(index)s))
    FROM plain q UNION ALL SELECT 0, '', {STORED}, NULL, NULL, NULL
"""
"""The same with a word index: a query that is one plain word is not counted. Instead, the word is scored as a
text of its own, and as one of two words (see `occurrences`)."""

# --- the memories with them
EVERY_HIT = f"SELECT w.memory, w.words FROM words w WHERE {OWN} AND w.words @@ %(any)s::tsquery"
PROPOSED_HITS = """
    SELECT w.memory, w.words FROM unnest(%(proposed)s::int[]) AS p (memory)
    CROSS JOIN LATERAL (
        SELECT w.* FROM words w WHERE w.tenant = %(tenant)s AND w.memory = p.memory OFFSET 0) w"""
OTHER_HITS = f"{EVERY_HIT} AND w.memory <> ALL(%(proposed)s)"
SCORED_HITS = f"""
    SELECT m.id, r.strength, r.rank FROM (
        SELECT s.*, row_number() OVER (ORDER BY s.strength DESC, s.memory) AS rank FROM (
            SELECT h.memory, (SELECT sum(q.information * ts_rank({WEIGHTS}, h.words, q.query, {SHORTER}))
                FROM unnest(%(queries)s::tsquery[], %(information)s::float8[]) AS q (query, information)
            ) AS strength FROM ({{hits}}) h OFFSET 0
        ) s ORDER BY rank OFFSET 0
    ) r {looked_up("m.id", "r.memory", "{passing}")} ORDER BY r.rank LIMIT %(limit)s
"""
"""The memories are looked up from the best on, until as many have passed as are wanted."""
PROPOSED = f"""
    SELECT w.memory FROM words w WHERE w.tenant = %(tenant)s
    ORDER BY {TEXT}(w.words) <@> to_bm25query(%(text)s, %(index)s) LIMIT %(candidates)s
"""
"""A statement of its own, without the score: as a part of another one, pg_textsearch would compute the score
of each row again from its text, which takes 20 times as long."""


@dataclass(frozen=True, slots=True)
class Occurrences:
    """A term as the text index reads it, and how many memories have it. word: of a term that is one."""

    query: str = ""
    count: int = 0
    word: str = ""


Count = Callable[[Sequence[tuple[str, str]]], list[Row]]
"""Counts queries, each a phrase and the beginning of the word behind it."""


class Terms:
    """The terms of one query as the index reads them, and how often each occurs."""

    def __init__(self, tenant: int, terms: Sequence[str], count: Count) -> None:
        self._terms = terms
        wanted = {term: query_parts(term, letters_of(tenant)) for term in dict.fromkeys(terms)}
        searchable = {term: parts for term, parts in wanted.items() if any(parts)}
        parts = list(dict.fromkeys(searchable.values()))
        rows = {at: row for at, *row in count(parts)}
        self._stored = int(rows.pop(0)[1])
        by_parts = {part: self._occurrences(*rows[at]) for at, part in enumerate(parts, 1)}
        self._found = {term: by_parts[parts] for term, parts in searchable.items()}
        self._queries = {one.query: one for one in self._found.values() if one.query and one.count}

    def _occurrences(
        self, query: str, count: int | None, word: str = "", alone: float = 0.0, beside: float = 0.0
    ) -> Occurrences:
        if count is not None:
            return Occurrences(query, count)
        return Occurrences(query, occurrences(alone, beside, self._stored), word)

    def information(self) -> dict[str, float]:
        """The logarithm of how rare each term is for the tenant, in nats."""
        nowhere = Occurrences()
        return {
            term: self._information(self._found.get(term, nowhere).count)
            for term in dict.fromkeys(self._terms)
        }

    def _information(self, count: int) -> float:
        return math.log1p(max(1, self._stored) / max(UNSEEN, count))

    def all(self) -> dict[Occurrences, float]:
        """All queries that find something, the rarest first, and how rare each is."""
        ordered = sorted(self._queries.values(), key=lambda one: one.count)
        return {one: self._information(one.count) for one in ordered}

    def telling(self) -> dict[Occurrences, float]:
        """The rarest, as long as all they occur in can be scored in good time; at least one.

        A common word adds little to a score, and finding all that it occurs in is most of the work.
        """
        found = self.all()
        totals = accumulate(one.count for one in found)
        kept = [at == 0 or total <= SCORED_AT_MOST for at, total in enumerate(totals)]
        return {one: rare for (one, rare), keeps in zip(found.items(), kept, strict=True) if keeps}


def occurrences(alone: float, beside: float, stored: int) -> int:
    """The number of memories with a word, from its BM25 score as a text of its own and as one of two words.

    A score is the information of the word, log((texts + 1) / (texts with the word + 0.5)), times a factor
    that falls with the length of the text. 1 / score is linear in that length, and the factor of length 0 is
    known.
    """
    if not alone:
        return 0
    information = (1 + SATURATION * (1 - LENGTH)) / (1 + SATURATION) / (2 / alone - 1 / beside)
    count = round((stored + 1) / math.exp(information) - 0.5)
    return min(max(1, count), SCORED_AT_MOST + 1)


class Matching:
    """The search by words.

    quick: the text index may be used; see OCCURRENCES_IN_ONE_PASS. distributed: by Citus. indexes: None
    inside a transaction.
    """

    def __init__(self, quick: bool, distributed: bool, indexes: WordIndexes | None = None) -> None:
        self._quick = quick
        self._own = OWN if quick and not distributed else ROUTED
        self._indexes = indexes

    def matching(self, terms: Sequence[str], limit: int, scope: Scope) -> TextMatches:
        """The best `limit` of the scope."""
        counted = Terms(scope.parameters["tenant"], terms, lambda parts: self._count(parts, scope))
        if limit < 1:
            return TextMatches(information=counted.information())
        telling, every = counted.telling(), counted.all()
        found = self._found(telling, limit, scope)
        if not found and len(telling) < len(every):
            found = self._found(every, limit, scope)
        return TextMatches(strengths=found, information=counted.information())

    def _count(self, parts: Sequence[tuple[str, str]], scope: Scope) -> list[Row]:
        phrases, beginnings = ([part[at] for part in parts] for at in range(2))
        given = scope.parameters | {"phrases": phrases, "beginnings": beginnings}
        if (indexes := self._usable(scope)) and (rows := indexes.ask(SCORED_WORDS, given)) is not None:
            return rows
        return self._rows(OCCURRENCES if self._quick else OCCURRENCES_IN_ONE_PASS, given, scope)

    def _usable(self, scope: Scope) -> WordIndexes | None:
        covered = self._quick and self._indexes and self._indexes.covers(scope.parameters["tenant"])
        return self._indexes if covered else None

    def _found(self, queries: Mapping[Occurrences, float], limit: int, scope: Scope) -> dict[str, float]:
        """By these queries, each with how rare it is."""
        if not queries:
            return {}
        given = scope.parameters | {
            "queries": [one.query for one in queries],
            "information": list(queries.values()),
            "limit": limit,
        }
        if (found := self._among_proposed(list(queries), given, scope)) is not None:
            return found
        rows = self._scored(EVERY_HIT, given | {"any": _any(queries)}, scope)
        return {id: strength for id, strength, _ in rows}

    def _among_proposed(
        self, queries: Sequence[Occurrences], given: Parameters, scope: Scope
    ) -> dict[str, float] | None:
        """None: no index proposes anything, or too few of the best that it proposes pass."""
        candidates = max(FEWEST_CANDIDATES, OVERSAMPLING * given["limit"])
        plain, others = [one for one in queries if one.word], [one for one in queries if not one.word]
        few = candidates <= SCORED_AT_MOST and (scope.wide or sum(one.count for one in plain) < candidates)
        if not plain or not few or (indexes := self._usable(scope)) is None:
            return None
        text = " ".join(one.word for one in plain)
        rows = indexes.ask(PROPOSED, given | {"text": text, "candidates": candidates})
        if rows is None:
            return None
        more = {"proposed": [memory for (memory,) in rows], "any": _any(others)}
        sources = (PROPOSED_HITS, OTHER_HITS) if others else (PROPOSED_HITS,)
        hits = self._scored(" UNION ALL ".join(sources), given | more, scope)
        complete = len(rows) < candidates
        enough = len(hits) == given["limit"] and hits[-1][2] <= BEST_SHARE * candidates
        return {id: strength for id, strength, _ in hits} if complete or enough else None

    def _scored(self, hits: str, parameters: Parameters, scope: Scope) -> list[Row]:
        return self._rows(SCORED_HITS.format(hits=hits, passing=scope.condition), parameters, scope)

    def _rows(self, statement: str, parameters: Parameters, scope: Scope) -> list[Row]:
        return scope.rows(statement.replace(OWN, self._own), parameters)


def _any(queries: Iterable[Occurrences]) -> str:
    return " | ".join(f"({one.query})" for one in queries)
