"""compressed: a transcript that its writer packed to save room, read as if it had never been packed."""

import errno
import io
import os
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from lore.errors import Unavailable
from lore.transcripts.foreign import open_regular

SUFFIX = ".zst"
MODULES = ("compression.zstd", "backports.zstd")
"""The same module: part of Python from 3.14 on, a package before."""
KEPT = 1 << 20
"""So much of what was unpacked last is kept: who looks back a little need not begin anew."""
CHUNK = 1 << 18


class Stream(Protocol):
    """Gives what was packed, some bytes at a time; none at its end."""

    def read1(self, size: int, /) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Packing:
    """How to unpack a file from its beginning, and what is raised where it is damaged."""

    unpack: Callable[[BinaryIO], Stream]
    damage: tuple[type[Exception], ...]


def opened(path: Path) -> BinaryIO:
    """A transcript, packed or not. Raises OSError, or Unavailable if nothing here can unpack it."""
    packing = zstd() if path.suffix == SUFFIX else None
    file = open_regular(path)
    return unpacked(file, packing) if packing else file


def zstd() -> Packing:
    """Zstandard, if this Python knows it."""
    for name in MODULES:
        try:
            module = import_module(name)
        except ModuleNotFoundError:
            continue
        return Packing(module.ZstdFile, (module.ZstdError, EOFError))
    raise Unavailable(f"nothing here can read files that end with {SUFFIX}; pip install backports.zstd")


def unpacked(file: BinaryIO, packing: Packing) -> BinaryIO:
    """What a packed file holds, with the identity of the file itself; up to where it is damaged, if it is."""
    return io.BufferedReader(_Unpacked(file, packing), CHUNK)


class _Unpacked(io.RawIOBase):
    """A file that is unpacked on the way. To go far back is to begin anew, but for the very first bytes.

    at: where it is read next. end: how much was unpacked so far, of which the first and the last is kept.
    """

    def __init__(self, file: BinaryIO, packing: Packing) -> None:
        self._file = file
        self._packing = packing
        self._at = 0
        self._first = b""
        self._begin()

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._file.fileno()

    def close(self) -> None:
        self._file.close()
        super().close()

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        while whence == os.SEEK_END and not self._done:
            self._unpack()
        at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._end}[whence]
        if at < 0:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        self._at = at
        return at

    def readinto(self, buffer: Any) -> int:
        piece = self._piece(len(buffer))
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def _piece(self, size: int) -> bytes | bytearray:
        """What comes next, as far as it is at hand; empty at the end."""
        if self._at < self._end - len(self._kept):
            if self._at < len(self._first):
                return self._first[self._at : self._at + size]
            self._begin()
        while self._at >= self._end and not self._done:
            self._unpack()
        start = self._at - (self._end - len(self._kept))
        return self._kept[start : start + size]

    def _begin(self) -> None:
        self._file.seek(0)
        self._stream = self._packing.unpack(self._file)
        self._kept = bytearray()
        self._end = 0
        self._done = False

    def _unpack(self) -> None:
        try:
            data = self._stream.read1(CHUNK)
        except self._packing.damage:
            data = b""
        self._done = not data
        if self._end == len(self._first) < CHUNK:
            self._first += data
        self._end += len(data)
        self._kept += data
        if len(self._kept) > 2 * KEPT:
            del self._kept[:-KEPT]
