"""stdin_socket: a socket that carries all data of a pipe, for systems that cannot poll pipes."""

import os
import socket
import threading

CHUNK = 1 << 16


def as_socket(pipe: int) -> socket.socket:
    """A socket from which all comes that comes out of the pipe."""
    near, far = socket.socketpair()
    threading.Thread(target=_carry, args=(pipe, far), daemon=True).start()
    return near


def _carry(pipe: int, far: socket.socket) -> None:
    with far:
        while data := os.read(pipe, CHUNK):
            far.sendall(data)
