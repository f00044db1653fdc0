"""Purge: forgotten memories leave every table, and the journal keeps only that they were there.

The rows go in one transaction; `rewriting.rewrite` then writes the tables again, without old rows. Text of a
memory is also in the journal of its entity, whose context repeats observations, in the journal of turns,
whose context repeats the turn before, in remarks about conversations, and in bookmarks of transcripts. The
write-ahead log, standbys and backups are out of reach: they hold the texts until whoever runs the server
lets them expire (docs/databases.md).
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence, Set

from lore.bookmark import state_without_texts
from lore.store.columns import Row
from lore.store.postgres import sql
from lore.store.postgres.writer import DEEPEN, PostgresWriter
from lore.store.rows import columns_json, in_json
from lore.text import label_of

FORGOTTEN = f"""
    SELECT m.alias, m.id, m.namespace, m.session, m.title, m.content FROM memory m
        WHERE m.tenant = %(tenant)s AND m.id = {sql.IDS} AND m.forgotten_at IS NOT NULL
        ORDER BY m.alias
"""
LOCK_USAGE = """
    SELECT u.memory FROM usage u WHERE u.tenant = %(tenant)s AND u.memory = ANY(%(aliases)s)
        ORDER BY u.memory FOR UPDATE
"""
"""First of all and in this order, as whoever counts uses does: neither waits for the other in a circle."""
ALIASES = "ANY(%(aliases)s)"
OF_MEMORY = ("usage", "full_text", "subject", "embedding", "words")
"""Tables with rows of one memory; they go with it."""
BETWEEN = {"cooccurrence": ("one", "other"), "suggestion": ("source", "target"), "link": ("source", "target")}
"""Tables with rows of two memories; they go with either."""
DELETED = {**dict.fromkeys(OF_MEMORY, ("memory",)), **BETWEEN, "memory": ("alias",)}
"""Tables whose rows go, in this order, and the columns with aliases of memories."""
LINKS = (
    f"SELECT l.id FROM link l WHERE l.tenant = %(tenant)s AND (l.source = {ALIASES} OR l.target = {ALIASES})"
)
CHILDREN = (
    f"SELECT l.target FROM link l WHERE {sql.TREE} AND l.source = {ALIASES} AND NOT l.target = {ALIASES}"
)
PARENTS = f"""
    SELECT m.id FROM link l {sql.at("source", "m")}
        WHERE l.tenant = %(tenant)s AND l.kind = 'hierarchical' AND l.target = {ALIASES}
"""
BESIDE = """
    SELECT m.id FROM memory m WHERE m.tenant = %(tenant)s AND m.session = ANY(%(sessions)s)
        AND m.source_type = 'transcript'
"""
"""Turns of the same conversations."""
EMPTY_JOURNAL = f"""
    UPDATE journal SET before = CASE WHEN before IS NOT NULL THEN '{{}}' END, after = '{{}}', reason = ''
        WHERE tenant = %(tenant)s AND id = {sql.IDS} RETURNING 1
"""
CONTEXTS = f"""
    SELECT j.seq, j.before, j.after FROM journal j
        WHERE j.tenant = %(tenant)s AND j.id = {sql.IDS} AND strpos(j.before, '"context"') > 0
"""
FORGET_CONTEXTS = """
    UPDATE journal j SET before = v.before, after = v.after
        FROM unnest(%(seqs)s::bigint[], %(befores)s::text[], %(afters)s::text[]) AS v (seq, before, after)
        WHERE j.tenant = %(tenant)s AND j.seq = v.seq
"""
BY_ID = {"field_stamps": "id", "session_answers": "session", "digest_progress": "session"}
"""Records about a memory, a link or a conversation, and the column of its id."""
TOUCHED = (*DELETED, *BY_ID, "journal", "judgement", "consolidation_run", "bookmark")
"""Tables that may lose a text."""
JUDGEMENTS = """
    DELETE FROM judgement WHERE tenant = %(tenant)s AND EXISTS (
        SELECT 1 FROM unnest(%(ids)s::text[]) AS gone (id) WHERE strpos("key", gone.id) > 0) RETURNING 1
"""
REMARKS = """
    UPDATE consolidation_run SET remarks = '[]' WHERE tenant = %(tenant)s AND EXISTS (
        SELECT 1 FROM unnest(%(labels)s::text[]) AS gone (label) WHERE strpos(remarks, gone.label) > 0)
        RETURNING 1
"""
BOOKMARKS = """
    SELECT b.namespace, b.path, b.state FROM bookmark b WHERE b.tenant = %(tenant)s AND EXISTS (
        SELECT 1 FROM unnest(%(sessions)s::text[]) AS gone (session) WHERE strpos(b.state, gone.session) > 0)
"""
SET_STATE = """
    UPDATE bookmark SET state = %(state)s
        WHERE tenant = %(tenant)s AND namespace = %(namespace)s AND path = %(path)s
"""


class Eraser(PostgresWriter):
    """A writer that erases, in one transaction."""

    def erase(self, ids: Iterable[str]) -> tuple[list[str], Counter[str]]:
        """Erase those that are forgotten; returns their ids, and the number of rows by table."""
        found = self._rows(FORGOTTEN, ids=sql.usable(ids))
        if not found:
            return [], Counter()
        aliases = [alias for alias, *_ in found]
        gone = [str(id) for _, id, *_ in found]
        self._rows(LOCK_USAGE, aliases=aliases)
        links = [str(id) for (id,) in self._rows(LINKS, aliases=aliases)]
        children = [child for (child,) in self._rows(CHILDREN, aliases=aliases)]
        sessions = {str(session) for _, _, _, session, *_ in found if session}
        counts = self._empty_past([*gone, *links], aliases, sessions)
        counts += self._drop_records([*gone, *links], found) + self._blank_bookmarks(set(gone), sessions)
        for table, names in DELETED.items():
            touching = " OR ".join(f"{name} = {ALIASES}" for name in names)
            delete = f"DELETE FROM {table} WHERE tenant = %(tenant)s AND ({touching}) RETURNING 1"
            counts[table] = len(self._rows(delete, aliases=aliases))
        for child in children:
            self._rows(DEEPEN, child=child)
        self._record("memory", [(namespace, id, {}, None) for _, id, namespace, *_ in found])
        return gone, +counts

    def _empty_past(self, ids: Sequence[str], aliases: Sequence[int], sessions: Set[str]) -> Counter[str]:
        """Empty the entries of these, and take contexts out of those of parents and turns beside them."""
        emptied = len(self._rows(EMPTY_JOURNAL, ids=list(ids)))
        parents = self._rows(PARENTS, aliases=list(aliases))
        neighbours = self._rows(BESIDE, sessions=sorted(sessions))
        entries = self._rows(CONTEXTS, ids=[id for (id,) in (*parents, *neighbours)])
        self._rows(
            FORGET_CONTEXTS,
            seqs=[seq for seq, *_ in entries],
            befores=[_without_context(before) for _, before, _ in entries],
            afters=[_without_context(after) for *_, after in entries],
        )
        return Counter(journal=emptied + len(entries))

    def _drop_records(self, ids: Sequence[str], found: Sequence[Row]) -> Counter[str]:
        """Delete the records about these; remarks that name one of the memories go too."""
        counts: Counter[str] = Counter()
        for table, column in BY_ID.items():
            delete = f"DELETE FROM {table} WHERE tenant = %(tenant)s AND {column} = {sql.IDS} RETURNING 1"
            counts[table] = len(self._rows(delete, ids=list(ids)))
        labels = [in_json(label_of(title, content)) for *_, title, content in found]
        counts["judgement"] = len(self._rows(JUDGEMENTS, ids=list(ids)))
        counts["consolidation_run"] = len(self._rows(REMARKS, labels=labels))
        return counts

    def _blank_bookmarks(self, gone: Set[str], sessions: Set[str]) -> Counter[str]:
        """Take what was said in these sessions out of the bookmarks of their transcripts."""
        counts: Counter[str] = Counter()
        for namespace, path, state in self._rows(BOOKMARKS, sessions=sorted(map(in_json, sessions))):
            clean = state_without_texts(state, sessions, gone)
            self._rows(SET_STATE, namespace=namespace, path=path, state=clean)
            counts["bookmark"] += clean != state
        return counts


def _without_context(fields: str | None) -> str | None:
    """The columns of a journal entry but one."""
    if fields is None:
        return None
    return columns_json({name: value for name, value in json.loads(fields).items() if name != "context"})
