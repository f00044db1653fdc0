"""Export lines: Lore's own format, written: a header, one noun per line, a last line that proves it is whole.

    {"format": "lore-export", "version": 1, "lore": "0.3.0", "at": "2026-…", "counts": {"memory": 2}, …}
    {"memory": {"id": …}, "full_text": …}
    {"link": …}   {"suggestion": …}   {"digested": …}   {"journal": …}
    {"end": {"counts": {"memory": 2, "link": 1}, "sha256": "…"}}

The checksum covers all bytes before the last line. Fields that a version does not know are ignored; a change
that an older Lore would misread raises the version.
"""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256
from typing import Any, BinaryIO

from lore.model import Entry, Link, Memory
from lore.store.values import Suggestion
from lore.transfer.items import Digested, Kept
from lore.version import VERSION

FORMAT = "lore-export"
FORMAT_VERSION = 1
STORE_ONLY = frozenset({"alias", "depth"})
"""Fields of memories and links that only mean something in the store where they are."""
NOUNS = {Kept: "memory", Link: "link", Suggestion: "suggestion", Digested: "digested", Entry: "journal"}
MEMORY_FIELDS = tuple(one.name for one in fields(Memory) if one.name not in STORE_ONLY)
LINK_FIELDS = tuple(one.name for one in fields(Link) if one.name not in STORE_ONLY)


@dataclass(frozen=True, slots=True)
class Summary:
    """What was exported: lines by noun, bytes before compression, and their checksum."""

    counts: Mapping[str, int] = field(default_factory=dict)
    bytes: int = 0
    sha256: str = ""


class Lines:
    """Writes the lines of one export."""

    def __init__(self, file: BinaryIO, header: Mapping[str, Any]) -> None:
        self._file, self._sum = file, sha256()
        self._counts: Counter[str] = Counter()
        self._bytes = 0
        self._write({"format": FORMAT, "version": FORMAT_VERSION, "lore": VERSION, **header})

    def put(self, noun: Kept | Link | Suggestion | Digested | Entry) -> None:
        """Write one noun as a line."""
        name = NOUNS[type(noun)]
        self._counts[name] += 1
        self._write(_document(name, noun))

    def end(self) -> Summary:
        """Write the last line."""
        summary = Summary(dict(self._counts), self._bytes, self._sum.hexdigest())
        self._write({"end": {"counts": summary.counts, "sha256": summary.sha256}})
        return summary

    def _write(self, document: Mapping[str, Any]) -> None:
        line = (
            json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode() + b"\n"
        )
        self._sum.update(line)
        self._bytes += len(line)
        self._file.write(line)


def _document(name: str, noun: Kept | Link | Suggestion | Digested | Entry) -> dict[str, Any]:
    if isinstance(noun, Kept):
        memory = {field: getattr(noun.memory, field) for field in MEMORY_FIELDS}
        memory |= {"flags": sorted(noun.memory.flags), "metadata": dict(noun.memory.metadata)}
        return {name: memory, **({"full_text": noun.full_text} if noun.full_text else {})}
    if isinstance(noun, Link):
        return {name: {field: getattr(noun, field) for field in LINK_FIELDS}}
    return {name: asdict(noun)}
