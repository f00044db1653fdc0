"""ignoring: what shall not be remembered. A list for all projects, and a file in a project for itself."""

from collections.abc import Iterable
from fnmatch import fnmatchcase
from pathlib import Path

FILE = ".loreignore"
EVERYTHING = "*"


class Ignoring:
    """Whether what was said in a folder is left out.

    patterns: one for each line of the list; a folder stands for all below it, `*` and `?` for anything, `~`
    for home, # begins a comment. A `.loreignore` in a folder speaks in the same way of what is below that
    folder; an empty one leaves out all of it.
    """

    def __init__(self, patterns: Iterable[str], home: Path) -> None:
        self._patterns = [_absolute(pattern, home, Path("/")) for pattern in _meant(patterns)]
        self._home = home
        self._known: dict[str, bool] = {}

    def __call__(self, folder: str) -> bool:
        if not folder:
            return False
        if folder not in self._known:
            self._known[folder] = _listed(folder, self._patterns) or self._left_out_by_itself(folder)
        return self._known[folder]

    def _left_out_by_itself(self, folder: str) -> bool:
        place = Path(folder)
        return any(_listed(folder, self._of(parent)) for parent in (place, *place.parents))

    def _of(self, folder: Path) -> list[str]:
        """What the file in this folder leaves out."""
        lines = _lines(folder / FILE)
        if lines is None:
            return []
        return [_absolute(pattern, self._home, folder) for pattern in list(_meant(lines)) or [EVERYTHING]]


def ignoring(list_file: Path, home: Path) -> Ignoring:
    """With the list in this file, if there is one."""
    return Ignoring(_lines(list_file) or [], home)


def _lines(file: Path) -> list[str] | None:
    try:
        return file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return None


def _meant(lines: Iterable[str]) -> Iterable[str]:
    return (line.strip() for line in lines if line.strip() and not line.strip().startswith("#"))


def _absolute(pattern: str, home: Path, folder: Path) -> str:
    if pattern == EVERYTHING:
        return str(folder)
    if pattern == "~" or pattern.startswith("~/"):
        return str(home / pattern[2:]).rstrip("/")
    return str(folder / pattern).rstrip("/")


def _listed(folder: str, patterns: Iterable[str]) -> bool:
    """A folder, or one above it."""
    places = [str(place) for place in (Path(folder), *Path(folder).parents)]
    return any(fnmatchcase(place, pattern) for pattern in patterns for place in places)
