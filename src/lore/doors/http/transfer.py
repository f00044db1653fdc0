"""transfer: all memories as a download, and files of memories as uploads, with a preview and an undo."""

import re
import tempfile
from collections.abc import AsyncIterator
from contextlib import ExitStack
from dataclasses import asdict
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast

import anyio
import anyio.to_thread
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from lore.doors.http.body import read_json
from lore.doors.http.callers import EVERY_NAMESPACE, Caller, Forbidden
from lore.doors.http.openapi import PREFIX
from lore.doors.http.routes import Route
from lore.doors.http.served import Served
from lore.engine import Lore
from lore.engine.export import ExportScope
from lore.engine.import_memories import Imported, Importing
from lore.engine.ingest import Ingested
from lore.engine.undo_import import UndoneImport
from lore.errors import Invalid
from lore.model import SHARED, new_id
from lore.transcripts.import_formats import FORMATS as CONVERSATIONS
from lore.transfer.formats import format_of, opened
from lore.transfer.items import FORMATS as MEMORIES
from lore.transfer.items import MemoryFormat
from lore.transfer.streams import Compression, compressed

UPLOAD_BYTES = 512 << 20
"""Size of a file that is uploaded."""
LONGEST_NAME = 100
CHUNK_BYTES = 1 << 16
YES = ("1", "true", "yes")
UNSAFE = re.compile(r"[^\w. -]+")
EXPORT_TYPE = "application/x-ndjson"


def routes(served: Served) -> list[Route]:
    """The routes of this module."""
    door = TransferDoor(served)
    parameters = ("preview", "replace", "name", "format")
    return [
        Route("GET", f"{PREFIX}/export", "admin", door.export, ("history", "compressed")),
        Route("POST", f"{PREFIX}/import", "admin", door.import_file, parameters, UPLOAD_BYTES),
        Route("POST", f"{PREFIX}/import/undo", "admin", door.undo),
    ]


class TransferDoor:
    """One export and one import at a time."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._exports, self._imports = anyio.CapacityLimiter(1), anyio.CapacityLimiter(1)
        self._own: dict[str, tuple[str, str]] = {}
        """Import of this process -> the tenant and namespace of its caller."""

    async def export(self, request: Request, caller: Caller) -> Response:
        """Every memory that the caller may see, as lines of JSON.

        It is written to a file first: a client that reads slowly keeps nothing of the store busy.
        """
        lore = self._served.lore_of(request, caller, "explorer")
        every = EVERY_NAMESPACE in caller.namespaces
        history = request.query_params.get("history", "") in YES
        if history and not every:
            raise Forbidden("the history is of all namespaces, and not all are yours")
        namespaces = frozenset() if every else _seen(lore, caller)
        scope = ExportScope(history=history, namespaces=namespaces, located=caller.whole_store)
        compression: Compression = "gzip" if request.query_params.get("compressed", "") in YES else ""
        name = f"lore-{datetime.now(UTC):%Y-%m-%d}.jsonl{'.gz' if compression else ''}"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        media_type = "application/gzip" if compression else EXPORT_TYPE
        if request.method == "HEAD":
            return Response(media_type=media_type, headers=headers)
        work = partial(_exported, lore, scope, compression, self._served.config.data_dir)
        whole = await anyio.to_thread.run_sync(work, limiter=self._exports)
        return StreamingResponse(_parts(whole), media_type=media_type, headers=headers)

    async def import_file(self, request: Request, caller: Caller) -> Response:
        """Keep the memories of the file in the body, or show what would be kept."""
        lore = self._served.lore_of(request, caller, "explorer")
        wanted = request.query_params
        how = Importing(
            id=new_id(lore.clock()),
            namespace="" if EVERY_NAMESPACE in caller.namespaces else lore.namespace,
            replace=wanted.get("replace", "") in YES,
            preview=wanted.get("preview", "") in YES,
        )
        format = _format(wanted.get("format", ""))
        with tempfile.TemporaryDirectory(prefix="lore-import-") as folder:
            file = Path(folder, _file_name(wanted.get("name", "")))
            await _receive(request, file)
            work = partial(_import, lore, file, format, how)
            result = await anyio.to_thread.run_sync(work, limiter=self._imports)
        if not how.preview:
            self._own[how.id] = (lore.tenant, lore.namespace)
        return JSONResponse({"id": "" if how.preview else how.id, "preview": how.preview, **result})

    async def undo(self, request: Request, caller: Caller) -> Response:
        """Take an import back."""
        lore = self._served.lore_of(request, caller, "explorer")
        id = (await read_json(request, self._served.config.body_bytes)).get("id")
        if not isinstance(id, str):
            raise Invalid('name the import: {"id": …}')
        own = self._own.get(id) == (lore.tenant, lore.namespace)
        if not own and EVERY_NAMESPACE not in caller.namespaces:
            raise Forbidden("an import is taken back by who has imported it, or has all namespaces")
        work = partial(_undo, lore, id)
        undone = await anyio.to_thread.run_sync(work, limiter=self._imports)
        return JSONResponse({"id": id, **asdict(undone)})


def _undo(lore: Lore, id: str) -> UndoneImport:
    return sum(lore.undo_import(id), UndoneImport())


def _seen(lore: Lore, caller: Caller) -> frozenset[str]:
    """The namespaces of a caller that have memories."""
    existing = {name for _, name in lore.store.namespaces(caller.tenant)}
    return frozenset({SHARED, *caller.namespaces} & existing) or frozenset({lore.namespace})


# --- export
def _exported(lore: Lore, scope: ExportScope, compression: Compression, folder: Path) -> BinaryIO:
    """The whole export in a file without a name, from its beginning."""
    with ExitStack() as failing:
        whole = failing.enter_context(tempfile.TemporaryFile(dir=folder))
        with compressed(cast(BinaryIO, whole), compression) as target:
            lore.export(target, scope, lambda *_: None)
        whole.seek(0)
        failing.pop_all()
    return cast(BinaryIO, whole)


async def _parts(file: BinaryIO) -> AsyncIterator[bytes]:
    """The bytes of a file, as fast as the client takes them; no thread waits for it."""
    with file:
        while part := await anyio.to_thread.run_sync(file.read, CHUNK_BYTES):
            yield part


# --- import
def _format(name: str) -> str:
    if name and name not in (*CONVERSATIONS, *MEMORIES):
        names = ", ".join((*CONVERSATIONS, *MEMORIES))
        raise Invalid(f"unknown format {name[:40]!r}; known: {names}; without it, it is detected")
    return name


def _file_name(name: str) -> str:
    """A name for the uploaded file that is like its own, and only a name."""
    return UNSAFE.sub("_", Path(name).name).strip(". ")[-LONGEST_NAME:] or "upload"


async def _receive(request: Request, file: Path) -> None:
    async with await anyio.open_file(file, "wb") as target:
        async for part in request.stream():
            await target.write(part)
    if not file.stat().st_size:
        raise Invalid("the body is empty; send the file as it is")


def _import(lore: Lore, file: Path, format: str, how: Importing) -> dict[str, Any]:
    """Import a file and say what came of it."""
    detected = format or format_of(file)
    if detected is None or detected in CONVERSATIONS:
        turns = sum(lore.import_file(file, detected, how=how), Ingested())
        return {"format": detected or "conversations", "conversations": asdict(turns)}
    if detected == "graph":
        return {"format": detected, "graph": asdict(lore.import_graph(file, how=how))}
    memories = Imported()
    with opened(file, cast(MemoryFormat, detected)) as source:
        for part in lore.import_memories(source.items, how):
            memories += part
    return {"format": detected, "memories": asdict(memories)}
