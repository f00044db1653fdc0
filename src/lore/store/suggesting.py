"""Suggesting: links that a sweep proposes, as rows; and when a regular errand is due again."""

import json
from collections.abc import Iterable
from typing import Any, cast

from lore.store import sql
from lore.store.base import Suggestion, SuggestionStatus

ROWS = """
    SELECT g.id, s.id, e.id, g.score, g.signals, g.type, g.status, g.created_at, g.updated_at
    FROM suggestion g CROSS JOIN memory s ON s.alias = g.source CROSS JOIN memory e ON e.alias = g.target
    WHERE {sight}
"""
PENDING = f"""
    g.status = 'pending' AND {sql.CURRENT.format(m="s")} AND {sql.CURRENT.format(m="e")}
    AND NOT EXISTS (SELECT 1 FROM link l WHERE l.active = 1 AND (
        (l.source = g.source AND l.target = g.target) OR (l.source = g.target AND l.target = g.source)))
"""
PUT = """
    INSERT INTO suggestion (id, source, target, score, signals, type, status, created_at, updated_at)
        SELECT :id, s.alias, e.alias, :score, :signals, :type, :status, :created_at, :updated_at
        FROM memory s, memory e WHERE s.id = :source AND e.id = :target
    ON CONFLICT (source, target) DO UPDATE SET score = excluded.score, signals = excluded.signals,
        type = excluded.type, status = excluded.status, updated_at = excluded.updated_at
"""
EXPIRE = """
    DELETE FROM suggestion WHERE status = 'pending' AND updated_at < :before RETURNING id
"""
SKEW_SECONDS = 300.0
"""By how much a clock may be set back without anybody taking over what another process does."""
DUE = "SELECT done_at FROM errand WHERE name = :name AND due_at > :now AND due_at <= :latest"
KNOWN = "SELECT done_at FROM errand WHERE name = :name"
SCHEDULE = """
    INSERT INTO errand (name, due_at, done_at) VALUES (:name, :due_at, :done_at)
    ON CONFLICT (name) DO UPDATE SET due_at = excluded.due_at, done_at = excluded.done_at
"""


def suggestion_of(row: sql.Row) -> Suggestion:
    """A row of ROWS as a Suggestion."""
    id, source, target, score, signals, type, status, created_at, updated_at = row
    return Suggestion(
        id=id,
        source=source,
        target=target,
        score=score,
        signals=json.loads(signals),
        type=type,
        status=cast(SuggestionStatus, status),
        created_at=created_at,
        updated_at=updated_at,
    )


def put(suggestions: Iterable[Suggestion], rows: sql.Rows) -> None:
    """Insert or replace by pair, in its canonical order."""
    for suggestion in suggestions:
        rows(PUT, _columns_of(suggestion))


def _columns_of(suggestion: Suggestion) -> dict[str, Any]:
    source, target = sorted((suggestion.source, suggestion.target))
    return {
        "id": suggestion.id,
        "source": source,
        "target": target,
        "score": suggestion.score,
        "signals": json.dumps(dict(suggestion.signals), sort_keys=True),
        "type": suggestion.type,
        "status": suggestion.status,
        "created_at": suggestion.created_at,
        "updated_at": suggestion.updated_at,
    }
