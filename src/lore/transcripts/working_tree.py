"""Working tree: the files of a repository as they are now, compared with those that memories cite.

Reads regular files inside the repository only, up to a size limit; links that lead out of it are not
followed.
"""

import hashlib
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import chain
from pathlib import Path

from lore.citations import FILES_LIMIT, Citation, Cited, State, files_in
from lore.transcripts import untrusted_files
from lore.transcripts.project import repository_of

FILE_BYTES = 1 << 20
"""Size of the largest file that is cited."""
READ_BYTES, READ_FILES = 2 << 20, 50
"""Bytes that one memory may cite and one search may read, and files that one search may read; the citations
beyond them are not recorded, and not marked."""
MOVED_LINES = 200
"""Cited lines that moved up or down by no more than this are found again."""
HASH_BYTES = 8
NEVER_READ = (
    ".env*", ".netrc", ".npmrc", "*.pem", "*.key", "*.p12", "*.pfx",
    "id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*",
)  # fmt: skip
"""Names of files that hold secrets: not even a hash of them is kept."""
SETTLED_NS = 2_000_000_000
"""Age of a change from which on time and size tell whether a file has changed again."""
MOST_KEPT = 10_000
"""Citations whose state is kept in memory."""
_states: dict[tuple[str, Citation], tuple[tuple[int, ...], State]] = {}


@dataclass(frozen=True, slots=True)
class WorkingTree:
    """The files of a repository. key: of its project. root: its folder. folder: where the caller is in it.

    Both folders are real paths.
    """

    key: str
    root: str
    folder: str

    def cite(self, texts: Iterable[str], until: float | None = None) -> Cited:
        """The files of this tree that the texts name, with the hashes of their content.

        until: the time when the texts were written, if it was earlier; a file that changed later has no hash.
        """
        room, files = READ_BYTES, dict[str, Citation]()
        for mention in {one.label: one for text in texts for one in files_in(text)}.values():
            citation, size = self._hashed(mention, until, room)
            if citation is not None and len(files) < FILES_LIMIT:
                files[citation.label] = citation
                room -= size
        return Cited(repository=self.key, files=tuple(files.values()))

    def states(self, citations: Iterable[Citation], limited: bool = True) -> dict[Citation, State]:
        """The states of these citations. limited: of no more than a search may read."""
        room, states = READ_BYTES, dict[Citation, State]()
        for citation in dict.fromkeys(citations):
            if limited and (room < 0 or len(states) == READ_FILES):
                break
            states[citation], size = self._state(citation)
            room -= size
        return states

    def path_of(self, name: str) -> str:
        """The path in this tree of a file that a text or a tool names; empty if there is no such file."""
        for start in (self.folder, self.root):
            path = self.relative(os.path.join(start, name))
            if path and os.path.isfile(os.path.join(self.root, path)):
                return path
        return ""

    def relative(self, path: str) -> str:
        """A path from the caller's folder as one from the root; empty if it leads out of the tree, to git's
        own files, or to a name that is no text."""
        try:
            real = os.path.realpath(os.path.join(self.folder, path))
            real.encode()
        except (OSError, ValueError):
            return ""
        if real != self.root and not real.startswith(self.root.rstrip(os.sep) + os.sep):
            return ""
        relative = os.path.relpath(real, self.root).replace(os.sep, "/")
        return "" if relative.partition("/")[0] == ".git" else relative

    def _hashed(self, mention: Citation, until: float | None, room: int) -> tuple[Citation | None, int]:
        """The citation of a file that a text names, and the number of bytes read.

        None if there is no such file, if it is not to be read, or has more than `room` bytes.
        """
        path = self.path_of(mention.path)
        if not path or any(fnmatchcase(path.rpartition("/")[2], name) for name in NEVER_READ):
            return None, 0
        real = os.path.join(self.root, path)
        try:
            status = os.stat(real)
            lines = _lines(real, min(room, FILE_BYTES))
        except OSError:
            return None, 0
        first, last = (0, 0) if mention.first > len(lines) else (mention.first, min(mention.last, len(lines)))
        later = until is not None and status.st_mtime > until
        content = _hash(lines[first - 1 : last] if first else lines)
        return Citation(path=path, first=first, last=last, hash="" if later else content), status.st_size

    def _state(self, citation: Citation) -> tuple[State, int]:
        """The state of a citation, and the number of bytes read."""
        path = self.relative(os.path.join(self.root, citation.path))
        if not path:
            return "gone", 0
        real = os.path.join(self.root, path)
        try:
            status = os.stat(real)
            stamp = (status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
            kept = _states.get((real, citation))
            if kept is not None and kept[0] == stamp:
                return kept[1], 0
            state: State = "fresh" if _is_fresh(citation, _lines(real)) else "changed"
        except (FileNotFoundError, NotADirectoryError):
            return "gone", 0
        except OSError:  # it is no regular file, too large, or not to be read
            return "changed", 0
        if time.time_ns() - status.st_mtime_ns > SETTLED_NS:
            if len(_states) >= MOST_KEPT:
                _states.clear()
            _states[real, citation] = stamp, state
        return state, status.st_size


def working_tree(folder: str) -> WorkingTree | None:
    """The working tree around a folder; None outside of any repository."""
    project = repository_of(folder)
    if project is None:
        return None
    places = (place for place in (Path(folder), *Path(folder).parents) if os.path.exists(place / ".git"))
    root = next(places, Path(folder))
    return WorkingTree(project.key, os.path.realpath(root), os.path.realpath(folder))


def _lines(path: str, limit: int = FILE_BYTES) -> list[bytes]:
    """The lines of a regular file, whatever ends them. OSError if it is anything else or too large."""
    data = untrusted_files.read_bytes(Path(path), limit)
    return data.replace(b"\r\n", b"\n").split(b"\n")


def _hash(lines: list[bytes]) -> str:
    return hashlib.blake2b(b"\n".join(lines), digest_size=HASH_BYTES).hexdigest()


def _is_fresh(citation: Citation, lines: list[bytes]) -> bool:
    """Whether the file has the cited content; lines may have moved."""
    if not citation.first:
        return _hash(lines) == citation.hash
    start, count = citation.first - 1, citation.last - citation.first + 1
    last = min(len(lines) - count, start + MOVED_LINES)
    nearby = range(max(0, start - MOVED_LINES), last + 1)
    places = chain([start] if start in nearby else [], nearby)
    return any(_hash(lines[at : at + count]) == citation.hash for at in places)
