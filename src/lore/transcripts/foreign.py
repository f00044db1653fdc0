"""foreign: read files that others write, in a repository or a client's folder, safely.

Git clones links as they are, so any name in a repository may lead to a device. Only regular files are opened,
without blocking, and settings files are read up to a limit.
"""

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

LONGEST_PATH = 4096
"""Characters of a path (PATH_MAX on Linux, more than macOS has); the system opens nothing longer."""
SMALL = 1 << 20
"""Bytes that a settings file of a repository or a client has at most."""
NEVER_BLOCK = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


def check_regular(path: Path) -> None:
    """Raise OSError unless the path leads to a regular file; a device is not even opened."""
    try:
        mode = os.stat(path).st_mode
    except ValueError as error:  # a NUL, or half of a character
        raise OSError(errno.EINVAL, "no possible file name", str(path)) from error
    _refuse_irregular(mode, path)


def open_regular(path: Path) -> BinaryIO:
    """Open a regular file for reading. OSError if it is anything else."""
    check_regular(path)
    file = open(os.open(path, os.O_RDONLY | NEVER_BLOCK), "rb")  # noqa: SIM115 (the caller closes it)
    try:
        _refuse_irregular(os.fstat(file.fileno()).st_mode, path)  # it may have been replaced in between
    except OSError:
        file.close()
        raise
    return file


def read_text(path: Path, limit: int = SMALL) -> str:
    """The text of a regular file; OSError if it is anything else or has more than `limit` bytes."""
    with open_regular(path) as file:
        data = file.read(limit + 1) or b""  # None: a file of the kernel's that has nothing to read now
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"more than {limit:,} bytes", str(path))
    return data.decode("utf-8", "replace")


def _refuse_irregular(mode: int, path: Path) -> None:
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))
