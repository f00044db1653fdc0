"""finding: the files of a client below its folder; a folder that cannot be looked at hides only itself."""

import os
import stat
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

ANY_DEPTH = "**"
DEEPEST = 40
"""Folders below each other that are looked into; no client nests as deeply."""


def matching(place: Path, pattern: str, troubles: dict[str, str]) -> Iterator[Path]:
    """Regular files whose path below `place` matches; `*` is part of a name, `**` any number of folders.

    troubles: gets the path and the reason of everything that should be looked at and cannot be.
    """
    yield from _below(str(place), pattern.split("/"), 0, troubles)


def printable(path: str | Path) -> str:
    """The path as text that can be stored and shown, also where the name is no text."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def _below(folder: str, parts: list[str], depth: int, troubles: dict[str, str]) -> Iterator[Path]:
    name, *rest = parts
    if depth > DEEPEST:
        troubles[printable(folder)] = f"lies more than {DEEPEST} folders deep and is passed over"
    elif name == ANY_DEPTH:
        yield from _below(folder, rest, depth, troubles)
        for entry in _entries(folder, troubles):
            if entry.is_dir(follow_symlinks=False):  # a link may lead back to a folder above
                yield from _below(entry.path, parts, depth + 1, troubles)
    elif not rest:
        paths = [os.path.join(folder, name)] if "*" not in name else _named(folder, name, troubles)
        yield from (Path(path) for path in paths if _is_regular(path, troubles))
    elif "*" in name:
        for path in _named(folder, name, troubles):
            if os.path.isdir(path):
                yield from _below(path, rest, depth + 1, troubles)
    else:
        yield from _below(os.path.join(folder, name), rest, depth + 1, troubles)


def _named(folder: str, name: str, troubles: dict[str, str]) -> list[str]:
    return [entry.path for entry in _entries(folder, troubles) if fnmatchcase(entry.name, name)]


def _entries(folder: str, troubles: dict[str, str]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        troubles[printable(folder)] = f"cannot be looked into: {error.strerror}"
        return []


def _is_regular(path: str, troubles: dict[str, str]) -> bool:
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        troubles[printable(path)] = f"cannot be looked at: {error.strerror}"
        return False
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
        troubles[printable(path)] = "is not a regular file and is passed over"
    return stat.S_ISREG(mode)
