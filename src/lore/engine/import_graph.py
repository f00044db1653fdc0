"""import_graph: copy the graph in another memory server's JSONL file; a repeat changes nothing."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from typing import Any

from lore.admit import admit
from lore.engine.context import Context
from lore.engine.entity_view import GraphVocabulary, Subject, check_subject
from lore.engine.observe import introduced
from lore.engine.relate import Relation, related
from lore.engine.relate import check as check_relation
from lore.errors import Invalid, NotFound
from lore.store import Writer
from lore.transcripts.untrusted_files import open_regular

SIZE_LIMIT_BYTES = 50 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedGraph:
    """Numbers of imported lines; skipped: in an unknown format. refused: known format, but not storable.

    new_memories, new_links: those that were not there before: entities, observations and their ties.
    """

    entities: int = 0
    relations: int = 0
    refused: int = 0
    skipped: int = 0
    new_memories: int = field(default=0, compare=False)
    new_links: int = field(default=0, compare=False)


def file_within(path: str, roots: Sequence[Path]) -> Path:
    """The file at `path`, links resolved; Invalid unless it lies below one of the `roots`."""
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


def _lines(path: Path) -> list[str]:
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


class _Previewed(Exception):
    """Takes a transaction back whose result was only a preview."""


def import_graph(
    path: Path, faithful: bool, context: Context, vocabulary: GraphVocabulary, preview: bool = False
) -> ImportedGraph:
    """Import the file in one transaction. Existing entities gain new observations.

    faithful: keep relations whose ends do not exist, and create no inverses; otherwise the reverse. preview:
    take everything back.
    """
    counts: Counter[str] = Counter()
    with suppress(_Previewed), context.transaction() as writer:
        before = writer.counts()
        for _, items in groupby(map(admit, _items(_lines(path))), key=type):
            counts += _import(list(items), faithful, vocabulary, writer)
        after = writer.counts()
        counts["new_memories"] = after.memories - before.memories
        counts["new_links"] = after.links - before.links
        if preview:
            raise _Previewed
    return ImportedGraph(**counts)


def _items(lines: Iterable[str]) -> Iterator[Subject | Relation | None]:
    for line in lines:
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError):
            yield None
            continue
        yield _item(fields) if isinstance(fields, dict) else None


def _item(fields: Mapping[str, Any]) -> Subject | Relation | None:
    match fields:
        case {"type": "entity", "name": str(name)} if name:
            kind, texts = fields.get("entityType"), fields.get("observations", [])
            if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
                return None
            if not isinstance(kind, str | None):
                return None
            return Subject(name=name, type=kind, observations=tuple(text for text in texts if text.strip()))
        case {"type": "relation", "from": str(source), "to": str(target), "relationType": str(kind)}:
            return Relation(source=source, target=target, type=kind)
    return None


def _import(
    items: Sequence[Subject | Relation | None], faithful: bool, vocabulary: GraphVocabulary, writer: Writer
) -> Counter[str]:
    """Import lines that are all of one kind; returns the fields of `ImportedGraph`."""
    subjects = [item for item in items if isinstance(item, Subject) and _storable(item)]
    relations = [item for item in items if isinstance(item, Relation) and _storable(item)]
    introduced([replace(s, default_status=vocabulary.status) for s in subjects], merge=True, writer=writer)
    inverses = {} if faithful else vocabulary.inverses
    results = related(relations, inverses=inverses, imply=faithful, writer=writer)
    skipped = sum(item is None for item in items)
    lost = sum(bool(result.missing) for result in results)
    return Counter(
        entities=len(subjects),
        relations=len(relations) - lost,
        refused=len(items) - skipped - len(subjects) - len(relations),
        skipped=skipped + lost,
    )


def _storable(item: Subject | Relation) -> bool:
    """Whether Lore can store it; unlike the official server, it refuses empty names."""
    try:
        if isinstance(item, Relation):
            check_relation(item)
            check_subject(Subject(name=item.source))
            check_subject(Subject(name=item.target))
        else:
            check_subject(item)
    except Invalid:
        return False
    return True
