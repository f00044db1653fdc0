"""growing: a file that its writer appends to, read by whole lines, each once, whatever happens to it."""

import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from lore.supervision import failure_of, reason
from lore.transcripts import compressed
from lore.transcripts.base import LineReader, Said
from lore.transcripts.finding import printable

logger = logging.getLogger(__name__)

LONGEST_LINE = 64 << 20
"""A longer one is passed over: nobody said that."""
PROBE = 4096
"""So much of a first line tells it from others."""
TAIL = 1 << 14
"""So much of what was read last tells whether it is still there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Watermark:
    """How far a file was read: `offset` bytes, `lines` lines.

    first, last: prints of its first line and of what was read last. As long as both are where they were, the
    file has only grown.
    """

    offset: int = 0
    lines: int = 0
    first: str = ""
    last: str = ""


BEGINNING = Watermark()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadPosition:
    """Where the reading of a transcript was left. device, inode: the file, whatever it is called.

    state: what is to be remembered until it goes on; its reader's own part is called `reader`.
    """

    path: str
    device: int
    inode: int
    mark: Watermark = BEGINNING
    state: Mapping[str, Any] = field(default_factory=dict)


class Transcript(Protocol):
    """A client's transcript, open where it was left: a piece comes, and `left` is right behind it."""

    @property
    def left(self) -> ReadPosition:
        """Where the reading is; until the first piece came, where it was left the last time."""
        ...

    @property
    def passed_over(self) -> int:
        """Lines or rows so far that could not be read, so that nothing of them is kept."""
        ...

    def __iter__(self) -> Iterator[Sequence[Said]]:
        """What was said since, piece by piece. One may be empty, and has moved the reading all the same."""
        ...


@contextmanager
def opened(reader: type[LineReader], path: Path, known: Sequence[ReadPosition]) -> Iterator[Transcript]:
    """A file of lines, at the place of `known` that is in it, or at its beginning."""
    with compressed.opened(path) as file:
        yield Lines(reader, str(path), file, known)


class Lines:
    """The lines of a file behind the place where it was left, as what they say."""

    def __init__(
        self, reader: type[LineReader], path: str, file: BinaryIO, known: Sequence[ReadPosition]
    ) -> None:
        self._path = printable(path)
        self._device, self._inode = identity(file)
        here = ReadPosition(path=self._path, device=self._device, inode=self._inode)
        self._left = _left_off(self._path, file, known) or here
        self._growing = Growing(file, self._left.mark)
        self._reader = reader(path, self._left.state.get("reader", {}))
        self._broken = 0

    @property
    def passed_over(self) -> int:
        return self._broken + self._growing.too_long

    @property
    def left(self) -> ReadPosition:
        mark = self._growing.mark
        if mark == self._left.mark:
            return self._left
        state = {"reader": self._reader.state}
        return ReadPosition(path=self._path, device=self._device, inode=self._inode, mark=mark, state=state)

    def __iter__(self) -> Iterator[Sequence[Said]]:
        for number, line in self._growing:
            yield self._understood(number, line)

    def _understood(self, number: int, line: bytes) -> Sequence[Said]:
        """What the line says; nothing, and a word in the log, if the reader does not withstand it."""
        said: list[Said] = []
        error = failure_of(lambda: said.extend(self._reader.read(number, line)))
        if isinstance(error, MemoryError):
            raise error  # not the line's fault: it is read another time
        if error is not None:
            self._broken += 1
            logger.warning("%s, line %d, is passed over: %s", self._path, number, reason(error))
        return [] if error else said


def _left_off(path: str, file: BinaryIO, known: Sequence[ReadPosition]) -> ReadPosition | None:
    """Known by its identity, then by its path, then by its first line; only if it has merely grown since."""
    here, first = identity(file), first_print(file)
    for same in (
        [left for left in known if (left.device, left.inode) == here],
        [left for left in known if left.path == path],
        [left for left in known if first and left.mark.first == first],
    ):
        for left in same:
            if still_true(left.mark, file):
                return left
    return None


def identity(file: BinaryIO) -> tuple[int, int]:
    """What stays the same when a file is renamed: its device and its inode."""
    status = os.fstat(file.fileno())
    return status.st_dev, status.st_ino


def first_print(file: BinaryIO) -> str:
    """The print of the first line; empty while it is not whole."""
    file.seek(0)
    beginning = file.read(PROBE)
    end = beginning.find(b"\n")
    if end < 0 and len(beginning) < PROBE:
        return ""
    return _print(beginning if end < 0 else beginning[:end])


def still_true(mark: Watermark, file: BinaryIO) -> bool:
    """Whether the file is the one that was read so far, perhaps longer: not cut, not written anew."""
    if not mark.offset:
        return True
    if file.seek(0, os.SEEK_END) < mark.offset or first_print(file) != mark.first:
        return False
    return _print_before(mark.offset, file) == mark.last


class Growing:
    """The whole lines behind a mark, with their numbers. One without an end is left for the next time."""

    def __init__(self, file: BinaryIO, mark: Watermark = BEGINNING) -> None:
        self._file = file
        self._mark = mark
        self._first = mark.first or first_print(file)
        self._offset = mark.offset
        self._lines = mark.lines
        self.too_long = 0
        """Lines of more than LONGEST_LINE bytes that were passed over."""

    @property
    def mark(self) -> Watermark:
        """How far the file is read, with the line that came last."""
        if self._lines == self._mark.lines:
            return self._mark
        position = self._file.tell()
        last = _print_before(self._offset, self._file)
        self._file.seek(position)
        return Watermark(offset=self._offset, lines=self._lines, first=self._first, last=last)

    def __iter__(self) -> Iterator[tuple[int, bytes]]:
        while True:
            self._file.seek(self._offset)
            for line in iter(lambda: self._file.readline(LONGEST_LINE), b""):
                if not line.endswith(b"\n"):
                    break
                self._count(len(line))
                yield self._lines, line.rstrip(b"\r\n")
            if not self._passed_over():
                return
            yield self._lines, b""

    def _passed_over(self) -> bool:
        """Whether what comes next is a line that is too long, and has an end."""
        self._file.seek(self._offset)
        length = 0
        for part in iter(lambda: self._file.readline(LONGEST_LINE), b""):
            length += len(part)
            if part.endswith(b"\n"):
                self._count(length)
                self.too_long += 1
                return True
        return False

    def _count(self, length: int) -> None:
        self._offset += length
        self._lines += 1


def _print_before(offset: int, file: BinaryIO) -> str:
    file.seek(max(0, offset - TAIL))
    return _print(file.read(min(TAIL, offset)))


def _print(data: bytes) -> str:
    return blake2b(data, digest_size=12).hexdigest()
