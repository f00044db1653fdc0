"""usage: memory (in megabytes) and processor time (in seconds) of processes."""

import os
from pathlib import Path
from typing import NamedTuple

KILOBYTES = 1024


class Taken(NamedTuple):
    """resident: all that is loaded. share: what is shared with others counts in part."""

    resident: float
    share: float

    def plus(self, other: "Taken") -> "Taken":
        return Taken(self.resident + other.resident, self.share + other.share)

    def times(self, factor: float) -> "Taken":
        return Taken(self.resident * factor, self.share * factor)


def taken(*pids: int) -> Taken:
    """By these processes and all that they have started; not by what has left them."""
    total = Taken(0.0, 0.0)
    for pid in _family(pids):
        total = total.plus(
            Taken(_field(f"/proc/{pid}/status", "VmRSS:"), _field(f"/proc/{pid}/smaps_rollup", "Pss:"))
        )
    return total


def spent(*pids: int) -> float:
    """Seconds of processor time of these processes and all that they have started."""
    ticks = sum(int(field) for pid in _family(pids) for field in _stat(pid)[11:13])
    return ticks / os.sysconf("SC_CLK_TCK")


def _family(pids: tuple[int, ...]) -> set[int]:
    parents = {int(name): _parent(int(name)) for name in os.listdir("/proc") if name.isdigit()}
    family = set(pids)
    while more := {pid for pid, parent in parents.items() if parent in family} - family:
        family |= more
    return family


def _parent(pid: int) -> int:
    """Its parent, unless it has a session of its own, as a daemon has."""
    fields = _stat(pid)
    return 0 if not fields or int(fields[3]) == pid else int(fields[1])


def _stat(pid: int) -> list[str]:
    """What the system counts, from the state on; nothing if it has ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _field(path: str, name: str) -> float:
    try:
        lines = Path(path).read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / KILOBYTES for line in lines if line.startswith(name)), 0.0)
