"""release: let go of model, indexes and caches → give the freed memory, and idle code, back to the system."""

import ctypes
import gc
import re
import sys
from pathlib import Path

from lore.engine.embeddings import Embeddings
from lore.store import Store

MAPS = Path("/proc/self/maps")
LIBRARY = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) r-?-?x?p \S+ \S+ [1-9]\d* +/", re.MULTILINE)
"""What is mapped from a file and not writable: code and constants, which the system can read again."""
PAGE_OUT = 21
"""MADV_PAGEOUT: these pages are not needed now. Nothing is lost: the next access brings them back."""


def release(*, store: Store, sense: Embeddings) -> None:
    """Give back what can be loaded again; the next question loads it."""
    sense.release()
    store.release()
    gc.collect()
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if trim := getattr(libc, "malloc_trim", None):
            trim(0)
        _page_out(libc)


def _page_out(libc: ctypes.CDLL) -> None:
    """Code that is not running need not be in memory. A system that does not know the advice ignores it."""
    for low, high in LIBRARY.findall(MAPS.read_text()):
        start, end = int(low, 16), int(high, 16)
        libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), PAGE_OUT)
