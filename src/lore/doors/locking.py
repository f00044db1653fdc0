"""locking: one holder at a time among all processes; the system lets go of it for a process that dies."""

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager

from lore.errors import Unavailable
from lore.filelock import acquired

LOOK_EVERY_SECONDS = 0.02


class Held(Unavailable):
    """Somebody else holds it."""


@contextmanager
def holding(path: str, patience: float) -> Iterator[int]:
    """Hold the file's lock, by the descriptor that is given; Held if it is not free within `patience` s."""
    file = _locked(path, patience)
    try:
        yield file
    finally:
        os.close(file)


def _locked(path: str, patience: float) -> int:
    """A lock on a file that was removed meanwhile keeps nobody out, so the one in its place is locked."""
    until = time.monotonic() + patience
    while True:
        file = _opened(path)
        if acquired(file) and in_place(path, file):
            return file
        os.close(file)
        if time.monotonic() > until:
            raise Held(f"{path} is held by another process")
        time.sleep(LOOK_EVERY_SECONDS)


def _opened(path: str) -> int:
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise Unavailable(f"{path} cannot be opened: {error.strerror}") from error


@contextmanager
def still_holding(file: int) -> Iterator[int]:
    """Go on with a lock that this process held before it became another program."""
    os.set_inheritable(file, False)
    try:
        yield file
    finally:
        os.close(file)


def in_place(path: str, file: int) -> bool:
    """Whether the path still leads to this open file: nobody has removed or replaced it."""
    try:
        return os.path.samestat(os.stat(path), os.fstat(file))
    except OSError:
        return False


def retaken(path: str, file: int) -> bool:
    """Hold the lock again whose file was removed, by the same descriptor; False if another holds it."""
    try:
        new = _opened(path)
    except Unavailable:
        return True  # nobody can hold it: a full disk, or one that only lets us read
    try:
        if not (acquired(new) and in_place(path, new)):
            return False
        os.dup2(new, file, inheritable=False)
        return True
    finally:
        os.close(new)


def held(path: str) -> bool:
    """Whether anybody holds it now. To look leaves no file behind and is in nobody's way."""
    try:
        file = _opened_to_look(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise Unavailable(f"{path} cannot be opened: {error.strerror}") from error
    try:
        return not acquired(file, shared=True)
    finally:
        os.close(file)


def _opened_to_look(path: str) -> int:
    """For reading only where the file system is read-only: nobody can hold the lock there for long."""
    try:
        return os.open(path, os.O_RDWR)
    except OSError as error:
        if error.errno != errno.EROFS:
            raise
        return os.open(path, os.O_RDONLY)
