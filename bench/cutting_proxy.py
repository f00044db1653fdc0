"""A TCP proxy before an HTTP server that cuts a connection at a chosen stage of a request."""

import re
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

Stage = Literal["before headers", "in headers", "in body", "before answer", "in answer"]
STAGES: tuple[Stage, ...] = ("before headers", "in headers", "in body", "before answer", "in answer")
"""before headers: nothing arrives. in headers, in body: a part of the request arrives. before answer: the
whole request arrives and is done, its answer is lost. in answer: half of the answer arrives."""
RESET = struct.pack("ii", 1, 0)
"""SO_LINGER that sends a reset instead of an orderly end."""
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
CHUNK = 1 << 16


class CuttingProxy:
    """cut: the stage at which the next request is cut; None: it passes. cuts: the number of cuts so far."""

    def __init__(self, port: int) -> None:
        self.target = port
        self.cut: Stage | None = None
        self.cuts = 0
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._threads: list[threading.Thread] = []

    @property
    def url(self) -> str:
        """The address of the proxy."""
        return f"http://127.0.0.1:{self._listener.getsockname()[1]}"

    def accept(self) -> None:
        """Serve connections until the proxy is closed."""
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            thread = threading.Thread(target=self._relay, args=(client,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """End, after the connections that are open."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(10)

    def _relay(self, client: socket.socket) -> None:
        """Relay requests one after the other, each with its answer."""
        with client:
            client.settimeout(10)
            stage, self.cut = self.cut, None
            try:
                with socket.create_connection(("127.0.0.1", self.target), 10) as server:
                    while stage != "before headers" and self._exchange(client, server, stage):
                        stage, self.cut = self.cut, None
                    if stage:
                        self._end(client)
            except OSError:
                return

    def _exchange(self, client: socket.socket, server: socket.socket, stage: Stage | None) -> bool:
        """Relay one request and its answer; False if the connection is over."""
        request = _message(client)
        if not request:
            return False
        head = request.index(b"\r\n\r\n") + 4
        if stage in ("in headers", "in body"):
            server.sendall(request[: head // 2 if stage == "in headers" else (head + len(request)) // 2])
            return False
        server.sendall(request)
        answer = _message(server)
        if stage == "in answer":
            client.sendall(answer[: len(answer) // 2])
        if stage or not answer:
            return False
        client.sendall(answer)
        return True

    def _end(self, client: socket.socket) -> None:
        """Cut: the client gets a reset."""
        self.cuts += 1
        with suppress(OSError):
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)


def _message(sender: socket.socket) -> bytes:
    """One whole HTTP message with its length in the head; empty at the end of the connection."""
    message = b""
    while b"\r\n\r\n" not in message:
        part = sender.recv(CHUNK)
        if not part:
            return b""
        message += part
    head = message.index(b"\r\n\r\n") + 4
    length = LENGTH.search(message[:head])
    while len(message) < head + (int(length[1]) if length else 0):
        part = sender.recv(CHUNK)
        if not part:
            return b""
        message += part
    return message


@contextmanager
def cutting_proxy(port: int) -> Iterator[CuttingProxy]:
    """A proxy before the server at this port of this machine."""
    proxy = CuttingProxy(port)
    thread = threading.Thread(target=proxy.accept, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        proxy.close()
        thread.join(10)
