"""Streams: files of an export, plain or compressed by gzip or Zstandard, read and written as bytes."""

import gzip
import os
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Literal, cast

from lore.durable import OWNER_FILE, sync_folder
from lore.errors import Unavailable
from lore.transcripts.untrusted_files import open_regular

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

Compression = Literal["", "gzip", "zstd"]
SUFFIXES: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}
MAGIC: dict[bytes, Compression] = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
DAMAGE = (zstd.ZstdError, EOFError, zlib.error, gzip.BadGzipFile)
"""Exceptions of a compressed file that was cut or altered."""
BEGINNING = 65_536


@contextmanager
def reading(path: Path) -> Iterator[BinaryIO]:
    """The content of a regular file, decompressed if it is compressed."""
    try:
        with ExitStack() as stack:
            file = stack.enter_context(open_regular(path))
            magic = file.read(4)
            file.seek(0)
            yield stack.enter_context(_decompressed(file, magic))
    except DAMAGE as error:
        raise Unavailable(f"{path} is cut or damaged: {error}") from error
    except OSError as error:
        raise Unavailable(f"{path} cannot be read: {error.strerror or error}") from error


def _decompressed(file: BinaryIO, magic: bytes) -> BinaryIO:
    compression = next((name for first, name in MAGIC.items() if magic.startswith(first)), "")
    if compression == "gzip":
        return cast(BinaryIO, gzip.GzipFile(fileobj=file))
    return cast(BinaryIO, zstd.ZstdFile(file)) if compression == "zstd" else file


def beginning(path: Path) -> bytes:
    """The first bytes of a file, decompressed."""
    with reading(path) as file:
        return file.read(BEGINNING)


@contextmanager
def writing(path: Path, compression: Compression) -> Iterator[BinaryIO]:
    """A file for its owner only that takes its name when the block ends; nothing is left if that fails."""
    partial = path.with_name(f"{path.name}.{os.getpid()}.partial")
    try:
        with open(os.open(partial, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, OWNER_FILE), "wb") as file:
            with compressed(file, compression) as target:
                yield target
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
        sync_folder(path.parent)
    except OSError as error:
        raise Unavailable(f"{path} cannot be written: {error.strerror or error}") from error
    finally:
        partial.unlink(missing_ok=True)


@contextmanager
def compressed(file: BinaryIO, compression: Compression) -> Iterator[BinaryIO]:
    """A stream whose bytes go to a file, compressed; the file itself stays open."""
    if compression == "gzip":
        with gzip.GzipFile(fileobj=file, mode="wb", filename="", compresslevel=6) as target:
            yield cast(BinaryIO, target)
    elif compression == "zstd":
        with zstd.ZstdFile(file, "w") as target:
            yield cast(BinaryIO, target)
    else:
        yield file
