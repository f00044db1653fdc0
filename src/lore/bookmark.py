"""Bookmark: the position up to which a transcript has been read, from the reader to the row in the store."""

import json
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any

TEXTS = frozenset({"text", "full", "reasoning"})
"""Keys of a reader's state whose values are texts of the conversation."""
CALLS = frozenset({"calls", "answered"})
"""Keys of calls of tools; a list among them is a name and then texts."""


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


def state_without_texts(state: str, sessions: Set[str], gone: Set[str]) -> str:
    """The JSON of a state without what was said, if it is about one of these sessions; else as it is.

    gone: ids of turns that nothing can follow any more. Names, numbers and hashes stay, so that reading goes
    on behind the last line; a call that waits for its result has only its name then.
    """
    document = json.loads(state)
    if not any(json.dumps(session, ensure_ascii=False) in state for session in sessions):
        return state
    last = [(session, (id, "")) for session, (id, _) in document.get("last", ()) if id not in gone]
    return json.dumps({**_blank(document), "last": last}, ensure_ascii=False)


def _blank(value: Any, key: str = "", inside: str = "") -> Any:
    """The value without texts. key, inside: of the mappings that hold it."""
    if isinstance(value, dict):
        return {name: _blank(one, name, key) for name, one in value.items()}
    if isinstance(value, list) and inside in CALLS:
        return [*value[:1], *("" for _ in value[1:])]
    return "" if isinstance(value, str) and key in TEXTS else value
