"""contents: the contents of a store without ids and times, to compare two runs of the same work."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from lore.errors import LoreError
from lore.store.sqlite.store import SqliteStore

UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{16}\b")
"""An id, or a digest of ids."""
ROWS = {
    "memory": """SELECT alias, id, namespace, kind, type, depth, status, importance, score, confidence,
        confidence_count, source, source_type, session, channel, trust, superseded_by, forgotten_at IS NULL,
        forgotten_reason, flags, metadata, title, summary, context, content, project
        FROM memory ORDER BY alias""",
    "link": """SELECT alias, id, source, target, kind, type, weight, score, confidence, reason, active,
        created_by FROM link ORDER BY alias""",
    "full_text": "SELECT memory, characters, hex(data) FROM full_text ORDER BY memory",
    "bookmark": "SELECT namespace, offset, lines, first, last, state FROM bookmark ORDER BY path",
    "job": "SELECT namespace, name FROM job ORDER BY 1, 2",
    "digest_progress": "SELECT namespace, session, turns, until, attempts, error FROM digest_progress",
    "session_answers": "SELECT namespace, session, answers FROM session_answers",
    "phase_mark": "SELECT namespace, phase, settings, seen FROM phase_mark ORDER BY 1, 2",
    "consolidation_run": "SELECT namespace, phases, counts, remarks FROM consolidation_run",
    "spending": "SELECT day, model, calls, tokens_in, tokens_out FROM spending ORDER BY 1, 2",
    "journal": "SELECT seq, verb, noun, id, reason, before, after FROM journal ORDER BY seq",
}
RECORDS = ("job", "digest_progress", "session_answers", "phase_mark", "consolidation_run", "spending")
IDS = "SELECT id, 'm' || alias FROM memory UNION ALL SELECT id, 'l' || alias FROM link"


def contents(path: Path) -> str:
    """A digest of all canonical rows; the same for the same knowledge."""
    connection = apsw.Connection(str(path))
    try:
        connection.set_busy_timeout(30_000)
        names = {str(id): str(name) for id, name in connection.execute(IDS).fetchall()}
        rows = {table: connection.execute(statement).fetchall() for table, statement in ROWS.items()}
    finally:
        connection.close()
    plain = {table: [[_plain(cell, names) for cell in row] for row in some] for table, some in rows.items()}
    plain |= {table: sorted(plain[table], key=repr) for table in RECORDS}  # their keys are ids or times
    return hashlib.blake2b(json.dumps(plain).encode(), digest_size=12).hexdigest()


def _plain(cell: Any, names: Mapping[str, str]) -> Any:
    if not isinstance(cell, str):
        return cell
    return UUID.sub(lambda found: names.get(found[0], "?"), cell)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on a store after a fault; `fault` is empty if the store is as it must be."""

    fault: str = ""
    digest: str = ""


def examined(path: Path, states: list[str], acknowledged: int) -> Verdict:
    """Open a store as its user would. states: its contents after each transaction, the first before any.

    The acknowledged ones must be there, the next one may be; nothing else.
    """
    try:
        store = SqliteStore(path)
    except LoreError as error:
        return Verdict(f"refused: {error}")
    try:
        findings = [finding for finding in store.check() if not finding.passed]
        digest = contents(path)
    except (LoreError, apsw.Error) as error:
        return Verdict(f"unreadable: {error}")
    finally:
        store.close()
    if digest not in states[acknowledged : acknowledged + 2]:
        kind = "lost" if digest in states[:acknowledged] else "torn"
        return Verdict(f"{kind}: {acknowledged} acknowledged of {len(states) - 1}", digest)
    if findings:
        faults = "; ".join(f"{finding.check}: {finding.detail}" for finding in findings)
        return Verdict(f"unsound: {faults}", digest)
    return Verdict(digest=digest)
