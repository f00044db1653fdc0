"""Frozen codes: a compact copy of many vectors in a file that processes map into memory; disposable.

The file holds a header, then blocks of BLOCK vectors, then their aliases in ascending order. A block holds
the sign of each number about the centre, as words of 64 bits, and a code of BITS bits for each number. It is
written under another name, synced and renamed, and never changed. A process that has mapped a file keeps it
when another one takes its place.
"""

import json
import mmap
import os
import struct
import threading
import zlib
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from lore.durable import OWNER_FILE, sync_folder
from lore.store.index.signs import (
    BLOCK,
    Aliases,
    Slots,
    Words,
    few_differing,
    few_differing_in,
    scratch,
    side_words,
)
from lore.vectors import Vector, Vectors

MAGIC = b"lore codes 1\n"
BITS = 4
PER_BYTE = 8 // BITS
LEVELS = 1 << BITS
WIDEST = 2.5
"""Standard deviations from the centre at which a code ends."""
HEADER_BYTES = 1 << 16
_LENGTHS = struct.Struct("<II")
"""The length of the header's JSON and its checksum."""
SIFTED, SIFTED_PER_WANTED, SIFTED_SHARE = 4096, 10, 64
"""Vectors that the signs let through to be ranked by their codes: at least, for each that is wanted, and one
in this many."""
AT_ONCE = 1024
"""Codes multiplied at a time: they stay in the cache of the processor."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a file of codes holds. origin: which vectors (store, tenant, model). seq: the last number of
    their feed that is in it. step: the width of one level. checksum: of all behind the header."""

    origin: str
    dimension: int
    count: int
    seq: int
    step: float = 0.0
    checksum: int = 0


@dataclass(frozen=True, slots=True)
class Codec:
    """Vectors as codes: centre, and the width of one level."""

    centre: Vector
    step: float

    @classmethod
    def of(cls, sample: Vectors) -> "Codec":
        """Fitted to some of the vectors."""
        centre = sample.mean(axis=0, dtype=np.float64).astype(np.float32)
        spread = float((sample - centre).std()) or 1.0
        return cls(centre, 2 * WIDEST * spread / LEVELS)

    def codes(self, vectors: Vectors) -> npt.NDArray[np.uint8]:
        """(n, dimension / PER_BYTE): BITS bits for each number, the first number in the lowest bits."""
        levels = np.floor((vectors - self.centre) / np.float32(self.step)) + LEVELS // 2
        small = levels.clip(0, LEVELS - 1).astype(np.uint8)
        padded = np.pad(small, ((0, 0), (0, -small.shape[1] % PER_BYTE)))
        codes = np.zeros((len(padded), padded.shape[1] // PER_BYTE), np.uint8)
        for at in range(PER_BYTE):
            codes |= padded[:, at::PER_BYTE] << (BITS * at)
        return codes

    def words(self, vectors: Vectors) -> Words:
        """(words, n): the side of the centre on which each number lies."""
        return side_words(vectors >= self.centre)

    def products(self, codes: npt.NDArray[np.uint8], vector: Vector) -> Vector:
        """The product of each coded vector with `vector`, but for a constant.

        A byte is the level of one number plus LEVELS times that of the next: the bytes give the product of
        the latter and a share of the former, their lower halves the rest.
        """
        weights = np.pad(vector * np.float32(self.step), (0, -len(vector) % PER_BYTE))
        whole = weights[1::2] / LEVELS
        lower = weights[0::2] - whole
        products = np.empty(len(codes), np.float32)
        halves = scratch.array("halves", (AT_ONCE, codes.shape[1]), np.uint8)
        numbers = scratch.array("numbers of codes", halves.shape, np.float32)
        for start in range(0, len(codes), AT_ONCE):
            part = codes[start : start + AT_ONCE]
            size = len(part)
            numbers[:size] = part
            products[start : start + size] = numbers[:size] @ whole
            np.bitwise_and(part, LEVELS - 1, out=halves[:size])
            numbers[:size] = halves[:size]
            products[start : start + size] += numbers[:size] @ lower
        constant = float(self.centre @ vector) - (LEVELS / 2 - 0.5) * self.step * float(vector.sum())
        return products + np.float32(constant)


def _block_type(dimension: int) -> np.dtype[Any]:
    words, bytes_each = -(-dimension // 64), -(-dimension // PER_BYTE)
    return np.dtype([("words", "<u8", (words, BLOCK)), ("codes", "u1", (BLOCK, bytes_each))])


class Frozen:
    """A mapped file of codes. Many threads may search it."""

    def __init__(self, header: Header, codec: Codec, mapped: mmap.mmap, inode: int) -> None:
        self.header, self.codec, self.inode = header, codec, inode
        self._mapped = mapped
        block = _block_type(header.dimension)
        blocks = -(-header.count // BLOCK)
        self._blocks = np.frombuffer(mapped, block, blocks, HEADER_BYTES)
        self.aliases: Aliases = np.frombuffer(
            mapped, "<i8", header.count, HEADER_BYTES + blocks * block.itemsize
        )

    def __len__(self) -> int:
        return self.header.count

    def places(self, aliases: Aliases) -> tuple[Slots, npt.NDArray[np.bool_]]:
        """Where each alias is, and whether it is there."""
        slots = np.searchsorted(self.aliases, aliases)
        found = slots < len(self)
        found[found] = self.aliases[slots[found]] == aliases[found]
        return slots, found

    def sift(self, vector: Vector, limit: int, among: Slots | None = None) -> Slots:
        """The slots whose signs are nearest to those of the vector; more than `limit` of them."""
        count = len(self) if among is None else len(among)
        enough = max(SIFTED, SIFTED_PER_WANTED * limit, count // SIFTED_SHARE)
        if count <= enough:
            return np.arange(count) if among is None else among
        query = self.codec.words(vector[np.newaxis])[:, 0]
        if among is None:
            return few_differing_in((block["words"] for block in self._blocks), query, enough, count)
        words = self._blocks["words"][among // BLOCK, :, among % BLOCK].T
        return among[few_differing(np.ascontiguousarray(words), query, enough)]

    def products(self, slots: Slots, vector: Vector) -> Vector:
        """The approximate product of the vectors at these slots with `vector`."""
        return self.codec.products(self.codes_at(slots), vector)

    def damage(self) -> str:
        """What is wrong with the bytes of the file; empty: nothing. Reads all of it."""
        content = memoryview(self._mapped)[HEADER_BYTES:]
        return "" if zlib.crc32(content) == self.header.checksum else "its checksum is wrong"

    def codes_at(self, slots: Slots) -> npt.NDArray[np.uint8]:
        """The codes at these slots (ascending), one per row; they stay until this thread asks again."""
        blocks = self._blocks["codes"]
        codes = scratch.array("codes", (len(slots), blocks.shape[2]), np.uint8)
        bounds = np.searchsorted(slots, np.arange(len(blocks) + 1) * BLOCK)
        for number, (start, end) in enumerate(pairwise(bounds.tolist())):
            inside = slots[start:end] - number * BLOCK
            blocks[number].take(inside, axis=0, out=codes[start:end], mode="clip")
        return codes


def open_frozen(path: Path, origin: str, dimension: int) -> Frozen | None:
    """The file of codes at a path; None if there is none of this origin and dimension, or it is damaged."""
    if (mapped := _mapped(path)) is None:
        return None
    found = _read_header(mapped[0])
    if found is None or (found[0].origin, found[0].dimension) != (origin, dimension):
        return None
    return Frozen(*found, *mapped)


def header_of(path: Path) -> Header | None:
    """The header of a file of codes; None if there is none, or it is damaged."""
    if (mapped := _mapped(path)) is None or (found := _read_header(mapped[0])) is None:
        return None
    return found[0]


def _mapped(path: Path) -> tuple[mmap.mmap, int] | None:
    """A file in memory, and its inode."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ), status.st_ino
    except (OSError, ValueError):  # an empty file cannot be mapped
        return None


def _read_header(mapped: mmap.mmap) -> tuple[Header, Codec] | None:
    """None: the header or the size of the file is wrong."""
    beginning = mapped[:HEADER_BYTES]
    if len(beginning) < HEADER_BYTES or not beginning.startswith(MAGIC):
        return None
    length, checksum = _LENGTHS.unpack_from(beginning, len(MAGIC))
    start = len(MAGIC) + _LENGTHS.size
    if zlib.crc32(beginning[start:]) != checksum:
        return None
    header = Header(**json.loads(beginning[start : start + length]))
    centre = np.frombuffer(beginning, "<f4", header.dimension, start + length).astype(np.float32)
    blocks = -(-header.count // BLOCK)
    size = HEADER_BYTES + blocks * _block_type(header.dimension).itemsize + 8 * header.count
    return (header, Codec(centre, header.step)) if len(mapped) == size else None


Batch = tuple[Aliases, Vectors]


def freeze(
    path: Path, header: Header, sample: Vectors, batches: Iterable[Batch], progress: Callable[[int], None]
) -> Frozen | None:
    """Write the file of codes at a path and map it. OSError: nothing is changed.

    header: origin, dimension and seq. sample: of the vectors, to fit the codec to. batches: all vectors, in
    ascending order of their aliases. progress: called with the number of vectors written.
    """
    codec = Codec.of(sample)
    partial = path.with_name(f"{path.name}.{os.getpid()}.{threading.get_ident()}.partial")
    try:
        with open(os.open(partial, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, OWNER_FILE), "wb") as file:
            writer = _Writer(file, codec)
            for aliases, vectors in batches:
                writer.put(aliases, vectors)
                progress(writer.count)
            writer.end()
            counted = replace(header, count=writer.count, step=codec.step, checksum=writer.checksum)
            file.seek(0)
            file.write(_header_bytes(counted, codec))
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
        sync_folder(path.parent)
    finally:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
    return open_frozen(path, header.origin, header.dimension)


class _Writer:
    """Writes codes block by block, then the aliases; leaves room for the header."""

    def __init__(self, file: BinaryIO, codec: Codec) -> None:
        self._file, self._codec = file, codec
        self._block = np.zeros(1, _block_type(len(codec.centre)))[0]
        self._aliases: list[Aliases] = []
        self.count, self.checksum = 0, 0
        file.write(bytes(HEADER_BYTES))

    def put(self, aliases: Aliases, vectors: Vectors) -> None:
        self._aliases.append(aliases)
        words, codes = self._codec.words(vectors), self._codec.codes(vectors)
        start = 0
        while start < len(aliases):
            at = self.count % BLOCK
            size = min(BLOCK - at, len(aliases) - start)
            self._block["words"][:, at : at + size] = words[:, start : start + size]
            self._block["codes"][at : at + size] = codes[start : start + size]
            start, self.count = start + size, self.count + size
            if at + size == BLOCK:
                self._write(self._block.tobytes())

    def end(self) -> None:
        """Write the last block and the aliases."""
        if self.count % BLOCK:
            self._write(self._block.tobytes())
        for aliases in self._aliases:
            self._write(aliases.astype("<i8").tobytes())

    def _write(self, content: bytes) -> None:
        self._file.write(content)
        self.checksum = zlib.crc32(content, self.checksum)


def _header_bytes(header: Header, codec: Codec) -> bytes:
    text = json.dumps(asdict(header)).encode()
    room = HEADER_BYTES - len(MAGIC) - _LENGTHS.size
    content = (text + codec.centre.astype("<f4").tobytes()).ljust(room, b"\0")
    return MAGIC + _LENGTHS.pack(len(text), zlib.crc32(content)) + content
