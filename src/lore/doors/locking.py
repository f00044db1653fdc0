"""locking: one holder at a time among all processes; the system lets go of it for a process that dies."""

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
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise Unavailable(f"{path} cannot be opened: {error.strerror}") from error
    try:
        until = time.monotonic() + patience
        while not acquired(file):
            if time.monotonic() > until:
                raise Held(f"{path} is held by another process")
            time.sleep(LOOK_EVERY_SECONDS)
        yield file
    finally:
        os.close(file)


@contextmanager
def still_holding(file: int) -> Iterator[int]:
    """Go on with a lock that this process held before it became another program."""
    os.set_inheritable(file, False)
    try:
        yield file
    finally:
        os.close(file)


def held(path: str) -> bool:
    """Whether anybody holds it now. To look leaves no file behind and is in nobody's way."""
    try:
        file = os.open(path, os.O_RDWR)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise Unavailable(f"{path} cannot be opened: {error.strerror}") from error
    try:
        return not acquired(file, shared=True)
    finally:
        os.close(file)
