"""Cost of a piece of work, measured in its own process; and a progress bar."""

import multiprocessing
import re
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

Result = TypeVar("Result")
WIDTH = 30


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds by the wall and of the processor; the most memory, and what there was before the work."""

    seconds: float
    cpu_seconds: float
    peak_mb: float
    before_mb: float


def measured(work: Callable[..., Result], *arguments: Any, here: bool = False) -> tuple[Result, Cost]:
    """The result of `work` in a fresh process, and its cost. here: in this process, whose peak of memory
    says nothing of the work."""
    if here:
        return _cost(work, arguments)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        return pool.submit(_cost, work, arguments).result()


def _cost(work: Callable[..., Result], arguments: tuple[Any, ...]) -> tuple[Result, Cost]:
    before = _status("VmRSS")
    cpu, wall = time.process_time(), time.perf_counter()
    result = work(*arguments)
    seconds, cpu_seconds = time.perf_counter() - wall, time.process_time() - cpu
    return result, Cost(seconds, cpu_seconds, _status("VmHWM"), before)


def _status(name: str) -> float:
    """Of this process, in MB. The kernel's own peak of a process begins with that of its parent."""
    found = re.search(rf"{name}:\s+(\d+)", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


class Bar:
    """How far a long work is, on standard error; drawn as it grows where somebody watches."""

    def __init__(self, label: str, total: int) -> None:
        self._label, self._total, self._shown = label, total, -1

    def at(self, done: int) -> None:
        filled = WIDTH * done // max(1, self._total)
        if done < self._total and (filled == self._shown or not sys.stderr.isatty()):
            return
        self._shown = filled
        end = "\n" if done >= self._total else ""
        line = f"\r{self._label:<28} [{'#' * filled:<{WIDTH}}] {done:,} of {self._total:,}"
        print(line, end=end, file=sys.stderr, flush=True)
