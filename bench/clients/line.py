"""line: an MCP client over raw pipes that takes almost no time and memory itself."""

import json
import os
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

ERAS = {"handshake": "2025-11-25", "stateless": "2026-07-28"}
PATIENCE_SECONDS = 120.0
END_SECONDS = 20.0
CHUNK = 1 << 16
ME = {"name": "lore-bench", "version": "1"}
ABOUT_ME = {
    "io.modelcontextprotocol/protocolVersion": ERAS["stateless"],
    "io.modelcontextprotocol/clientInfo": ME,
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Silence(Exception):
    """The server ended, or let us wait too long."""


class Refused(Exception):
    """The server answered with an error."""


class Line:
    """One server process and the pipes to it."""

    def __init__(
        self,
        command: Sequence[str],
        era: str = "handshake",
        env: Mapping[str, str] | None = None,
        log: Path | None = None,
    ) -> None:
        """log: where the server's complaints go."""
        self._modern = era == "stateless"
        self._buffer = b""
        self._number = 0
        self._early: dict[int, dict[str, Any]] = {}
        self.began = time.monotonic()
        with open(log or os.devnull, "ab") as complaints:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, env=env, bufsize=0
            )

    def __enter__(self) -> "Line":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()

    @property
    def pid(self) -> int:
        return self.process.pid

    def tools(self) -> list[str]:
        """Begin as an agent begins: greet, then ask which tools there are."""
        if self._modern:
            self.ask("server/discover")
        else:
            self.ask(
                "initialize", {"protocolVersion": ERAS["handshake"], "capabilities": {}, "clientInfo": ME}
            )
            self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return [tool["name"] for tool in self.ask("tools/list")["tools"]]

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a tool; a tool that refuses says so in it (`isError`)."""
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def ask(self, method: str, parameters: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return self.answer(self.send(method, parameters))

    def send(self, method: str, parameters: Mapping[str, Any] | None = None) -> int:
        """Ask without waiting; the number to ask for the answer with."""
        self._number += 1
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": self._number, "method": method}
        if self._modern:
            message["params"] = {**(parameters or {}), "_meta": ABOUT_ME}
        elif parameters is not None:
            message["params"] = parameters
        self._write(message)
        return self._number

    def answer(self, number: int) -> dict[str, Any]:
        """The result with that number; those of others are kept until they are asked for."""
        until = time.monotonic() + PATIENCE_SECONDS
        while number not in self._early:
            message = self._read(until)
            if "method" not in message and message.get("id") is not None:
                self._early[message["id"]] = message
        message = self._early.pop(number)
        if "error" in message:
            raise Refused(str(message["error"].get("message")))
        result: dict[str, Any] = message["result"]
        return result

    def close(self) -> None:
        """Hang up; whoever does not go is made to."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()

    def _write(self, message: dict[str, Any]) -> None:
        assert self.process.stdin
        data = memoryview(json.dumps(message).encode() + b"\n")
        try:
            while data:
                data = data[self.process.stdin.write(data) or 0 :]
        except BrokenPipeError as error:
            raise Silence("the server has ended") from error

    def _read(self, until: float) -> dict[str, Any]:
        assert self.process.stdout
        while b"\n" not in self._buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(until - time.monotonic(), 0))
            if not ready:
                raise Silence(f"no answer within {PATIENCE_SECONDS:.0f} s")
            chunk = os.read(self.process.stdout.fileno(), CHUNK)
            if not chunk:
                raise Silence("the server has ended")
            self._buffer += chunk
        line, _, self._buffer = self._buffer.partition(b"\n")
        message: dict[str, Any] = json.loads(line)
        return message
