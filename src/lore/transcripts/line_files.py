"""Files of lines, compressed or not: each whole line is read once, while the file grows or is renamed."""

import io
import logging
import os
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO

from lore.bookmark import Bookmark
from lore.supervision import failure_of, reason
from lore.transcripts.turns import LineReader, Transcript, TurnOrHeading
from lore.transcripts.untrusted_files import open_regular, printable

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

logger = logging.getLogger(__name__)

COMPRESSED = ".zst"
CHUNK_BYTES = 1 << 18
DAMAGE = (zstd.ZstdError, EOFError)
LONGEST_LINE = 64 << 20
"""Bytes; a longer line is passed over."""
FIRST_BYTES = 4096
"""Bytes of the first line that identify a file."""
LAST_BYTES = 1 << 14
"""Bytes before a bookmark that must be unchanged."""


@contextmanager
def open_transcript(
    reader: type[LineReader], path: Path, bookmarks: Sequence[Bookmark]
) -> Iterator[Transcript]:
    """A file of lines, at the one of `bookmarks` that belongs to it, or at its beginning."""
    with open_file(path) as file:
        yield LineTranscript(reader, str(path), file, bookmarks)


def open_file(path: Path) -> BinaryIO:
    """Open a file for reading, decompressed if its name ends with `.zst`. Raises OSError."""
    file = open_regular(path)
    return decompressed(file) if path.suffix == COMPRESSED else file


def decompressed(file: BinaryIO) -> BinaryIO:
    return io.BufferedReader(_Decompressed(file), CHUNK_BYTES)


class _Decompressed(io.RawIOBase):
    """The content of a Zstandard file. A damaged file ends where the damage begins."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._content = zstd.ZstdFile(file)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def close(self) -> None:
        self._file.close()
        super().close()

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        try:
            return self._content.seek(offset, whence)
        except DAMAGE:
            return self._content.tell()

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._content.read1(len(buffer))
        except DAMAGE:
            return 0
        buffer[: len(data)] = data
        return len(data)


class LineTranscript:
    """The lines behind a bookmark as entries."""

    def __init__(
        self, reader: type[LineReader], path: str, file: BinaryIO, bookmarks: Sequence[Bookmark]
    ) -> None:
        status = os.fstat(file.fileno())
        here = Bookmark(path=printable(path), device=status.st_dev, inode=status.st_ino)
        self._start = _find(here, file, bookmarks).moved(here)
        self._lines = WholeLines(file, self._start)
        self._reader = reader(path, self._start.state.get("reader", {}))
        self._broken = 0

    @property
    def passed_over(self) -> int:
        return self._broken + self._lines.too_long

    @property
    def bookmark(self) -> Bookmark:
        if self._lines.count == self._start.lines:
            return self._start
        return replace(self._lines.bookmark, state={"reader": self._reader.state})

    def __iter__(self) -> Iterator[Sequence[TurnOrHeading]]:
        for number, line in self._lines:
            yield self._entries(number, line)

    def _entries(self, number: int, line: bytes) -> Sequence[TurnOrHeading]:
        """The entries of a line; none, and a warning in the log, if the reader fails."""
        entries: list[TurnOrHeading] = []
        error = failure_of(lambda: entries.extend(self._reader.read(number, line)))
        if isinstance(error, MemoryError):
            raise error  # not the fault of the line: it is read again later
        if error is not None:
            self._broken += 1
            logger.warning("%s, line %d, is passed over: %s", self._start.path, number, reason(error))
        return [] if error else entries


def _find(here: Bookmark, file: BinaryIO, bookmarks: Sequence[Bookmark]) -> Bookmark:
    """The bookmark of this file by identity, then by path, then by first line; or its beginning."""
    first = first_line_hash(file)
    for candidates in (
        [one for one in bookmarks if one.file == here.file],
        [one for one in bookmarks if one.path == here.path],
        [one for one in bookmarks if first and one.first == first],
    ):
        for bookmark in candidates:
            if still_valid(bookmark, file):
                return bookmark
    return here


def first_line_hash(file: BinaryIO) -> str:
    """The hash of the first line, up to FIRST_BYTES; empty while the line is not complete."""
    file.seek(0)
    beginning = file.read(FIRST_BYTES)
    line, end, _ = beginning.partition(b"\n")
    return _hash(line) if end or len(beginning) == FIRST_BYTES else ""


def still_valid(bookmark: Bookmark, file: BinaryIO) -> bool:
    """Whether the file has only grown since: it was neither cut nor rewritten."""
    if not bookmark.offset:
        return True
    if first_line_hash(file) != bookmark.first:
        return False
    last = _before(bookmark.offset, file)
    return len(last) == min(LAST_BYTES, bookmark.offset) and _hash(last) == bookmark.last


class WholeLines:
    """The whole lines behind a bookmark, with their numbers. An incomplete line is left for the next time.

    count: lines read so far, those before the bookmark included. too_long: lines over LONGEST_LINE.
    """

    def __init__(self, file: BinaryIO, start: Bookmark) -> None:
        self._file = file
        self._start = start if start.first else replace(start, first=first_line_hash(file))
        self._offset = start.offset
        self._recent = deque([_before(start.offset, file)])
        self._recent_bytes = len(self._recent[0])
        self.count = start.lines
        self.too_long = 0

    @property
    def bookmark(self) -> Bookmark:
        """The position behind the last line."""
        last = _hash(b"".join(self._recent)[-LAST_BYTES:])
        return replace(self._start, offset=self._offset, lines=self.count, last=last)

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        self._file.seek(self._offset)
        line, length = b"", 0
        while part := self._file.readline(LONGEST_LINE):
            too_long = bool(line)
            line = line[-LAST_BYTES:] + part
            length += len(part)
            if part.endswith(b"\n"):
                self._recent.append(line)
                self._recent_bytes += len(line)
                while self._recent_bytes - len(self._recent[0]) >= LAST_BYTES:
                    self._recent_bytes -= len(self._recent.popleft())
                self._offset += length
                self.count += 1
                self.too_long += too_long
                yield self.count, b"" if too_long else line.rstrip(b"\r\n")
                line, length = b"", 0
            elif len(part) < LONGEST_LINE:  # the rest may be written in this moment
                return


def _before(offset: int, file: BinaryIO) -> bytes:
    """The last bytes before an offset."""
    file.seek(max(0, offset - LAST_BYTES))
    return file.read(min(LAST_BYTES, offset))


def _hash(data: bytes) -> str:
    return blake2b(data, digest_size=12).hexdigest()
