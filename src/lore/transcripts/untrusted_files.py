"""Files that other programs write, in a repository or a client's folder: found and opened safely.

Git clones links as they are, so any name in a repository may lead to a device. Only regular files are opened,
without blocking, and settings files are read up to a limit.
"""

import errno
import os
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO

LONGEST_PATH = 4096
"""Characters of a path (PATH_MAX on Linux, more than on macOS); the system opens nothing longer."""
SMALL_BYTES = 1 << 20
"""Limit for a settings file of a repository or a client."""
NEVER_BLOCK = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
ANY_DEPTH = "**"
DEEPEST = 40
"""Levels of nested folders that are searched; no client nests as deeply."""


def printable(path: str | Path) -> str:
    """The path as text that can be stored and shown, even if its bytes are not valid text."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


# --- opening


def check_regular(path: Path) -> None:
    """Raise OSError unless the path leads to a regular file; a device is not even opened."""
    try:
        mode = os.stat(path).st_mode
    except ValueError as error:  # a NUL or an unpaired surrogate
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


def read_bytes(path: Path, limit: int = SMALL_BYTES) -> bytes:
    """The content of a regular file; OSError if it is anything else or has more than `limit` bytes."""
    with open_regular(path) as file:
        data = file.read(limit + 1) or b""  # None: a kernel file without data at present
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"more than {limit:,} bytes", str(path))
    return data


def read_text(path: Path, limit: int = SMALL_BYTES) -> str:
    """The text of a regular file; OSError as `read_bytes` has it."""
    return read_bytes(path, limit).decode("utf-8", "replace")


def _refuse_irregular(mode: int, path: Path) -> None:
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "not a regular file", str(path))


# --- finding


def find_files(folder: Path, pattern: str, problems: dict[str, str]) -> Iterator[Path]:
    """Regular files whose path below `folder` matches; `*` is part of a name, `**` any number of folders.

    problems: receives the path of each file and folder that cannot be accessed, with the reason.
    """
    yield from _below(str(folder), pattern.split("/"), 0, problems)


def _below(folder: str, parts: list[str], depth: int, problems: dict[str, str]) -> Iterator[Path]:
    name, *rest = parts
    if depth > DEEPEST:
        problems[printable(folder)] = f"lies more than {DEEPEST} folders deep and is passed over"
    elif name == ANY_DEPTH:
        yield from _below(folder, rest, depth, problems)
        for entry in _entries(folder, problems):
            if entry.is_dir(follow_symlinks=False):  # a link may lead back to a folder above
                yield from _below(entry.path, parts, depth + 1, problems)
    else:
        paths = [os.path.join(folder, name)]
        if "*" in name:
            paths = [entry.path for entry in _entries(folder, problems) if fnmatchcase(entry.name, name)]
        for path in paths:
            if not rest:
                yield from [Path(path)] if _is_regular(path, problems) else []
            elif "*" not in name or os.path.isdir(path):
                yield from _below(path, rest, depth + 1, problems)


def _entries(folder: str, problems: dict[str, str]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        problems[printable(folder)] = f"cannot be looked into: {error.strerror}"
        return []


def _is_regular(path: str, problems: dict[str, str]) -> bool:
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        problems[printable(path)] = f"cannot be looked at: {error.strerror}"
        return False
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        problems[printable(path)] = "is not a regular file and is passed over"
    return stat.S_ISREG(mode)
