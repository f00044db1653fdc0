"""importing: a file that somebody hands over → what is said in it → memories under their sessions, once."""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from lore.engine.ingest import Ingested, keep_all
from lore.errors import Unavailable
from lore.model import Cause
from lore.store import Store
from lore.text import check_storable
from lore.transcripts.foreign import open_regular
from lore.transcripts.imports import Format, format_of, said_in, source_of

SESSION_LIMIT_BYTES = 400


def import_file(
    path: Path,
    *,
    format: Format | None,
    session: str,
    store: Store,
    namespace: str,
    cause: Cause,
    now: float,
) -> Iterator[Ingested]:
    """Read a file from beginning to end; what came of each batch, as soon as it is kept."""
    check_storable(session, "session", SESSION_LIMIT_BYTES)
    try:
        with open_regular(path) as file:
            read = 0
            if form := format or format_of(file):
                said = said_in(file, form, path.name, session.strip())
                source = source_of(form)
                for done in keep_all(said, source, store=store, namespace=namespace, cause=cause, now=now):
                    here = max(read, file.tell())
                    yield replace(done, bytes=here - read)
                    read = here
            yield Ingested(bytes=file.seek(0, os.SEEK_END) - read)
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror}") from error
