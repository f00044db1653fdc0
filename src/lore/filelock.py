"""File locks: the system releases them when their process ends, however it ends."""

import os
from importlib import import_module


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
