"""ignoring: what shall not be remembered. A list for all projects, and a file in a project for itself."""

import os
from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

from lore.errors import Unavailable
from lore.transcripts import foreign

FILE = ".loreignore"
EVERYTHING = "*"
LIMIT_BYTES = 1 << 16
"""Of a `.loreignore`: each of its patterns costs time, and a repository may hold any file."""


class Ignoring:
    """Whether what was said in a folder is left out.

    patterns: one for each line of the list; a folder stands for all below it, `*` and `?` for anything, `~`
    for home, # begins a comment. A `.loreignore` in a folder speaks in the same way of what is below that
    folder; an empty one leaves out all of it, and so does one that cannot be read.
    """

    def __init__(self, patterns: Iterable[str], home: Path) -> None:
        self._patterns = [_absolute(pattern, home, Path("/")) for pattern in _meant(patterns)]
        self._home = home
        self._known: dict[str, bool] = {}

    def __call__(self, folder: str) -> bool:
        if not folder:
            return False
        if folder not in self._known:
            self._known[folder] = self._left_out(folder)
        return self._known[folder]

    def _left_out(self, folder: str) -> bool:
        place = Path(folder[: foreign.LONGEST_PATH])  # what lies deeper has no file of its own
        places = [place, *place.parents]
        names = [str(each) for each in places]
        return _listed(names, self._patterns) or any(_listed(names, self._of(each)) for each in places)

    def _of(self, folder: Path) -> list[str]:
        """What the file in this folder leaves out."""
        try:
            lines = foreign.read_text(folder / FILE, LIMIT_BYTES).splitlines()
        except OSError:
            if not os.path.lexists(folder / FILE):
                return []
            lines = [EVERYTHING]
        return [_absolute(pattern, self._home, folder) for pattern in list(_meant(lines)) or [EVERYTHING]]


def ignoring(list_file: Path, home: Path) -> Ignoring:
    """With the list in this file, if there is one. Unavailable if it cannot be read."""
    if not os.path.lexists(list_file):
        return Ignoring([], home)
    try:
        return Ignoring(foreign.read_text(list_file).splitlines(), home)
    except OSError as error:
        raise Unavailable(f"{list_file}, the list of what to leave out, is {error.strerror}") from error


def _meant(lines: Iterable[str]) -> Iterable[str]:
    return (line.strip() for line in lines if line.strip() and not line.strip().startswith("#"))


def _absolute(pattern: str, home: Path, folder: Path) -> str:
    if pattern == EVERYTHING:
        return str(folder)
    if pattern == "~" or pattern.startswith("~/"):
        return str(home / pattern[2:]).rstrip("/")
    return str(folder / pattern).rstrip("/")


def _listed(places: Iterable[str], patterns: Iterable[str]) -> bool:
    """Whether a pattern names one of these: a folder and all above it."""
    return any(fnmatchcase(place, pattern) for pattern in patterns for place in places)
