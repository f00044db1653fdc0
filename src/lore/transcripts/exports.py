"""Exports: the conversations that Claude.ai and ChatGPT hand out, one at a time, zipped or not."""

import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, BinaryIO, Literal, TypeAlias

from lore.errors import Invalid
from lore.transcripts import chatgpt as _chatgpt
from lore.transcripts import claude_ai as _claude_ai
from lore.transcripts import stream as _stream
from lore.transcripts.base import Said

Export: TypeAlias = Literal["claude-ai", "chatgpt"]

READERS: dict[Export, Callable[[dict[str, Any]], Iterator[Said]]] = {
    "claude-ai": _claude_ai.turns,
    "chatgpt": _chatgpt.turns,
}
FIELDS: dict[bytes, Export] = {
    b"chat_messages": "claude-ai",
    b"mapping": "chatgpt",
    b"current_node": "chatgpt",
}
"""The fields by which an export is known; a text cannot pretend to be one, its quotes are escaped."""
RIGHT = "right is the zip or the conversations.json of an export of Claude.ai or ChatGPT"

ZIP = b"PK\x03\x04"
EMPTY = re.compile(rb"(\xef\xbb\xbf)?\s*\[\s*\]\s*")
MEMBER = re.compile(r"(?:.*/)?conversations(-\d+)?\.json")
_FIELD = re.compile(rb'"(' + b"|".join(FIELDS) + rb')"\s*:')
_BROKEN = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, EOFError, OSError, RuntimeError, ValueError,
    OverflowError,
)  # fmt: skip
"""What a damaged, locked or unusual zip makes the reading of it raise."""


def claude_ai(stream: BinaryIO) -> Iterator[Said]:
    """The conversations.json of Claude.ai."""
    return _said("claude-ai", _stream.chunks(stream))


def chatgpt(stream: BinaryIO) -> Iterator[Said]:
    """The conversations.json of ChatGPT, or a part of it."""
    return _said("chatgpt", _stream.chunks(stream))


def which(first: bytes) -> Export:
    """Whose export begins with these bytes."""
    if found := _FIELD.search(first):
        return FIELDS[found.group(1)]
    raise Invalid(f"no conversations can be recognised in this; {RIGHT}")


def whose(file: BinaryIO) -> Export | None:
    """Whose export this is, zipped or not; None if there is no conversation in it."""
    return next((which(first) for first, _ in _parts(file)), None)


def opened(file: BinaryIO, export: Export | None = None) -> Iterator[Said]:
    """An export, zipped or not; of either kind, unless it is said of which."""
    for first, rest in _parts(file):
        yield from _said(export or which(first), chain([first], rest))


def _parts(file: BinaryIO) -> Iterator[tuple[bytes, Iterator[bytes]]]:
    """How each array of conversations begins, and how it goes on; without the empty ones."""
    first = file.read(_stream.CHUNK_BYTES)
    if not first.startswith(ZIP):
        if not EMPTY.fullmatch(first):
            yield first, _stream.chunks(file)
        return
    try:
        archive = zipfile.ZipFile(file)
    except _BROKEN as error:
        raise Invalid(f"the zip cannot be opened ({error}); {RIGHT}") from None
    with archive:
        for name in _members(archive):
            rest = _unzipped(archive, name)
            first = next(rest, b"")
            if not EMPTY.fullmatch(first):
                yield first, rest


def _members(archive: zipfile.ZipFile) -> list[str]:
    """The parts in which the conversations come, or the one file that they come in."""
    found = {name: match for name in archive.namelist() if (match := MEMBER.fullmatch(name))}
    if not found:
        raise Invalid(f"the zip holds no conversations.json; {RIGHT}")
    return sorted(name for name, match in found.items() if match.group(1)) or sorted(found)


def _unzipped(archive: zipfile.ZipFile, name: str) -> Iterator[bytes]:
    try:
        with archive.open(name) as member:
            while chunk := member.read(_stream.CHUNK_BYTES):
                yield chunk
    except _BROKEN as error:
        raise Invalid(f"{name} cannot be read from the zip ({error}); download the export again") from None


def _said(export: Export, chunks: Iterable[bytes]) -> Iterator[Said]:
    for conversation in _stream.objects(chunks):
        yield from READERS[export](conversation)
