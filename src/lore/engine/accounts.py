"""accounts: the turns of a conversation → its account → one memory beside them, rebuilt as it grows."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lore.distil.account import Account, Point
from lore.model import ACCOUNT, DISTILLED, Memory

TRUST = 0.5
"""Trust in a report of an agent."""
IMPORTANCE = 0.4
NAMES = uuid.UUID("2f6f0e57-6d2c-4b7e-9f4b-6a4f4f0d8a31")
PARTS = ("request", "done", "decisions", "state", "left")
"""The fields of an account that hold statements; the metadata of its memory keeps them under these names."""


def account_id(session_id: str) -> str:
    """The id of the account of a session."""
    return str(uuid.uuid5(NAMES, session_id))


def account_memory(session: Memory, account: Account, turns: Sequence[Memory], before: Memory | None,
                   now: float) -> Memory:  # fmt: skip
    """The account of a session as a memory. turns: number 1 is the first. before: the memory so far."""
    parts = {name: _plain(getattr(account, name), turns) for name in PARTS if getattr(account, name)}
    metadata: dict[str, Any] = {
        **parts,
        "files": list(account.files),
        "by": account.by,
        "turns": len(turns),
        "until": max((turn.alias for turn in turns), default=0),
    }
    last = max((turn.created_at for turn in turns), default=session.created_at)
    blank = before or Memory(
        id=account_id(session.id),
        content="",
        created_at=last,
        updated_at=now,
        namespace=session.namespace,
        kind=ACCOUNT,
        source=session.source,
        source_type=DISTILLED,
        session=session.session,
        importance=IMPORTANCE,
        trust=TRUST,
        author=session.author,
    )
    return replace(
        blank,
        title=account.title or session.title,
        content=account.text,
        project=session.project,
        metadata=metadata,
        created_at=last,
        updated_at=now,
    )


def _plain(points: Sequence[Point], turns: Sequence[Memory]) -> list[dict[str, Any]]:
    """Statements with the ids of their turns."""
    return [
        {"text": one.text, "turns": [turns[turn - 1].id for turn in one.turns if 0 < turn <= len(turns)]}
        for one in points
    ]


def points_of(memory: Memory, part: str) -> list[Mapping[str, Any]]:
    """The statements of one part of an account, each with `text` and the ids of its `turns`."""
    return [one for one in memory.metadata.get(part, ()) if isinstance(one, Mapping)]
