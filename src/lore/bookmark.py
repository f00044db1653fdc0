"""Bookmark: the position up to which a transcript has been read, from the reader to the row in the store."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Bookmark:
    """The position up to which a transcript has been read.

    device, inode: identify the file when it is renamed. offset, lines: bytes and lines read so far; of a
    database, bytes and pieces. first, last: hashes of the first line and of the last bytes read; as long as
    both match, the file has only grown. state: JSON that the reader needs to continue. read_at: seconds
    since 1970.
    """

    path: str
    source: str = ""
    device: int = 0
    inode: int = 0
    offset: int = 0
    lines: int = 0
    first: str = ""
    last: str = ""
    state: Mapping[str, Any] = field(default_factory=dict)
    read_at: float = 0.0

    @property
    def file(self) -> tuple[int, int]:
        """Identifies the file, whatever its path is."""
        return self.device, self.inode

    def moved(self, there: "Bookmark") -> "Bookmark":
        """The same position in a file that now has the path and identity of another bookmark."""
        return replace(self, path=there.path, device=there.device, inode=there.inode)
