"""adopt: take over the graph in another memory server's JSONL file; doing it twice changes nothing."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from lore.admit import admit
from lore.engine.observe import Subject, check, introduced
from lore.engine.relate import Relation, related
from lore.engine.relate import check as check_relation
from lore.errors import Invalid, NotFound
from lore.model import Cause
from lore.store import Store, Writer
from lore.transcripts.foreign import open_regular

SIZE_LIMIT_BYTES = 50 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopted:
    """How many lines were taken over; skipped: not understood. refused: understood, but not storable."""

    entities: int = 0
    relations: int = 0
    refused: int = 0
    skipped: int = 0


def file_within(path: str, roots: Sequence[Path]) -> Path:
    """The file that `path` really leads to, if it lies below one of the folders that may be read."""
    if not path.strip():
        raise Invalid("source_path is empty; name a JSONL file")
    try:
        real = Path(path).expanduser().resolve()
        allowed = [root.expanduser().resolve() for root in roots]
    except (OSError, RuntimeError, ValueError) as error:
        raise Invalid(f"source_path cannot be used: {error}") from None
    if not any(real.is_relative_to(root) for root in allowed):
        named = ", ".join(str(root) for root in roots)
        raise Invalid(f"Only files below {named} can be imported; LORE_IMPORT_ROOTS names more folders")
    return real


def lines_of(path: Path) -> list[str]:
    """The lines of a regular file that is not too large."""
    try:
        with open_regular(path) as file:
            data = file.read(SIZE_LIMIT_BYTES + 1)
            size = os.fstat(file.fileno()).st_size
    except FileNotFoundError:
        raise NotFound(f"Source file not found: {path}") from None
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}") from None
    if len(data) > SIZE_LIMIT_BYTES:
        raise Invalid(f"{path} has {size:,} bytes; the limit is {SIZE_LIMIT_BYTES:,}")
    text = data.decode("utf-8", "surrogateescape").replace("\r\n", "\n").replace("\r", "\n")
    return [line for line in text.split("\n") if line.strip()]


def adopt(
    lines: Iterable[str],
    *,
    faithful: bool,
    store: Store,
    namespace: str,
    cause: Cause,
    now: float,
) -> Adopted:
    """Everything in one transaction. Entities gain what is new to them.

    faithful: keep relations whose ends do not exist, and make no inverses; otherwise the reverse.
    """
    counts: Counter[str] = Counter()
    with store.transaction(namespace, cause, now) as writer:
        for _, items in groupby(map(admit, _items(lines)), key=type):
            counts += _taken(list(items), faithful, writer, namespace, now)
    return Adopted(**counts)


def _items(lines: Iterable[str]) -> Iterator[Subject | Relation | None]:
    for line in lines:
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            yield None
            continue
        yield _understood(fields) if isinstance(fields, dict) else None


def _understood(fields: Mapping[str, Any]) -> Subject | Relation | None:
    match fields:
        case {"type": "entity", "name": str(name)} if name:
            kind, told = fields.get("entityType"), fields.get("observations", [])
            texts = told if isinstance(told, list) and all(isinstance(text, str) for text in told) else None
            if texts is None or not isinstance(kind, str | None):
                return None
            return Subject(name=name, type=kind, observations=tuple(text for text in texts if text.strip()))
        case {"type": "relation", "from": str(source), "to": str(target), "relationType": str(kind)}:
            return Relation(source=source, target=target, type=kind)
    return None


def _taken(
    items: Sequence[Subject | Relation | None], faithful: bool, writer: Writer, namespace: str, now: float
) -> Counter[str]:
    """What became of some lines that are all of one kind."""
    subjects = [item for item in items if isinstance(item, Subject) and _storable(item)]
    relations = [item for item in items if isinstance(item, Relation) and _storable(item)]
    introduced(subjects, merge=True, writer=writer, namespace=namespace, now=now)
    results = related(
        relations, pairs=not faithful, imply=faithful, writer=writer, namespace=namespace, now=now
    )
    skipped = sum(item is None for item in items)
    lost = sum(bool(result.missing) for result in results)
    return Counter(
        entities=len(subjects),
        relations=len(relations) - lost,
        refused=len(items) - skipped - len(subjects) - len(relations),
        skipped=skipped + lost,
    )


def _storable(item: Subject | Relation) -> bool:
    """Whether Lore takes it; the official server also keeps empty names."""
    try:
        if isinstance(item, Relation):
            check_relation(item)
            check(Subject(name=item.source))
            check(Subject(name=item.target))
        else:
            check(item)
    except Invalid:
        return False
    return True
