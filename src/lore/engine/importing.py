"""importing: a file from a person → its turns → memories below their sessions, each kept once."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from lore.engine.context import Context
from lore.engine.ingest import Ingested, keep_all
from lore.errors import Unavailable
from lore.text import check_storable
from lore.transcripts import import_formats
from lore.transcripts.import_formats import Format
from lore.transcripts.untrusted_files import open_regular

SESSION_LIMIT_BYTES = 400


def import_file(path: Path, context: Context, *, format: Format | None, session: str) -> Iterator[Ingested]:
    """Read a whole file; yields the counts of each batch as soon as it is committed."""
    check_storable(session, "session", SESSION_LIMIT_BYTES)
    try:
        with open_regular(path) as file:
            read = 0
            if found := format or import_formats.format_of(file):
                entries = import_formats.entries(file, found, path.name, session.strip())
                for counts in keep_all(entries, import_formats.source_of(found), context):
                    position = max(read, file.tell())
                    yield replace(counts, bytes=position - read)
                    read = position
            yield Ingested(bytes=file.seek(0, os.SEEK_END) - read)
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from error
