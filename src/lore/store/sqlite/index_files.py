"""Index files: vector indexes on disk, in a folder beside the database. All of it may be deleted at any time.

`CodeFiles` keeps the codes of the built-in index from FROZEN_FROM vectors on. `EngineFiles` keeps the data of
another engine, with a note how far it has followed the rows. An index on disk that is damaged, or belongs to
other rows, is made again from the rows.
"""

import json
import logging
import os
import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from lore.durable import OWNER_FILE, make_folder, write_durably
from lore.filelock import acquired, is_held
from lore.model import new_id
from lore.store.index import BUILTIN, DamagedIndex, VectorIndex, open_index
from lore.store.index.codes import CodeIndex
from lore.store.index.frozen import Frozen, Header, freeze, header_of, open_frozen
from lore.store.sqlite.vector_rows import VectorRows

FROZEN_FROM = 20_000
"""Fewer vectors are read from the rows in less than a tenth of a second."""
GROWN_SHARE = 8
"""A file is made again when its vectors have grown by one in GROWN_SHARE, at least by FROZEN_FROM."""
FITTED_TO = 4_096
COMPARED = 64
"""Vectors that are compared with their rows before an index on disk is used."""
MOST_DIFFERENT = 0.1
"""The share of numbers whose code may differ by one level: processors round differently."""
STATE_FIELDS = frozenset({"origin", "dimension", "seq", "data"})

logger = logging.getLogger(__name__)

Progress = Callable[[int, int], None]
"""Called with the number of vectors done, and of all."""


def quietly(done: int, total: int) -> None:
    """Report no progress."""


def folder_of(database: Path) -> Path:
    """The folder of the vector indexes of a database."""
    return database.with_name(database.name + ".index")


class IndexFiles(Protocol):
    """The index of one tenant on disk."""

    def open(self, model: str, dimension: int, progress: Progress = quietly) -> tuple[VectorIndex, int]:
        """The index as far as it is on disk, and the number of the feed that it has reached."""

    def advance(self, index: VectorIndex, seq: int) -> None:
        """The index has followed the feed up to a number."""

    def refresh(self, model: str, dimension: int) -> None:
        """Write to disk what a later process would have to read from the rows, if it is much."""

    def newer(self, index: VectorIndex) -> bool:
        """Whether another index should be opened in place of this one."""

    def check(self) -> str:
        """What is wrong with the index on disk, compared with the rows; empty: nothing."""

    def remove(self) -> bool:
        """Delete what is on disk; False if another process uses it."""

    def close(self) -> None:
        """Let go of everything on disk."""


class CodeFiles:
    """One file of codes, which all processes map."""

    def __init__(self, rows: VectorRows, folder: Path) -> None:
        self._rows = rows
        self._path = folder / f"{BUILTIN}-{rows.tenant}.codes"

    def open(self, model: str, dimension: int, progress: Progress = quietly) -> tuple[VectorIndex, int]:
        frozen = self._valid(model, dimension)
        if frozen is None and self._rows.count(model) >= FROZEN_FROM:
            frozen = self._write(model, dimension, progress)
        return CodeIndex(dimension, frozen=frozen), 0 if frozen is None else frozen.header.seq

    def advance(self, index: VectorIndex, seq: int) -> None:
        """The file is written as a whole, by `refresh`."""

    def refresh(self, model: str, dimension: int) -> None:
        frozen = open_frozen(self._path, self._rows.origin(model), dimension)
        seq, count = (0, 0) if frozen is None else (frozen.header.seq, len(frozen))
        if self._rows.last_seq() - seq < max(FROZEN_FROM, count // GROWN_SHARE):
            return
        with suppress(OSError):
            make_folder(self._path.parent)
            lock = os.open(self._path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, OWNER_FILE)
            try:
                if acquired(lock):
                    self._write(model, dimension, quietly)
            finally:
                os.close(lock)

    def newer(self, index: VectorIndex) -> bool:
        if not isinstance(index, CodeIndex) or index.in_memory < FROZEN_FROM // 2:
            return False
        try:
            status = self._path.stat()
        except OSError:
            return False
        return index.frozen is None or status.st_ino != index.frozen.inode

    def _valid(self, model: str, dimension: int) -> Frozen | None:
        """The file, if it is whole and holds the vectors of these rows."""
        frozen = open_frozen(self._path, self._rows.origin(model), dimension)
        if frozen is None:
            return None
        wrong = self._difference(frozen, model)
        if wrong:
            logger.warning("%s is made again: %s", self._path, wrong)
        return None if wrong else frozen

    def _difference(self, frozen: Frozen, model: str) -> str:
        """How a file differs from the rows; empty if nothing is seen."""
        header = frozen.header
        if header.seq > self._rows.last_seq():
            return "it is newer than the store"
        count = len(frozen)
        slots = np.unique(np.concatenate([
            np.linspace(0, count - 1, min(count, COMPARED)).astype(np.intp),
            np.arange(max(0, count - COMPARED), count),
        ]))  # fmt: skip
        aliases, vectors = self._rows.some(model, header.dimension, frozen.aliases[slots], header.seq)
        places, found = frozen.places(aliases)
        if not found.all():
            return "its aliases are out of order"
        codes = frozen.codes_at(places)
        different = (codes != frozen.codec.codes(vectors)).mean(axis=1)
        wrong = int(np.count_nonzero(different > MOST_DIFFERENT))
        return f"{wrong} of {len(aliases)} codes are not those of their rows" if wrong else ""

    def _write(self, model: str, dimension: int, progress: Progress) -> Frozen | None:
        """The file, made from the rows; None if it cannot be written."""
        rows = self._rows
        header = Header(rows.origin(model), dimension, count=0, seq=rows.last_seq())
        total = rows.count(model)
        logged = _Logged(total, progress)
        _, sample = rows.spread(model, dimension, FITTED_TO)
        if len(sample) < COMPARED:
            sample = next((vectors for _, vectors in rows.all(model, dimension)), sample)
        try:
            make_folder(self._path.parent)
            return freeze(self._path, header, sample, rows.all(model, dimension), logged)
        except OSError as error:
            logger.warning("the vector index stays in memory: %s cannot be written: %s", self._path, error)
            return None

    def check(self) -> str:
        header = header_of(self._path)
        if header is None:
            return "its header is damaged" if self._path.exists() else ""
        model = header.origin.split(" ", 2)[-1]
        frozen = open_frozen(self._path, self._rows.origin(model), header.dimension)
        if frozen is None:
            return "it belongs to another store"
        return self._difference(frozen, model) or frozen.damage()

    def remove(self) -> bool:
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        return True

    def close(self) -> None:
        """Nothing is held: a mapped file goes with its index."""


class MemoryFiles:
    """No file at all: vectors tell of their texts, so the index of an encrypted store stays in memory."""

    def open(self, model: str, dimension: int, progress: Progress = quietly) -> tuple[VectorIndex, int]:
        return CodeIndex(dimension), 0

    def advance(self, index: VectorIndex, seq: int) -> None:
        """Nothing to write."""

    def refresh(self, model: str, dimension: int) -> None:
        """Nothing to write."""

    def newer(self, index: VectorIndex) -> bool:
        return False

    def check(self) -> str:
        return ""

    def remove(self) -> bool:
        return True

    def close(self) -> None:
        """Nothing is held."""


class EngineFiles:
    """The data of another engine, in a folder that one process at a time uses; others have theirs in memory.

    The folder of the data has a new name whenever it is made again: an engine may remember the old one.
    """

    def __init__(self, name: str, rows: VectorRows, folder: Path) -> None:
        self._name, self._rows = name, rows
        self._folder = folder / f"{name}-{rows.tenant}"
        self._note = self._folder / "state.json"
        self._lock: int | None = None
        self._state: dict[str, Any] = {}

    def open(self, model: str, dimension: int, progress: Progress = quietly) -> tuple[VectorIndex, int]:
        if not self._locked():
            return open_index(self._name, dimension), 0
        state, origin = self._read(), self._rows.origin(model)
        if (state.get("origin"), state.get("dimension")) == (origin, dimension):
            try:
                index = open_index(self._name, dimension, self._folder / state["data"])
                if not (wrong := self._difference(index, model, state["seq"])):
                    self._state = state
                    return index, state["seq"]
            except DamagedIndex as error:
                wrong = str(error)
            logger.warning("the index %s is made again: %s", self._folder, wrong)
        self._state = {"origin": origin, "dimension": dimension, "seq": 0, "data": new_id(time.time())}
        self._remove_data()
        make_folder(self._folder / self._state["data"])
        return open_index(self._name, dimension, self._folder / self._state["data"]), 0

    def advance(self, index: VectorIndex, seq: int) -> None:
        if self._lock is not None and seq != self._state.get("seq"):
            self._state["seq"] = seq
            with suppress(OSError):  # then the rest is read again
                write_durably(self._note, json.dumps(self._state))

    def refresh(self, model: str, dimension: int) -> None:
        """All is on disk as soon as it is put."""

    def newer(self, index: VectorIndex) -> bool:
        return False

    def _locked(self) -> bool:
        """Whether this process may use the folder."""
        if self._lock is None:
            with suppress(OSError):
                make_folder(self._folder)
                lock = os.open(self._folder / "lock", os.O_RDWR | os.O_CREAT, OWNER_FILE)
                if acquired(lock):
                    self._lock = lock
                else:
                    os.close(lock)
        return self._lock is not None

    def _read(self) -> dict[str, Any]:
        try:
            state = json.loads(self._note.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return state if isinstance(state, dict) and state.keys() >= STATE_FIELDS else {}

    def _difference(self, index: VectorIndex, model: str, seq: int) -> str:
        """How the index differs from the rows; empty if nothing is seen."""
        if seq > self._rows.last_seq():
            return "it is newer than the store"
        if (found := len(index)) < (wanted := self._rows.count(model, seq)):
            return f"it has {found:,} of {wanted:,} vectors"
        return ""

    def check(self) -> str:
        state = self._read()
        if not state:
            return ""
        if not self._locked():
            return ""  # another process uses it, and has compared it
        model = state["origin"].split(" ", 2)[-1]
        if state["origin"] != self._rows.origin(model):
            return "it belongs to another store"
        try:
            index = open_index(self._name, state["dimension"], self._folder / state["data"])
            return self._difference(index, model, state["seq"]) or self._lost(index, model, state)
        except DamagedIndex as error:
            return str(error)

    def _lost(self, index: VectorIndex, model: str, state: dict[str, Any]) -> str:
        """Some vectors are searched for."""
        aliases, vectors = self._rows.spread(model, state["dimension"], COMPARED, state["seq"])
        lost = sum(
            index.nearest(vector, 1, np.array([alias])).tolist() != [alias]
            for alias, vector in zip(aliases.tolist(), vectors, strict=True)
        )
        return f"{lost} of {len(aliases)} vectors are not found" if lost else ""

    def remove(self) -> bool:
        if locked := self._locked():
            self._remove_data()
        return locked

    def _remove_data(self) -> None:
        for old in self._folder.iterdir():
            if old.is_dir():
                shutil.rmtree(old, ignore_errors=True)
        self._note.unlink(missing_ok=True)

    def close(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def open_files(name: str, rows: VectorRows, database: Path | None) -> IndexFiles:
    """The files of an index by its name; without a database, none."""
    if database is None:
        return MemoryFiles()
    folder = folder_of(database)
    return CodeFiles(rows, folder) if name == BUILTIN else EngineFiles(name, rows, folder)


def describe(name: str, database: Path) -> str:
    """The index on disk in a few words: its size, or how far it is built."""
    folder = folder_of(database)
    files = [path for path in folder.rglob("*") if path.is_file()] if folder.is_dir() else []
    partial = sum(size_of(path) for path in files if path.suffix == ".partial")
    if partial:
        return f"{name}, is being built ({partial / 1e6:,.0f} MB so far)"
    size = sum(size_of(path) for path in files if path.relative_to(folder).parts[0].startswith(f"{name}-"))
    return f"{name}, {size / 1e6:,.1f} MB on disk" if size else f"{name}, in memory"


def size_of(path: Path) -> int:
    """The size of a file; 0 if it is gone."""
    try:
        return path.stat().st_size
    except OSError:
        return 0


def remove_files(database: Path, keep: str = "") -> None:
    """Delete all indexes on disk that no other process holds. keep: not those of this name."""
    folder = folder_of(database)
    for path in list(folder.iterdir()) if folder.is_dir() else ():
        if keep and path.name.startswith(f"{keep}-"):
            continue
        if path.is_dir():
            if not is_held(str(path / "lock")):
                shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                path.unlink()


class _Logged:
    """Reports progress to a caller and, every tenth, to the log."""

    def __init__(self, total: int, progress: Progress) -> None:
        self._total, self._progress, self._tenths = total, progress, 0

    def __call__(self, done: int) -> None:
        self._progress(done, max(done, self._total))
        tenths = 10 * done // max(1, self._total)
        if tenths > self._tenths:
            self._tenths = tenths
            logger.info("vector index: %s of %s", f"{done:,}", f"{self._total:,}")
