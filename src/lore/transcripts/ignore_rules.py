"""Ignore rules: folders whose conversations are not kept, from a global list and `.loreignore` files."""

import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from lore.environment import SCRATCH
from lore.errors import Unavailable
from lore.transcripts import untrusted_files

FILE = ".loreignore"
EVERYTHING = "*"
LIMIT_BYTES = 1 << 16
"""Limit for a `.loreignore`: each pattern costs time, and a repository may contain any file."""


class IgnoreRules:
    """Whether conversations in a folder are left out.

    patterns: one per line of the global list. A folder includes all folders below it, `*` and `?` are
    wildcards, `~` is the home directory, # begins a comment. A `.loreignore` has the same syntax for paths
    below its folder; an empty or unreadable one leaves out the whole folder. The folders in which Lore itself
    asks a client are left out in any case.
    """

    def __init__(self, patterns: Iterable[str], home: Path) -> None:
        self._home = home
        self._patterns = self._absolute(patterns, Path("/"))
        self._decided: dict[str, bool] = {}

    def __call__(self, folder: str) -> bool:
        if folder and folder not in self._decided:
            path = Path(folder[: untrusted_files.LONGEST_PATH])  # deeper folders have no file of their own
            paths = [path, *path.parents]
            patterns = [*self._patterns, *(pattern for each in paths for pattern in self._patterns_in(each))]
            names = [str(each) for each in paths]
            own = any(each.name.startswith(SCRATCH) for each in paths)
            matched = any(fnmatchcase(name, pattern) for pattern in patterns for name in names)
            self._decided[folder] = own or matched
        return bool(folder) and self._decided[folder]

    def _patterns_in(self, folder: Path) -> list[str]:
        """The patterns of the `.loreignore` in this folder."""
        try:
            lines = untrusted_files.read_text(folder / FILE, LIMIT_BYTES).splitlines()
        except OSError:
            if not os.path.lexists(folder / FILE):
                return []
            lines = []
        return self._absolute(lines, folder) or [str(folder)]

    def _absolute(self, lines: Iterable[str], folder: Path) -> list[str]:
        """The patterns in these lines as absolute paths."""
        patterns = [line.strip() for line in lines if line.strip() and not line.strip().startswith("#")]
        return [str(self._path(pattern, folder)).rstrip("/") or "/" for pattern in patterns]

    def _path(self, pattern: str, folder: Path) -> Path:
        if pattern == "~" or pattern.startswith("~/"):
            return self._home / pattern[2:]
        return folder if pattern == EVERYTHING else folder / pattern


def load(list_file: Path, home: Path) -> IgnoreRules:
    """The rules with the global list in this file, if it exists. Unavailable if it cannot be read."""
    if not os.path.lexists(list_file):
        return IgnoreRules([], home)
    try:
        return IgnoreRules(untrusted_files.read_text(list_file).splitlines(), home)
    except OSError as error:
        raise Unavailable(f"{list_file}, the list of what to leave out, is {error.strerror}") from error
