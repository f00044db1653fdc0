"""layer: SQLite's file layer, observed: it records every write and sync, and can make any call fail."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from lore.store.sqlite.file_state import SUFFIX

NAME = "observed"
BASE = apsw.vfs_names()[0]
"""The layer of this system, which does the work."""


@dataclass(frozen=True, slots=True)
class Record:
    """One change of a file. kind: write, truncate, sync, create, delete, or mark (a file that is not synced).

    size: the new length of a truncated file; of a deleted one, 1 if its folder is synced.
    """

    kind: str
    name: str
    offset: int = 0
    size: int = 0
    data: bytes = b""


class Layer(apsw.VFS):
    """The default layer of this process from now on. Files outside of `folder` are left alone.

    calls, kinds: how many calls there were since `watch`, and of which kind. before: is called with the kind
    and the number of each call, and may raise.
    """

    def __init__(self) -> None:
        super().__init__(NAME, BASE, makedefault=True, maxpathname=0)
        self.folder = ""
        self.records: list[Record] = []
        self.calls = 0
        self.kinds: list[str] = []
        self.before: Callable[[str, int], None] | None = None
        self._mark = b""

    def watch(self, folder: Path | None, before: Callable[[str, int], None] | None = None) -> None:
        """Begin anew with the files of one folder; None: look at nothing."""
        self.folder = f"{folder}/" if folder else ""
        self.records, self.calls, self.kinds, self._mark = [], 0, [], b""
        self.before = before

    def met(self, kind: str, path: str) -> bool:
        """Take note of a call; whether the file is one of ours."""
        if not self.folder or not path.startswith(self.folder):
            return False
        self.calls += 1
        self.kinds.append(kind)
        if self.before is not None:
            self.before(kind, self.calls)
        return True

    def record(self, kind: str, path: str, offset: int = 0, size: int = 0, data: bytes = b"") -> None:
        self._look_at_mark()
        self.records.append(Record(kind, path.removeprefix(self.folder), offset, size, data))

    def _look_at_mark(self) -> None:
        name = f"memory.db{SUFFIX}"
        try:
            with open(f"{self.folder}{name}", "rb") as file:
                mark = file.read()
        except FileNotFoundError:
            return
        if mark != self._mark:
            self._mark = mark
            self.records.append(Record("mark", name, data=mark))

    def xOpen(self, name: Any, flags: list[int]) -> "File":  # noqa: N802
        path = "" if name is None else name if isinstance(name, str) else name.filename()
        fresh = self.met("open", path) and not Path(path).exists()
        file = File(self, path, name, flags)
        if fresh:
            self.record("create", path)
        return file

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802
        ours = self.met("delete", filename)
        super().xDelete(filename, syncdir)
        if ours:
            self.record("delete", filename, size=int(syncdir))


class File(apsw.VFSFile):
    """One open file of the layer."""

    def __init__(self, layer: Layer, path: str, name: Any, flags: list[int]) -> None:
        self._layer, self._path = layer, path
        super().__init__(BASE, name, flags)

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        self._layer.met("read", self._path)
        return super().xRead(amount, offset)

    def xWrite(self, data: Any, offset: int) -> None:  # noqa: N802
        ours = self._layer.met("write", self._path)
        super().xWrite(data, offset)
        if ours:
            self._layer.record("write", self._path, offset, data=bytes(data))

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        ours = self._layer.met("truncate", self._path)
        super().xTruncate(newsize)
        if ours:
            self._layer.record("truncate", self._path, size=newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802
        ours = self._layer.met("sync", self._path)
        super().xSync(flags)
        if ours:
            self._layer.record("sync", self._path)
