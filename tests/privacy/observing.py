"""Observe processes: every socket that they open, every address that they use, every file that they create.

A seccomp filter stops these system calls and notifies this process of each. It needs no package and no
privileges. Unlike a hook in Python it sees native code, and processes that outlive their parents.
"""

import ctypes
import errno
import fcntl
import ipaddress
import os
import platform
import select
import socket
import struct
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple


class Machine(NamedTuple):
    """Numbers of a processor: its name for seccomp, the call that installs a filter, the calls to observe."""

    architecture: int
    seccomp: int
    calls: dict[str, int]


MACHINES = {
    "x86_64": Machine(
        0xC000003E,
        317,
        {"socket": 41, "connect": 42, "sendto": 44, "sendmsg": 46, "bind": 49, "sendmmsg": 307}
        | {"open": 2, "openat": 257, "creat": 85, "mkdir": 83, "mkdirat": 258}
        | {"io_uring_setup": 425, "openat2": 437},
    ),
    "aarch64": Machine(
        0xC00000B7,
        277,
        {"socket": 198, "connect": 203, "sendto": 206, "sendmsg": 211, "bind": 200, "sendmmsg": 269}
        | {"openat": 56, "mkdirat": 34, "io_uring_setup": 425, "openat2": 437},
    ),
}
REFUSED = ("io_uring_setup", "openat2")
"""Calls that would hide others from the filter. They fail with ENOSYS; programs use the older calls then."""
PATHS = {"open": 0, "creat": 0, "mkdir": 0, "openat": 1, "mkdirat": 1}
"""Calls that create a file or folder, and which argument points to its path."""
FLAGS = {"open": 1, "openat": 2}
"""Calls that create a file only if O_CREAT is among the flags in this argument."""
ADDRESSES = {"connect": (1, 2), "bind": (1, 2), "sendto": (4, 5)}
"""Calls with an address: which arguments are its pointer and its length in bytes."""

ALLOW, ERRNO, NOTIFY = 0x7FFF0000, 0x00050000, 0x7FC00000
LOAD, EQUAL, ANY_BIT, RETURN = 0x20, 0x15, 0x45, 0x06
"""Instructions of a filter: BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_JMP|JSET|K, BPF_RET|K."""
NUMBER_OFFSET, ARCHITECTURE_OFFSET, ARGUMENTS_OFFSET = 0, 4, 16
"""Offsets in `struct seccomp_data`, in bytes; an argument has 8 bytes."""
PR_SET_CHILD_SUBREAPER, PR_SET_NO_NEW_PRIVS = 36, 38
SET_MODE_FILTER, NEW_LISTENER = 1, 8
RECEIVE, SEND = 0xC0502100, 0xC0182101
"""ioctl(2) requests of a listener: SECCOMP_IOCTL_NOTIF_RECV and SECCOMP_IOCTL_NOTIF_SEND."""
NOTIFICATION, RESPONSE = struct.Struct("=QIIiIQ6Q"), struct.Struct("=QqiI")
CONTINUE = 1
LONGEST_PATH = 4096
LIBC = ctypes.CDLL(None, use_errno=True)

Instruction = tuple[int, int, int, int]
"""Code, jump if true, jump if false, constant."""


@dataclass(frozen=True, slots=True)
class Event:
    """One system call.

    subject: the family of a new socket, an address ("AF_INET 10.0.0.1 53", "AF_UNIX /run/x"), or a path.
    """

    call: str
    subject: str
    process: str


def impossible() -> str:
    """The reason why nothing can be observed here; empty where it can."""
    if sys.platform == "linux" and platform.machine() in MACHINES:
        return ""
    return f"there is no seccomp filter for {sys.platform} on {platform.machine()}"


def observe(action: Callable[[], None]) -> list[Event]:
    """Run `action` in a thread; give the events of that thread and of all processes that it starts.

    Return when the last of these processes has ended. Sending to another machine fails with ENETUNREACH.
    """
    events: list[Event] = []
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)  # only the memory of descendants may be readable
    try:
        thread = ThreadPoolExecutor(1)
        listener = thread.submit(_filter_this_thread).result()
        outcome = thread.submit(action)
        thread.shutdown(wait=False)
        _listen(listener, events)
        os.close(listener)
        outcome.result()
    finally:
        LIBC.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    return events


def _filter_this_thread() -> int:
    """Install the filter for this thread and its children; the descriptor that notifies of their calls."""
    machine = MACHINES[platform.machine()]
    program = b"".join(struct.pack("=HBBI", *instruction) for instruction in _program(machine))
    buffer = ctypes.create_string_buffer(program, len(program))
    header = struct.pack("@HP", len(program) // 8, ctypes.addressof(buffer))
    if LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "no_new_privs cannot be set")
    listener = int(LIBC.syscall(machine.seccomp, SET_MODE_FILTER, NEW_LISTENER, header))
    if listener < 0:
        raise OSError(ctypes.get_errno(), "the seccomp filter cannot be installed")
    return listener


def _program(machine: Machine) -> Iterable[Instruction]:
    """The filter: notify of the calls to observe, allow all others."""
    yield LOAD, 0, 0, ARCHITECTURE_OFFSET
    yield EQUAL, 1, 0, machine.architecture
    yield RETURN, 0, 0, ERRNO | errno.ENOSYS
    yield LOAD, 0, 0, NUMBER_OFFSET
    for name, number in machine.calls.items():
        block = _block(name)
        yield EQUAL, 0, len(block), number
        yield from block
    yield RETURN, 0, 0, ALLOW


def _block(call: str) -> list[Instruction]:
    """The decision about one call; it looks at the lower half of an argument."""
    if call in REFUSED:
        return [(RETURN, 0, 0, ERRNO | errno.ENOSYS)]
    verdicts = [(RETURN, 0, 0, ALLOW), (RETURN, 0, 0, NOTIFY)]
    if call in FLAGS:
        return [_load(FLAGS[call]), (ANY_BIT, 1, 0, os.O_CREAT), *verdicts]
    if call == "socket":
        return [_load(0), (EQUAL, 0, 1, socket.AF_UNIX), *verdicts]
    if call == "sendto":  # of a connected socket it has no address
        return [_load(ADDRESSES[call][0]), (EQUAL, 0, 1, 0), *verdicts]
    return verdicts[1:]


def _load(argument: int) -> Instruction:
    return LOAD, 0, 0, ARGUMENTS_OFFSET + 8 * argument


def _listen(listener: int, events: list[Event]) -> None:
    """Answer notifications until no process uses the filter any more."""
    names = {number: name for name, number in MACHINES[platform.machine()].calls.items()}
    ready = select.poll()
    ready.register(listener, select.POLLIN)
    while not any(happened & select.POLLHUP for _, happened in ready.poll()):
        notification = bytearray(NOTIFICATION.size)
        try:
            fcntl.ioctl(listener, RECEIVE, notification)
            id, pid, _, number, _, _, *arguments = NOTIFICATION.unpack(notification)
            event = _event(names[number], pid, arguments)
            events.append(event)
            refused = -errno.ENETUNREACH if _leaves(event) else 0
            fcntl.ioctl(listener, SEND, RESPONSE.pack(id, 0, refused, 0 if refused else CONTINUE))
        except (FileNotFoundError, ProcessLookupError):  # the process was killed in the call
            continue


def _event(call: str, pid: int, arguments: list[int]) -> Event:
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        process = file.read().replace(b"\0", b" ").decode(errors="replace").strip()
    if call == "socket":
        subject = _family(arguments[0] & 0xFFFFFFFF)
    elif call in PATHS:
        subject = _path(pid, call, arguments)
    elif call in ADDRESSES:
        pointer, length = (arguments[place] for place in ADDRESSES[call])
        subject = _address(_memory(pid, pointer, length & 0xFFFFFFFF))
    else:  # a struct msghdr begins with the pointer to an address and its length
        pointer, length = struct.unpack("@PI", _memory(pid, arguments[1], struct.calcsize("@PI")))
        subject = _address(_memory(pid, pointer, length)) if pointer else ""
    return Event(call, subject, process)


def _path(pid: int, call: str, arguments: list[int]) -> str:
    name = _memory(pid, arguments[PATHS[call]], LONGEST_PATH).partition(b"\0")[0]
    folder = ctypes.c_int32(arguments[0] & 0xFFFFFFFF).value if call.endswith("at") else -1
    start = f"/proc/{pid}/cwd" if folder < 0 else f"/proc/{pid}/fd/{folder}"
    return os.path.normpath(os.path.join(os.readlink(start), os.fsdecode(name)))


def _memory(pid: int, pointer: int, length: int) -> bytes:
    """At most `length` bytes; fewer where the memory of the process ends."""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(pointer)
        return memory.read(length)


def _address(raw: bytes) -> str:
    if len(raw) < 2:
        return ""
    [family] = struct.unpack_from("=H", raw)
    if family == socket.AF_UNIX:
        return f"AF_UNIX {os.fsdecode(raw[2:].partition(bytes(1))[0]) or 'abstract'}"
    if family == socket.AF_INET:
        return f"AF_INET {ipaddress.ip_address(raw[4:8])} {int.from_bytes(raw[2:4])}"
    if family == socket.AF_INET6:
        return f"AF_INET6 {ipaddress.ip_address(raw[8:24])} {int.from_bytes(raw[2:4])}"
    return _family(family)


def _family(number: int) -> str:
    try:
        return socket.AddressFamily(number).name
    except ValueError:
        return f"family {number}"


def _leaves(event: Event) -> bool:
    """Whether the call would send something to another machine."""
    family, _, rest = event.subject.partition(" ")
    if event.call in ("socket", "bind", *PATHS) or family not in ("AF_INET", "AF_INET6"):
        return False
    return not ipaddress.ip_address(rest.split()[0]).is_loopback
