"""Purge: forgotten memories leave every table, and the journal keeps only that they were there.

The rows go in one transaction; `scrub.rewrite` then leaves no old page behind. Text of a memory is also in
the journal of its entity, whose context repeats observations, in the journal of turns, whose context repeats
the turn before, in remarks about conversations, and in the bookmarks of transcripts.
"""

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from lore.admit import admit
from lore.bookmark import state_without_texts
from lore.model import Cause, new_id
from lore.store.columns import Parameters, Row, Rows
from lore.store.rows import in_json
from lore.store.sqlite import sql, text_index
from lore.store.sqlite.writer import DEEPEN, JOURNAL
from lore.text import label_of

FORGOTTEN = f"""
    SELECT m.alias, m.id, m.namespace, m.session, {", ".join(f"m.{name}" for name in text_index.FIELDS)}
    FROM memory m WHERE m.tenant = :tenant AND m.id IN ({sql.IDS}) AND m.forgotten_at IS NOT NULL
"""
ALIASES = sql.listed("aliases")
OF_MEMORY = ("usage", "full_text", "subject", "embedding", "short_vector", "vector")
"""Tables with rows of one memory; they go with it."""
BETWEEN = {"cooccurrence": ("one", "other"), "suggestion": ("source", "target"), "link": ("source", "target")}
"""Tables with rows of two memories; they go with either."""
LINKS = f"SELECT id FROM link WHERE source IN ({ALIASES}) OR target IN ({ALIASES})"
CHILDREN = f"""
    SELECT target FROM link l WHERE {sql.TREE} AND source IN ({ALIASES}) AND target NOT IN ({ALIASES})
"""
PARENTS = f"""
    SELECT m.id FROM link l CROSS JOIN memory m ON m.alias = l.source
    WHERE l.kind = 'hierarchical' AND l.target IN ({ALIASES})
"""
BESIDE = f"""
    SELECT id FROM memory WHERE tenant = :tenant AND session IN ({sql.listed("sessions")})
    AND source_type = 'transcript'
"""
"""Turns of the same conversations."""
EMPTY_JOURNAL = f"""
    UPDATE journal SET before = iif(before IS NULL, NULL, '{{}}'), after = '{{}}', reason = ''
    WHERE tenant = :tenant AND id IN ({sql.IDS}) RETURNING 1
"""
FORGET_CONTEXT = f"""
    UPDATE journal SET before = json_remove(before, '$.context'), after = json_remove(after, '$.context')
    WHERE tenant = :tenant AND id IN ({sql.IDS}) AND before ->> 'context' IS NOT NULL RETURNING 1
"""
OF_SESSION = ("session_answers", "digest_progress")
"""Records about a conversation, by the id of its memory."""
JUDGEMENTS = """
    DELETE FROM judgement WHERE tenant = :tenant AND EXISTS (
        SELECT 1 FROM json_each(:ids) WHERE instr(key, value)) RETURNING 1
"""
REMARKS = """
    UPDATE consolidation_run SET remarks = '[]' WHERE tenant = :tenant AND EXISTS (
        SELECT 1 FROM json_each(:labels) WHERE instr(remarks, value)) RETURNING 1
"""
BOOKMARKS = """
    SELECT namespace, path, state FROM bookmark WHERE tenant = :tenant AND EXISTS (
        SELECT 1 FROM json_each(:sessions) WHERE instr(state, value))
"""
SET_STATE = (
    "UPDATE bookmark SET state = :state WHERE (tenant, namespace, path) = (:tenant, :namespace, :path)"
)


def erase(
    ids: Iterable[str], tenant: int, cause: Cause, now: float, rows: Rows
) -> tuple[list[str], Counter[str]]:
    """Within one transaction: erase those that are forgotten; returns their ids, and rows by table."""
    found = rows(FORGOTTEN, {"tenant": tenant, "ids": sql.listed_ids(ids)})
    counts: Counter[str] = Counter()
    if not found:
        return [], counts
    gone = [str(id) for _, id, *_ in found]
    sessions = {str(session) for _, _, _, session, *_ in found if session}
    parameters: Parameters = {
        "tenant": tenant,
        "aliases": json.dumps([alias for alias, *_ in found]),
        "labels": json.dumps([in_json(label_of(title, content)) for *_, title, _, content, _ in found]),
        "sessions": json.dumps(sorted(sessions)),
    }

    def run(statement: str, **more: Any) -> list[Row]:
        return rows(statement, parameters | more)

    links = [id for (id,) in run(LINKS)]
    both = json.dumps([*gone, *links])
    children = [child for (child,) in run(CHILDREN)]
    counts["journal"] = len(run(EMPTY_JOURNAL, ids=both))
    repeating = [id for (id,) in (*run(PARENTS), *run(BESIDE))]
    counts["journal"] += len(run(FORGET_CONTEXT, ids=json.dumps(repeating)))
    counts["field_stamps"] = len(run(_DELETE_STAMPS, ids=both))
    counts["judgement"] = len(run(JUDGEMENTS, ids=both))
    counts["consolidation_run"] = len(run(REMARKS))
    named = json.dumps([in_json(session) for session in sessions])
    for namespace, path, state in run(BOOKMARKS, sessions=named):
        clean = state_without_texts(state, sessions, set(gone))
        run(SET_STATE, namespace=namespace, path=path, state=clean)
        counts["bookmark"] += clean != state
    for table in OF_SESSION:
        of_these = f"DELETE FROM {table} WHERE tenant = :tenant AND session IN ({sql.IDS}) RETURNING 1"
        counts[table] = len(run(of_these, ids=both))
    for table, columns in {**dict.fromkeys(OF_MEMORY, ("memory",)), **BETWEEN}.items():
        touching = " OR ".join(f"{column} IN ({ALIASES})" for column in columns)
        counts[table] = len(run(f"DELETE FROM {table} WHERE {touching} RETURNING 1"))
    counts["words"] = len(found)
    for alias, _, _, _, *texts in found:
        rows(text_index.DROP_WORDS, (alias, *texts))
        rows(text_index.DROP_GRAMS, (alias,))
    counts["memory"] = len(run(f"DELETE FROM memory WHERE alias IN ({ALIASES}) RETURNING 1"))
    for child in children:
        rows(DEEPEN, {"child": child})
    _record(found, tenant, cause, now, rows)
    return gone, +counts


_DELETE_STAMPS = f"DELETE FROM field_stamps WHERE tenant = :tenant AND id IN ({sql.IDS}) RETURNING 1"


def _record(found: Sequence[Row], tenant: int, cause: Cause, now: float, rows: Rows) -> None:
    """One journal entry for each: it had fields before, and none after."""
    actor, reason = admit(cause.actor), admit(cause.reason)
    origin = (tenant, now, new_id(now), cause.verb, cause.surface, actor, reason)
    entries = [(*origin, "memory", namespace, id, "{}", None) for _, id, namespace, *_ in found]
    sql.insert(JOURNAL, entries, rows)
