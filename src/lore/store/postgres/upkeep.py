"""Upkeep: the namespaces that need a look, in the table `job`, for all processes that share a database."""

from collections.abc import Collection

from lore.store.columns import Rows
from lore.store.records import UPKEEP_JOB, UPKEEP_SECONDS

INDEX = "CREATE INDEX job_due ON job (name, due_at)"
NOTE_CHANGE = f"""
    INSERT INTO job AS j (tenant, namespace, name, due_at)
        SELECT %(tenant)s, n.name, '{UPKEEP_JOB}', %(due_at)s FROM unnest(%(namespaces)s::text[]) AS n (name)
        WHERE NOT EXISTS (SELECT 1 FROM job j WHERE j.tenant = %(tenant)s AND j.namespace = n.name
            AND j.name = '{UPKEEP_JOB}' AND j.due_at <= %(due_at)s)
    ON CONFLICT (tenant, namespace, name) DO UPDATE SET due_at = least(j.due_at, excluded.due_at)
"""
"""A change moves the look ahead. Most changes find it due soon enough, and write nothing."""
CLAIM = """
    WITH first AS MATERIALIZED (
        SELECT j.tenant, j.namespace FROM job j
        WHERE j.name = %(job)s AND j.due_at <= %(now)s AND j.claimed_until <= %(now)s
        ORDER BY j.due_at LIMIT 1 FOR UPDATE SKIP LOCKED)
    UPDATE job j SET claimed_until = %(until)s FROM first, tenant t
        WHERE j.tenant = first.tenant AND j.namespace = first.namespace AND j.name = %(job)s
            AND t.number = first.tenant
        RETURNING t.name, j.namespace
"""
"""Several processes that ask at once get different namespaces, and none waits."""


def note_change(rows: Rows, tenant: int, namespaces: Collection[str], now: float) -> None:
    """Have the namespaces looked at after a while, in the transaction that changes them."""
    given = {"tenant": tenant, "namespaces": sorted(namespaces), "due_at": now + UPKEEP_SECONDS}
    rows(NOTE_CHANGE, given)
