"""Scrubbing: which texts of which tables may hold a secret, and how each is cleaned, in every database."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lore.admit import admit
from lore.store import columns

Clean = Callable[[Any], Any]


def _text(value: Any) -> Any:
    return admit(value) if isinstance(value, str) else value


def _document(value: Any) -> Any:
    """Text that holds JSON; what cannot be read as such is cleaned as text."""
    if not isinstance(value, str):
        return value
    try:
        document = json.loads(value)
    except ValueError:
        return admit(value)
    clean = admit(document)
    return value if clean is document else json.dumps(clean, ensure_ascii=False, sort_keys=True)


def _columns(value: Any) -> Any:
    """The columns of a journal entry as JSON, some of which hold JSON themselves."""
    if not isinstance(value, str):
        return value
    fields = json.loads(value)
    clean = columns.admitted(fields)
    return value if clean == fields else json.dumps(clean, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class ScrubbedTable:
    """A table whose rows may hold secrets: by which columns a row is known, and how each text is cleaned."""

    name: str
    keys: tuple[str, ...]
    texts: Mapping[str, Clean]


MEMORY = {name: _document if name in ("flags", "metadata") else _text for name in columns.TEXTS}
SCRUBBED = (
    ScrubbedTable("memory", ("alias",), MEMORY),
    ScrubbedTable("link", ("alias",), {"type": _text, "reason": _text}),
    ScrubbedTable(
        "journal", ("seq",), {"actor": _text, "reason": _text, "before": _columns, "after": _columns}
    ),
    ScrubbedTable("suggestion", ("tenant", "id"), {"type": _text}),
    ScrubbedTable("bookmark", ("tenant", "namespace", "path"), {"state": _document}),
    ScrubbedTable("digest_progress", ("tenant", "namespace", "session"), {"error": _text}),
    ScrubbedTable("session_answers", ("tenant", "namespace", "session"), {"answers": _document}),
    ScrubbedTable("phase_mark", ("tenant", "namespace", "phase"), {"settings": _text, "seen": _document}),
    ScrubbedTable("consolidation_run", ("tenant", "namespace", "began_at"), {"remarks": _document}),
)


def count_kinds(row: Sequence[Any], clean: Sequence[Any], kinds: Counter[str]) -> None:
    """Count the secrets that were taken out, by their kinds, as the new marks tell."""
    for before, after in zip(row, clean, strict=True):
        if before != after:
            kinds.update(_kinds(str(after)))
            kinds.subtract(_kinds(str(before)))


def _kinds(text: str) -> list[str]:
    return [part.partition("]")[0] for part in text.split("[redacted: ")[1:]]
