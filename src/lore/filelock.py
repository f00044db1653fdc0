"""File locks: one holder among all processes. The system releases a lock when its process ends, however it
ends."""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

from lore.errors import Unavailable

POLL_SECONDS = 0.02


class Held(Unavailable):
    """Another process holds the lock."""


def acquired(file: int, *, shared: bool = False) -> bool:
    """Try to lock an open file, without waiting; False if another descriptor holds the lock."""
    try:
        if os.name == "nt":
            windows = import_module("msvcrt")
            windows.locking(file, windows.LK_NBLCK, 1)
        else:
            unix = import_module("fcntl")
            unix.flock(file, (unix.LOCK_SH if shared else unix.LOCK_EX) | unix.LOCK_NB)
    except OSError:
        return False
    return True


@contextmanager
def holding(path: str, patience: float) -> Iterator[int]:
    """Hold the lock of the file at `path`; yields its descriptor. Held if it is not free within `patience`
    s."""
    file = _wait_for_lock(path, patience)
    try:
        yield file
    finally:
        os.close(file)


def is_held(path: str) -> bool:
    """Whether any process holds the lock now. Leaves no file behind and delays nobody."""
    try:
        file = _open_existing(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise Unavailable(f"{path} cannot be opened: {error.strerror}") from error
    try:
        return not acquired(file, shared=True)
    finally:
        os.close(file)


def in_place(path: str, file: int) -> bool:
    """Whether the path still leads to this open file: it was neither removed nor replaced."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(file))
    except OSError:
        return False


def reacquired(path: str, file: int) -> bool:
    """Lock a file again that was removed, keeping the descriptor; False if another process holds the lock."""
    try:
        new = _open_or_create(path)
    except Unavailable:
        return True  # the disk is full or read-only, so no other process can hold it
    try:
        if not (acquired(new) and in_place(path, new)):
            return False
        os.dup2(new, file, inheritable=False)
        return True
    finally:
        os.close(new)


def _wait_for_lock(path: str, patience: float) -> int:
    """A lock on a removed file excludes nobody, so the file that took its place is locked instead."""
    until = time.monotonic() + patience
    while True:
        file = _open_or_create(path)
        if acquired(file) and in_place(path, file):
            return file
        os.close(file)
        if time.monotonic() > until:
            raise Held(f"{path} is held by another process")
        time.sleep(POLL_SECONDS)


def _open_or_create(path: str) -> int:
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise Unavailable(f"{path} cannot be opened: {error.strerror}") from error


def _open_existing(path: str) -> int:
    """Read-only where the file system is read-only: no process can hold the lock there for long."""
    try:
        return os.open(path, os.O_RDWR)
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        return os.open(path, os.O_RDONLY)
